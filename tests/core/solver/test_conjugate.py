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
    Linear,
    LOODualityGap,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    SecondOrder,
    StepRule,
    cross_validate,
    iterate,
    leave_one_out,
    solve,
)
from refsvm.core.solver.rules import chosen_rules
from refsvm.datasets import load, make_banana, make_chessboard
from refsvm.testing import Case, check_engines, practice_problems

from ...settings import FAST, INTERPRETED, needs_numba

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


def test_nothing_is_kept_where_nothing_is_carried():
    state = next(iterate(PROBLEMS["duplicates"]))
    assert (state.displacement, state.displacement_image) == (None, None)


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


def test_a_free_step_gains_no_less_than_that_of_the_pair_alone():
    before, gains = 0.0, []
    for state in iterate(board(), step=ConjugateStep(), stop=KKTGap(1e-4)):
        gain, before = state.objective - before, state.objective
        alone = 0.5 * state.slope**2 / state.curvature
        if state.last_free:
            assert gain >= alone * (1.0 - 1e-9) - 1e-12 * abs(before)
            gains.append(gain / alone)
    assert np.median(gains) > 1.1


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_variable_that_cuts_the_step_is_assigned_its_bound(name):
    """No variable is left next to its bound, where the next steps would have no room."""
    problem = PROBLEMS[name]
    for state in iterate(problem, selector=ConjugateSecondOrder(), step=ConjugateStep(), stop=KKTGap(1e-5)):
        lower, upper, alpha = state.lower, state.upper, state.alpha
        assert ((lower <= alpha) & (alpha <= upper)).all()
        moved = np.flatnonzero(state.displacement)
        if len(moved) > 2 and not state.last_free:
            assert ((alpha == lower) | (alpha == upper))[moved].any()
        room = np.minimum(alpha - lower, upper - alpha)
        size = np.abs(state.displacement) + np.abs(alpha)
        assert not ((room > 0.0) & (room < 1e-16 * size))[moved].any()
        if state.iteration >= 300:
            break
    assert abs(alpha.sum() - problem.z) <= 1e-11 * (1.0 + np.abs(alpha).sum())


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


@pytest.mark.parametrize("most", [2, 3, 7])
@pytest.mark.slow
def test_steps_begin_anew_after_a_cut_and_where_they_would_move_too_many(most):
    """A step moves two variables, or goes on and moves `most` at most; with more allowed it does."""
    moved, free = [], []
    for state in iterate(board(), step=ConjugateStep(max_support=most), stop=KKTGap(1e-3)):
        moved.append(np.count_nonzero(state.displacement))
        if not (free and free[-1]):
            assert moved[-1] == 2, "a step after a cut is Newton's"
        free.append(state.last_free)
    assert max(moved) == most
    assert 2 in moved[1:]
    unlimited = iterate(board(), step=ConjugateStep(max_support=60), stop=KKTGap(1e-3))
    assert max(np.count_nonzero(state.displacement) for state in unlimited) > 7


def test_fewer_steps_than_newton_and_planning():
    problem, counts = board(150), []
    for step in (NewtonStep(), PlanningAheadStep(), ConjugateStep()):
        solution = solve(problem, step=step, shrinking=False, engine=FAST)
        counts.append((solution.iterations, solution.objective))
    assert counts[2][0] < 0.6 * min(counts[0][0], counts[1][0])
    assert counts[2][1] == pytest.approx(counts[0][1], rel=1e-5)


def test_the_gain_it_selects_by_is_the_gain_of_the_step():
    """Where no bound cuts the step, f grows by ½ℓ²/(q − β²/δ), the largest over all j."""
    known = None
    checked = 0
    for state in iterate(board(), selector=ConjugateSecondOrder(), step=ConjugateStep(), stop=KKTGap(1e-5)):
        if known is not None and state.last_free and np.count_nonzero(state.displacement) > 2:
            G, image, delta, alpha, f = known
            i, j = state.working_sets[0].tolist()
            q = state.diagonal[i] + state.diagonal - 2.0 * state.row(i)
            along = np.maximum(q - (image[i] - image) ** 2 / delta, 1e-3 * q)
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = 0.5 * (G[i] - G) ** 2 / along
            gain[(alpha <= state.lower) | (G[i] <= G)] = -np.inf
            assert gain[j] >= gain.max() * (1.0 - 1e-9)
            if along[j] > 2e-3 * q[j]:
                assert state.objective - f == pytest.approx(gain[j], rel=1e-6, abs=1e-9 * abs(f))
                checked += 1
        known = None
        if state.last_free:
            known = (
                state.gradient.copy(), state.displacement_image.copy(), state.carried_curvature,
                state.alpha.copy(), state.objective,
            )  # fmt: skip
    assert checked > 100


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
@pytest.mark.parametrize("selector", [ConjugateSecondOrder(), MostViolatingPair()], ids=repr)
@pytest.mark.parametrize("name", PROBLEMS)
def test_both_engines_shrunk_and_with_few_rows(name, selector):
    case = Case(name, PROBLEMS[name], (selector, ConjugateStep(), KKTGap(1e-6)))
    for shrinking in (False, True):
        check_engines(case, shrinking=shrinking, cache_mb=0.002)


@needs_numba
@pytest.mark.parametrize("most", [2, 3, 6])
@pytest.mark.parametrize("selector", [SecondOrder(), ConjugateSecondOrder(), HybridMaximumGain()])
@pytest.mark.slow
def test_both_engines_begin_anew_at_the_same_steps(selector, most):
    case = Case("board", board(), (selector, ConjugateStep(max_support=most), KKTGap(1e-4)))
    check_engines(case, shrinking=False)


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: DualProblem.regression(X, X[:, 0] * X[:, 1], kernel=RBF(0.5), C=3.0),
        lambda X, y: DualProblem.one_class(X, kernel=RBF(0.5), nu=0.3),
        lambda X, y: DualProblem.classification(X, y, kernel=RBF(0.5), C=np.inf),
        lambda X, y: DualProblem.classification(X, y, kernel=Linear(), C=np.linspace(0.0, 5.0, len(y))),
    ],
    ids=["regression", "one class", "hard margin", "weights"],
)
@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_every_kind_of_problem_ends_at_the_same_objective(make, engine):
    data = make_banana(60, rng=1)
    problem = make(data.X, data.y)
    plain = solve(problem, step=NewtonStep(), stop=KKTGap(1e-6), engine=FAST)
    carried = solve(problem, step=ConjugateStep(), stop=KKTGap(1e-6), engine=engine)
    assert carried.status is plain.status
    assert carried.objective == pytest.approx(plain.objective, rel=1e-7)


@pytest.mark.parametrize("stop", [KKTGap(1e-6), LOODualityGap(1e-5)], ids=repr)
@pytest.mark.slow
def test_rounds_and_folds_take_the_same_predictions(stop):
    data = load("heart")
    X, y = data.X[: 60 if INTERPRETED else 270], data.y[: 60 if INTERPRETED else 270]
    options = {"kernel": RBF(0.005), "C": 10.0, "engine": FAST}
    plain, carried = (
        leave_one_out(X, y, step=step, stop=stop, **options) for step in (NewtonStep(), ConjugateStep())
    )
    assert np.array_equal(plain.predictions, carried.predictions)
    if not stop.left_out:
        assert carried.round_iterations.sum() < plain.round_iterations.sum()
    few = {"kernel": RBF(0.05), "C": 3.0, "step": ConjugateStep(), "stop": stop}
    one, other = (leave_one_out(X[:60], y[:60], engine=engine, **few) for engine in ("numpy", FAST))
    assert np.array_equal(one.round_iterations, other.round_iterations)
    folds, others = (
        cross_validate(X, y, step=step, rng=0, stop=KKTGap(1e-6), **options)
        for step in (NewtonStep(), ConjugateStep())
    )
    np.testing.assert_allclose(folds.decision_values, others.decision_values, atol=1e-4)


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
