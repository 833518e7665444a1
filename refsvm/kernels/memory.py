"""Memory for kernel rows.

A system hands memory over page by page, when it is first written to, and that may take longer than computing what is
written. So room is set aside up to the budget at once, and costs nothing until it is used. The first part of a room
that is not very large is in huge pages: as long as there are some they are several times faster. Then the
system has to move others away to make one, which is several times slower; so the rest is in pages of the usual
size, and while one thread computes rows, another writes to the pages of those to come.
"""

from __future__ import annotations

import mmap
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Final

import numpy as np

from refsvm.kernels.threads import helpers

__all__ = ["Room", "pages", "scratch"]

LARGE: Final = 2**29
"""Bytes from which on a room has no huge pages."""

FIRST: Final = 2**26
"""Bytes of a smaller room that are in huge pages."""

AHEAD: Final = 2**24
"""Most bytes made ready at a time."""


class Room:
    """An array whose rows are used in order, made ready ahead of their use.

    Parameters
    ----------
    shape : (int, int)
    dtype : numpy type

    Attributes
    ----------
    values : ndarray
        The array, not initialised.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.kernels.memory import Room
    >>> room = Room((3, 2), np.float64)
    >>> room.wait(1)
    >>> room.values.shape
    (3, 2)
    """

    def __init__(self, shape: tuple[int, int], dtype: type) -> None:
        size = shape[0] * shape[1] * np.dtype(dtype).itemsize
        huge = FIRST if size < LARGE else 0
        self.values = pages(shape, dtype, huge)
        row = max(1, self.values[:1].nbytes)
        self._most = AHEAD // row  # rows made ready at a time
        self._ready = self._coming = min(len(self.values), huge // row)
        self._work: Future[None] | None = None

    def wait(self, stop: int) -> None:
        """Return once the rows before `stop` may be written to; another thread makes as many as these ready."""
        if stop <= self._ready:
            return
        if self._work is not None:
            self._work.result()
        first = self._ready = max(self._coming, stop)
        self._coming = min(first + min(first, self._most), len(self.values))
        threads = helpers() if first < self._coming else None
        self._work = None if threads is None else threads.submit(touch, self.values[first : self._coming])


def touch(rows: np.ndarray) -> None:
    """Write to every page of rows that hold nothing yet."""
    rows.reshape(-1)[:: mmap.PAGESIZE // rows.itemsize] = 0


def pages(shape: tuple[int, int], dtype: type = np.float64, huge: int = 0) -> np.ndarray:
    """Return an array of that shape and type, not initialised, up to `huge` bytes of it in huge pages."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if size <= huge or not hasattr(mmap, "MADV_HUGEPAGE"):  # which Linux has
        return np.empty(shape, dtype)  # in huge pages, if it is not small
    try:
        private = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        return np.empty(shape, dtype)  # NumPy says what is wrong
    if huge:
        with suppress(OSError):  # a system built without them
            private.madvise(mmap.MADV_HUGEPAGE, 0, huge)
    return np.frombuffer(private, dtype).reshape(shape)


def scratch(shape: tuple[int, int]) -> np.ndarray:
    """Room for some numbers, the same at every call of a thread: fresh memory may cost more than their computation.

    Parameters
    ----------
    shape : (int, int)

    Returns
    -------
    ndarray of that shape, float64, not initialised
    """
    count = shape[0] * shape[1]
    if getattr(_rooms, "room", None) is None or len(_rooms.room) < count:
        _rooms.room = np.empty(count)
    return np.asarray(_rooms.room[:count].reshape(shape))


_rooms = threading.local()
