"""Memory for kernel values.

The operating system maps a page of memory on the first write to it. An array takes address space for its whole size at
once, and memory only for the pages that were written to. A `RowBuffer` is as large as its budget allows, and a small
problem leaves most of the buffer unmapped.

Mapping the page of a kernel row can take as long as computing the row. Three measures make mapping cheaper:

* Reuse pages that are already mapped: `reused` keeps the memory of unused arrays for later arrays.
* Use pages of the usual size (4 KiB). NumPy asks for huge pages (2 MiB), which are faster to map if the system has free
  huge pages. A virtual machine often has none; mapping then takes five times as long for each byte as with small pages.
* Let a second thread write to the pages of the next rows while the first thread computes. Buffers of at least
  `AHEAD_FROM_BYTES` use a second thread if their memory is not yet mapped.
"""

from __future__ import annotations

import mmap
import threading
import weakref
from concurrent.futures import Future
from contextlib import suppress
from math import prod
from typing import Final

import numpy as np

from refsvm.core.kernels.threads import helper_threads

AHEAD_FROM_BYTES: Final = 2**25
"""Size in bytes from which a second thread maps the pages of a buffer ahead of their use."""

MAPPED_AHEAD_BYTES: Final = 2**24
"""Largest number of bytes that the second thread maps at a time."""

KEPT_FROM_BYTES: Final = 2**20
"""Size of the smallest arrays whose memory is kept for reuse; the C library keeps the memory of smaller arrays."""

KEPT_BYTES: Final = 2**28
"""Largest number of bytes of address space that are kept for reuse."""

LENT_FROM_BYTES: Final = 2**27
"""The operating system may take kept memory of at least this size while no array uses it."""


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
        The array, which is not initialised.

    Raises
    ------
    MemoryError or ValueError
        If the system has no address space for such an array.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.memory import RowBuffer
    >>> buffer = RowBuffer((3, 2), np.float64)
    >>> buffer.ensure_ready(1)
    >>> buffer.values[0] = 5.0
    >>> buffer.values.shape
    (3, 2)
    """

    def __init__(self, shape: tuple[int, int], dtype: type) -> None:
        row_bytes = max(1, shape[1] * np.dtype(dtype).itemsize)
        size = shape[0] * row_bytes
        # use the second thread only if no kept memory is large enough: pages of kept memory are already mapped
        ahead = size >= AHEAD_FROM_BYTES and not any(len(memory) >= size for memory in tuple(_kept))
        self.values = reused(shape, dtype)
        self._rows_at_a_time = MAPPED_AHEAD_BYTES // row_bytes
        self._ready = 0 if ahead else shape[0]  # number of rows that are ready for writing
        self._submitted = self._ready  # number of rows up to which the second thread is to map pages
        self._work: Future[None] | None = None

    @property
    def ready(self) -> int:
        """Number of rows that can be written to without waiting."""
        return self._ready

    def ensure_ready(self, stop: int) -> None:
        """Wait until the second thread has mapped the pages of all rows before `stop`.

        Call `ensure_ready` before writing to a row for the first time. The call makes the second thread map as many
        further rows as are already mapped, up to `MAPPED_AHEAD_BYTES`.
        """
        if stop <= self._ready:
            return
        if self._work is not None:
            self._work.result()
        first = self._ready = max(self._submitted, stop)
        # map ahead only as many rows as are in use, so that a small problem does not map the whole budget
        self._submitted = min(first + min(first, self._rows_at_a_time), len(self.values))
        threads = helper_threads() if first < self._submitted else None
        self._work = None if threads is None else threads.submit(touch, self.values[first : self._submitted])


def touch(rows: np.ndarray) -> None:
    """Map the pages of unused rows, by writing one value to every page."""
    # writing one value to a page maps the page; filling whole pages would slow the first thread
    rows.reshape(-1)[:: mmap.PAGESIZE // rows.itemsize] = 0


def reused(shape: tuple[int, ...], dtype: type | np.dtype = np.float64) -> np.ndarray:
    """Return an array in memory that was kept from an earlier array, or in new memory if no memory is kept.

    When neither the array nor a view of it exists any more, its memory is kept for later arrays.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy type

    Returns
    -------
    ndarray of that shape and type, not initialised

    Raises
    ------
    MemoryError or ValueError
        If the system has no address space for such an array.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.memory import reused
    >>> reused((3, 2), np.float32).shape
    (3, 2)
    """
    size = prod(shape) * np.dtype(dtype).itemsize
    return np.empty(shape, dtype) if size < KEPT_FROM_BYTES else mapped(shape, dtype, size)


def mapped(shape: tuple[int, ...], dtype: type | np.dtype, size: int) -> np.ndarray:
    """Return an array of `size` bytes; when no code uses the array any more, `give_back` keeps its memory."""
    if not hasattr(mmap, "MADV_FREE"):  # MADV_FREE is missing on Windows, for example
        return np.empty(shape, dtype)
    try:
        memory = taken(size)
    except (OSError, OverflowError):
        return np.empty(shape, dtype)  # NumPy names the size if it raises an error
    owner = np.frombuffer(memory, np.uint8, size)  # every view of the array keeps `owner` alive
    weakref.finalize(owner, give_back, memory, size).atexit = False
    return owner.view(dtype).reshape(shape)


def taken(size: int) -> mmap.mmap:
    """Return the smallest sufficient piece of kept memory; if there is none, enlarge the largest or map new memory."""
    with suppress(IndexError):  # `pop` raises IndexError if no memory is kept
        # take the smallest memory that is large enough, so that larger memory remains for larger arrays
        enough = next((place for place, memory in enumerate(_kept) if len(memory) >= size), -1)
        memory = _kept.pop(enough)
        if len(memory) < size:
            with suppress(OSError, SystemError, ValueError):
                memory.resize(size)  # `resize` keeps the mapped pages
        if len(memory) >= size:
            return memory
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def give_back(memory: mmap.mmap, used: int) -> None:
    """Keep unused memory, and free the smallest pieces if the total exceeds `KEPT_BYTES`."""
    # one huge array must not push out all other kept memory
    if len(memory) > KEPT_BYTES:
        return
    # allow the operating system to take the pages of a large piece back when memory runs short
    if used >= LENT_FROM_BYTES:
        with suppress(OSError):  # older systems do not support MADV_FREE
            memory.madvise(mmap.MADV_FREE, 0, used)
    _kept.append(memory)
    _kept.sort(key=len)
    while sum(map(len, _kept)) > KEPT_BYTES:
        with suppress(IndexError):
            _kept.pop(0)


_kept: list[mmap.mmap] = []
"""Unused memory, sorted by size. Finalisers may change this list at any time; each change is one atomic operation."""


def scratch(shape: tuple[int, int], dtype: type | np.dtype = np.float64) -> np.ndarray:
    """Return an array for intermediate values; all calls from one thread return the same memory.

    Mapping new memory for each block of kernel values would take longer than computing the values.

    Parameters
    ----------
    shape : (int, int)
    dtype : numpy type
        float64 or float32.

    Returns
    -------
    ndarray of that shape and type, not initialised
        The values are valid until the same thread calls `scratch` again.
    """
    count = shape[0] * shape[1]
    # never shrink this memory, because blocks of a solve have similar sizes
    if getattr(_of_thread, "values", None) is None or len(_of_thread.values) < count:
        _of_thread.values = np.empty(count)
    return np.asarray(_of_thread.values.view(dtype)[:count].reshape(shape))


_of_thread = threading.local()
