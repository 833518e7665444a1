"""The check of whole paths: what it compares, and what a second run repeats."""

from __future__ import annotations

import json
import sys
from importlib import import_module

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, solve

from .rows import BENCHMARKS

pytest.importorskip("sklearn")
pytest.importorskip("scipy")


@pytest.fixture
def check(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("path_check")


class Here:
    """A pool that does the work itself."""

    def __init__(self, jobs):
        del jobs

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def map(self, function, calls, chunksize):
        del chunksize
        return map(function, calls)


def run(check, monkeypatch, store, *options):
    monkeypatch.setattr(check, "ProcessPoolExecutor", Here)
    command = ["path_check.py", "--only", "thyroid", "--values", "3", "--store", str(store), *options]
    monkeypatch.setattr(sys, "argv", command)
    check.main()
    return [json.loads(line) for line in store.read_text().splitlines()]


@pytest.mark.slow
def test_only_unfinished_fits_are_repeated(check, monkeypatch, tmp_path, capsys):
    pytest.importorskip("clarabel")
    pytest.importorskip("tabulate")
    store = tmp_path / "store.jsonl"
    first = run(check, monkeypatch, store, "--steps", "40")
    assert len(first) == 2 * (1 + 3)
    stopped = [row for row in first if row.get("peer") == "Clarabel"]
    assert stopped
    assert f"At {len(stopped)} it did not end within 40 steps" in capsys.readouterr().out
    assert run(check, monkeypatch, store, "--steps", "40") == first
    second = run(check, monkeypatch, store, "--steps", "1e6")[len(first) :]
    assert [(row["key"], row["C"]) for row in second] == [(row["key"], row["C"]) for row in stopped]
    assert {row["peer"] for row in second} == {"LIBSVM"}
    assert max(row["difference"] for row in [*first, *second] if "peer" in row) < 1e-9
    assert "At 0 it did not end within 1,000,000 steps" in capsys.readouterr().out


@pytest.mark.slow
def test_a_wrong_path_differs_from_both_solvers(check, monkeypatch):
    pytest.importorskip("clarabel")
    path, K, y = check.tracked("thyroid / RBF", None)
    wrong = check.regularization_path(
        *check.data("thyroid", None), kernel=RBF(0.3), C_min=check.LEAST, C_max=check.MOST
    )
    monkeypatch.setattr(check, "tracked", lambda key, directory: (wrong, K, y))
    for steps in (40, 10**6):
        found = check.fit("thyroid / RBF", 1.0, steps, None)
        assert (
            found.arbiter is None
            if steps == 40
            else found.arbiter == pytest.approx(found.difference, rel=1e-6)
        )
        assert found.difference > 1e-3
        assert found.gap > 1e-3
    assert path.objective(1.0) != wrong.objective(1.0)


def test_clarabel_solves_the_same_problem(check):
    pytest.importorskip("clarabel")
    X, y = check.data("thyroid", None)
    kernel = RBF(0.2)
    problem = DualProblem.classification(X, y, kernel=kernel, C=3.0)
    found = solve(problem, stop=KKTGap(1e-10)).objective
    assert check.clarabel(np.ascontiguousarray(kernel(X, X)), y, 3.0) == pytest.approx(found, rel=1e-9)
