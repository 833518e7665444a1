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
    NewtonStep,
    Precomputed,
    Rounds,
    Status,
    solve,
)
from refsvm.core.guards.rounding import drifted
from refsvm.core.kernels import Gram
from refsvm.core.rounds.round import Round
from refsvm.core.solver.rules import chosen_rules, row_store
from refsvm.testing import first_difference

from ...settings import needs_numba
from .plain import OVERLAPPING as PROBLEM
from .plain import SIGNS as Y
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


@pytest.mark.slow
@pytest.mark.parametrize("cache_mb", [200.0, 0.005], ids=["all rows", "few rows"])
def test_a_cold_round_is_the_separate_solve_bit_for_bit(engine, shrinking, cache_mb):
    options = {"engine": engine, "shrinking": shrinking, "cache_mb": cache_mb}
    rounds = Rounds(PROBLEM, **options)
    stops = KKTGap(1e-3, relative=True), KKTGap(1e-7), KKTGap(1e-1)  # the first is the rule of rounds
    for (lower, upper), stop in itertools.product(boxes(), stops):
        alone = solve(PROBLEM.boxed(lower, upper), trace=True, stop=stop, **options)
        for trace in (True, False) if stop.relative else (False,):
            given = {} if stop.relative else {"stop": stop}
            found = rounds.solve(lower=lower, upper=upper, trace=trace, **given)
            assert np.array_equal(found.alpha, alone.alpha)
            assert np.array_equal(found.gradient, alone.gradient)
            assert (found.iterations, found.status, found.engine) == (alone.iterations, alone.status, engine)
            assert found.objective == alone.objective
            for name in ("iteration", "i", "j", "step", "objective", "gap"):
                assert not trace or np.array_equal(found.trace[name], alone.trace[name]), name


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


def test_limits_hold_in_each_round(engine):
    rounds = Rounds(PROBLEM, engine=engine, max_iter=5)
    for lower, upper in boxes():
        solution = rounds.solve(lower=lower, upper=upper, stop=KKTGap(1e-9))
        assert solution.iterations <= 5
        assert solution.status in (Status.MAX_ITER, Status.CONVERGED)


def test_a_stopping_rule_of_its_own_and_other_rules(engine):
    rounds = Rounds(PROBLEM, engine=engine, selector=HybridMaximumGain(), step=NewtonStep())
    tight = rounds.solve(stop=KKTGap(1e-8))
    rough = rounds.solve(stop=KKTGap(0.5))
    assert tight.kkt_gap <= 1e-8 < rough.kkt_gap <= 0.5
    assert np.array_equal(rounds.solve(stop=KKTGap(1e-8)).alpha, tight.alpha)


def test_what_a_round_is_not_given_is_that_of_the_problem():
    rounds = Rounds(PROBLEM)
    assert np.array_equal(rounds.solve().alpha, solve(PROBLEM).alpha)
    upper = np.minimum(PROBLEM.upper, 1.0)
    assert rounds.solve(upper=upper).alpha.min() < -1.0
    assert rounds.solve(upper=upper).alpha.max() <= 1.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"lower": np.ones(60)}, "lower exceeds upper"),
        ({"lower": np.ones(60), "upper": np.ones(60)}, "cannot be reached"),
        ({"lower": np.zeros(3)}, "shape"),
        ({"start": np.zeros(3)}, "start has shape"),
        ({"start": np.full(60, np.nan)}, "start contains NaN"),
        ({"stop": 1e-3}, "is not a StoppingRule"),
        ({"trace": -1}, "trace=-1"),
    ],
)
def test_bad_input_is_refused_and_the_rounds_go_on(arguments, sentence):
    rounds = Rounds(PROBLEM)
    expected = rounds.solve().alpha
    with pytest.raises(ValueError, match=sentence):
        rounds.solve(**arguments)
    assert np.array_equal(rounds.solve().alpha, expected)


def test_a_box_of_negative_size_is_refused():
    rounds = Rounds(PROBLEM, engine="numpy")
    with pytest.raises(ValueError, match=r"C=-1\.0 times the weights of a round is negative"):
        next(rounds.run([Round(C=-1.0)]))


def test_an_infeasible_start_is_repaired_with_a_warning():
    rounds = Rounds(PROBLEM, stop=KKTGap(1e-8))
    full = rounds.solve()
    left_out = PROBLEM.without(int(np.flatnonzero(full.alpha)[0]))
    with pytest.warns(UserWarning, match="start is not feasible"):
        found = rounds.solve(lower=left_out.lower, upper=left_out.upper, start=full.alpha)
    assert found.objective == pytest.approx(solve(left_out, stop=KKTGap(1e-8)).objective, rel=1e-10)


@pytest.mark.slow
def test_rounding_does_not_pile_up(engine):
    """The features are so large that every update leaves rounding in G that can be seen."""
    data = 1e5 * X
    problem = DualProblem.classification(data, Y, kernel=Linear(), C=1e-8)
    rounds = Rounds(problem, engine=engine, stop=KKTGap(1e-4))
    for _ in range(30):
        for r in (0, 1, 2):
            box = problem.without(r)
            start = box.feasible(rounds.state.alpha if hasattr(rounds, "state") else np.zeros(60))
            solution = rounds.solve(lower=box.lower, upper=box.upper, start=start)
            if solution.status is Status.CONVERGED:
                assert box.kkt_gap(solution.alpha) <= 1.02e-4


def test_a_precomputed_matrix(engine):
    K = RBF(0.5)(X, X)
    K = 0.5 * (K + K.T)
    problem = DualProblem.classification(K, Y, kernel=Precomputed(), C=5.0)
    rounds, rule = Rounds(problem, engine=engine), KKTGap(1e-3, relative=True)
    for lower, upper in boxes():
        solution = rounds.solve(lower=lower, upper=upper)
        assert solution.kernel_rows == 0
        alone = solve(problem.boxed(lower, upper), stop=rule, engine=engine)
        assert np.array_equal(solution.alpha, alone.alpha)


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
