"""Threads for kernel evaluation: how many there are, and how they share work."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from types import ModuleType

from refsvm.kernels.numba_trouble import numba_trouble

__all__ = ["compiled", "helper_threads", "load_compiled", "run_in_pieces"]


def compiled() -> ModuleType | None:
    """Return the compiled functions once they are loaded; None before, and where Numba is not installed or interprets.

    Loading takes some tenths of a second. Until a solve has taken long enough to pay for that, NumPy does the work and
    gives the same bits.
    """
    module = sys.modules.get("refsvm.compiled.kernels")
    return module if module is not None and getattr(module, "AVAILABLE", False) else None


def load_compiled() -> ModuleType | None:
    """Load the compiled functions and return them; None where Numba is not installed, cannot be used, or interprets.

    Warns
    -----
    UserWarning
        Once, if Numba is installed and cannot be used: NumPy does the work then.
    """
    return compiled() if find_spec("numba") is not None and _can_be_loaded() else None


@cache
def _can_be_loaded() -> bool:
    """Try it once in a process: a broken installation may take long to fail."""
    try:
        import refsvm.compiled.kernels  # noqa: F401
    except Exception as error:  # noqa: BLE001  whatever a broken installation or a damaged cache raises
        warnings.warn(f"{numba_trouble(error)}. Kernels are evaluated in NumPy.", stacklevel=4)
        return False
    return True


def helper_threads() -> ThreadPoolExecutor | None:
    """Return the threads that share this one's work, or None if it has to work alone.

    Together with the caller there are ``NUMBA_NUM_THREADS`` of them; joblib lowers that number in its worker processes.
    Only the main thread gets helpers: a caller in another thread belongs to a pool that uses the processors already.
    Without Numba there are none either, because interpreted code holds the interpreter's lock.
    """
    if threading.current_thread() is not threading.main_thread() or compiled() is None:
        return None
    return _helper_threads(os.getpid())


@cache
def _helper_threads(process: int) -> ThreadPoolExecutor | None:
    """Return the threads of one process: a forked process inherits the pool object, but none of its threads."""
    count = helper_count()
    return ThreadPoolExecutor(count, "refsvm") if count else None


def helper_count() -> int:
    """Return how many threads may run beside the caller."""
    import numba

    return int(numba.config.NUMBA_NUM_THREADS) - 1


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
    >>> from refsvm.kernels.threads import run_in_pieces
    >>> run_in_pieces(print, 5, 5)
    slice(0, 5, None)
    """
    if size <= width:
        work(slice(0, size))
        return
    starts = range(0, size, width)
    left = iter(starts)

    def take() -> None:
        for start in left:
            work(slice(start, min(start + width, size)))

    threads = helper_threads()
    helpers = 0 if threads is None else min(helper_count(), len(starts) - 1)
    running = [threads.submit(take) for _ in range(helpers)] if threads is not None else []
    try:
        take()
    finally:
        for helper in running:
            helper.result()
