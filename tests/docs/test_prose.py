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
STEPPER = "\n.. stepper::\n   :selector: second-order\n"


def test_a_snippet_that_the_code_above_does_not_have_is_found():
    page = [
        text("``yield state``", LOOP, "``yield state``, ``state.measure(i, j)``, ``i, j = map(index, pair)``")
    ]
    assert prose.unsaid_snippets("a page", page) == ["yield state", "i, j = map(index, pair)"]


def test_a_number_that_neither_code_nor_output_has_is_found():
    code = prose.Block("code", "assert share < 0.13\nn = 1_024", "254 steps")
    right = text(
        "It takes 254 steps of 1,024, by Hastie (2004); see chapter 12, :math:`n=77` and ``rows=3``."
    )
    wrong = text("It is 2.5 times as many, of forty examples 13 % or 14 %.", "On sixty points:" + STEPPER)
    assert prose.unsaid_numbers("a page", [right, code]) == []
    assert prose.unsaid_numbers("a page", [wrong, code]) == ["2.5", "14 %", "sixty"]
    assert prose.unsaid_numbers("a page", [wrong]) == []


def test_what_sphinx_gallery_writes_of_an_output_is_read():
    output = ".. image:: /x_001.png\n\n.. rst-class:: sphx-glr-script-out\n\n .. code-block:: none\n\n    7 steps\n\n"

    class Code:
        type, content = "code", "print(steps)"

    (block,) = prose.of_script([Code], [output])
    assert block.printed.strip() == "7 steps"
    assert re.sub(r"\s", "", block.printed) == "7steps"
