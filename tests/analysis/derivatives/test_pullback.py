"""Solution.pullback: the adjoint has the gradients that the forward derivatives have."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, solve

rng = np.random.default_rng(1)
X, T = rng.normal(size=(25, 2)), rng.normal(size=(6, 2))
score = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=25)
y = np.where(score > np.median(score), 1, -1)
PROBLEMS = {
    "two classes": DualProblem.classification(X, y, kernel=RBF(0.5), C=1.5),
    "regression": DualProblem.regression(X, score, kernel=Polynomial(3, 0.4, 1.0), C=0.7, epsilon=0.2),
    "novelty": DualProblem.one_class(X, kernel=RBF(0.4), nu=0.43),
    "a gamma of each feature": DualProblem.classification(X, y, kernel=RBF([0.5, 0.2]), C=1.5),
    "around the mean": DualProblem.classification(X + 1e3, y, kernel=Linear(), C=0.5),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("loss", ["alpha", "intercept", "decision_function"])
def test_all_gradients_are_those_of_derivatives(name, loss):
    problem = PROBLEMS[name]
    solution = solve(problem, stop=KKTGap(1e-12), polish=True)
    by_alpha, by_h = rng.normal(size=problem.n), rng.normal(size=6)
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


def test_duplicates_have_a_gradient_of_h_alone():
    twice = DualProblem.classification(np.tile(X, (2, 1)), np.tile(y, 2), kernel=RBF(0.5), C=0.75)
    solution = solve(twice, stop=KKTGap(1e-12), polish=True)
    with pytest.raises(ValueError, match="no unique derivative"):
        solution.pullback(np.eye(50)[solution.derivative("C").dependent[0]])
    assert np.isfinite(solution.pullback(X=T, decision_function=np.ones(6))["gamma"])
