"""Seconds against the size of a problem: the exponent that fits, and the plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .results import Row

__all__ = ["Growth", "exponent", "plotted"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Of Okabe and Ito, told apart without full colour vision."""

MARKERS = "osD^"


@dataclass
class Growth:
    """A family of problems, in growing order.

    Attributes
    ----------
    family : str
        Its name.
    variable : str
        What grows, "n" or "d".
    rows : list of Row
        One for each size.
    """

    family: str
    variable: str
    rows: list[Row]

    @property
    def sizes(self) -> list[int]:
        """The sizes."""
        return [getattr(row, self.variable) for row in self.rows]

    def column(self, library: str, what: str = "seconds") -> list[float]:
        """Return a quantity of a library at each size, NaN where there is none."""
        values = [getattr(row.outcomes[library], what) for row in self.rows]
        return [math.nan if value is None or not math.isfinite(value) else float(value) for value in values]


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return p of the c·sizeᵖ that fits best, by least squares of the logarithms; NaN with fewer than two values.

    Examples
    --------
    >>> round(exponent([10, 100, 1000], [2.0, 20.0, float("nan")]), 6)
    1.0
    """
    known = [(math.log(x), math.log(y)) for x, y in zip(sizes, values, strict=True) if 0 < y < math.inf]
    logarithms = np.array(known).reshape(-1, 2).T
    return float(np.polyfit(logarithms[0], logarithms[1], 1)[0]) if len(known) > 1 else math.nan


def plotted(growths: Sequence[Growth], path: Path) -> None:
    """Draw one panel for each family, both axes logarithmic, and write a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(growths), 3.0), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(growths), squeeze=False)[0]
    panels[0].set_ylabel("seconds to fit")
    ends = [draw(panel, growth) for panel, growth in zip(panels, growths, strict=True)]
    figure.draw_without_rendering()  # the labels need to know how high the panels are
    for panel, labels in zip(panels, ends, strict=True):
        name_lines(panel, labels)
    figure.savefig(path, dpi=130)


@dataclass(frozen=True)
class End:
    """Where a line ends, and what is written there."""

    x: float
    y: float
    text: str
    colour: str


def draw(panel: Any, growth: Growth) -> list[End]:
    """Draw the lines of one family; return their ends."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    sizes, ends = growth.sizes, []
    for library, colour, marker in zip(growth.rows[0].outcomes, COLOURS, MARKERS, strict=False):
        column = growth.column(library)
        panel.loglog(sizes, column, color=colour, marker=marker, markersize=3.5, linewidth=1.4)
        measured = [(x, y) for x, y in zip(sizes, column, strict=True) if not math.isnan(y)]
        if measured:
            ends.append(End(*measured[-1], f"{library} {exponent(sizes, column):.2f}", colour))
    panel.set_title(growth.family, fontsize=9)
    panel.set_xlabel(growth.variable)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value:g}")
        )
        axis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=7)
    panel.grid(True, which="major", linewidth=0.4, alpha=0.5)
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_xlim(min(sizes) / 1.15, max(sizes) * (max(sizes) / min(sizes)) ** 0.7)
    return ends


def name_lines(panel: Any, ends: Sequence[End]) -> None:
    """Write at the end of each line what it is, without overlap."""
    apart, scale = 9.0, 72.0 / panel.figure.dpi  # points
    heights = [scale * float(panel.transData.transform((end.x, end.y))[1]) for end in ends]
    for end, now, wanted in zip(ends, heights, spread(heights, apart), strict=True):
        label = panel.annotate(
            end.text, (end.x, end.y), xytext=(6.0, wanted - now), textcoords="offset points",
            color=end.colour, fontsize=7.5, va="center", annotation_clip=False,
        )  # fmt: skip
        label.set_in_layout(False)


def spread(heights: Sequence[float], apart: float) -> list[float]:
    """Return heights near the given ones, moved up where two are closer than `apart`.

    Examples
    --------
    >>> spread([5.0, 0.0, 4.0], apart=2.0)
    [6.0, 0.0, 4.0]
    """
    moved = list(heights)
    order = sorted(range(len(moved)), key=moved.__getitem__)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + apart)
    return moved
