"""Rules of the user that return what makes no step, or a code of the loop's own: refused wherever they are used."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from refsvm import RBF, DualProblem, StepRule, StoppingRule, cross_validate, iterate, leave_one_out, solve

from ...decisions import Given, Never

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.where(X[:, 0] + 0.5 * np.sin(7 * X[:, 1]) > 0, 1, -1)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5), C=10.0)


@dataclass(frozen=True)
class Goes(StepRule):
    mu: Any = None
    by: float = 0.0

    def length(self, state, i, j):
        newton = min(max(state.slope / state.curvature, state.low), state.high)
        return newton + self.by if self.mu is None else self.mu


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


@pytest.mark.parametrize(
    "mu", [float("inf"), -float("inf"), float("nan"), np.float64("inf"), np.float32("nan")]
)
def test_an_endless_step_is_refused(mu):
    words = r"length\(\) returned μ = .*, a step length outside \[lo, hi\] = .*The step rule is Goes\("
    for shrinking in (False, True):
        with pytest.raises(ValueError, match=words):
            solve(PROBLEM, step=Goes(mu), shrinking=shrinking)
    with pytest.raises(ValueError, match="a step length outside"):
        list(iterate(PROBLEM, step=Goes(mu)))
    with pytest.raises(ValueError, match="a step length outside"):
        solve(PROBLEM, step=Carries((1.0, mu)), shrinking=False)


def test_a_step_of_the_user_that_is_one_is_taken():
    assert solve(PROBLEM, step=Goes(), shrinking=False).status.name == "CONVERGED"


@pytest.mark.parametrize("code", [-1, -2, -1.0, np.int8(-1)])
@pytest.mark.parametrize("shrinking", [False, True])
def test_a_negative_code_is_refused(code, shrinking):
    words = r"Stops\(.*\)\.check\(\) returned .*; expected a whole number from 0 to 1"
    with pytest.raises(ValueError, match=words):
        solve(PROBLEM, stop=Stops(code), shrinking=shrinking)
    with pytest.raises(ValueError, match=words):
        list(iterate(PROBLEM, stop=Stops(code)))


def test_a_selector_that_finds_no_pair_stalls_as_before():
    solution = solve(PROBLEM, selector=Given(-1, -1), stop=Never(), shrinking=False)
    assert solution.status.name == "STALLED"


def test_rounds_refuse_them_too():
    given = {"kernel": RBF(0.5), "C": 10.0}
    with pytest.raises(ValueError, match=r"check\(\) returned -1"):
        cross_validate(X, Y, folds=3, stop=Stops(), rng=0, **given)
    with pytest.raises(ValueError, match=r"length\(\) returned μ = inf"):
        leave_one_out(X, Y, step=Goes(float("inf")), **given)


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
