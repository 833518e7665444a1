"""Limits of a path: breakpoints, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable

from refsvm._checks import whole
from refsvm.paths.breakpoint import Breakpoint
from refsvm.result import Status
from refsvm.solver.limits import AnyLimits

__all__ = ["PathLimits"]


class PathLimits(AnyLimits[Breakpoint]):
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
        super().__init__(time_limit, callback, "a breakpoint")
        self.max_events = max(100_000, 100 * n) if max_events is None else whole("max_events", max_events, 1)
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
        return Status.TIME_LIMIT if self.is_late() else None
