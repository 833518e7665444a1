"""Which tests are tried on a mutant: those that run a line of the statement that it changes."""

import tomllib
from importlib import import_module

import pytest

from .rows import BENCHMARKS

pytest.importorskip("coverage")


@pytest.fixture
def own_tests(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("mutating.own_tests")


def test_folders_and_mutants_are_of_files_that_are_there(own_tests):
    root = BENCHMARKS.parent
    for folder, tests in own_tests.FOLDERS.items():
        assert all((root / each).exists() for each in (f"refsvm/{folder}", *tests)), folder
    reasons = tomllib.loads((BENCHMARKS / "mutants.toml").read_text(encoding="utf-8"))["reasons"]
    assert [key for key in reasons if not (root / key.partition(":")[0]).is_file()] == []
