"""The leave-one-out rule: its bound, its sign, what it refuses. Contract and twin are checked by `check_strategy`."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, LOODualityGap, Polynomial, Precomputed, iterate, solve
from refsvm.core.stopping.loo_duality_gap import CODE, EXAMPLE, HEAD, NEXT, F, H
from refsvm.datasets import load
from refsvm.testing import practice_problems

from ...settings import FAST, INTERPRETED

DECIDED = LOODualityGap.reasons[1]
SEEDS = range(4)


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


@pytest.mark.parametrize("seed", SEEDS)
def test_where_the_rule_fires_the_sign_is_that_of_the_optimum(seed):
    fired = 0
    for k in range(20):
        problem, r = random_problem(1000 * seed + k)
        left_out = problem.without(r)
        quick = solve(left_out, stop=LOODualityGap(1e-8), engine=FAST, shrinking=False)
        if quick.reason != DECIDED:
            continue
        fired += 1
        exact = solve(left_out, stop=KKTGap(1e-10), engine=FAST, start=quick.alpha)
        assert (decision(quick, r) >= 0.0) == (decision(exact, r) >= 0.0)
    assert fired > 5


def test_it_fires_under_shrinking_too():
    data, most = load("heart"), 60 if INTERPRETED else 270
    problem = DualProblem.classification(data.X[:most], data.y[:most], kernel=Linear(), C=1.0)
    for r in range(5):
        quick = solve(problem.without(r), stop=LOODualityGap(1e-8), engine=FAST)
        exact = solve(problem.without(r), stop=KKTGap(1e-8), engine=FAST)
        assert quick.reason == DECIDED
        assert (decision(quick, r) >= 0.0) == (decision(exact, r) >= 0.0)


def translated(problem: DualProblem, r: int, sign: float = 1.0) -> np.ndarray:
    """K′ᵢⱼ = Kᵢⱼ − Kᵣᵢ − Kᵣⱼ + Kᵣᵣ; the paper prints the last sign as a minus."""
    K = problem.gram.block(np.arange(problem.n))
    return K - K[r][:, None] - K[r] + sign * K[r, r]


@pytest.mark.parametrize("name", ["overlapping classes", "duplicates", "separable classes"])
def test_the_memory_holds_the_gradient_of_the_translated_problem(name):
    left_out, rule = practice_problems()[name].without(4), LOODualityGap(1e-6)
    states = iterate(left_out, stop=rule)
    for state in states:
        if state.iteration == 15:
            break
    eta, gradient, _, v = state.stop_memory[HEAD:].reshape(4, -1)
    assert state.stop_memory[EXAMPLE] == 4
    assert np.abs(eta).max() > 0.0
    assert ((left_out.lower <= eta) & (eta <= left_out.upper)).all()
    K = translated(left_out, 4)
    size = np.abs(eta).sum() * np.abs(K).max() + 1.0
    np.testing.assert_allclose(gradient, v - K @ eta, atol=1e-13 * size)
    np.testing.assert_allclose(state.stop_memory[H], eta @ v - 0.5 * eta @ K @ eta, atol=1e-12 * size)
    # with the sign as printed the same η has another gradient
    assert np.abs(gradient - (v - translated(left_out, 4, -1.0) @ eta)).max() > 1e-6


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
            translation = translated(problem, r, sign)
            dual = v @ weights - 0.5 * weights @ translation @ weights
            if sign > 0.0:
                assert dual <= primal + 1e-9 * (1.0 + abs(primal))
                assert np.linalg.eigvalsh(translation).min() > -1e-9 * np.abs(K).max()
            else:
                above += dual > primal + 1e-6 * abs(primal)
                negative += np.linalg.eigvalsh(translation).min() < -1e-3 * np.abs(K).max()
    assert above > 0
    assert negative > 20


def test_no_decision_for_an_indefinite_kernel():
    """Theorem 1 needs a convex F."""
    problem = practice_problems()["indefinite matrix"]
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        solution = solve(problem.without(3), stop=LOODualityGap(), engine=FAST, shrinking=False)
    assert solution.reason == LOODualityGap.reasons[0]


def test_it_cannot_fire_where_the_optimum_has_h_zero_at_the_example():
    """Two classes mirrored at the left-out example."""
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [-2.0]])
    problem = DualProblem.classification(X, [1, 1, -1, 1, -1], kernel=RBF(0.3), C=10.0).without(0)
    solution = solve(problem, stop=LOODualityGap(1e-9), engine=FAST)
    assert solution.reason == LOODualityGap.reasons[0]
    assert abs(decision(solution, 0)) < 1e-9


def test_it_saves_steps_on_linear_kernels():
    data = load("heart")
    most = 50 if INTERPRETED else 100
    problem = DualProblem.classification(data.X[:most], data.y[:most], kernel=Linear(), C=10.0)
    early, late = (
        sum(solve(problem.without(r), stop=stop, engine=FAST, shrinking=False).iterations for r in range(8))
        for stop in (LOODualityGap(), KKTGap())
    )
    assert early < 0.6 * late


def test_asking_again_changes_nothing():
    problem, r = random_problem(5)
    rule = LOODualityGap(1e-9)
    for state in iterate(problem.without(r), stop=rule):
        before = state.stop_memory.copy()
        first = rule.check(state)
        after = state.stop_memory.copy()
        assert rule.check(state) == first
        assert np.array_equal(state.stop_memory, after)
        assert first in (0, 1, 2)
        if first == 0:
            assert not np.array_equal(before, after)  # η has moved with α
    assert state.stop_memory[CODE] in (0.0, 2.0)
    assert state.stop_memory[F] > 0.0


@pytest.mark.parametrize(
    ("rule", "change", "words"),
    [
        (LOODualityGap(), lambda p: p, "needs one left-out example, with L = U = 0, but the problem has 0"),
        (LOODualityGap(), lambda p: p.without(1).without(2), "but the problem has 2"),
        (LOODualityGap(example=3), lambda p: p.without(1), "example=3 is not left out of the problem"),
        (LOODualityGap(example=99), lambda p: p.without(1), "example=99 is not left out of the problem"),
        (LOODualityGap(example=0), lambda _: practice_problems()["any box"], "a problem with Σα = 0"),
    ],
)
def test_what_it_refuses(rule, change, words):
    problem = change(practice_problems()["overlapping classes"])
    with pytest.raises(ValueError, match=words):
        solve(problem, stop=rule)


@pytest.mark.parametrize(
    ("argument", "value"), [("tol", 0.0), ("tol", float("nan")), ("example", -1), ("example", 1.5)]
)
def test_bad_arguments(argument, value):
    with pytest.raises(ValueError, match=argument):
        LOODualityGap(**{argument: value})


def test_a_named_example_among_several():
    problem = practice_problems()["overlapping classes"].without(1).without(2)
    solution = solve(problem, stop=LOODualityGap(1e-6, example=2), engine=FAST, shrinking=False)
    exact = solve(problem, stop=KKTGap(1e-10), engine=FAST)
    assert (decision(solution, 2) >= 0.0) == (decision(exact, 2) >= 0.0)


def test_a_kernel_matrix_works_like_its_kernel():
    data = load("heart")
    X, y = data.X[:60], data.y[:60]
    one, other = (
        solve(
            DualProblem.classification(data, y, kernel=kernel).without(7),
            stop=LOODualityGap(),
            shrinking=False,
        )
        for data, kernel in ((X, Linear()), (X @ X.T, Precomputed()))
    )
    assert one.reason == other.reason
    assert abs(one.iterations - other.iterations) <= 5


def test_f_is_evaluated_in_every_tenth_step_once_h_has_passed_it():
    """In between nothing is decided: to look for b̂ costs as much as many steps."""
    evaluated = 0
    for seed in range(6):
        problem, r = random_problem(seed, n=30)
        looked = []
        for state in iterate(problem.without(r), stop=LOODualityGap(1e-4)):
            due = float(state.stop_memory[NEXT])
            if not looked or due != looked[-1][1]:
                looked.append((state.iteration, due))
        steps = [(at, due) for at, due in looked if due > 0.0]
        evaluated += len(steps)
        # when it is due next was written in the check before this step
        assert all(due == at - 1 + 10 for at, due in steps), steps
        assert (np.diff([at for at, _ in steps]) >= 10).all()
    assert evaluated > 6
