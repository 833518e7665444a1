"""Threads for kernel evaluation: how many threads there are, and how they share the work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from refsvm.core import arithmetic


def helper_threads() -> ThreadPoolExecutor | None:
    """Return the pool of threads that help the calling thread, or None if the caller must work alone.

    There are ``NUMBA_NUM_THREADS`` threads including the caller; joblib lowers this number in its worker processes.
    Only the main thread gets helpers, because other threads belong to a pool that already uses the processors. Without
    Numba there are no helpers, because interpreted code holds the interpreter's lock.
    """
    if threading.current_thread() is not threading.main_thread() or arithmetic.current.threads == 1:
        return None
    return _helper_threads(os.getpid())


@cache
def _helper_threads(process: int) -> ThreadPoolExecutor | None:
    """Return the pool of one process; a forked process needs its own pool, because threads are not inherited."""
    return ThreadPoolExecutor(arithmetic.current.threads - 1, "refsvm")


def run_in_pieces(work: Callable[[slice], object], size: int, width: int) -> None:
    """Call ``work(slice(start, stop))`` for all pieces of a range, in parallel on this thread and helper threads.

    When a thread has finished a piece, it takes the next piece. Pieces may end in any order, and `work` must not
    depend on this order. An exception in a helper thread is raised in the caller.

    Parameters
    ----------
    work : callable
        Function of a slice of ``range(size)``.
    size, width : int
        Length of the range, and of each piece except the last.

    Examples
    --------
    >>> from refsvm.core.kernels.threads import run_in_pieces
    >>> run_in_pieces(print, 5, 5)
    slice(0, 5, None)
    """
    # most calls are small, and waking another thread would take longer than the work
    if size <= width:
        work(slice(0, size))
    else:
        _run_on_threads(work, size, width)


def _run_on_threads(work: Callable[[slice], object], size: int, width: int) -> None:
    """Share several pieces of work among the threads; see `run_in_pieces`."""
    starts = range(0, size, width)
    # the interpreter's lock guards a range iterator, so each start is given to only one thread
    left = iter(starts)

    def take() -> None:
        for start in left:
            work(slice(start, min(start + width, size)))

    threads = helper_threads()
    helpers = 0 if threads is None else min(arithmetic.current.threads - 1, len(starts) - 1)
    running = [threads.submit(take) for _ in range(helpers)] if threads is not None else []
    try:
        take()
    finally:
        for helper in running:
            # wait even after an error in this thread, because helpers still write to the caller's arrays
            helper.result()
