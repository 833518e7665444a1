"""Rounds in parts: which are shared, what each worker gets, and where they end."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, SIR, TOP, DualProblem, Rounds, Status, cross_validate
from refsvm.analysis.resampling import workers
from refsvm.analysis.resampling.workers import in_parts, sharing_pays
from refsvm.core.rounds.round import LATEST, Round
from refsvm.core.rounds.runner import Runner
from refsvm.services.pool import WORTH_SECONDS, in_threads

X = np.random.default_rng(0).normal(size=(60, 2))
y = np.where(X.sum(axis=1) > 0.0, 1, -1)
FOUR = 2 * y + (X[:, 0] > 0.3)


def svc():
    pytest.importorskip("sklearn")
    return import_module("refsvm").SVC


def loo(n_jobs: int) -> tuple[Rounds, list[Round]]:
    X = np.random.default_rng(0).normal(size=(14, 2))
    problem = DualProblem.classification(X, np.where(np.arange(14) % 3, 1, -1), kernel=RBF(0.5), C=1.0)
    family = Rounds(problem, engine="numpy", n_jobs=n_jobs)
    family.solutions["all"] = family.solve(problem)
    return family, [Round(r, origin="all") for r in range(14)]


def of_two_workers() -> Any:
    family = SimpleNamespace(workers=workers.Workers(2), status=Status.CONVERGED)
    return SimpleNamespace(family=family, seeder=TOP(), rules=SimpleNamespace(stop=None), proves=False)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("seconds", [1e-9, 0.01, 9.0])
def test_parts_have_the_results_of_one_worker(n_jobs, seconds):
    family, rounds = loo(n_jobs)
    family.workers = workers.Workers(n_jobs)
    wanted = [(each.left_out, each.values, each.iterations) for each in loo(1)[0].run(rounds, TOP())]
    found = in_parts(Runner(family, TOP(), family.rules), rounds, seconds)
    assert sorted((each.left_out, each.values, each.iterations) for each in found) == wanted
    assert family.status is Status.CONVERGED


@pytest.mark.parametrize(
    ("number", "seconds", "most"), [(100, 1e-4, 13), (1000, 1e-4, 125), (10**5, 1e-4, 200), (9, 0.05, 1)]
)
def test_a_part_takes_a_fiftieth_of_a_second_and_no_worker_gets_the_last_long_one(
    number, seconds, most, monkeypatch
):
    """Four parts for each of two workers at least."""
    sizes: list[int] = []
    monkeypatch.setattr(
        workers, "in_workers", lambda _, arguments, __: sizes.extend(len(a[-1]) for a in arguments) or []
    )
    assert list(in_parts(of_two_workers(), [Round(r) for r in range(number)], seconds)) == []
    assert sum(sizes) == number
    assert max(sizes) == most
    assert len(set(sizes[:-1])) <= 1


def test_a_part_that_was_interrupted_ends_all_of_them(monkeypatch):
    ended = [(["a", "b"], Status.CONVERGED), (["c"], Status.INTERRUPTED), (["d"], Status.CONVERGED)]
    monkeypatch.setattr(workers, "in_workers", lambda *_: iter(ended))
    runner = of_two_workers()
    assert list(in_parts(runner, [Round(0)], 1.0)) == ["a", "b", "c"]
    assert runner.family.status is Status.INTERRUPTED


@pytest.mark.parametrize(
    ("rounds", "seconds", "is_compiled", "is_worth"),
    [
        ([Round(0), Round(1)], WORTH_SECONDS, True, True),
        ([Round(0), Round(1)], 0.5 * WORTH_SECONDS, True, False),  # together no more than that
        ([Round(0)], 9.0, True, False),
        ([Round(0), Round(1)], 9.0, False, False),  # readable rounds would wait for each other in threads
        ([Round(0), Round(1, keep=LATEST)], 9.0, True, True),
        ([Round(0), Round(1, keep="its own")], 9.0, True, False),  # another round begins with it
    ],
)
def test_which_rounds_are_shared(rounds, seconds, is_compiled, is_worth):
    assert sharing_pays(rounds, seconds, is_compiled) == is_worth


def folds_of(labels, **how):
    return cross_validate(X, labels, kernel=RBF(0.5), folds=12, rng=0, seeder=SIR(), **how).decision_values


@pytest.mark.parametrize(
    "call",
    [
        partial(folds_of, y),
        partial(folds_of, FOUR),
        lambda **how: svc()(gamma=0.5, **how).fit(X, FOUR).dual_coef_,
    ],
    ids=["folds", "folds of four classes", "pairs of classes"],
)
def test_other_threads_begin_once_the_rest_takes_long_and_is_compiled(call, engine, monkeypatch):
    """Every worker costs something: small problems and readable code are left to one."""
    asked: list[int] = []

    def threads(work, items, workers):
        asked.append(len(items := list(items)))
        return in_threads(work, items, workers)

    for module in ("refsvm.services.pool", "refsvm.analysis.multiclass.one_vs_one"):
        monkeypatch.setattr(f"{module}.in_threads", threads)
    monkeypatch.setattr("refsvm.analysis.multiclass.small_pairs.FEW", 0)  # small pairs are solved in one call
    expected = call(n_jobs=1, engine=engine)
    asked.clear()
    monkeypatch.setattr("refsvm.services.pool.WORTH_SECONDS", 1e9)
    assert np.array_equal(call(n_jobs=2, engine=engine), expected)
    assert sum(asked) == 0
    monkeypatch.setattr("refsvm.services.pool.WORTH_SECONDS", 0.0)
    if engine == "numba":
        monkeypatch.setattr("refsvm.compiled.rounds.packed.FIRST_CHUNK", 1)
    assert np.array_equal(call(n_jobs=2, engine=engine), expected)
    assert (sum(asked) > 0) == (engine == "numba")
