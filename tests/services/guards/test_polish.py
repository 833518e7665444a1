"""Polishing: exact where it is possible, harmless where it is not."""

from dataclasses import replace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, Precomputed, Status, solve
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.solver.rules import chosen_rules
from refsvm.services.guards.polish import MOST_FREE_VARIABLES, polish


def polished(solution):
    """Polish a copy of where a solve ended; return the solution itself if that changed nothing."""
    rows, alpha = stored_rows(solution.problem.gram), solution.alpha.copy()
    state = chosen_rules(None, None, None).begin(solution.problem, alpha, rows, gradient=solution.gradient)
    if polish(state):
        return replace(solution, alpha=state.alpha, gradient=state.gradient)
    assert np.array_equal(state.alpha, solution.alpha)
    assert np.array_equal(state.gradient, solution.gradient)
    return solution


def problem(seed, n=30, kernel=None, C=1.0, copies=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).repeat(copies, axis=0)
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)
    y[:copies], y[-copies:] = 1, -1
    return DualProblem.classification(X, y, kernel=kernel or RBF(0.5), C=C)


def same_but_better(before, after):
    dual = before.problem
    assert after.kkt_gap <= before.kkt_gap
    assert after.objective >= before.objective * (1 - 1e-14)
    assert (dual.lower <= after.alpha).all()
    assert (after.alpha <= dual.upper).all()
    assert after.alpha.sum() == pytest.approx(dual.z, abs=1e-13 * np.abs(after.alpha).sum())
    np.testing.assert_allclose(after.gradient, dual.gradient(after.alpha), rtol=0, atol=1e-12)
    for name in ("iterations", "kernel_rows", "kernel_hits", "status", "engine"):
        assert getattr(after, name) == getattr(before, name)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=repr)
def test_a_converged_solution_becomes_the_optimum(seed, copies, kernel):
    """Copies and the linear kernel make K_FF singular."""
    dual = problem(seed, n=30 // copies, copies=copies, kernel=kernel)
    rough = solve(dual, stop=KKTGap(1e-4))
    before = rough.alpha.copy()
    exact = polished(rough)
    same_but_better(rough, exact)
    assert np.array_equal(rough.alpha, before)
    if exact is not rough:
        assert exact.kkt_gap < 1e-12
        assert exact.objective == pytest.approx(solve(dual, stop=KKTGap(1e-9)).objective, rel=1e-12)


def test_most_rough_solutions_can_be_polished():
    gaps = [polished(solve(problem(seed), stop=KKTGap(1e-3))).kkt_gap for seed in range(40)]
    assert np.mean(np.array(gaps) < 1e-12) > 0.8


def test_what_cannot_be_polished_is_returned_as_it_is():
    unfinished = solve(problem(0), max_iter=3)
    assert unfinished.status is Status.MAX_ITER
    assert np.array_equal(solve(problem(0), max_iter=3, polish=True).alpha, unfinished.alpha)
    steps = solve(problem(0), shrinking=False).iterations
    nearly = [solve(problem(0), shrinking=False, max_iter=steps - 1, polish=p).kkt_gap for p in (False, True)]
    assert nearly[0] == nearly[1]
    bounded = solve(problem(0, C=1e-9))
    assert np.isin(np.abs(bounded.alpha), [0.0, 1e-9]).all()
    assert polished(bounded) is bounded
    many = solve(problem(0, n=200, kernel=RBF(50.0), C=1e3))
    assert np.count_nonzero(many.alpha) > MOST_FREE_VARIABLES
    assert polished(many) is many


def test_wrong_bounds_are_noticed():
    """So rough that variables which belong at a bound are free."""
    rough = [solve(problem(seed, C=100.0), stop=KKTGap(1.0)) for seed in range(40)]
    for solution in rough:
        same_but_better(solution, polished(solution))
    assert any(polished(solution) is solution for solution in rough)


def test_an_indefinite_kernel_is_not_led_to_a_saddle():
    """f(a, -a) = a/5 + a²: the point where both gradients agree is the minimum."""
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    dual = DualProblem(Gram(Precomputed(), K), np.array([0.2, 0.0]), 0.0, -np.ones(2), np.ones(2))
    rough = solve(dual, start=[-0.05, 0.05], stop=KKTGap(0.15))
    assert rough.iterations == 0
    assert dual.kkt_gap(np.array([-0.1, 0.1])) == pytest.approx(0.0, abs=1e-15)
    assert polished(rough) is rough


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e17])
def test_the_size_of_the_kernel_does_not_matter(scale):
    moved = 0
    for seed in range(10):
        dual = problem(seed, n=10, copies=3, kernel=lambda X, Z: scale * RBF(0.5)(X, Z), C=1 / scale)
        rough = solve(dual, stop=KKTGap(1e-3))
        exact = polished(rough)
        moved += exact is not rough
        assert abs(exact.alpha.sum()) <= 1e-14 * np.abs(exact.alpha).sum()
    assert moved >= 5
