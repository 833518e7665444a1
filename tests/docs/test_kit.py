"""The lecturer's kit is made from the chapters: every section has its minutes, no exercise its answer."""

from __future__ import annotations

import re
from base64 import b64decode
from html import escape
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from ..programs import module

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "tutorials").is_dir(), reason="the chapters are not here")
pytest.importorskip("sphinx_gallery")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def kit():
    return module("kit", "docs/_ext")


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
        titles = [title for _, title, *_ in parts]
        assert titles == ["Opening", *headings[:-1], "Exercises in class", "Closing"]


@pytest.mark.parametrize(
    ("weights", "given"),
    [((1, 1), [15, 15]), ((5, 1), [25, 5]), ((1e6, 0, 0), [20, 5, 5]), ((3, 2, 1), [15, 10, 5])],
)
def test_minutes_follow_the_weights(kit, weights, given):
    sections = [kit.Section("a section", code=round(8 * weight)) for weight in weights]
    assert kit.minutes(sections, total=30) == given


@pytest.mark.parametrize(
    ("text", "figures", "code", "weight"),
    [
        ("word " * 240, [], 0, 2.0),
        (".. math:: a\n\n.. math:: b\n", [], 0, 4.0),
        (".. stepper::\n   :C: 1\n\n.. path-stepper::\n", [], 0, 10.0),
        ("", ["A figure.", "Another."], 0, 4.0),
        ("", [], 16, 2.0),
    ],
    ids=["words", "formulas", "steppers", "figures", "code"],
)
def test_what_there_is_to_show_takes_time(kit, text, figures, code, weight):
    assert kit.Section("a section", text, figures, code).weight == weight


def test_a_plan_names_every_figure_and_every_exercise_once(kit):
    for chapter in kit.chapters():
        shown = [of_part for *_, of_part in kit.plan(chapter)]
        named = []
        for first, last in re.findall(r"\bfigures? (\d+)(?: to (\d+))?", "; ".join(shown)):
            named += range(int(first), int(last or first) + 1)
        head = len(chapter.sections[0].figures)
        assert named == list(range(1 + head, 1 + len(chapter.figures)))
        in_class, at_home = (set(re.findall(r"\b\d\b", part)) for part in shown[-2:])
        easy = {each[0] for each in chapter.exercises if re.match(r"\d\. ★ ", each)}
        assert in_class == easy
        assert at_home == {each[0] for each in chapter.exercises} - easy


def test_a_page_links_every_figure_by_its_number(kit):
    for chapter in kit.chapters():
        linked = re.findall(rf"/gallery/\S+_{chapter.stem}_(\d+)\.svg", kit.page(chapter))
        assert [int(number) for number in linked] == list(range(1, 1 + len(chapter.figures)))


def test_folded_code_takes_no_time_of_a_lecture(kit, tmp_path):
    script = tmp_path / "01_a_chapter.py"
    script.write_text(
        '"""\nA chapter\n=========\n\nIntro.\n"""\n\n# %%\n# A section\n# ---------\n#\n# Words.\n\n'
        "# fold: The code of this figure\n# alt: A figure.\na = 1\nplt.show()\n\n# %%\n# More.\n\nb = 2\nc = 3\n\n"
        "# %%\n# Exercises\n# ---------\n#\n# 1. ★ One?\n#\n# .. fold:: Hints\n",
        encoding="utf-8",
    )
    _, section = kit.read(script).sections
    assert (section.figures, section.code) == (["A figure."], 2)
    script.write_text('"""\nA chapter\n=========\n\nIntro.\n"""\n\n# %%\n# A section\n# ---------\n', "utf-8")
    with pytest.raises(kit.ExtensionError, match=r"01_a_chapter\.py has no exercises"):
        kit.read(script)


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


def drawn(file, text="<svg/>"):
    """Write a picture, and the folders on its way."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_slides_hold_every_figure_and_load_nothing(kit, tmp_path):
    chapter = next(each for each in kit.chapters() if len(each.figures) == 3)
    for number in (1, 2, 3):
        drawn(
            tmp_path / kit.svg(chapter.stem, number),
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{number}"/>',
        )
    for section in chapter.sections:
        section.figures = [f"{words} x<y" for words in section.figures]
    slides = kit.deck(chapter, tmp_path)
    assert slides.count("<section>") == 4
    # the whole description, as alternative text and below the figure
    assert all(slides.count(escape(words)) == 2 for _, words in chapter.figures)
    assert "x<y" not in slides
    images = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', slides)
    assert [re.search(r'id="(\d)"', b64decode(image).decode())[1] for image in images] == ["1", "2", "3"]
    assert slides.count("src=") == 3
    assert not re.search(r"https?:|url\(|<link [^>]*stylesheet|<script [^>]*src", slides)


@pytest.fixture
def one_chapter(kit, tmp_path, monkeypatch):
    """A chapter of three figures, as a build has left it, and the application of this build."""
    chapter = next(each for each in kit.chapters() if len(each.figures) == 3)
    monkeypatch.setattr(kit, "chapters", lambda: [chapter])
    for name in ("01.svg", "02.svg", "03.svg", "01.png"):
        drawn(tmp_path / kit.svg(chapter.stem, 1).replace("01.svg", name))
    (tmp_path / f"gallery/tutorials/{chapter.stem}.ipynb").write_text("{}", encoding="utf-8")
    (tmp_path / "site").mkdir()
    builder = SimpleNamespace(format="html")
    return chapter, SimpleNamespace(srcdir=tmp_path, outdir=tmp_path / "site", builder=builder)


def test_a_figure_that_was_not_drawn_ends_the_build(kit, one_chapter):
    chapter, app = one_chapter
    kit.write_pages(app)
    page = (app.srcdir / f"{kit.PAGE}.rst").read_text(encoding="utf-8")
    assert page == f"{kit.HEAD}\n{kit.page(chapter)}"
    (app.srcdir / kit.svg(chapter.stem, 3)).unlink()
    with pytest.raises(kit.ExtensionError, match=r"has 3 figures, and fewer files; run it again\.$"):
        kit.write_pages(app)


def test_one_file_holds_everything(kit, one_chapter):
    chapter, app = one_chapter
    kit.write_files(app, None)
    with ZipFile(app.outdir / "slides" / "refsvm_lectures.zip") as everything:
        assert set(everything.namelist()) == {
            f"plans/{chapter.stem}.md",
            f"notebooks/{chapter.stem}.ipynb",
            f"slides/{chapter.stem}.html",
            *(f"figures/{chapter.stem}_00{number}.svg" for number in (1, 2, 3)),
        }


def test_one_file_has_plans_in_markdown(kit):
    text = kit.markdown(kit.chapters()[1])
    assert text.startswith("# 2 · Prices")
    assert "| 85 to 90 | Closing |" in text


def test_nothing_that_is_handed_out_has_markup_of_the_sources(kit, tmp_path):
    """Plans are Markdown; slides are words, without formulas."""
    for chapter in kit.chapters():
        for number in range(1, 1 + len(chapter.figures)):
            drawn(tmp_path / kit.svg(chapter.stem, number))
        assert not re.search(r"(?m):[\w:]+:`|^ *\.\. [\w-]+::|`_", kit.markdown(chapter))
        slides = re.sub(r"(?s)<(style|script)>.*?</\1>|<[^>]+>", "", kit.deck(chapter, tmp_path))
        assert not re.search(r"[\\`$^_{}]|\.\. [\w-]+::|:[\w:]+:", slides)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Here:\n\n.. math:: a = b\n\nThen.", "Here:\n\n$$a = b$$\n\nThen."),
        (".. math::\n\n   a\n   = b ,\n\nThen.", "$$a = b ,$$\n\nThen."),
        ("1. See\n\n   .. math:: a", "1. See\n\n   $$a$$\n"),
    ],
)
def test_a_displayed_formula_is_one_in_markdown(kit, text, made):
    assert kit.as_markdown(text) == made
