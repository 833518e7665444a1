"""The pictures of the landing page, of probabilities and of papers, drawn by the package while the pages are built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from paper_pictures import four_points, gain_of_a_step, left_out_seconds
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    leave_one_out,
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
        ("planning ahead", SecondOrder(), PlanningAheadStep(), GREEN),
        ("conjugate", ConjugateSecondOrder(), ConjugateStep(), ORANGE),
    ):
        run = solve(problem, selector=selector, step=step, shrinking=False, trace=True)
        lacks = np.maximum(top - run.trace["objective"], 1e-3)
        axes.semilogy(np.arange(1, len(lacks) + 1)[::20], lacks[::20], color=colour, lw=1.6, label=name)
    axes.set(xlabel="steps", ylabel=r"$f^*-f$")
    axes.legend(frameon=False)


def reliability(axes: Axes) -> None:
    """Draw how often new examples are +1 where that has a probability, by three calibrators of one machine."""
    data, new, kernel, C = make_banana(200, rng=0), make_banana(5000, rng=1), RBF(4.0), 10.0
    left_out = leave_one_out(data.X, data.y, kernel=kernel, C=C, stop=KKTGap(), checks=("zero alpha",))
    machine = left_out.full_solutions[0]
    h, h_new = ((kernel(X, data.X) @ machine.alpha + machine.intercept) for X in (data.X, new.X))
    held, y = left_out.decision_values, data.y > 0
    curves = {
        "sigmoid, left-out values": sigmoid(held, y)(h_new),
        "isotonic, left-out values": IsotonicRegression(out_of_bounds="clip").fit(held, y).predict(h_new),
        "sigmoid, training values": sigmoid(h, y)(h_new),
    }
    axes.plot([0, 1], [0, 1], color=INK, lw=0.8, ls="--")
    for (name, p), colour, marker in zip(curves.items(), (BLUE, GREEN, ORANGE), "os^", strict=True):
        share, mean = calibration_curve(new.y > 0, p, n_bins=5)
        axes.plot(mean, share, color=colour, marker=marker, ms=5, lw=1.2, label=name)
    axes.set(xlabel="probability", ylabel="share of +1", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False, fontsize=8)


def sigmoid(h: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from decision values to probabilities that a logistic regression finds."""
    model = LogisticRegression(C=1e6).fit(h[:, None], y)
    return lambda new: np.asarray(model.predict_proba(new[:, None])[:, 1])


def draw_all(folder: Path) -> None:
    """Write the pictures as SVG, one file for each function."""
    pictures: tuple[Callable[[Axes], None], ...] = (
        street, path, steps, reliability, gain_of_a_step, four_points, left_out_seconds,
    )  # fmt: skip
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
