"""Decomposition: which variables a working set holds, its answer, and what broken versions are told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import RBF, Decomposition, DualProblem, KKTGap, NewtonStep, SecondOrder, Status, solve
from refsvm.core.kernels.rows import megabytes
from refsvm.core.solver import decomposition
from refsvm.core.solver.decomposition import working_set
from refsvm.core.solver.rules import Rules
from refsvm.datasets import make_banana
from refsvm.testing import Case, check_engines, check_strategy
from refsvm.testing.practice import large_problem
from refsvm.testing.roles import check_large

from ...decisions import Never, state_of
from ...settings import needs_numba

BANANA = make_banana(80, rng=0)
PROBLEM = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.5), C=10.0)
RULES = {"selector": SecondOrder(), "step": NewtonStep()}


@pytest.mark.parametrize(
    ("expected", "size", "G", "alpha"),
    [
        ([0, 5], 2, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], 0.0),
        ([0, 1, 4, 5], 4, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], 0.0),
        # 0 cannot rise and 5 cannot fall
        ([1, 2, 3, 4], 4, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0, -1.0]),
        # only 0 can rise; of the others those of smallest G join
        ([0, 4, 5], 4, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        ([0, 1, 2, 3, 4, 5], 8, [5.0, 4.0, 3.0, 2.0, 1.0, 0.0], 0.0),
        # ties: the lowest index of each side, and no variable twice
        ([0, 1, 2, 3], 4, [1.0] * 6, 0.0),
    ],
)
def test_half_of_the_working_set_rises_and_half_falls(expected, size, G, alpha):
    rules = Rules(SecondOrder(), NewtonStep(), KKTGap())
    assert working_set(state_of(rules, [1.0] * 6, G, alpha), size).tolist() == expected


@pytest.mark.parametrize("size", [2, 10, 1000])
def test_the_answer_is_the_same(size, engine):
    plain = solve(PROBLEM, shrinking=False, engine=engine, **RULES)
    found = solve(PROBLEM, shrinking=Decomposition(size), engine=engine, **RULES)
    assert found.status is Status.CONVERGED
    assert PROBLEM.kkt_gap(found.alpha) <= 1.001e-3
    assert found.objective == pytest.approx(plain.objective, rel=1e-6)
    assert np.allclose(found.gradient, PROBLEM.gradient(found.alpha), atol=1e-9)


def test_sets_of_two_are_the_most_violating_pairs(monkeypatch):
    pairs = []

    def noted(state, size):
        pairs.append(sorted((state.top, state.bottom)))
        assert working_set(state, size).tolist() == pairs[-1]
        return working_set(state, size)

    monkeypatch.setattr(decomposition, "working_set", noted)
    solution = solve(PROBLEM, shrinking=Decomposition(2), engine="numpy", **RULES)
    # the only pair of a problem of two variables is solved in one step
    assert solution.iterations == len(pairs) > 10


@pytest.mark.parametrize(("size", "rows", "held"), [(10, 5, 4), (10, 4, 4), (4, 5, 4), (10, 40, 10)])
def test_a_working_set_is_even_and_its_rows_fit(size, rows, held, monkeypatch):
    sizes = []
    monkeypatch.setattr(
        decomposition, "working_set", lambda state, size: sizes.append(size) or working_set(state, size)
    )
    memory = {"cache_mb": megabytes(rows + 0.5, PROBLEM.n), "max_iter": 1}
    solve(PROBLEM, shrinking=Decomposition(size), engine="numpy", **memory, **RULES)
    assert sizes == [held]


@needs_numba
@pytest.mark.parametrize(("size", "cache_mb"), [(10, 200.0), (10, 0.01), (4, 0.002)])
def test_the_engines_take_the_same_steps(size, cache_mb):
    """The smallest cache has three rows of eighty: sets hold two variables then."""
    check_engines(
        Case("banana", PROBLEM, (*RULES.values(), KKTGap())), shrinking=Decomposition(size), cache_mb=cache_mb
    )


@dataclass(frozen=True)
class LeavesTheGradient(Decomposition):
    """Forgets what its steps did to the gradient of all other variables."""

    def steps(self, backend, limits, state, rules, budget, trace):
        before, alpha = state.gradient.copy(), state.alpha.copy()
        code = super().steps(backend, limits, state, rules, budget, trace)
        other = state.alpha == alpha
        state.gradient[other] = before[other]
        state.refresh(recompute=False)
        return code


@dataclass(frozen=True)
class StopsEarly(Decomposition):
    """Takes a small gap for none."""

    def steps(self, backend, limits, state, rules, budget, trace):
        return super().steps(backend, limits, state, rules, budget, trace) or int(state.gap < 0.1)


@pytest.mark.parametrize("broken", [LeavesTheGradient(), StopsEarly()], ids=lambda rule: type(rule).__name__)
def test_broken_versions_are_found(broken):
    with pytest.raises(AssertionError, match=type(broken).__name__):
        check_strategy(broken)


def test_the_shipped_one_passes_the_same_check():
    assert check_strategy(Decomposition()).steps > 0


@pytest.mark.parametrize("size", [2, 8])
@pytest.mark.parametrize("seed", [5, 8])
def test_it_may_take_three_times_the_steps_of_all_variables(seed, size):
    """2.6 to 3.0 times on these problems: that is sound."""
    case = Case("five hundred examples", large_problem(seed), Case.default_rules())
    check_large(case, Decomposition(size))


@pytest.mark.parametrize("C", [10.0, np.inf])
def test_without_a_gap_nothing_is_left_to_do_whatever_the_rule_says(C):
    """It has stalled, and no more: of a hard margin nothing is said by that."""
    X, y = np.array([[0.0], [1.0]]), np.array([-1, 1])
    problem = DualProblem.classification(X, y, kernel="linear", C=C)
    found = solve(
        problem, start=[-2.0, 2.0], stop=Never(), shrinking=Decomposition(2), engine="numpy", **RULES
    )
    assert found.kkt_gap <= 0.0
    assert (found.status, found.iterations) == (Status.STALLED, 0)
    assert found.reason == Status.STALLED.value
