"""Threads for kernel evaluation: how many there are, and how they share work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from refsvm.core import arithmetic


def helper_threads() -> ThreadPoolExecutor | None:
    """Return the threads that share this one's work, or None if it has to work alone.

    Together with the caller there are ``NUMBA_NUM_THREADS`` of them; joblib lowers that number in its worker processes.
    Only the main thread gets helpers: a caller in another thread belongs to a pool that uses the processors already.
    Without Numba there are none either, because interpreted code holds the interpreter's lock.
    """
    if threading.current_thread() is not threading.main_thread() or arithmetic.current.threads == 1:
        return None
    return _helper_threads(os.getpid())


@cache
def _helper_threads(process: int) -> ThreadPoolExecutor | None:
    """Return the threads of one process: a forked process inherits the pool object, but none of its threads."""
    return ThreadPoolExecutor(arithmetic.current.threads - 1, "refsvm")


def run_in_pieces(work: Callable[[slice], object], size: int, width: int) -> None:
    """Call ``work(slice(start, stop))`` for all pieces of that width, on this thread and on helper threads at once.

    Every thread, the caller included, takes the next piece as soon as it has finished one. Pieces may overtake each
    other, so `work` must not depend on their order. An exception in a helper is raised in the caller.

    Parameters
    ----------
    work : callable
        Gets a slice of ``range(size)``.
    size, width : int
        Length of the whole, and of each piece but the last.

    Examples
    --------
    >>> from refsvm.core.kernels.threads import run_in_pieces
    >>> run_in_pieces(print, 5, 5)
    slice(0, 5, None)
    """
    # most calls are small: no thread is worth waking for them
    if size <= width:
        work(slice(0, size))
    else:
        _run_on_threads(work, size, width)


def _run_on_threads(work: Callable[[slice], object], size: int, width: int) -> None:
    """Do so where there are several pieces."""
    starts = range(0, size, width)
    # a range iterator hands out each start once, also to several threads: the interpreter's lock guards it
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
            # also after an error here: a helper still writes to the arrays of the caller
            helper.result()
