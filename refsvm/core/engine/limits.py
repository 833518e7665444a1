"""Limits of a solve: iterations, seconds, a callback, and Ctrl-C."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` calls after 2 µs of looking up names
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
"""Seconds that a solve may take, beyond what is left to it, to bring its gradient up to date."""


class Deadline:
    """An instant at which computations end: it is handed down as it is, so that no caller computes what is left of it.

    Parameters
    ----------
    at : float
        On the clock of `time.perf_counter`; infinite for none.

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
        """Return the instant so many seconds from now; a deadline stays as it is.

        Raises
        ------
        ValueError
            If the seconds are not positive.
        """
        if isinstance(time_limit, Deadline):
            return time_limit
        return cls() if time_limit is None else cls(time.perf_counter() + positive("time_limit", time_limit))

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return self.at < math.inf

    def left(self) -> float:
        """Return the seconds until then, below 0 after it."""
        return self.at - time.perf_counter()

    def __reduce__(self) -> Any:
        """Pickle what is left: another process may have another clock."""
        return _deadline_in, (self.left(),)


def _deadline_in(seconds: float) -> Deadline:
    """Return a deadline that comes from another process."""
    return Deadline(time.perf_counter() + seconds)


class Limits(Generic[Seen]):
    """Limits that end a solve or a path early: a count, seconds, a callback, Ctrl-C.

    Parameters
    ----------
    n : int
        Number of variables, for the default of `most`.
    most : int, optional
        Most steps, at least 1; max(10⁷, 100n) by default, as in LIBSVM.
    time_limit : float or Deadline, optional
        Seconds, from now.
    callback : callable, optional
        Called between chunks, with a `Progress`; a true result ends the solve.

    Attributes
    ----------
    began, last_check : float
        On the clock of `time.perf_counter`.
    deadline : Deadline
    interrupt : interruptible
        Whether Ctrl-C was pressed; that of the block around the computation.
    progress : Progress or None
        Of the call that these limits belong to, if it is watched.

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
    """Whether the callback was called in the solve under way."""

    def __init__(
        self, n: int, most: Any = None, time_limit: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:  # fmt: skip
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of one Progress.")
        if callback is not None:
            self.progress = Progress("solve")
        self.most = max(self.default, 100 * n) if most is None else whole(self.counted, most, 1)
        # the clock begins here, so a time limit covers the kernel rows that are computed before the first step
        self.began = self.last_check = time.perf_counter()
        self.deadline = Deadline.after(time_limit)
        self.callback, self.interrupt = callback, interruptible()

    def seconds_left(self) -> float:
        """Return the seconds until the deadline; 0 after Ctrl-C."""
        return 0.0 if self.interrupt.pressed else self.deadline.left()

    def should_return_early(self, seen: Seen, owed: float = 0.0) -> bool:
        """Whether a restricted solve should end before it is solved, because a limit or the callback is due.

        A limit is due if no more seconds are left than are `owed`: those that the gradient of the others takes then.
        A callback with an attribute ``only_watches = True`` is shown the restricted state instead: it changes nothing.
        """
        # a callback sees the full problem, for which a restricted solve has to end; not more often than one can watch
        if self.progress is not None:
            self.tell(self.progress, seen)
        due = self.callback is not None and time.perf_counter() >= self.last_check + 0.1
        if self.progress and self.callback is not None and getattr(self.callback, "only_watches", False):
            self.callback(self.progress)
            due = False
        return due or self.seconds_left() <= owed

    def tell(self, progress: Progress, seen: Any) -> None:
        """Note the point that was reached."""
        progress.watch(seen)

    def is_ended_by(self, callback: Callable[[Progress], object], progress: Progress) -> bool:
        """Call the callback, and return whether it ends the call."""
        progress.look()
        return bool(callback(progress))

    def ask(self, seen: Seen) -> bool:
        """Note the point that was reached and call the callback, if there is one; return whether it ends the call."""
        if self.progress is None:
            return False
        self.tell(self.progress, seen)
        self.was_asked = self.callback is not None
        return self.callback is not None and self.is_ended_by(self.callback, self.progress)

    def reached(self, seen: Seen, count: int) -> Status | None:
        """Return the Status of the first limit reached, or None, after so many steps."""
        self.last_check = time.perf_counter()
        # asked first: the user's own reason says more than a limit that is reached with the same step
        if self.ask(seen):
            return Status.CALLBACK
        if self.interrupt.pressed:
            return Status.INTERRUPTED
        if count >= self.most:
            return Status.MAX_ITER
        return Status.TIME_LIMIT if self.deadline.left() <= 0.0 else None


class PathLimits(Limits[Any]):
    """Limits of a path: breakpoints, by default max(10⁵, 100n) of them, in place of steps.

    Examples
    --------
    >>> from refsvm.core.engine.limits import PathLimits
    >>> PathLimits(5).most
    100000
    """

    counted: ClassVar[str] = "max_events"
    default: ClassVar[int] = 100_000
    part: tuple[int, int] = 0, 1
    """Of several paths in one call: the number of the one that these limits belong to, and of all."""

    def tell(self, progress: Progress, seen: Any) -> None:
        """Note the breakpoint that was reached."""
        progress.state, progress.steps = seen, (progress.steps or 0) + 1

    def is_ended_by(self, callback: Callable[[Any], object], progress: Progress) -> bool:
        """Call the callback with the breakpoint."""
        return bool(callback(progress.state))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has ended a call before its result was there.

    Parameters
    ----------
    message : str
    result : object
        The partial result: a `refsvm.Solution`, a `refsvm.analysis.resampling.LeaveOneOut`, …, of status INTERRUPTED;
        of an estimator itself, with the last point reached.

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
    """Return the result of a call, or raise `Interrupted` with it if Ctrl-C has ended it.

    Within a block of `interruptible` it is returned: the code that has opened the block decides.

    Parameters
    ----------
    call : str
        Name of the function.
    result : object
        With a `status`.
    pressed : bool, optional
        Whether Ctrl-C was pressed; by default whether the status says so.
    """
    if pressed is None:
        pressed = getattr(result, "status", None) is Status.INTERRUPTED
    if pressed and around.get() is None:
        raise Interrupted(f"{call} was interrupted; error.result holds what was found until then.", result)
    return result


_outermost: list[interruptible] = []  # the block whose handler is installed, if any
around: ContextVar[interruptible | None] = ContextVar("around", default=None)
"""The block around this call, which a thread does not inherit unless whoever starts it hands its context on."""


class interruptible:  # noqa: N801  used like a function, as are those of contextlib
    """Turn the first Ctrl-C into ``pressed``, so that no update is cut in half; a second one interrupts.

    Put it around a solve, or around many. Entering it gives the outermost block: the code that opened it decides what
    follows a press. Only the main thread receives signals. Elsewhere, and where a handler of another kind is
    installed, nothing is changed.

    Attributes
    ----------
    pressed : bool
        Whether Ctrl-C was pressed since this block was opened as the outermost one.

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
        # only the main thread may set a handler, and a handler other than Python's own belongs to the caller
        in_charge = not _outermost and threading.current_thread() is threading.main_thread()
        if in_charge and _signal.getsignal(SIGINT) is default_int_handler:
            _signal.signal(SIGINT, self._note)
            _outermost.append(self)
            around.set(self)
            self._opened = True
        return around.get() or self

    def __exit__(self, *failure: object) -> None:
        if self._opened:
            # the caller's own handler is Python's: nothing else was replaced in __enter__
            _outermost.clear()
            around.set(None)
            _signal.signal(SIGINT, default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pressed = True
        # a second press interrupts at once, as it would without this block
        _signal.signal(SIGINT, default_int_handler)
