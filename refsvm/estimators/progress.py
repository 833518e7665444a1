"""Progress of a fit on stderr, with ``verbose=1``; how long the fits of a search are going to take."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import Final

from refsvm.result import Status
from refsvm.rounds.runner import LATE_FROM, tell_rest, told_if_late
from refsvm.state import SolverState

INTERVAL_SECONDS: Final = 0.5
"""At most one line in so much time."""


class Progress:
    """A callback of `refsvm.solve` that writes a line from time to time; it changes no step.

    Parameters
    ----------
    name : str
        Name of the machine that is fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, solve
    >>> from refsvm.estimators.progress import Progress
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> solve(DualProblem.classification(X, y), callback=Progress("SVC")).status.name  # too quick for a line
    'CONVERGED'
    """

    only_watches = True

    def __init__(self, name: str) -> None:
        self.name = name
        self._began = self._shown = time.perf_counter()

    def __call__(self, state: SolverState) -> bool:
        """Write a line if the last one is old enough."""
        now = time.perf_counter()
        if now >= self._shown + INTERVAL_SECONDS:
            self._shown = now
            n = len(state.alpha)
            self.write(f"KKT gap {state.gap:.3g}, {state.iteration:,} steps on {n:,} variables")
        return False

    def finish(self, status: Status, gap: float, steps: int) -> None:
        """Write the last line: why training ended, and where."""
        self.write(f"{status.value} KKT gap {gap:.3g}, {steps:,} steps")

    def write(self, sentence: str) -> None:
        """Write a line with the seconds since the fit began."""
        sys.stderr.write(f"{self.name}: {sentence}, {time.perf_counter() - self._began:.1f} s\n")
        sys.stderr.flush()


class Pace:
    """Tells about how long the fits of a search take: once each worker has had one, or that this takes long.

    Parameters
    ----------
    n : int
        Number of examples.
    fits : int
        Number of fits to come.
    workers : int
    """

    def __init__(self, n: int, fits: int, workers: int) -> None:
        self._began, self._left, self._done, self._workers = time.perf_counter(), fits, 0, workers
        self._waits = ExitStack()
        sentence = (
            "The first of %d fits of %d examples takes longer than %.0f s; all may take more than %.0f s"
        )
        values = fits, n, LATE_FROM, LATE_FROM * fits / workers
        self._waits.enter_context(told_if_late(n, sentence, *values))

    def take(self) -> None:
        """Count a fit."""
        self.close()
        self._done, self._left = self._done + 1, self._left - 1
        if self._done == self._workers:
            tell_rest(self._left, (time.perf_counter() - self._began) / self._done, "fits")

    def close(self) -> None:
        """Say nothing of the first fit any more."""
        self._waits.close()
