"""NumPyBackend: everything one after another, by the readable code."""

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
    """Steps by `refsvm.core.solver.loop.steps`, rounds by their runner, events by their tracker."""

    name: ClassVar[str] = "numpy"

    def __init__(self) -> None:
        self.used: dict[str, None] = {}

    def steps(self, state: SolverState, rules: Rules, budget: int, trace: Trace | None = None) -> int:
        """Take up to `budget` steps."""
        self.used["numpy"] = None
        loop = steps(state, *validated(*rules))
        # a generator is given up half way where the budget ends: its state is all in `state`
        with np.errstate(over="ignore"):  # a gain may exceed all numbers where q is hardly above 0
            for _ in range(budget):
                try:
                    next(loop)
                except StopIteration as ending:
                    return int(ending.value)
                if trace is not None and state.iteration % trace.every == 0:
                    trace.append(state)
        return 0

    def rounds(self, runner: Any, waiting: Sequence[Any]) -> list[Any]:
        """Run one round."""
        return [runner.round(waiting[0])]

    def seeder(self, seeder: Any, rows: Any) -> Any:
        """The seeder itself."""
        return seeder

    def events(self, walk: Any, tracker: Any, end: float, most: int) -> list[Any]:
        """None: the tracker follows them."""
        return []


BACKENDS["numpy"] = NumPyBackend
BACKENDS.setdefault("auto", NumPyBackend)
