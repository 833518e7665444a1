"""The pictures of the landing page, drawn by the package while the pages are built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    regularization_path,
    solve,
)
from refsvm.datasets import make_banana, make_chessboard

INK, BLUE, ORANGE, GREEN = "#222222", "#0072B2", "#D55E00", "#009E73"


def street(axes: Axes) -> None:
    """Draw two kinds of points, the boundary between them and the margins on both sides."""
    data, C = make_banana(150, rng=4), 3.0
    kernel = RBF(0.5)
    problem = DualProblem.classification(data.X, data.y, kernel=kernel, C=C)
    solution = solve(problem, stop=KKTGap(1e-6), engine="numpy")
    across, up = np.linspace(-3.9, 3.9, 240), np.linspace(-2.9, 2.9, 160)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    h = (kernel(grid, data.X) @ solution.alpha + solution.intercept).reshape(160, 240)
    size = np.abs(solution.alpha)
    axes.contourf(across, up, h, levels=[-9, -1, 1, 9], colors=["#dbe9f4", "#f7f7f7", "#f9e3d4"])
    look = {"levels": [-1, 0, 1], "colors": INK, "linestyles": ["--", "-", "--"], "linewidths": [1, 2, 1]}
    axes.contour(across, up, h, **look)
    axes.scatter(*data.X[data.y < 0].T, s=16, c=BLUE, marker="o")
    axes.scatter(*data.X[data.y > 0].T, s=20, c=ORANGE, marker="^")
    free, bounded = (size > 0) & (size < C), size == C
    axes.scatter(*data.X[free].T, s=95, facecolors="none", edgecolors=INK)
    axes.scatter(*data.X[bounded].T, s=40, c=INK, marker="x", lw=0.9)
    axes.set(xticks=[], yticks=[], xlim=(-3.9, 3.9), ylim=(-2.9, 2.9))


def path(axes: Axes) -> None:
    """Draw all variables along C, as shares of it."""
    data = make_banana(60, rng=1)
    found = regularization_path(data.X, data.y, kernel=RBF(0.5), C_min=0.05, C_max=100.0, engine="numpy")
    shares = np.array([found.alpha(C) / C for C in found.C])
    for share, label in zip(shares.T, data.y, strict=True):
        axes.plot(found.C, share, color=BLUE if label < 0 else ORANGE, lw=0.9, alpha=0.8)
    axes.set(xscale="log", xlabel="C", ylabel=r"$\alpha_i/C$", xlim=(found.C[0], found.C[-1]))


def steps(axes: Axes) -> None:
    """Draw what the objective still lacks, by three step rules on a chessboard."""
    board = make_chessboard(300, rng=0)
    problem = DualProblem.classification(board.X, board.y, kernel=RBF(gamma=0.5), C=1000.0)
    top = solve(problem, stop=KKTGap(1e-7)).objective
    for name, selector, step, colour in (
        ("Newton", SecondOrder(), NewtonStep(), BLUE),
        ("planning ahead", SecondOrder(), PlanningAheadStep(), ORANGE),
        ("conjugate", ConjugateSecondOrder(), ConjugateStep(), GREEN),
    ):
        run = solve(problem, selector=selector, step=step, shrinking=False, trace=True)
        lacks = np.maximum(top - run.trace["objective"], 1e-3)
        axes.semilogy(np.arange(1, len(lacks) + 1)[::20], lacks[::20], color=colour, lw=1.6, label=name)
    axes.set(xlabel="steps", ylabel=r"$f^*-f$")
    axes.legend(frameon=False)


def draw_all(folder: Path) -> None:
    """Write the pictures as SVG, one file for each function."""
    pictures: tuple[Callable[[Axes], None], ...] = street, path, steps
    settings = {
        "svg.hashsalt": "refsvm", "figure.constrained_layout.use": True, "font.size": 11,
        "axes.spines.top": False, "axes.spines.right": False,
    }  # fmt: skip
    with mpl.rc_context(settings):
        for picture in pictures:
            figure, axes = plt.subplots(figsize=(4.8, 3.4), facecolor="white")
            picture(axes)
            figure.savefig(folder / f"{picture.__name__}.svg", metadata={"Date": None})
            plt.close(figure)
