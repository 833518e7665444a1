"""What runs the steps: the `Engine` protocol, and `ReadableEngine`, which runs the readable loop."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from refsvm.result import Trace
from refsvm.solver.loop import steps
from refsvm.solver.rules import Rules
from refsvm.state import SolverState

__all__ = ["Engine", "ReadableEngine"]


class Engine(Protocol):
    """What runs the steps: `ReadableEngine`, or `refsvm.solver.compiled_engine.CompiledEngine`."""

    runs_in_chunks: bool  # whether `advance` wants to be given chunks of some ten milliseconds

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps; return a stopping code (> 0), 0 if the budget is spent, −1 if no pair is left."""
        ...

    def restart(self, rules: Rules) -> bool:
        """Go on with another solve of the same state under these rules; False if that takes a new engine."""
        ...

    def close(self) -> None:
        """Release what the engine holds."""
        ...


class ReadableEngine:
    """Runs `refsvm.solver.steps`.

    Parameters
    ----------
    state : SolverState
    rules : Rules
    trace : Trace or None
        Where the steps are recorded.
    """

    runs_in_chunks = True

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

    def restart(self, rules: Rules) -> bool:
        """Take the rules over."""
        self._rules = rules
        return True

    def close(self) -> None:
        """Nothing to release."""
