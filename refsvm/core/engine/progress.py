"""Progress: a report of what a call has done so far; the progress line shows it, and callbacks receive it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar


class Progress:
    """A report of what a call has done and found so far; the call updates the report until it ends.

    The report also has all attributes of the solver state: ``progress.alpha`` is ``progress.state.alpha``.

    Parameters
    ----------
    call : str
        Name of the function.
    unit : str
        Name of the things that are counted, such as "folds".
    kept : str
        Name of the partial result that remains after Ctrl-C.

    Attributes
    ----------
    done : int
        Number of things done so far; it never falls.
    total : int or None
        Number of things to do; None if it is not known, as for the steps of a solve.
    under_way : str
        Name of work that is not counted, such as "solution on all examples"; empty during work that is counted.
    wrong : int or None
        Number of wrong predictions so far.
    gap : float or None
        KKT gap ψ of the current solve; None if not reported.
    steps : int or None
        Number of steps of the current solve so far.
    state : SolverState or None
        State of the current solve.
    best : str
        In a search: the best parameters so far and their score.
    outcome : str
        Sentence that says how the call ended; empty while it continues.

    Examples
    --------
    >>> from refsvm.core.engine.progress import Progress
    >>> progress = Progress("leave_one_out", "examples", "these")
    >>> progress.begin("", total=270)
    >>> progress.tell(90, wrong=12)
    >>> progress.done, progress.total, progress.seconds < 60.0
    (90, 270, True)
    >>> print(progress.text())
    leave_one_out: 90 of 270 examples, 12 wrong, 0.0 s, 0.0 s left; Ctrl-C keeps these
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
    """The method ``text()``, which returns the sentence of the progress line; `refsvm.services.line` adds it."""

    def __init__(self, call: str, unit: str = "", kept: str = "") -> None:
        self.call, self.unit, self.kept = call, unit, kept
        self.began = time.perf_counter()
        self._counted_from = self.began, 0

    @property
    def seconds(self) -> float:
        """Number of seconds since the call began."""
        return time.perf_counter() - self.began

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the call ends, from its speed so far; None until the first thing is counted."""
        since, before = self._counted_from
        counted = self.done - before
        if self.total is None or counted <= 0:
            return None
        return (time.perf_counter() - since) / counted * (self.total - self.done)

    def begin(
        self, under_way: str, *, total: int | None = None, look: Callable[[], object] | None = None
    ) -> None:
        """Begin a part of the work and estimate the remaining time anew; the argument `look` updates the counts."""
        self.total = self.total if total is None else total
        self._look = self._look if look is None else look
        self.gap = self.steps = None
        self.look()
        self._counted_from = time.perf_counter(), self.done
        self.under_way = under_way

    def tell(self, done: int, wrong: int | None = None) -> None:
        """Set the number of things done and, if given, the number of wrong predictions."""
        self.done = max(self.done, done if self.total is None else min(done, self.total))
        self.wrong = wrong

    def watch(self, state: Any) -> None:
        """Copy the gap and the number of steps from the state of the current solve."""
        self.state, self.gap, self.steps = state, float(state.gap), int(state.iteration)

    def end(self, outcome: str, gap: float, steps: int) -> None:
        """Set the outcome of a solve, its last gap and its number of steps."""
        self.outcome, self.gap, self.steps = outcome, gap, steps

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the current state, because older callbacks expect the state itself."""
        state = self.__dict__.get("state")
        if state is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(state, name)

    def look(self) -> None:
        """Update the counts with the function that was passed to `begin`; call `look` before reading counts."""
        if self._look is not None:
            self._look()

    def close(self) -> None:
        """Keep the final counts and drop the function that counts, because this function may hold kernel matrices."""
        self.look()
        self._look = None

    def __reduce__(self) -> Any:
        """Pickle only the names in the report; the counts stay in the process that counts."""
        return Progress, (self.call, self.unit, self.kept)
