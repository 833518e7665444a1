"""NumPyBackend: takes steps and runs rounds one after another, in readable NumPy code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from refsvm.core.backend import BACKENDS
from refsvm.core.result import Trace
from refsvm.core.solver.loop import steps
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.validated import validated
from refsvm.core.state import SolverState


class NumPyBackend:
    """The backend that takes steps with `refsvm.core.solver.loop.steps`, without compiled code."""

    name: ClassVar[str] = "numpy"

    def __init__(self) -> None:
        self.used: dict[str, None] = {}

    def steps(self, state: SolverState, rules: Rules, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps; return 0, or the code with which the loop ended."""
        self.used["numpy"] = None
        loop = steps(state, *validated(*rules))
        # `state` holds the result of every step, so the generator `loop` need not run to its end
        with np.errstate(over="ignore"):  # a gain may overflow if q is barely above 0
            for _ in range(budget):
                try:
                    next(loop)
                except StopIteration as ending:
                    return int(ending.value)
                if trace is not None and state.iteration % trace.every == 0:
                    trace.append(state)
        return 0

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Let `runner` run the first round in `waiting`; return its result in a list."""
        return [runner.round(waiting[0])]

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """Return the seeder unchanged, because it computes seeds in NumPy."""
        return seeder

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """Return an empty list, which tells the path tracker to find the next event itself, in NumPy."""
        return []


BACKENDS["numpy"] = NumPyBackend
BACKENDS.setdefault("auto", NumPyBackend)
