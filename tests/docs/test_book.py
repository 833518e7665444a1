"""The book prints the code of the package: nearly every line of the rules and loops is on some page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py"))

pytestmark = pytest.mark.skipif(not CHAPTERS, reason="the chapters are not here")

if CHAPTERS:
    lines = module("source_lines", "docs/_ext")
    code, directives = lines.code, lines.directives

FOLDERS = "selectors", "steps", "stopping", "seeders", "trackers"
BODIES = {
    "refsvm/core/solver/loop.py": (),
    "refsvm/core/solver/shrinking.py": ("Restriction",),
    "refsvm/analysis/resampling/leave_one_out.py": ("leave_one_out",),
    "refsvm/core/rounds/leave_one_out.py": ("algorithm_1",),
    "refsvm/analysis/resampling/cross_validate.py": ("cross_validate",),
    "refsvm/core/rounds/chain.py": ("planned",),
    "refsvm/core/walk/walk.py": ("Walk.advance", "Walk.direction", "Walk.reach", "Walk.move"),
}
"""What has to be shown beside the folders: of each file these objects, or all of it."""


@cache
def printed() -> dict[str, set[int]]:
    """The lines of each file that some chapter prints."""
    lines: dict[str, set[int]] = {}
    for chapter in CHAPTERS:
        for path, names, with_twin in directives(chapter.read_text(encoding="utf-8")):
            lines.setdefault(path, set()).update(code(path, names))
            if with_twin:
                code(path.replace("refsvm/core/", "refsvm/compiled/", 1))
    return lines


def rule_in(file: Path) -> str | None:
    """The rule that a file is registered for, if it is."""
    line = rf"from refsvm\.core\.{file.parent.name}\.{file.stem} import (\w+) as"
    found = re.search(line, (file.parent / "__init__.py").read_text(encoding="utf-8"))
    return found[1] if found and file.stem != "base" else None


@cache
def wanted() -> dict[str, set[int]]:
    """The lines of each file that a reader should find: what the rules of the papers' table are made of."""
    of_papers = re.findall(r"\| `(\w+)` \|", (ROOT / "docs" / "rules.md").read_text(encoding="utf-8"))
    files = [
        file
        for folder in FOLDERS
        for file in sorted((ROOT / "refsvm" / "core" / folder).glob("*.py"))
        if not (rule := rule_in(file)) or rule in of_papers
    ]
    lines = {file.relative_to(ROOT).as_posix(): code(file.relative_to(ROOT).as_posix()) for file in files}
    return lines | {path: code(path, names) for path, names in BODIES.items()}


def missing(shown: dict[str, set[int]]) -> tuple[float, dict[str, list[int]]]:
    """The share of the lines wanted that is shown, and which are not."""
    lacking = {path: sorted(lines - shown.get(path, set())) for path, lines in wanted().items()}
    count = sum(map(len, wanted().values()))
    share = 1.0 - sum(map(len, lacking.values())) / count
    return share, {path: lines for path, lines in lacking.items() if lines}


def test_every_line_is_on_a_page():
    share, lacking = missing(printed())
    assert share >= 0.95, f"only {share:.1%} of the lines are on a page; missing: {lacking}"


def test_what_is_not_printed_is_missed_and_an_object_that_is_gone_is_an_error():
    assert missing({})[0] == 0.0
    assert len(code("refsvm/core/steps/newton.py")) == 5  # without docstrings, imports and blank lines
    with pytest.raises(KeyError):
        code("refsvm/core/solver/loop.py", ["a_name_of_the_past"])


def test_no_line_of_prose_is_taken_for_markup():
    """Lines that begin with % are comments, "1. " in a paragraph begins a list, a bar in a cell ends it."""
    pages = [ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[dp]*/*.md")]
    wrong = []
    for page in pages:
        text = re.sub(r"(?ms)^(```|\$\$).*?^\1", "", page.read_text(encoding="utf-8"))
        wrong += [(page.name, *found) for found in re.findall(r"(?m)^(\w.*)\n(%.*|1[.)] .*)$", text)]
        tables = re.findall(r"(?m)^(\|.*)\n(\|[-:| ]+\|)$", text)
        wrong += [
            (page.name, row) for row, rule in tables if len(re.findall(r"(?<!\\)\|", row)) != rule.count("|")
        ]
    assert len(pages) > 30
    assert wrong == []


def test_no_description_in_a_docstring_is_taken_for_a_list():
    """A paragraph that begins with "b." or "r. None" is item b of a list to Sphinx, which shows "1."."""
    files = sorted((ROOT / "refsvm").rglob("*.py"))
    listed = re.compile(r"(?m)^ +[\w*, ]+ : .*\n( +[A-Za-z][.)](?: .*)?)$")
    wrong = [
        (file.name, *listed.findall(text)) for file in files if listed.search(text := file.read_text("utf-8"))
    ]
    assert len(files) > 100
    assert wrong == []


@pytest.mark.parametrize("number", range(1, 19))
def test_every_chapter_has_exercises_with_answers(number):
    chapter = next(file for file in CHAPTERS if file.name.startswith(f"{number:02d}_"))
    text = chapter.read_text(encoding="utf-8")
    exercises = re.search(
        r"(?ms)^# Exercises\n# -+\n(.*?)^# \.\. fold:: Hints\n(.*?)^# \.\. endfold::\n(.*)", text
    )
    asked, hints, answers = (set(re.findall(r"(?m)^# (\d)\. ", part)) for part in exercises.groups())
    assert len(asked) >= 3
    assert hints == answers == asked
    graded = re.findall(r"(?m)^# \d\. (★{1,3}) \S", exercises[1])
    assert len(graded) == len(asked)
    assert text.count(".. fold:: Answers") == 1
    assert text.count(".. endfold::") == 2
    assert "plt.show()" in text or number == 17
    assert ".. shipped::" in text


SCRIPTS = [*CHAPTERS, *sorted((ROOT / "docs" / "examples").glob("[0-9][0-9]_*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_notebooks_stand_alone(script, tmp_path):
    """The first cell installs; helper files are written; steppers are cells; no cell holds a role or a directive."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("sphinx_gallery")
    book = module("book", "docs/_ext")
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    settings = {
        "first_notebook_cell": book.INSTALL, "last_notebook_cell": None, "pypandoc": False,
        "promote_jupyter_magic": False, "src_dir": str(ROOT / "docs"),
    }  # fmt: skip
    blocks = split_code_and_text_blocks(script)[1]
    cells = book.notebook(blocks, settings, tmp_path)["cells"]
    code_cells = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert "%pip install" in code_cells[0]
    assert "install refsvm" not in code_cells[0]
    imported = {name for cell in code_cells for name in re.findall(r"(?m)^from (\w+) import", cell)}
    helpers = {file.stem for file in (ROOT / "docs" / "examples").glob("[a-z]*.py")} & imported
    written = {cell.split()[1].removesuffix(".py") for cell in code_cells if cell.startswith("%%writefile")}
    assert helpers <= written
    steppers = script.read_text(encoding="utf-8").count("# .. stepper::")
    assert sum(cell.startswith("def stepper():") for cell in code_cells) == steppers
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = re.sub(r"```.*?```", "", "".join(cell["source"]), flags=re.DOTALL)
            assert not re.search(r"(?m)^ *\.\. [\w-]+::|:[\w:]+:`|^=+( +=+)+$", text), text


def lines_of(script):
    """Kind ("text", "code" or "folded"), lines that are not blank, and text of each block of a chapter."""
    pytest.importorskip("sphinx_gallery")
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    is_answer = False
    for block in split_code_and_text_blocks(script)[1]:
        count = sum(bool(line.strip()) for line in block.content.splitlines())
        if block.type == "text":
            is_answer = ".. fold::" in block.content or (is_answer and ".. endfold::" not in block.content)
        folded = is_answer or block.content.lstrip().startswith("# fold: ")
        yield ("text" if block.type == "text" else "folded" if folded else "code"), count, block.content


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_code_is_a_third_of_a_chapter_at_most(chapter):
    """What draws figures, imports and answers are folded; the code of chapter 17 is its subject."""
    blocks = list(lines_of(chapter))
    shown = sum(count for kind, count, _ in blocks if kind == "code")
    limit = 1 / 2 if chapter.stem == "17_your_own_rule" else 1 / 3
    assert shown / sum(count for _, count, _ in blocks) <= limit + 0.005
    assert all(kind == "folded" for kind, _, text in blocks if kind != "text" and "plt.show()" in text)


@pytest.mark.parametrize(
    "chapter", [each for each in CHAPTERS if each.stem[:2] != "17"], ids=lambda each: each.stem
)
def test_the_first_figure_is_on_the_first_screen(chapter):
    before = 0
    for kind, count, text in lines_of(chapter):
        if kind != "text" and "plt.show()" in text:
            break
        before += count if kind != "folded" else 0
    assert before <= 30


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_figures_are_described_and_a_picture_of_one_panel_fits_a_phone(chapter):
    """In sentences, not by the titles of panels; up to 6.4 inches a figure is shown in full at 390 pixels."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("sphinx_gallery")
    description = module("figures", "docs/_ext").description
    described = [description(text) for _, _, text in lines_of(chapter) if "plt.show()" in text]
    assert all(each.endswith(".") and len(each.split()) >= 15 for each in described), described
    assert len(set(described)) == len(described)
    widths = re.findall(r"subplots\(figsize=\(([\d.]+),", chapter.read_text(encoding="utf-8"))
    assert max(map(float, widths), default=0.0) <= 6.4
