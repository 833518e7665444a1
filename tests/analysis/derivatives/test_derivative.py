"""Solution.derivative: against central differences of solves, slopes of paths, and both sides of events."""

from __future__ import annotations

from dataclasses import dataclass

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
    nu_path,
    regularization_path,
    solve,
    weight_path,
)


@dataclass(frozen=True)
class Laplacian:
    """A kernel that is no `Kernel`, and has no formula for its derivative."""

    gamma: float

    def __call__(self, X, Z):
        return np.exp(-self.gamma * np.abs(X[:, None] - Z).sum(axis=2))


rng = np.random.default_rng(0)
X, T = rng.normal(size=(30, 3)), rng.normal(size=(5, 3))
score = X[:, 0] + 0.5 * np.sin(2.0 * X[:, 1]) + 0.4 * rng.normal(size=30)
y, along = np.where(score > 0.0, 1, -1), rng.normal(size=30)
KERNELS = [RBF(0.4), Laplacian(0.3), Polynomial(2, 0.5, 1.0), Polynomial(3, 0.2, 0.7), Linear()]


def exactly(problem):
    return solve(problem, stop=KKTGap(1e-13), polish=True, shrinking=False)


def compared(at, name, value, direction=None):
    """Errors of α, b and h of other examples from a central difference, relative to the largest rate of h."""
    found, step = exactly(at(value)).derivative(name, direction), 1e-4 * (abs(value) or 1.0)
    ends = [exactly(at(value + way * step)) for way in (1.0, -1.0)]
    # h of other examples: of a problem that has them with an empty box
    h = [probe(end, T) for end in ends]
    rates = (h[0] - h[1]) / (2.0 * step)
    size = np.abs(rates).max()
    alpha = (ends[0].alpha - ends[1].alpha) / (2.0 * step) - found.right.alpha
    return (
        np.abs(alpha).max() / max(np.abs(found.right.alpha).max(), 1e-9),
        abs((ends[0].intercept - ends[1].intercept) / (2.0 * step) - found.intercept) / size,
        np.abs(rates - found.decision_function(T)).max() / size,
    )


def probe(solution, T):
    gram, copies = solution.problem.gram, solution.problem.n // len(X)
    if copies == 2:
        gram = gram.source
    beta = np.bincount(np.tile(np.arange(30), copies), solution.alpha)
    return gram.kernel(T, X) @ beta + solution.intercept


@pytest.mark.parametrize("make", ["two classes", "regression", "novelty"])
def test_a_gamma_of_each_feature_in_a_direction(make):
    start, way = np.array([0.4, 0.2, 0.7]), np.array([0.3, -0.2, 0.5])

    def at(value):
        kernel = RBF(start + value * way)
        if make == "novelty":
            return DualProblem.one_class(X, kernel=kernel, nu=0.42)
        if make == "regression":
            return DualProblem.regression(X, score, kernel=kernel, C=2.0, epsilon=0.15)
        return DualProblem.classification(X, y, kernel=kernel, C=1.3)

    assert max(compared(at, "gamma", 0.0, way)) < 1e-6
    with pytest.raises(ValueError, match=r"Every feature has its own gamma.*along="):
        exactly(at(0.0)).derivative("gamma")
    with pytest.raises(ValueError, match=r"along has shape \(2,\)"):
        exactly(at(0.0)).derivative("gamma", [1.0, 2.0])


def test_a_sigmoid_kernel_where_it_is_positive_on_the_free_variables():
    def at(value):
        return DualProblem.classification(X, y, kernel=Sigmoid(0.05, value), C=1.0)

    assert max(compared(at, "coef0", 0.1)) < 1e-4


@pytest.mark.parametrize("kernel", [*KERNELS[::3], Polynomial(0), Sigmoid(0.1, 0.2)], ids=str)
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


# -- slopes of paths ---------------------------------------------------------------------------------------------------


FIRST, LAST = 1.0 + (np.arange(30) % 3), 3.0 - (np.arange(30) % 3)
PATHS = {
    "C": lambda: regularization_path(X, y, kernel=RBF(0.4), C_min=0.3, C_max=5.0),
    "epsilon": lambda: epsilon_path(X, score, kernel=RBF(0.3), C=2.0, epsilon=(0.4, 0.05)),
    "nu": lambda: nu_path(X, kernel=RBF(0.3), nu=(0.2, 0.6)),
    "weights": lambda: weight_path(X, y, kernel=RBF(0.4), C=(FIRST, LAST)),
}


@pytest.mark.parametrize("name", PATHS)
def test_slopes_of_paths(name):
    """Within the longest part without an event; of weights in the direction of those at the end."""
    pytest.importorskip("scipy")
    path = PATHS[name]()
    points = np.sort(path.C if name == "C" else path.t)
    k = int(np.argmax(np.diff(points)))
    one, other = points[k : k + 2]
    t, along = 0.3 * one + 0.7 * other, None
    here = (1.0 - t) * FIRST + t * LAST
    if name == "weights":
        problem, along = DualProblem.classification(X, y, kernel=RBF(0.4), C=here), (LAST - FIRST) / here
    else:
        problem = path.problem(t) if name != "C" else DualProblem.classification(X, y, kernel=RBF(0.4), C=t)
    found = exactly(problem).derivative(name, along)
    slope, b_slope = ((ends(other) - ends(one)) / (other - one) for ends in (path.alpha, path.intercept))
    np.testing.assert_allclose(found.alpha, slope, rtol=1e-8, atol=1e-8 * np.abs(slope).max())
    np.testing.assert_allclose(found.intercept, b_slope, rtol=1e-8, atol=1e-8 * np.abs(slope).max())


# -- where there is no derivative --------------------------------------------------------------------------------------


def at_an_event():
    pytest.importorskip("scipy")  # of paths
    path = regularization_path(X, y, kernel=RBF(0.4), C_min=0.3, C_max=5.0)
    k = len(path.C) // 2
    problem = DualProblem.classification(X, y, kernel=RBF(0.4), C=path.C[k])
    solution = solve(problem, start=problem.feasible(path.alpha(path.C[k])), stop=KKTGap(1e-13), polish=True)
    return path, k, solution


def test_both_sides_of_an_event():
    path, k, solution = at_an_event()
    found = solution.derivative("C")
    assert len(found.events) == 1
    assert not found.is_two_sided
    for side, (one, other) in ((found.left, (k - 1, k)), (found.right, (k, k + 1))):
        slope = (path.alpha(path.C[other]) - path.alpha(path.C[one])) / (path.C[other] - path.C[one])
        np.testing.assert_allclose(side.alpha, slope, atol=1e-8 * np.abs(slope).max())
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


def test_a_target_that_takes_duplicates_apart_is_refused():
    twice, targets = np.tile(X, (2, 1)), np.tile(score, 2)
    solution = exactly(DualProblem.regression(twice, targets, kernel=RBF(0.3), C=2.0))
    beta = np.abs(solution.alpha[:60] + solution.alpha[60:])
    inside = (beta > 0.0) & (beta < 2.0)
    both = np.flatnonzero(inside[:30] & inside[30:])
    assert len(both)
    with pytest.raises(ValueError, match="separates them"):
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


def test_refusals():
    solution = exactly(DualProblem.classification(X, y, kernel=RBF(0.4), C=1.0))
    for name, match in (("nu", "no parameter 'nu'; it has 'C', 'weights', 'gamma'"), ("weights", "along=")):
        with pytest.raises(ValueError, match=match):
            solution.derivative(name)
    with pytest.raises(ValueError, match="omit along="):
        solution.derivative("C", np.ones(30))
    different = exactly(DualProblem.classification(X, y, kernel=RBF(0.4), C=np.linspace(1.0, 2.0, 30)))
    with pytest.raises(ValueError, match="penalties of this problem differ"):
        different.derivative("C")
    hard = exactly(DualProblem.classification(X, y, kernel=RBF(4.0), C=np.inf))
    with pytest.raises(ValueError, match="hard-margin"):
        hard.derivative("C")
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
