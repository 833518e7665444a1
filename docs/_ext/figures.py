"""Figures of the chapters: with a description in sentences, once more as SVG for slides, and for phones.

A block of code that draws a figure has a comment ``# alt: …``, right after its title, whose further lines are indented
by four more columns. It is the alternative text of the picture, and no part of the code that the page shows.

A figure that is wider than a phone shows has its panels once more below one another; the style sheet chooses.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from sphinx_gallery.scrapers import matplotlib_scraper

__all__ = ["ALT", "description", "scraper", "stacked", "without_description"]

WIDEST, ONE_COLUMN = 6.4, 5.0
"""Inches that a phone shows in full, and the width of panels below one another."""

ALT = re.compile(r"(?m)^# alt: (.*\n(?:#     .*\n)*)")


def description(code: str) -> str:
    """Return what a block says of its figure, on one line; "" if it says nothing."""
    found = ALT.search(code)
    return " ".join(re.sub(r"(?m)^# +", "", found[1]).split()) if found else ""


def without_description(code: str) -> str:
    """Return the code without that comment."""
    return ALT.sub("", code)


def stacked(figure: Figure) -> bool:
    """Put the panels of a figure that is too wide for a phone below one another; return whether that was needed."""
    panels: dict[int, list[Any]] = {}
    for axes in figure.axes:
        if (place := axes.get_subplotspec()) is not None:  # the bar of a map has none
            panels.setdefault(place.num1, []).append(axes)
    width, height = figure.get_size_inches()
    if width <= WIDEST or len(panels) < 2:
        return False
    old = panels[min(panels)][0].get_subplotspec().get_gridspec()
    columns = 1 if len(panels) < 5 else 2
    across = ONE_COLUMN if columns == 1 else WIDEST
    rows = math.ceil(len(panels) / columns)
    tall = height / old.nrows * (across / columns) / (width / old.ncols)
    figure.set_size_inches(across, rows * tall)
    grid, first = GridSpec(rows, columns, figure=figure), panels[min(panels)][0]
    for k, number in enumerate(sorted(panels)):
        for axes in panels[number]:
            axes.set_subplotspec(grid[k])
            axes.tick_params(labelleft=True, labelbottom=True)  # a shared axis had its numbers once
            if not axes.get_ylabel() and axes.get_shared_y_axes().joined(axes, first):
                axes.set_ylabel(first.get_ylabel())
    for legend in figure.legends:
        legend.set_ncols(min(2, len(legend.get_texts())))
    return True


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the reST of the figures that a block has drawn, and write each as SVG beside its PNG."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    paths = [Path(next(block_vars["image_path_iterator"])) for _ in figures]
    with mpl.rc_context({"svg.hashsalt": "refsvm"}):
        for figure, path in zip(figures, paths, strict=True):
            figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
        names = iter(list(map(str, paths)))
        rest = matplotlib_scraper(block, {**block_vars, "image_path_iterator": names}, gallery_conf)
        words = description(block.content)
        rest = re.sub(r"(?m)^(\s*:alt:).*$", lambda found: f"{found[1]} {words}", rest) if words else rest
        for figure, path in zip(figures, paths, strict=True):
            if stacked(figure):
                phone = path.with_name(f"{path.stem}_phone.svg")
                # a legend beside a panel, too
                figure.savefig(phone, metadata={"Date": None}, bbox_inches="tight")
                name = phone.relative_to(gallery_conf["src_dir"]).as_posix()
                look = "   :class: sphx-glr-single-img phone\n\n"
                rest += f"\n.. image:: /{name}\n   :alt: {words}\n{look}"
    return rest
