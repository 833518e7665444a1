"""The picture of the landing page: two classes, the boundary, and the examples that hold it in place."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, KKTGap, solve
from refsvm.datasets import make_banana

INK, BLUE, ORANGE = "#222222", "#0072B2", "#D55E00"


def draw(path: Path) -> None:
    """Write the picture as SVG."""
    data, C = make_banana(150, rng=4), 3.0
    kernel = RBF(0.5)
    problem = DualProblem.classification(data.X, data.y, kernel=kernel, C=C)
    solution = solve(problem, stop=KKTGap(1e-6), engine="numpy")
    across, up = np.linspace(-4.2, 4.2, 240), np.linspace(-2.9, 2.9, 160)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    h = (kernel(grid, data.X) @ solution.alpha + solution.intercept).reshape(160, 240)
    size = np.abs(solution.alpha)
    with mpl.rc_context({"svg.hashsalt": "refsvm", "figure.constrained_layout.use": True}):
        figure, axes = plt.subplots(figsize=(9, 4.6), facecolor="white")
        axes.contourf(across, up, h, levels=[-9, -1, 1, 9], colors=["#dbe9f4", "#f7f7f7", "#f9e3d4"])
        axes.contour(
            across, up, h, levels=[-1, 0, 1], colors=INK, linestyles=["--", "-", "--"], linewidths=[1, 2, 1]
        )
        axes.scatter(*data.X[data.y < 0].T, s=16, c=BLUE, marker="o", label="$y=-1$")
        axes.scatter(*data.X[data.y > 0].T, s=20, c=ORANGE, marker="^", label="$y=+1$")
        free, bounded = (size > 0) & (size < C), size == C
        axes.scatter(*data.X[free].T, s=95, facecolors="none", edgecolors=INK, label="free support vector")
        axes.scatter(*data.X[bounded].T, s=40, c=INK, marker="x", lw=0.9, label="bounded")
        axes.plot([], [], color=INK, lw=2, label="$h=0$")
        axes.plot([], [], "--", color=INK, lw=1, label=r"margins, $h=\pm1$")
        axes.set(xticks=[], yticks=[], xlim=(-4.2, 4.2), ylim=(-2.9, 2.9))
        figure.legend(loc="outside lower center", ncols=6, frameon=False)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
