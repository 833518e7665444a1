"""Kernel rows within a budget: computed when first asked for, or all at once; and which store keeps the rows."""

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
"""Rows that are computed in Python, which checks the clock, before compiled code computes others."""

ROWS_AT_A_TIME: Final = 64
"""Rows that are copied, or computed in passing, at a time."""


class CachedRows(KernelRows):
    """Rows that are computed when first asked for, and kept within a budget.

    Parameters
    ----------
    gram : KernelMatrix
        The matrix, in blocks.
    cache_mb : float
        Budget for stored rows in MiB; infinity for all rows. See `megabytes`.
    dtype : numpy type
        float32 halves the memory of a row. `row` returns float64 all the same.

    Attributes
    ----------
    ready : int
        Slots that compiled code may fill by itself; −1 until it is known how long a row takes.

    Raises
    ------
    ValueError
        If the budget does not hold two rows: an SMO step needs two at once.

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
        """Make room for so many rows, of which none is stored yet."""
        shape, dtype = (capacity, self.n), self.values.dtype.type
        # memory of a small store needs no care
        is_small = capacity * self.n * self.values.itemsize < KEPT_FROM_BYTES
        self._buffer = None if is_small else RowBuffer(shape, dtype)
        self.values = np.empty(shape, dtype) if self._buffer is None else self._buffer.values
        self.capacity, self.holds_all, self.filled = capacity, capacity == self.n, 0
        self.slots, self.owners = np.full(self.n, -1), np.full(capacity, -1)
        self.stamps = np.zeros(capacity, dtype=np.int64)

    @property
    def ready(self) -> int:  # type: ignore[override]
        """Slots that compiled code may fill by itself."""
        if self._timed < TIMED:
            return -1
        return self.capacity if self._buffer is None else self._buffer.ready

    def release(self) -> None:
        """Forget all rows and give their memory back, but for that of a pair, until `reserve`."""
        self._open(min(2, self.n))

    def reserve(self) -> None:
        """Take memory for as many rows as the budget holds, if it was released."""
        if self.capacity < self._most:
            self._open(self._most)

    def ensure(self, i: int) -> None:
        """Compute row i if it is not stored."""
        if self.slots[i] < 0:
            self._store_one(i)

    def use(self, i: int, j: int) -> None:
        """Store the rows of a working set; those stored already count as hits, and as the most recently used."""
        # a stored row first, so that the other one does not take its place
        for k in (i, j) if self.slots[i] >= 0 else (j, i):
            if self.slots[k] < 0:
                self._store_one(k)
            else:
                self.hits += 1
                self.clock += 1
                self.stamps[self.slots[k]] = self.clock

    def fetch(self, indices: np.ndarray) -> None:
        """Compute and store all missing rows of `indices` in one block; the budget must hold them all.

        An index may occur more than once.
        """
        places = self.slots[indices]
        # one tick for all: of rows that are fetched together none is older than another
        self.clock += 1
        self.stamps[places[places >= 0]] = self.clock  # none of these may give way
        missing = indices[places < 0]
        if len(missing):
            is_sorted = (missing[1:] > missing[:-1]).all()  # as nearly always
            self._store(missing if is_sorted else np.unique(missing))

    @property
    def row_seconds(self) -> float:
        """About how long it takes to compute a row, by those that were; 0 if none was."""
        return self._seconds / max(1, self._timed)

    def seconds_for(self, indices: np.ndarray) -> float:
        """Return about how many seconds `subtract` takes to compute those of these rows that are not stored."""
        source: KernelRows | None = self.gram.store
        if source is not None and self.gram.repeats:
            return source.seconds_for(np.unique(self.gram.indices[indices]))
        return self.row_seconds * np.count_nonzero(self.slots[indices] < 0)

    def fetch_if_few(self, most: int) -> None:
        """Compute all rows at once if there are at most so many, which is cheaper than one by one, and all fit."""
        source: KernelRows | None = self.gram.store
        if source is not None and not self.gram.repeats:
            return  # copies are made of the rows that are used
        if source is not None:
            source.fetch_if_few(2 * most)
        if self.n <= most and self.holds_all and self.filled < self.n:
            self.fetch(np.arange(self.n))

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] of stored rows; those that are missing are computed first, and stored."""
        if out is None:
            out = np.empty((len(rows), self.n if columns is None else len(columns)))
        if len(rows) == 1:  # as in every step of a restricted solve
            self.ensure(rows[0])
            line = self.values[self.slots[rows[0]]]
            out[0] = line if columns is None else line.take(columns, mode="clip")  # which saves a second copy
            return out
        # in one block, which is one matrix product; rows that do not fit together are fetched in parts below
        if len(rows) <= self.capacity:
            self.fetch(rows)
        height = min(ROWS_AT_A_TIME, self.capacity)
        for start in range(0, len(rows), height):
            some = rows[start : start + height]
            if len(rows) > self.capacity:
                self.fetch(some)
            room = scratch((len(some), self.n), self.values.dtype)  # mapped already
            values = self.values.take(self.slots[some], 0, room, mode="clip")
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
            source.subtract(
                target, indices, coefficients, watch=watch
            )  # the same values, without a copy as float64
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
                if len(missing):  # computed in passing
                    rows, places = rows[places], np.arange(len(places))
                    rows[missing] = self._computed_rows(indices[part][missing])
                arithmetic.current.add_rows(target, -coefficients[part], rows, places)

    def _subtract_shared(
        self, source: KernelRows, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray,
        watch: Callable[[int], object] | None,
    ) -> None:  # fmt: skip
        """Subtract where variables share rows: each row is summed once for all of them."""
        there, change = self.gram.indices, np.zeros(source.n)
        # bincount of no weights counts, in integers
        collapsed = np.bincount(there[indices], coefficients, source.n).astype(np.float64, copy=False)
        support = np.flatnonzero(collapsed)
        source.subtract(change, support, collapsed[support], watch=watch)
        target += change[there]

    def _computed_rows(self, rows: np.ndarray) -> np.ndarray:
        """K[rows] as they are kept, and counted."""
        return self._compute(rows, np.empty((len(rows), self.n), self.values.dtype))

    def _compute(self, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write K[rows] to `out`, counted and timed."""
        began = time.perf_counter()
        self.gram.block(rows, out=out)
        # counted after they are there: a user's kernel may raise, and the rows are then still missing
        self._computed += len(rows)
        self._timed += len(rows)
        self._seconds += time.perf_counter() - began
        return out

    def _store(self, missing: np.ndarray) -> None:
        """Compute rows in one block, into free slots or in place of the least recently used rows."""
        first = self.filled
        if first + len(missing) <= self.capacity:
            if self._buffer is not None:
                self._buffer.ensure_ready(first + len(missing))
            # straight into the store: a block that is copied would pass the cache twice
            places = np.arange(first, first + len(missing))
            self._compute(missing, self.values[first : first + len(missing)])
            self.filled += len(missing)
        else:
            if self._buffer is not None:
                self._buffer.ensure_ready(self.capacity)
            # free slots carry stamp 0, so they go first
            places = np.sort(np.argsort(self.stamps, kind="stable")[: len(missing)])
            evicted = self.owners[places]
            self.slots[evicted[evicted >= 0]], self.owners[places] = -1, -1
            # the slots that give way need not lie side by side, so the block is made elsewhere
            self.values[places] = self._computed_rows(missing)
            self.filled = self.capacity
        self.owners[places], self.slots[missing], self.stamps[places] = missing, places, self.clock

    def _store_one(self, i: int) -> None:
        """Store a single row, which counts as used: the fast path, taken in every other step."""
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
    """Rows that are all evaluated in one block when the first one is asked for; the budget must hold them.

    A user's callable may be slow to call, or look whether it is given the same examples twice.

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
        """All kᵢᵢ, shape (n,)."""
        self.fetch(np.arange(self.n))
        return self.values.diagonal().astype(np.float64)

    def _store(self, missing: np.ndarray) -> None:
        """Compute all rows, whichever are missing."""
        super()._store(np.arange(self.n))

    def _store_one(self, i: int) -> None:
        """Do the same."""
        self._store(np.arange(self.n))


def stored_rows(
    gram: KernelMatrix,
    cache_mb: float = 200.0,
    dtype: Any = np.float64,
    at_least: int = 0,
    read: Any = np.float64,
) -> KernelRows:
    """Return kernel rows within a budget, kept as float64 or, twice as many of them, as float32.

    The rules read one value for each variable, of one type: of rows that are kept as another, or once for several
    variables, a sixteenth of the budget, or what is left of it, holds the latest ones as the rules read them.

    Parameters
    ----------
    gram : KernelMatrix
    cache_mb : float
        Budget in MiB.
    dtype : numpy type
        float64 or float32.
    at_least : int
        Rows that the rules read at once; such copies of shared rows are kept beyond any budget.
    read : numpy type
        Type that the rules read: float64, or float32 if they take that too.

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
    if K is not None and K.dtype in (np.float64, read) and K.flags.c_contiguous:  # as the rules can read it
        return KernelRows(gram, cache_mb)
    # without memory for all rows a callable is asked for one at a time, as slow as that may be
    at_once = gram.full_matrix_only and cache_mb >= megabytes(gram.n, gram.n, read)
    return (AllRows if at_once else CachedRows)(gram, cache_mb, read)


def copied_rows(
    examples: KernelMatrix, gram: KernelMatrix, cache_mb: float, dtype: Any, at_least: int, read: Any
) -> KernelRows:
    """Return copies of the latest of the rows that are kept for some examples; see `stored_rows`."""
    shared, N = examples is not gram, examples.n
    # of examples that share rows all are kept, if that is less
    share = min(cache_mb * 15 / 16, megabytes(N, N, dtype) if shared else np.inf)
    budget = max(share, min(cache_mb, megabytes(2, N, dtype)))
    kept = stored_rows(examples, budget, dtype, read=dtype)
    # some copies at least, or each step would copy the rows of its pair anew
    few = megabytes(max(64, at_least) if shared else 64, gram.n)
    copied = View(kept, gram.indices) if shared else kept
    return CachedRows(copied, max(cache_mb - budget, cache_mb / 16, few), read)
