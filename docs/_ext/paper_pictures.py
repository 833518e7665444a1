"""The figures of papers that are drawn anew while the pages are built: by the package, or from the table of a page."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from refsvm import (
    RBF,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    solve,
)
from refsvm.datasets import make_chessboard

INK, BLUE, ORANGE, GREEN, GREY = "#222222", "#0072B2", "#D55E00", "#009E73", "#bbbbbb"
PAGES = Path(__file__).parents[1] / "papers"


def gain_of_a_step(axes: Axes) -> None:
    """Draw the gain of a step on the chessboard against its length, alone and with the one planned after it."""
    longer = _a_planned_step()
    omega = np.linspace(-0.4, 1.4 * longer, 300)
    alone = 2.0 * omega - omega**2
    both = 2.0 * omega - omega**2 / longer  # 1 − ϱ² = μ̂/μ_P after a free Newton step
    axes.axhline(0.0, color=GREY, lw=0.8)
    axes.axvspan(0.1, 1.9, color="#f1f1f1", lw=0)
    axes.plot(omega, alone, color=BLUE, lw=1.6, label="the step alone")
    axes.plot(omega, both, color=GREEN, lw=1.6, ls="--", label="with the planned next one")
    for length, curve, mark in ((1.0, alone, "o"), (1.1, alone, "^"), (longer, both, "s")):
        axes.plot(length, np.interp(length, omega, curve), mark, color=INK, ms=5)
    axes.set(xlabel=r"$\mu/\hat\mu$", ylabel="gain, in those of the Newton step", ylim=(-1.5, None))
    axes.legend(frameon=False, loc="lower center")


def _a_planned_step() -> float:
    """Return μ_P/μ̂ of a step of PA-SMO on a chessboard that is well longer than the Newton step, and loses alone."""
    board = make_chessboard(300, rng=0)
    problem = DualProblem.classification(board.X, board.y, kernel=RBF(gamma=0.5), C=1000.0)
    rules = {"selector": SecondOrder(), "step": PlanningAheadStep(), "shrinking": False, "engine": "numpy"}
    trace = solve(problem, trace=True, max_iter=1000, **rules).trace
    ratio = (trace["step"] / trace["newton"])[np.asarray(trace["planned"], dtype=bool)]
    return float(ratio[np.abs(ratio - 2.4).argmin()])


FOUR = np.array([-1, -1, 1, 1])
CORNER = 0.1
VIEW = np.array([[0.1, 1.0], [1.1, 0.12], [0.5, -0.35]])
"""From coordinates along the three axes of the octahedron to the paper."""


def four_points(axes: Axes) -> None:
    """Draw the feasible octahedron of Theorem 7, and the steps of maximum gain and of the hybrid on it."""
    corners = [a for a in product((0, 1), repeat=4) if np.dot(a, FOUR) == 0]
    for first, a in enumerate(corners):
        for b in corners[first + 1 :]:
            if np.abs(np.subtract(a, b)).sum() == 2:
                axes.plot(*_on_paper([a, b]).T, color=GREY, lw=1.0, zorder=1)
    root = np.sqrt(3.0)
    Q = np.array([[2, root, 1, root], [root, 4, root, 3], [1, root, 2, root], [root, 3, root, 4]])
    problem = DualProblem.classification(np.outer(FOUR, FOUR) * Q, FOUR, kernel=Precomputed(), C=CORNER)
    for name, selector, colour, width in (
        ("hybrid maximum gain", HybridMaximumGain(), GREEN, 1.6),
        ("maximum gain", MaximumGain(), ORANGE, 3.2),
    ):
        solution = solve(
            problem, selector=selector, stop=KKTGap(1e-9), shrinking=False, trace=True, engine="numpy"
        )
        points = [np.zeros(4)]
        for i, j, step in zip(*(solution.trace[key] for key in ("i", "j", "step")), strict=True):
            points.append(points[-1] + step * (np.eye(4)[i] - np.eye(4)[j]))
        way = _on_paper(np.abs(points) / CORNER)
        axes.plot(*way.T, color=colour, lw=width, marker="o", ms=2 + 2 * width, label=name, zorder=2)
    for text, a, shift in (("(0, 0, 0, 0)", (0, 0, 0, 0), (-60, -4)), ("(C, 0, C, 0)", (1, 0, 1, 0), (8, -3)),
                           ("(C, C, C, C)", (1, 1, 1, 1), (6, 4))):  # fmt: skip
        axes.annotate(text, _on_paper([a])[0], xytext=shift, textcoords="offset points", fontsize=9)
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.axis("off")
    axes.legend(frameon=False, loc="upper left", fontsize=9)


def _on_paper(a: object) -> np.ndarray:
    """Project points of the octahedron, in units of C: its axes lead from one corner to the opposite one."""
    along = np.asarray(a, dtype=float) - 0.5
    return (
        np.column_stack([along.sum(axis=1) / 2.0, along @ [1, -1, 1, -1] / 2.0, along @ [1, -1, -1, 1] / 2.0])
        @ VIEW
    )


def left_out_seconds(axes: Axes) -> None:
    """Draw what leave-one-out takes by LIBSVM and by each seeder, from the table of seconds of the page."""
    (_, *names), *rows = _last_table("alpha_seeding", "Supplement, Figure 2")
    height = 0.8 / len(rows)
    for k, ((name, *cells), colour) in enumerate(zip(rows, (BLUE, ORANGE), strict=True)):
        seconds = [float(cell.replace(",", "")) for cell in cells]
        places = np.arange(len(names)) + (k - 0.5 * (len(rows) - 1)) * height
        axes.barh(places, seconds, height, color=colour, label=name)
    axes.set(xscale="log", xlabel="CPU seconds", yticks=np.arange(len(names)), yticklabels=names)
    axes.invert_yaxis()
    axes.legend(frameon=False)


def _last_table(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the last table of a section, its head first."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    section = text.partition(f"## {heading}")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|") and not set(line) <= set("|-: ")]
    found = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    heads = [k for k, row in enumerate(found) if row[0] == found[0][0]]
    return found[heads[-1] :]
