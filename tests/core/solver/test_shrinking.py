"""Shrinking: what a restricted solve hands back to the full problem."""

from __future__ import annotations

import gc
import warnings
from dataclasses import dataclass
from types import SimpleNamespace
from weakref import WeakSet

import numpy as np
import pytest

from refsvm import (
    RBF,
    Decomposition,
    DualProblem,
    KKTGap,
    LIBSVMShrinking,
    NoShrinking,
    PlanningAheadStep,
    Precomputed,
    Restriction,
    SecondOrder,
    Shrinking,
    Status,
    StoppingRule,
    solve,
)
from refsvm.core.engine.limits import Limits
from refsvm.core.kernels.cached_rows import CachedRows
from refsvm.core.kernels.rows import megabytes
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.readable import NumPyBackend
from refsvm.core.solver.rules import chosen_rules, row_store, starting_point
from refsvm.core.solver.run import Run
from refsvm.core.solver.shrinking import ShrinkingPolicy, fits, restricted
from refsvm.datasets import make_banana, make_waveform
from refsvm.testing import SHRINK_EARLY

from ...decisions import Never

BANANA = make_banana(80, rng=3)
PROBLEM = DualProblem.classification(BANANA.X, BANANA.y, kernel=RBF(0.25), C=50.0)


LIMITS, RULES = Limits(PROBLEM.n), chosen_rules(None, None, KKTGap(1e-6))


def solve_restricted(backend, state, A):
    return SHRINK_EARLY.solve_restricted(backend, LIMITS, state, RULES, None, A, 1000)


def begun(problem=PROBLEM, cache_mb=200.0, start=None):
    """The state of a solve before its first step."""
    start = starting_point(problem, None) if start is None else start
    return RULES.begin(problem, start, row_store(problem, RULES, cache_mb))


def test_a_variable_that_reaches_its_bound_is_at_the_bound():
    """Also where α + (bound − α) is not the bound, in rounding: where α and the bound have opposite signs."""
    rng = np.random.default_rng(0)
    lower, upper = -rng.uniform(0.5, 1.0, size=80), rng.uniform(0.01, 0.1, size=80)
    problem = DualProblem(PROBLEM.gram, 100.0 * rng.normal(size=80), 0.0, lower, upper)
    state = begun(problem, start=problem.feasible(rng.uniform(lower, upper)))
    solve_restricted(NumPyBackend(), state, np.arange(60))
    for bound in (lower, upper):
        near = np.abs(state.alpha - bound) <= 1e-13
        assert near.any()
        assert np.array_equal(state.alpha[near], bound[near])


@pytest.mark.parametrize("cache_mb", [200.0, 0.01])
@pytest.mark.parametrize("full_gram_up_to", [0, 1500])
def test_the_trace_counts_the_kernel_rows_of_the_full_problem(engine, full_gram_up_to, cache_mb):
    policy = ShrinkingPolicy(10, copy_cost=0.0, multiple=1, full_gram_up_to=full_gram_up_to)
    solution = solve(PROBLEM, engine=engine, shrinking=policy, cache_mb=cache_mb, trace=True)
    rows = solution.trace["rows"]
    assert (np.diff(rows) >= 0).all()
    assert rows[-1] == solution.kernel_rows


def test_every_kernel_row_that_is_evaluated_is_counted(engine):
    """The store is too small for the rows of a restricted problem, which then evaluates rows of its own."""
    evaluated = []
    kernel = RBF(0.25)

    def values(X, Z):
        evaluated.append((len(X), len(Z)))
        return kernel(X, Z)

    problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=values, C=50.0)
    policy = ShrinkingPolicy(10, copy_cost=0.0, multiple=1, full_gram_up_to=0)
    solution = solve(problem, engine=engine, shrinking=policy, cache_mb=0.01)
    rows = [(m, n) for m, n in evaluated if m != n]  # the others are the diagonal
    assert any(n < problem.n for _, n in rows)
    assert solution.kernel_rows == sum(m for m, _ in rows)


def test_a_negative_curvature_that_only_a_restricted_solve_meets_is_warned_about(engine):
    """K is the identity but for the last pair, which the first ten steps, on all variables, do not choose."""
    n = 40
    K, y = np.eye(n), np.where(np.arange(n) % 2, 1.0, -1.0)
    K[n - 2, n - 1] = K[n - 1, n - 2] = 1.5
    problem = DualProblem.classification(K, y, kernel=Precomputed(), C=1.0)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        solution = solve(problem, engine=engine, shrinking=SHRINK_EARLY, trace=True)
    pairs = [{*pair} for pair in zip(solution.trace["i"].tolist(), solution.trace["j"].tolist(), strict=True)]
    assert {n - 2, n - 1} in pairs[SHRINK_EARLY.period :]
    assert {n - 2, n - 1} not in pairs[: SHRINK_EARLY.period]


class Gives(NumPyBackend):
    """Takes some steps on a restricted problem, where an α grows large and a curvature is negative; then gives up."""

    def __init__(self, most=0):
        super().__init__()
        self.most = most

    def steps(self, state, rules, budget, trace=None):
        if len(state.alpha) == PROBLEM.n:
            return super().steps(state, rules, budget, trace)
        super().steps(state, rules, self.most, trace)
        state.largest, state.least_curvature = 1e5, -3.0
        self.hits = state.rows.hits
        return -1


@pytest.mark.parametrize(("steps", "outcome"), [(0, -1), (3, 0)])
def test_a_restricted_solve_that_stalls_is_one_only_if_nothing_was_gained(steps, outcome):
    backend, state = Gives(steps), begun()
    backend.steps(state, RULES, 10)
    before, hits = state.iteration, state.rows.hits
    assert solve_restricted(backend, state, np.arange(40)) == outcome
    assert state.iteration == before + steps
    assert state.rows.hits >= hits + backend.hits >= hits + steps
    assert state.least_curvature == -3.0
    assert state.largest >= 1e5  # what bounds the rounding of G, though no α is as large in the end


@pytest.mark.parametrize(
    ("rules", "conjugate"),
    [({}, True), ({"step": PlanningAheadStep()}, False), ({"selector": SecondOrder()}, False)],
    ids=["none named", "a step", "a selector"],
)
@pytest.mark.slow
def test_steps_are_conjugate_on_restricted_problems_by_default(rules, conjugate, engine):
    shrunk, plain = (
        solve(PROBLEM, engine=engine, shrinking=how, stop=KKTGap(1e-9), trace=True, **rules).trace["moved"]
        for how in (SHRINK_EARLY, False)
    )
    assert (shrunk > 2).any() == conjugate  # a pair moves two
    assert (plain == 2).all()


def test_a_solve_begins_on_few_variables_where_its_start_says_which():
    state, backend = begun(), Gives()
    backend.steps(state, RULES, 500)
    # restricted, and no step is taken there
    assert SHRINK_EARLY.steps(backend, LIMITS, state, RULES, 1000, None) == -1
    assert state.iteration == 500
    SHRINK_EARLY.steps(backend, LIMITS, state, RULES, 1000, None)
    assert state.iteration == 500 + SHRINK_EARLY.period
    state.restart(PROBLEM, None, RULES.memories(PROBLEM))
    SHRINK_EARLY.steps(backend, LIMITS, state, RULES, 1000, None)
    assert state.iteration == SHRINK_EARLY.period


@pytest.mark.parametrize("way", [SHRINK_EARLY, LIBSVMShrinking(40), Decomposition()], ids=repr)
def test_restricted_solves_keep_to_the_limit_on_steps(way, engine):
    for most in (1, 5, 12, 41, 105, 333, 514, 701):
        with warnings.catch_warnings(action="error"):
            solution = solve(PROBLEM, engine=engine, shrinking=way, stop=KKTGap(1e-9), max_iter=most)
        assert (solution.iterations, solution.status) == (most, Status.MAX_ITER)
        np.testing.assert_allclose(solution.gradient, PROBLEM.gradient(solution.alpha), atol=1e-9)


def test_shrinking_is_a_role():
    """False, NoShrinking() and the plain loop are one."""
    plain = [solve(PROBLEM, shrinking=choice, engine="numpy") for choice in (False, NoShrinking())]
    assert np.array_equal(plain[0].alpha, plain[1].alpha)
    assert (plain[0].iterations, plain[0].kernel_rows) == (plain[1].iterations, plain[1].kernel_rows)
    assert ShrinkingPolicy is Restriction


@dataclass(frozen=True)
class RelativeGap(StoppingRule):
    """Primal minus dual, relative to the dual, looked at every so many steps."""

    tol: float = 1e-3
    period: int = 1

    def check(self, state):
        return int(
            state.iteration % self.period == 0 and state.duality_gap() <= self.tol * abs(state.objective)
        )


@pytest.mark.parametrize("period", [1, 7, 50])
def test_a_stopping_rule_is_asked_about_the_full_problem_when_it_wants_to_be(period):
    board = make_banana(600, rng=0)
    problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1.0)
    rule = RelativeGap(1e-3, period)
    plain, shrunk = (
        solve(problem, stop=rule, engine="numpy", shrinking=choice, max_iter=10_000)
        for choice in (False, Restriction(period=100, copy_cost=0.1, block=64))
    )
    for each in (plain, shrunk):
        assert each.status is Status.CONVERGED
        assert 1e-4 < each.duality_gap / each.objective <= 1e-3
    assert shrunk.iterations <= 2 * plain.iterations + 2 * period


@pytest.mark.parametrize(("up_to", "copied"), [(0, 0), (4, 0), (5, 3), (1500, 3)])
def test_rows_that_are_stored_are_copied_in_one_piece_for_few_variables(up_to, copied):
    """Of A = 0, 2, 4, 6, 8 the rows 2, 6 and 8 are stored, and 3, which is not asked for."""
    state, A = begun(), np.arange(0, 10, 2)
    for i in (3, 8, 2, 6):
        state.rows.row(i)
    inner = restricted(state, A, RULES, up_to)
    assert inner.rows.filled == copied
    K = PROBLEM.gram.block(A, A)
    np.testing.assert_allclose([inner.rows.row(i) for i in range(5)], K, rtol=1e-13)
    assert state.rows.computed == 4 + 2


def test_copies_of_rows_share_one_budget_however_deep_problems_are_restricted():
    """What a copy takes is taken off what the problems inside it may copy."""
    state = begun(cache_mb=0.3)
    budget, taken = state.rows.cache_mb, 0.0
    for n in (60, 50, 40):
        state = restricted(state, np.arange(n), RULES, 1500)
        taken += megabytes(n, n, np.float64)
        assert taken + state.rows.cache_mb == pytest.approx(budget, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_restricted_problems_keep_to_the_budget_of_rows_that_do_not_fit(dtype, monkeypatch):
    """All stores that are alive at once; copies of some rows, in parts that a step reads fast, come on top."""
    stores, sizes, begin = WeakSet(), [], CachedRows._open

    def begun(store, capacity):
        begin(store, capacity)
        stores.add(store)
        gc.collect()
        sizes.append(sum(each.values.nbytes for each in stores) / 2**20)

    monkeypatch.setattr(CachedRows, "_open", begun)
    monkeypatch.setattr(CachedRows, "__hash__", object.__hash__, raising=False)
    data = make_waveform(800, rng=0)
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.05), C=1.0)
    solve(problem, engine="numpy", shrinking=SHRINK_EARLY, cache_dtype=dtype, cache_mb=0.5)
    assert len(sizes) > 1
    assert max(sizes) <= 1.35 * 0.5


@pytest.mark.parametrize("cache_mb", [0.005, 0.011, 0.03])
def test_a_restricted_problem_of_as_many_rows_as_there_is_room_for_reads_those_that_are_there(cache_mb):
    """Up to the last row there is room for, none is computed again; from one more on they are computed apart."""
    computed = []

    def kernel(X, Z):
        computed.append((len(X), len(Z)))
        return np.exp(-np.square(X[:, None] - Z).sum(axis=2))

    K = kernel(BANANA.X, BANANA.X)
    problem = DualProblem.classification(BANANA.X, BANANA.y, kernel=kernel, C=50.0)
    for more in (-1, 0, 1):
        state = begun(problem, cache_mb)
        room = state.rows.evaluator.capacity
        assert 2 < room < 79
        A = np.arange(room + more)
        assert fits(state, A) == (more < 1)
        for i in A[:room]:
            state.row(int(i))
        computed.clear()
        inner = restricted(state, A, RULES, 0)
        for i in range(len(A)):
            np.testing.assert_array_equal(inner.row(i), K[i, A])
        assert ((len(A), len(A)) in computed) == (more == 1)


@pytest.mark.parametrize("more", [0, 1, 80])
def test_all_rows_fit_where_the_matrix_is_there(more):
    state = SimpleNamespace(rows=SimpleNamespace(evaluator=SimpleNamespace(capacity=3, holds_all=True)))
    assert fits(state, np.arange(3 + more))


@pytest.mark.parametrize(("cache_mb", "to_the_end"), [(0.06, True), (20.0, False)])
def test_what_outgrows_the_memory_for_rows_is_solved_to_the_end(cache_mb, to_the_end, engine, monkeypatch):
    """Its rows would be computed anew after each restricted problem; where they fit, a larger gap comes first."""
    data = make_banana(400, rng=0)
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(0.25), C=50.0)
    gaps = []

    def noted(state, A, rules, *more):
        if state.parent is None and state.gap > 0.5:
            gaps.append(rules.stop.tolerance)
        return restricted(state, A, rules, *more)

    monkeypatch.setattr("refsvm.core.solver.shrinking.restricted", noted)
    policy = ShrinkingPolicy(period=50, full_gram_up_to=0, copy_cost=0.0, multiple=1)
    found = solve(problem, shrinking=policy, cache_mb=cache_mb, engine=engine)
    assert gaps
    assert gaps == [1e-3 if to_the_end else 1e-2] * len(gaps)
    assert problem.kkt_gap(found.alpha) <= 1.001e-3


@pytest.mark.parametrize(
    ("size", "tolerance", "is_nested", "share"),
    [(80, 1e-4, False, 0.5), (81, 1e-4, False, 1.0), (80, 0.99e-4, False, 1.0), (60, 1e-4, True, 1.0)],
)
def test_half_the_gap_is_asked_of_what_a_large_problem_is_restricted_to(
    size, tolerance, is_nested, share, monkeypatch
):
    """Where float32 is allowed, and not once more of what is restricted in turn."""
    state, rules, asked = begun(), chosen_rules(None, None, KKTGap(tolerance)), []
    if is_nested:
        state = restricted(state, np.arange(60), RULES, 0)

    def noted(state, A, rules, up_to):
        asked.append(rules.stop.tolerance)
        raise InterruptedError

    monkeypatch.setattr("refsvm.core.solver.shrinking.LARGE_FROM", size)
    monkeypatch.setattr("refsvm.core.solver.shrinking.restricted", noted)
    with pytest.raises(InterruptedError):
        SHRINK_EARLY.solve_restricted(NumPyBackend(), LIMITS, state, rules, None, np.arange(40), 10)
    assert asked == [share * rules.stop.restricted_tolerance(state.gap)]


@pytest.mark.parametrize(
    ("recent", "m", "filled", "pays"),
    [(60, 50, 30, False), (61, 50, 30, True), (100, 50, 70, False), (101, 50, 70, True), (10**9, 79, 1, True),
     (10**9, 80, 1, False)],
)  # fmt: skip
def test_a_restriction_pays_if_it_saves_more_than_it_costs(recent, m, filled, pays):
    """Of 100 variables each step touches 100 − m fewer; of up to m rows, at two for each value, m are copied."""
    rows = SimpleNamespace(evaluator=SimpleNamespace(filled=filled))
    assert (
        Restriction(copy_cost=2.0)._pays(SimpleNamespace(alpha=np.zeros(100), rows=rows), recent, m) == pays
    )


@pytest.mark.parametrize(("gap", "is_restricted"), [(0.5, True), (0.0, False), (-0.5, False)])
def test_without_a_gap_no_problem_is_restricted(gap, is_restricted, monkeypatch):
    """A rule of the user may want more: then steps on all variables say that none gains."""
    state, asked = begun(), []
    NumPyBackend().steps(state, RULES, 500)
    state.gap = gap
    monkeypatch.setattr(Restriction, "solve_restricted", lambda *_: asked.append(True) or 0)
    monkeypatch.setattr("refsvm.core.solver.shrinking.all_variables", lambda *_: asked.append(False) or -1)
    rules = RULES._replace(stop=Never())
    assert SHRINK_EARLY.steps(NumPyBackend(), LIMITS, state, rules, 1000, None) == (
        0 if is_restricted else -1
    )
    assert asked == [is_restricted]


FEW = DualProblem.classification(
    np.arange(6.0)[:, None], np.array([-1, 1, 1, -1, 1, -1]), kernel=RBF(0.5), C=10.0
)


@dataclass(frozen=True)
class Lazy(Shrinking):
    """It takes one step in so many calls."""

    every: int = 3

    def steps(self, backend, limits, state, rules, budget, trace):
        state.shrinking = (state.shrinking or 0) + 1
        return 0 if state.shrinking % self.every else backend.steps(state, rules, 1, trace)


def test_calls_without_a_step_are_counted_from_the_last_step(monkeypatch):
    """Two in succession are allowed here, as often as it may be."""
    monkeypatch.setattr("refsvm.services.guards.users_rules.IDLE", 2)
    expected = solve(FEW, shrinking=False, engine="numpy")
    lazy = solve(FEW, shrinking=Lazy(3), engine="numpy")
    assert lazy.status is Status.CONVERGED
    assert lazy.iterations == expected.iterations > 2
    with pytest.raises(RuntimeError, match=r"Lazy\(every=4\) took no step in 2 calls of steps\(\)"):
        solve(FEW, shrinking=Lazy(4), engine="numpy")


def test_steps_are_recorded_only_if_they_are_asked_for():
    asked = RunOptions(selector=SecondOrder(), step=PlanningAheadStep(), stop=KKTGap(1e-3), engine="numpy")
    for options, recorded in (({}, False), ({"trace": False}, False), ({"trace": True}, True)):
        with Run(FEW, asked) as steps:
            state = asked.rules.begin(FEW, np.zeros(FEW.n), steps.rows)
            assert (steps.take_steps(state, asked.rules, **options).trace is not None) == recorded
