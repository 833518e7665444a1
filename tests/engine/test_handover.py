"""The readable loop hands a solve over to the compiled one: when, and that nobody can tell from the result."""

from __future__ import annotations

import subprocess
import sys
import time
import weakref
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from refsvm import (
    RBF,
    SIR,
    TOP,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    Rounds,
    SecondOrder,
    Status,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.engine import handover
from refsvm.engine.engine import Engine
from refsvm.engine.limits import Limits
from refsvm.solver.rules import stored_rows
from refsvm.stopping.base import StoppingRule
from refsvm.testing import SHRINK_EARLY, first_difference

from ..settings import FAST, needs_jit

rng = np.random.default_rng(8)
X = rng.normal(size=(80, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=80) > 0.7, 1, -1)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5), C=20.0)


class ClockThatRings:
    """Says after k looks that the allowance is spent."""

    def __init__(self, k: int) -> None:
        self.left = k
        self.finished = self.began = 0.0

    def allowance_is_spent(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.fixture
def after_steps(monkeypatch):
    """Let the compiled loop take over after so many steps."""

    def set_to(k):
        monkeypatch.setattr(handover, "PIECE_STEPS", 1)
        monkeypatch.setattr(handover, "loaded", set())
        monkeypatch.setattr(handover, "ready", set())
        monkeypatch.setattr(handover, "clock", ClockThatRings(k))

    return set_to


@needs_jit
@pytest.mark.parametrize("k", [0, 1, 2, 10, 37])
@pytest.mark.parametrize("shrinking", [False, True, SHRINK_EARLY], ids=["plain", "default", "early"])
@pytest.mark.parametrize(
    ("selector", "step"),
    [(SecondOrder(), PlanningAheadStep()), (HybridMaximumGain(), NewtonStep())],
    ids=repr,
)
@pytest.mark.parametrize("cache_mb", [200.0, 0.005], ids=["all rows", "few rows"])
def test_a_solve_handed_over_is_the_same_solve(k, shrinking, selector, step, cache_mb, after_steps):
    options = {
        "selector": selector,
        "step": step,
        "shrinking": shrinking,
        "cache_mb": cache_mb,
        "trace": True,
    }
    alone = {engine: solve(PROBLEM, engine=engine, **options) for engine in ("numpy", "numba")}
    after_steps(k)
    both = solve(PROBLEM, **options)
    assert both.engine == ("numba" if k == 0 else "numpy, numba")
    assert both.iterations > k
    for engine, one in alone.items():
        assert one.engine == engine
        assert first_difference(one, both) is None


@pytest.fixture
def compiled_beside(monkeypatch):
    """Let compiled code of each family be there after it was asked for so many times; what was asked for, in order."""

    def after(times):
        asked = []

        def is_there(family, rules=()):
            asked.append(family)
            return asked.count(family) > times

        monkeypatch.setattr(handover.beside, "is_there", is_there)
        monkeypatch.setattr(handover, "ready", set())
        monkeypatch.setattr(handover, "loaded", set())
        monkeypatch.setattr(handover, "clock", handover.Clock())
        monkeypatch.setattr(handover, "PIECE_STEPS", 3)
        monkeypatch.setattr(handover, "ALLOWANCE_SECONDS", 0.0)
        return asked

    return after


@needs_jit
@pytest.mark.parametrize("times", [0, 2, 10**9])
def test_a_solve_goes_on_in_numpy_until_its_code_is_there(times, compiled_beside):
    expected, asked = solve(PROBLEM, engine="numpy"), compiled_beside(times)
    solution = solve(PROBLEM)
    assert solution.engine == {0: "numba", 2: "numpy, numba"}.get(times, "numpy")
    assert set(asked) == {"loop"}
    assert first_difference(expected, solution) is None


@needs_jit
@pytest.mark.parametrize("times", [1, 10**9])
@pytest.mark.parametrize("seeder", [TOP(), SIR()], ids=repr)
def test_rounds_go_on_in_numpy_until_their_code_is_there(times, seeder, compiled_beside):
    options = {"kernel": RBF(0.5), "C": 20.0, "seeder": seeder}
    run = leave_one_out if seeder == TOP() else partial(cross_validate, folds=10, rng=0)
    expected, asked = run(X, Y, **options, engine="numpy"), compiled_beside(times)
    found = run(X, Y, **options)
    assert np.array_equal(found.decision_values, expected.decision_values, equal_nan=True)
    assert (asked.count("rounds") == 2) == (times == 1)
    assert {"loop", "rounds", "twin"} >= set(asked) >= {"rounds", "twin"}


@needs_jit
def test_a_path_goes_on_in_numpy_until_its_code_is_there(compiled_beside):
    options = {"kernel": RBF(0.5), "C_min": 0.1, "C_max": 10.0}
    expected, asked = regularization_path(X, Y, **options, engine="numpy"), compiled_beside(3)
    found = regularization_path(X, Y, **options)
    assert asked.count("twin") == 4
    assert np.array_equal(found.C, expected.C)
    assert np.array_equal(found.alpha(3.0), expected.alpha(3.0))


def test_engines_with_a_name_ask_nobody(compiled_beside):
    asked = compiled_beside(0)
    solve(PROBLEM, engine="numpy")
    solve(PROBLEM, engine=FAST)
    assert asked == []


def test_a_short_solve_needs_no_compiled_loop(monkeypatch):
    monkeypatch.setattr(handover, "ALLOWANCE_SECONDS", 60.0)  # short on a busy machine, too
    monkeypatch.setattr(handover, "loaded", set())
    monkeypatch.setattr(handover, "clock", handover.Clock())
    assert solve(PROBLEM).engine == "numpy"


@needs_jit
def test_the_seconds_of_all_solves_add_up(monkeypatch):
    monkeypatch.setattr(handover, "loaded", set())
    monkeypatch.setattr(handover, "clock", handover.Clock())
    monkeypatch.setattr(handover, "ALLOWANCE_SECONDS", 0.5)  # a first solve on a busy machine takes less
    engines = []
    while len(engines) < 100_000 and "numba" not in engines:
        engines.append(solve(PROBLEM).engine.split(", ")[-1])
    assert engines[0] == "numpy"
    assert engines[-1] == "numba"
    assert solve(PROBLEM).engine == "numba"


@needs_jit
def test_rounds_go_on_with_the_engine_that_took_over(after_steps):
    rounds = Rounds(PROBLEM)
    after_steps(10)
    left_out = PROBLEM.without(3)
    engines = [rounds.solve(lower=left_out.lower, upper=left_out.upper).engine for _ in range(3)]
    assert engines == ["numpy, numba", "numba", "numba"]


@needs_jit
def test_the_tolerance_of_a_later_round_goes_over_to_the_compiled_loop(after_steps):
    """The first round ends in the readable loop, the second begins there and is handed over."""
    readable = Rounds(PROBLEM, engine="numpy", shrinking=False)
    expected = [readable.solve(stop=KKTGap(tol)) for tol in (1e-1, 1e-8)]
    after_steps(expected[0].iterations + 20)
    rounds = Rounds(PROBLEM, shrinking=False)
    found = [rounds.solve(stop=KKTGap(tol)) for tol in (1e-1, 1e-8)]
    assert [each.engine for each in found] == ["numpy", "numpy, numba"]
    assert found[1].kkt_gap <= 1e-8
    for one, other in zip(expected, found, strict=True):
        assert first_difference(one, other) is None


@pytest.mark.parametrize("shrinking", [False, SHRINK_EARLY], ids=["plain", "early"])
def test_the_tolerance_of_a_later_round_is_known_to_the_readable_loop(after_steps, shrinking):
    after_steps(10**9)
    rounds = Rounds(PROBLEM, shrinking=shrinking)
    gaps = [rounds.solve(stop=KKTGap(tol)).kkt_gap for tol in (1e-1, 1e-6, 1e-1)]
    assert gaps[1] <= 1e-6 < gaps[0] == gaps[2] <= 1e-1


@needs_jit
def test_the_seconds_of_the_solve_itself_count(monkeypatch):
    """It waits after its first chunk, and goes on in the compiled loop."""
    monkeypatch.setattr(handover, "loaded", set())
    monkeypatch.setattr(handover, "clock", handover.Clock())
    pauses = iter([handover.ALLOWANCE_SECONDS + 0.05])
    solution = solve(PROBLEM, shrinking=False, callback=lambda state: time.sleep(next(pauses, 0.0)))
    assert solution.engine == "numpy, numba"


@needs_jit
def test_the_compiled_loop_is_made_once_and_released(after_steps, monkeypatch):
    from refsvm.engine.compiled import CompiledLoop

    made, closed = [], []
    make = CompiledLoop.__init__
    monkeypatch.setattr(CompiledLoop, "__init__", lambda loop, *rest: made.append(1) or make(loop, *rest))
    monkeypatch.setattr(CompiledLoop, "__del__", lambda loop: closed.append(1), raising=False)
    after_steps(5)
    rounds = Rounds(PROBLEM, shrinking=False, stop=KKTGap(1e-9))  # of several chunks
    assert rounds.solve().engine == "numpy, numba"
    rounds.close()
    assert (len(made), len(closed)) == (1, 1)


@needs_jit
def test_the_compiled_loops_of_restricted_problems_are_released(monkeypatch):
    from refsvm.engine.compiled import CompiledLoop

    made, make = [], CompiledLoop.__init__

    def noted(loop, *rest):
        made.append(weakref.ref(loop))
        make(loop, *rest)

    monkeypatch.setattr(CompiledLoop, "__init__", noted)
    rounds = Rounds(PROBLEM, engine="numba", shrinking=SHRINK_EARLY, stop=KKTGap(1e-9))
    rounds.solve()
    rounds.close()
    assert len(made) > 2
    assert [loop() for loop in made] == [None] * len(made)


@needs_jit
def test_what_was_loaded_is_used_from_the_first_step_on(after_steps, monkeypatch):
    after_steps(10**9)
    monkeypatch.setattr(handover, "ALLOWANCE_SECONDS", 1e9)  # whatever else the machine does meanwhile
    assert solve(PROBLEM).engine == "numpy"
    assert not handover.compiled_code_is_due()
    solve(PROBLEM, engine="numba")
    assert handover.compiled_code_is_due()
    assert solve(PROBLEM).engine == "numba"
    assert solve(PROBLEM, step=NewtonStep()).engine == "numpy"  # of other rules


def test_compiled_code_is_due_when_the_allowance_is_spent(monkeypatch):
    monkeypatch.setattr(handover, "loaded", set())
    monkeypatch.setattr(handover, "clock", handover.Clock())
    assert not handover.compiled_code_is_due()
    handover.clock.finished = handover.ALLOWANCE_SECONDS + 0.1
    assert handover.compiled_code_is_due()


@pytest.mark.parametrize("most", [1, 7, 20, 33])
def test_the_readable_loop_keeps_to_its_chunk(after_steps, monkeypatch, most):
    after_steps(10**9)
    monkeypatch.setattr(handover, "PIECE_STEPS", 50)
    assert solve(PROBLEM, max_iter=most, shrinking=False).iterations == most


def test_where_numba_interprets_auto_is_numpy(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    monkeypatch.setattr(handover, "loaded", set())
    assert Engine("auto", Limits(n=80), stored_rows(PROBLEM.gram)).name == "numpy"


class Unreadable(StoppingRule):
    """A stopping rule without a twin."""

    def check(self, state):
        return int(state.gap <= 1e-3)


def test_a_rule_without_a_twin_stays_in_the_readable_loop(after_steps):
    after_steps(5)
    solution = solve(PROBLEM, stop=Unreadable())
    assert solution.engine == "numpy"
    assert solution.status is Status.CONVERGED


@needs_jit
def test_a_rule_without_a_twin_is_no_error_once_compiled_code_is_loaded(after_steps):
    """Nobody asked for Numba: the rounds of other rules have, and leave the readable loop to this one."""
    after_steps(10**9)
    solve(PROBLEM, engine="numba")
    rounds = Rounds(PROBLEM)
    engines = [rounds.solve(stop=stop).engine for stop in (None, Unreadable(), None)]
    assert engines == ["numba", "numpy", "numba"]
    assert solve(PROBLEM, stop=Unreadable()).engine == "numpy"
    loo = leave_one_out(X, Y, kernel=RBF(0.5), C=20.0, stop=Unreadable())
    assert loo.error == leave_one_out(X, Y, kernel=RBF(0.5), C=20.0, engine="numpy", stop=Unreadable()).error
    with pytest.raises(ValueError, match="Unreadable has none"):
        Rounds(PROBLEM, engine="numba").solve(stop=Unreadable())


@dataclass(frozen=True)
class SometimesCompiled(KKTGap):
    """Has a twin or not, as its field says."""

    has_twin: bool = True

    def twin(self):
        return KKTGap.twin(self) if self.has_twin else None


@needs_jit
def test_an_instance_may_decline_to_have_a_twin(after_steps):
    after_steps(10**9)
    assert solve(PROBLEM, stop=SometimesCompiled(has_twin=False)).engine == "numpy"
    handover.loaded.add(("loop", SecondOrder, PlanningAheadStep, SometimesCompiled))
    assert solve(PROBLEM, stop=SometimesCompiled(has_twin=False)).engine == "numpy"


@needs_jit
def test_a_broken_numba_is_a_warning_and_the_solve_goes_on(after_steps, monkeypatch):
    expected = solve(PROBLEM, engine="numpy")
    after_steps(5)

    def broken(*arguments):
        raise ImportError("libllvmlite.so: cannot open shared object file")

    monkeypatch.setattr(Engine, "compiled_loop", broken)
    monkeypatch.setattr(handover, "broken", [])
    with pytest.warns(
        UserWarning, match="Numba is installed and cannot be used .*libllvmlite.*goes on in NumPy"
    ):
        solution = solve(PROBLEM)
    assert solution.engine == "numpy"
    assert first_difference(expected, solution) is None
    assert solve(PROBLEM).engine == "numpy"  # without another trial, or another warning


@needs_jit
def test_trouble_of_a_rule_is_one_warning_for_all_restricted_problems(after_steps, monkeypatch):
    """It says nothing about Numba, so that other rules are tried again."""
    after_steps(5)

    def broken(*arguments):
        raise RuntimeError("this twin is wrong")

    monkeypatch.setattr(Engine, "compiled_loop", broken)
    monkeypatch.setattr(handover, "broken", [])
    with pytest.warns(UserWarning, match="this twin is wrong") as caught:
        solution = solve(PROBLEM, shrinking=SHRINK_EARLY)
    assert len(caught) == 1
    assert solution.engine == "numpy"
    assert not handover.broken


@needs_jit
def test_a_new_process_does_not_load_numba_for_a_small_problem():
    script = (
        "import sys; from refsvm import *; from refsvm.datasets import load; h = load('heart'); "
        "s = solve(DualProblem.classification(h.X, h.y, kernel=RBF(0.005), C=1.0)); "
        "print(s.engine, 'numba' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["numpy", "False"]


def test_the_tolerance_of_a_round_is_its_own():
    rounds = Rounds(PROBLEM)
    gaps = [rounds.solve(stop=KKTGap(tol)).kkt_gap for tol in (1e-1, 1e-6, 1e-1)]
    assert gaps[1] <= 1e-6 < gaps[0] == gaps[2] <= 1e-1
