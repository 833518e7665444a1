"""What makes two runs the same run, and what another one."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from refsvm import RBF, KKTGap, Linear, MostViolatingPair, NewtonStep, PlanningAheadStep, SecondOrder
from refsvm.datasets import make_banana
from refsvm.experiment import Experiment, Problem, Solve
from refsvm.experiment.identity import digest, fingerprint

from .echoes import Echo, echoes, numbered, rows_of


def smo(**changes):
    return Solve("SMO", **({"engine": "numpy", "selector": SecondOrder(), "step": NewtonStep()} | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.5), C=2.0)]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.6))]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=0), Linear())]},
        {"problems": [Problem("banana", partial(make_banana, 30, rng=1), RBF(0.5))]},
        {"strategies": [smo(selector=MostViolatingPair())]},
        {"strategies": [smo(selector=SecondOrder(planned_range=0.5))]},
        {"strategies": [smo(step=PlanningAheadStep())]},
        {"strategies": [smo(stop=KKTGap(1e-4))]},
        {"strategies": [smo(cache_mb=1.0)]},
        {"strategies": [smo(shrinking=False)]},
        {"strategies": [smo(max_iter=3)]},
        {"strategies": [smo(time_limit=100.0)]},
        {"strategies": [smo(trace=True)]},
        {"strategies": [Echo("SMO")]},
    ],
)
def test_what_changes_the_outcome_makes_another_run(store, change):
    experiment = Experiment(
        [smo()],
        [Problem("banana", partial(make_banana, 30, rng=0), RBF(0.5))],
        store,
    )
    assert experiment.run() == 1
    assert replace(experiment, **change).run() == 1
    assert experiment.run() == 0


def test_names_make_no_other_run(store):
    experiment = Experiment([Echo("a")], [Problem("one", numbered)], store)
    assert experiment.run() == 1
    renamed = Experiment([Echo("b"), Echo("c", 3.0)], [Problem("two", numbered)], store)
    assert renamed.run() == 1
    assert [(r["problem"], r["strategy"]) for r in renamed.records()] == [("two", "b"), ("two", "c")]


def test_a_new_version_repeats_the_runs(store, monkeypatch):
    assert echoes(store).run() == 24
    monkeypatch.setattr("refsvm.__version__", "999")
    assert echoes(store).run() == 24


def test_the_hash_is_of_the_whole_config(store):
    assert digest({"a": 1, "b": 2.5}) == digest({"b": 2.5, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    echoes(store, 1.0, permutations=1).run()
    assert all(digest(json.loads(config)) == run for run, config, *_ in rows_of(store))


def test_a_fingerprint_sees_every_value():
    X, y = np.zeros((3, 2)), np.array([1.0, -1.0, 1.0])
    other = X.copy()
    other[2, 1] = 1e-300
    prints = {fingerprint(X, y), fingerprint(other, y), fingerprint(X, -y), fingerprint(X.reshape(2, 3), y)}
    assert len(prints) == 4
    sparse = pytest.importorskip("scipy.sparse")
    both = sparse.csr_matrix(np.eye(3)), sparse.csr_matrix(np.eye(3)[::-1])
    assert len({fingerprint(each, y) for each in both}) == 2
