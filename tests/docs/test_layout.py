"""The page on the layout of the code: its pictures follow the imports, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import refsvm
from refsvm import DualProblem, Linear, solve

from ..programs import module

pytest.importorskip("matplotlib")
pytest.importorskip("sphinx")

PACKAGE = Path(refsvm.__file__).parent
PAGES = [PACKAGE.parent / name for name in ("docs/layout.md", "CONTRIBUTING.md")]
pytestmark = pytest.mark.skipif(not all(page.is_file() for page in PAGES), reason="the pages are not here")


@pytest.fixture
def layout():
    return module("layout", "docs/_ext")


@pytest.mark.parametrize("name", ["refsvm", "refsvm.core"])
def test_every_part_stands_above_what_it_imports_and_arrows_lead_there(layout, name):
    """Every arrow is an import, and every import leads along arrows; where parts import each other none has a floor."""
    folder = layout.Folder(name)
    arrows = {part: {use for other, use in folder.arrows() if other == part} for part in folder.uses}
    reached = {part: {part} for part in folder.uses}
    for part in sorted(folder.uses, key=folder.floors.__getitem__):
        assert all(folder.floors[use] < folder.floors[part] for use in folder.uses[part])
        reached[part] |= set().union(*(reached[use] for use in arrows[part]))
        assert arrows[part] <= folder.uses[part] <= reached[part]
    here = {
        each.stem
        for each in folder.path.iterdir()
        if each.suffix == ".py" or (each / "__init__.py").is_file()
    }
    assert here - folder.files.keys() <= {"__init__", "__main__"}


def test_the_way_of_a_solve_has_files_and_functions_in_order(layout):
    problem = DualProblem.classification([[0.0], [1.0], [3.0]], [-1, 1, 1], kernel=Linear())
    way = layout.passed(lambda: solve(problem, shrinking=False, engine="numpy"))
    files = [file.relative_to(PACKAGE).as_posix() for file in way]
    read = ["core/solver/run.py", "core/solver/loop.py", "core/selectors/second_order.py", "core/result.py"]
    assert [file for file in files if file in read] == read
    assert way[PACKAGE / "core/selectors/second_order.py"][0] == "SecondOrder.select"


def test_what_the_pages_name_is_there():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"`(?:refsvm/)?((?:core|services|compiled|analysis)(?:/\w+)*(?:\.py)?)`", text)
        assert [each for each in named if not (PACKAGE / each).exists()] == []
    layout, contributing = (page.read_text(encoding="utf-8") for page in PAGES)
    for folder in PACKAGE.glob("*/__init__.py"):
        assert f"\n**`{folder.parent.name}`** " in layout, (
            f"{folder.parent.name} needs a paragraph in docs/layout.md"
        )
        assert f"`{folder.parent.name}`" in contributing, (
            f"{folder.parent.name} needs a line in CONTRIBUTING.md"
        )
