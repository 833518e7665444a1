"""The lecturer's kit: slides and paths name only what the chapters have, and no exercise comes with its answer."""

from __future__ import annotations

import re
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


def test_slides_take_only_what_the_chapters_have(kit):
    """Formulas, figures, code and exercises that an outline names are found; nothing of reST is left."""
    for chapter in kit.chapters():
        text = kit.slides(chapter)
        assert chapter.number > 12 or (kit.LECTURES / "slides" / f"{chapter.stem}.md").is_file()
        assert not re.search(r"(?m):[\w:]+:`|^ *\.\. [\w-]+::|`_|^\{\w+[:}]", text)
        named = {int(number) for number in re.findall(rf"figures/{chapter.stem}_(\d+)\.svg", text)}
        assert named == set(range(1, 1 + len(chapter.figures)))
        with pytest.raises(kit.ExtensionError, match="which the chapter lacks"):
            kit.taken(chapter, "exercise", "99", "")


def test_paths_name_exercises_and_sections_of_the_chapters(kit):
    paths = (kit.LECTURES / "paths.md").read_text(encoding="utf-8")
    chapters = {chapter.number: chapter for chapter in kit.chapters()}
    assert [len(re.findall(rf"(?m)^### \d+ of {n}: ", paths)) for n in (3, 6, 12)] == [3, 6, 12]
    for numbers, chapter in re.findall(r"[Ee]xercises? ([\d, and to]+) of\s+chapter (\d+)", paths):
        assert max(map(int, re.findall(r"\d+", numbers))) <= len(chapters[int(chapter)].exercises)
    given = {
        int(number)
        for part in re.findall(r"Assignments? ([\d and]+)", paths)
        for number in part.split(" and ")
    }
    assert given == set(range(1, 9))
    titles = {section.title for chapter in chapters.values() for section in chapter.sections} | {
        "At the head"
    }
    named = re.findall(r'sections? "([^"]+)"(?:\s+and\s+"([^"]+)")?', paths)
    assert {" ".join(each.split()) for pair in named for each in pair if each} <= titles
    for lecture in re.split(r"(?m)^### ", paths)[1:]:
        times = re.findall(r"(?m)^\| (\d+)–(\d+) \|", lecture)
        assert (times[0][0], times[-1][1]) == ("0", "90")
        assert all(before[1] == after[0] for before, after in pairwise(times))
        assert all(
            f"**{part}.**" in lecture
            for part in ("Aims", "Read before", "In class", "At home", "What goes wrong")
        )


def test_one_file_holds_everything_and_no_answer(kit, tmp_path, monkeypatch):
    chapter = next(each for each in kit.chapters() if len(each.figures) == 3)
    monkeypatch.setattr(kit, "chapters", lambda: [chapter])
    monkeypatch.setattr(kit, "find_spec", lambda name: None)  # without pandoc and reveal.js
    drawn = tmp_path / f"gallery/tutorials/images/sphx_glr_{chapter.stem}_001.svg"
    drawn.parent.mkdir(parents=True)
    drawn.write_text("<svg/>", encoding="utf-8")
    (tmp_path / f"gallery/tutorials/{chapter.stem}.ipynb").write_text("{}", encoding="utf-8")
    app = SimpleNamespace(srcdir=tmp_path, outdir=tmp_path / "site", builder=SimpleNamespace(format="html"))
    kit.write_files(app, None)
    with ZipFile(tmp_path / "site/slides/refsvm_lectures.zip") as everything:
        names = set(everything.namelist())
        handed_out = everything.read(f"exercises/{chapter.stem}.md").decode()
    script = (ROOT / f"tutorials/{chapter.stem}.py").read_text(encoding="utf-8")
    answers = re.sub(r"(?m)^# ?", "", script).split(".. fold:: Hints")[1]
    assert not any(hint in handed_out for hint in re.findall(r"(?m)^\d\. (.{20,}\.)$", answers))
    assert handed_out.count(". ★") == len(chapter.exercises)
    assert not any("solution" in name for name in names)
    assert {name for name in names if not name.startswith("assignments/")} == {
        "README.md", "paths.md", f"exercises/{chapter.stem}.md", f"notebooks/{chapter.stem}.ipynb",
        f"slides/{chapter.stem}.md", "slides/slides.css", f"slides/figures/{chapter.stem}_001.svg",
        *(f"slides/steppers/{chapter.stem}_{k + 1}.html" for k in range(len(chapter.steppers))),
    }  # fmt: skip
