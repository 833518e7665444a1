"""Limits of a solve: iterations, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` calls after 2 µs of looking up names
import threading
import time
from collections.abc import Callable
from signal import SIGINT, default_int_handler
from types import FrameType
from typing import TYPE_CHECKING, Generic, TypeVar

from refsvm._checks import positive, whole
from refsvm.result import Status

if TYPE_CHECKING:
    from refsvm.state import SolverState

__all__ = ["AnyLimits", "Interrupt", "Limits", "interruptible", "is_interruptible"]

Seen = TypeVar("Seen")


class AnyLimits(Generic[Seen]):
    """What may end a solve or a path early: seconds, a callback, Ctrl-C.

    Parameters
    ----------
    time_limit : float, optional
        Seconds, from now.
    callback : callable, optional
        Called with what `seen` names; a true result ends the computation.
    seen : str
        For the message.

    Attributes
    ----------
    interrupt : Interrupt
        That of the `interruptible` block around the computation.
    began, deadline : float, float or None
        On the clock of `time.perf_counter`.

    Raises
    ------
    ValueError
        If the limit is not positive or the callback cannot be called.
    """

    def __init__(
        self, time_limit: float | None, callback: Callable[[Seen], object] | None, seen: str
    ) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of {seen}.")
        self.began = time.perf_counter()
        self.deadline = None if time_limit is None else self.began + positive("time_limit", time_limit)
        self.callback = callback
        self.interrupt = Interrupt()

    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and time.perf_counter() >= self.deadline


class Limits(AnyLimits["SolverState"]):
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
        super().__init__(time_limit, callback, "the solver state")
        self.max_iter = max(10_000_000, 100 * n) if max_iter is None else whole("max_iter", max_iter, 1)
        self.round_began = self._last_look = self.began

    def begin_round(self) -> float:
        """Note when a round begins, for its trace, and return that moment."""
        self.round_began = self._last_look = time.perf_counter()
        return self.round_began

    def should_return_early(self, state: SolverState) -> bool:
        """Whether a restricted solve should end before it is solved, because a limit or the callback is due.

        A callback with an attribute ``only_watches = True`` is shown the restricted state instead: it changes nothing.
        """
        if getattr(self.callback, "only_watches", False):
            assert self.callback is not None
            self.callback(state)
            due = False
        else:
            due = self.callback is not None and time.perf_counter() >= self._last_look + 0.1
        return self.interrupt.pressed or due or self.is_late()

    def reached(self, state: SolverState) -> Status | None:
        """Return the Status of the first limit reached, or None."""
        self._last_look = time.perf_counter()
        if self.interrupt.pressed:
            return Status.INTERRUPTED
        if self.callback is not None and self.callback(state):
            return Status.CALLBACK
        if state.iteration >= self.max_iter:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if self.is_late() else None


class Interrupt:
    """Whether Ctrl-C was pressed since a family of solves began.

    Attributes
    ----------
    pressed : bool
    """

    def __init__(self) -> None:
        self.pressed = False


_present: list[Interrupt] = []  # the one whose handler is installed, if any


def is_interruptible() -> bool:
    """Whether an `interruptible` block is open, so that its owner will see a press."""
    return bool(_present)


class interruptible:  # noqa: N801  used like a function, as are those of contextlib
    """Turn the first Ctrl-C into ``interrupt.pressed``, so that no update is cut in half; a second one interrupts.

    Put it around a solve, or around many: blocks inside of this one share its `Interrupt`, and whoever opened the
    outermost block decides what follows. Only the main thread receives signals. Elsewhere, and where a handler of
    another kind is installed, nothing is changed.

    Entering it gives the `Interrupt`.

    Examples
    --------
    >>> from refsvm.solver.limits import interruptible
    >>> with interruptible() as outer, interruptible() as inner:
    ...     print(outer is inner, outer.pressed)
    True False
    """

    __slots__ = ("_interrupt", "_opened")

    def __enter__(self) -> Interrupt:
        self._interrupt = _present[0] if _present else Interrupt()
        in_charge = not _present and threading.current_thread() is threading.main_thread()
        self._opened = in_charge and _signal.getsignal(SIGINT) is default_int_handler
        if self._opened:
            _signal.signal(SIGINT, self._note)
            _present.append(self._interrupt)
        return self._interrupt

    def __exit__(self, *failure: object) -> None:
        if self._opened:
            _present.clear()
            _signal.signal(SIGINT, default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._interrupt.pressed = True
        _signal.signal(SIGINT, default_int_handler)
