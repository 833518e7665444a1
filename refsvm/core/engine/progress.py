"""Progress: how far a call is, as its progress line shows it and its callback gets it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar


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
    text: ClassVar[Callable[..., str]]
    """``text()``: the sentence that the progress line shows; `refsvm.services.line` puts it here."""

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

    def __reduce__(self) -> Any:
        """Pickle the name alone: counts stay in the process that counts them."""
        return Progress, (self.call, self.unit, self.kept)
