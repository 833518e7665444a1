"""Limits of a path: breakpoints, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Callable

from refsvm._checks import positive, whole
from refsvm.paths.breakpoint import Breakpoint
from refsvm.result import Status
from refsvm.solver.limits import Interrupt

__all__ = ["PathLimits"]


class PathLimits:
    """What may end a path before C_max.

    Parameters
    ----------
    n : int
        Number of variables, for the default of `max_events`.
    max_events : int, optional
        Most breakpoints; max(10⁵, 100n) by default.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        Called with every breakpoint; a true result ends the path.

    Attributes
    ----------
    interrupt : Interrupt
        That of the `interruptible` block around the path.

    Raises
    ------
    ValueError
        If a limit is not positive or the callback cannot be called.

    Examples
    --------
    >>> from refsvm.paths.limits import PathLimits
    >>> PathLimits(5).max_events
    100000
    """

    def __init__(
        self,
        n: int,
        max_events: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[Breakpoint], object] | None = None,
    ) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of a breakpoint.")
        self.max_events = max(100_000, 100 * n) if max_events is None else whole("max_events", max_events, 1)
        self.began = time.perf_counter()
        self.deadline = None if time_limit is None else self.began + positive("time_limit", time_limit)
        self.interrupt = Interrupt()
        self.callback = callback
        self.events = 0

    def reached(self, point: Breakpoint) -> Status | None:
        """Count a breakpoint; return the Status of the first limit reached, or None."""
        self.events += 1
        if self.callback is not None and self.callback(point):
            return Status.CALLBACK
        if self.interrupt.pressed:
            return Status.INTERRUPTED
        if self.events >= self.max_events:
            return Status.MAX_ITER
        if self.deadline is not None and time.perf_counter() >= self.deadline:
            return Status.TIME_LIMIT
        return None
