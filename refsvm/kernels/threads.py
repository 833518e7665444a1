"""Threads for kernel evaluation: how many, and how work is shared among them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from types import ModuleType

__all__ = ["compiled", "helpers", "in_pieces"]


@cache
def compiled() -> ModuleType | None:
    """Return `refsvm.fast.kernels`, None where Numba is not installed or interprets."""
    if find_spec("numba") is None:
        return None
    from refsvm.fast import kernels

    return kernels if kernels.AVAILABLE else None


def helpers() -> ThreadPoolExecutor | None:
    """Return the threads that help this one, None where there should be none.

    With this one they are as many as Numba's (``NUMBA_NUM_THREADS``), which joblib lowers in its processes. A caller
    that is itself one of several threads gets no help, nor does one without Numba: only compiled code lets others run
    meanwhile.
    """
    if threading.current_thread() is not threading.main_thread() or compiled() is None:
        return None
    return _helpers(os.getpid())


@cache
def _helpers(process: int) -> ThreadPoolExecutor | None:
    """Return the threads of a process; after a fork there are none."""
    count = others()
    return ThreadPoolExecutor(count, "refsvm") if count else None


def others() -> int:
    """How many threads may run beside this one."""
    import numba

    return int(numba.config.NUMBA_NUM_THREADS) - 1


def in_pieces(work: Callable[[slice], object], size: int, width: int) -> None:
    """Call ``work(slice(start, stop))`` for pieces of that width, here and on other threads at once.

    Every thread takes a piece as soon as it has done one, this one too: where it only waited, two others gained little.

    Examples
    --------
    >>> from refsvm.kernels.threads import in_pieces
    >>> in_pieces(print, 5, 5)
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

    threads = helpers()
    running = [] if threads is None else [threads.submit(take) for _ in range(min(others(), len(starts) - 1))]
    try:
        take()
    finally:
        for helper in running:
            helper.result()
