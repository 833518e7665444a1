"""KernelRows: rows of K on demand, kept within a byte budget and counted.

Every kernel evaluation of a solve goes through here, for both engines, so "kernel rows computed" means the same
everywhere. If the whole matrix fits the budget each row is computed at most once. Otherwise the least recently used
row gives way; "used" means: it belonged to a working set that was stepped on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from refsvm._checks import positive_or_inf
from refsvm.kernels import KernelMatrix

__all__ = ["KernelRows", "RowsOf"]

BATCH = 16
"""Most rows computed at once when some are computed ahead."""

NONE = np.empty(0, dtype=np.int64)


class KernelRows:
    """Rows K[i] of a Gram matrix, computed when first asked for.

    Parameters
    ----------
    gram : KernelMatrix
        The matrix, in blocks.
    cache_mb : float
        Budget for stored rows in MiB (2²⁰ bytes); infinity for all rows. A row takes 8n bytes.

    Attributes
    ----------
    values : ndarray of shape (capacity, n), float64
        Storage; row i stands in slot ``slots[i]``.
    slots : ndarray of shape (n,), int64
        Slot of each row, −1 if it is not stored.
    owners : ndarray of shape (capacity,), int64
        Row stored in each slot, −1 if free.
    stamps : ndarray of shape (capacity,), int64
        Time of last use, by `clock`; 0 if the slot is free or its row was computed ahead and not used yet.
    filled : int
        Slots given out so far: slots are filled in order.
    likely : callable or None
        ``likely(count)`` names up to `count` rows, not stored yet, that will be wanted soon. If it is set,
        some rows are computed ahead, several in one product, which is two to five times cheaper for each.
    computed, hits : int
        Rows computed, and uses served from storage.

    Raises
    ------
    ValueError
        If the budget does not hold two rows: an SMO step needs two at once.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> from refsvm.rows import KernelRows
    >>> rows = KernelRows(Gram(Linear(), np.array([[1.0], [2.0]])), cache_mb=1)
    >>> rows.row(1), rows.row(1), rows.computed
    (array([2., 4.]), array([2., 4.]), 1)
    """

    def __init__(self, gram: KernelMatrix, cache_mb: float = 200.0) -> None:
        n = gram.n
        self.gram, self.cache_mb = gram, cache_mb
        self.clock = self.computed = self.hits = 0
        if gram.dense is not None:  # the caller holds K: nothing to compute, nothing to evict
            self.values = gram.dense
            self.slots = np.arange(n)
            self.owners = np.arange(n)
        else:
            capacity = min(n, int(min(positive_or_inf("cache_mb", cache_mb) * 2**20 / (8 * n), n)))
            if capacity < min(2, n):
                raise ValueError(
                    f"cache_mb={cache_mb!r} does not hold two kernel rows of {n} float64 values; "
                    f"give at least {2 * 8 * n / 2**20:.3g}."
                )
            self.values = np.empty((capacity, n))
            self.slots = np.full(n, -1)
            self.owners = np.full(capacity, -1)
        self.capacity = len(self.owners)
        self.filled = int((self.owners >= 0).sum())
        self.likely: Callable[[int], np.ndarray] | None = None
        self.stamps = np.zeros(self.capacity, dtype=np.int64)

    @property
    def holds_all(self) -> bool:
        """Whether the budget holds the whole matrix, so that no row is ever computed twice."""
        return self.capacity == self.gram.n

    def row(self, i: int) -> np.ndarray:
        """Row K[i], shape (n,), computed if it is not stored. Do not write to it."""
        if self.slots[i] < 0:
            others = self._likely()
            if len(others):
                self._store(np.append(i, others[others != i]), stamp=0)
            else:
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
        """Compute and store all missing rows of `indices` in one block; the budget must hold them all."""
        stored = self.slots[indices] >= 0
        self.clock += 1
        self.stamps[self.slots[indices[stored]]] = self.clock  # none of these may give way
        missing = indices[~stored]
        if len(missing):
            self._store(missing, stamp=self.clock)

    def product(self, coefficients: np.ndarray) -> np.ndarray:
        """Kα from the rows of the non-zero entries of α, shape (n,).

        Rows are kept if the whole matrix fits the budget, and computed in passing otherwise; both are counted.
        """
        support = np.flatnonzero(coefficients)
        if not len(support):
            return np.zeros(self.gram.n)
        if self.holds_all:
            self.fetch(support)
            by_slot = np.zeros(self.filled)
            by_slot[self.slots[support]] = coefficients[support]
            return np.asarray(by_slot @ self.values[: self.filled])
        total = np.zeros(self.gram.n)
        for start in range(0, len(support), 256):
            chunk = support[start : start + 256]
            total += coefficients[chunk] @ self.gram.block(chunk)
            self.computed += len(chunk)
        return total

    def _likely(self) -> np.ndarray:
        """Which rows to compute ahead of their use: so many that at most a tenth of the stored ones wait for it.

        A row computed ahead has stamp 0 until it is used. Where the guesses come true, as on a problem with many
        support vectors, batches grow to `BATCH` rows; where they fail, rows are computed one by one.
        """
        if self.likely is None:
            return NONE
        waiting = int((self.stamps[: self.filled] == 0).sum())
        ahead = min(self.filled // 10 - waiting, BATCH - 1, self.capacity - self.filled - 2)
        return self.likely(ahead) if ahead >= 3 else NONE

    def _store(self, missing: np.ndarray, stamp: int) -> None:
        """Compute rows in one block, into free slots or in place of the least recently used rows."""
        first = self.filled
        if first + len(missing) <= self.capacity:
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
        self.owners[places], self.slots[missing], self.stamps[places] = missing, places, stamp
        self.computed += len(missing)

    def _store_one(self, i: int) -> None:
        """Do the same for one row, which happens in every other step and has to be quick."""
        slot = self.filled
        if slot < self.capacity:
            self.filled += 1
        else:
            slot = int(self.stamps.argmin())
            evicted = int(self.owners[slot])
            if evicted >= 0:
                self.slots[evicted], self.owners[slot] = -1, -1
        self.gram.block(np.array([i]), out=self.values[slot : slot + 1])
        self.owners[slot], self.slots[i] = i, slot
        self.computed += 1

    def _stamp(self, slot: int) -> None:
        self.clock += 1
        self.stamps[slot] = self.clock


class RowsOf:
    """The Gram matrix of some of the variables, its rows taken from the kernel rows of the whole problem.

    Each row is then computed once, for the whole problem, and counted there.

    Parameters
    ----------
    rows : KernelRows
        Of the whole problem; its budget holds all rows.
    indices : ndarray of shape (m,), int64
        The variables.
    """

    dense: np.ndarray | None = None
    effort: int = 0

    def __init__(self, rows: KernelRows, indices: np.ndarray) -> None:
        self._rows, self._indices = rows, indices
        self.n = len(indices)

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] among the chosen variables, written to `out` if given."""
        whole, wanted = self._rows, self._indices[rows]
        whole.fetch(wanted)
        across = self._indices if columns is None else self._indices[columns]
        if out is None:
            out = np.empty((len(rows), len(across)))
        for line, i in zip(out, wanted.tolist(), strict=True):
            whole.row(i).take(across, out=line, mode="clip")  # the other modes copy twice
        return out

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ of the chosen variables."""
        return self._rows.gram.diagonal()[self._indices]

    def restrict(self, indices: np.ndarray) -> RowsOf:
        """Fewer variables still."""
        return RowsOf(self._rows, self._indices[indices])
