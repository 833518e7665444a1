"""Jackknife+ and CV+ beside refits, sorted by hand; the coverage of their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, solve
from refsvm.analysis.resampling.jackknife import held_out_machines

from ...settings import FAST

KERNEL = RBF(0.5)


def data(n, seed=0):
    """Return points of a sine with noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 6.0, (n, 1))
    return X, np.sin(X[:, 0]) + 0.2 * rng.normal(size=n)


def by_refits(X, y, C, new, number, confidence):
    """Return intervals from machines that are trained from scratch, by the definition."""
    n, ends = len(y), [[], []]
    for i in range(n):
        rest = np.flatnonzero(number != number[i])
        problem = DualProblem.regression(X[rest], y[rest], kernel=KERNEL, C=C[rest])
        solution = solve(problem, stop=KKTGap(1e-10), engine=FAST, polish=True)
        beta = solution.alpha.reshape(2, -1).sum(axis=0)
        both = KERNEL(np.concatenate([new, X[[i]]]), X[rest]) @ beta + solution.intercept
        residual = abs(y[i] - both[-1])
        ends[0].append(both[:-1] - residual)
        ends[1].append(both[:-1] + residual)
    low, high = (np.sort(np.array(each), axis=0) for each in ends)
    few, many = math.floor((1.0 - confidence) * (n + 1)), math.ceil(confidence * (n + 1))
    return np.column_stack([low[few - 1], high[many - 1]])


@pytest.mark.parametrize("folds", [None, 5])
@pytest.mark.parametrize("confidence", [0.75, 0.9])
def test_intervals_are_those_of_refits(folds, confidence):
    X, y = data(38)
    C, new = np.linspace(0.5, 2.0, 38), np.linspace(-1.0, 7.0, 5)[:, None]
    number = np.arange(38) if folds is None else np.arange(38) % folds
    machines = held_out_machines(
        DualProblem.regression(X, y, kernel=KERNEL, C=C), None if folds is None else number,
        stop=KKTGap(1e-10), engine=FAST,
    )  # fmt: skip
    expected = by_refits(X, y, C, new, number, confidence)
    np.testing.assert_allclose(machines.intervals(KERNEL(new, X), confidence), expected, atol=1e-7)
    assert all(where.shape == change.shape for where, change in machines.changes)
    kept = sum(len(where) for where, _ in machines.changes)
    assert kept < 0.6 * len(machines.changes) * 38  # differences, no models


@pytest.mark.parametrize("folds", [None, 8])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", [KERNEL, Linear()], ids=repr)
@pytest.mark.parametrize("shift", [0.0, 10.0])
def test_each_machine_is_that_of_a_refit(shift, kernel, weighted, folds, engine):
    """Those too that nothing changes, whose b is that of all examples: a rank may look at others alone."""
    X, y = data(26)
    # the last are inside of the tube, so that whole folds change nothing
    y[18:] = np.sin(X[18:, 0]) if kernel is KERNEL else 0.0
    y = y + shift
    weights = np.random.default_rng(2).integers(0, 4, 26).astype(float) if weighted else np.ones(26)
    number = np.arange(26) if folds is None else np.r_[np.arange(18) % 5, 5 + np.arange(8) % 3]
    options = {"kernel": kernel, "epsilon": 0.45 if kernel is KERNEL else 0.9}
    machines = held_out_machines(
        DualProblem.regression(X, y, C=0.5 * weights, **options), None if folds is None else number,
        weights=weights if weighted else None, stop=KKTGap(1e-10), engine=engine,
    )  # fmt: skip
    new = np.linspace(-1.0, 7.0, 4)[:, None]
    found, unchanged = machines.predictions(kernel(new, X)), 0
    for place, (where, _) in enumerate(machines.changes):
        out, rest = np.flatnonzero(number == place), np.flatnonzero((number != place) & (weights > 0.0))
        problem = DualProblem.regression(X[rest], y[rest], C=0.5 * weights[rest], **options)
        solution = solve(problem, stop=KKTGap(1e-10), engine=engine, polish=True)
        if not ((problem.lower < solution.alpha) & (solution.alpha < problem.upper)).any():
            continue  # any b of an interval
        beta = solution.alpha.reshape(2, -1).sum(axis=0)
        np.testing.assert_allclose(
            found[:, place], kernel(new, X[rest]) @ beta + solution.intercept, atol=1e-7
        )
        expected = np.abs(y[out] - kernel(X[out], X[rest]) @ beta - solution.intercept)
        np.testing.assert_allclose(machines.residuals[out], expected, atol=1e-7)
        unchanged += not len(where)
    # folds of several are always trained, though it may be for nothing
    assert folds is not None or unchanged > 0
    assert unchanged < len(machines.changes)


def test_the_next_targets_are_inside_as_often_as_promised():
    """At least 1 − 2 · 0.2 of them, and about 0.8."""
    rng, inside = np.random.default_rng(1), np.zeros((2, 15))
    for number in range(15):
        X, y = data(50, rng)
        for method, folds in enumerate((None, np.arange(20) % 10)):
            problem = DualProblem.regression(X[:20], y[:20], kernel=KERNEL)
            machines = held_out_machines(problem, folds, engine="numpy")
            low, high = machines.intervals(KERNEL(X[20:], X[:20]), 0.8).T
            inside[method, number] = ((low <= y[20:]) & (y[20:] <= high)).mean()
    assert (inside.mean(axis=1) > 0.7).all()
    assert (inside.mean(axis=1) < 0.95).all()


def test_too_few_examples_leave_the_interval_open():
    X, y = data(9)
    machines = held_out_machines(DualProblem.regression(X, y, kernel=KERNEL), engine=FAST)
    assert np.isfinite(machines.intervals(KERNEL(X[:1], X), 0.9)).all()  # ⌊0.1 · 10⌋ = 1
    assert machines.intervals(KERNEL(X[:1], X), 0.91).tolist() == [[-np.inf, np.inf]]


def test_svr_trains_the_machines_once_for_its_examples():
    estimators = pytest.importorskip("refsvm.estimators")
    X, y = data(30)
    new = np.array([[2.0], [4.0]])
    model = estimators.SVR(gamma=0.5, engine=FAST, tol=1e-8).partial_fit(X[:24], y[:24])
    first = model.predict_interval(new, 0.8, method="jackknife+")
    known = model._held_out
    assert np.array_equal(model.predict_interval(new, 0.8, method="jackknife+"), first)
    assert model._held_out is known
    model.partial_fit(X[24:], y[24:], np.repeat([1.0, 0.0], 3))  # those of weight 0 have no residual
    expected = by_refits(X[:27], y[:27], np.ones(27), new, np.arange(27), 0.8)
    np.testing.assert_allclose(model.predict_interval(new, 0.8, method="jackknife+"), expected, atol=1e-6)
    expected = by_refits(X[:27], y[:27], np.ones(27), new, np.arange(27) % 10, 0.8)
    model.set_params(C=2.0)  # of the next fit: intervals are those of the machine that predicts
    np.testing.assert_allclose(model.predict_interval(new, 0.8, method="cv+"), expected, atol=1e-6)
