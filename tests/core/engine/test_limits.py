"""What may end a solve early: iterations, seconds, the callback; and going on from there."""

from __future__ import annotations

import math
import pickle
import time
import warnings

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    NewtonStep,
    SecondOrder,
    Status,
    iterate,
    solve,
)
from refsvm.core.engine.limits import Deadline, Limits
from refsvm.core.state import SolverState
from refsvm.testing.contract import infeasibility

from ...catalogue import PROBLEMS
from ...settings import INTERPRETED, NUMBA
from ..solver.plain import BOARD, ENDLESS, LONG

# -- iterations --------------------------------------------------------------------------------------------


def test_reaching_the_optimum_with_the_last_step_counts_as_solved(engine):
    needed = solve(BOARD, engine=engine, shrinking=False).iterations
    assert solve(BOARD, engine=engine, shrinking=False, max_iter=needed).status is Status.CONVERGED
    assert solve(BOARD, engine=engine, shrinking=False, max_iter=needed - 1).status is Status.MAX_ITER


def test_a_solve_goes_on_where_it_stopped(engine, shrinking):
    alpha, steps, solution = None, 0, None
    banana, options = (
        PROBLEMS["banana"].problem,
        {"stop": KKTGap(1e-6), "engine": engine, "shrinking": shrinking},
    )
    while solution is None or solution.status is Status.MAX_ITER:
        solution = solve(banana, start=alpha, max_iter=50, **options)
        alpha, steps = solution.alpha, steps + solution.iterations
        assert steps < 2000
    assert solution.status is Status.CONVERGED
    whole = solve(banana, **options)
    assert solution.objective == pytest.approx(whole.objective, rel=1e-9)
    assert steps <= 1.5 * whole.iterations + 50


def test_the_default_limit_is_finite():
    assert Limits(n=5).most == 10_000_000
    assert Limits(n=1_000_000).most == 100_000_000


# -- seconds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", [ENDLESS, LONG], ids=["small", "long"])
def test_the_time_limit_is_kept(problem, engine, shrinking):
    solve(problem, engine=engine, shrinking=shrinking, max_iter=10)  # compile, read the cache
    began = time.perf_counter()
    solution = solve(problem, time_limit=0.3, engine=engine, shrinking=shrinking)
    assert 0.3 <= time.perf_counter() - began < 1.5 + 10 * INTERPRETED
    assert solution.status is Status.TIME_LIMIT
    assert solution.seconds >= 0.3
    assert infeasibility(problem, solution.alpha) <= 1e-13


def test_a_restricted_solve_returns_early_where_something_is_due():
    """Between its passes it asks what the full problem asks between chunks."""
    state = next(iterate(BOARD))
    assert not Limits(5).should_return_early(state)
    pressed = Limits(5)
    pressed.interrupt.pressed = True
    late = Limits(5, time_limit=1e-9)
    waiting = Limits(5, callback=lambda state: None)
    assert not waiting.should_return_early(state)
    waiting.last_check -= 0.2
    assert all(limits.should_return_early(state) for limits in (pressed, late, waiting))
    waiting.reached(state, 0)
    assert not waiting.should_return_early(state)


def test_a_callback_that_only_watches_is_shown_the_restricted_state():
    seen = []

    def watcher(state):
        seen.append(state)
        return True

    watcher.only_watches = True
    state, limits = next(iterate(BOARD)), Limits(5, callback=watcher)
    limits.last_check -= 10.0
    assert not limits.should_return_early(state)
    assert [each.state for each in seen] == [state]


# -- callback ----------------------------------------------------------------------------------------------


def test_a_callback_sees_the_state_and_may_stop(engine, shrinking):
    seen = []

    def watch(state):
        assert (state.gap, state.steps) == (state.state.gap, state.state.iteration)
        assert state.alpha is state.state.alpha  # as before there was this object
        seen.append((type(state.state), state.iteration, state.gap, state.objective))
        return len(seen) == 3

    solution = solve(LONG, callback=watch, engine=engine, shrinking=shrinking)
    assert solution.status is Status.CALLBACK
    assert len(seen) == 3
    assert {kind for kind, *_ in seen} == {SolverState}
    iterations = [iteration for _, iteration, _, _ in seen]
    assert iterations == sorted(set(iterations))
    assert solution.iterations == iterations[-1]
    assert solution.objective == pytest.approx(seen[-1][3], rel=1e-9)


def test_a_callback_that_returns_nothing_changes_nothing(engine, shrinking):
    quiet = solve(BOARD, callback=lambda state: None, engine=engine, shrinking=shrinking)
    plain = solve(BOARD, engine=engine, shrinking=shrinking)
    # with shrinking, the clock decides how often the callback is asked, and so the path
    if not shrinking:
        np.testing.assert_array_equal(quiet.alpha, plain.alpha)
    assert quiet.objective == pytest.approx(plain.objective, rel=1e-4)


def test_an_error_in_a_callback_is_the_callers(engine, shrinking):
    def broken(state):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solve(ENDLESS, callback=broken, engine=engine, shrinking=shrinking, max_iter=1000)


# -- start -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start",
    [np.full(60, 1e9), np.linspace(-20, 20, 60), np.where(np.arange(60) < 3, 1.0, 0.0), 5.0],
    ids=["outside", "beyond both bounds", "wrong sum", "one number"],
)
def test_a_start_that_is_not_feasible_is_repaired_with_a_warning(start, engine, shrinking):
    problem = PROBLEMS["banana"].problem
    with pytest.warns(UserWarning, match="start is not feasible"):
        solution = solve(problem, start=start, stop=KKTGap(1e-8), engine=engine, shrinking=shrinking)
    assert infeasibility(problem, solution.alpha) <= 1e-13
    assert solution.objective == pytest.approx(solve(problem, stop=KKTGap(1e-8)).objective, rel=1e-9)
    with pytest.warns(UserWarning, match="start is not feasible"):
        next(iterate(problem, start=start))


def test_a_feasible_start_is_taken_in_silence_and_copied(engine, shrinking):
    start = np.zeros(60)
    with warnings.catch_warnings(action="error"):
        solution = solve(PROBLEMS["banana"].problem, start=start, engine=engine, shrinking=shrinking)
    assert not start.any()
    assert solution.alpha is not start


def test_a_start_of_integers_or_a_list_will_do():
    problem = PROBLEMS["banana"].problem
    for start in ([0] * 60, np.zeros(60, dtype=int), np.zeros(60, dtype=np.float32)):
        assert solve(problem, start=start).status is Status.CONVERGED


# -- bad arguments -----------------------------------------------------------------------------------------


# -- rules without a twin ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "base"), [("selector", SecondOrder), ("step", NewtonStep), ("stop", KKTGap)]
)
def test_a_rule_without_a_twin_runs_in_the_readable_engine(role, base, shrinking):
    class Own(base):
        def twin(self):
            return None

    problem, rule = PROBLEMS["xor"].problem, {role: Own()}
    for engine in ("auto", "numpy"):
        solution = solve(problem, engine=engine, shrinking=shrinking, **rule)
        assert solution.engine == "numpy"
        assert solution.status is Status.CONVERGED
    if not NUMBA:
        return
    said = 'engine="numba" needs a compiled twin .* Own has none'
    with pytest.raises(ValueError, match=said) as refusal:
        solve(problem, engine="numba", shrinking=shrinking, **rule)
    assert "Own.twin()" in str(refusal.value)
    assert 'engine="numpy"' in str(refusal.value)


def test_without_numba_auto_is_the_readable_engine_and_numba_a_sentence(monkeypatch):
    for user in ("twins", "auto"):  # both ask
        monkeypatch.setattr(f"refsvm.compiled.{user}.numba_is_installed", lambda: False)
    problem = DualProblem.classification([[0.0], [1.0]], [-1, 1], kernel=RBF(1.0))
    assert solve(problem).engine == "numpy"
    with pytest.raises(ValueError, match='engine="numba" needs the package numba'):
        solve(problem, engine="numba", step=NewtonStep())


@pytest.mark.parametrize("seconds", [5.0, -5.0, math.inf])
def test_a_deadline_is_handed_down_as_it_is_and_to_another_process_as_what_is_left(seconds):
    deadline = Deadline(time.perf_counter() + seconds)
    assert Deadline.after(deadline) is deadline
    assert Limits(4, time_limit=deadline).deadline is deadline
    there = pickle.loads(pickle.dumps(deadline))
    assert there.at == pytest.approx(deadline.at, abs=1.0)
    assert there.is_set == deadline.is_set == (seconds < math.inf)


def test_a_deadline_that_has_passed_ends_a_solve_at_once():
    found = solve(ENDLESS, time_limit=Deadline(time.perf_counter() - 1.0))
    assert found.status is Status.TIME_LIMIT
