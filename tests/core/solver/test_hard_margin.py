"""Hard margins: C = ∞ gives the maximum-margin separator, and ends where there is none."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    MostViolatingPair,
    NewtonStep,
    Polynomial,
    Precomputed,
    Sigmoid,
    Status,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.primal import best_intercept, primal_value
from refsvm.core.result import Trace
from refsvm.core.solver import hard_margin
from refsvm.core.solver.hard_margin import HardMargin
from refsvm.core.solver.rules import chosen_rules, row_store
from refsvm.core.state import NotFiniteError
from refsvm.testing import SHRINK_EARLY

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 3))
SIDE = np.where(X[:, 0] > 0, 1, -1)
APART = X + 0.3 * SIDE[:, None] * np.eye(3)[0]
INSEPARABLE = {
    "overlap": (X, np.where(X[:, 0] + RNG.normal(size=60) > 0, 1, -1), Linear()),
    "one line": (X[:, :1], np.where(X[:, 1] > 0, 1, -1), Linear()),
    "duplicates of opposite labels": (np.repeat(X, 2, axis=0), np.tile([1, -1], 60), RBF(1.0)),
    "one duplicate of the other label": (np.vstack([APART, APART[:1]]), np.append(SIDE, -SIDE[0]), Linear()),
    "constant features": (np.ones((30, 2)), np.where(np.arange(30) < 4, 1, -1), Linear()),
    "a point inside an edge": (np.array([[0.0, 0], [2, 0], [1, 0], [1, 1]]), [1, 1, -1, -1], Linear()),
    "huge": (X * 1e8, np.where(X[:, 0] + RNG.normal(size=60) > 0, 1, -1), Linear()),
    "an indefinite kernel": (X, np.where(X[:, 1] > 0, 1, -1), Sigmoid(gamma=1.0, coef0=-1.0)),
}


RULES = chosen_rules(MostViolatingPair(), NewtonStep(), KKTGap())


def hard(data, labels, kernel):
    return DualProblem.classification(data, labels, kernel=kernel, C=np.inf)


def begun(problem, alpha):
    """The state of a solve at this α."""
    return RULES.begin(problem, alpha, row_store(problem, RULES, 200.0))


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5), Polynomial(2, 1.0, 1.0)], ids=repr)
def test_separable_classes_give_the_widest_margin(kernel, engine, shrinking):
    solution = solve(hard(APART, SIDE, kernel), stop=KKTGap(1e-8), engine=engine, shrinking=shrinking)
    assert solution.status is Status.CONVERGED
    values = kernel(APART, APART) @ solution.alpha + solution.intercept
    assert (SIDE * values).min() == pytest.approx(1.0, abs=1e-7)
    # at the optimum ½‖w‖² = f = ½ Σ|α|
    assert np.abs(solution.alpha).sum() == pytest.approx(2 * solution.objective, rel=1e-7)
    assert 0.0 <= solution.duality_gap <= 1e-6 * solution.objective


@pytest.mark.parametrize("label", [1.0, 3.0])
@pytest.mark.parametrize(("half", "separable"), [(1e-7, True), (0.6e-7, True), (0.4e-7, False)])
def test_the_narrowest_margin_that_can_be_told_from_rounding(half, separable, label):
    """Two points (1, ±half) at a distance of 2·half, where 1e-7 ‖φ‖ is the least that counts."""
    K, y = np.array([[1.0 + half**2, 1.0 - half**2], [1.0 - half**2, 1.0 + half**2]]), np.array([1.0, -1.0])
    box = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    problem = DualProblem(Gram(Precomputed(), K), label * y, 0.0, *box)
    with warnings.catch_warnings(action="ignore"):
        solution = solve(problem, engine="numpy", stop=KKTGap(1e-9))
    assert (solution.status is Status.CONVERGED) == separable
    if separable:
        # α(e₀ − e₁) with α = label/(2 half²)
        np.testing.assert_allclose(solution.alpha, label * y / (2 * half**2), rtol=0.05)


def test_rounding_of_the_gradient_condemns_no_separable_classes():
    """G = v says ‖w‖² = αᵀ(v − G) = 0 at any α: what the steps have left in G is computed anew before the verdict."""
    y = np.array([1.0, -1.0])
    state = begun(hard(np.eye(2), y, Precomputed()), 0.25 * y)
    state.gradient[:] = y
    assert HardMargin(state, lambda *arguments: 1).steps(state, RULES, 10, None) == 1
    np.testing.assert_allclose(state.gradient, 0.75 * y)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSEPARABLE)
def test_without_a_separator_it_says_so(name, engine, shrinking):
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", message="The kernel is not positive semi-definite")
        solution = solve(hard(*INSEPARABLE[name]), engine=engine, shrinking=shrinking, max_iter=50_000)
    assert solution.status is Status.INSEPARABLE
    assert "no function of this kernel separates the classes" in solution.reason
    assert np.isfinite([solution.objective, solution.kkt_gap, solution.intercept]).all()
    assert np.isfinite(solution.alpha).all()
    assert abs(solution.alpha.sum()) <= 1e-12 * np.abs(solution.alpha).sum()


@pytest.mark.parametrize("hard_ones", [slice(0, 30), slice(0, 1)], ids=["half", "one"])
def test_some_margins_may_be_hard_and_others_soft(hard_ones, engine):
    y = np.where(X[:, 0] + 0.5 * RNG.normal(size=60) > 0, 1, -1)
    y[hard_ones] = SIDE[hard_ones]
    C = np.full(60, 2.0)
    C[hard_ones] = np.inf
    solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=C), stop=KKTGap(1e-8), engine=engine)
    assert solution.status is Status.CONVERGED
    values = RBF(0.5)(X, X) @ solution.alpha + solution.intercept
    assert (y * values)[hard_ones].min() >= 1.0 - 1e-7
    assert np.abs(np.delete(solution.alpha, hard_ones)).max() <= 2.0
    assert 0.0 <= solution.duality_gap <= 1e-6 * solution.objective


def test_duplicates_of_opposite_labels_with_soft_margins_beside_them(engine):
    C = np.where(np.arange(61) < 30, 1.0, np.inf)
    C[0] = np.inf
    data, labels = np.vstack([APART, APART[:1]]), np.append(SIDE, -SIDE[0])
    problem = DualProblem.classification(data, labels, kernel=Linear(), C=C)
    assert solve(problem, engine=engine, max_iter=50_000).status is Status.INSEPARABLE


def test_the_primal_value_bounds_the_dual_from_above_at_every_point():
    """F at the stretched point is the value of a separator that keeps every margin."""
    problem = hard(APART, SIDE, Linear())
    best = solve(problem, stop=KKTGap(1e-10)).objective
    rng = np.random.default_rng(0)
    optimum = solve(problem, stop=KKTGap(1e-10)).alpha
    for scale in (0.0, 1e-6, 1e-3, 0.1):
        alpha = problem.feasible(optimum + scale * rng.normal(size=60))
        assert problem.primal_objective(alpha) >= best * (1 - 1e-9)
    assert problem.primal_objective(np.zeros(60)) == np.inf  # w = 0 separates nothing


def test_the_best_intercept_between_hard_margins():
    G, box = np.array([0.2, -0.4, 1.0]), (np.array([0.0, 0.0, -np.inf]), np.array([np.inf, np.inf, 0.0]))
    # midway between max G over U = ∞ and min over L = −∞, also where they contradict each other
    assert best_intercept(G, 0.0, *box) == pytest.approx(0.6)
    assert best_intercept(-G, 0.0, *box) == pytest.approx(-0.3)
    soft = np.array([0.0, 0.0, -1.0]), np.array([np.inf, 1.0, 0.0])
    best, *others = (
        primal_value(0.0, np.ones(3), G - b, *soft, 0.0) for b in (best_intercept(G, 0.0, *soft), 0.2, 0.3)
    )
    assert best <= min(others)


def test_a_feasible_point_of_an_open_box():
    lower, upper = np.array([0.0, -np.inf, 0.0]), np.array([np.inf, 0.0, 1.0])
    problem = DualProblem(hard(APART[:3], [1, -1, 1], Linear()).gram, np.ones(3), 3.0, lower, upper)
    for start in itertools.product([-5.0, 0.0, 7.0], repeat=3):
        point = problem.feasible(start)
        assert ((lower <= point) & (point <= upper)).all()
        assert point.sum() == pytest.approx(3.0)


def test_where_the_sum_is_not_zero_alpha_is_not_stretched(engine):
    """A multiple of α has another sum."""
    rng = np.random.default_rng(1)
    gram, n = Gram(RBF(0.5), rng.normal(size=(40, 2))), 40
    v = rng.uniform(20.0, 40.0, size=n)
    problem = DualProblem(gram, v, 30.0, np.zeros(n), np.full(n, np.inf))
    solution = solve(problem, engine=engine, shrinking=SHRINK_EARLY, stop=KKTGap(1e-8))
    assert solution.status is Status.CONVERGED
    assert solution.alpha.sum() == pytest.approx(30.0, rel=1e-12)
    closed = solve(problem.boxed(np.zeros(n), np.full(n, 30.0)), stop=KKTGap(1e-8))
    assert solution.objective == pytest.approx(closed.objective, rel=1e-12)


@pytest.mark.parametrize("largest", [np.nan, np.inf, 1e101, 1e99, 2.0])
@pytest.mark.parametrize(
    ("place", "fails"), [(0, None), (3, None), (0, ValueError("no pair")), (0, NotFiniteError())]
)
def test_a_round_that_leads_beyond_all_numbers_is_taken_back(place, fails, largest):
    y = np.array([1.0, -1.0, 1.0, -1.0])
    state, trace = begun(hard(np.eye(4), y, Precomputed()), 0.25 * y), Trace()
    before = state.alpha.copy(), state.gradient.copy()

    def take(state, rules, budget, trace):
        state.alpha[place] = largest
        state.iteration += 1
        trace.append(state)
        if fails:
            raise fails
        return 1

    stays = largest <= 1e100 and not isinstance(fails, NotFiniteError)  # that of a restricted problem, too
    if stays:
        if fails:  # the fault of a rule
            with pytest.raises(ValueError, match="no pair"):
                HardMargin(state, take).steps(state, RULES, 10, trace)
        else:
            assert HardMargin(state, take).steps(state, RULES, 10, trace) == 1
        assert state.alpha[place] == largest
    else:
        assert HardMargin(state, take).steps(state, RULES, 10, trace) == hard_margin.INSEPARABLE
        np.testing.assert_array_equal(state.alpha, before[0])
        np.testing.assert_allclose(state.gradient, before[1], atol=1e-15)
    assert state.iteration == len(trace) == stays


@pytest.mark.parametrize("short", [0.999, 0.9, 0.25, 1e-3])
def test_a_direction_is_taken_as_far_as_it_leads_and_the_gradient_goes_with_it(short):
    """t = vᵀα/αᵀKα, if that is long; v − Kα follows without a product, also where |v| is not 1."""
    K, v = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.2], [0.1, 0.2, 1.0]]), np.array([1.3, -0.7, 2.6])
    box = np.array([0.0, -np.inf, 0.0]), np.array([np.inf, 0.0, np.inf])
    problem, d = DualProblem(Gram(Precomputed(), K), v, 0.0, *box), np.array([0.5, -1.25, 0.75])
    best = float(v @ d) / float(d @ K @ d)
    state = begun(problem, short * best * d)
    state.rows.product = None  # and none is asked for
    assert HardMargin(state, lambda *arguments: 0).steps(state, RULES, 10, None) == 0
    reached = best if 1.0 / short > hard_margin.LONGER else short * best
    np.testing.assert_allclose(state.alpha, reached * d, rtol=1e-12)
    np.testing.assert_allclose(state.gradient, v - reached * (K @ d), atol=1e-12)
    assert state.gap == pytest.approx(problem.kkt_gap(state.alpha), rel=1e-9)
