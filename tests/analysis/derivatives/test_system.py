"""The bordered system of the derivatives, and kernel values that do not fit into memory."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, solve
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
