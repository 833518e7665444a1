"""The book's apparatus: papers, terms, symbols, the map of the rules and the picture of the first page."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CHAPTERS = sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py"))

pytestmark = pytest.mark.skipif(not CHAPTERS, reason="the chapters are not here")
for library in ("sphinx", "sphinx_gallery", "numba", "sklearn", "typer"):
    pytest.importorskip(library)

apparatus, bibliography, front, rules = (
    module(name, "docs/_ext") for name in ("apparatus", "bibliography", "front", "rules")
)


def paragraphs(text):
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]


@cache
def docstrings():
    """Name of the file and text of each docstring, of files that have a year somewhere: a paper has one."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted((ROOT / "refsvm").rglob("*.py"))}
    return [
        (file.name, ast.get_docstring(node) or "")
        for file, text in texts.items() if re.search(r"\b(?:19|20)\d\d", text)
        for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]  # fmt: skip


def prose_of(chapter):
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    return "\n\n".join(block[1] for block in split_code_and_text_blocks(chapter)[1] if block[0] == "text")


def stands_in(term, text):
    text = re.sub(r"(?m)^\.\. (?!fold|admonition|math).*\n(?: {3}:.*\n?)*", "", text)
    emphasised = " ".join(re.findall(r"(?s)(?<!\*)\*([^*]+)\*(?!\*)", text))
    return apparatus.pattern(term).search(text) or apparatus.pattern(term, emphasised=True).search(emphasised)


def test_a_year_belongs_to_the_names_before_it_and_a_term_is_a_phrase():
    text = "S. Keerthi and colleagues, with E. Gilbert (2001, 2002); Glasmachers planned (2008)"
    assert [key for _, key in bibliography.named(text)] == ["keerthi2001", "keerthi2002", "glasmachers2008"]
    assert apparatus.pattern("free").search("a free support vector")
    assert not apparatus.pattern("free").search("errors are free")


def test_every_paper_that_is_named_has_its_entry_and_every_entry_is_named():
    texts = [(chapter.name, prose_of(chapter)) for chapter in CHAPTERS]
    # in docstrings what stands under "References"
    texts += [(name, text.partition("References\n")[2]) for name, text in docstrings()]
    number = r"(?<!arXiv )(?<!arXiv:)(?<!rng=)\b(?:19|20)\d\d\b(?![.–]\d)"
    missing, seen = [], set()
    for name, text in texts:
        for part in paragraphs(text):
            found = dict(bibliography.named(part))
            seen |= set(found.values())
            missing += [(name, part) for year in re.finditer(number, part) if year.start() not in found]
    pages = [*DOCS.glob("*.md"), *DOCS.glob("papers/*.md"), ROOT / "README.md"]
    for text in [*(page.read_text(encoding="utf-8") for page in pages), *(text for _, text in docstrings())]:
        seen |= {key for part in paragraphs(text) for _, key in bibliography.named(part)}
    assert missing == []
    assert set(bibliography.papers()) - seen == set()


def test_a_term_stands_in_the_chapters_that_its_definition_names():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    texts = {chapter.stem[:2]: prose_of(chapter) for chapter in CHAPTERS}
    entries = re.search(r"(?s)\{glossary\}\n(.*?)\n```", glossary)[1].split("\n\n")
    places = [(entry.split("\n    ")[0], re.search(r"\[([\d, ]+)\]$", entry)[1]) for entry in entries]
    assert len(places) >= 60
    missing = [
        (term, number)
        for names, numbers in places
        for term in names.split("\n")
        for number in numbers.split(", ")
        if not stands_in(term, texts[f"{int(number):02d}"])
    ]
    assert missing == []


def test_the_map_of_the_readme_has_the_rules_of_the_package():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| [\w ]+ \| (\[`.*) \| \[\d.*\|$", text)
    shown = [set(re.findall(r"\[`(\w+)`\]\((.*?)\)", row)) for row in rows]
    expected = [
        {(rule.__name__, rule.__module__.replace(".", "/") + ".py") for rule, _ in of_decision}
        for *_, of_decision in rules.family()
    ]
    assert shown == expected
    linked = re.findall(r"\]\((?!http)([^)#]+)", text)
    assert len(linked) > 50
    assert [path for path in linked if not (ROOT / path).exists()] == []


def test_the_map_names_a_chapter_that_prints_the_rule():
    chapters = {chapter.stem for chapter in CHAPTERS}
    found = list(rules.family())
    assert [len(of_decision) for *_, of_decision in found] == [7, 5, 4, 7, 5, 2]
    assert all(
        {chapter, *(shown for _, shown in of_decision)} <= chapters for _, chapter, _, of_decision in found
    )


def test_six_parts_hold_every_page_once():
    """The part itself is the first of its pages; a page that is included in another one is in no part."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    parts = re.findall(r"(?m)^[\w' ]+ <(\w+|gallery/tutorials/index)>$", text)
    assert len(parts) == 6
    tree = r"(?s)\{toctree\}\n:hidden:\n\n(.*?)\n```"
    texts = {part: (DOCS / f"{part}.md").read_text(encoding="utf-8") for part in parts[1:]}
    held = {part: re.search(tree, text)[1].split("\n") for part, text in texts.items()}
    assert all(re.fullmatch(r"\w+ <self>", lines.pop(0)) for lines in held.values())
    pages = {page.stem for page in DOCS.glob("*.md")} - {"index", "layout", *parts}
    listed = [line for lines in held.values() for line in lines]
    assert sorted(line for line in listed if "/" not in line) == sorted(pages)
    examples = {f"gallery/examples/{file.stem}" for file in (DOCS / "examples").glob("[0-9][0-9]_*.py")}
    others = {"api/index", "papers/index", "lectures/paths"}
    assert sorted(line for line in listed if "/" in line) == sorted(examples | others)


def test_the_picture_of_the_first_page_is_that_of_a_run():
    pytest.importorskip("matplotlib")
    text = front.FILE.read_text(encoding="utf-8")
    words = [f"after {steps} step{'s' * (steps > 1)}" for steps in front.moments()]
    assert re.findall(r"after \d+ steps?", text) == words
    assert text.count("<circle") + text.count('class="positive"') == 3 * front.OPTIONS.n


def test_no_extension_has_the_name_of_a_module_of_the_benchmarks():
    """Both folders are put on the path by tests of one process: the first to be imported would hide the other."""
    others = {file.stem for file in (ROOT / "benchmarks").iterdir() if file.suffix in ("", ".py")}
    assert "papers" in others
    assert {file.stem for file in (DOCS / "_ext").glob("*.py")} & others == set()
