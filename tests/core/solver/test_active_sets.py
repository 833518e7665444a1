"""Which variables matter, against the definitions; and computing several kernel rows at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, MostViolatingPair, NewtonStep, Status, solve
from refsvm.core.solver import active_sets as sets
from refsvm.core.solver.loop import iterate
from refsvm.core.solver.rules import chosen_rules, row_store
from refsvm.core.state import SolverState
from refsvm.datasets import make_chessboard, make_ringnorm
from refsvm.testing import SHRINK_EARLY

from ...settings import FAST


def after(steps: int, n: int = 60) -> SolverState:
    data = make_ringnorm(n, rng=1)
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.1), C=0.7)
    walk = iterate(problem, stop=KKTGap(1e-9))
    for _ in range(steps):
        state = next(walk)
    return state


def violators(state: SolverState) -> set[int]:
    """All members of a pair (i, j) with i in I_up, j in I_down and Gᵢ > Gⱼ, by looking at every pair."""
    up, down, G = state.alpha < state.upper, state.alpha > state.lower, state.gradient
    n = len(G)
    pairs = [(i, j) for i, j in product(range(n), repeat=2) if up[i] and down[j] and G[i] > G[j]]
    return {t for pair in pairs for t in pair}


@pytest.mark.parametrize("steps", [1, 5, 20, 40])
def test_a_variable_is_pinned_unless_it_is_in_a_violating_pair(steps):
    state = after(steps)
    assert set(np.flatnonzero(sets.distance_to_violation(state) < 0.0)) == violators(state)


@pytest.mark.parametrize("lanes", [1, 8, 32])
@pytest.mark.parametrize("steps", [5, 40])
def test_the_active_set_is_all_but_the_pinned_ones_and_a_filling(steps, lanes):
    state = after(steps)
    A = sets.active_set(state, lanes)
    free = np.flatnonzero((state.alpha > state.lower) & (state.alpha < state.upper))
    needed = violators(state) | set(free)
    assert needed <= set(A)
    assert {state.top, state.bottom} <= set(A)
    assert len(A) == len(state.alpha) or (len(A) % lanes == 0 and len(A) < len(needed) + lanes)
    assert (np.diff(A) > 0).all()


@pytest.mark.parametrize("most", [2, 8, 60])
def test_there_is_no_block_of_rows_that_are_there_or_of_most_of_the_problem(most):
    state = after(6)
    n, B = len(state.alpha), sets.block(after(6), most)
    is_small = len(B) > 0
    assert is_small == (most < 60)
    if is_small:
        assert len(B) <= 0.8 * n
        state.rows.fetch(B)
        assert len(sets.block(state, most)) == 0
    # one row of them is missing
    for i in B[:1]:
        state = after(6)
        state.rows.fetch(np.setdiff1d(B, [i]))
        if state.rows.slots[i] < 0:
            np.testing.assert_array_equal(sets.block(state, most), B)


PROBLEMS = {
    "ringnorm": (make_ringnorm(400, rng=2), 0.1, 2.0),
    "chessboard": (make_chessboard(400, rng=2), 0.5, 100.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.filterwarnings("ignore:float32 kernel values")
@pytest.mark.parametrize("options", [{}, {"cache_mb": 0.5}, {"cache_dtype": "float32"}], ids=repr)
def test_several_rows_at_once_change_no_answer(name, options, monkeypatch):
    policy = replace(SHRINK_EARLY, full_gram_up_to=0, block=32)
    data, gamma, C = PROBLEMS[name]

    def problem() -> DualProblem:
        return DualProblem.classification(data.X, data.y, kernel=RBF(gamma), C=C)

    plain = solve(problem(), stop=KKTGap(1e-7), engine=FAST, shrinking=False)
    costly, blocks, products = problem(), [], []
    costly.gram.facts = replace(costly.gram.facts, prefers_batches=True)
    evaluate, choose = costly.gram.block, "refsvm.core.solver.shrinking.block"
    monkeypatch.setattr(choose, lambda state, most: blocks.append(0) or sets.block(state, most))
    costly.gram.block = lambda rows, *rest, **more: (
        products.append(len(rows)) or evaluate(rows, *rest, **more)
    )
    result = solve(costly, stop=KKTGap(1e-7), engine=FAST, shrinking=policy, **options)
    assert result.status is Status.CONVERGED
    rough = 1e-5 if "cache_dtype" in options else 1e-9
    assert result.objective == pytest.approx(plain.objective, rel=rough)
    assert max(products[1:]) > 1
    assert blocks


@pytest.mark.parametrize("most", [2, 4, 6])
def test_a_block_by_sorting_all_variables(most):
    """The free variables, and of those at a bound half as many on each side, the most violating first."""
    rng = np.random.default_rng(most)
    X, y = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.5, 1, -1)
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=1.0)
    rules = chosen_rules(MostViolatingPair(), NewtonStep(), KKTGap())
    alpha = y * rng.choice([0.0, 0.0, 0.0, 1.0, 0.4], size=30)
    rows, gradient = row_store(problem, rules, 200.0), rng.normal(size=30)
    state = rules.begin(problem, problem.feasible(alpha), rows, gradient=gradient)
    alpha, G, low, high = state.alpha, state.gradient, state.lower, state.upper
    free = [i for i in range(30) if low[i] < alpha[i] < high[i]]
    rising = [i for i in range(30) if alpha[i] == low[i] < high[i] and G[i] > G[state.bottom]]
    falling = [i for i in range(30) if alpha[i] == high[i] > low[i] and G[i] < G[state.top]]
    rise, fall = sorted(rising, key=lambda i: -G[i]), sorted(falling, key=lambda i: G[i])
    chosen = {*free, *rise[: most // 2], *fall[: most // 2]}
    assert len(rising) > most // 2
    found = sets.block(state, most)
    assert found.tolist() == (sorted(chosen) if len(chosen) <= 24 else [])
    assert (state.rows.slots[found] >= 0).all()


def test_of_equally_near_variables_the_first_ones_fill_the_set(monkeypatch):
    """Two in a violating pair and a filling of three out of 58 that are equally far."""
    state = after(1)
    state.alpha[:] = state.lower
    distance = np.ones(60)
    distance[[40, 50]] = -1.0
    monkeypatch.setattr(sets, "distance_to_violation", lambda _: distance.copy())
    assert sets.active_set(state, 5).tolist() == [0, 1, 2, 40, 50]


@pytest.mark.parametrize("lanes", [7, 64, 100])
def test_the_nearest_variables_fill_the_set(lanes, monkeypatch):
    """Of many in any order, one of which is in a violating pair."""
    rng, zero = np.random.default_rng(lanes), np.zeros(1000)
    state = SimpleNamespace(alpha=zero, lower=zero, upper=zero + 1.0)
    for _ in range(400):
        distance = rng.permutation(np.arange(1000.0))
        monkeypatch.setattr(sets, "distance_to_violation", lambda _, of=distance: of.copy())
        assert sets.active_set(state, lanes).tolist() == np.flatnonzero(distance < lanes).tolist()
