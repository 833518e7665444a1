"""The boxes at the ends of chapters: numbers are the script's, and steps and kernel rows are what a new run counts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "tutorials").glob("[0-9][0-9]_*.py"))

pytestmark = pytest.mark.skipif(not CHAPTERS, reason="the chapters are not here")

if CHAPTERS:
    pytest.importorskip("sphinx")
    closing, script = module("closing", "docs/_ext"), module("worth")


def boxes(chapter: Path) -> list[tuple[str, str]]:
    return re.findall(closing.NAME, re.sub(r"(?m)^# ?", "", chapter.read_text(encoding="utf-8")))


@pytest.mark.parametrize("chapter", CHAPTERS[6:], ids=lambda chapter: chapter.stem)
def test_every_chapter_from_7_on_has_its_box(chapter):
    ((number, content),) = boxes(chapter)
    assert int(number) == int(chapter.stem[:2])
    assert content.strip()
    title, table, _ = script.printed(int(number), script.stored_runs())
    for text in (closing.as_rest(int(number), content), closing.as_markdown(int(number), content)):
        assert title in text
        assert [line for line in table.split("\n") if line not in text] == []


@pytest.mark.parametrize("content", ["It loses 3 times.", "On a twentieth of them, and on ten sets."])
def test_a_typed_number_ends_the_build(content):
    with pytest.raises(ValueError, match="typed numbers"):
        closing.parts(10, content)


def test_a_chapter_without_runs_ends_the_build():
    with pytest.raises((KeyError, ValueError)):
        script.printed(10, [])


@pytest.mark.parametrize("number", [7, 8, 9, 10, 11, 12, 16])
def test_counts_are_those_of_a_new_run(number):
    """On heart; the boxes of 13, 14, 15 and 18 solve systems by LAPACK, and the readable loops of 17 take seconds."""
    pytest.importorskip("numba")
    stored = {(run["chapter"], run["set"], run["way"]): run for run in script.stored_runs()}
    instance = script.SETS[-1].instance()
    for way in script.BOXES[number].ways:
        run = stored[number, "heart", way.name]
        assert way.counts(way.work(way.prepare(instance))) == (run["steps"], run["rows"])
