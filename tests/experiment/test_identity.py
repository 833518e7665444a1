"""What makes two runs the same run, and what another one."""

import json
import platform
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import refsvm
from refsvm import RBF, KKTGap, Linear, MostViolatingPair, NewtonStep, PlanningAheadStep, SecondOrder
from refsvm.datasets import make_banana
from refsvm.experiment import Experiment, Problem, Solve, identity
from refsvm.experiment.identity import code_of
from refsvm.services.identity.package import NOT_NUMERICAL
from refsvm.services.store import digest, fingerprint

from .echoes import Echo, echoes, numbered, rows_of

BANANA = partial(Problem, "banana", partial(make_banana, 30, rng=0))


def smo(**changes):
    return Solve("SMO", **({"engine": "numpy", "selector": SecondOrder(), "step": NewtonStep()} | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        *({"problems": [each]} for each in (
            BANANA(RBF(0.5), C=2.0), BANANA(RBF(0.6)), BANANA(Linear()),
            Problem("banana", partial(make_banana, 30, rng=1), RBF(0.5)),
        )),
        *({"strategies": [each]} for each in (
            smo(selector=MostViolatingPair()), smo(selector=SecondOrder(planned_range=0.5)),
            smo(step=PlanningAheadStep()), smo(stop=KKTGap(1e-4)), smo(cache_mb=1.0), smo(shrinking=False),
            smo(max_iter=3), smo(time_limit=100.0), smo(trace=True), Echo("SMO"),
        )),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:.* did not converge")  # one of them takes three steps
@pytest.mark.slow
def test_what_changes_the_outcome_makes_another_run(store, change):
    experiment = Experiment([smo()], [BANANA(RBF(0.5))], store)
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


def test_an_edit_of_the_package_makes_another_run_where_it_computes(tmp_path, monkeypatch):
    computes = {"core/steps": True, "services/guards": True} | dict.fromkeys(NOT_NUMERICAL, False)
    for folder in computes:
        assert (Path(refsvm.__file__).parent / folder).is_dir()
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "file.py").write_text("1")
    monkeypatch.setattr(identity, "__file__", str(tmp_path / "experiment" / "file.py"))
    monkeypatch.setattr(identity, "_numerical_folders", identity._numerical_folders.__wrapped__)
    for folder, counts in computes.items():
        before = code_of()
        (tmp_path / folder / "file.py").write_text("2")
        assert (code_of() != before) == counts, folder


def test_a_record_tells_what_computed_it(store):
    experiment = echoes(store, 1.0, permutations=1)
    experiment.run()
    for record in experiment.records():
        assert record["computed_by"]["python"] == platform.python_version()
        assert record["computed_by"]["numpy"] == np.__version__
        assert set(record["computed_by"]) == {"python", "numpy", "numba", "blas", "processor"}


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
