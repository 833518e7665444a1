"""The bordered system of derivatives, the optimum next to a loose solution, and kernel values beyond the memory."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, solve
from refsvm.analysis.derivatives.settling import settled
from refsvm.analysis.derivatives.system import BLOCK, System

rng = np.random.default_rng(2)
X, T = rng.normal(size=(80, 3)), rng.normal(size=(9, 3))
score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=80)


@pytest.mark.parametrize("m", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 5])
@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_solutions_are_those_of_the_whole_matrix(m, unit):
    points = np.random.default_rng(m).normal(size=(m, 4))
    K = unit * (RBF(0.8)(points, points) if m else np.zeros((0, 0)))
    c = float(np.abs(K.diagonal()).max(initial=0.0))
    A = np.ones((m + 1, m + 1))
    A[0, 0], A[1:, 1:] = 0.0, K
    right = np.random.default_rng(1).normal(size=m + 1)
    found = System(K, np.linalg.cholesky(K + c), c).solve(right)
    if not m:
        assert found.tolist() == [0.0]
        return
    scale = np.append(unit, np.ones(m))  # b has the unit of K
    expected = np.linalg.solve(A, right)
    np.testing.assert_allclose(found / scale, expected / scale, atol=1e-9 * np.abs(expected / scale).max())


@pytest.mark.parametrize("kernel", [RBF(0.4), RBF([0.4, 0.1, 0.6]), Linear()], ids=str)
def test_values_that_are_not_kept_are_computed_again(monkeypatch, kernel):
    problem = DualProblem.regression(X[:40], score[:40], kernel=kernel, C=0.6, epsilon=0.1)
    solution = solve(problem, stop=KKTGap(1e-12), polish=True)
    by_h = rng.normal(size=9)

    def gradients():
        found = solution.pullback(X=T, decision_function=by_h)
        return {name: np.asarray(value) for name, value in found.items()}

    kept = gradients()
    optimum, pullback = (
        sys.modules[f"refsvm.analysis.derivatives.{name}"] for name in ("optimum", "pullback")
    )
    monkeypatch.setattr(optimum, "HELD", 0)
    monkeypatch.setattr(pullback, "HELD", 0)
    monkeypatch.setattr(optimum, "ENTRIES", 64)
    for name, value in gradients().items():
        np.testing.assert_allclose(value, kept[name], rtol=1e-9, atol=1e-11)


# -- the optimum next to a loose solution ------------------------------------------------------------------------------

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
