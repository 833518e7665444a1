"""The lecturer's kit, made from the chapters: plans of ninety minutes, slides, exercises and notebooks.

Nothing here is typed twice. A plan is computed from what stands in a chapter's sections, slides are its figures with
their descriptions, exercises are its own without hints and answers. ``docs/lecturing.md`` says how to use them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from book import as_markdown
from docutils.nodes import make_id
from figures import description
from source_lines import ROOT
from sphinx.errors import ExtensionError
from sphinx_gallery.py_source_parser import split_code_and_text_blocks

__all__ = ["Chapter", "Section", "chapters", "minutes"]

OPENING, EXERCISES, CLOSING, LENGTH = 5, 20, 5, 90
"""Minutes of a lecture; what is left is for the sections."""

PAGE, DECKS = "lecturing/plans", "slides"
"""The page of all lectures, in the sources; the folder of the slides, in the site."""

HEAD = """\
Plans, slides and exercises
===========================

Each chapter of the book is a lecture of ninety minutes. This page lists what to show and when, the figures, and the
exercises without their hints and answers.

.. contents::
   :local:
   :depth: 1
"""

SLIDES = """\
`Slides of all figures <{}>`__, a slide each; arrow keys turn them, and the browser prints them. Each figure alone:

"""
STEPPERS = "(?:path-|line-)?stepper"
GRADES = "★ takes a few lines, ★★ half a page, ★★★ a page. Hints and answers are in the chapter.\n\n"
FILES = "The chapter: :doc:`page <{0}>`, :download:`notebook <{0}.ipynb>`, :download:`script <{0}.py>`."

STYLE = """
html { color-scheme: light; } body { margin: 0; font-family: system-ui, sans-serif; color: #222; background: #fff; }
section { box-sizing: border-box; min-height: 100vh; padding: 4vh 6vw; display: flex; flex-direction: column; gap: 3vh;
  page-break-after: always; scroll-snap-align: start; }
html { scroll-snap-type: y proximity; } h1 { margin: auto 0 0; font-size: 3rem; } h2 { margin: 0; font-size: 2rem; }
p { margin: 0 0 auto; max-width: 60rem; font-size: 1.2rem; line-height: 1.5; }
img { max-width: 100%; max-height: 68vh; margin: auto; } figcaption { font-size: 1rem; line-height: 1.4; color: #555; }
@page { size: 297mm 167mm; margin: 0; }
"""
KEYS = """
addEventListener("keydown", (event) => {
  const way = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 }[event.key];
  if (!way) return;
  event.preventDefault();
  const slides = [...document.querySelectorAll("section")];
  const now = slides.findIndex((slide) => slide.getBoundingClientRect().bottom > innerHeight / 2);
  slides[Math.min(Math.max(now + way, 0), slides.length - 1)].scrollIntoView();
});
"""


@dataclass
class Section:
    """A section of a chapter, and what there is to show in it."""

    title: str
    text: str = ""
    figures: list[str] = field(default_factory=list)
    code: int = 0

    def count(self, directive: str) -> int:
        """Return how often a directive stands in the section."""
        return len(re.findall(rf"\.\. {directive}::", self.text))

    @property
    def weight(self) -> float:
        """Minutes that the section would take if there were no clock."""
        words = len(re.sub(r"(?m)^\.\. .*\n(?: +.*\n|\n)*", "", self.text).split())
        shown = 2 * self.count("math") + 2 * len(self.figures) + 5 * self.count(STEPPERS)
        return words / 120 + shown + self.code / 8

    def shown(self, first: int) -> str:
        """Say what stands on the board and on the screen; the first figure has this number."""
        last = first + len(self.figures) - 1
        of_figures = f"figure {first}" if last == first else f"figures {first} to {last}"
        counts = ((self.count("math"), "formula"), (self.count(STEPPERS), "stepper"))
        parts = [f"{n} {name}{'s' * (n > 1)}".replace("formulas", "formulae") for n, name in counts if n]
        parts += [of_figures] * bool(self.figures) + [f"{self.code} lines of code"] * (self.code > 3)
        return "; ".join(parts) or "words"


@dataclass
class Chapter:
    """A chapter: its parts, and the exercises as reST."""

    stem: str
    title: str
    intro: str
    sections: list[Section]
    exercises: list[str]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Title of the section and description of each figure."""
        return [(section.title, words) for section in self.sections for words in section.figures]

    def numbers(self, grades: str) -> str:
        """Return the numbers of the exercises whose stars are one of some, separated by commas."""
        graded = [re.match(r"(\d+)\. (★+)", exercise).groups() for exercise in self.exercises]
        return ", ".join(number for number, stars in graded if stars in grades.split())


def chapters() -> list[Chapter]:
    """Return all chapters in their order."""
    return [read(script) for script in sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py"))]


def read(script: Path) -> Chapter:
    """Return the chapter that a script is."""
    title, intro, sections, exercises = "", "", [Section("At the head")], ""
    for kind, content, _ in split_code_and_text_blocks(script)[1]:
        if kind == "code":
            sections[-1].figures += [description(content)] * ("plt.show()" in content)
            is_shown = not content.lstrip().startswith("# fold: ")
            sections[-1].code += is_shown * sum(bool(line.strip()) for line in content.splitlines())
            continue
        if not title:
            title, intro = re.fullmatch(r"(?s)\s*(.+?)\n=+\n\n(.*)", content).groups()
            continue
        parts = re.split(r"(?m)^(\S.*)\n-{4,}$", content)
        sections[-1].text += parts[0]
        for heading, text in zip(parts[1::2], parts[2::2], strict=True):
            if heading == "Exercises":
                exercises = text.split(".. fold:: Hints")[0]
                return Chapter(script.stem, title, intro.strip(), sections, listed(exercises))
            sections.append(Section(heading, text))
    raise ExtensionError(f"{script.name} has no exercises; every chapter ends with some.")


def listed(exercises: str) -> list[str]:
    """Return the items of the numbered list."""
    return [item.strip() for item in re.split(r"(?m)^(?=\d+\. )", exercises)[1:]]


def minutes(sections: list[Section], total: int = LENGTH - OPENING - EXERCISES - CLOSING) -> list[int]:
    """Return minutes for each section, in fives: at least five, the rest by weight (J. D'Hondt's quotients)."""
    given = [1] * len(sections)
    for _ in range(total // 5 - len(sections)):
        wanting = [section.weight / (1 + fives) for section, fives in zip(sections, given, strict=True)]
        given[wanting.index(max(wanting))] += 1
    return [5 * fives for fives in given]


def plan(chapter: Chapter) -> Iterator[tuple[str, str, str, str]]:
    """Yield begin and end of each part of a lecture, its title, its anchor in the chapter, and what is shown."""
    opening, *sections = chapter.sections
    head = "the figure at the head of the chapter" if opening.figures else "the question of the chapter"
    parts = [(OPENING, "Opening", "", head)]
    first = 1 + len(opening.figures)
    for section, length in zip(sections, minutes(sections), strict=True):
        parts.append((length, section.title, make_id(section.title), section.shown(first)))
        first += len(section.figures)
    at_home = chapter.numbers("★★ ★★★")
    parts.append(
        (EXERCISES, "Exercises in class", "exercises", f"{chapter.numbers('★')}; hints after ten minutes")
    )
    closing = "the names in “Known elsewhere as”" + (f"; at home: {at_home}" if at_home else "")
    parts.append((CLOSING, "Closing", "", closing))
    now = 0
    for length, title, anchor, shown in parts:
        yield f"{now} to {now + length}", title, anchor, shown
        now += length


# -- pages -------------------------------------------------------------------------------------------------------------


def page(chapter: Chapter) -> str:
    """Return the section of one lecture, as reST."""
    there = f"../gallery/tutorials/{chapter.stem}.html"
    rows = [("minutes", "part", "", "board and screen"), *plan(chapter)]
    table = "".join(
        f"   * - {time}\n     - {f'`{part} <{there}#{anchor}>`__' if anchor else part}\n     - {shown}\n"
        for time, part, anchor, shown in rows
    )
    figures = "\n".join(
        f"{number}. :download:`SVG </{svg(chapter.stem, number)}>`, {section}: {words}"
        for number, (section, words) in enumerate(chapter.figures, 1)
    )
    parts = {
        chapter.title: chapter.intro,
        "Ninety minutes": f".. list-table::\n   :header-rows: 1\n   :widths: 15 40 45\n\n{table}",
        "Figures": figures and SLIDES.format(f"../{DECKS}/{chapter.stem}.html") + figures,
        "Exercises": GRADES + "\n".join(chapter.exercises),
        "Files": FILES.format(f"/gallery/tutorials/{chapter.stem}"),
    }
    marks = "-" + "~" * (len(parts) - 1)
    headed = zip(parts.items(), marks, strict=True)
    text = "\n\n".join(f"{head}\n{mark * len(head)}\n\n{text}" for (head, text), mark in headed if text)
    # a chapter names another one by its file, which is in another folder
    return re.sub(r"(:doc:`(?:[^`<]*<)?)(\d\d_)", r"\1/gallery/tutorials/\2", text) + "\n"


def svg(stem: str, number: int) -> str:
    """Return the path of a figure, from the folder of the sources."""
    return f"gallery/tutorials/images/sphx_glr_{stem}_{number:03d}.svg"


def markdown(chapter: Chapter) -> str:
    """Return plan and exercises as Markdown, for the one file."""
    rows = "\n".join(f"| {time} | {part} | {shown} |" for time, part, _, shown in plan(chapter))
    exercises = as_markdown("\n".join(chapter.exercises))
    table = f"| minutes | part | board and screen |\n|---|---|---|\n{rows}\n"
    return f"# {chapter.title}\n\n{as_markdown(chapter.intro)}\n\n{table}\n## Exercises\n\n{exercises}\n"


def deck(chapter: Chapter, folder: Path) -> str:
    """Return the slides of a chapter: one file, which needs no other."""
    slides = [f"<section><h1>{escape(chapter.title)}</h1><p>{escape(plain(chapter.intro))}</p></section>"]
    for number, (section, words) in enumerate(chapter.figures, 1):
        drawn = (folder / svg(chapter.stem, number)).read_bytes()
        title = chapter.title.split("· ")[-1] if section == "At the head" else plain(section)
        slides.append(
            f"<section><h2>{escape(title)}</h2>{image(drawn, words)}<figcaption>{escape(words)}</figcaption></section>"
        )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<link rel="icon" href="data:,"><title>{escape(chapter.title)}</title><style>{STYLE}</style>'
        f"{''.join(slides)}<script>{KEYS}</script></html>\n"
    )


def image(drawn: bytes, words: str) -> str:
    """Return an SVG as an image in the page; its names may be those of another."""
    return f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{b64encode(drawn).decode()}">'


def plain(text: str) -> str:
    """Return reST as words: without roles and stars."""
    return re.sub(r"[*`$\\]", "", as_markdown(text)).replace("\n", " ")


# -- in the build ------------------------------------------------------------------------------------------------------


def write_pages(app: Any) -> None:
    """Write the page of all lectures, after the chapters have been run and before pages are read."""
    source, parts = Path(app.srcdir), [HEAD]
    for chapter in chapters():
        there = source / f"gallery/tutorials/images/sphx_glr_{chapter.stem}_001.png"
        if there.is_file() and not (source / svg(chapter.stem, len(chapter.figures))).is_file():
            raise ExtensionError(
                f"{chapter.stem} has {len(chapter.figures)} figures, and fewer files; run it again."
            )
        if not there.is_file():  # a build of some chapters only
            for section in chapter.sections:
                section.figures = []
        parts.append(page(chapter))
    file, text = source / f"{PAGE}.rst", "\n".join(parts)
    file.parent.mkdir(exist_ok=True)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def write_files(app: Any, error: Exception | None) -> None:
    """Write slides, and one file of everything, into the site."""
    if error is not None or app.builder.format != "html":
        return
    source, site = Path(app.srcdir), Path(app.outdir)
    (site / DECKS).mkdir(exist_ok=True)
    with ZipFile(site / DECKS / "refsvm_lectures.zip", "w", ZIP_DEFLATED) as everything:
        for chapter in chapters():
            drawn = [source / svg(chapter.stem, 1 + k) for k in range(len(chapter.figures))]
            everything.writestr(f"plans/{chapter.stem}.md", markdown(chapter))
            for file in (source / f"gallery/tutorials/{chapter.stem}.ipynb", *drawn):
                if file.is_file():
                    folder = "notebooks" if file.suffix == ".ipynb" else "figures"
                    everything.write(file, f"{folder}/{file.name.removeprefix('sphx_glr_')}")
            if drawn and all(file.is_file() for file in drawn):
                slides = deck(chapter, source)
                (site / DECKS / f"{chapter.stem}.html").write_text(slides, encoding="utf-8")
                everything.writestr(f"slides/{chapter.stem}.html", slides)


def setup(app: Any) -> dict[str, bool]:
    """Write pages after sphinx-gallery, files at the end."""
    app.connect("builder-inited", write_pages, priority=900)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True}
