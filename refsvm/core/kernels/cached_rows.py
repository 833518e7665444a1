"""Kernel rows within a memory budget, computed one by one when they are first used, or all at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import positive_or_inf
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.memory import KEPT_FROM_BYTES, RowBuffer, scratch
from refsvm.core.kernels.rows import KernelRows, megabytes

TIMED: Final = 4
"""Number of rows that Python computes and times, before compiled code computes rows itself."""

ROWS_AT_A_TIME: Final = 64
"""Number of rows that are copied, or computed without being stored, at a time."""


class CachedRows(KernelRows):
    """Kernel rows that are computed at their first use and kept within a memory budget.

    Parameters
    ----------
    gram : KernelMatrix
        The kernel matrix, whose method `block` computes rows.
    cache_mb : float
        Memory budget in MiB, or infinity to keep all rows. See `megabytes`.
    dtype : numpy type
        Type of the stored values; float32 halves the memory of a row. The method `row` always returns float64.

    Attributes
    ----------
    ready : int
        Number of slots that compiled code may fill without calling Python; each slot holds one row. The number is −1
        until Python has measured how long computing a row takes.

    Raises
    ------
    ValueError
        If the budget does not hold the two rows that an SMO step needs.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.cached_rows import CachedRows
    >>> rows = CachedRows(Gram(Linear(), np.array([[1.0], [2.0]])), cache_mb=1)
    >>> rows.row(1), rows.row(1), rows.computed
    (array([2., 4.]), array([2., 4.]), 1)
    """

    def __init__(self, gram: KernelMatrix, cache_mb: float = 200.0, dtype: type = np.float64) -> None:
        n, row_bytes = gram.n, gram.n * np.dtype(dtype).itemsize
        capacity = int(min(positive_or_inf("cache_mb", cache_mb) * 2**20 / row_bytes, n))
        if capacity < min(2, n):
            raise ValueError(
                f"cache_mb={cache_mb!r} does not hold two kernel rows of {n} {np.dtype(dtype).name} values; "
                f"give at least {megabytes(2, n, dtype):.3g}."
            )
        super().__init__(gram, cache_mb, np.empty((0, n), dtype))
        self.dense, self._most = None, capacity
        self._seconds, self._timed = 0.0, 0
        self._open(capacity)

    def _open(self, capacity: int) -> None:
        """Allocate memory for `capacity` rows, none of which is stored yet."""
        shape, dtype = (capacity, self.n), self.values.dtype.type
        # a small store gains nothing from a RowBuffer
        is_small = capacity * self.n * self.values.itemsize < KEPT_FROM_BYTES
        self._buffer = None if is_small else RowBuffer(shape, dtype)
        self.values = np.empty(shape, dtype) if self._buffer is None else self._buffer.values
        self.capacity, self.holds_all, self.filled = capacity, capacity == self.n, 0
        self.slots, self.owners = np.full(self.n, -1), np.full(capacity, -1)
        self.stamps = np.zeros(capacity, dtype=np.int64)

    @property
    def ready(self) -> int:  # type: ignore[override]
        """Number of slots that compiled code may fill without calling Python."""
        if self._timed < TIMED:
            return -1
        return self.capacity if self._buffer is None else self._buffer.ready

    def release(self) -> None:
        """Forget all rows and keep memory for only two rows, until `reserve` is called."""
        self._open(min(2, self.n))

    def reserve(self) -> None:
        """If the memory was released, allocate it again for as many rows as the budget holds."""
        if self.capacity < self._most:
            self._open(self._most)

    def ensure(self, i: int) -> None:
        """Compute row i if it is not stored."""
        if self.slots[i] < 0:
            self._store_one(i)

    def use(self, i: int, j: int) -> None:
        """Store rows i and j unless they are stored, and mark both as used; a row already stored is a cache hit."""
        # begin with a stored row, if there is one: once marked as used, it is not evicted when the other row is stored
        for k in (i, j) if self.slots[i] >= 0 else (j, i):
            if self.slots[k] < 0:
                self._store_one(k)
            else:
                self.hits += 1
                self.clock += 1
                self.stamps[self.slots[k]] = self.clock

    def fetch(self, indices: np.ndarray) -> None:
        """Compute and store all missing rows of `indices` in one block; all rows of `indices` must fit in the budget.

        An index may occur more than once.
        """
        places = self.slots[indices]
        # give all rows one time stamp, because rows that are fetched together have the same age
        self.clock += 1
        self.stamps[places[places >= 0]] = self.clock  # the new stamp keeps `_store` from evicting these rows
        missing = indices[places < 0]
        if len(missing):
            is_sorted = (missing[1:] > missing[:-1]).all()  # usually True
            self._store(missing if is_sorted else np.unique(missing))

    @property
    def row_seconds(self) -> float:
        """Estimated seconds to compute a row, from the rows computed so far; 0 before the first row."""
        return self._seconds / max(1, self._timed)

    def seconds_for(self, indices: np.ndarray) -> float:
        """Estimate the seconds that `subtract` takes to compute the rows of `indices` that are not stored."""
        source: KernelRows | None = self.gram.store
        if source is not None and self.gram.repeats:
            return source.seconds_for(np.unique(self.gram.indices[indices]))
        return self.row_seconds * np.count_nonzero(self.slots[indices] < 0)

    def fetch_if_few(self, most: int) -> None:
        """If n ≤ `most` and the budget holds all n rows, compute them in one block, which is faster than one by one."""
        source: KernelRows | None = self.gram.store
        if source is not None and not self.gram.repeats:
            return  # fetch nothing: this store copies a row from another store when the row is used
        if source is not None:
            source.fetch_if_few(2 * most)
        if self.n <= most and self.holds_all and self.filled < self.n:
            self.fetch(np.arange(self.n))

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] from stored rows, after computing and storing the missing rows."""
        if out is None:
            out = np.empty((len(rows), self.n if columns is None else len(columns)))
        if len(rows) == 1:  # restricted solves usually read one row: `ensure` is faster than `fetch`
            self.ensure(rows[0])
            line = self.values[self.slots[rows[0]]]
            out[0] = line if columns is None else line.take(columns, mode="clip")
            return out
        # if all rows fit in the store, compute the missing rows in one product; otherwise the loop below fetches parts
        if len(rows) <= self.capacity:
            self.fetch(rows)
        height = min(ROWS_AT_A_TIME, self.capacity)
        for start in range(0, len(rows), height):
            some = rows[start : start + height]
            if len(rows) > self.capacity:
                self.fetch(some)
            memory = scratch((len(some), self.n), self.values.dtype)  # `scratch` reuses mapped memory
            values = self.values.take(self.slots[some], 0, memory, mode="clip")
            out[start : start + height] = values if columns is None else values.take(columns, 1, mode="clip")
        return out

    def subtract(
        self, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray, *, by_variable: bool = False,
        watch: Callable[[int], object] | None = None,
    ) -> None:  # fmt: skip
        """Subtract Σₖ coefficients[k] K[indices[k]] from `target`; see `KernelRows.subtract`."""
        source: KernelRows | None = self.gram.store
        if source is not None and self.gram.repeats and not (by_variable and self.filled == self.n):
            self._subtract_shared(source, target, indices, coefficients, watch)
        elif source is not None and source is self.gram and source.holds_all:
            # let the source subtract its own rows, which avoids float64 copies of the rows
            source.subtract(target, indices, coefficients, watch=watch)
        elif self.holds_all:
            self.fetch(indices)
            arithmetic.current.add_rows(target, -coefficients, self.values, self.slots[indices])
        else:
            for start in range(0, len(indices), ROWS_AT_A_TIME):
                part = slice(start, start + ROWS_AT_A_TIME)
                if watch is not None:
                    watch(len(indices) - start)
                rows, places = self.values, self.slots[indices[part]]
                missing = np.flatnonzero(places < 0)
                if len(missing):  # compute the missing rows without storing them
                    rows, places = rows[places], np.arange(len(places))
                    rows[missing] = self._computed_rows(indices[part][missing])
                arithmetic.current.add_rows(target, -coefficients[part], rows, places)

    def _subtract_shared(
        self, source: KernelRows, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray,
        watch: Callable[[int], object] | None,
    ) -> None:  # fmt: skip
        """Subtract each row once for all variables that share it."""
        shared, change = self.gram.indices, np.zeros(source.n)
        # convert to float64, because bincount returns integers for an empty array of weights
        collapsed = np.bincount(shared[indices], coefficients, source.n).astype(np.float64, copy=False)
        support = np.flatnonzero(collapsed)
        source.subtract(change, support, collapsed[support], watch=watch)
        target += change[shared]

    def _computed_rows(self, rows: np.ndarray) -> np.ndarray:
        """Compute K[rows] in the type of the store, and count the rows."""
        return self._compute(rows, np.empty((len(rows), self.n), self.values.dtype))

    def _compute(self, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write K[rows] to `out`, count the rows and measure the time."""
        began = time.perf_counter()
        self.gram.block(rows, out=out)
        # count the rows only after `block` has computed them: a user's kernel may raise an error instead
        self._computed += len(rows)
        self._timed += len(rows)
        self._seconds += time.perf_counter() - began
        return out

    def _store(self, missing: np.ndarray) -> None:
        """Compute rows in one block and store them in free slots or in place of the least recently used rows."""
        first = self.filled
        if first + len(missing) <= self.capacity:
            if self._buffer is not None:
                self._buffer.ensure_ready(first + len(missing))
            # compute the rows directly in the store: a copy would move them through the processor's cache a second time
            places = np.arange(first, first + len(missing))
            self._compute(missing, self.values[first : first + len(missing)])
            self.filled += len(missing)
        else:
            if self._buffer is not None:
                self._buffer.ensure_ready(self.capacity)
            # free slots have stamp 0, so they are used first
            places = np.sort(np.argsort(self.stamps, kind="stable")[: len(missing)])
            evicted = self.owners[places]
            self.slots[evicted[evicted >= 0]], self.owners[places] = -1, -1
            # the replaced slots may not be adjacent, so compute the rows in a new array and copy them
            self.values[places] = self._computed_rows(missing)
            self.filled = self.capacity
        self.owners[places], self.slots[missing], self.stamps[places] = missing, places, self.clock

    def _store_one(self, i: int) -> None:
        """Compute and store a single row and mark it as used; steps call this method often, so it must be fast."""
        slot = self.filled
        if slot < self.capacity:
            self.filled += 1
            if self._buffer is not None:
                self._buffer.ensure_ready(self.filled)
        else:
            slot = int(self.stamps.argmin())
            if (evicted := int(self.owners[slot])) >= 0:
                self.slots[evicted], self.owners[slot] = -1, -1
        self._compute(np.array([i]), self.values[slot : slot + 1])
        self.clock += 1
        self.owners[slot], self.slots[i], self.stamps[slot] = i, slot, self.clock


class AllRows(CachedRows):
    """Kernel rows that are all computed in one block at the first use of a row; they must all fit in the budget.

    `AllRows` serves callable kernels of users, because such a kernel may be slow to call, or its values may depend on
    whether both of its arguments are the same table.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.cached_rows import AllRows
    >>> rows = AllRows(Gram(lambda X, Z: X @ Z.T, np.array([[1.0], [2.0]])))
    >>> rows.row(1), rows.computed
    (array([2., 4.]), 2)
    """

    def diagonal(self) -> np.ndarray:
        """Return all kᵢᵢ, shape (n,)."""
        self.fetch(np.arange(self.n))
        return self.values.diagonal().astype(np.float64)

    def _store(self, missing: np.ndarray) -> None:
        """Compute and store all rows."""
        super()._store(np.arange(self.n))

    def _store_one(self, i: int) -> None:
        """Compute and store all rows."""
        self._store(np.arange(self.n))


def stored_rows(
    gram: KernelMatrix,
    cache_mb: float = 200.0,
    dtype: Any = np.float64,
    at_least: int = 0,
    read: Any = np.float64,
) -> KernelRows:
    """Return kernel rows within a memory budget, stored as float64, or as float32 in half the memory.

    The rules read rows of one numeric type, with one value for each variable. If stored rows have another type, or if
    several variables share a row, a second store holds copies of the most recently used rows in the form that the
    rules read. The second store gets at least a sixteenth of the budget.

    Parameters
    ----------
    gram : KernelMatrix
    cache_mb : float
        Memory budget in MiB.
    dtype : numpy type
        Type of the stored values: float64 or float32.
    at_least : int
        Number of rows that the rules read at once; at least this many copies are kept, even beyond the budget.
    read : numpy type
        Type that the rules read: float64, or float32 if they accept it.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.cached_rows import stored_rows
    >>> stored_rows(Gram(Linear(), np.array([[1.0], [2.0]]))).row(1)
    array([2., 4.])
    """
    K, shared = gram.dense, gram.repeats and gram.store is None
    if shared or (K is None and dtype != read):
        return copied_rows(gram.source if shared else gram, gram, cache_mb, dtype, at_least, read)
    if K is not None and K.dtype in (np.float64, read) and K.flags.c_contiguous:  # rules can read K itself
        return KernelRows(gram, cache_mb)
    # if the budget cannot hold all rows, call a user's kernel for one row at a time, although this is slow
    at_once = gram.full_matrix_only and cache_mb >= megabytes(gram.n, gram.n, read)
    return (AllRows if at_once else CachedRows)(gram, cache_mb, read)


def copied_rows(
    examples: KernelMatrix, gram: KernelMatrix, cache_mb: float, dtype: Any, at_least: int, read: Any
) -> KernelRows:
    """Return a second store, which copies the rows in use to the form that rules read; see `stored_rows`."""
    shared, N = examples is not gram, examples.n
    # give stored rows 15/16 of the budget; if variables share rows, give at most the memory for one row per example
    share = min(cache_mb * 15 / 16, megabytes(N, N, dtype) if shared else np.inf)
    budget = max(share, min(cache_mb, megabytes(2, N, dtype)))
    stored = stored_rows(examples, budget, dtype, read=dtype)
    # keep memory for at least a few copies of rows; otherwise each step would copy the rows of its pair again
    few = megabytes(max(64, at_least) if shared else 64, gram.n)
    copied = View(stored, gram.indices) if shared else stored
    return CachedRows(copied, max(cache_mb - budget, cache_mb / 16, few), read)
