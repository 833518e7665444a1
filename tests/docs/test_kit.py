"""The lecturer's kit is made from the chapters: every section has its minutes, no exercise its answer."""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "tutorials").is_dir(), reason="the chapters are not here")
pytest.importorskip("sphinx_gallery")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def kit():
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        import kit
    finally:
        sys.path.pop(0)
    return kit


def test_every_section_has_its_minutes(kit):
    chapters = kit.chapters()
    assert len(chapters) == len(list((ROOT / "tutorials").glob("[0-9][0-9]_*.py")))
    for chapter in chapters:
        parts = list(kit.plan(chapter))
        times = [tuple(map(int, time.split(" to "))) for time, *_ in parts]
        assert times[0][0] == 0
        assert times[-1][1] == 90
        assert all(a[1] == b[0] and a[0] + 5 <= a[1] for a, b in pairwise(times))
        script = (ROOT / "tutorials" / f"{chapter.stem}.py").read_text(encoding="utf-8")
        headings = re.findall(r"(?m)^# (\S.*)\n# -{4,}$", script)
        assert [title for _, title, *_ in parts] == [
            "Opening",
            *headings[:-1],
            "Exercises in class",
            "Closing",
        ]


@pytest.mark.parametrize(
    ("weights", "given"),
    [
        ((1.0, 1.0), [15, 15]),
        ((5.0, 1.0), [25, 5]),
        ((1e6, 0.0, 0.0), [20, 5, 5]),
        ((3.0, 2.0, 1.0), [15, 10, 5]),
    ],
)
def test_minutes_follow_the_weights(kit, weights, given):
    sections = [kit.Section("a section", code=round(8 * weight)) for weight in weights]
    assert kit.minutes(sections, total=30) == given


def test_exercises_are_those_of_the_chapter_without_answers(kit):
    for chapter in kit.chapters():
        script = (ROOT / "tutorials" / f"{chapter.stem}.py").read_text(encoding="utf-8")
        asked, answers = re.sub(r"(?m)^# ?", "", script).split("\nExercises\n")[1].split(".. fold:: Hints")
        assert all(exercise in asked for exercise in chapter.exercises)
        assert len(chapter.exercises) == len(re.findall(r"(?m)^\d\. ", asked))
        for text in (kit.page(chapter), kit.markdown(chapter)):
            assert all(f"{k + 1}. ★" in text for k in range(len(chapter.exercises)))
            hints = re.findall(r"(?m)^\d\. (.{20,}\.)$", answers)
            assert hints
            assert not any(hint in text for hint in hints)


def test_slides_hold_every_figure_and_load_nothing(kit, tmp_path):
    chapter = next(each for each in kit.chapters() if len(each.figures) == 3)
    drawn = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    for number in (1, 2, 3):
        file = tmp_path / kit.svg(chapter.stem, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(drawn, encoding="utf-8")
    slides = kit.deck(chapter, tmp_path)
    assert slides.count("<section>") == 4
    assert all(words.split(":")[0] in slides for _, words in chapter.figures)
    assert not re.search(r"https?:|<link [^>]*stylesheet|<script src", slides)


def test_one_file_has_plans_in_markdown(kit):
    text = kit.markdown(kit.chapters()[1])
    assert text.startswith("# 2 · Prices")
    assert "| 85 to 90 | Closing |" in text
    assert not re.search(r":\w+:`|^\.\. ", text, re.MULTILINE)
