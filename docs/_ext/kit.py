"""The lecturer's kit: slides with derivations, paths, exercises, notebooks and steppers, in one zip.

``docs/lectures/slides`` has an outline for each of the chapters 1 to 12, in Markdown. An outline gives the order of the
slides and the sentences of a derivation. A line in braces takes something from the chapter or from its last run::

    {formula: \\psi = }      the displayed formula that contains this TeX, without its full stop
    {figure: 2}             the second figure
    {table: 1}              the first table of the text
    {printed: tolerance}    what a block of code prints, the block whose output contains this
    {code: smo}             the source of a function
    {exercise: 1}           an exercise, without hint and answer
    {stepper: 1}            a link to the stepper, as a page of its own
    {known}                 the box "Known elsewhere as"

A heading of the first level repeats a heading of the chapter: the slides below it belong to this section.

The build of the pages calls `make_kit`. ``python docs/_ext/kit.py docs/_build/html``, after a build, also prints the
slides as PDF, builds a wheel, and writes a second zip, outside of the site, with the solutions of the assignments. It
fails if pandoc, reveal.js, playwright or Chromium are missing.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import assignments
from book import TABLE, as_markdown, table
from figures import description
from source_lines import ROOT
from sphinx.errors import ExtensionError
from sphinx_gallery.py_source_parser import split_code_and_text_blocks
from stepper_page import SCRIPTS, LineStepper, PathStepper, Stepper, script

__all__ = ["Chapter", "Section", "chapters", "make_kit", "outline", "slides"]

LECTURES = ROOT / "docs" / "lectures"
TITLE = '---\ntitle: "{title}"\nsubtitle: "The refsvm book, chapter {number}"\nlang: en\n---\n\n'
OPTIONS = (
    "--from=markdown-implicit_figures", "--to=revealjs", "--standalone", "--mathml", "--slide-level=2",
    "--css=slides.css", *(f"--variable={each}" for each in (
        "revealjs-url=reveal.js", "theme=white", "width=1280", "height=720", "margin=0", "center=false", "hash=true",
        "transition=none", "slideNumber='c/t'", "controls=false",
    )),
)  # fmt: skip
"""How pandoc turns the Markdown of a deck into slides."""

SIDES = {"l": r"\left", "r": r"\right"}
"""How bars get their height from what stands between them."""

STICKS_OUT = """() => [...document.querySelectorAll(".pdf-page")].flatMap((page, k) => {
  const box = page.getBoundingClientRect();
  const out = [...page.querySelectorAll("math, p, li, pre, table, img")].filter((each) => {
    const its = each.getBoundingClientRect();
    return its.right > box.right - 24 || its.bottom > box.bottom;
  });
  return out.slice(0, 1).map((each) => [k + 1, each.textContent.trim().slice(0, 40)]);
})"""
"""What sticks out of a slide, at most one thing a slide."""

KINDS = {"stepper": Stepper, "path-stepper": PathStepper, "line-stepper": LineStepper}
PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,"><title>{title}</title><style>
body {{ font-family: system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }}
{style}</style><h1>{title}</h1>{fragment}{scripts}</html>
"""


@dataclass
class Section:
    """A section of a chapter: its text as reST, the descriptions of its figures, its code."""

    title: str
    text: str = ""
    figures: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)


@dataclass
class Chapter:
    """A chapter: its parts, and the exercises as reST."""

    stem: str
    title: str
    intro: str
    sections: list[Section]
    exercises: list[str]

    @property
    def number(self) -> int:
        """The number of the chapter."""
        return int(self.stem[:2])

    @property
    def figures(self) -> list[str]:
        """The description of each figure."""
        return [words for section in self.sections for words in section.figures]

    @property
    def text(self) -> str:
        """The text of all sections, as reST."""
        return "\n".join(section.text for section in self.sections)

    @property
    def steppers(self) -> list[tuple[str, str]]:
        """The kind and the options of each stepper."""
        return re.findall(r"(?m)^\.\. ((?:path-|line-)?stepper)::\n((?: +:.*\n?)*)", self.text + "\n")

    @property
    def formulas(self) -> list[str]:
        """The displayed formulas, as TeX without the full stop or comma at their end."""
        parts = re.findall(r"(?m)^ *\$\$(.*)\$\$$", as_markdown(self.text))
        parts = [re.sub(r"[\s,.]+$", "", part) for part in parts]
        return [rf"\begin{{aligned}}{part}\end{{aligned}}" if r"\\" in part and "begin" not in part else part
                for part in parts]  # fmt: skip


def chapters() -> list[Chapter]:
    """Return all chapters in their order."""
    return [read(file) for file in sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py"))]


def read(file: Path) -> Chapter:
    """Return the chapter that a script is."""
    title, intro, sections = "", "", [Section("At the head")]
    for kind, content, _ in split_code_and_text_blocks(file)[1]:
        if kind == "code":
            sections[-1].figures += [description(content)] * ("plt.show()" in content)
            sections[-1].code.append(content)
            continue
        if not title:
            title, intro = re.fullmatch(r"(?s)\s*(.+?)\n=+\n\n(.*)", content).groups()
            continue
        parts = re.split(r"(?m)^(\S.*)\n-{4,}$", content)
        sections[-1].text += parts[0]
        for heading, text in zip(parts[1::2], parts[2::2], strict=True):
            if heading == "Exercises":
                exercises = text.split(".. fold:: Hints")[0]
                return Chapter(file.stem, title, intro.strip(), sections, listed(exercises))
            sections.append(Section(heading, text))
    raise ExtensionError(f"{file.name} has no exercises; every chapter ends with some.")


def listed(exercises: str) -> list[str]:
    """Return the items of the numbered list."""
    return [item.strip() for item in re.split(r"(?m)^(?=\d+\. )", exercises)[1:]]


# -- slides ------------------------------------------------------------------------------------------------------------


def outline(chapter: Chapter) -> str:
    """Return the outline of the slides of a chapter; if nobody has written one, a slide for each figure."""
    file = LECTURES / "slides" / f"{chapter.stem}.md"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    numbers, lines = count(1), []
    for section in chapter.sections:
        title = chapter.title.split("· ")[-1] if section.title == "At the head" else section.title
        lines += [f"# {section.title}\n"] * bool(section.figures)
        lines += [f"## {title}\n\n{{figure: {next(numbers)}}}\n" for _ in section.figures]
    return "\n".join(lines)


def slides(chapter: Chapter, run: str = "") -> str:
    """Return the slides of a chapter as Markdown of pandoc; ``run`` is the page that a run of the chapter wrote."""
    text = re.sub(
        r"(?m)^\{(\w+)(?:: (.*))?\}$",
        lambda found: taken(chapter, found[1], found[2] or "", run),
        outline(chapter),
    )
    text = re.sub(r"\\[bB]igg?([lr])\\([lr])Vert", lambda found: SIDES[found[1]] + rf"\{found[2]}Vert", text)
    titles = [section.title for section in chapter.sections]
    parts = re.split(r"(?m)^# (.*)\n", text)
    for title in parts[1::2]:
        if title not in titles:
            raise ExtensionError(
                f"The slides of {chapter.stem} name the section {title!r}, which the chapter lacks."
            )
    named = [parts[0]]
    for title, part in zip(parts[1::2], parts[2::2], strict=True):
        shown = "" if title == "At the head" else escape(title)
        named.append(re.sub(r"(?m)^## (.*?)(?: \{(.*)\})?$", rf'## \1 {{section="{shown}" \2}}', part))
    title = as_markdown(chapter.title).replace('"', "'")
    return TITLE.format(title=title, number=chapter.number) + "".join(named)


def fenced(text: str, language: str = "") -> str:
    """Return code or output as a block whose letters are as large as the slide allows, at most 26 pixels."""
    lines = text.split("\n")
    size = min(26.0, 1136 / (0.603 * max(map(len, lines))), 500 / (1.32 * len(lines)))
    return f'```{{{language}style="font-size:{size:.1f}px"}}\n{text}\n```'


def formula(chapter: Chapter, part: str, run: str) -> str:
    """Return the displayed formula that contains a part."""
    found = [tex for tex in chapter.formulas if " ".join(part.split()) in " ".join(tex.split())]
    if len(found) != 1:
        raise ExtensionError(
            f"The slides of {chapter.stem} ask for the displayed formula with {part!r}; "
            f"the chapter has {len(found)} such formulas. Give a part that only the wanted formula contains."
        )
    return f"$${found[0]}$$"


def printed(chapter: Chapter, part: str, run: str) -> str:
    """Return what a block of code printed, the first block whose output contains a part."""
    outputs = re.findall(r"(?m)^ \.\. code-block:: none\n\n((?:    .*\n|\s*\n)+)", run)
    found = [re.sub(r"(?m)^    ", "", each).strip("\n").rstrip() for each in outputs if part in each]
    if outputs and not found:
        raise ExtensionError(
            f"The slides of {chapter.stem} show what the chapter prints with {part!r}: nothing."
        )
    return fenced(found[0] if found else f"(what the chapter prints: {part})")  # where no chapter was run


def code(chapter: Chapter, name: str, run: str) -> str:
    """Return the source of a function of a chapter, without its docstring."""
    for block in (block for section in chapter.sections for block in section.code if f"def {name}(" in block):
        node = next(each for each in ast.parse(block).body if getattr(each, "name", "") == name)
        lines = ast.get_source_segment(block, node).split("\n")
        first = node.body[1].lineno - node.lineno if ast.get_docstring(node) else 1
        return fenced("\n".join([lines[0], *lines[first:]]), ".python ")
    raise ExtensionError(f"The slides of {chapter.stem} show the function {name}, which the chapter lacks.")


def known(chapter: Chapter, which: str, run: str) -> str:
    """Return the box "Known elsewhere as"."""
    box = re.search(r"(?m)^\.\. admonition:: Known elsewhere as\n\n((?: {3}.*\n?|\n)+)", chapter.text + "\n")
    return as_markdown(re.sub(r"(?m)^ {3}", "", box[1])).strip()


def numbered(chapter: Chapter, what: str, which: str) -> str:
    """Return a figure, table, exercise or stepper by its number."""
    lists = {
        "figure": chapter.figures, "exercise": chapter.exercises, "stepper": chapter.steppers,
        "table": [found[0] for found in re.finditer(TABLE, chapter.text)],
    }  # fmt: skip
    if not which.isdigit() or not 1 <= int(which) <= len(lists.get(what, ())):
        raise ExtensionError(f"The slides of {chapter.stem} ask for {what} {which}, which the chapter lacks.")
    number, item = int(which), lists[what][int(which) - 1]
    if what == "figure":
        return f"![{item.translate({91: '(', 93: ')'})}](figures/{chapter.stem}_{number:03d}.svg)"
    if what == "exercise":
        return "**Exercise " + as_markdown(item).replace(". ", ".** ", 1)
    if what == "stepper":
        return f"[The stepper](steppers/{chapter.stem}_{number}.html){{target=_blank}}"
    # after the table, whose columns are those of the text as it is typed
    return as_markdown(
        re.sub(r":doc:`/(\w+)`", lambda found: found[1].replace("_", " "), re.sub(TABLE, table, item))
    )


TAKEN = {"formula": formula, "printed": printed, "code": code, "known": known}


def taken(chapter: Chapter, what: str, which: str, run: str) -> str:
    """Return what a line in braces takes from a chapter."""
    return TAKEN[what](chapter, which, run) if what in TAKEN else numbered(chapter, what, which)


def reveal() -> Path | None:
    """Return the folder of reveal.js in the package sphinx-revealjs, if this is installed."""
    package = find_spec("sphinx_revealjs")
    return Path(package.origin).parent / "_static" / "revealjs" if package else None


def mended(html: str) -> str:
    """Return slides whose accents every browser draws, without a new line between a formula and the comma behind it."""
    for combining, alone in (("\u0302", "^"), ("\u0303", "~")):
        html = html.replace(
            f'<mo accent="true">{combining}</mo>', f'<mo accent="true" stretchy="false">{alone}</mo>'
        )
    formula = r'(<math display="inline"(?:(?!</math>).)*</math>)([.,:;?!)]+)'
    return re.sub(formula, r'<span class="whole">\1\2</span>', html, flags=re.DOTALL)


def make_slides(source: Path, folder: Path) -> list[str]:
    """Write the slides of each chapter into a folder, and return their names.

    The Markdown needs nothing; the slides in HTML need pandoc and reveal.js.
    """
    made, found, has_pandoc = [], reveal(), find_spec("pypandoc")
    for chapter in chapters():
        page = source / f"gallery/tutorials/{chapter.stem}.rst"
        text = slides(chapter, page.read_text(encoding="utf-8") if page.is_file() else "")
        (folder / f"{chapter.stem}.md").write_text(text, encoding="utf-8")
        made.append(chapter.stem)
        if has_pandoc and found:
            import pypandoc

            command = [
                pypandoc.get_pandoc_path(),
                *OPTIONS,
                f"{chapter.stem}.md",
                f"--output={chapter.stem}.html",
            ]
            subprocess.run(command, cwd=folder, check=True)
            html = folder / f"{chapter.stem}.html"
            html.write_text(mended(html.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copy(LECTURES / "slides" / "slides.css", folder)
    if found:
        for part in ("dist/reset.css", "dist/reveal.css", "dist/reveal.js", "dist/theme/white.css",
                     "plugin/notes/notes.js", "plugin/search/search.js", "plugin/zoom/zoom.js"):  # fmt: skip
            (folder / "reveal.js" / part).parent.mkdir(parents=True, exist_ok=True)
            text = (found / part).read_text(encoding="utf-8")
            # the theme asks for a font of its own
            text = re.sub(r"@import url\([^)]*\);", "", text)
            (folder / "reveal.js" / part).write_text(text, encoding="utf-8")
    return made


def print_slides(folder: Path, names: list[str]) -> None:
    """Print slides as PDF, a page for each slide, with playwright and Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        for name in names:
            file = folder / f"{name}.html"
            page.goto(f"{file.resolve().as_uri()}?print-pdf&pdfSeparateFragments=false&pdfMaxPagesPerSlide=1")
            slides_in_all = file.read_text(encoding="utf-8").count("<section")
            page.wait_for_function(f"document.querySelectorAll('.pdf-page').length >= {slides_in_all}")
            page.wait_for_load_state("networkidle")  # all figures are there
            for number, words in page.evaluate(STICKS_OUT):
                print(f"{name}, slide {number}: {words!r} sticks out")
            page.pdf(path=folder / f"{name}.pdf", prefer_css_page_size=True, print_background=True)
        browser.close()


# -- the zip -----------------------------------------------------------------------------------------------------------


def stepper_pages(chapter: Chapter) -> list[tuple[str, str]]:
    """Return the name and the text of a page for each stepper of a chapter."""
    pages = []
    for number, (kind, options) in enumerate(chapter.steppers, 1):
        page = Stepper.of_directive(options) if kind == "stepper" else KINDS[kind]()
        scripts = "".join(
            f"<script>{script(name).read_text(encoding='utf-8')}</script>" for name in SCRIPTS[kind]
        )
        style = script("stepper.css").read_text(encoding="utf-8")
        title = escape(f"Chapter {chapter.number}, stepper {number}")
        text = PAGE.format(title=title, style=style, fragment=page.html(), scripts=scripts)
        pages.append((f"{chapter.stem}_{number}.html", text))
    return pages


def exercises(chapter: Chapter) -> str:
    """Return the exercises of a chapter as Markdown, to hand out."""
    grades = "★ takes a few lines, ★★ half a page, ★★★ a page."
    return f"# {chapter.title}: exercises\n\n{grades}\n\n" + as_markdown("\n".join(chapter.exercises)) + "\n"


def paths() -> str:
    """Return the three paths as Markdown whose links lead to files of the zip."""
    text = (LECTURES / "paths.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(\.\./gallery/tutorials/(\d\d_\w+)\.rst\)", r"](notebooks/\1.ipynb)", text)
    return re.sub(r"\[([^]]*)\]\(\.\./[^)]*\)", r"\1", text)


def copy_figures(source: Path, folder: Path) -> None:
    """Copy the figures of all chapters, and write the pages of their steppers."""
    for name in ("figures", "steppers"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for chapter in chapters():
        for number in range(1, 1 + len(chapter.figures)):
            name = f"{chapter.stem}_{number:03d}.svg"
            drawn = source / f"gallery/tutorials/images/sphx_glr_{name}"
            if drawn.is_file():
                shutil.copy(drawn, folder / "figures" / name)
        for name, text in stepper_pages(chapter):
            (folder / "steppers" / name).write_text(text, encoding="utf-8")


def wheel(folder: Path) -> Path:
    """Build a wheel of the package, and return it."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        f"--wheel-dir={folder}",
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    return max(folder.glob("refsvm-*.whl"), key=lambda file: file.stat().st_mtime)


def folder_in_zip(name: str, folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their names in the zip, which is not in itself."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".zip"]
    return {f"{name}/{file.relative_to(folder).as_posix()}": file.read_bytes() for file in files}


def write_zip(file: Path, files: dict[str, bytes]) -> Path:
    """Write files into a zip, and return its path."""
    with ZipFile(file, "w", ZIP_DEFLATED) as everything:
        for name in sorted(files):
            everything.writestr(name, files[name])
    return file


def make_kit(source: Path, site: Path, *, whole: bool = False) -> Path:
    """Write the slides and the zip into the site, and return the path of the zip.

    With ``whole`` the zip also has the slides as PDF and a wheel of the package, and the path is that of a second zip,
    beside the site, which has the solutions of the assignments, too.
    """
    slides_folder, beside = site / "slides", site.parent
    copy_figures(source, slides_folder)
    names = make_slides(source, slides_folder)
    files = {"README.md": (LECTURES / "README.md").read_bytes(), "paths.md": paths().encode()}
    files |= {f"exercises/{chapter.stem}.md": exercises(chapter).encode() for chapter in chapters()}
    for name in names:
        notebook = source / f"gallery/tutorials/{name}.ipynb"
        files |= {f"notebooks/{name}.ipynb": notebook.read_bytes()} if notebook.is_file() else {}
    assignments.write_assignments(beside / "assignments")
    if whole:
        print_slides(slides_folder, names)
        built = wheel(beside / "wheel")
        files |= {f"{folder}/{built.name}": built.read_bytes() for folder in ("notebooks", "assignments")}
    files |= folder_in_zip("slides", slides_folder) | folder_in_zip("assignments", beside / "assignments")
    zipped = write_zip(slides_folder / "refsvm_lectures.zip", files)
    if whole:
        assignments.write_solutions(beside / "solutions")
        files |= folder_in_zip("solutions", beside / "solutions")
        zipped = write_zip(beside / "refsvm_for_lecturers.zip", files)
    return zipped


def write_files(app: Any, error: Exception | None) -> None:
    """Write slides and the zip into the site, at the end of a build."""
    if error is None and app.builder.format == "html":
        make_kit(Path(app.srcdir), Path(app.outdir))


def setup(app: Any) -> dict[str, bool]:
    """Write the files after the pages."""
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    missing = [name for name in ("pypandoc", "sphinx_revealjs", "playwright") if not find_spec(name)]
    missing += ["chromium"] * (not shutil.which("chromium"))
    if missing or len(sys.argv) != 2:
        sys.exit(f"Give the folder of a built site. Missing: {', '.join(missing) or 'nothing'}.")
    print(make_kit(ROOT / "docs", Path(sys.argv[1]), whole=True))
