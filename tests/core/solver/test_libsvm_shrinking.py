"""LIBSVMShrinking: what it leaves out, when all variables return, and what the checks say of broken versions."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    LIBSVMShrinking,
    NewtonStep,
    SecondOrder,
    Status,
    solve,
)
from refsvm.core.solver import active_sets, libsvm_shrinking, shrinking
from refsvm.datasets import make_banana
from refsvm.testing import SHRINK_EARLY, check_strategy

BANANA = make_banana(120, rng=0)
PROBLEM = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=1000.0)
RULES = {"selector": SecondOrder(), "step": NewtonStep()}
EARLY = LIBSVMShrinking(period=40)


def solved(rule, tol=1e-3, **options):
    return solve(PROBLEM, shrinking=rule, stop=KKTGap(tol), **RULES, **options)


class Watcher:
    """Notes on how many variables the steps are taken, and the duality gap there beside that of the whole problem."""

    only_watches = True

    def __init__(self):
        self.sizes, self.gaps = [], []

    def __call__(self, state):
        self.sizes.append(len(state.alpha))
        inner, delta = state, state.alpha
        while inner.parent is not None:
            inner, A = inner.parent
            alpha = inner.alpha.copy()
            alpha[A] += delta
            delta = alpha
        if len(self.sizes) % 10 == 0:
            self.gaps.append((state.duality_gap(), PROBLEM.duality_gap(delta)))


@pytest.mark.parametrize(
    "period", [7, pytest.param(40, marks=pytest.mark.slow), pytest.param(1000, marks=pytest.mark.slow)]
)
def test_the_answer_is_the_same(engine, period):
    plain, shrunk = solved(False, engine=engine), solved(LIBSVMShrinking(period), engine=engine)
    assert shrunk.status is Status.CONVERGED
    assert PROBLEM.kkt_gap(shrunk.alpha) <= 1.001e-3
    assert shrunk.objective == pytest.approx(plain.objective, rel=1e-6)
    assert np.allclose(shrunk.gradient, PROBLEM.gradient(shrunk.alpha), atol=1e-9)


def test_variables_leave_one_look_after_the_other_and_return_when_nearly_solved():
    watcher = Watcher()
    solution = solved(EARLY, engine="numpy", callback=watcher)
    sizes = np.array(watcher.sizes)
    assert solution.status is Status.CONVERGED
    assert sizes.min() < 0.5 * PROBLEM.n
    first = np.flatnonzero(sizes < PROBLEM.n)[0]
    back = first + np.flatnonzero(sizes[first:] == PROBLEM.n)[0]
    assert (np.diff(sizes[first:back]) <= 0).all()  # until all return, none does
    assert len(set(sizes[first:back].tolist())) > 2


@pytest.mark.parametrize("way", [EARLY, SHRINK_EARLY], ids=repr)
def test_the_duality_gap_of_a_restricted_problem_is_that_of_the_full_one(way):
    watcher = Watcher()
    solved(way, engine="numpy", callback=watcher)
    assert len(watcher.gaps) > 2
    found, expected = np.array(watcher.gaps).T
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_no_step_is_taken_on_a_variable_that_has_left(monkeypatch):
    left = []

    def noted(state, multiple):
        A = active_sets.active_set(state, multiple)
        distance = active_sets.distance_to_violation(state)
        bound = (state.alpha == state.upper) | (state.alpha == state.lower)
        assert np.array_equal(
            np.setdiff1d(np.arange(len(distance)), A), np.flatnonzero(bound & (distance > 0))
        )
        left.append(len(distance) - len(A))
        return A

    monkeypatch.setattr(libsvm_shrinking, "active_set", noted)
    solution = solved(EARLY, engine="numpy", trace=True)
    assert sum(left) > PROBLEM.n
    assert (np.diff(solution.trace["objective"]) >= -1e-9).all()
    assert solution.trace["objective"][-1] == pytest.approx(solution.objective, rel=1e-9)
    assert solution.trace["iteration"].tolist() == list(range(1, solution.iterations + 1))
    assert solution.trace["rows"][-1] <= solution.kernel_rows <= PROBLEM.n


@pytest.mark.parametrize("period", [1, 7, 30])
def test_no_variable_leaves_before_a_period_is_over(period, monkeypatch):
    looks, find = [], active_sets.active_set
    monkeypatch.setattr(
        libsvm_shrinking, "active_set", lambda state, most: looks.append(state.iteration) or find(state, most)
    )
    solved(LIBSVMShrinking(period), engine="numpy")
    assert looks[0] == period
    assert len(looks) > 1


def test_all_return_once_when_nearly_solved_and_then_when_solved(monkeypatch):
    gaps, returned = [], []

    def noted(state, A, inner):
        (returned.append(gaps[-1]) if len(A) == PROBLEM.n else gaps.append(inner.gap))
        shrinking.take_over(state, A, inner)

    monkeypatch.setattr(libsvm_shrinking, "take_over", noted)
    solved(EARLY, engine="numpy")
    assert 1e-3 < returned[0] <= 1e-2
    assert len(returned) > 1
    assert max(returned[1:]) <= 1e-3


class Halving(KKTGap):
    """It is asked in every seventh step, and has restricted problems solved to half of the gap."""

    period: ClassVar[int] = 7

    def restricted_tolerance(self, gap):
        return max(gap / 2.0, self.tol)


def test_all_variables_take_steps_until_the_rule_is_asked_before_the_next_look(monkeypatch):
    """But for the return of those that were nearly solved, after which it looks at once."""
    noted, find, steps = [], active_sets.active_set, shrinking.all_variables

    def taken(backend, limits, state, rules, budget, trace=None):
        if state.parent is None:
            noted.append((budget, state.iteration))
        return steps(backend, limits, state, rules, budget, trace)

    monkeypatch.setattr(libsvm_shrinking, "all_variables", taken)
    monkeypatch.setattr(
        libsvm_shrinking,
        "active_set",
        lambda state, k: (state.parent or noted.append("look"), find(state, k))[1],
    )
    problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=10.0)
    solution = solve(problem, shrinking=LIBSVMShrinking(20), stop=Halving(1e-4), **RULES, engine="numpy")
    assert solution.status is Status.CONVERGED
    later = [each for each in noted[1:] if each != "look"]
    assert len(later) > 2
    assert [budget for budget, _ in later] == [7 - taken % 7 for _, taken in later]


@pytest.mark.parametrize("period", [1, 10])
def test_the_shipped_one_passes_the_same_check(period):
    assert check_strategy(LIBSVMShrinking(period)).steps > 0


@pytest.mark.parametrize("trace", [True, False])
def test_steps_whose_gradient_came_too_late_are_taken_back(trace, monkeypatch):
    """All variables were to return once, and there was no time for G: the solve goes on from where they had left."""
    subtracted, calls = libsvm_shrinking.subtracted, []

    def late_once(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise shrinking.NoTimeError
        return subtracted(*arguments)

    expected = solved(EARLY, engine="numpy")
    monkeypatch.setattr(libsvm_shrinking, "subtracted", late_once)
    solution = solved(EARLY, engine="numpy", trace=trace)
    assert len(calls) > 1
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(expected.objective, rel=1e-5)
    if trace:
        assert len(solution.trace) == solution.iterations
