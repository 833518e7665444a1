"""Limits of a solve: iterations, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from refsvm._checks import positive, whole
from refsvm.result import Status

if TYPE_CHECKING:
    from refsvm.state import SolverState

__all__ = ["Limits"]


class Limits:
    """What may end a solve before its stopping rule does.

    Parameters
    ----------
    n : int
        Number of variables, for the default of `max_iter`.
    max_iter : int, optional
        At least 1; max(10⁷, 100n) by default, as in LIBSVM.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        Called with the state between chunks; a true result ends the solve.

    Raises
    ------
    ValueError
        If a limit is not positive or the callback cannot be called.

    Examples
    --------
    >>> from refsvm.solver.limits import Limits
    >>> Limits(n=5).max_iter
    10000000
    """

    def __init__(
        self,
        n: int,
        max_iter: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[SolverState], object] | None = None,
    ) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of the solver state.")
        self.max_iter = max(10_000_000, 100 * n) if max_iter is None else whole("max_iter", max_iter, 1)
        self.began = self._asked = time.perf_counter()
        self.deadline = None if time_limit is None else self.began + positive("time_limit", time_limit)
        self.callback = callback
        self.interrupted = False

    def pressing(self) -> bool:
        """Whether a restricted solve should end early, so that `reached` is asked."""
        now = time.perf_counter()
        late = self.deadline is not None and now >= self.deadline
        return self.interrupted or late or (self.callback is not None and now >= self._asked + 0.1)

    def reached(self, state: SolverState) -> Status | None:
        """Return the Status of the first limit reached, or None."""
        self._asked = time.perf_counter()
        if self.interrupted:
            return Status.INTERRUPTED
        if self.callback is not None and self.callback(state):
            return Status.CALLBACK
        if state.iteration >= self.max_iter:
            return Status.MAX_ITER
        if self.deadline is not None and time.perf_counter() >= self.deadline:
            return Status.TIME_LIMIT
        return None

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Turn the first Ctrl-C into `interrupted`, so that no update is cut in half; a second one interrupts.

        Only the main thread receives signals; elsewhere, and where a handler of another kind is installed, nothing
        is changed.
        """
        if (
            threading.current_thread() is not threading.main_thread()
            or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        ):
            yield
            return

        def note(number: int, frame: FrameType | None) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, signal.default_int_handler)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
