"""The page ``layout``: two pictures of the folders and the way of one solve, made from the package at each build.

A box is a folder or a file. It stands above everything that it imports, and is wider with more lines of code. An arrow
is an import; an import that follows from other arrows is not drawn.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import wrap
from types import FrameType
from typing import Any

import matplotlib.pyplot as plt
from docutils import nodes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from source_lines import ROOT
from sphinx.util.docutils import SphinxDirective

from refsvm import RBF, DualProblem, solve
from refsvm.datasets import make_banana

__all__ = ["Folder", "draw", "draw_layout", "passed"]

INK, GREY, FILL, POINTS, SMALL = "#222222", "#6f7b88", "#e8f1f8", 9.0, 0.8
"""Colours, the size of titles, and the size of other texts as a share of it."""

WIDTH, GAP, TALL, LETTER, INCH = 100.0, 2.5, 2.4, 0.97, 0.08
"""The width of a picture, the space between boxes, height and width of a letter of a title; and inches of a unit."""


@cache
def tree(file: Path) -> ast.Module:
    """Return a file, parsed."""
    return ast.parse(file.read_text(encoding="utf-8"))


def lines_of_code(file: Path) -> int:
    """Return how many lines of a file are neither blank nor comments nor docstrings."""
    texts = [
        node
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    said = {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return sum(
        number not in said and not line.strip().startswith("#") and bool(line.strip())
        for number, line in lines
    )


class Folder:
    """The parts of a folder of the package, which are folders and files, and which part imports which.

    Attributes
    ----------
    files : dict of str to list of Path
        The files of each part. The folder's own `__init__.py` is a part if another part imports it.
    uses : dict of str to set of str
        What each part imports, also late, or for types alone.
    floors : dict of str to int
        0 for a part that imports no other, and otherwise one more than for the highest part that it imports.
    below : dict of str to set of str
        What each part imports, what these parts import, and so on.
    """

    def __init__(self, name: str) -> None:
        self.name, self.path = name, ROOT.joinpath(*name.split("."))
        parts = [
            each
            for each in sorted(self.path.iterdir())
            if each.suffix == ".py" or (each / "__init__.py").is_file()
        ]
        self.files = {
            each.stem: sorted(each.rglob("*.py")) or [each] for each in parts if each.stem != "__main__"
        }
        self.uses = {part: {*self._imported(files)} - {part} for part, files in self.files.items()}
        if "__init__" not in set().union(*self.uses.values()):
            del self.files["__init__"], self.uses["__init__"]
        self.floors, self.below = dict[str, int](), dict[str, set[str]]()
        while ready := [
            part for part in self.uses.keys() - self.floors if self.uses[part] <= self.floors.keys()
        ]:
            for part in ready:
                self.floors[part] = max((self.floors[use] + 1 for use in self.uses[part]), default=0)
                self.below[part] = self.uses[part].union(*(self.below[use] for use in self.uses[part]))

    def _imported(self, files: list[Path]) -> Iterator[str]:
        """Yield the parts that files import."""
        for node in (node for file in files for node in ast.walk(tree(file))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None)
                for name in (f"{module}.{each.name}" if module else f"{each.name}." for each in node.names):
                    if name.startswith(f"{self.name}."):
                        part = name.removeprefix(f"{self.name}.").partition(".")[0]
                        yield part if part in self.files else "__init__"

    def arrows(self) -> list[tuple[str, str]]:
        """Return the imports that do not follow from others."""
        implied = {
            part: set[str]().union(*(self.below[use] for use in uses)) for part, uses in self.uses.items()
        }
        return [(part, use) for part, uses in self.uses.items() for use in sorted(uses - implied[part])]

    def lines(self, part: str) -> int:
        """Return the lines of code of a part."""
        return sum(map(lines_of_code, self.files[part]))

    def title(self, part: str) -> str:
        """Return the name of a part."""
        return self.name if part == "__init__" else part + "/" * (self.path / part).is_dir()

    def inside(self, part: str) -> str:
        """Return the names of what a folder contains; "" for a file."""
        folder = self.path / part
        names = (
            file.relative_to(folder).parts[0].removesuffix(".py")
            for file in self.files[part]
            if folder.is_dir()
        )
        return ", ".join(name for name in dict.fromkeys(names) if name != "__init__")


def widths(folder: Folder, parts: list[str]) -> list[float]:
    """Return the widths of the boxes of a floor: more lines of code make a box wider, and its title fits."""
    least = [(len(folder.title(part)) + 6) * LETTER for part in parts]
    more = [max(0.0, 1.4 * folder.lines(part) ** 0.5 - each) for part, each in zip(parts, least, strict=True)]
    space = WIDTH - GAP * (len(parts) - 1) - sum(least)
    share = min(1.0, space / max(sum(more), 1.0))
    return [each + share * extra for each, extra in zip(least, more, strict=True)]


def draw(folder: Folder) -> Figure:
    """Draw a house: floors from the top to the ground, and behind the boxes the arrows of `Folder.arrows`."""
    figure, arrows, boxes, y = plt.figure(facecolor="white"), folder.arrows(), dict[str, Rectangle](), 0.0
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    for floor in sorted(set(folder.floors.values()), reverse=True):
        parts = [part for part in folder.uses if folder.floors[part] == floor]
        above = {part: [middle(boxes[other]) for other, use in arrows if use == part] for part in parts}
        parts.sort(key=lambda part: sum(above[part]) / max(1, len(above[part])))
        across = widths(folder, parts)
        texts = [
            wrap(folder.inside(part), int(w / LETTER / SMALL)) for part, w in zip(parts, across, strict=True)
        ]
        x = (WIDTH - sum(across) - GAP * (len(parts) - 1)) / 2.0
        for part, width, text in zip(parts, across, texts, strict=True):
            height = TALL * (1.2 + SMALL * len(text))
            boxes[part] = Rectangle((x, y - height), width, height, fc=FILL, ec=INK, lw=0.8, zorder=2)
            axes.add_patch(boxes[part])
            top = {"va": "top", "zorder": 3}
            axes.text(x + 0.8, y - 0.5, folder.title(part), weight="bold", **top)
            axes.text(x + width - 0.8, y - 0.5, f"{folder.lines(part):,}", ha="right", color=GREY, **top)
            axes.text(x + 0.8, y - 1.2 * TALL, "\n".join(text), size=POINTS * SMALL, **top)
            x += width + GAP
        y = min(boxes[part].get_y() for part in parts) - 2.0 * GAP
    for part, use in arrows:
        start, end = (
            (middle(boxes[part]), boxes[part].get_y()),
            (middle(boxes[use]), boxes[use].get_bbox().y1),
        )
        look = {
            "arrowstyle": "-|>",
            "mutation_scale": 8,
            "color": GREY,
            "lw": 0.9,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        axes.add_patch(FancyArrowPatch(start, end, zorder=1, **look))
    axes.set(xlim=(-1.0, WIDTH + 1.0), ylim=(y + 2.0 * GAP - 1.0, 1.0))
    axes.axis("off")
    figure.set_size_inches((WIDTH + 2.0) * INCH, (2.0 - y - 2.0 * GAP) * INCH)
    return figure


def middle(box: Rectangle) -> float:
    """Return where the middle of a box is, from the left."""
    return float(box.get_x() + box.get_width() / 2.0)


def passed(call: Callable[[], object]) -> dict[Path, list[str]]:
    """Return the files of the package that a call enters, in this order, and the functions that it enters in each."""
    found: dict[Path, list[str]] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        file, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if event == "call" and "<" not in name and file.is_relative_to(ROOT / "refsvm"):
            found[file] = list(dict.fromkeys([*found.get(file, []), name]))

    call()  # whatever is imported and kept at the first call
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def draw_layout(folder: Path) -> None:
    """Write the pictures of the package and of its reference as SVG."""
    with plt.rc_context({"svg.hashsalt": "refsvm", "font.size": POINTS}):
        for name in ("refsvm", "refsvm.core"):
            figure = draw(Folder(name))
            figure.savefig(folder / f"layout_{name.rpartition('.')[2]}.svg", metadata={"Date": None})
            plt.close(figure)


class Parts(SphinxDirective):
    """The parts of a folder, from the ground up: their names, lines of code and first sentences."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse a table."""
        folder = Folder(self.arguments[0])
        rows = []
        for part in sorted(folder.uses, key=lambda part: (folder.floors[part], part)):
            first = ast.get_docstring(tree(folder.files[part][0])).split("\n\n")[0]
            sentence = " ".join(re.split(r"[.;](?=\s|$)", first)[0].split())
            rows.append([link(f"{folder.name}.{part}"), f"{folder.lines(part):,}", sentence])
        return self.parse_text_to_nodes(table("part", "lines of code", "what it is", rows=rows))


class Way(SphinxDirective):
    """The way of one small solve through the files."""

    def run(self) -> list[nodes.Node]:
        """Solve a problem, and parse a table of `passed`."""
        data = make_banana(60, rng=0)
        problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.5))
        way = passed(lambda: solve(problem, shrinking=False, engine="numpy"))
        modules = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in way)
        rows = [
            [link(module), ", ".join(f"``{name}``" for name in names)]
            for module, names in zip(modules, way.values(), strict=True)
        ]
        return self.parse_text_to_nodes(
            table("file", "functions, in the order in which they are entered first", rows=rows)
        )


def link(module: str) -> str:
    """Return a link to the page of a module, without the name of the package."""
    return f":py:obj:`{module.removeprefix('refsvm.')} <{module}>`"


def table(*heads: str, rows: list[list[str]]) -> str:
    """Return a table as reST."""
    lines = ("   * - " + "\n     - ".join(cells) for cells in (heads, *rows))
    return ".. list-table::\n   :header-rows: 1\n\n" + "\n".join(lines) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Register the directives and draw the pictures."""
    app.add_directive("parts", Parts)
    app.add_directive("way", Way)
    draw_layout(Path(app.srcdir) / "_static")
    return {"parallel_read_safe": True}
