"""Which engine takes the steps; with "auto", when the compiled loop takes over from the readable one.

The first solve in a process would wait for Numba: some tenths of a second to load what was compiled earlier, several
seconds to compile it for the first time. Many problems are solved in NumPy by then. Both loops take the same steps bit
for bit, so a solve begins in the readable loop. Once `ALLOWANCE_SECONDS` of solving have been spent in the process, the
compiled loop is loaded and goes on from the same state.
"""

from __future__ import annotations

import os
import time
import warnings
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from refsvm.kernels.numba_trouble import is_numba_trouble, numba_trouble
from refsvm.kernels.threads import load_compiled
from refsvm.result import Trace
from refsvm.solver.engine import Engine, ReadableEngine
from refsvm.solver.rules import Rules
from refsvm.state import SolverState

__all__ = ["EngineMaker", "compiled_code_is_due", "prepare_for_threads", "solving"]

ALLOWANCE_SECONDS = 0.2
"""Seconds of solving in NumPy after which the compiled loop is loaded."""

PIECE_STEPS = 50
"""Readable steps between two looks at the clock."""


class _Clock:
    """Seconds that this process has spent in solves, those going on included."""

    def __init__(self) -> None:
        self.finished, self.began = 0.0, 0.0

    def allowance_is_spent(self) -> bool:
        return self.finished + (time.perf_counter() - self.began) > ALLOWANCE_SECONDS


_clock = _Clock()
_loaded: set[tuple[object, ...]] = set()  # twins whose loop has run in this process
_broken: list[Exception] = []  # why Numba cannot be used in this process


class solving:  # noqa: N801  used like a function
    """Count the seconds of this block as spent in solving."""

    def __enter__(self) -> None:
        _clock.began = time.perf_counter()

    def __exit__(self, *failure: object) -> None:
        _clock.finished += time.perf_counter() - _clock.began


class EngineMaker:
    """Makes the engine called `name`, again and again for the restricted problems of one solve.

    Parameters
    ----------
    name : {"auto", "numba", "numpy"}

    Attributes
    ----------
    used : list of str
        "numpy", "numba", in the order in which they first took steps.

    Raises
    ------
    ValueError
        If the name is unknown, or "numba" is asked for and Numba is not installed or a rule has no twin.
    """

    def __init__(self, name: str) -> None:
        if name not in ("auto", "numba", "numpy"):
            raise ValueError(f'engine={name!r} is unknown; choose "auto", "numba" or "numpy".')
        if name == "numba" and not numba_is_installed():
            raise ValueError('engine="numba" needs the package numba; install it or use engine="numpy".')
        self.name = "numpy" if name == "auto" and (_broken or not numba_compiles()) else name
        self.used: list[str] = []

    def __call__(self, state: SolverState, rules: Rules, trace: Trace | None) -> Engine:
        """Return the engine for this state."""
        if self.name == "numpy":
            self.note("numpy")
            return ReadableEngine(state, rules, trace)
        if self.name == "numba" or tuple(map(type, rules)) in _loaded:
            return self.compiled(state, rules, trace)
        return _AutomaticEngine(self, state, rules, trace)

    def compiled(self, state: SolverState, rules: Rules, trace: Trace | None) -> Engine:
        """Return the compiled engine; load or compile it if this is the first time in the process."""
        try:
            from refsvm.solver.compiled_engine import CompiledEngine

            engine = CompiledEngine(state, rules, trace)
        except Exception as error:
            if self.name == "auto" or not is_numba_trouble(error):
                raise
            raise ValueError(f'{numba_trouble(error)}, or choose engine="numpy".') from error
        load_compiled()
        _loaded.add(tuple(map(type, rules)))
        self.note("numba")
        return engine

    def note(self, name: str) -> None:
        """Remember that the engine called `name` takes steps."""
        if name not in self.used:
            self.used.append(name)


class _AutomaticEngine:
    """Runs the readable loop until the allowance is spent, then the compiled one if every rule has a twin."""

    runs_in_chunks = True

    def __init__(self, maker: EngineMaker, state: SolverState, rules: Rules, trace: Trace | None) -> None:
        self._maker, self._state, self._rules, self._trace = maker, state, rules, trace
        self._engine: Engine = ReadableEngine(state, rules, trace)
        self._may_change = True

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps."""
        end = self._state.iteration + budget
        while self._may_change and not _clock.allowance_is_spent():
            self._maker.note("numpy")
            code = self._engine.advance(min(PIECE_STEPS, end - self._state.iteration))
            if code or self._state.iteration >= end:
                return code
        if self._may_change:
            self._engine, self._may_change = self._successor(), False
        return self._engine.advance(end - self._state.iteration)

    def _successor(self) -> Engine:
        """Return the engine that goes on."""
        try:
            if all(rule.twin() is not None for rule in self._rules):
                return self._maker.compiled(self._state, self._rules, self._trace)
        except Exception as error:  # noqa: BLE001  whatever a broken installation raises
            warnings.warn(
                f'{numba_trouble(error)}, or choose engine="numpy". The solve goes on in NumPy.', stacklevel=2
            )
            self._maker.name = "numpy"
            if is_numba_trouble(error):
                _broken.append(error)
        self._maker.note("numpy")
        return self._engine

    def restart(self, rules: Rules) -> bool:
        """Go on with the engine in use."""
        self._rules = rules
        return self._engine.restart(rules)

    def close(self) -> None:
        """Release what the engine holds."""
        self._engine.close()


@cache
def numba_is_installed() -> bool:
    """Whether there is a Numba to import."""
    return find_spec("numba") is not None


def numba_compiles() -> bool:
    """Whether Numba is installed, and not told to interpret (``NUMBA_DISABLE_JIT``), which is slower than NumPy."""
    return numba_is_installed() and os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


@cache
def prepare_for_threads() -> None:
    """Import the modules of compiled code: threads that meet in imports may find a module half made."""
    if not numba_compiles():
        return
    try:
        for name in (
            "kernels",
            "loop",
            "sequence",
            "following",
            "replacement",
            "gain_selectors",
            "loo_stopping",
        ):
            import_module(f"refsvm.fast.{name}")
    except Exception as error:
        if not is_numba_trouble(error):  # who needs that code will say what is wrong
            raise


def compiled_code_is_due() -> bool:
    """Whether compiled code is loaded already, or the allowance for doing without is spent."""
    return bool(_loaded) or _clock.finished > ALLOWANCE_SECONDS
