"""Workers take the steps of one thread, however long rounds are: bits of decision values do not depend on n_jobs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from refsvm import RBF, SIR, Cold, DualProblem, Rounds, cross_validate, leave_one_out
from refsvm.core.rounds.round import Round
from refsvm.datasets import make_banana

from ...settings import FAST

BANANA = make_banana(60, rng=3)
X, y = BANANA.X, BANANA.y
weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
THREE = np.where(X[:, 0] > 0.5, 2, y)
FOLDS = {"kernel": RBF(0.5), "folds": 10, "rng": 0}

CALLS = {
    "folds": {},
    "folds from SIR": {"seeder": SIR()},
    "a chain of folds": {"seeder": SIR(), "from_full": False},
    "folds of three classes": {"y": THREE},
    "cold folds": {"seeder": Cold(), "from_full": False},
    "folds of a regression": {"y": X[:, 0] ** 2, "epsilon": 0.05},
    "folds with weights": {"C": 100.0 * weights},
    "leave-one-out": None,
}


def values(name, **how):
    """The decision values of such a call."""
    given = {"X": X, "y": y, "C": 100.0, **how}
    if CALLS[name] is None:
        return leave_one_out(**given | {"X": X[:50], "y": y[:50], "kernel": RBF(0.5)}).decision_values
    return cross_validate(**given | FOLDS | CALLS[name]).decision_values


@pytest.fixture
def short(monkeypatch):
    """Rounds of which some go on with shrinking, shared among workers whatever they take."""
    monkeypatch.setattr("refsvm.core.rounds.runner.SHORT_ROUND", 20)
    monkeypatch.setattr("refsvm.analysis.resampling.workers.is_worth_workers", lambda *arguments: True)


@pytest.mark.parametrize("large", [20, 1000], ids="large from {}".format)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("short")
@pytest.mark.slow
def test_workers_and_engines_take_the_same_steps(name, large, monkeypatch):
    monkeypatch.setattr("refsvm.core.rounds.runner.LARGE", large)
    ways = [{"n_jobs": n_jobs, "engine": engine} for engine in sorted({"numpy", FAST}) for n_jobs in (1, 2)]
    first, *others = (values(name, **way) for way in ways)
    for other in others:
        assert np.array_equal(first, other, equal_nan=True)


def test_what_a_round_asks_of_those_before_it_goes_to_another_process(monkeypatch):
    monkeypatch.setattr("refsvm.core.rounds.runner.LARGE", 20)
    rounds = Rounds(DualProblem.classification(X, y, kernel=RBF(0.5)))
    [first] = rounds.run([Round(keep="all")])
    assert pickle.loads(pickle.dumps(rounds)).first_iterations == first.iterations > 0


@pytest.mark.parametrize("seeder", [None, SIR()], ids=repr)
def test_folds_in_other_threads_start_from_the_solution_of_the_first(seeder, short, engine):
    """It is not computed again: steps and kernel rows are those of one thread."""
    call = {**FOLDS, "C": 100.0, "seeder": seeder, "engine": engine}
    one, two = (cross_validate(X, y, n_jobs=n_jobs, **call) for n_jobs in (1, 2))
    assert np.array_equal(one.decision_values, two.decision_values)
    assert (one.iterations, one.kernel_rows) == (two.iterations, two.kernel_rows)
    assert [each.iterations for each in one.rounds] == [each.iterations for each in two.rounds]
