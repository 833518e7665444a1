"""KernelRows: rows of K on demand, kept within a byte budget and counted.

Every kernel evaluation of a solve goes through here, for both engines, so "kernel rows computed" means the same
everywhere. If the whole matrix fits the budget each row is computed at most once. Otherwise the least recently used
row gives way; "used" means: it belonged to a working set that was stepped on.
"""

from __future__ import annotations

import numpy as np

from refsvm._checks import positive_or_inf
from refsvm.kernels.gram import KernelMatrix
from refsvm.kernels.memory import RowBuffer
from refsvm.kernels.threads import compiled

__all__ = ["KernelRows", "RowsOf", "stored_rows"]


class KernelRows:
    """Rows K[i] of a Gram matrix, computed when first asked for.

    Parameters
    ----------
    gram : KernelMatrix
        The matrix, in blocks.
    cache_mb : float
        Budget for stored rows in MiB (2²⁰ bytes); infinity for all rows. A row takes 8n bytes.
    dtype : numpy type
        float32 halves that. Such rows are not for the rules: `RowsOf` hands them out as float64.

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
        if gram.dense is not None:  # the caller holds K: nothing to compute, nothing to evict
            self.values = gram.dense
            self.slots = np.arange(n)
            self.owners = np.arange(n)
        else:
            size = np.dtype(dtype).itemsize * n
            capacity = min(n, int(min(positive_or_inf("cache_mb", cache_mb) * 2**20 / size, n)))
            if capacity < min(2, n):
                raise ValueError(
                    f"cache_mb={cache_mb!r} does not hold two kernel rows of {n} {np.dtype(dtype).name} values; "
                    f"give at least {2 * size / 2**20:.3g}."
                )
            self._buffer = RowBuffer((capacity, n), dtype)
            self.values = self._buffer.values
            self.slots = np.full(n, -1)
            self.owners = np.full(capacity, -1)
        self.capacity = len(self.owners)
        self.filled = int((self.owners >= 0).sum())
        self.stamps = np.zeros(self.capacity, dtype=np.int64)

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
        """Compute and store all missing rows of `indices` in one block; the budget must hold them all."""
        stored = self.slots[indices] >= 0
        self.clock += 1
        self.stamps[self.slots[indices[stored]]] = self.clock  # none of these may give way
        missing = indices[~stored]
        if len(missing):
            self._store(missing)

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
        stored = self.slots[support] >= 0
        for i in support[stored]:
            total += coefficients[i] * self.values[self.slots[i]]
        missing = support[~stored]
        for start in range(0, len(missing), 64):
            chunk = missing[start : start + 64]
            total += coefficients[chunk] @ self.gram.block(chunk)
            self._computed += len(chunk)
        return total

    def subtract(self, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray) -> None:
        """Subtract Σₖ coefficients[k] K[indices[k]] from `target`, one row after another in this order.

        Rows are kept if the whole matrix fits the budget, and computed in passing otherwise; both are counted.
        """
        if self.holds_all:
            self.fetch(indices)
            subtract_rows(target, self.values, self.slots[indices], coefficients)
            return
        for start in range(0, len(indices), 64):
            chunk = indices[start : start + 64]
            missing = self.slots[chunk] < 0
            block = np.empty((len(chunk), self.gram.n))
            block[~missing] = self.values[self.slots[chunk[~missing]]]
            block[missing] = self.gram.block(chunk[missing])
            self._computed += int(missing.sum())
            subtract_rows(target, block, np.arange(len(chunk)), coefficients[start : start + 64])

    def _store(self, missing: np.ndarray) -> None:
        """Compute rows in one block, into free slots or in place of the least recently used rows."""
        first = self.filled
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
    if fast is not None and rows.dtype == np.float64:
        fast.subtract_rows(target, rows, slots, coefficients)
        return
    for slot, coefficient in zip(slots.tolist(), coefficients.tolist(), strict=True):
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

    def __init__(self, source: KernelRows, indices: np.ndarray) -> None:
        self.source, self.indices = source, indices
        self.n, self.prefers_batches = len(indices), source.gram.prefers_batches
        self._all = self.n == source.gram.n

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] among the chosen variables, written to `out` if given."""
        source, wanted = self.source, self.indices[rows]
        if 1 < len(wanted) <= source.capacity:
            source.fetch(wanted)
        across = self.indices if columns is None else self.indices[columns]
        if out is None:
            out = np.empty((len(rows), len(across)))
        for line, i in zip(out, wanted.tolist(), strict=True):
            if self._all and columns is None:
                line[:] = source.row(i)
            elif source.values.dtype == np.float64:
                source.row(i).take(across, out=line, mode="clip")  # the other modes copy twice
            else:
                line[:] = source.row(i)[across]
        return out

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ of the chosen variables."""
        return self.source.gram.diagonal()[self.indices]

    def restrict(self, indices: np.ndarray) -> RowsOf:
        """Fewer variables still."""
        return RowsOf(self.source, self.indices[indices])


def stored_rows(gram: KernelMatrix, cache_mb: float, dtype: type = np.float64) -> KernelRows:
    """Return kernel rows within a budget, kept as float64 or, twice as many of them, as float32.

    The rules read float64: of rows that are kept as float32, a sixteenth of the budget holds the latest ones as such.

    Parameters
    ----------
    gram : KernelMatrix
    cache_mb : float
        Budget in MiB.
    dtype : numpy type
        float64 or float32.
    """
    if np.dtype(dtype) == np.float64 or gram.dense is not None:
        return KernelRows(gram, cache_mb)
    kept = KernelRows(gram, cache_mb * 15 / 16, np.float32)
    return KernelRows(RowsOf(kept, np.arange(gram.n)), max(cache_mb / 16, 64 * 8 * gram.n / 2**20))
