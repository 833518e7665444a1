"""What takes the steps of a solve: the `Loop` protocol, and `ReadableLoop`, which runs the readable loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

import numpy as np

from refsvm.engine import handover
from refsvm.result import Trace
from refsvm.state import SolverState

if TYPE_CHECKING:
    from refsvm.solver.rules import Rules

__all__ = ["INSEPARABLE", "Loop", "ReadableLoop", "chosen_engine"]

INSEPARABLE: Final = -2
"""What `Loop.advance` returns where no function separates the classes, however hard the margin."""


def chosen_engine(name: str) -> str:
    """Return the name of the engine, "numpy" for "auto" where nothing can be compiled.

    Raises
    ------
    ValueError
        If it is unknown, or "numba" and Numba is not installed.
    """
    if name not in ("auto", "numba", "numpy"):
        raise ValueError(f'engine={name!r} is unknown; choose "auto", "numba" or "numpy".')
    if name == "numba" and not handover.numba_is_installed():
        raise ValueError('engine="numba" needs the package numba; install it or use engine="numpy".')
    return "numpy" if name == "auto" and (handover.broken or not handover.numba_compiles()) else name


class Loop(Protocol):
    """What takes steps: readable or compiled, on all variables or on some, in a closed box or in an open one."""

    @property
    def runs_in_chunks(self) -> bool:
        """Whether `advance` wants to be given chunks of some ten milliseconds; else it returns often enough itself."""
        ...

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps; return a stopping code (> 0), 0 if the budget is spent, −1 if no pair is left."""
        ...


Successor = Callable[[], Loop | None]


@dataclass(eq=False)
class ReadableLoop:
    """Runs `refsvm.solver.loop.steps`.

    Parameters
    ----------
    state : SolverState
    rules : Rules
    trace : Trace or None
        Where the steps are recorded.
    successor : callable, optional
        Asked now and then; returns the loop that goes on from here, or None.
    """

    state: SolverState
    rules: Rules
    trace: Trace | None
    successor: Successor | None = None
    follower: Loop | None = None
    runs_in_chunks: ClassVar[bool] = True

    def advance(self, budget: int) -> int:
        """Take up to `budget` steps."""
        from refsvm.solver.loop import steps  # that room is built on this one

        state, loop, end = self.state, steps(self.state, *self.rules), self.state.iteration + budget
        for taken in range(budget):
            if self.successor is not None and taken % handover.PIECE_STEPS == 0:
                self.follower = self.follower or self.successor()
                if self.follower is not None:
                    return self.follower.advance(end - state.iteration)
            # a generator is given up half way where the budget ends: its state is all in `state`
            try:
                with np.errstate(over="ignore"):  # a gain may exceed all numbers where q is hardly above 0
                    next(loop)
            except StopIteration as ending:
                return int(ending.value)
            if self.trace is not None and state.iteration % self.trace.every == 0:
                self.trace.append(state)
        return 0
