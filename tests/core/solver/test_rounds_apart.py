"""Rounds: what a round may not take over from the one before, and what it has to."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import (
    DualProblem,
    KKTGap,
    Linear,
    Precomputed,
    Rounds,
    Status,
    solve,
)
from refsvm.core.rounds.round import Round
from refsvm.core.seeders import TOP
from refsvm.core.solver.shrinking import ShrinkingPolicy

from ...settings import FAST, needs_numba
from .plain import OVERLAPPING as PROBLEM
from .plain import SIGNS as Y
from .plain import SIXTY as X

WITHOUT = [PROBLEM.without(r) for r in (0, 17, 59)]


@needs_numba
def test_a_rule_with_another_twin_is_not_run_by_the_twin_of_the_last():
    from numba import njit

    @njit
    def loose_gap(parameters, state):
        return 1 if state.now[0].gap <= 100.0 * parameters[0] else 0

    @dataclass(frozen=True)
    class LooseGap(KKTGap):
        def check(self, state):
            return int(state.gap <= 100.0 * self.tol)

        def twin(self):
            return loose_gap

    rounds = Rounds(PROBLEM, engine="numba", shrinking=False)
    steps = [rounds.solve(stop=stop(1e-5)).iterations for stop in (KKTGap, LooseGap, KKTGap)]
    alone = solve(PROBLEM, stop=LooseGap(1e-5), engine="numba", shrinking=False).iterations
    assert steps[0] == steps[2] > steps[1] == alone


def test_the_start_of_a_round_is_taken_bit_for_bit():
    """It is reached by differences, which round."""
    rounds = Rounds(PROBLEM)
    first = rounds.solve()
    some = np.flatnonzero((first.alpha > 0.1) & (first.alpha < 2.0))
    assert len(some) > 2
    for i, j in itertools.permutations(some, 2):
        start = first.alpha.copy()
        start[i], start[j] = 0.3 * start[i], start[j] + 0.7 * start[i]
        found = rounds.solve(start=start, stop=KKTGap(1e6))
        assert found.iterations == 0
        assert np.array_equal(found.alpha, start)
        assert np.array_equal(rounds.solve(start=first.alpha, stop=KKTGap(1e6)).alpha, first.alpha)


def test_a_cold_start_from_an_origin_is_cold():
    rounds = Rounds(PROBLEM, shrinking=False)
    full = rounds.solve()
    r = int(np.flatnonzero(full.alpha)[0])
    box = PROBLEM.without(r)
    found = rounds.solve(box, origin=full)
    assert found.alpha[r] == 0.0
    assert found.objective == pytest.approx(solve(box).objective, rel=1e-4)
    np.testing.assert_allclose(found.gradient, box.gradient(found.alpha), atol=1e-12)


def test_roundings_of_the_gradient_are_counted_over_the_rounds():
    rounds = Rounds(PROBLEM, shrinking=False)
    first = rounds.solve()
    state = rounds.state
    assert state.updates == 0  # those of the present round are its iterations
    assert state.largest >= np.abs(first.alpha).max()
    box = PROBLEM.without(int(np.flatnonzero(first.alpha)[0]))
    start = box.feasible(first.alpha)
    moved = np.count_nonzero(start != first.alpha)
    assert moved
    assert rounds.solve(box, start=start).iterations
    assert state.updates == first.iterations + moved
    assert rounds.solve(start=start, origin=first).iterations
    assert state.updates == moved
    rounds.solve()
    assert state.updates == 0


def test_a_trace_ends_with_its_round(engine, shrinking):
    rounds = Rounds(PROBLEM, engine=engine, shrinking=shrinking)
    first, second = rounds.solve(trace=True), rounds.solve(WITHOUT[0])
    assert second.iterations
    assert second.trace is None
    assert len(first.trace) == first.iterations


def test_the_seconds_of_a_trace_are_those_of_the_round():
    rounds = Rounds(PROBLEM)
    time.sleep(0.05)
    solution = rounds.solve(trace=True)
    assert solution.trace["seconds"][-1] <= solution.seconds


@pytest.mark.slow
def test_boxes_with_and_without_open_sides_in_turn(engine):
    """The hard margin of classes that nothing separates is told apart, whatever the round before."""
    line = DualProblem.classification(X[:, :1], Y, kernel=Linear(), C=1.0)
    rounds = Rounds(line, engine=engine, max_iter=20_000)
    open_box = {"lower": np.where(Y > 0, 0.0, -np.inf), "upper": np.where(Y > 0, np.inf, 0.0)}
    for _ in range(2):
        assert rounds.solve().status is Status.CONVERGED
        assert rounds.solve(**open_box).status is Status.INSEPARABLE


def test_the_preparation_is_part_of_the_first_round_only(monkeypatch):
    rounds = Rounds(PROBLEM)
    monkeypatch.setattr(rounds._run, "_preparation", 50.0)
    assert rounds.solve().seconds >= 50.0
    assert rounds.solve().seconds < 50.0


def test_the_clock_of_the_time_limit_runs_on_between_rounds():
    rounds = Rounds(PROBLEM, engine="numpy", shrinking=False, time_limit=0.5, stop=KKTGap(1e-9))
    assert rounds.solve(stop=KKTGap(1.0)).status is Status.CONVERGED
    time.sleep(0.55)
    assert rounds.solve().status is Status.TIME_LIMIT


def test_an_indefinite_kernel_is_warned_about_once():
    noise = np.random.default_rng(5).normal(size=(60, 60))
    rounds = Rounds(DualProblem.classification(noise + noise.T, Y, kernel=Precomputed(), C=1.0))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        rounds.solve()
    rounds.solve()  # a warning is an error here


def test_rounds_are_polished_if_that_is_wanted():
    assert Rounds(PROBLEM).solve().kkt_gap > 1e-9
    rounds = Rounds(PROBLEM, polish=True)
    for each in (PROBLEM, *WITHOUT):
        assert rounds.solve(lower=each.lower, upper=each.upper).kkt_gap < 1e-9


def test_the_shrinking_policy_is_the_given_one():
    assert Rounds(PROBLEM).solve().kernel_rows == 60  # one product gives all rows of a small problem
    assert Rounds(PROBLEM, shrinking=ShrinkingPolicy(full_gram_up_to=0)).solve().kernel_rows < 60


def test_engines_that_a_round_names_are_those_of_the_round():
    rounds = Rounds(PROBLEM, engine="numpy")
    rounds.backend.used["another"] = None
    assert rounds.solve(trace=True).engine == "numpy"


def test_a_round_may_be_given_as_a_problem():
    other, rounds, again = PROBLEM.without(3), Rounds(PROBLEM), Rounds(PROBLEM)
    found, expected = rounds.solve(other), again.solve(lower=other.lower, upper=other.upper)
    np.testing.assert_array_equal(found.alpha, expected.alpha)
    assert found.problem.gram is rounds.problem.gram  # stored rows, so that none is computed twice
    np.testing.assert_array_equal(found.problem.lower, other.lower)
    np.testing.assert_array_equal(rounds.solve(rounds.boxed(other.lower, other.upper)).alpha, expected.alpha)


def test_a_left_out_round_and_its_seed_read_stored_rows(monkeypatch):
    problem = DualProblem.classification(X, Y, kernel=Linear())
    rounds = Rounds(problem, engine="numpy")
    full = rounds.solve()
    rounds.rows.fetch(np.arange(problem.n))
    r = int(np.flatnonzero(full.alpha)[0])
    monkeypatch.setattr(problem.gram, "block", None)  # the kernel cannot be evaluated any more
    rounds.solutions["all"] = full
    ended = next(rounds.run([Round(r, "all", keep="own")], TOP()))
    assert ended.status is Status.CONVERGED
    assert rounds.solutions["own"].alpha[r] == 0.0
    assert ended.iterations == rounds.solutions["own"].iterations


@pytest.mark.parametrize("engine", ["numpy", FAST])
def test_the_first_round_starts_from_its_origin_as_any_other(engine):
    """The gradient is reached from that of the origin, not computed anew: both round differently."""
    solved, box = Rounds(PROBLEM, engine=engine).solve(), PROBLEM.without(5)
    rounds = Rounds(PROBLEM, engine=engine)
    start = PROBLEM.without(5).feasible(solved.alpha)
    results = [rounds.solve(box, start=start, origin=solved, max_iter=1) for _ in range(2)]
    assert np.array_equal(results[0].gradient, results[1].gradient)
    assert [each.iterations for each in results] == [1, 1]
    assert rounds.solve(box).status is Status.CONVERGED
