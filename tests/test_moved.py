"""The names of modules in 0.1: each leads to the module itself, with a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from refsvm import SVMP, __version__
from refsvm._moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_is_the_module_itself(old, monkeypatch):
    if old.startswith("refsvm.fast"):
        pytest.importorskip("numba")
    module = import_module(MOVED[old])
    before = dict(vars(module))
    for name in [name for name in sys.modules if name in MOVED]:
        monkeypatch.delitem(sys.modules, name)
    room = old.rpartition(".")[0]
    monkeypatch.setitem(sys.modules, room, import_module(MOVED.get(room, room)))  # which would warn, too
    with pytest.warns(DeprecationWarning, match=rf"^{old} has moved to {MOVED[old]}; the old name goes"):
        found = import_module(old)
    assert found is module
    assert {name: vars(module).get(name) for name in before} == before


def test_nothing_warns_before_an_old_name_is_used():
    code = "import refsvm, sys; assert not [name for name in sys.modules if name.startswith('refsvm.resampling')]"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_a_class_is_the_same_by_either_name(monkeypatch):
    monkeypatch.delitem(sys.modules, "refsvm.paths.svmp", raising=False)
    with pytest.warns(DeprecationWarning, match="has moved"):
        found = import_module("refsvm.paths.svmp")
    assert found.SVMP is SVMP


def test_other_names_are_not_found():
    with pytest.raises(ModuleNotFoundError, match="resampling_folds"):
        import_module("refsvm.resampling_folds")


ROOT = Path(__file__).parents[1]
in_the_repository = pytest.mark.skipif(
    not (ROOT / "CHANGELOG.md").is_file(), reason="the changelog is not here"
)


def listed(cell):
    """The modules that a cell of the changelog's table names: those without a dot are in the folder of the first."""
    names = re.findall(r"`([\w.]+)`", cell)
    return [name if "." in name else f"{names[0].rpartition('.')[0]}.{name}" for name in names]


@in_the_repository
def test_the_changelog_lists_every_module_that_has_moved():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    table = text.split("Public modules:")[1].split("\n\n")[1]
    moved = {}
    for row in table.splitlines()[2:]:
        _, before, now, _ = row.split("|")
        olds, news = listed(before), re.findall(r"`(refsvm[\w.]*)`", now)
        if "the same in" in now:
            news = [f"{news[0]}.{old.rpartition('.')[2]}" for old in olds]
        moved |= zip(olds, news, strict=False)
    assert moved == MOVED


@in_the_repository
def test_the_version_is_the_same_wherever_it_stands():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    released = re.search(r"\ndate-released: (\S+)\n", citation)[1]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{__version__}] - {released}\n" in changelog
    assert f"This is {__version__}." in (ROOT / "README.md").read_text(encoding="utf-8")
