"""The ball around the midpoint of two machines, line by line; the signs that it and the duality gap prove."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, TOP, BallRule, DualProblem, KKTGap, Linear, LOODualityGap, Polynomial, solve
from refsvm.core.stopping.midpoint import certain_sign, gap

from ...settings import FAST

SEEDS = range(4)
EXACT = KKTGap(1e-10)


def random_problem(rng: np.random.Generator, n: int) -> DualProblem:
    """Noisy labels, duplicates, example weights in every other one, one of three kernels."""
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    X[: n // 6] = X[n // 6 : n // 6 * 2]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:4] = 1, -1, 1, -1
    kernel = [RBF(0.5), Linear(), Polynomial(degree=2, coef0=1.0)][int(rng.integers(3))]
    C = 10.0 ** rng.integers(-2, 3) * (rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else 1.0)
    return DualProblem.classification(X, y, kernel=kernel, C=C)


def feasible(problem: DualProblem, rng: np.random.Generator) -> np.ndarray:
    """Any point of the box with the right sum."""
    return problem.feasible(rng.uniform(problem.lower, problem.upper))


def quadratic(K: np.ndarray, alpha: np.ndarray) -> float:
    return float(alpha @ K @ alpha)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_line_of_the_proof(seed):
    """(1) and (2) for machines that were not trained, with one example left out and with several."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        full = random_problem(rng, 20)
        problem = full.without(rng.choice(np.arange(4, 20), size=int(rng.integers(1, 6)), replace=False))
        K, v, lower, upper = problem.gram.block(np.arange(20)), problem.v, problem.lower, problem.upper
        best = solve(problem, stop=EXACT, engine=FAST)
        # w need not be feasible for the problem without R: a machine of all examples is as good
        w, tilde, b = feasible(full, rng), feasible(problem, rng), rng.normal()
        P, D, apart = problem.primal_objective(w, b=b), problem.objective(tilde), quadratic(K, w - tilde)
        excess, its = v - K @ w - b, best.gradient - best.intercept
        # the optimum itself is known to its duality gap
        slack = best.duality_gap + 1e-9 * (abs(P) + abs(D) + apart)
        assert (
            pytest.approx(0.5 * apart + gap(tilde, excess, lower, upper, 0.0), rel=1e-9, abs=slack) == P - D
        )
        assert P - best.primal_objective >= 0.5 * quadratic(K, w - best.alpha) - slack
        square = 0.25 * apart + gap(tilde, excess, lower, upper, 0.0)
        middle = quadratic(K, 0.5 * (w + tilde) - best.alpha)
        assert middle + gap(tilde, its, lower, upper, 0.0) <= square + 3.0 * slack
        # for w = w̃ it is the duality gap
        own = gap(tilde, v - K @ tilde - b, lower, upper, 0.0)
        assert own == pytest.approx(problem.primal_objective(tilde, b=b) - D, rel=1e-9, abs=slack)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_proved_sign_is_that_of_every_minimiser(seed):
    """Of losses at τ, of which t is known up to x times the distances, with α̃ near what the minimisers ask for."""
    rng = np.random.default_rng(seed)
    proved = 0
    for _ in range(400):
        n = 12
        y, C = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.choice([0.0, 1.0, 2.5], n)
        lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
        tau, apart, x = (
            rng.normal(rng.choice([-1.0, 0.0, 1.0]), 1.0, n),
            rng.uniform(0.0, 1.5, n),
            rng.uniform(),
        )
        losses = np.array([np.maximum(upper * (tau - zeta), lower * (tau - zeta)).sum() for zeta in tau])
        best = tau[losses <= losses.min() + 1e-12]
        zeta, noise = rng.uniform(best.min(), best.max()), rng.choice([0.0, 0.1, 1.0]) * rng.normal(size=n)
        alpha = np.clip(np.where(tau > zeta, upper, lower) + noise, lower, upper)
        # all that (2) allows: on the edge of the ball
        square = x * x + gap(alpha, tau - zeta, lower, upper, 0.0)
        t = tau + x * apart * rng.uniform(-1.0, 1.0, n)
        sign = certain_sign(t, apart, square, 0.0, alpha, lower, upper)
        assert certain_sign(-t, apart, square, 0.0, -alpha, -upper, -lower) == -sign
        proved += sign != 0
        assert sign * best.min() >= 0.0
        assert sign * best.max() >= 0.0
    assert proved > 50


def test_a_tie_proves_nothing():
    lower, upper = np.array([0.0, -1.0]), np.array([1.0, 0.0])
    still, alpha = np.zeros(2), np.array([1.0, -1.0])
    assert certain_sign(np.array([1.0, -1.0]), still, 0.0, 0.0, alpha, lower, upper) == 0
    assert certain_sign(np.array([1.0, 1.0]), still, 0.0, 0.0, alpha, lower, upper) == 1
    assert certain_sign(np.array([-1.0, -1.0]), still, 0.0, 0.0, alpha, lower, upper) == -1
    assert certain_sign(np.array([1.0, 1.0]), still, 0.0, 1.5, alpha, lower, upper) == 0
    assert certain_sign(np.array([1.0, -1.0]), still, 0.0, 0.0, 0.0 * alpha, 0.0 * lower, 0.0 * upper) == 0


@pytest.mark.parametrize("unit", [2.0**-40, 1.0, 2.0**40])
@pytest.mark.parametrize(
    "more", [0.0, 2.0**-52, 1e-12, -1e-12, 5e-11, -5e-11, 2e-10, -2e-10, 1e-6, -1e-3, 1.0]
)
def test_a_side_proves_a_sign_by_more_than_the_rounding_of_the_sums(more, unit):
    """One side of (3) exceeds the other by so much of it: 1e-10 is rounding, on either side and in any unit of C."""
    still, alpha = np.zeros(4), np.zeros(4)
    greater, less = unit * np.array([0.25, 0.75]) * (1.0 + more), unit * np.array([0.5, 0.5])
    zero, proved = np.zeros(2), int(np.sign(more)) if abs(more) > 1e-10 else 0
    lower, upper = np.append(zero, -less), np.append(greater, zero)
    t, alpha = np.array([1.0, 1.0, -0.5, -0.5]), np.append(greater, -less)
    assert certain_sign(t, still, 0.0, 0.0, alpha, lower, upper) == proved
    assert certain_sign(-t, still, 0.0, 0.0, -alpha, -upper, -lower) == -proved


@pytest.mark.parametrize("kind", [BallRule, LOODualityGap])
@pytest.mark.parametrize("several", [False, True])
def test_signs_are_those_of_refits_at_1e_10(several, kind):
    """With and without shrinking. Some seeds decide without a step; of 25 problems there may be none."""
    proved = early = 0
    for seed in SEEDS:
        rng = np.random.default_rng(100 + seed)
        for k in range(25):
            n = int(rng.integers(8, 30))
            full = random_problem(rng, n)
            R = rng.choice(np.arange(4, n), size=int(rng.integers(2, 5)) if several else 1, replace=False)
            problem, solved = (
                full.without(R),
                solve(full, stop=KKTGap(10.0 ** -rng.integers(1, 6)), engine=FAST),
            )
            every, known = int(rng.integers(1, 7)), solved if rng.random() < 0.8 else None
            rule = BallRule(1e-10, every=every, solved=known)
            if kind is LOODualityGap:
                rule = LOODualityGap(1e-10, example=int(R[0]) if several else None)
            start = TOP().seed(solved, problem)
            quick = solve(problem, start=start, stop=rule, engine=FAST, shrinking=k % 4 == 3)
            code = rule.reasons.index(quick.reason) + 1
            if code == 1:
                continue
            proved, early = proved + 1, early + (quick.iterations == 0)
            exact = solve(problem, stop=EXACT, engine=FAST).decision_values[R]
            expected = {2: [True], 3: [False], 4: quick.decision_values[R] >= 0.0}[code]
            if kind is LOODualityGap:  # the sign of one example, which the decision value has
                exact, expected = exact[0], quick.decision_values[R[0]] >= 0.0
            assert np.all((exact >= 0.0) == expected), (seed, problem)
    assert proved > 20
    assert early > 5 or kind is LOODualityGap
