"""Auto: the backend that works in NumPy until loading compiled code saves time.

With Numba, the first solve in a process would have to wait some tenths of a second until compiled code is loaded, or
several seconds until it is compiled. Many problems take NumPy only a tenth of a second. Therefore `Auto` decides for
each chunk of work whether NumPy or compiled code does the chunk. While NumPy works, a child process compiles code that
is not on disk (`refsvm.compiled.interface.background_compiler`).
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from refsvm.analysis.small.stacked import StackedBackend, are_stacked
from refsvm.compiled.interface import background_compiler
from refsvm.compiled.interface.code_files import LOOKS, may_be_on_disk
from refsvm.compiled.trouble import is_numba_trouble, numba_trouble
from refsvm.compiled.twins import have_twins, numba_compiles, numba_is_installed, twins_of
from refsvm.core import arithmetic
from refsvm.core.backend import BACKENDS, Backend
from refsvm.core.result import Trace
from refsvm.core.seeders import Cold
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SolverState

ALLOWANCE_SECONDS = 0.2
"""Compiled code is loaded after this many seconds of work in NumPy in this process."""

PIECE_STEPS = 50
"""Number of NumPy steps between two checks of the clock."""

PIECE_PROBLEMS = 8
"""Number of small problems, solved one by one, between two checks for compiled code."""

CHECK_SECONDS = 0.1
"""Smallest number of seconds between two checks for compiled code on disk."""

PAUSE = 10.0
"""The pause between two checks is at least this many times as long as the last check."""

PLACES: Final = {
    "loop": "solver/loop", "single loop": "solver/loop", "rounds": "rounds/rounds", "single rounds": "rounds/rounds",
    "small": "analysis/small/small",
}  # fmt: skip
"""For each family, the file whose code is compiled last; each twin has its own file."""


class Process:
    """Data that all backends of this process share: the loaded code, the seconds of NumPy work, and errors."""

    def __init__(self) -> None:
        self.seconds = 0.0  # seconds of NumPy work that compiled code could have done
        self.ready: set[tuple[object, ...]] = set()  # keys of loaded code: a family and rule types
        self.broken: list[Exception] = []  # contains the error that makes Numba unusable, if any
        # only one thread at a time may import Numba: other threads would find incomplete modules
        self.loading = threading.RLock()
        self.next_check: dict[tuple[str, ...], float] = {}

    def code_is_there(self, family: str, rules: Sequence[Any], module: str = "") -> bool:
        """Load code from disk and return True; if it is not on disk, let a child process compile it and return False.

        If no child process can be started, this process compiles the code. To load a function of the arithmetic, pass
        the function's module as `module` (`refsvm.compiled.interface.families.load`).
        """
        places = [background_compiler.place_of(rule) for rule in rules]
        began, order = time.perf_counter(), (family, *places)
        # if another thread is loading, this thread continues in NumPy and does not wait
        if began < self.next_check.get(order, 0.0) or not self.loading.acquire(blocking=False):
            return False
        try:
            if background_compiler.is_on():
                place = PLACES.get(family) or module.removeprefix("refsvm.compiled.") or places[0]
                if may_be_on_disk(place.replace(".", "/")) and could_load(family, rules):
                    return True
                if background_compiler.ask(family, rules):
                    return False
            load(family, rules)
            return True
        finally:
            now = time.perf_counter()
            # the pause grows with the time of a check: on a slow disk, checks could take longer than the steps
            self.next_check[order] = now + max(CHECK_SECONDS, PAUSE * (now - began))
            self.loading.release()


process: Process = Process()


_held: list[Any] = []
"""The locks that this thread holds while it forks."""


def _before_fork() -> None:
    """Wait until no thread loads or compiles code; otherwise a forked child would find unfinished modules or locks."""
    _held[:] = [process.loading]
    process.loading.acquire()
    # if `sys.modules` contains Numba's module, its import is complete: threads import Numba only under the first lock
    if numba := sys.modules.get("numba.core.compiler_lock"):
        _held.append(numba.global_compiler_lock)
        numba.global_compiler_lock.acquire()


def _after_fork() -> None:
    while _held:
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class Auto:
    """The backend that decides before each chunk of work whether compiled code or NumPy does the chunk."""

    def __init__(self) -> None:
        self._numpy = StackedBackend()
        self._compiled: Any = None  # the compiled backend, made at its first use
        self._has_failed, self._asked = False, 0.0
        self.used = self._numpy.used

    @property
    def name(self) -> str:
        """Name of the engine that takes the next step."""
        return "numpy" if self._compiled is None else "numba"

    def steps(self, state: SolverState, rules: Rules, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps, in compiled code as soon as it is available."""
        family = "loop" if state.rows.values.dtype == np.float64 else "single loop"
        end, code = state.iteration + budget, 0
        # take steps in small pieces, so that compiled code can take over before the end of a chunk
        while not code and state.iteration < end:
            if self._has(family, rules):
                return int(self._compiled.steps(state, rules, end - state.iteration, trace))
            # count the seconds even if a user's rule raises an error
            began = time.perf_counter()
            try:
                code = self._numpy.steps(state, rules, min(PIECE_STEPS, end - state.iteration), trace)
            finally:
                process.seconds += time.perf_counter() - began
        return code

    def small(self, problems: Any, rules: Rules, limit: int) -> None:
        """Take the steps of small problems, in compiled code as soon as it is available."""
        piece = len(problems) if are_stacked(problems, rules) else PIECE_PROBLEMS
        for first in range(0, len(problems), piece):
            if self._has("small", rules):
                self._compiled.small(problems.part(slice(first, None)), rules, limit)
                return
            began = time.perf_counter()
            self._numpy.small(problems.part(slice(first, first + piece)), rules, limit)
            process.seconds += time.perf_counter() - began

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run a chunk of rounds in compiled code, or a single round in NumPy; return the results of the rounds."""
        family = (
            "single rounds"
            if runner.family.rows.gram.is_float32 and not runner.seeder.reads_rows
            else "rounds"
        )
        has = runner.is_short(waiting[0]) and self._has(family, (runner.seeder, *runner.rules))
        backend = self._compiled if has else self._numpy
        return list(backend.rounds(runner, waiting))

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """Return an object that calls the compiled seeder, or the seeder itself until the code is loaded."""
        return self._compiled.seeder(seeder, rows) if self._has("twin", [seeder]) else seeder

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Follow events of a path in compiled code and return them; return an empty list until the code is loaded."""
        # count the seconds that the tracker has worked in NumPy since the path began, or since the last call here
        now = time.perf_counter()
        process.seconds += now - max(walk.began, self._asked)
        self._asked = now
        return list(self._compiled.events(walk, tracker, end, most)) if self._has("twin", [tracker]) else []

    def _has(self, family: str, rules: Sequence[Any]) -> bool:
        """Return True if a family of functions is loaded for these rules; load them after enough work in NumPy."""
        key = family, *map(type, rules)
        is_loaded = key in process.ready
        # load at once if another call has already loaded Numba, because loading then takes little time
        is_due = arithmetic.current.sparse is not None or process.seconds > ALLOWANCE_SECONDS
        if self._has_failed or not (is_loaded or (is_due and not process.broken)):
            return False
        try:
            if family in ("rounds", "single rounds") and not have_twins(rules[:1]):
                rules = (Cold(), *rules[1:])  # this seeder has no twin: load the code of rounds with `Cold`
            # check the instances: `key` contains only the types of the rules, but an instance may have no twin
            if not have_twins(rules) or not (is_loaded or process.code_is_there(family, rules)):
                return False
            process.ready.add(key)
            if self._compiled is None:
                self._compiled = compiled_backend()
                self._compiled.used = self.used
        except Exception as error:  # noqa: BLE001  anything that a broken installation raises
            self._has_failed = True
            warnings.warn(
                f'{numba_trouble(error)}, or choose engine="numpy". The solve goes on in NumPy.', stacklevel=2
            )
            if is_numba_trouble(error):
                process.broken.append(error)
            return False
        return True


def load(family: str, rules: Sequence[Any]) -> None:
    """Load or compile a family of functions (`refsvm.compiled.interface.families`) for these rules."""
    import_module("refsvm.compiled.interface.families").load(family, twins_of(rules))


def could_load(family: str, rules: Sequence[Any]) -> bool:
    """Load a family of functions from disk and return True; return False if code is missing on disk."""
    twin = import_module("refsvm.compiled.interface.twin")
    try:
        with twin.never_compiling():
            load(family, rules)
    except twin.NotCompiledYet:
        return False
    return True


def compiled_backend() -> Backend:
    """Return the backend that always uses compiled code."""
    if not numba_is_installed():
        raise ValueError('engine="numba" needs the package numba; install it or use engine="numpy".')
    try:
        with process.loading:
            backend: Backend = import_module("refsvm.compiled.backend").CompiledBackend()
    except Exception as error:
        if not is_numba_trouble(error):
            raise
        raise ValueError(f'{numba_trouble(error)}, or choose engine="numpy".') from error
    return backend


def auto() -> Backend:
    """Return an `Auto` backend, or a NumPy backend if Numba cannot compile."""
    # do not try a broken Numba again: the user has been warned, and each attempt would import it again
    return Auto() if numba_compiles() and not process.broken else StackedBackend()


def load_arithmetic(waits: bool = True) -> None:
    """Load the compiled arithmetic from disk; if it is not on disk, compile it only if `waits` is True."""
    if numba_is_installed() and not process.broken:
        try:
            with process.loading:
                if waits or could_load("kernels", ()):
                    import_module("refsvm.compiled.arithmetic")
        except Exception as error:  # noqa: BLE001  anything that a broken installation or a damaged cache raises
            warnings.warn(f"{numba_trouble(error)}. Kernels are evaluated in NumPy.", stacklevel=4)
            process.broken.append(error)


BACKENDS["numba"], BACKENDS["auto"] = compiled_backend, auto
LOOKS.append(lambda *order: process.code_is_there(*order))  # noqa: PLW0108  a test may replace the process
if numba_is_installed():
    arithmetic.load_with(load_arithmetic)
