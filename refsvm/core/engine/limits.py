"""Limits of a solve: iterations, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # a call through `signal` takes 2 µs longer
import math
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from signal import SIGINT, default_int_handler
from types import FrameType
from typing import Any, ClassVar, Final, Generic, TypeVar

from refsvm.core._checks import positive, whole
from refsvm.core.engine.progress import Progress
from refsvm.core.result import Status

Seen = TypeVar("Seen")
Found = TypeVar("Found")

GRACE_SECONDS: Final = 0.3
"""Seconds by which a solve may exceed its deadline in order to bring its gradient up to date."""


class Deadline:
    """The time at which a computation must end; functions pass this deadline to each other, not the remaining seconds.

    Parameters
    ----------
    at : float
        The time on the clock of `time.perf_counter`; infinity for no deadline.

    Examples
    --------
    >>> from refsvm.core.engine.limits import Deadline
    >>> Deadline.after(None).is_set, Deadline.after(60.0).left() > 59.0
    (False, True)
    """

    def __init__(self, at: float = math.inf) -> None:
        self.at = at

    @classmethod
    def after(cls, time_limit: float | Deadline | None) -> Deadline:
        """Return the deadline `time_limit` seconds from now; if `time_limit` is a deadline, return it unchanged.

        Raises
        ------
        ValueError
            If the number of seconds is not positive.
        """
        if isinstance(time_limit, Deadline):
            return time_limit
        return cls() if time_limit is None else cls(time.perf_counter() + positive("time_limit", time_limit))

    @property
    def is_set(self) -> bool:
        """True if the deadline is not infinite."""
        return self.at < math.inf

    def left(self) -> float:
        """Return the seconds until the deadline; the number is negative after the deadline."""
        return self.at - time.perf_counter()

    def __reduce__(self) -> Any:
        """Pickle the seconds left, because another process may have another clock."""
        return _deadline_in, (self.left(),)


def _deadline_in(seconds: float) -> Deadline:
    """Unpickle a deadline: return the deadline that is `seconds` from now in this process."""
    return Deadline(time.perf_counter() + seconds)


class Limits(Generic[Seen]):
    """Limits that end a solve or a path early: a number of steps, a time, a callback, Ctrl-C.

    Parameters
    ----------
    n : int
        Number of variables, from which the default of `most` is computed.
    most : int, optional
        Largest number of steps, at least 1; max(10⁷, 100n) by default, as in LIBSVM.
    time_limit : float or Deadline, optional
        Time after which the computation ends: a number of seconds, counted from now, or a deadline.
    callback : callable, optional
        Function that the run calls with a `Progress` between chunks of steps; the solve ends if the function returns
        True.

    Attributes
    ----------
    began, last_check : float
        Time of the start and time of the last check of the limits, on the clock of `time.perf_counter`.
    deadline : Deadline
        Time at which the computation ends.
    interrupt : interruptible
        The ``with`` block that contains the computation; its attribute `pressed` says whether Ctrl-C was pressed.
    progress : Progress or None
        Progress report of the call to which these limits belong, if there is one.

    Raises
    ------
    ValueError
        If a limit is not positive or the callback cannot be called.

    Examples
    --------
    >>> from refsvm.core.engine.limits import Limits
    >>> Limits(n=5).most
    10000000
    """

    counted: ClassVar[str] = "max_iter"
    default: ClassVar[int] = 10_000_000
    progress: Progress | None = None
    was_asked: bool = False
    """True if the callback was called during the current solve."""

    def __init__(
        self, n: int, most: Any = None, time_limit: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:  # fmt: skip
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; give a function f(progress).")
        if callback is not None:
            self.progress = Progress("solve")
        self.most = max(self.default, 100 * n) if most is None else whole(self.counted, most, 1)
        # start the clock now, so that the time limit covers the kernel rows that are computed before the first step
        self.began = self.last_check = time.perf_counter()
        self.deadline = Deadline.after(time_limit)
        self.callback, self.interrupt = callback, interruptible()

    def seconds_left(self) -> float:
        """Return the seconds until the deadline; 0 after Ctrl-C."""
        return 0.0 if self.interrupt.pressed else self.deadline.left()

    def should_return_early(self, seen: Seen, owed: float = 0.0) -> bool:
        """Return True if a restricted solve should end early because of the time limit, Ctrl-C or the callback.

        A restricted solve moves only the variables that shrinking has kept. After the solve, updating the gradient of
        the other variables takes about `owed` seconds, so the restricted solve must end when `owed` seconds are left
        until the deadline. A callback gets the state of the full problem, so the restricted solve must also end before
        each call of the callback. Only a callback with ``only_watches = True`` gets the state of the restricted
        problem: this method itself calls such a callback.
        """
        # a callback without `only_watches` needs the full state, so end the restricted solve every 0.1 s
        if self.progress is not None:
            self.tell(self.progress, seen)
        due = self.callback is not None and time.perf_counter() >= self.last_check + 0.1
        if self.progress and self.callback is not None and getattr(self.callback, "only_watches", False):
            self.callback(self.progress)
            due = False
        return due or self.seconds_left() <= owed

    def tell(self, progress: Progress, seen: Any) -> None:
        """Copy the gap and the number of steps from the solver state `seen` to the progress report."""
        progress.watch(seen)

    def is_ended_by(self, callback: Callable[[Progress], object], progress: Progress) -> bool:
        """Call the callback and return True if the callback asks to stop."""
        progress.look()
        return bool(callback(progress))

    def ask(self, seen: Seen) -> bool:
        """Update the progress report and call the callback, if any; return True if the callback asks to stop."""
        if self.progress is None:
            return False
        self.tell(self.progress, seen)
        self.was_asked = self.callback is not None
        return self.callback is not None and self.is_ended_by(self.callback, self.progress)

    def reached(self, seen: Seen, count: int) -> Status | None:
        """Return the status for the limit that is reached after `count` steps, or None if no limit is reached."""
        self.last_check = time.perf_counter()
        # call the callback first: if it ends the solve at the step that reaches a limit, the status says CALLBACK
        if self.ask(seen):
            return Status.CALLBACK
        if self.interrupt.pressed:
            return Status.INTERRUPTED
        if count >= self.most:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if self.deadline.left() <= 0.0 else None


class PathLimits(Limits[Any]):
    """Limits of a path: `most` is the largest number of breakpoints, by default max(10⁵, 100n).

    Examples
    --------
    >>> from refsvm.core.engine.limits import PathLimits
    >>> PathLimits(5).most
    100000
    """

    counted: ClassVar[str] = "max_events"
    default: ClassVar[int] = 100_000
    part: tuple[int, int] = 0, 1
    """If a call follows several paths: the position of the path to which these limits belong, and the number of paths.
    """

    def tell(self, progress: Progress, seen: Any) -> None:
        """Store the latest breakpoint `seen` in the progress report and count it."""
        progress.state, progress.steps = seen, (progress.steps or 0) + 1

    def is_ended_by(self, callback: Callable[[Any], object], progress: Progress) -> bool:
        """Call the callback with the breakpoint and return True if the callback asks to stop."""
        return bool(callback(progress.state))


class Interrupted(KeyboardInterrupt):
    """Raised if Ctrl-C ends a call early; holds the partial result.

    Parameters
    ----------
    message : str
        The text of the exception.
    result : object
        The partial result with the status INTERRUPTED, such as a `refsvm.Solution` or a
        `refsvm.analysis.resampling.LeaveOneOut`. If Ctrl-C has ended `fit`, the result is the estimator with the last
        point that the solver reached.

    Examples
    --------
    >>> from refsvm.core.engine.limits import Interrupted
    >>> try:
    ...     raise Interrupted("solve was interrupted.", result=3)
    ... except KeyboardInterrupt as error:
    ...     error.result
    3
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type[Interrupted], tuple[str, Any]]:
        return type(self), (str(self), self.result)


def unless_interrupted(call: str, result: Found, pressed: bool | None = None) -> Found:
    """Return the result of a call, or raise `Interrupted` with the result if Ctrl-C has ended the call.

    Inside a block of `interruptible` the function always returns the result; the code that opened the block decides
    whether to raise `Interrupted`.

    Parameters
    ----------
    call : str
        Name of the function.
    result : object
        A result with an attribute `status`.
    pressed : bool, optional
        True if Ctrl-C was pressed; by default, the function reads this from the status of the result.
    """
    if pressed is None:
        pressed = getattr(result, "status", None) is Status.INTERRUPTED
    if pressed and around.get() is None:
        raise Interrupted(f"{call} was interrupted; error.result holds the result so far.", result)
    return result


_outermost: list[interruptible] = []  # the `interruptible` block whose signal handler is installed, if any
around: ContextVar[interruptible | None] = ContextVar("around", default=None)
"""The `interruptible` block around this call; a new thread has this block only if the code that starts the thread
passes its context.
"""


class interruptible:  # noqa: N801  used like a function, as the classes of contextlib are
    """Let the code continue after the first Ctrl-C, and set ``pressed``; a second Ctrl-C raises KeyboardInterrupt.

    Use `interruptible` as a context manager around one or several solves. Entering a nested block returns the outermost
    block; the code that opened the outermost block decides what happens after Ctrl-C. Only the main thread receives
    signals; in other threads, or with a signal handler other than Python's own, `interruptible` does nothing.

    Attributes
    ----------
    pressed : bool
        True if Ctrl-C was pressed since the outermost block was opened.

    Examples
    --------
    >>> from refsvm.core.engine.limits import interruptible
    >>> with interruptible() as outer, interruptible() as inner:
    ...     print(outer is inner, outer.pressed)
    True False
    """

    pressed: bool = False
    _opened: bool = False

    def __enter__(self) -> interruptible:
        # only the main thread may set a handler, and a handler other than Python's own must not be replaced
        in_charge = not _outermost and threading.current_thread() is threading.main_thread()
        if in_charge and _signal.getsignal(SIGINT) is default_int_handler:
            _signal.signal(SIGINT, self._note)
            _outermost.append(self)
            around.set(self)
            self._opened = True
        return around.get() or self

    def __exit__(self, *failure: object) -> None:
        if self._opened:
            # restore Python's own handler, the only handler that __enter__ replaces
            _outermost.clear()
            around.set(None)
            _signal.signal(SIGINT, default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        # a second Ctrl-C interrupts at once, as it would without this block
        _signal.signal(SIGINT, default_int_handler)
