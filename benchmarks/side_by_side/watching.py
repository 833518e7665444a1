"""Where the seconds of a fit of refsvm go: its parts are wrapped from outside, in a pass of its own."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import wraps
from importlib import import_module
from typing import Any

from refsvm.datasets import Dataset

from .libraries import Library
from .results import Answer
from .tasks import Fit

__all__ = ["PARTS", "REST", "Stopwatch", "Watch", "watched"]

PARTS = (
    ("refsvm.core.kernels.gram:Gram", "block", "kernel rows"),
    ("refsvm.core.kernels.matrix:View", "block", "rows copied"),
    ("refsvm.core.kernels.cached_rows:CachedRows", "subtract", "gradient"),
    ("refsvm.core.solver.readable:NumPyBackend", "steps", "loop"),
    ("refsvm.compiled.backend:CompiledBackend", "steps", "loop"),
)
"""Class, method, and the part of the work it stands for."""

REST = "rest"


class Stopwatch:
    """Seconds of nested parts, each without the parts inside it.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._clock = clock
        self._running = [REST]
        self._since = clock()

    def turn(self) -> None:
        """Book the time since the last turn for the part that is running."""
        now = self._clock()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, with its time booked for `part`."""

        @wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            self.turn()
            self._running.append(part)
            try:
                return function(*arguments, **named)
            finally:
                self.turn()
                self._running.pop()

        return wrapper


@contextmanager
def watched(parts: Sequence[tuple[str, str, str]] = PARTS) -> Iterator[Stopwatch]:
    """Wrap the methods, and put them back in the end."""
    with ExitStack() as undo:
        stopwatch = Stopwatch()
        for place, method, part in parts:
            module, name = place.split(":")
            owner = getattr(import_module(module), name)
            original = getattr(owner, method)
            setattr(owner, method, stopwatch.timed(part, original))
            undo.callback(setattr, owner, method, original)
        stopwatch.turn()
        stopwatch.seconds.clear()  # what the wrapping itself took
        yield stopwatch
        stopwatch.turn()


class Watch(Fit):
    """Fit, with the parts of the work watched, all repetitions together."""

    name = "watch"

    def __init__(self, library: Library, data: Dataset, cache_mb: float) -> None:
        super().__init__(library, data, cache_mb)
        self.parts: Counter[str] = Counter()

    def run(self) -> None:
        """Fit under the stopwatch."""
        with watched() as stopwatch:
            super().run()
        self.parts.update(stopwatch.seconds)

    def answer(self) -> Answer:
        """Return the seconds of the parts, too."""
        answer = super().answer()
        return replace(answer, evidence=replace(answer.evidence, parts=dict(self.parts)))
