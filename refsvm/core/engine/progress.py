"""Progress: how far a call is. Its line shows it, and its callback is told by it."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable
from typing import Any, Final

from refsvm.core._checks import frames_within

FINE_BELOW: Final = 9.95
"""Fewer seconds than these are told to a tenth."""

MINUTES_FROM: Final = 120.0
HOURS_FROM: Final = 7200.0
"""From so many seconds on a duration is told in minutes, and in hours."""


class Progress:
    """How far a call is, and what it knows so far. It changes while the call goes on.

    Attributes that it has not are those of the `state` under way, such as ``progress.alpha``.

    Parameters
    ----------
    call : str
        Name of what is called.
    unit : str
        The things counted, such as "folds".
    kept : str
        The part that an interrupt keeps.

    Attributes
    ----------
    done : int
        How many are done. It never falls.
    total : int or None
        Of how many; None where that is not known, as of the steps of a solve.
    under_way : str
        The work under way, such as "solution on all examples"; empty if that is what is counted.
    wrong : int or None
        How many of the predictions made so far are wrong.
    gap : float or None
        The KKT gap ψ of the solve under way, where one is watched.
    steps : int or None
        Its steps so far.
    state : SolverState or None
        Where the solve under way is.
    best : str
        The best parameters and their score so far, of a search.
    outcome : str
        How the call has ended, in a sentence; empty while it goes on.

    Examples
    --------
    >>> from refsvm.core.engine.progress import Progress
    >>> progress = Progress("leave_one_out", "decided", "these")
    >>> progress.begin("", total=270)
    >>> progress.tell(90, wrong=12)
    >>> progress.done, progress.total, progress.seconds < 60.0
    (90, 270, True)
    >>> print(progress.text())
    leave_one_out: 90 of 270 decided, 12 wrong, 0.0 s, 0.0 s left; Ctrl-C keeps these
    """

    done: int = 0
    total: int | None = None
    under_way: str = ""
    wrong: int | None = None
    gap: float | None = None
    steps: int | None = None
    state: Any = None
    best: str = ""
    outcome: str = ""
    _look: Callable[[], object] | None = None

    def __init__(self, call: str, unit: str = "", kept: str = "") -> None:
        self.call, self.unit, self.kept = call, unit, kept
        self.began = time.perf_counter()
        self._counted_from = self.began, 0

    @property
    def seconds(self) -> float:
        """Seconds since the call began."""
        return time.perf_counter() - self.began

    @property
    def seconds_left(self) -> float | None:
        """About how many seconds the rest takes, if it goes on as the counted part did; None before anything counts."""
        since, before = self._counted_from
        counted = self.done - before
        if self.total is None or counted <= 0:
            return None
        return (time.perf_counter() - since) / counted * (self.total - self.done)

    def begin(
        self, under_way: str, *, total: int | None = None, look: Callable[[], object] | None = None
    ) -> None:
        """Say what is under way now, and what tells the counts when they are looked at; the estimate begins anew."""
        self.total = self.total if total is None else total
        self._look = self._look if look is None else look
        self.gap = self.steps = None
        self.look()
        self._counted_from = time.perf_counter(), self.done
        self.under_way = under_way

    def tell(self, done: int, wrong: int | None = None) -> None:
        """Say how many are done, and how many of them are wrong."""
        self.done = max(self.done, done if self.total is None else min(done, self.total))
        self.wrong = wrong

    def watch(self, state: Any) -> None:
        """Note the gap and the steps of the solve under way."""
        self.state, self.gap, self.steps = state, float(state.gap), int(state.iteration)

    def end(self, outcome: str, gap: float, steps: int) -> None:
        """Say how a solve has ended, and where."""
        self.outcome, self.gap, self.steps = outcome, gap, steps

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the state under way, which callbacks got before there was this object."""
        state = self.__dict__.get("state")
        if state is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(state, name)

    def look(self) -> None:
        """Bring the counts up to date: only who looks pays for counting."""
        if self._look is not None:
            self._look()

    def close(self) -> None:
        """Let go of what counts, and with it of kernel matrices: the call is over, and its counts stay."""
        self.look()
        self._look = None

    def text(self) -> str:
        """Return the sentence that the line shows."""
        known = [self.under_way] if self.under_way else []
        is_all = bool(self.outcome) and self.done == self.total
        if self.total is not None and not is_all and (self.done or not self.under_way):
            known.append(f"{self.done:,} of {self.total:,} {self.unit}")
        if self.wrong is not None:
            known.append(f"{self.wrong:,} wrong")
        if self.gap is not None:
            known.append(f"KKT gap {self.gap:.3g}, {self.steps:,} steps")
        if self.best:
            known.append(f"best {self.best}")
        known.append(in_words(self.seconds))
        if self.outcome:
            return f"{self.call}: {self.outcome} {', '.join(known)}"
        if (left := self.seconds_left) is not None and self.done != self.total:
            known.append(f"{in_words(left)} left")
        kept = f"; Ctrl-C keeps {self.kept}" if self.kept else ""
        return f"{self.call}: {', '.join(known)}{kept}"

    def __reduce__(self) -> Any:
        """Pickle the name alone: counts stay in the process that counts them."""
        return Progress, (self.call, self.unit, self.kept)


def in_words(seconds: float) -> str:
    """Return a duration in words.

    Examples
    --------
    >>> from refsvm.core.engine.progress import in_words
    >>> in_words(8.2), in_words(150.0), in_words(9000.0)
    ('8.2 s', '2 minutes', '2.5 hours')
    """
    if seconds < MINUTES_FROM:
        return f"{seconds:.1f} s" if seconds < FINE_BELOW else f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < HOURS_FROM else f"{seconds / 3600.0:.1f} hours"


def of_progress(callback: Any) -> Callable[[Progress], object]:
    """Return the callback as a function of one `Progress`; one of two numbers gets `done` and `total`, as in 0.3.0.

    Raises
    ------
    ValueError
        If it cannot be called.

    Warns
    -----
    DeprecationWarning
        If it takes two numbers.

    Examples
    --------
    >>> from refsvm.core.engine.progress import Progress, of_progress
    >>> of_progress(lambda progress: progress.done == 0)(Progress("leave_one_out"))
    True
    """
    if not callable(callback):
        raise ValueError(f"callback={callback!r} cannot be called; pass a function of one refsvm Progress.")
    try:
        inspect.signature(callback).bind(0, 0)
    except (TypeError, ValueError):  # it takes one argument, or says nothing of them
        return callback
    warnings.warn(
        f"callback={callback!r:.60} takes two numbers; write it as a function of one object, whose done and total "
        "they are. Two numbers work until 0.5.",
        DeprecationWarning,
        stacklevel=frames_within() + 1,
    )
    return lambda progress: callback(progress.done, progress.total)
