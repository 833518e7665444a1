"""Pace: logs once how long the fits of a search will take."""

from __future__ import annotations

import time
from contextlib import ExitStack

from refsvm.core.rounds.runner import LATE_FROM, log_if_slow, log_remaining


class Pace:
    """Logs once how long a search will take: after each worker has finished one fit, or when the first fit takes long.

    Parameters
    ----------
    n : int
        Number of examples.
    fits : int
        Number of fits in the search.
    workers : int
        Number of fits that run at the same time.
    """

    def __init__(self, n: int, fits: int, workers: int) -> None:
        self._began, self._left, self._done, self._workers = time.perf_counter(), fits, 0, workers
        self._waits = ExitStack()
        sentence = (
            "The first of %d fits of %d examples takes longer than %.0f s; all fits together may take more than "
            "%.0f s"
        )
        values = fits, n, LATE_FROM, LATE_FROM * fits / workers
        self._waits.enter_context(log_if_slow(n, sentence, *values))

    def take(self) -> None:
        """Count a finished fit."""
        self.close()
        self._done, self._left = self._done + 1, self._left - 1
        if self._done == self._workers:
            log_remaining(self._left, (time.perf_counter() - self._began) / self._done, "fits")

    def close(self) -> None:
        """Cancel the message about a slow first fit."""
        self._waits.close()
