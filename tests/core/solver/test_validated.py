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


ENDLESS = [float("inf"), -float("inf"), float("nan"), np.float64("inf"), np.float32("nan")]
BEYOND = r"length\(\) returned μ = .*, a step length outside \[lo, hi\] = .*The step rule is Goes\("
NEGATIVE = r"Stops\(.*\)\.check\(\) returned .*; expected a whole number from 0 to 1"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        *(({"step": Goes(mu)}, BEYOND) for mu in ENDLESS),
        *(({"step": Carries((1.0, mu))}, "a step length outside") for mu in ENDLESS),
        *(({"stop": Stops(code)}, NEGATIVE) for code in (-1, -2, -1.0, np.int8(-1))),
    ],
    ids=str,
)
def test_what_is_no_step_and_no_code_is_refused_wherever_it_is_used(rule, words):
    given = {"kernel": RBF(0.5), "C": 10.0, **rule}
    for call in (
        lambda: solve(PROBLEM, shrinking=False, **rule),
        lambda: solve(PROBLEM, shrinking=True, **rule),
        lambda: list(iterate(PROBLEM, **rule)),
        lambda: leave_one_out(X, Y, **given),
        lambda: cross_validate(X, Y, folds=3, rng=0, **given),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_a_step_of_the_user_that_is_one_is_taken():
    assert solve(PROBLEM, step=Goes(), shrinking=False).status.name == "CONVERGED"


def test_a_selector_that_finds_no_pair_stalls_as_before():
    solution = solve(PROBLEM, selector=Given(-1, -1), stop=Never(), shrinking=False)
    assert solution.status.name == "STALLED"


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
