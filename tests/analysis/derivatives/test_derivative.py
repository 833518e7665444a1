"""Solution.derivative: against central differences of solves; Solution.pullback: against the derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    epsilon_path,
    regularization_path,
    solve,
)

rng = np.random.default_rng(0)
X, T = rng.normal(size=(30, 3)), rng.normal(size=(5, 3))
score = X[:, 0] + 0.5 * np.sin(2.0 * X[:, 1]) + 0.4 * rng.normal(size=30)
y, along = np.where(score > 0.0, 1, -1), rng.normal(size=30)


def exactly(problem):
    return solve(problem, stop=KKTGap(1e-13), polish=True, shrinking=False)


def test_a_sigmoid_kernel_where_it_is_positive_on_the_free_variables():
    def at(value):
        return exactly(DualProblem.classification(X, y, kernel=Sigmoid(0.05, value), C=1.0))

    rates = (at(0.1 + 1e-5).decision_values - at(0.1 - 1e-5).decision_values) / 2e-5
    found = at(0.1).derivative("coef0").decision_function(X)
    np.testing.assert_allclose(found, rates, atol=1e-4 * np.abs(rates).max())


@pytest.mark.parametrize(
    "kernel", [RBF(0.4), Polynomial(3, 0.2, 0.7), Polynomial(0), Sigmoid(0.1, 0.2)], ids=str
)
def test_formulas_and_differences_of_values(kernel):
    from refsvm.analysis.derivatives.kernels import by_differences

    for name in kernel.smooth_parameters:
        formula, differences = kernel.derivative(name, X, T), by_differences(kernel, name, X, T)
        np.testing.assert_allclose(formula, differences, rtol=1e-8, atol=1e-9)


def test_sparse_examples():
    csr_array = pytest.importorskip("scipy.sparse").csr_array
    thin = np.where(np.abs(X) > 0.8, X, 0.0)
    thin[:, 0] = X[:, 0]
    one, other = (
        exactly(DualProblem.classification(each, y, kernel=RBF(0.4))).derivative("gamma")
        for each in (thin, csr_array(thin))
    )
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.decision_function(T), other.decision_function(csr_array(T)), rtol=1e-7)


def test_the_slope_of_a_path_of_regressions():
    """Within the longest part without an event."""
    pytest.importorskip("scipy")
    path = epsilon_path(X, score, kernel=RBF(0.3), C=2.0, epsilon=(0.4, 0.05))
    points = np.sort(path.t)
    k = int(np.argmax(np.diff(points)))
    one, other = points[k : k + 2]
    found = exactly(path.problem(0.3 * one + 0.7 * other)).derivative("epsilon")
    slope = (path.alpha(other) - path.alpha(one)) / (other - one)
    np.testing.assert_allclose(found.alpha, slope, rtol=1e-8, atol=1e-8 * np.abs(slope).max())
    rate = (path.intercept(other) - path.intercept(one)) / (other - one)
    assert found.intercept == pytest.approx(rate, rel=1e-8, abs=1e-8 * np.abs(slope).max())


# -- where there is no derivative --------------------------------------------------------------------------------------


def test_at_an_event_only_sides_have_a_derivative():
    pytest.importorskip("scipy")  # of paths
    path = regularization_path(X, y, kernel=RBF(0.4), C_min=0.3, C_max=5.0)
    C = path.C[len(path.C) // 2]
    problem = DualProblem.classification(X, y, kernel=RBF(0.4), C=C)
    solution = solve(problem, start=problem.feasible(path.alpha(C)), stop=KKTGap(1e-13), polish=True)
    found = solution.derivative("C")
    assert len(found.events) == 1
    assert not found.is_two_sided
    assert np.abs(found.left.alpha - found.right.alpha).max() > 1e-3
    for ask in (lambda: found.alpha, lambda: found.intercept, lambda: found.decision_function(T)):
        with pytest.raises(ValueError, match=rf"\[{found.events[0]}\] are at an event.*\.left or \.right"):
            ask()
    with pytest.raises(ValueError, match="at an event"):
        solution.pullback(1.0)


def test_duplicates_have_a_derivative_of_h_alone():
    """Each example twice at half the penalty is the same machine; α may be shared in many ways."""
    once = exactly(DualProblem.classification(X, y, kernel=RBF(0.4), C=1.3))
    twice = exactly(DualProblem.classification(np.tile(X, (2, 1)), np.tile(y, 2), kernel=RBF(0.4), C=0.65))
    for name, factor in (("gamma", 1.0), ("C", 2.0)):
        one, other = once.derivative(name), twice.derivative(name)
        np.testing.assert_allclose(other.decision_function(T), factor * one.decision_function(T), rtol=1e-7)
        np.testing.assert_allclose(other.intercept, factor * one.intercept, rtol=1e-7)
        with pytest.raises(ValueError, match="no unique derivative"):
            other.alpha  # noqa: B018
        least = twice.derivative(name, least_norm=True).alpha.reshape(2, 30).sum(axis=0)
        np.testing.assert_allclose(least, factor * one.alpha, atol=1e-7 * np.abs(one.alpha).max())
    assert other.condition == np.inf
    with pytest.raises(ValueError, match="no unique derivative"):
        twice.pullback(np.eye(60)[other.dependent[0]])
    assert np.isfinite(twice.pullback(X=T, decision_function=np.ones(5))["gamma"])


def test_a_target_that_takes_duplicates_apart_is_refused():
    twice, targets = np.tile(X, (2, 1)), np.tile(score, 2)
    solution = exactly(DualProblem.regression(twice, targets, kernel=RBF(0.3), C=2.0))
    beta = np.abs(solution.alpha[:60] + solution.alpha[60:])
    inside = (beta > 0.0) & (beta < 2.0)
    both = np.flatnonzero(inside[:30] & inside[30:])
    assert len(both)
    with pytest.raises(ValueError, match="and a change of the parameter ends this"):
        solution.derivative("targets", np.eye(60)[both[0]])
    # both targets together are no such parameter
    assert np.isfinite(solution.derivative("targets", np.tile(along, 2)).decision_function(T)).all()


def test_the_middle_of_an_interval():
    """Two examples at their bounds: b is the middle, and moves with C and γ."""
    points, labels = np.array([[0.0], [1.0], [3.0], [4.5]]), np.array([-1, 1, -1, 1])

    def at(C=0.1, gamma=0.3):
        return solve(DualProblem.classification(points, labels, kernel=RBF(gamma), C=C))

    solution, e = at(), 1e-5
    assert (np.abs(solution.alpha) == 0.1).all()
    for name, value in (("C", 0.1), ("gamma", 0.3)):
        found = solution.derivative(name)
        rate = (at(**{name: value + e}).intercept - at(**{name: value - e}).intercept) / (2.0 * e)
        assert found.intercept == pytest.approx(rate, rel=1e-6)
        assert solution.pullback(intercept=1.0)[name] == pytest.approx(rate, rel=1e-6)
    with pytest.raises(ValueError, match="b jumps"):
        solution.derivative("weights", np.eye(4)[0])
    with pytest.raises(ValueError, match="b jumps"):
        solution.pullback(intercept=1.0)["weights"]


def test_a_hard_margin_has_a_derivative_with_respect_to_its_kernel():
    hard = exactly(DualProblem.classification(X, y, kernel=RBF(4.0), C=np.inf))
    assert np.isfinite(hard.derivative("gamma").alpha).all()


def test_a_given_matrix_has_all_but_a_kernel():
    K = RBF(0.4)(X, X)
    one = exactly(DualProblem.classification(X, y, kernel=RBF(0.4), C=1.3)).derivative("C")
    other = exactly(DualProblem.classification(K, y, kernel=Precomputed(), C=1.3)).derivative("C")
    np.testing.assert_allclose(one.alpha, other.alpha, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.decision_function(T), other.decision_function(RBF(0.4)(T, X)), rtol=1e-9)


def test_a_linear_machine_far_from_the_origin():
    def at(shift, C=0.5):
        return exactly(DualProblem.classification(X + shift, y, kernel=Linear(), C=C))

    near, far = (at(shift).derivative("C").decision_function(T + shift) for shift in (0.0, 1e6))
    np.testing.assert_allclose(far, near, rtol=1e-6)
    change = at(1e3, 0.5 + 1e-4).intercept - at(1e3, 0.5 - 1e-4).intercept
    here = at(1e3)
    assert here.derivative("C").intercept == pytest.approx(change / 2e-4, rel=1e-5)
    assert here.pullback(intercept=1.0)["C"] == pytest.approx(change / 2e-4, rel=1e-5)


def test_a_loose_solution_is_solved_first():
    problem = DualProblem.classification(X, y, kernel=RBF(0.4), C=1.3)
    loose, exact = (
        each.derivative("C").alpha for each in (solve(problem, stop=KKTGap(1e-2)), exactly(problem))
    )
    np.testing.assert_allclose(loose, exact, atol=1e-9)


# -- gradients ---------------------------------------------------------------------------------------------------------


PROBLEMS = {
    "two classes": DualProblem.classification(X, y, kernel=RBF(0.5), C=1.5),
    "regression": DualProblem.regression(X, score, kernel=Polynomial(3, 0.4, 1.0), C=0.7, epsilon=0.2),
    "novelty": DualProblem.one_class(X, kernel=RBF(0.4), nu=0.43),
    "a gamma of each feature": DualProblem.classification(X, y, kernel=RBF([0.5, 0.2, 0.3]), C=1.5),
    "around the mean": DualProblem.classification(X + 1e3, y, kernel=Linear(), C=0.5),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("loss", ["alpha", "intercept", "decision_function"])
def test_all_gradients_are_those_of_derivatives(name, loss):
    problem = PROBLEMS[name]
    solution = solve(problem, stop=KKTGap(1e-12), polish=True)
    by_alpha, by_h = rng.normal(size=problem.n), rng.normal(size=5)
    points = T + (1e3 if name == "around the mean" else 0.0)
    gradients = {
        "alpha": lambda: solution.pullback(by_alpha, least_norm=True),
        "intercept": lambda: solution.pullback(intercept=1.0),
        "decision_function": lambda: solution.pullback(X=points, decision_function=by_h),
    }[loss]()

    def rate(parameter, along=None):
        found = solution.derivative(parameter, along, least_norm=True)
        return {
            "alpha": lambda: by_alpha @ found.alpha,
            "intercept": lambda: found.intercept,
            "decision_function": lambda: by_h @ found.decision_function(points),
        }[loss]()

    assert set(gradients) >= {"weights"}
    assert len(gradients) == len(list(gradients))
    for parameter, gradient in gradients.items():
        forward = (
            [rate(parameter, e) for e in np.eye(len(gradient))] if np.ndim(gradient) else rate(parameter)
        )
        np.testing.assert_allclose(gradient, forward, rtol=1e-6, atol=1e-7 * np.abs(forward).max())
