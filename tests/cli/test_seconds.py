"""No reported seconds contain the time of a compiler."""

import pytest

import refsvm
from refsvm.cli import cv as command
from refsvm.compiled import auto

from ..settings import needs_jit
from .commands import works


@needs_jit
@pytest.mark.parametrize(
    ("where", "function", "arguments"),
    [
        (command, "cross_validate", ("cv", "heart", "--folds", 5, "--seeders", "sir")),
        (refsvm.SVCCV, "fit", ("tune", "heart", "--Cs", "1,10", "--gammas", "0.01")),
    ],
    ids=["cv", "tune"],
)
def test_what_is_timed_finds_its_code_compiled(monkeypatch, where, function, arguments):
    from refsvm.compiled.interface import dispatch

    monkeypatch.setattr(auto, "ALLOWANCE_SECONDS", -1.0)  # compiled code is wanted from the first step on
    monkeypatch.setattr(auto, "process", auto.Process())
    monkeypatch.setattr(dispatch, "entry_points", {})
    dispatch.pointer_to.cache_clear()
    run, added = getattr(where, function), []

    def watched(*arguments, **options):
        before = looked_up()
        result = run(*arguments, **options)
        added.append(looked_up() - before)
        return result

    def looked_up():
        return len(dispatch.entry_points) + dispatch.pointer_to.cache_info().misses

    monkeypatch.setattr(where, function, watched)
    works(*arguments)
    assert added == [0]
    assert dispatch.entry_points
