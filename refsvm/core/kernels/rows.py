"""KernelRows: the rows of K as the rules read them, within a byte budget, and counted.

Every kernel evaluation of a solve goes through here, for both engines, so "kernel rows computed" means the same
everywhere. There are three kinds of stores, two of them in `refsvm.core.kernels.cached_rows`:

============  ==================================================================================================
`KernelRows`  K is held as an array: a row is ``K[i]``, and nothing is computed
`CachedRows`  rows are computed when first asked for. If all fit the budget each is computed at most once; otherwise
              the least recently used one gives way. "Used": it belonged to a working set that was stepped on
`AllRows`     all are computed when the first one is asked for, as a user's callable may want it
============  ==================================================================================================

A store is a kernel matrix itself. So a problem may read the rows of another problem's store, and a store may keep
copies of another one's rows: as float64, which the rules read, of rows kept as float32; or those of some variables.
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
    """Return how many MiB (2²⁰ bytes) so many kernel rows of n values take.

    Examples
    --------
    >>> from refsvm.core.kernels.rows import megabytes
    >>> megabytes(rows=1024, n=1024)
    8.0
    """
    return rows * n * np.dtype(dtype).itemsize / 2**20


class KernelRows(KernelMatrix):
    """Rows K[i] of a kernel matrix, as the rules read them; here of one that is held as an array.

    Parameters
    ----------
    gram : KernelMatrix
        With K of shape (n, n) in ``gram.dense``.
    cache_mb : float
        Budget in MiB, here for what is made of the rows, such as those of a restricted problem.
    values : ndarray of shape (capacity, n), optional
        Memory for rows, in place of K.

    Attributes
    ----------
    values : ndarray of shape (capacity, n), float64 or float32
        Storage; row i stands in slot ``slots[i]``.
    slots : ndarray of shape (n,), int64
        Slot of each row, −1 if it is not stored.
    stamps : ndarray of shape (capacity,), int64
        Time of last use, by `clock`; 0 if the slot is free.
    owners : ndarray of shape (capacity,), int64
        Row stored in each slot, −1 if it is free.
    capacity, filled : int
        Number of slots, and how many have been given out: slots are filled in order.
    holds_all : bool
        Whether there is a slot for every row, so that none is ever computed twice.
    computed, hits : int
        Rows computed, in the end by the kernel, and uses served from storage.

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
        """The kernel, as it prints."""
        return self.gram.kernel_name

    def row(self, i: int) -> np.ndarray:
        """Row K[i], shape (n,), float64, computed if it is not stored. Do not write to it."""
        if self.slots[i] < 0:
            self.ensure(i)
        return self.values[self.slots[i]].astype(np.float64, copy=False)

    def ensure(self, i: int) -> None:
        """Compute row i if it is not stored."""

    def use(self, i: int, j: int) -> None:
        """Store the rows of a working set; those stored already count as hits, and as the most recently used."""
        self.hits += 2

    def fetch(self, indices: np.ndarray) -> None:
        """Compute and store all missing rows of `indices` in one block; the budget must hold them all.

        An index may occur more than once.
        """

    def release(self) -> None:
        """Give the memory of stored rows back until `reserve`, for the rows of a restricted problem."""

    def reserve(self) -> None:
        """Take memory for as many rows as the budget holds, if it was released."""

    @property
    def row_seconds(self) -> float:
        """About how long it takes to compute a row, by those that were; 0 if none was."""
        return 0.0

    def seconds_for(self, indices: np.ndarray) -> float:
        """Return about how many seconds `subtract` takes to compute those of these rows that are not stored."""
        return 0.0

    def fetch_if_few(self, most: int) -> None:
        """Compute all rows at once if there are at most so many, which is cheaper than one by one, and all fit."""

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns] of stored rows; those that are missing are computed first, and stored."""
        return self.gram.block(rows, columns, out)

    def diagonal(self) -> np.ndarray:
        """All kᵢᵢ, shape (n,)."""
        return self.gram.diagonal()

    def product(self, coefficients: np.ndarray) -> np.ndarray:
        """Kα, shape (n,), from the rows of the non-zero entries of α; see `subtract`."""
        support, total = np.flatnonzero(coefficients), np.zeros(self.n)
        self.subtract(total, support, -coefficients[support])
        return total

    def subtract(
        self, target: np.ndarray, indices: np.ndarray, coefficients: np.ndarray, *, by_variable: bool = False,
        watch: Callable[[int], object] | None = None,
    ) -> None:  # fmt: skip
        """Subtract Σₖ coefficients[k] K[indices[k]] from `target`, one row after another in this order.

        Rows are kept if the whole matrix fits the budget, and computed in passing otherwise; both are counted. The bits
        of the sum do not depend on which rows are stored, with two exceptions: rows kept as float32, and a callable
        kernel whose values round differently in a block and alone.

        Parameters
        ----------
        target : ndarray of shape (n,), float64
        indices : ndarray of shape (m,), int64
        coefficients : ndarray of shape (m,), float64
        by_variable : bool
            Also where variables share rows, and all copies are there: the sum is then that of compiled rounds, bit for
            bit. Otherwise each shared row is added once for all of its variables.
        watch : callable, optional
            Called with the number of rows that are left, now and then where they are computed in passing; it may raise.
        """
        arithmetic.current.add_rows(target, -coefficients, self.values, indices)

    @cached_property
    def facts(self) -> KernelFacts:
        """Those of the matrix, and whether these rows are float32."""
        facts = self.gram.facts
        return replace(facts, keeps_float32=True) if self.values.dtype == np.float32 else facts

    @property
    def store(self) -> KernelRows:
        """The store itself."""
        return self

    @property
    def exact(self) -> KernelMatrix:
        """The matrix that evaluates these rows."""
        return self.gram.exact

    @property
    def distinct(self) -> np.ndarray:
        """The numbers of the variables there."""
        return self.gram.distinct

    @property
    def evaluator(self) -> KernelRows:
        """The store that evaluates the kernel: this one, or that whose rows these are copies of."""
        return self if self.gram.store is None else self.gram.store.evaluator

    @property
    def indices(self) -> np.ndarray:  # type: ignore[override]
        """Numbers of these rows there, shape (n,)."""
        store: KernelRows | None = self.gram.store
        if store is None:
            return np.arange(self.n)
        return store.indices if store is self.gram else store.indices[self.gram.indices]

    @property
    def computed(self) -> int:
        """Rows computed by the kernel."""
        return self._computed if self.gram.store is None else self.gram.store.computed

    def count(self, computed: int) -> None:
        """Add rows that were computed elsewhere on behalf of this matrix."""
        self.evaluator._computed += computed
