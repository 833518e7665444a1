"""The optimum next to a loose solution, by its sets of variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, solve
from refsvm.analysis.derivatives.settling import settled

KERNEL, TOL = RBF(0.7), 1e-11


def drawn(seed, kind):
    """A problem, the kernel values of its examples, and the example of each variable."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    score = X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.normal(size=30)
    K, every = KERNEL(X, X), np.arange(30)
    if kind == "regression":
        return DualProblem.regression(X, score, kernel=KERNEL, C=2.0, epsilon=0.1), K, np.tile(every, 2)
    y = np.where(score > np.median(score), 1, -1)
    return DualProblem.classification(X, y, kernel=KERNEL, C=2.0), K, every


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("gap", [0.3, 0.03])
def test_a_loose_solution_leads_to_the_optimum(kind, gap):
    """It keeps its sum and its box, and comes with its gradient; what it began with stays as it is."""
    found = 0
    for seed in range(8):
        problem, K, example = drawn(seed, kind)
        begun = solve(problem, stop=KKTGap(gap), engine="numpy")
        before = begun.alpha.copy(), begun.gradient.copy()
        result = settled(begun, K, example, TOL)
        np.testing.assert_array_equal(before, (begun.alpha, begun.gradient))
        if result is None:
            continue
        found += 1
        assert result.kkt_gap <= TOL
        assert abs(result.alpha.sum()) < 1e-12
        assert ((problem.lower <= result.alpha) & (result.alpha <= problem.upper)).all()
        np.testing.assert_allclose(result.gradient, problem.gradient(result.alpha), atol=1e-12)
        exact = solve(problem, stop=KKTGap(1e-9), engine="numpy")
        assert result.objective >= exact.objective - 1e-12
        np.testing.assert_allclose(result.alpha, exact.alpha, atol=1e-6)
    assert found >= 4


def test_without_a_free_variable_there_is_no_system():
    problem, K, example = drawn(0, "classification")
    small = DualProblem(problem.gram, problem.v, 0.0, problem.lower * 1e-3, problem.upper * 1e-3)
    begun = solve(small, stop=KKTGap(1e-6), engine="numpy")
    assert not ((small.lower < begun.alpha) & (begun.alpha < small.upper)).any()
    assert settled(begun, K, example, TOL) is None


def test_a_copy_of_a_free_example_stays_at_its_bound():
    """Its G is b: as a free variable it would make the system singular."""
    problem, K, example = drawn(0, "classification")
    begun = settled(solve(problem, stop=KKTGap(0.03), engine="numpy"), K, example, TOL)
    free = int(np.flatnonzero((problem.lower < begun.alpha) & (begun.alpha < problem.upper))[0])
    every = np.append(example, free)
    v, lower, upper = (each[every] for each in (problem.v, problem.lower, problem.upper))
    twice = DualProblem(K[np.ix_(every, every)], v, 0.0, lower, upper)
    begun = replace(begun, problem=twice, alpha=np.append(begun.alpha, 0.0), gradient=begun.gradient[every])
    result = settled(begun, K, every, TOL)
    assert result is not None
    assert result.alpha[-1] == 0.0


def test_numbers_that_are_not_finite_settle_nothing():
    problem, K, example = drawn(0, "classification")
    begun = solve(problem, stop=KKTGap(0.1), engine="numpy")
    assert settled(begun, np.full_like(K, np.nan), example, TOL) is None
    assert settled(begun, np.zeros_like(K), example, TOL) is None


@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_of_an_indefinite_kernel_no_saddle_is_an_optimum(curvature):
    """f = d²/2 − 0.1 d along α = (−d, d) if K is −I/2: both G are equal at d = 0.1, where f is least."""
    K, G = curvature * 0.5 * np.eye(2), np.array([0.0, 0.1]) * curvature
    begun = solve(
        DualProblem(np.eye(2), np.zeros(2), 0.0, -np.ones(2), np.ones(2)), stop=KKTGap(1.0), engine="numpy"
    )
    problem = DualProblem(K, G + K @ np.array([-0.25, 0.25]), 0.0, -np.ones(2), np.ones(2))
    begun = replace(begun, problem=problem, alpha=np.array([-0.25, 0.25]), gradient=G)
    found = settled(begun, K, np.arange(2), TOL)
    assert (found is not None) is (curvature > 0.0)
