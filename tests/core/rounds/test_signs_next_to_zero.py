"""Examples whose decision value is next to zero: the sign of leave-one-out is that of the optimum, not of ε."""

from __future__ import annotations

import sys
import warnings
from functools import cache

import numpy as np
import pytest

from refsvm import (
    AVG,
    RBF,
    TOP,
    BallRule,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Status,
    leave_one_out,
    solve,
)
from refsvm.core.rounds.left_out_table import LeftOutTable

from ...settings import FAST, NUMBA, noisy_classes

KERNEL, C = RBF(0.4), 30.0


@cache
def rest() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """All examples but the first, and α and b of their machine: trained from scratch, to 1e-12."""
    X, y = noisy_classes(39, 2, 7, noise=0.8)
    best = solve(DualProblem.classification(X, y, kernel=KERNEL, C=C), stop=KKTGap(1e-12), polish=True)
    return X, y, best.alpha, best.intercept


def h(x: np.ndarray) -> float:
    X, _, alpha, b = rest()
    return float(KERNEL(x[None], X)[0] @ alpha + b)


def where_h_is(value: float, angle: float) -> np.ndarray:
    """A point on a line from the middle of one class to that of the other, turned by an angle, where h has a value."""
    X, y, *_ = rest()
    low, high = X[y == -1].mean(axis=0), X[y == 1].mean(axis=0)
    turn = np.array([-(high - low)[1], (high - low)[0]]) * angle
    low, high = low + turn, high + turn
    assert h(low) < value < h(high)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if h(middle) < value else (low, middle)
    return 0.5 * (low + high)


def with_first(value: float, angle: float, label: int) -> tuple[np.ndarray, np.ndarray]:
    """The examples, before them one of this label at which the machine of all others has this value."""
    X, y, *_ = rest()
    return np.concatenate([[where_h_is(value, angle)], X]), np.append(label, y)


ANGLES = (-0.6, -0.3, 0.0, 0.3, 0.6)
RULES = [
    BallRule(relative=True), KKTGap(), KKTGap(relative=True), KKTGap(1e-2), LOODualityGap(), LOODualityGap(variables=1),
]  # fmt: skip


@pytest.mark.parametrize("size", [1e-3, 1e-4, 1e-5, 1e-6, 2e-7])
@pytest.mark.parametrize("stop", RULES, ids=repr)
def test_the_sign_is_that_of_the_optimum(stop, size):
    for number, angle in enumerate(ANGLES):
        value, label = size * (-1) ** number, 1 if number < 2 else -1
        X, y = with_first(value, angle, label)
        loo = leave_one_out(X, y, kernel=KERNEL, C=C, stop=stop, checks=(), engine=FAST)
        assert (loo.predictions[0], loo.is_complete) == (np.sign(value), True)


@pytest.mark.parametrize("seeder", [TOP(), AVG(), Cold()], ids=repr)
@pytest.mark.skipif(not NUMBA, reason="Numba is not installed")
def test_both_engines_go_on_alike(seeder):
    X, y = with_first(-2e-6, 0.3, 1)
    readable, compiled = (
        leave_one_out(X, y, kernel=KERNEL, C=C, seeder=seeder, stop=KKTGap(), checks=(), engine=engine)
        for engine in ("numpy", "numba")
    )
    for name in ("predictions", "decision_values", "decided_by", "round_iterations", "iterations"):
        np.testing.assert_array_equal(getattr(readable, name), getattr(compiled, name))
    assert abs(readable.decision_values[0] + 2e-6) < 1e-6


def test_only_those_next_to_zero_go_on(monkeypatch):
    """The steps of all others are as before; those of this one are counted, and traced, from each beginning."""
    X, y = with_first(-2e-5, 0.0, 1)
    options = {"kernel": KERNEL, "C": C, "stop": KKTGap(), "checks": (), "engine": FAST}
    loo = leave_one_out(X, y, trace=True, **options)
    monkeypatch.setattr(LeftOutTable, "settle", lambda *_: None)
    monkeypatch.setattr(
        sys.modules["refsvm.analysis.resampling.leave_one_out"], "settle_ties", lambda *_: None
    )
    before = leave_one_out(X, y, **options)
    near = np.flatnonzero(before.decided_by == "tie")
    assert loo.counts["tie"] == 0
    assert 0 in near
    assert np.flatnonzero(loo.round_iterations != before.round_iterations).tolist() == near.tolist()
    others = np.setdiff1d(np.arange(40), near)
    assert loo.decision_values[others].tolist() == before.decision_values[others].tolist()
    assert abs(loo.decision_values[0] + 2e-5) < 1e-5 < abs(before.decision_values[0] + 2e-5)
    assert all(len(trace) == loo.round_iterations[r] for r, trace in loo.traces.items())
    assert set(loo.decided_by[near].tolist()) == {"kkt"}


def test_a_tie_ends(engine):
    """XOR with one example more in the middle: h = 0 there by symmetry, whatever the tolerance."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [2.0, 2.0], [2.0, -2.0]])
    y = np.array([1, 1, 1, -1, -1, 1, -1])
    loo = leave_one_out(X, y, kernel=Linear(), C=1.0, stop=KKTGap(), checks=(), engine=engine)
    assert (loo.is_complete, loo.status) == (True, Status.CONVERGED)
    assert abs(loo.decision_values[0]) <= 5e-8


def test_a_limit_on_the_way_is_said():
    """The round meets the KKT gap within the limit, but not the one that its sign asks for."""
    X, y = with_first(-2e-7, 0.3, 1)
    options = {"kernel": KERNEL, "C": C, "checks": (), "engine": FAST, "stop": KKTGap(), "seeder": Cold()}
    # a cold round takes as many steps as the solution on all examples to the same gap, which is 1e-4
    most = leave_one_out(X, y, **options).full_solution.iterations + 1
    with warnings.catch_warnings(action="ignore"):  # other rounds end at the limit before the KKT gap
        assert leave_one_out(X, y, max_iter=most, **options).decided_by[0] == "limit"


def test_the_callback_hears_of_all_once_more():
    X, y = with_first(-2e-6, 0.3, 1)
    told = []
    options = {"kernel": KERNEL, "C": C, "stop": KKTGap(), "checks": (), "engine": FAST}
    loo = leave_one_out(X, y, callback=lambda at: told.append((at.done, at.total)), **options)
    assert (set(told[-2:]), loo.is_complete) == ({(40, 40)}, True)
    # ended where all have been decided once: the example whose sign is not certain is open
    loo = leave_one_out(X, y, callback=lambda at: at.done == at.total, **options)
    assert (loo.is_complete, loo.status) == (False, Status.CALLBACK)
    assert np.flatnonzero(~loo.is_known).tolist() == [0]
    low, high = loo.error_bounds
    assert high - low == pytest.approx(1 / 40)
