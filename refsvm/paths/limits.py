"""Limits of a path: breakpoints, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from refsvm.engine.limits import Limits
from refsvm.walk.breakpoint import Point

__all__ = ["PathLimits"]


class PathLimits(Limits[Point]):
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
    >>> PathLimits(5).most
    100000
    """

    counted: ClassVar[str] = "max_events"
    default: ClassVar[int] = 100_000
    seen: ClassVar[str] = "a breakpoint"

    def __init__(
        self,
        n: int,
        max_events: int | None = None,
        time_limit: float | None = None,
        callback: Callable[..., object] | None = None,
    ) -> None:
        super().__init__(n, max_events, time_limit, callback)
