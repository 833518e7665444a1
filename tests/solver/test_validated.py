"""Rules of the user that return what makes no step: the error names the rule, in both engines and everywhere."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    NoShrinking,
    SecondOrder,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    cross_validate,
    iterate,
    leave_one_out,
    solve,
)

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] + 0.5 * np.sin(7 * X[:, 1]) > 0, 1, -1)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5), C=10.0)


@dataclass(frozen=True)
class Selects(WorkingSetSelector):
    pair: Any = (0, 1)
    after: int = 0

    def select(self, state):
        return SecondOrder().select(state) if state.iteration < self.after else self.pair


@dataclass(frozen=True)
class Goes(StepRule):
    mu: Any = 1.0
    by: float = 0.0

    def length(self, state, i, j):
        newton = min(max(state.slope / state.curvature, state.low), state.high)
        return state.high + self.by if self.by else newton if self.mu is None else self.mu


@dataclass(frozen=True)
class Carries(Goes):
    uses_momentum = True


@dataclass(frozen=True)
class Stops(StoppingRule):
    reasons = ("small",)
    code: Any = -1
    gap: float = 1e-3

    def check(self, state):
        return self.code if state.gap > self.gap else 1


PAIRS = [
    (True, False), (0, 0), (0.0, 1.0), (3, -1), (60, 1), (1, 60), None, 3, (1, 2, 3), "ab", (np.float64(1), 2),
    ("0", "1"),
]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS)
def test_a_pair_that_is_none_is_refused(pair):
    for after in (0, 5):
        with pytest.raises(ValueError, match=r"selector=Selects\(.*\): select\(\) returned"):
            solve(PROBLEM, selector=Selects(pair, after), shrinking=False)
    with pytest.raises(ValueError, match=r"select\(\) returned"):
        list(iterate(PROBLEM, selector=Selects(pair)))


def test_a_pair_that_may_not_move_is_refused():
    i, j = np.flatnonzero(Y < 0)[0], np.flatnonzero(Y > 0)[0]
    with pytest.raises(ValueError, match=rf"and i = {i} is not in I_up\."):
        solve(PROBLEM, selector=Selects((int(i), int(j))), shrinking=False)
    with pytest.raises(ValueError, match=r"is not in I_down\."):
        solve(PROBLEM, selector=Selects((int(j), int(np.flatnonzero(Y > 0)[1]))), shrinking=False)


def test_no_pair_and_numbers_of_numpy_are_taken():
    @dataclass(frozen=True)
    class Numbers(WorkingSetSelector):
        kind: type = np.int32

        def select(self, state):
            return tuple(map(self.kind, SecondOrder().select(state)))

    assert solve(PROBLEM, selector=Numbers(), shrinking=False).status.name == "CONVERGED"
    assert solve(PROBLEM, selector=Selects((-1, -1)), shrinking=False).status.name == "STALLED"
    assert solve(PROBLEM, selector=Selects((np.int64(-1), 0)), shrinking=False).status.name == "STALLED"


@pytest.mark.parametrize(
    "mu", [float("inf"), -float("inf"), float("nan"), True, "1", 1j, (1.0, 2.0), np.ones(1)]
)
def test_a_step_that_is_none_is_refused(mu):
    for shrinking in (False, True):
        with pytest.raises(
            ValueError, match=r"step=Goes\(.*\): length\(\) returned μ = .*, a step length outside \[lo, hi\]"
        ):
            solve(PROBLEM, step=Goes(mu), shrinking=shrinking)


def test_a_step_beyond_the_box_is_refused_and_one_of_rounding_is_not():
    with pytest.raises(ValueError, match=r"length\(\) returned μ = 10\.01"):
        solve(PROBLEM, step=Goes(by=0.01), shrinking=False)
    ended = solve(PROBLEM, step=Goes(None), shrinking=False)
    assert ended.status.name == "CONVERGED"
    with pytest.raises(ValueError, match=r"length\(\) returned \(μ, κ\) = 1\.0, expected two finite numbers"):
        solve(PROBLEM, step=Carries(), shrinking=False)


@pytest.mark.parametrize("code", [-1, -2, 2, 1.5, None, "a"])
@pytest.mark.parametrize("shrinking", [False, True])
def test_a_code_that_is_none_is_refused(code, shrinking):
    with pytest.raises(
        ValueError, match=r"Stops\(.*\)\.check\(\) returned .*; expected a whole number from 0 to 1"
    ):
        solve(PROBLEM, stop=Stops(code), shrinking=shrinking)
    with pytest.raises(ValueError, match=r"check\(\) returned"):
        list(iterate(PROBLEM, stop=Stops(code)))


def test_rounds_refuse_them_too():
    with pytest.raises(ValueError, match=r"check\(\) returned -1"):
        cross_validate(X, Y, kernel=RBF(0.5), C=10.0, folds=3, stop=Stops(), rng=0)
    with pytest.raises(ValueError, match=r"length\(\) returned μ = inf"):
        leave_one_out(X, Y, kernel=RBF(0.5), C=10.0, step=Goes(float("inf")))
    with pytest.raises(ValueError, match=r"select\(\) returned"):
        solve(PROBLEM, selector=Selects((True, False)), shrinking=NoShrinking())


@pytest.mark.slow
def test_a_twin_that_returns_a_negative_code_is_refused():
    numba = pytest.importorskip("numba")
    if numba.config.DISABLE_JIT:
        pytest.skip("there is no compiler")

    @numba.njit
    def check(parameters, state):
        return -1

    @dataclass(frozen=True)
    class Twin(Stops):
        def twin(self):
            return check

    with pytest.raises(IndexError, match="a code below 0"):
        solve(PROBLEM, stop=Twin(), engine="numba", shrinking=False)
