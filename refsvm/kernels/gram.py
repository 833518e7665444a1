"""Gram: the matrix that a kernel spans on data, evaluated in blocks and never stored here.

Always through one matrix product: BLAS for dense rows, scipy.sparse or a table of features for CSR.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from refsvm.kernels.functions import RBF, Kernel, Precomputed, Sigmoid
from refsvm.kernels.memory import scratch
from refsvm.kernels.products import Products, inner_products, squared_norms
from refsvm.kernels.threads import run_in_pieces

__all__ = ["Gram", "KernelMatrix"]

SLAB = 2**17
"""Entries of K evaluated at a time by a thread: 1 MiB, about what a core's own cache holds."""

CHUNK = 2**21
"""Entries of K multiplied at a time, 16 MiB: enough to be shared among threads."""

FEWEST = 128
"""Rows multiplied at a time at least, if there are so many: a product of few rows waits for memory."""

LARGEST = 1e300
"""Kernel values above this are refused."""


class KernelMatrix(Protocol):
    """A kernel matrix that can be evaluated block by block: `Gram`, or `refsvm.kernels.rows.RowsOf`."""

    n: int
    dense: np.ndarray | None
    prefers_batches: bool  # whether several rows in one product cost far less than one by one

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns]; all columns by default."""
        ...

    def diagonal(self) -> np.ndarray:
        """All kᵢᵢ."""
        ...

    def restrict(self, indices: np.ndarray) -> KernelMatrix:
        """Return the matrix of the examples in `indices`."""
        ...


class Gram:
    """The matrix K[i, j] = k(xᵢ, xⱼ) of a kernel on data, evaluated block by block and never stored here.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        A callable gets two blocks of rows of X and returns their (m, n) kernel matrix.
    X : ndarray or CSR array of shape (n, d)
        Checked data (float64). For `Precomputed`, the (n, n) matrix.

    Attributes
    ----------
    n : int
        Number of examples.
    dense : ndarray of shape (n, n) or None
        The matrix itself if the caller supplied it.
    prefers_batches : bool
        Whether several rows in one product cost far less than the same rows one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> Gram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    def __init__(self, kernel: Kernel | Precomputed | Callable[..., np.ndarray], X: Any) -> None:
        self.kernel = kernel
        self.X = X
        self.n = int(X.shape[0])
        self.dense = X if isinstance(kernel, Precomputed) else None
        self._norms = squared_norms(X) if isinstance(kernel, Kernel) else np.zeros(0)
        self._products = Products(X)
        self.prefers_batches = self._products.prefers_batches
        self._rooms: list[np.ndarray] = []  # which a thread takes while it computes
        self._bounded = isinstance(kernel, RBF | Sigmoid)  # |k| ≤ 1: no block needs to be looked through
        if not np.isfinite(self._norms).all():
            raise ValueError("X is so large that ‖x‖² overflows; scale the data down.")
        if self.dense is not None:
            moderate(self.dense)

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns], all columns by default, as a C-ordered array; `out`, if given, may be float32."""
        if out is None:
            out = np.empty((len(rows), self.n if columns is None else len(columns)))
        height = max(FEWEST, CHUNK // max(1, out.shape[1]))
        for start in range(0, len(rows), height):
            stop = start + height
            self._chunk(rows[start:stop], columns, out[start:stop])
        return out

    def _chunk(self, rows: np.ndarray, columns: np.ndarray | None, out: np.ndarray) -> None:
        """Evaluate K[rows][:, columns] into `out`, for as many rows as are multiplied at once."""
        if isinstance(self.kernel, Precomputed):
            out[:] = self.X[rows] if columns is None else self.X[np.ix_(rows, columns)]
            return
        if not isinstance(self.kernel, Kernel):
            values = self.kernel(self.X[rows], self.X if columns is None else self.X[columns])
            out[:] = shaped(values, out.shape)
        elif columns is not None:
            inner = inner_products(self.X[rows], self.X[columns])
            out[:] = self.kernel.from_inner(inner, self._norms[rows], self._norms[columns])
        elif self._products.table is not None:
            self._across(self.kernel, rows, out)
        else:
            self._along(self.kernel, rows, out)
        if not self._bounded:
            moderate(out)

    def _across(self, kernel: Kernel, rows: np.ndarray, out: np.ndarray) -> None:
        """Evaluate all of these rows for some columns at a time, which stay in the processor's cache meanwhile."""
        norms, x_norms, width = self._norms, self._norms[rows], max(1, SLAB // len(rows))

        def piece(part: slice) -> None:
            inner = self._products.some(rows, part.start, scratch((len(rows), part.stop - part.start)))
            out[:, part] = kernel.from_inner(inner, x_norms, norms[part])

        run_in_pieces(piece, self.n, width)

    def _along(self, kernel: Kernel, rows: np.ndarray, out: np.ndarray) -> None:
        """Multiply all of these rows, then evaluate some at a time."""
        room = out if out.dtype == np.float64 else self._taken(len(out))
        inner, x_norms = self._products.of(rows, room[: len(out)]), self._norms[rows]

        def piece(part: slice) -> None:
            some = inner[part]
            values = kernel.from_inner(some, x_norms[part], self._norms)
            if values is not some or room is not out:
                out[part] = values

        run_in_pieces(piece, len(rows), max(1, SLAB // max(1, self.n)))
        if room is not out:
            self._rooms.append(room)

    def _taken(self, count: int) -> np.ndarray:
        """Take room for the inner products of so many rows, the same again and again; nobody else has it meanwhile."""
        with suppress(IndexError):  # not asked before: another thread may be faster
            room = self._rooms.pop()
            if len(room) >= count:
                return room
        return np.empty((count, self.n))

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ for every example, shape (n,)."""
        if self.dense is not None:
            return self.dense.diagonal().copy()
        if isinstance(self.kernel, Kernel):
            if isinstance(self.kernel, RBF):
                return np.ones(self.n)  # exp(0)
            column, zero = self._norms.copy()[:, None], np.zeros(1)
            values = self.kernel.from_inner(column, zero, zero).ravel()  # x·x = ‖x‖²
            moderate(values)
            return values
        steps = [np.arange(s, min(s + 64, self.n)) for s in range(0, self.n, 64)]
        return np.concatenate([self.block(s, s).diagonal() for s in steps])

    def restrict(self, indices: np.ndarray) -> Gram:
        """Return the Gram matrix of the examples in `indices`."""
        if self.dense is not None:
            return Gram(self.kernel, np.ascontiguousarray(self.dense[np.ix_(indices, indices)]))
        return Gram(self.kernel, self.X[indices])


def shaped(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Refuse a result of a user's kernel that is not one value for each pair."""
    block = np.ascontiguousarray(values, dtype=np.float64)
    if block.shape != shape:
        raise ValueError(
            f"The kernel callable returned an array of shape {block.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; it must return one value for each pair, shape {shape}."
        )
    return block


def moderate(values: np.ndarray) -> None:
    """Refuse kernel values that are NaN, infinite, or so large that Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ would overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if values.dtype == np.float32 and not np.isfinite(largest):
        raise ValueError(
            'A kernel value is NaN or beyond what float32 rows hold (3.4e38); use cache_dtype="float64", '
            "or scale the data or the kernel's parameters down."
        )
    if not largest <= LARGEST:
        raise ValueError(
            f"The kernel takes the value {largest:.3g} on this data, beyond what can be computed with (1e300); "
            "scale the data or the kernel's parameters down."
        )
