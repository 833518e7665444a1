"""Ctrl-C ends a solve, or a family of solves, at the last point reached."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass

import pytest

from refsvm import NewtonStep, Rounds, Status, StoppingRule, solve
from refsvm.core.engine.limits import interruptible
from refsvm.core.rounds.round import Round
from refsvm.services.pool import in_threads
from refsvm.testing.contract import infeasibility

from ...catalogue import PROBLEMS
from ...settings import INTERPRETED, interrupted
from ..solver.plain import BOARD, ENDLESS, LONG

pytestmark = pytest.mark.usefixtures("_ctrl_c_as_in_a_terminal")


@pytest.mark.parametrize("problem", [ENDLESS, LONG], ids=["small", "long"])
def test_ctrl_c_raises_with_the_best_point_so_far(problem, engine, shrinking):
    rest = {"step": NewtonStep(), "engine": engine, "shrinking": shrinking}
    solve(problem, max_iter=10, **rest)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.perf_counter()
    solution = interrupted(solve, problem, time_limit=60, **rest)
    assert time.perf_counter() - began < 2.0 + 5 * INTERPRETED
    timer.join()
    assert solution.status is Status.INTERRUPTED
    assert solution.iterations > 0
    assert infeasibility(problem, solution.alpha) <= 1e-13
    on = solve(problem, start=solution.alpha, max_iter=20, **rest)
    assert on.objective >= solution.objective * (1 - 1e-9)


def test_a_second_ctrl_c_interrupts_at_once(engine, shrinking):
    def impatient(state):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solve(ENDLESS, callback=impatient, engine=engine, shrinking=shrinking)


def test_another_handler_is_left_alone(engine):
    caught = []
    signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    solution = solve(
        ENDLESS, callback=lambda _: signal.raise_signal(signal.SIGINT), engine=engine, max_iter=500
    )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    assert solution.status is Status.MAX_ITER
    assert caught


def test_a_solve_runs_in_any_thread(engine, shrinking):
    found = []
    thread = threading.Thread(target=lambda: found.append(solve(BOARD, engine=engine, shrinking=shrinking)))
    thread.start()
    thread.join(60)
    assert found[0].status is Status.CONVERGED


@dataclass(frozen=True)
class PressedWhenSolved(StoppingRule):
    """Ctrl-C is pressed, once, in the moment in which the problem is solved."""

    def check(self, state):
        if state.gap > 1e-3:
            return 0
        if not PRESSED:
            PRESSED.append(True)
            signal.raise_signal(signal.SIGINT)
        return 1


PRESSED = []


def test_a_press_in_the_moment_of_convergence_is_not_lost():
    problem = PROBLEMS["xor"].problem
    PRESSED.clear()
    solution = interrupted(solve, problem, stop=PressedWhenSolved(), engine="numpy")
    assert solution.status is Status.INTERRUPTED
    assert solution.kkt_gap <= 1e-3


def test_blocks_share_one_press():
    """The caller of many solves sees it, and decides what becomes of those that are solved."""
    problem = PROBLEMS["xor"].problem
    PRESSED.clear()
    with interruptible() as interrupt:
        first = solve(problem, stop=PressedWhenSolved(), engine="numpy")
        second = solve(ENDLESS, engine="numpy")
        assert interrupt.pressed
    assert first.status is Status.CONVERGED
    assert second.status is Status.INTERRUPTED
    assert solve(problem, engine="numpy").status is Status.CONVERGED


def test_a_press_in_a_block_of_rounds_ends_them_after_the_next():
    rounds, done = Rounds(PROBLEMS["xor"].problem, engine="numpy"), []

    def pressed():
        with rounds as block:
            for each in block.run([Round(0), Round(1), Round(2)]):
                done.append(each.left_out)
                if each.left_out == 0:
                    signal.raise_signal(signal.SIGINT)

    assert interrupted(pressed) is rounds
    assert (done, rounds.status) == ([0, 1], Status.INTERRUPTED)


def test_a_press_ends_the_threads_of_the_call_and_no_thread_of_the_user():
    found = {}

    def solved(name):
        found[name] = solve(ENDLESS, engine="numpy", max_iter=500).status

    with interruptible() as outer:
        signal.raise_signal(signal.SIGINT)
        other = threading.Thread(target=solved, args=["the user's"])
        other.start()
        other.join(60.0)
        list(in_threads(solved, ["of the call"], workers=2))
        assert outer.pressed
    assert found == {"the user's": Status.MAX_ITER, "of the call": Status.INTERRUPTED}
    solved("later")
    assert found["later"] is Status.MAX_ITER
