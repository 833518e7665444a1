"""The figure at the top of ``how_fast``: times of refsvm as shares of the others', read off the tables of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

__all__ = ["LINES", "Line", "draw_summary", "shares"]

BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"


class Line(NamedTuple):
    """One line of the figure: its text, the file of its tables, which of them, the name of the ratio's column."""

    text: str
    file: str
    table: int = 0
    column: str = "refsvm / best other"


LINES = (
    Line("one fit: fastest of three libraries", "fit.md"),
    Line("one fit of a large set: oneDAL", "large.md"),
    Line("one fit, AVX-512: fastest of three libraries", "avx512/fit.md"),
    Line("one fit of a large set, AVX-512: oneDAL", "avx512/large.md"),
    Line("one regression: fastest of three libraries", "regression.md"),
    Line("novelty detection: faster of two libraries", "regression.md", table=1),
    Line("prediction: fastest of three libraries", "predict.md"),
    Line("ten folds: scikit-learn", "grid.md", column="ratio"),
    Line("a grid of C and γ: scikit-learn", "grid.md", table=1, column="ratio"),
    Line("a grid of C and γ, AVX-512: liquidSVM", "liquid.md", column="ratio"),
    Line("leave-one-out: scikit-learn", "loo.md", column="ratio"),
)


def shares(line: Line, folder: Path) -> tuple[list[float], float]:
    """Return refsvm's time as a share of the other's on each set of a table, and the geometric mean of these."""
    tables = re.findall(r"(?m)(?:^\|.*\n)+", (folder / line.file).read_text(encoding="utf-8"))
    rows = [[cell.strip() for cell in row.strip("|\n").split("|")] for row in tables[line.table].splitlines()]
    place = rows[0].index(line.column)
    ratios = np.array([float(row[place]) for row in rows[2:] if row[0] != "geometric mean"])
    found = (
        1.0 / ratios if "scikit-learn, s" in rows[0] else ratios
    )  # these tables divide the other way round
    stated = [row[place].strip("*") for row in rows if row[0] == "geometric mean"]
    return list(found), float(stated[0]) if stated else float(np.exp(np.mean(np.log(found))))


def draw(axes: Axes, folder: Path) -> None:
    """Draw a dot for each set and a bar for the geometric mean of each line, under its text."""
    for height, line in enumerate(reversed(LINES)):
        found, mean = shares(line, folder)
        colour = BLUE if mean < 1.0 else ORANGE
        axes.plot(found, [height] * len(found), "o", ms=5, mfc="none", mec=colour)
        axes.plot([mean], [height], "|", ms=16, mew=3, color=INK)
        axes.annotate(
            f"{mean:.2g}", (1.0, height), xycoords=("axes fraction", "data"), ha="right", va="center"
        )
        axes.annotate(line.text, (0.0, height + 0.28), xycoords=("axes fraction", "data"))
    axes.axvline(1.0, color=INK, lw=0.8, ls="--", zorder=0)
    axes.set(xscale="log", xlim=(0.0015, 16.0), ylim=(-0.5, len(LINES) - 0.2), yticks=[])
    axes.set_xticks([0.002, 0.01, 0.1, 0.5, 1, 2, 5], ["1/500", "1/100", "1/10", "1/2", "1", "2", "5"])
    axes.minorticks_off()
    axes.spines.left.set_visible(False)
    axes.set_xlabel("time of refsvm, as a share of that of the library named")


def draw_summary(folder: Path) -> None:
    """Write the figure as SVG, narrow enough for a phone."""
    settings = {
        "svg.hashsalt": "refsvm", "figure.constrained_layout.use": True, "font.size": 11,
        "axes.spines.top": False, "axes.spines.right": False,
    }  # fmt: skip
    with plt.rc_context(settings):
        figure, axes = plt.subplots(figsize=(5.2, 6.8), facecolor="white")
        draw(axes, folder / "how_fast")
        figure.savefig(folder / "how_fast_summary.svg", metadata={"Date": None})
        plt.close(figure)
