"""What runs the steps: the `Engine` protocol, and `ReadableEngine`, which runs the readable loop."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from refsvm.result import Trace
from refsvm.solver.loop import steps
from refsvm.solver.rules import Rules
from refsvm.state import SolverState

__all__ = ["Engine", "ReadableEngine", "engine_called"]


class Engine(Protocol):
    """What runs the steps: `ReadableEngine`, or `refsvm.solver.compiled_engine.CompiledEngine`."""

    name: str
    paced: bool  # whether `advance` wants to be given chunks of some ten milliseconds

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps; return a stopping code (> 0), 0 if the budget is spent, −1 if no pair is left."""
        ...

    def close(self) -> None:
        """Release what the engine holds."""
        ...


class ReadableEngine:
    """Runs `steps`."""

    name, paced = "numpy", True

    def __init__(self, state: SolverState, rules: Rules, trace: Trace | None) -> None:
        self._state, self._rules, self._trace = state, rules, trace

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps."""
        loop, state = steps(self._state, *self._rules), self._state
        for _ in range(budget):
            try:
                with np.errstate(over="ignore"):  # a gain may exceed all numbers where q is hardly above 0
                    next(loop)
            except StopIteration as end:
                return int(end.value)
            if self._trace is not None and state.iteration % self._trace.every == 0:
                self._trace.append(state)
        return 0

    def close(self) -> None:
        """Nothing to release."""


def engine_called(name: str, rules: Rules) -> Callable[[SolverState, Rules, Trace | None], Engine]:
    """Return what makes the engine called `name` for a state, these rules and a trace."""
    if name not in ("auto", "numba", "numpy"):
        raise ValueError(f'engine={name!r} is unknown; choose "auto", "numba" or "numpy".')
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise ValueError('engine="numba" needs the package numba; install it or use engine="numpy".')
    if name == "numpy" or not installed or (name == "auto" and any(rule.twin() is None for rule in rules)):
        return ReadableEngine
    from refsvm.solver.compiled_engine import CompiledEngine

    return CompiledEngine
