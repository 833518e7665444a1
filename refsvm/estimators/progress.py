"""Progress of a fit on stderr, with ``verbose=1``."""

from __future__ import annotations

import sys
import time
from typing import Final

from refsvm.result import Status
from refsvm.state import SolverState

INTERVAL_SECONDS: Final = 0.5
"""At most one line in so much time."""


class Progress:
    """A callback of `refsvm.solve` that writes a line from time to time; it changes no step.

    Parameters
    ----------
    name : str
        What is fitted.

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
