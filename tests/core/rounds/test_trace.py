"""The steps of rounds, recorded: the same steps, and a table of them."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, Cold, KKTGap, Linear, NewtonStep, cross_validate, leave_one_out
from refsvm.datasets import load


def a_long_round():
    """Two classes of random labels: the steps of the first of two folds go on with shrinking after 2,000."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(24, 2)), np.where(random.random(24) < 0.5, 1, -1)
    rules = {"kernel": Linear(), "C": 200.0, "folds": 2, "step": NewtonStep(), "seeder": Cold()}
    return {"X": X, "y": y, **rules}


@pytest.mark.parametrize("stop", [None, KKTGap(1e-3)], ids=repr)
def test_recorded_rounds_of_leave_one_out_take_the_same_steps(engine, stop):
    heart, options = load("heart"), {"kernel": RBF(0.005), "C": 1.0, "stop": stop, "engine": engine}
    plain = leave_one_out(heart.X[:90], heart.y[:90], **options)
    traced = leave_one_out(heart.X[:90], heart.y[:90], **options, trace=True)
    assert np.array_equal(plain.round_iterations, traced.round_iterations)
    assert np.array_equal(plain.decision_values, traced.decision_values, equal_nan=True)
    assert set(np.flatnonzero(traced.round_iterations)) <= set(traced.traces)
    assert all(len(trace) == traced.round_iterations[r] for r, trace in traced.traces.items())
    assert not plain.traces


@pytest.mark.slow
def test_recorded_folds_take_the_same_steps_where_a_round_goes_on_with_shrinking_too(engine):
    plain, traced = (cross_validate(**a_long_round(), engine=engine, trace=trace) for trace in (False, True))
    steps = [each.iterations for each in plain.rounds]
    assert max(steps) > 2000
    assert [each.iterations for each in traced.rounds] == steps
    assert np.array_equal(plain.decision_values, traced.decision_values)
    for each in traced.rounds:
        assert np.array_equal(each.trace["iteration"], 1 + np.arange(each.iterations))
        assert (np.diff(each.trace["objective"]) >= -1e-9 * each.trace["objective"][-1]).all()
        assert (np.diff(each.trace["seconds"]) >= 0.0).all()


@pytest.mark.filterwarnings("ignore:.* are not solved")
@pytest.mark.slow
def test_every_tenth_step_is_recorded_in_threads_too():
    plain, shared = (
        cross_validate(**a_long_round(), max_iter=300, trace=10, n_jobs=n_jobs) for n_jobs in (1, 2)
    )
    for each, same in zip(plain.rounds, shared.rounds, strict=True):
        assert len(each.trace) == 30
        assert np.array_equal(each.trace["objective"], same.trace["objective"])


def test_the_steps_of_all_rounds_are_one_frame():
    pytest.importorskip("pandas")
    heart = load("heart")
    arguments = heart.X[:60], heart.y[:60]
    left_out = leave_one_out(*arguments, kernel=RBF(0.005), stop=KKTGap(1e-3), trace=True)
    frame = left_out.trace_frame()
    assert frame.groupby("example").size().to_dict() == {
        r: steps for r, steps in enumerate(left_out.round_iterations.tolist()) if steps
    }
    folds = cross_validate(*arguments, kernel=RBF(0.005), folds=3, trace=True)
    counts = folds.trace_frame().groupby(["fold", "pair"]).size()
    assert counts.to_dict() == {(each.fold, each.pair): each.iterations for each in folds.rounds}
    assert "trace" not in folds.to_frame()
    with pytest.raises(ValueError, match="pass trace=True"):
        cross_validate(*arguments, kernel=RBF(0.005), folds=3).trace_frame()
