"""Auto: what it begins with, when compiled code goes on where NumPy stopped, and that results do not tell."""

from __future__ import annotations

import gc
import itertools
import os
import threading
import time
import weakref
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from refsvm import (
    ATO,
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
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.compiled import auto
from refsvm.core import arithmetic
from refsvm.core.backend import chosen_backend
from refsvm.core.stopping.base import StoppingRule
from refsvm.testing import SHRINK_EARLY, first_difference

from ..programs import printed_by
from ..settings import FAST, needs_jit

rng = np.random.default_rng(8)
X = rng.normal(size=(80, 3))
Y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=80) > 0.7, 1, -1)
PROBLEM = DualProblem.classification(X, Y, kernel=RBF(0.5), C=20.0)


@pytest.fixture
def fresh(monkeypatch):
    """A process that has spent no time yet, and loaded nothing."""
    monkeypatch.setattr(auto, "process", auto.Process())
    monkeypatch.setattr(arithmetic, "current", arithmetic.Arithmetic())
    return auto.process


@pytest.fixture
def after_steps(monkeypatch):
    """Let compiled code go on after so many chunks of work: steps, rounds, seeds or events."""
    has = auto.Auto._has

    def set_to(k):
        looks = itertools.count()
        monkeypatch.setattr(auto, "process", auto.Process())
        monkeypatch.setattr(auto, "ALLOWANCE_SECONDS", -1.0)
        monkeypatch.setattr(auto, "PIECE_STEPS", 1)
        monkeypatch.setattr(auto.Process, "code_is_there", lambda *arguments: True)
        monkeypatch.setattr(auto.Auto, "_has", lambda self, *what: next(looks) >= k and has(self, *what))

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
@pytest.mark.slow
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


OPTIONS = {"kernel": RBF(0.5), "C": 20.0}


def values_along(**options):
    path = regularization_path(X, Y, kernel=RBF(0.5), C_min=0.1, C_max=10.0, **options)
    return np.append(path.C, path.alpha(3.0))


def values_of(run, seeder, **options):
    """Decision values of rounds that this seeder begins."""
    return run(X, Y, seeder=seeder, **OPTIONS, **options).decision_values


FOLDS = partial(cross_validate, folds=10, rng=0)
LONG = {
    "leave-one-out": partial(values_of, leave_one_out, TOP()),
    "folds, SIR": partial(values_of, FOLDS, SIR()),
    "folds, ATO": partial(values_of, FOLDS, ATO()),
    "path": values_along,
}


@needs_jit
@pytest.mark.parametrize("k", [0, 3, 20, 60, 10**9])
@pytest.mark.parametrize(
    "call", [pytest.param(each, marks=[pytest.mark.slow] * (each != "path")) for each in LONG]
)
def test_rounds_and_paths_handed_over_are_the_same(k, call, after_steps):
    expected = LONG[call](engine="numpy")
    after_steps(k)
    np.testing.assert_array_equal(LONG[call](), expected)


@pytest.fixture
def compiled_meanwhile(monkeypatch, fresh):
    """Let compiled code of each family be there after so many looks; return what was looked for, in order."""

    def after(times):
        asked = []

        def loaded(backend, family, rules):
            asked.append(family)
            return asked.count(family) > times

        monkeypatch.setattr(auto.Process, "code_is_there", loaded)
        monkeypatch.setattr(auto, "PIECE_STEPS", 3)
        monkeypatch.setattr(auto, "ALLOWANCE_SECONDS", -1.0)
        return asked

    return after


@needs_jit
@pytest.mark.parametrize("times", [0, 2, 10**9])
def test_a_solve_goes_on_in_numpy_until_its_code_is_there(times, compiled_meanwhile):
    expected, asked = solve(PROBLEM, engine="numpy"), compiled_meanwhile(times)
    solution = solve(PROBLEM)
    assert solution.engine == {0: "numba", 2: "numpy, numba"}.get(times, "numpy")
    assert set(asked) == {"loop"}
    assert first_difference(expected, solution) is None


@needs_jit
@pytest.mark.parametrize("times", [1, 10**9])
@pytest.mark.parametrize("call", ["leave-one-out", "folds, SIR"])
@pytest.mark.slow
def test_rounds_go_on_in_numpy_until_their_code_is_there(times, call, compiled_meanwhile):
    expected, asked = LONG[call](engine="numpy"), compiled_meanwhile(times)
    np.testing.assert_array_equal(LONG[call](), expected)
    # of leave-one-out, rounds that go on for their sign ask once more
    assert (asked.count("rounds") in (2, 3)) == (times == 1)
    # one that waits for its rounds makes seeds by the twin, if that is there
    assert {"loop", "rounds", "twin"} >= set(asked) >= ({"rounds"} if times == 1 else {"rounds", "twin"})


@needs_jit
def test_a_path_goes_on_in_numpy_until_its_code_is_there(compiled_meanwhile):
    expected, asked = values_along(engine="numpy"), compiled_meanwhile(3)
    np.testing.assert_array_equal(values_along(), expected)
    assert asked.count("twin") == 4


def test_engines_with_a_name_ask_no_other(compiled_meanwhile):
    asked = compiled_meanwhile(0)
    solve(PROBLEM, engine="numpy")
    solve(PROBLEM, engine=FAST)
    assert asked == []


@needs_jit
def test_the_seconds_of_all_solves_add_up(monkeypatch, fresh):
    monkeypatch.setattr(auto, "ALLOWANCE_SECONDS", 0.5)  # a first solve on a busy machine takes less
    monkeypatch.setattr(auto.Process, "code_is_there", lambda *arguments: True)
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


@needs_jit
def test_the_seconds_of_a_path_count(monkeypatch, fresh):
    """Those between two events, as long as NumPy follows them."""
    monkeypatch.setattr(auto, "ALLOWANCE_SECONDS", 1e9)
    regularization_path(X, Y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    assert fresh.seconds > 0.0


@needs_jit
def test_the_sessions_of_restricted_problems_are_released(monkeypatch):
    """By counting references alone: their matrices must not wait for the garbage collector."""
    from refsvm.compiled.session import Session

    made, make = [], Session.__init__

    def noted(session, *rest):
        made.append(weakref.ref(session))
        make(session, *rest)

    options = {"engine": "numba", "shrinking": SHRINK_EARLY, "stop": KKTGap(1e-9)}
    Rounds(PROBLEM, **options).solve()  # the compiler, if it runs, leaves frames to the garbage collector
    monkeypatch.setattr(Session, "__init__", noted)
    rounds = Rounds(PROBLEM, **options)
    gc.disable()
    try:
        rounds.solve()
        rounds.close()
        assert len(made) > 2
        assert [session() for session in made] == [None] * len(made)
    finally:
        gc.enable()


@pytest.mark.parametrize("most", [1, 7, 20, 33])
def test_the_readable_loop_keeps_to_its_chunk(after_steps, monkeypatch, most):
    after_steps(10**9)
    monkeypatch.setattr(auto, "PIECE_STEPS", 50)
    assert solve(PROBLEM, max_iter=most, shrinking=False).iterations == most


class Unreadable(StoppingRule):
    """A stopping rule without a twin."""

    def check(self, state):
        return int(state.gap <= 1e-3)


@needs_jit
@pytest.mark.slow
def test_a_rule_without_a_twin_is_no_error_once_compiled_code_is_loaded(after_steps):
    """No call asked for Numba but the rounds of other rules, which leave the readable loop to this one."""
    after_steps(0)
    rounds = Rounds(PROBLEM)
    engines = [rounds.solve(stop=stop).engine for stop in (None, Unreadable(), None)]
    assert engines == ["numba", "numpy", "numba"]
    assert solve(PROBLEM, stop=Unreadable()).engine == "numpy"
    one, other = (
        leave_one_out(X, Y, stop=Unreadable(), engine=each, **OPTIONS) for each in ("auto", "numpy")
    )
    assert one.error == other.error
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
    auto.process.ready.add(("loop", SecondOrder, PlanningAheadStep, SometimesCompiled))
    assert solve(PROBLEM, stop=SometimesCompiled(has_twin=False)).engine == "numpy"


@needs_jit
@pytest.mark.parametrize("error", [RuntimeError("this twin is wrong"), ImportError("libllvmlite.so is gone")])
def test_trouble_is_one_warning_for_all_restricted_problems(after_steps, monkeypatch, error):
    """An error of a rule says nothing about Numba, so that other rules are tried again."""
    after_steps(5)

    def broken(*arguments):
        raise error

    monkeypatch.setattr(auto, "compiled_backend", broken)
    with pytest.warns(UserWarning, match=str(error)) as caught:
        solution = solve(PROBLEM, shrinking=SHRINK_EARLY)
    assert len(caught) == 1
    assert solution.engine == "numpy"
    assert bool(auto.process.broken) == isinstance(error, ImportError)


def test_where_numba_interprets_auto_is_numpy(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert chosen_backend("auto").name == "numpy"
    assert solve(PROBLEM).engine == "numpy"


@needs_jit
@pytest.mark.slow
def test_a_new_process_does_not_load_numba_for_a_small_problem():
    script = (
        "import sys; from refsvm import *; from refsvm.datasets import load; h = load('heart'); "
        "s = solve(DualProblem.classification(h.X, h.y, kernel=RBF(0.005), C=1.0)); "
        "print(s.engine, 'numba' in sys.modules)"
    )
    assert printed_by("-c", script).split() == ["numpy", "False"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("which", ["ours", "Numba's"])
def test_a_process_is_forked_when_no_thread_loads_or_compiles(which):
    """In the child nobody would ever release the lock that another thread holds."""
    numba = pytest.importorskip("numba.core.compiler_lock")
    lock = auto.process.loading if which == "ours" else numba.global_compiler_lock._lock
    is_held = threading.Event()

    def load():
        with lock:
            is_held.set()
            time.sleep(0.3)

    other = threading.Thread(target=load)
    other.start()
    is_held.wait()
    if not (child := os.fork()):
        os._exit(0 if lock.acquire(blocking=False) else 1)
    other.join()
    assert os.waitpid(child, 0)[1] == 0
    assert lock.acquire(blocking=False)
    lock.release()
