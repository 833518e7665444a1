"""Rounds: each one is the solve that it stands for, whatever lay before it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    Linear,
    LOODualityGap,
    NewtonStep,
    PlanningAheadStep,
    Rounds,
    Status,
    WorkingSetGap,
    solve,
)
from refsvm.core.guards.rounding import drifted
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import chosen_rules, row_store
from refsvm.testing import first_difference

from ...settings import needs_numba
from .plain import OVERLAPPING as PROBLEM
from .plain import SIXTY as X

FOLDS = np.arange(60) % 4


def boxes():
    """The whole problem, folds left out, single examples left out, other C."""
    yield PROBLEM.lower, PROBLEM.upper
    for fold in range(4):
        yield np.where(fold == FOLDS, 0.0, PROBLEM.lower), np.where(fold == FOLDS, 0.0, PROBLEM.upper)
    for r in (0, 17, 59):
        yield PROBLEM.without(r).lower, PROBLEM.without(r).upper
    for factor in (0.01, 3.0):
        yield factor * PROBLEM.lower, factor * PROBLEM.upper


RULES = {
    "all rows": {},
    "few rows": {"cache_mb": 0.005},
    "five sets to plan with": {"step": PlanningAheadStep(history=5)},
    "other rules": {"selector": HybridMaximumGain(), "step": NewtonStep()},
}
STOPS = [
    KKTGap(1e-3, relative=True), KKTGap(1e-7), LOODualityGap(example=0), KKTGap(1e-1), WorkingSetGap(1e-3),
    LOODualityGap(example=0, variables=1), KKTGap(1e-6),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_a_cold_round_is_the_separate_solve_bit_for_bit(name, engine, shrinking):
    """After rounds of any box and to any rule, which may have plans, memories and rows of their own."""
    options = {"engine": engine, "shrinking": shrinking, **RULES[name]}
    rounds = Rounds(PROBLEM, **options)
    for (lower, upper), stop in itertools.product(boxes(), STOPS):
        if stop.left_out and lower[0] < upper[0]:
            continue
        alone = solve(PROBLEM.boxed(lower, upper), trace=True, stop=stop, **options)
        given = {} if stop == STOPS[0] else {"stop": stop}  # the first is the rule of rounds
        for trace in (True, False) if stop == STOPS[0] else (False,):
            found = rounds.solve(lower=lower, upper=upper, trace=trace, **given)
            assert np.array_equal(found.alpha, alone.alpha)
            assert np.array_equal(found.gradient, alone.gradient)
            assert (found.iterations, found.reason, found.engine) == (alone.iterations, alone.reason, engine)
            assert found.objective == alone.objective
            for column in ("iteration", "i", "j", "step", "objective", "gap"):
                assert not trace or np.array_equal(found.trace[column], alone.trace[column]), column


@needs_numba
def test_the_engines_agree_over_a_chain_of_warm_rounds(shrinking):
    chains = {}
    for engine in ("numpy", "numba"):
        rounds, start, chains[engine] = Rounds(PROBLEM, engine=engine, shrinking=shrinking), None, []
        for lower, upper in boxes():
            if start is not None:
                start = rounds.boxed(lower, upper).feasible(start)
            chains[engine].append(rounds.solve(lower=lower, upper=upper, start=start, trace=True))
            start = chains[engine][-1].alpha
    for one, other in zip(*chains.values(), strict=True):
        assert first_difference(one, other) is None


def test_every_kernel_row_is_computed_once(engine):
    counted = []
    gram = Gram(RBF(0.5), X)
    evaluate = gram.block
    gram.block = lambda rows, *rest, **more: counted.append(len(rows)) or evaluate(rows, *rest, **more)
    rounds = Rounds(DualProblem(gram, PROBLEM.v, 0.0, PROBLEM.lower, PROBLEM.upper), engine=engine)
    total = sum(rounds.solve(lower=lower, upper=upper).kernel_rows for lower, upper in boxes())
    rounds.problem.gradient(rounds.state.alpha)
    rounds.problem.gram.block(np.arange(60), np.arange(3))
    assert total <= 60
    assert sum(counted) == rounds.rows.computed <= 60


def test_the_decision_values_of_held_out_examples_are_read_off_the_state(engine):
    rounds = Rounds(PROBLEM, engine=engine, stop=KKTGap(1e-6))
    for lower, upper in boxes():
        solution = rounds.solve(lower=lower, upper=upper)
        expected = RBF(0.5)(X, X) @ solution.alpha + solution.intercept
        np.testing.assert_allclose(solution.decision_values, expected, rtol=0, atol=1e-12)
        assert (solution.alpha[lower == upper] == 0.0).all()


def test_with_an_origin_nothing_depends_on_the_rounds_between(engine):
    def from_full(between):
        rounds = Rounds(PROBLEM, engine=engine, stop=KKTGap(1e-6))
        full = rounds.solve()
        for lower, upper in itertools.islice(boxes(), between):
            rounds.solve(lower=lower, upper=upper, start=rounds.boxed(lower, upper).feasible(full.alpha))
        left_out = rounds.boxed(PROBLEM.without(5).lower, PROBLEM.without(5).upper)
        seed = left_out.feasible(full.alpha)
        return rounds.solve(lower=left_out.lower, upper=left_out.upper, start=seed, origin=full)

    expected = from_full(0)
    for between in (1, 4, 8):
        assert first_difference(expected, from_full(between)) is None


def test_solutions_are_copies():
    rounds = Rounds(PROBLEM)
    first = rounds.solve()
    kept = first.alpha.copy(), first.gradient.copy()
    rounds.solve(lower=PROBLEM.without(0).lower, upper=PROBLEM.without(0).upper)
    assert np.array_equal(first.alpha, kept[0])
    assert np.array_equal(first.gradient, kept[1])


def test_what_a_round_is_not_given_is_that_of_the_problem():
    rounds = Rounds(PROBLEM)
    assert np.array_equal(rounds.solve().alpha, solve(PROBLEM).alpha)
    upper = np.minimum(PROBLEM.upper, 1.0)
    assert rounds.solve(upper=upper).alpha.min() < -1.0
    assert rounds.solve(upper=upper).alpha.max() <= 1.0


def test_closing_is_harmless(engine):
    rounds = Rounds(PROBLEM, engine=engine)
    expected = rounds.solve().alpha
    rounds.close()
    rounds.close()
    assert np.array_equal(rounds.solve().alpha, expected)


def test_rounding_counts_where_no_pair_is_left_too():
    """A round of one class takes no step; b is read from a G that may be what is left of large sums."""
    problem = PROBLEM.boxed(np.zeros(PROBLEM.n), np.zeros(PROBLEM.n))
    rules = chosen_rules(None, None, None)
    state = rules.begin(problem, np.zeros(problem.n), row_store(problem, rules, 200.0))
    assert state.gap == -np.inf
    assert not drifted(state, 1e-6)
    state.updates, state.largest = 10, 1e12
    assert drifted(state, 1e-6)


def far_apart():
    """Two classes in features of 10⁸: where all goes well, the α of the optimum are of 10⁻¹⁶."""
    rng, y = np.random.default_rng(0), np.where(np.arange(20) % 2, 1, -1)
    return 5e7 * (rng.normal(size=(20, 3)) + 2.0 * y[:, None]), y


@pytest.mark.parametrize("seed", range(3))
def test_a_start_of_large_values_spoils_neither_the_gradient_nor_the_sum(engine, seed):
    """The values fall from 10³ to 10⁻¹⁶; what their sum had been rounded by, 10⁻¹³, would decide everything."""
    data, y = far_apart()
    problem = DualProblem.classification(data, y, kernel=Linear(), C=1883.0)
    start = problem.feasible((problem.lower + problem.upper) * np.random.default_rng(seed).uniform(size=20))
    warm, cold = (solve(problem, start=at, engine=engine, stop=KKTGap(1e-6)) for at in (start, None))
    assert warm.status is Status.CONVERGED
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert abs(warm.alpha.sum()) <= 1e-10 * np.abs(warm.alpha).sum()
    h, expected = (problem.v - each.gradient + each.intercept for each in (warm, cold))
    np.testing.assert_allclose(h, expected, atol=1e-6)
