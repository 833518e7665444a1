"""Limits are kept where kernel rows take the time: on a clock that kernel values move, and nothing else."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest

from refsvm import (
    Decomposition,
    DualProblem,
    LIBSVMShrinking,
    Restriction,
    Status,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.core.engine.limits import GRACE_SECONDS
from refsvm.core.kernels.cached_rows import ROWS_AT_A_TIME
from refsvm.core.rounds.runner import OVERTIME_SECONDS
from refsvm.core.solver.shrinking import CHECK_SECONDS
from refsvm.datasets import make_chessboard

from ...settings import interrupted

BOARD = make_chessboard(200, rng=0)
ROW_SECONDS = 0.02
CACHE_MB = 20 * BOARD.n * 8 / 2**20  # twenty rows


class Clock:
    """`time.perf_counter`, and a kernel whose values take their time on it; at a given time it presses Ctrl-C."""

    def __init__(self, press_at=np.inf):
        self.now, self.press_at = 0.0, press_at

    def __call__(self):
        self.now += 1e-7
        return self.now

    def kernel(self, X, Z):
        if len(Z) > 64:  # blocks along the diagonal are smaller, and take no time here
            self.now += ROW_SECONDS * len(X) * len(Z) / BOARD.n
        if self.now >= self.press_at:
            self.press_at = np.inf
            signal.raise_signal(signal.SIGINT)
        return np.exp(-0.5 * ((X[:, None] - Z[None]) ** 2).sum(-1))

    def problem(self):
        return DualProblem.classification(BOARD.X, BOARD.y, kernel=self.kernel, C=1000.0)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(time, "perf_counter", made)
    return made


WAYS = [True, False, Restriction(period=20), LIBSVMShrinking(), LIBSVMShrinking(period=20)]


@pytest.mark.parametrize("limit", [2.0, 6.0, 10.0])
@pytest.mark.parametrize("way", WAYS, ids=repr)
def test_a_time_limit_holds_while_kernel_rows_are_computed(limit, way, clock, engine):
    problem = clock.problem()
    began = clock.now
    found = solve(problem, time_limit=limit, shrinking=way, cache_mb=CACHE_MB, engine=engine)
    taken = clock.now - began
    assert found.status is Status.TIME_LIMIT
    assert limit - CHECK_SECONDS <= taken <= limit + GRACE_SECONDS + CHECK_SECONDS + 2 * ROW_SECONDS
    assert found.iterations > 0
    np.testing.assert_allclose(found.gradient, problem.gradient(found.alpha), atol=1e-9)
    assert found.objective == pytest.approx(problem.objective(found.alpha), rel=1e-9)


@pytest.mark.parametrize("limit", [1.0, 3.0, 5.0])
def test_a_time_limit_holds_from_working_set_to_working_set(limit, clock):
    problem = clock.problem()
    began = clock.now
    found = solve(problem, time_limit=limit, shrinking=Decomposition(10), cache_mb=CACHE_MB, engine="numpy")
    assert found.status is Status.TIME_LIMIT
    assert clock.now - began <= limit + 30 * ROW_SECONDS
    np.testing.assert_allclose(found.gradient, problem.gradient(found.alpha), atol=1e-9)


@pytest.mark.parametrize(
    ("press_at", "trace"),
    [(4.5, False), (8.0, False), (11.0, False), (3.0, True), (5.0, True), (7.0, True), (9.0, True)],
)
@pytest.mark.parametrize("way", WAYS, ids=repr)
@pytest.mark.usefixtures("_ctrl_c_as_in_a_terminal")
def test_ctrl_c_does_not_wait_for_the_gradient_of_all_variables(press_at, trace, way, clock, engine):
    """Steps of a restricted solve that Ctrl-C has ended too late are none of those that count, and of the trace."""
    problem = clock.problem()
    clock.press_at = clock.now + press_at
    began = clock.now
    found = interrupted(solve, problem, shrinking=way, cache_mb=CACHE_MB, engine=engine, trace=trace)
    assert found.status is Status.INTERRUPTED
    assert clock.now - began <= press_at + GRACE_SECONDS + ROWS_AT_A_TIME * ROW_SECONDS
    assert not trace or found.trace["iteration"].tolist() == [*range(1, found.iterations + 1)]
    np.testing.assert_allclose(found.gradient, problem.gradient(found.alpha), atol=1e-9)
    assert found.objective == pytest.approx(problem.objective(found.alpha), rel=1e-9)


@pytest.mark.filterwarnings("ignore:.* are not solved")
@pytest.mark.parametrize("limit", [1.0, 3.0])
@pytest.mark.parametrize("ask", [leave_one_out, cross_validate])
def test_a_time_limit_holds_for_all_rounds_where_rows_are_computed_anew(ask, limit, clock):
    more = {"folds": 5} if ask is cross_validate else {}
    began, options = clock.now, {"kernel": clock.kernel, "C": 1000.0, "cache_mb": CACHE_MB, "engine": "numpy"}
    found = ask(BOARD.X, BOARD.y, time_limit=limit, **options, **more)
    assert found.status is Status.TIME_LIMIT
    assert clock.now - began <= limit + OVERTIME_SECONDS + ROWS_AT_A_TIME * ROW_SECONDS


@pytest.mark.filterwarnings("ignore:.* are not solved")
def test_machines_of_several_classes_share_a_time_limit(clock):
    began, options = clock.now, {"kernel": clock.kernel, "C": 1e3, "cache_mb": CACHE_MB, "engine": "numpy"}
    found = cross_validate(BOARD.X, BOARD.X[:, 0] // 1, folds=3, time_limit=0.5, **options)
    assert found.status is Status.TIME_LIMIT
    assert clock.now - began <= 0.5 + OVERTIME_SECONDS + 6 * GRACE_SECONDS
