"""Which tests are tried on a mutant: those that run a line of the statement that it changes."""

import tomllib
from importlib import import_module
from textwrap import dedent
from types import SimpleNamespace

import pytest

from .rows import BENCHMARKS

pytest.importorskip("coverage")

SOURCE = dedent(
    """\
    @cached
    def f(a, b):
        if (
            a
            and b
        ):
            return (
                a
                + b
            )
        return a
    """
)


@pytest.fixture
def own_tests(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("mutating.own_tests")


def mutant(line):
    return SimpleNamespace(path="f.py", line=line, before="one line", source=SOURCE)


@pytest.mark.parametrize(
    ("line", "expected"),
    [(1, (1, 1)), (2, (2, 2)), (3, (3, 6)), (5, (3, 6)), (7, (7, 10)), (9, (7, 10)), (11, (11, 11))],
)
def test_the_lines_of_a_statement(line, expected, own_tests):
    assert own_tests.statement(mutant(line)) == expected


def test_a_test_that_runs_the_first_line_of_a_condition_alone_is_tried_on_the_others(own_tests):
    known = {"lines": {"f.py": {"4": ["a is 0"], "5": ["a is 1"], "11": ["other"]}}, "seconds": {}}
    assert own_tests.runs(mutant(5), known) == {"a is 0", "a is 1"}
    assert own_tests.runs(mutant(11), known) == {"other"}


def test_folders_and_mutants_are_of_files_that_are_there(own_tests):
    root = BENCHMARKS.parent
    for folder, tests in own_tests.FOLDERS.items():
        assert all((root / each).exists() for each in (f"refsvm/{folder}", *tests)), folder
    reasons = tomllib.loads((BENCHMARKS / "mutants.toml").read_text(encoding="utf-8"))["reasons"]
    assert [key for key in reasons if not (root / key.partition(":")[0]).is_file()] == []
