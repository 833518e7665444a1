"""KernelRows: rows of K on demand, kept within a byte budget and counted.

Every kernel evaluation of a solve goes through here, for both engines, so "kernel rows computed" means the same
everywhere. If the whole matrix fits the budget each row is computed at most once. Otherwise the least recently used
row gives way; "used" means: it belonged to a working set that was stepped on.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm._checks import positive_or_inf
from refsvm.kernels.gram import KernelMatrix
from refsvm.kernels.memory import RowBuffer
from refsvm.kernels.repeated import Repeated
from refsvm.kernels.threads import compiled

__all__ = ["KernelRows", "RowsOf", "megabytes", "stored_rows"]

ROWS_AT_A_TIME: Final = 64
"""Rows that are copied, or computed in passing, at a time."""


def megabytes(rows: float, n: int, dtype: type = np.float64) -> float:
    """Return how many MiB (2²⁰ bytes) so many kernel rows of n values take.

    Examples
    --------
    >>> from refsvm.kernels.rows import megabytes
    >>> megabytes(rows=1024, n=1024)
    8.0
    """
    return rows * n * np.dtype(dtype).itemsize / 2**20


class KernelRows:
    """Rows K[i] of a Gram matrix, computed when first asked for.

    Parameters
    ----------
    gram : KernelMatrix
        The matrix, in blocks.
    cache_mb : float
        Budget for stored rows in MiB; infinity for all rows. See `megabytes`.
    dtype : numpy type
        float32 halves what a row takes. Such rows are not for the rules: `RowsOf` hands them out as float64.

    Attributes
    ----------
    values : ndarray of shape (capacity, n), float64 or float32
        Storage; row i stands in slot ``slots[i]``.
    slots : ndarray of shape (n,), int64
        Slot of each row, −1 if it is not stored.
    owners : ndarray of shape (capacity,), int64
        Row stored in each slot, −1 if free.
    stamps : ndarray of shape (capacity,), int64
        Time of last use, by `clock`; 0 if the slot is free.
    filled : int
        Slots given out so far: slots are filled in order.
    computed, hits : int
        Rows computed, in the end by the kernel, and uses served from storage.

    Raises
    ------
    ValueError
        If the budget does not hold two rows: an SMO step needs two at once.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> from refsvm.kernels.rows import KernelRows
    >>> rows = KernelRows(Gram(Linear(), np.array([[1.0], [2.0]])), cache_mb=1)
    >>> rows.row(1), rows.row(1), rows.computed
    (array([2., 4.]), array([2., 4.]), 1)
    """

    def __init__(self, gram: KernelMatrix, cache_mb: float = 200.0, dtype: type = np.float64) -> None:
        n = gram.n
        self.gram, self.cache_mb = gram, cache_mb
        self.clock = self.hits = self._computed = 0
        budget = positive_or_inf("cache_mb", cache_mb)
        if gram.dense is not None:  # the caller holds K: nothing to compute, nothing to evict
            self.values = gram.dense
            self.slots, self.owners = np.arange(n), np.arange(n)
        else:
            capacity = int(min(budget / megabytes(1, n, dtype), n))
            if capacity < min(2, n):
                raise ValueError(
                    f"cache_mb={cache_mb!r} does not hold two kernel rows of {n} {np.dtype(dtype).name} values; "
                    f"give at least {megabytes(2, n, dtype):.3g}."
                )
            self._buffer = RowBuffer((capacity, n), dtype)
            self.values = self._buffer.values
            self.slots, self.owners = np.full(n, -1), np.full(capacity, -1)
        self.capacity = len(self.owners)
        self.filled = int((self.owners >= 0).sum())
        self.stamps = np.zeros(self.capacity, dtype=np.int64)
        self._at_once = gram.at_once and self.holds_all

    @property
    def evaluator(self) -> KernelRows:
        """The storage that evaluates the kernel: this one, or that whose rows these are taken from."""
        return self.gram.source.evaluator if isinstance(self.gram, RowsOf) else self

    @property
    def indices(self) -> np.ndarray:
        """Numbers of these rows there, shape (n,)."""
        return self.gram.indices if isinstance(self.gram, RowsOf) else np.arange(self.gram.n)

    @property
    def computed(self) -> int:
        """Rows computed by the kernel."""
        return self.evaluator._computed

    def count(self, computed: int) -> None:
        """Add rows that were computed elsewhere on behalf of this matrix."""
        self.evaluator._computed += computed

    @property
    def holds_all(self) -> bool:
        """Whether the budget holds the whole matrix, so that no row is ever computed twice."""
        return self.capacity == self.gram.n

    def diagonal(self) -> np.ndarray:
        """All kᵢᵢ, shape (n,)."""
        if not self._at_once:
            return self.gram.diagonal()
        self.fetch(np.arange(self.gram.n))
        return self.values.diagonal().astype(np.float64)

    def row(self, i: int) -> np.ndarray:
        """Row K[i], shape (n,), computed if it is not stored. Do not write to it."""
        if self.slots[i] < 0:
            self._store_one(i)
            self._stamp(int(self.slots[i]))
        return self.values[self.slots[i]]

    def use(self, i: int) -> np.ndarray:
        """`row`, counted as a use: a stored row is a hit and becomes the most recently used one."""
        if self.slots[i] >= 0:
            self.hits += 1
            self._stamp(int(self.slots[i]))
        return self.row(i)

    def fetch(self, indices: np.ndarray) -> None:
        """Compute and store all missing rows of `indices` in one block; the budget must hold them all.

        An index may occur more than once.
        """
        stored = self.slots[indices] >= 0
        count = np.count_nonzero(stored)
        self.clock += 1
        if count:
            self.stamps[self.slots[indices[stored]]] = self.clock  # none of these may give way
        if count < len(indices):
            missing = indices[~stored] if count else indices
            is_sorted = np.count_nonzero(missing[1:] > missing[:-1]) == len(missing) - 1  # as nearly always
            self._store(missing if is_sorted else np.unique(missing))

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] of stored rows; those that are missing are computed first, and stored.

        Parameters
        ----------
        rows, columns : ndarrays of int64, shapes (m,) and (c,)
            All columns by default.
        out : ndarray of shape (m, c), optional
            Where to write the values.

        Returns
        -------
        ndarray of shape (m, c), float64 unless `out` is given
        """
        if out is None:
            out = np.empty((len(rows), self.gram.n if columns is None else len(columns)))
        if len(rows) == 1:  # as in every step of a restricted solve
            line = self.row(rows[0])
            # K[i, j] for all j; "clip" saves a second copy
            out[0] = line if columns is None else line.take(columns, mode="clip")
            return out
        for start in range(0, len(rows), self.capacity):
            part = slice(start, start + self.capacity)
            self._copy(rows[part], columns, out[part])
        return out

    def _copy(self, rows: np.ndarray, columns: np.ndarray | None, out: np.ndarray) -> None:
        """Copy K[rows][:, columns], for no more rows than the budget holds."""
        self.fetch(rows)
        places = self.slots[rows]
        if columns is None:
            out[...] = self.values[places]
            return
        if len(rows) == 1 and out.dtype == self.values.dtype:
            self.values[places[0]].take(columns, out=out[0], mode="clip")
            return
        table = self.values.reshape(-1)
        for start in range(0, len(rows), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            # K[i, j] stands at place slots[i]·n + j
            out[part] = table.take(places[part, None] * self.gram.n + columns, mode="clip")

    def product(self, coefficients: np.ndarray) -> np.ndarray:
        """Kα, shape (n,), from the rows of the non-zero entries of α; see `subtract`."""
        support, total = np.flatnonzero(coefficients), np.zeros(self.gram.n)
        self.subtract(total, support, -coefficients[support])
        return total

    def subtract(self, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray) -> None:
        """Subtract Σₖ coefficients[k] K[indices[k]] from `target`, one row after another in this order.

        Rows are kept if the whole matrix fits the budget, and computed in passing otherwise; both are counted. The sum
        does not depend on which rows are stored.

        Parameters
        ----------
        target : ndarray of shape (n,), float64
        indices : ndarray of shape (m,), int64
        coefficients : ndarray of shape (m,), float64
        """
        if isinstance(self.gram, RowsOf) and self.gram.repeats:
            self.gram.subtract(target, indices, coefficients)
            return
        if isinstance(self.gram, RowsOf) and self.gram.only_converts and self.gram.source.holds_all:
            # the same values, without a copy as float64
            self.gram.source.subtract(target, indices, coefficients)
            return
        if self.holds_all and len(indices):
            self.fetch(indices)
            subtract_rows(target, self.values, self.slots[indices], coefficients)
            return
        for start in range(0, len(indices), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            rows = self._in_passing(indices[part])
            subtract_rows(target, rows, np.arange(len(rows)), coefficients[part])

    def _in_passing(self, rows: np.ndarray) -> np.ndarray:
        """K[rows], as float64 of the precision kept: stored rows from storage, the others computed and not stored."""
        places = self.slots[rows]
        missing = np.flatnonzero(places < 0)
        values = self.values[places]
        if len(missing):
            values[missing] = self.gram.block(rows[missing])
            self._computed += len(missing)
        return values.astype(np.float64, copy=False)

    def _store(self, missing: np.ndarray) -> None:
        """Compute rows in one block, into free slots or in place of the least recently used rows."""
        first = self.filled
        if self._at_once:
            missing = np.arange(self.gram.n)
        if first + len(missing) <= self.capacity:
            self._buffer.ensure_ready(first + len(missing))
            places = np.arange(first, first + len(missing))
            self.gram.block(missing, out=self.values[first : first + len(missing)])
            self.filled += len(missing)
        else:
            # free slots carry stamp 0, so they go first
            places = np.sort(np.argsort(self.stamps, kind="stable")[: len(missing)])
            evicted = self.owners[places]
            self.slots[evicted[evicted >= 0]], self.owners[places] = -1, -1
            self.values[places] = self.gram.block(missing)
            self.filled = self.capacity
        self.owners[places], self.slots[missing], self.stamps[places] = missing, places, self.clock
        self._computed += len(missing)

    def _store_one(self, i: int) -> None:
        """Do the same for one row, which happens in every other step and has to be quick."""
        if self._at_once:
            self._store(np.arange(self.gram.n))
            return
        slot = self.filled
        if slot < self.capacity:
            self.filled += 1
            self._buffer.ensure_ready(self.filled)
        else:
            slot = int(self.stamps.argmin())
            evicted = int(self.owners[slot])
            if evicted >= 0:
                self.slots[evicted], self.owners[slot] = -1, -1
        self.gram.block(np.array([i]), out=self.values[slot : slot + 1])
        self.owners[slot], self.slots[i] = i, slot
        self._computed += 1

    def _stamp(self, slot: int) -> None:
        self.clock += 1
        self.stamps[slot] = self.clock


def subtract_rows(target: np.ndarray, rows: np.ndarray, slots: np.ndarray, coefficients: np.ndarray) -> None:
    """Subtract Σₖ coefficients[k] rows[slots[k]] from `target`, one after another; the twin gives the same bits."""
    fast = compiled()
    if fast is not None:
        fast.subtract_rows(target, rows, slots, coefficients)
        return
    for slot, coefficient in zip(slots.tolist(), coefficients, strict=True):
        target -= coefficient * rows[slot]


class RowsOf:
    """The Gram matrix of some of the variables, its rows taken from the kernel rows of the whole problem.

    Each row is then computed once, for the whole problem, and counted there.

    Parameters
    ----------
    source : KernelRows
        Of the whole problem.
    indices : ndarray of shape (m,), int64
        The variables.
    """

    dense: np.ndarray | None = None
    at_once = False

    def __init__(self, source: KernelRows, indices: np.ndarray) -> None:
        self.source, self.indices = source, indices
        self.n, self.prefers_batches = len(indices), source.gram.prefers_batches
        self.rounding = source.gram.rounding
        self.only_converts = self.n == source.gram.n and bool((indices == np.arange(self.n)).all())
        # float32 rows are not summed as they are
        self.repeats = self.n > source.gram.n and source.values.dtype == np.float64

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] among the chosen variables, written to `out` if given."""
        if columns is not None:
            there: np.ndarray | None = self.indices[columns]
        else:
            there = None if self.only_converts else self.indices
        return self.source.block(self.indices[rows], there, out)

    def subtract(self, target: np.ndarray, variables: np.ndarray, coefficients: np.ndarray) -> None:
        """`KernelRows.subtract` where variables share rows: each row there is taken once."""
        source = self.source
        collapsed = np.bincount(self.indices[variables], coefficients, source.gram.n)
        support, change = np.flatnonzero(collapsed), np.zeros(source.gram.n)
        source.subtract(change, support, collapsed[support])
        target += change[self.indices]

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ of the chosen variables."""
        return self.source.diagonal()[self.indices]

    def restrict(self, indices: np.ndarray) -> RowsOf:
        """Fewer variables still."""
        return RowsOf(self.source, self.indices[indices])


def stored_rows(
    gram: KernelMatrix, cache_mb: float, dtype: type = np.float64, at_least: int = 0
) -> KernelRows:
    """Return kernel rows within a budget, kept as float64 or, twice as many of them, as float32.

    The rules read float64 values, one for each variable: of rows that are kept as float32, or once for several
    variables, a sixteenth of the budget, or what is left of it, holds the latest ones as the rules read them.

    Parameters
    ----------
    gram : KernelMatrix
    cache_mb : float
        Budget in MiB.
    dtype : numpy type
        float64 or float32.
    at_least : int
        Rows that the rules read at once; such copies of shared rows are kept whatever the budget.
    """
    variables = gram.indices if isinstance(gram, Repeated) else np.arange(gram.n)
    gram = gram.gram if isinstance(gram, Repeated) else gram
    n = len(variables)
    if n == gram.n and (np.dtype(dtype) == np.float64 or gram.dense is not None):
        return KernelRows(gram, cache_mb)
    share = min(cache_mb * 15 / 16, megabytes(gram.n, gram.n, dtype)) if n > gram.n else cache_mb * 15 / 16
    few = megabytes(max(64, at_least) if n > gram.n else 64, n)
    kept = KernelRows(gram, max(share, min(cache_mb, megabytes(2, gram.n, dtype))), dtype)
    return KernelRows(RowsOf(kept, variables), max(cache_mb - kept.cache_mb, cache_mb / 16, few))
