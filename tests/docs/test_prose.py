"""Sentences of the pages: what they quote stands in the code above, their numbers in the code or output beside them."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    each for room in ("tutorials", "docs/examples") for each in sorted((ROOT / room).glob("[0-9][0-9]_*.py"))
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.skipif(not SCRIPTS, reason="the documentation is not here")

if SCRIPTS:
    prose = module("prose", "docs/_ext")


def blocks_of(script: Path):
    """Text and code of a script; nothing is executed."""
    pytest.importorskip("sphinx_gallery")
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    return [prose.Block(block.type, block.content) for block in split_code_and_text_blocks(script)[1]]


def text(*paragraphs):
    return prose.Block("text", "\n\n".join(paragraphs))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_snippets_stand_in_the_code_above(script):
    assert prose.unsaid_snippets(script.stem, blocks_of(script)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_numbers_next_to_an_example_are_those_of_the_example(page):
    assert prose.unsaid_numbers(page.stem, prose.of_markdown(page.read_text(encoding="utf-8"))) == []


def test_numbers_of_a_chapter_are_printed():
    """One chapter here, of which the code is quick; all of them while the documentation is built."""
    pytest.importorskip("matplotlib").use("agg")
    script = next(script for script in SCRIPTS if script.stem == "03_why_two")
    executed, names = [], {}
    for block in blocks_of(script):
        said = io.StringIO()
        if block.kind == "code":
            with contextlib.redirect_stdout(said):
                exec(block.text, names)
        executed.append(block._replace(printed=said.getvalue()))
    assert prose.unsaid_numbers(script.stem, executed) == []
    assert sum(bool(block.printed) for block in executed) >= 3


def test_exceptions_are_of_sentences_that_are_there():
    pages = {page.stem: page.read_text(encoding="utf-8") for page in [*SCRIPTS, *PAGES]}
    assert set(prose.EXCEPTIONS) <= set(pages)
    assert [phrase for page in prose.EXCEPTIONS for phrase in prose.stale(page, pages[page])] == []
    assert all(reason for phrases in prose.EXCEPTIONS.values() for reason in phrases.values())


LOOP = ".. shipped:: core/solver/loop.py\n   :object: Steps steps\n"


@pytest.mark.parametrize(
    ("snippet", "is_there"),
    [
        ("i, j = selector.select(state) if state.stalled < 2 else (-1, -1)", True),
        ("yield state", True),
        ("state.measure(i, j)", True),
        ("check(state)", True),
        ('HybridMaximumGain(rows="all")', True),
        ("i, j = map(index, pair)", False),  # these two were read line by line when they had moved
        ("pair = selector.select(state) if state.stalled < 2", False),
        ("a_name_of_the_past(state)", False),
    ],
)
def test_what_a_snippet_may_be(snippet, is_there):
    page = [text("The loop:", LOOP, f"``{snippet}``")]
    assert prose.unsaid_snippets("a page", page) == ([] if is_there else [snippet])


def test_a_snippet_stands_above_its_sentence():
    page = [text("``yield state``", LOOP)]
    assert prose.unsaid_snippets("a page", page) == ["yield state"]


STEPPER = "\n.. stepper::\n   :selector: second-order\n"


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("It takes 254 steps, 2.5 times as many.", ["2.5"]),
        ("It takes 254 steps of 1,024.", []),
        ("It takes 2,540 steps.", ["2540"]),
        ("A tenth of 13 % is right, of 14 % is wrong.", ["14 %"]),
        ("Forty examples, two of them free.", ["Forty"]),
        ("See chapter 12, :math:`n=77` and ``rows=3``, by Hastie (2004).", []),
        ("On sixty points, with each selector in turn:" + STEPPER, ["sixty"]),  # the stepper has forty
        ("On forty points, with each selector in turn:" + STEPPER, []),
    ],
)
def test_what_a_number_rests_on(sentence, missing):
    page = [text(sentence), prose.Block("code", "assert share < 0.13\nn = 1_024", "254 steps")]
    assert prose.unsaid_numbers("a page", page) == missing


def test_no_number_is_asked_of_text_without_code():
    assert prose.unsaid_numbers("a page", [text("It has 12 lines.")]) == []


def test_what_sphinx_gallery_writes_of_an_output_is_read():
    output = ".. image:: /x_001.png\n\n.. rst-class:: sphx-glr-script-out\n\n .. code-block:: none\n\n    7 steps\n\n"

    class Code:
        type, content = "code", "print(steps)"

    (block,) = prose.of_script([Code], [output])
    assert block.printed.strip() == "7 steps"
    assert re.sub(r"\s", "", block.printed) == "7steps"
