"""The names of modules in 0.1: each leads to the module itself, with a warning."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from refsvm import SVMP
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
