"""Conjugate steps: what they keep, what they gain, where they end; and the selection that knows their direction."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    StepRule,
    iterate,
    solve,
)
from refsvm.core.solver.rules import chosen_rules
from refsvm.datasets import make_chessboard
from refsvm.testing import Case, check_engines, practice_problems

from ...settings import FAST, needs_numba

PROBLEMS = practice_problems()


def board(n: int = 60, C: float = 1e3) -> DualProblem:
    data = make_chessboard(n, rng=0)
    return DualProblem.classification(data.X, data.y, kernel=RBF(0.5), C=C)


def free_pairs(problem, selector):
    """Yield (Δ before, KΔ before, the state) for every free step that follows a free one."""
    known = None
    for state in iterate(problem, selector=selector, step=ConjugateStep(), stop=KKTGap(1e-6)):
        now = state.displacement.copy(), state.displacement_image.copy()
        if known is not None and state.last_free and np.count_nonzero(now[0]) > 2:
            yield *known, state
        known = now if state.last_free else None


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_displacement_is_what_the_step_added(name):
    """Δ and KΔ explain every change, f grows by the gain, and G stays v − Kα."""
    problem, before = PROBLEMS[name], np.zeros(0)
    K = problem.gram.block(np.arange(problem.n))
    for state in iterate(problem, selector=SecondOrder(), step=ConjugateStep(), stop=KKTGap(1e-4)):
        # where what is carried is cut the next step goes on along the pair alone
        if len(before) and np.count_nonzero(state.alpha != before) <= np.count_nonzero(state.displacement):
            np.testing.assert_allclose(state.alpha - before, state.displacement, rtol=0.0, atol=1e-9)
        before = state.alpha.copy()
        np.testing.assert_allclose(state.displacement_image, K @ state.displacement, atol=1e-7)
        if state.iteration > 200:
            break
    largest = np.abs(before).max()
    np.testing.assert_allclose(state.gradient, problem.gradient(state.alpha), atol=1e-6 * (1.0 + largest))
    np.testing.assert_allclose(state.objective, problem.objective(state.alpha), rtol=1e-7, atol=1e-9)
    slope = float(state.displacement @ state.gradient)
    np.testing.assert_allclose(state.carried_slope, slope, atol=1e-6 * (1.0 + abs(state.objective)))


@pytest.mark.parametrize("selector", [SecondOrder(), ConjugateSecondOrder(), HybridMaximumGain()])
def test_each_displacement_is_conjugate_to_the_one_before(selector):
    checked = 0
    for delta, image, state in free_pairs(board(), selector):
        size = np.sqrt((delta @ image) * (state.displacement @ state.displacement_image))
        assert abs(state.displacement @ image) <= 1e-9 * size
        checked += 1
    assert checked > 100


def test_nothing_is_lost_along_the_displacement_before():
    """ΔᵀG = 0 after a free step stays so after the next: f is at its maximum over both."""
    for delta, _, state in free_pairs(board(), SecondOrder()):
        size = np.linalg.norm(delta) * (np.linalg.norm(state.gradient) + 1.0)
        assert abs(delta @ state.gradient) <= 1e-9 * size
        assert abs(state.displacement @ state.gradient) <= 1e-9 * size


@pytest.mark.parametrize("selector", [SecondOrder(), ConjugateSecondOrder()])
def test_where_what_is_carried_is_cut_the_pair_goes_on(selector):
    """Another variable is at its bound, the pair at its maximum, and the next step goes on along the pair alone."""
    problem, before, goes_on = board(C=30.0), np.zeros(60), []
    for state in iterate(problem, selector=selector, step=ConjugateStep(), stop=KKTGap(1e-5)):
        (i, j), moved = state.working_sets[0].tolist(), np.flatnonzero(state.alpha != before)
        if state.last_carry and state.last_free and np.count_nonzero(state.displacement) < len(moved):
            np.testing.assert_array_equal(np.flatnonzero(state.displacement), sorted((i, j)))
            assert state.displacement[i] == -state.displacement[j] == state.last_step
            others = np.setdiff1d(moved, (i, j))
            assert ((state.alpha == state.lower) | (state.alpha == state.upper))[others].any()
            assert abs(state.gradient[i] - state.gradient[j]) <= 1e-9 * state.slope
            image = problem.gram.block(np.arange(60)) @ state.displacement
            np.testing.assert_allclose(state.displacement_image, image, atol=1e-12 * np.abs(image).max())
            assert state.carried_curvature == pytest.approx(state.displacement @ image, rel=1e-9)
            goes_on.append(state.iteration)
        elif goes_on and goes_on[-1] == state.iteration - 1 and state.last_free:
            assert state.last_moved <= 4
        before = state.alpha.copy()
    assert len(goes_on) > 3


def test_fewer_steps_than_newton_and_planning():
    problem, counts = board(150), []
    for step in (NewtonStep(), PlanningAheadStep(), ConjugateStep()):
        solution = solve(problem, step=step, shrinking=False, engine=FAST)
        counts.append((solution.iterations, solution.objective))
    assert counts[2][0] < 0.6 * min(counts[0][0], counts[1][0])
    assert counts[2][1] == pytest.approx(counts[0][1], rel=1e-5)


def test_which_rules_go_together():
    assert chosen_rules(None, ConjugateStep(), None).selector == ConjugateSecondOrder()
    assert chosen_rules(ConjugateSecondOrder(), None, None).step == ConjugateStep()
    assert chosen_rules(None, None, None)[:2] == (SecondOrder(), PlanningAheadStep())


def test_a_rule_that_carries_and_plans_is_refused():
    class Both(ConjugateStep):
        history = 1

    with pytest.raises(ValueError, match="uses momentum and also plans ahead"):
        solve(board(), selector=SecondOrder(), step=Both())
    assert isinstance(Both(), StepRule)


@needs_numba
@pytest.mark.parametrize("most", [2, 3, 6])
@pytest.mark.parametrize("selector", [SecondOrder(), ConjugateSecondOrder(), HybridMaximumGain()])
@pytest.mark.slow
def test_both_engines_begin_anew_at_the_same_steps(selector, most):
    case = Case("board", board(), (selector, ConjugateStep(max_support=most), KKTGap(1e-4)))
    check_engines(case, shrinking=False)


@pytest.mark.slow
def test_the_trace_says_how_many_variables_each_step_moved(engine, shrinking):
    """Those whose α has changed; and those of the pair alone for the other steps."""
    problem = board()
    steps = iterate(problem, step=ConjugateStep(12), stop=KKTGap(1e-6))
    alphas = np.array([np.zeros(problem.n), *(state.alpha.copy() for state in steps)])
    changed = np.count_nonzero(np.diff(alphas, axis=0), axis=1)
    conjugate, how = {"step": ConjugateStep(12)}, {"engine": engine, "trace": True}
    plain = solve(problem, **conjugate, stop=KKTGap(1e-6), shrinking=False, **how)
    np.testing.assert_array_equal(plain.trace["moved"], changed)
    assert changed.max() == 12
    found = solve(problem, **conjugate, shrinking=shrinking, **how)
    assert set(found.trace["moved"].tolist()) == set(range(2, 13))
    newton = solve(problem, step=NewtonStep(), shrinking=shrinking, **how)
    assert (newton.trace["moved"] == 2).all()
