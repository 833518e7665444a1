"""Memory for kernel rows.

The operating system maps a page of memory on the first write to it. An array takes address space for its whole size at
once, and memory only for the pages that were written to. So a `RowBuffer` is as large as its budget allows, and a
small problem leaves most of it unmapped.

Mapping the page of a kernel row can take as long as computing the row. Two things make it cheaper:

* NumPy asks for huge pages (2 MiB in place of 4 KiB). One of them is mapped much faster than its 512 small pages, as
  long as the system has free ones. Then it has to move other pages first, which is slower than mapping small pages.
* A second thread can write to the pages of the next rows while the first one computes.

Buffers below `SMALL_PAGES_FROM_BYTES` take huge pages, larger ones small pages and the thread.
"""

from __future__ import annotations

import mmap
import threading
from concurrent.futures import Future
from typing import Final

import numpy as np

from refsvm.kernels.threads import helper_threads

__all__ = ["RowBuffer", "scratch"]

SMALL_PAGES_FROM_BYTES: Final = 2**29
"""Size from which a buffer takes small pages, mapped ahead by a second thread."""

MAPPED_AHEAD_BYTES: Final = 2**24
"""Most bytes that the second thread maps at a time."""


class RowBuffer:
    """An array whose rows are written in order, from the first to the last.

    Parameters
    ----------
    shape : (int, int)
        Number of rows and their length.
    dtype : numpy type

    Attributes
    ----------
    values : ndarray of that shape and type
        Not initialised.

    Raises
    ------
    MemoryError or ValueError
        If the system has no address space for such an array.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.kernels.memory import RowBuffer
    >>> buffer = RowBuffer((3, 2), np.float64)
    >>> buffer.ensure_ready(1)
    >>> buffer.values[0] = 5.0
    >>> buffer.values.shape
    (3, 2)
    """

    def __init__(self, shape: tuple[int, int], dtype: type) -> None:
        row_bytes = max(1, shape[1] * np.dtype(dtype).itemsize)
        large = shape[0] * row_bytes >= SMALL_PAGES_FROM_BYTES
        self.values = with_small_pages(shape, dtype) if large else np.empty(shape, dtype)
        self._rows_at_a_time = MAPPED_AHEAD_BYTES // row_bytes
        self._ready = 0 if large else shape[0]  # rows that can be written to
        self._submitted = self._ready  # rows given to the second thread
        self._work: Future[None] | None = None

    def ensure_ready(self, stop: int) -> None:
        """Return once the rows before `stop` can be written to without waiting for the second thread.

        Call it before writing to a row for the first time. The second thread then maps as many rows as were ready,
        at most `MAPPED_AHEAD_BYTES`.
        """
        if stop <= self._ready:
            return
        if self._work is not None:
            self._work.result()
        first = self._ready = max(self._submitted, stop)
        self._submitted = min(first + min(first, self._rows_at_a_time), len(self.values))
        threads = helper_threads() if first < self._submitted else None
        self._work = None if threads is None else threads.submit(touch, self.values[first : self._submitted])


def touch(rows: np.ndarray) -> None:
    """Write to every page of rows that hold nothing yet, which maps them."""
    rows.reshape(-1)[:: mmap.PAGESIZE // rows.itemsize] = 0


def with_small_pages(shape: tuple[int, int], dtype: type) -> np.ndarray:
    """Return an array that is not initialised and consists of pages of the usual size."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if not hasattr(mmap, "MAP_ANONYMOUS"):  # on Windows, where NumPy asks for no huge pages
        return np.empty(shape, dtype)
    try:
        private = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, OverflowError):
        return np.empty(shape, dtype)  # NumPy's error message names the size
    return np.frombuffer(private, dtype).reshape(shape)


def scratch(shape: tuple[int, int], dtype: type | np.dtype = np.float64) -> np.ndarray:
    """Return an array for intermediate values, in the same memory at every call of a thread.

    Mapping fresh memory for each block of kernel values would cost more than computing them.

    Parameters
    ----------
    shape : (int, int)
    dtype : numpy type
        float64 or float32.

    Returns
    -------
    ndarray of that shape and type, not initialised
        Valid until the next call of the same thread.
    """
    count = shape[0] * shape[1]
    if getattr(_of_thread, "values", None) is None or len(_of_thread.values) < count:
        _of_thread.values = np.empty(count)
    return np.asarray(_of_thread.values.view(dtype)[:count].reshape(shape))


_of_thread = threading.local()
