"""The compiled rounds of leave-one-out against the readable ones, in threads and processes too."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import (
    RBF,
    TOP,
    DualProblem,
    KKTGap,
    Rounds,
    Seeder,
    Status,
    leave_one_out,
)
from refsvm.analysis.resampling.workers import run_part
from refsvm.core.rounds.round import Round

from ...settings import INTERPRETED, needs_jit, needs_numba
from .sets import data


@needs_jit
@pytest.mark.slow
def test_processes_where_joblib_is_set_up_for_them(monkeypatch):
    joblib = pytest.importorskip("joblib")
    monkeypatch.setattr("refsvm.services.pool.WORTH_SECONDS", 0.0)
    X, y = data("heart", 60)
    expected = leave_one_out(X, y, kernel=RBF(0.1), engine="numba")
    with joblib.parallel_config(backend="multiprocessing"):
        loo = leave_one_out(X, y, kernel=RBF(0.1), engine="numpy", n_jobs=2)
    assert np.array_equal(loo.predictions, expected.predictions)


def test_rounds_arrive_in_another_process_without_kernel_rows():
    X, y = data("heart", 40)
    problem = DualProblem.classification(X, y, kernel=RBF(0.1))
    rounds = Rounds(problem, engine="numpy", shrinking=False)
    rounds.solutions["all"] = Rounds(problem, stop=KKTGap(1e-6), engine="numpy", shrinking=False).solve()
    rounds.rows.fetch(np.arange(40))
    sent = pickle.loads(pickle.dumps(rounds))
    assert sent.rows.filled == 0
    plan = [Round(r, "all") for r in range(0, 40, 7)]
    there, status = run_part("token", sent, TOP(), KKTGap(), False, plan)
    here = list(rounds.run(plan, TOP()))
    assert [each.reason for each in there] == [each.reason for each in here]
    assert status is Status.CONVERGED
    for one, other in zip(there, here, strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-10)


@dataclass(frozen=True)
class OfMyOwn(Seeder):
    """A seeder without a twin, so that compiled rounds get its seeds as they are."""

    slip: str = ""

    def seed(self, solved, problem):
        alpha = np.clip(solved.alpha, problem.lower, problem.upper)
        return {"sum": alpha, "short": alpha[1:], "None": None, "float32": alpha.astype(np.float32)}[
            self.slip
        ]


@needs_numba
@pytest.mark.parametrize("slip", ["sum", "float32"])
@pytest.mark.slow
def test_seeds_without_the_sum_are_repaired_in_both_engines(slip):
    X, y = data("heart", 24 if INTERPRETED else 60)
    problem, found = DualProblem.classification(X, y, kernel=RBF(0.01), C=10.0), []
    options = {"seeder": OfMyOwn(slip), "checks": (), "stop": KKTGap()}
    for engine in ("numpy", "numba"):
        with pytest.warns(UserWarning, match="the seed of OfMyOwn is not feasible"):
            found.append(leave_one_out(problem, engine=engine, **options))
    assert found[0].round_iterations.tolist() == found[1].round_iterations.tolist()
    assert np.array_equal(found[0].decision_values, found[1].decision_values)
    right = leave_one_out(problem, seeder=TOP(), engine="numpy", checks=(), stop=KKTGap(1e-6))
    assert np.abs(found[0].decision_values - right.decision_values).max() < 0.05


@needs_numba
@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize(
    ("slip", "words"), [("short", r"the seed of OfMyOwn has shape \(23,\)"), ("None", "holds None")]
)
def test_what_is_no_seed_is_refused_in_both_engines(engine, slip, words):
    problem = DualProblem.classification(*data("heart", 24), kernel=RBF(0.01), C=10.0)
    with pytest.raises(ValueError, match=words):
        leave_one_out(problem, seeder=OfMyOwn(slip), engine=engine, checks=(), stop=KKTGap())
