"""Theorem 1 of Algorithm 3: F ≥ H proves the sign at the left-out example, where K′ has + Kᵣᵣ and K is PSD."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, LOODualityGap, Polynomial, solve

from ..settings import FAST

DECIDED = LOODualityGap.reasons[1]


def random_problem(seed: int, n: int = 24) -> tuple[DualProblem, int]:
    """Noisy labels, some duplicates, one of four kernels; and an example to leave out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1 + seed % 4))
    X[: n // 6] = X[n // 6 : n // 6 * 2]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    kernel = [RBF(0.5), Linear(), Polynomial(degree=2, coef0=1.0), RBF(5.0)][seed % 4]
    C = 10.0 ** rng.integers(-2, 4)
    return DualProblem.classification(X, y, kernel=kernel, C=C), int(rng.integers(2, n))


def decision(solution, r: int) -> float:
    return float(solution.problem.v[r] - solution.gradient[r] + solution.intercept)


@pytest.mark.parametrize("first", range(0, 4000, 1000))
def test_where_the_rule_fires_the_sign_is_that_of_the_optimum(first):
    fired = 0
    for seed in range(first, first + 20):
        problem, r = random_problem(seed)
        left_out = problem.without(r)
        quick = solve(left_out, stop=LOODualityGap(1e-8), engine=FAST, shrinking=bool(seed % 2))
        if quick.reason == DECIDED:
            exact = solve(left_out, stop=KKTGap(1e-10), engine=FAST, start=quick.alpha)
            assert (decision(quick, r) >= 0.0) == (decision(exact, r) >= 0.0), seed
            fired += 1
    assert fired > 5


def test_the_printed_kernel_is_none():
    """With − Kᵣᵣ, H exceeds the objective of points it should bound from below, and the rule would decide wrongly."""
    above, negative = 0, 0
    for seed in range(40):
        problem, r = random_problem(seed)
        K, v, upper, lower = problem.gram.block(np.arange(problem.n)), problem.v, problem.upper, problem.lower
        weights = upper / 2  # of one class only
        weights[r] = 0.0
        # the primal point w = 0, b = 0, for which h(xᵣ) = 0
        primal = upper.sum() - lower.sum() - (upper - lower)[r]
        for sign in (1.0, -1.0):
            translation = K - K[r][:, None] - K[r] + sign * K[r, r]
            dual = v @ weights - 0.5 * weights @ translation @ weights
            if sign > 0.0:
                assert dual <= primal + 1e-9 * (1.0 + abs(primal))
                assert np.linalg.eigvalsh(translation).min() > -1e-9 * np.abs(K).max()
            else:
                above += dual > primal + 1e-6 * abs(primal)
                negative += np.linalg.eigvalsh(translation).min() < -1e-3 * np.abs(K).max()
    assert above > 0
    assert negative > 20
