"""Figures of the chapters: with a description in sentences, and once more as SVG for slides.

A block of code that draws a figure has a comment ``# alt: …``, right after its title, whose further lines are indented
by four more columns. It is the alternative text of the picture, and no part of the code that the page shows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import matplotlib_scraper

__all__ = ["ALT", "description", "scraper", "without_description"]

ALT = re.compile(r"(?m)^# alt: (.*\n(?:#     .*\n)*)")


def description(code: str) -> str:
    """Return what a block says of its figure, on one line; "" if it says nothing."""
    found = ALT.search(code)
    return " ".join(re.sub(r"(?m)^# +", "", found[1]).split()) if found else ""


def without_description(code: str) -> str:
    """Return the code without that comment."""
    return ALT.sub("", code)


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the reST of the figures that a block has drawn, and write each as SVG beside its PNG."""
    figures = [plt.figure(number) for number in plt.get_fignums()]
    paths = [next(block_vars["image_path_iterator"]) for _ in figures]
    for figure, path in zip(figures, paths, strict=True):
        with mpl.rc_context({"svg.hashsalt": "refsvm"}):
            figure.savefig(Path(path).with_suffix(".svg"), metadata={"Date": None})
    rest = matplotlib_scraper(block, {**block_vars, "image_path_iterator": iter(paths)}, gallery_conf)
    words = description(block.content)
    return re.sub(r"(?m)^(\s*:alt:).*$", lambda found: f"{found[1]} {words}", rest) if words else rest
