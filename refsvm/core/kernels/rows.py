"""KernelRows: stores rows of K within a memory budget and counts computed rows.

In both engines, every kernel evaluation of a solve goes through a `KernelRows`, so that counts of kernel rows have the
same meaning everywhere. There are three kinds of stores, two of them in `refsvm.core.kernels.cached_rows`:

============  ============================================================================
`KernelRows`  K is held as an array: a row is ``K[i]``, and nothing is computed
`CachedRows`  each row is computed at its first use
`AllRows`     all rows are computed at the first use of a row, which suits a user's callable
============  ============================================================================

If all rows fit in the budget, `CachedRows` computes each row at most once. If the budget is full, a new row replaces
the least recently used row.

A store is itself a kernel matrix. A problem can therefore read rows from another problem's store. A store can also hold
copies of another store's rows, in another numeric type or for other variables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import positive_or_inf
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.matrix import KernelMatrix


def megabytes(rows: float, n: int, dtype: type = np.float64) -> float:
    """Return the size in MiB (2²⁰ bytes) of `rows` kernel rows, each with n values.

    Examples
    --------
    >>> from refsvm.core.kernels.rows import megabytes
    >>> megabytes(rows=1024, n=1024)
    8.0
    """
    return rows * n * np.dtype(dtype).itemsize / 2**20


class KernelRows(KernelMatrix):
    """Rows K[i] of a kernel matrix in the form that rules read; the base class serves a matrix held as an array.

    Parameters
    ----------
    gram : KernelMatrix
        The matrix, which holds K of shape (n, n) in ``gram.dense``.
    cache_mb : float
        Memory budget in MiB. The base class uses the budget only for copies of rows, such as the rows of a restricted
        problem.
    values : ndarray of shape (capacity, n), optional
        Memory for the stored rows; ``gram.dense`` by default.

    Attributes
    ----------
    values : ndarray of shape (capacity, n), float64 or float32
        The stored rows; row i is in slot ``slots[i]``.
    slots : ndarray of shape (n,), int64
        Slot of each row, −1 if it is not stored.
    stamps : ndarray of shape (capacity,), int64
        For each slot, the value of `clock` at its last use; 0 if the slot is free.
    owners : ndarray of shape (capacity,), int64
        For each slot, the row in it, or −1 if the slot is free.
    capacity, filled : int
        Number of slots, and number of slots in use; rows fill the slots in order.
    holds_all : bool
        True if there is a slot for every row, so that no row is computed twice.
    computed, hits : int
        Number of rows computed so far, and number of times that a needed row was already stored.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Precomputed
    >>> from refsvm.core.kernels import Gram
    >>> from refsvm.core.kernels.rows import KernelRows
    >>> rows = KernelRows(Gram(Precomputed(), np.array([[2.0, 1.0], [1.0, 2.0]])))
    >>> rows.row(1), rows.computed
    (array([1., 2.]), 0)
    """

    clock = hits = _computed = 0
    ready = -1

    def __init__(self, gram: KernelMatrix, cache_mb: float = 200.0, values: np.ndarray | None = None) -> None:
        self.gram, self.n, self.cache_mb = gram, gram.n, positive_or_inf("cache_mb", cache_mb)
        self.dense, self.filled, self.slots = gram.dense, self.n, np.arange(self.n)
        self.values: np.ndarray = values if values is not None else np.asarray(self.dense)
        self.capacity, self.holds_all = len(self.values), len(self.values) == self.n
        self.stamps, self.owners = np.zeros(self.capacity, dtype=np.int64), self.slots

    @property
    def kernel_name(self) -> str:
        """The text that stands for the kernel in messages."""
        return self.gram.kernel_name

    def row(self, i: int) -> np.ndarray:
        """Return K[i], shape (n,), float64, and compute it if it is not stored. Do not write to the array."""
        if self.slots[i] < 0:
            self.ensure(i)
        return self.values[self.slots[i]].astype(np.float64, copy=False)

    def ensure(self, i: int) -> None:
        """Compute row i if it is not stored."""

    def use(self, i: int, j: int) -> None:
        """Store rows i and j unless they are stored, and mark both as used; a row already stored is a cache hit."""
        self.hits += 2

    def fetch(self, indices: np.ndarray) -> None:
        """Compute and store all missing rows of `indices` in one block; all rows of `indices` must fit in the budget.

        An index may occur more than once.
        """

    def release(self) -> None:
        """Free the memory of the stored rows, so that a restricted problem can use it; `reserve` allocates it again."""

    def reserve(self) -> None:
        """If the memory was released, allocate it again for as many rows as the budget holds."""

    @property
    def row_seconds(self) -> float:
        """Estimated seconds to compute a row, from the rows computed so far; 0 before the first row."""
        return 0.0

    def seconds_for(self, indices: np.ndarray) -> float:
        """Estimate the seconds that `subtract` takes to compute the rows of `indices` that are not stored."""
        return 0.0

    def fetch_if_few(self, most: int) -> None:
        """If n ≤ `most` and the budget holds all n rows, compute them in one block, which is faster than one by one."""

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return K[rows][:, columns] from stored rows, after computing and storing the missing rows."""
        return self.gram.block(rows, columns, out)

    def diagonal(self) -> np.ndarray:
        """Return all kᵢᵢ, shape (n,)."""
        return self.gram.diagonal()

    def product(self, coefficients: np.ndarray) -> np.ndarray:
        """Return Kα, shape (n,), from the rows of the non-zero entries of α; see `subtract`."""
        support, total = np.flatnonzero(coefficients), np.zeros(self.n)
        self.subtract(total, support, -coefficients[support])
        return total

    def subtract(
        self, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray, *, by_variable: bool = False,
        watch: Callable[[int], object] | None = None,
    ) -> None:  # fmt: skip
        """Subtract Σₖ coefficients[k] K[indices[k]] from `target`, one row after another.

        Missing rows are computed and counted; they are stored if the whole matrix fits in the budget. The bits of the
        sum depend on which rows are stored only in two cases: rows are kept as float32, or a callable kernel rounds its
        values differently in a block than in a single row.

        Parameters
        ----------
        target : ndarray of shape (n,), float64
        indices : ndarray of shape (m,), int64
        coefficients : ndarray of shape (m,), float64
        by_variable : bool
            If True and if this store holds copies of all rows, subtract one row for each variable, even if variables
            share rows; the sum then has the same bits as in compiled rounds. Otherwise, subtract each shared row once
            for all its variables.
        watch : callable, optional
            If the method computes rows without storing them, it calls `watch` from time to time with the number of
            remaining rows. `watch` may raise an error to end the call.
        """
        arithmetic.current.add_rows(target, -coefficients, self.values, indices)

    @cached_property
    def facts(self) -> KernelFacts:
        """The known facts about the matrix; they also say whether this store keeps the rows as float32."""
        facts = self.gram.facts
        return replace(facts, keeps_float32=True) if self.values.dtype == np.float32 else facts

    @property
    def store(self) -> KernelRows:
        """The store itself."""
        return self

    @property
    def exact(self) -> KernelMatrix:
        """The matrix that evaluates the kernel for these rows."""
        return self.gram.exact

    @property
    def distinct(self) -> np.ndarray:
        """For each variable, the number that the underlying matrix gives to it; see `KernelMatrix.distinct`."""
        return self.gram.distinct

    @property
    def evaluator(self) -> KernelRows:
        """The store that evaluates the kernel: this store, or the store whose rows this store copies."""
        return self if self.gram.store is None else self.gram.store.evaluator

    @property
    def indices(self) -> np.ndarray:  # type: ignore[override]
        """For each row of this store, the number of the same row in the store `evaluator`, shape (n,)."""
        store: KernelRows | None = self.gram.store
        if store is None:
            return np.arange(self.n)
        return store.indices if store is self.gram else store.indices[self.gram.indices]

    @property
    def computed(self) -> int:
        """Number of rows that the kernel has computed."""
        return self._computed if self.gram.store is None else self.gram.store.computed

    def count(self, computed: int) -> None:
        """Add `computed` to the count of kernel rows, after code outside this class has computed that many rows."""
        self.evaluator._computed += computed
