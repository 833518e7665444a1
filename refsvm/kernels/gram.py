"""Gram: the matrix that a kernel spans on data, evaluated in blocks and never stored here.

A block is one matrix product (`refsvm.kernels.products`) and one pass of the kernel function.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Protocol

import numpy as np

from refsvm.kernels.functions import RBF, Kernel, Precomputed, Sigmoid
from refsvm.kernels.memory import scratch
from refsvm.kernels.products import PreparedExamples, inner_products
from refsvm.kernels.threads import run_in_pieces

__all__ = ["Gram", "KernelMatrix", "check_finite_values", "held_as_array", "shaped"]

TILE_ENTRIES: Final = 2**17
"""Kernel values that a thread evaluates at a time: 1 MiB, about what a core's own cache holds."""

BLOCK_ENTRIES: Final = 2**21
"""Inner products computed at a time: 16 MiB, which is enough for several threads."""

FEWEST_ROWS: Final = 128
"""Rows multiplied at a time at least, if there are so many: a product of few dense rows waits for memory."""

LARGEST_VALUE: Final = 1e300
"""Kernel values above this are refused."""


class KernelMatrix(Protocol):
    """A kernel matrix that can be evaluated block by block: `Gram`, or `refsvm.kernels.rows.RowsOf`."""

    n: int
    dense: np.ndarray | None
    prefers_batches: bool  # whether several rows in one product cost far less than one by one
    at_once: bool  # whether all rows should be evaluated in one block, where there is memory for them
    rounding: float  # about how far a value may be from the true one

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
    is_checked : bool
        Whether the values of such a matrix are known to be finite and not too large.

    Attributes
    ----------
    n : int
        Number of examples.
    dense : ndarray of shape (n, n) or None
        The matrix itself if the caller supplied it.
    prefers_batches : bool
        Whether several rows in one product cost far less than the same rows one by one.
    at_once : bool
        Whether all rows should be evaluated in one block, where there is memory for them. True for callables: they
        may be slow to call, or rely on getting all examples at once, as they do from scikit-learn.
    rounding : float
        About how far a kernel value may be from the true one, see `refsvm.kernels.products.PreparedExamples`.

    Raises
    ------
    ValueError
        If ‖x‖² overflows, or a kernel value is NaN or beyond 1e300.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels import Gram
    >>> Gram(Linear(), np.array([[1.0], [2.0]])).block(np.array([1]))
    array([[2., 4.]])
    """

    def __init__(
        self, kernel: Kernel | Precomputed | Callable[..., np.ndarray], X: Any, *, is_checked: bool = False
    ) -> None:
        self.kernel = kernel
        self.X = X
        self.n = int(X.shape[0])
        self.dense = X if isinstance(kernel, Precomputed) else None
        self._examples = PreparedExamples(kernel, X) if isinstance(kernel, Kernel) else None
        self.prefers_batches = self._examples is not None and self._examples.products.prefers_batches
        self.at_once = not isinstance(kernel, Kernel | Precomputed)
        self.rounding = 0.0 if self._examples is None else self._examples.rounding
        self._buffers: list[np.ndarray] = []  # for inner products; a thread takes one while it computes
        self._bounded = isinstance(kernel, RBF | Sigmoid)  # |k| ≤ 1: values need no check
        if self.dense is not None and not is_checked:
            check_finite_values(self.dense)

    def block(
        self, rows: np.ndarray, columns: np.ndarray | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """K[rows][:, columns], all columns by default, as a C-ordered array; `out`, if given, may be float32."""
        if out is None:
            out = np.empty((len(rows), self.n if columns is None else len(columns)))
        if self.at_once and columns is None and np.array_equal(rows, np.arange(self.n)):
            self._call(self.X, self.X, out)
            return out
        height = max(FEWEST_ROWS, BLOCK_ENTRIES // max(1, out.shape[1]))
        for start in range(0, len(rows), height):
            stop = start + height
            self._evaluate(rows[start:stop], columns, out[start:stop])
        return out

    def _evaluate(self, rows: np.ndarray, columns: np.ndarray | None, out: np.ndarray) -> None:
        """Write K[rows][:, columns] to `out`, for as many rows as are multiplied at once."""
        if isinstance(self.kernel, Precomputed):
            out[:] = self.X[rows] if columns is None else self.X[np.ix_(rows, columns)]
        elif not isinstance(self.kernel, Kernel):
            self._call(self.X[rows], self.X if columns is None else self.X[columns], out)
        elif columns is not None:
            self._some_columns(self.kernel, rows, columns, out)
        elif self._prepared.products.by_columns:
            self._by_columns(self.kernel, rows, out)
        else:
            self._by_rows(self.kernel, rows, out)
        if isinstance(self.kernel, RBF):
            set_diagonal_to_one(rows, columns, out)
        elif isinstance(self.kernel, Kernel) and not self._bounded:
            check_finite_values(out)

    def _call(self, X: Any, Z: Any, out: np.ndarray) -> None:
        """Write the values of a user's callable to `out`."""
        assert not isinstance(self.kernel, Kernel | Precomputed)
        out[:] = shaped(self.kernel(X, Z), out.shape)
        check_finite_values(out)

    @property
    def _prepared(self) -> PreparedExamples:
        """The examples, where the kernel is a `Kernel`."""
        assert self._examples is not None
        return self._examples

    def _some_columns(self, kernel: Kernel, rows: np.ndarray, columns: np.ndarray, out: np.ndarray) -> None:
        """Evaluate the kernel between some examples and some others."""
        Z, norms = self._prepared.products.Z, self._prepared.norms
        out[:] = kernel.from_inner(inner_products(Z[rows], Z[columns]), norms[rows], norms[columns])

    def _by_columns(self, kernel: Kernel, rows: np.ndarray, out: np.ndarray) -> None:
        """Multiply and evaluate all of these rows for some columns at a time, which then stay in the cache."""
        products, norms = self._prepared.products, self._prepared.norms
        x_norms, width = norms[rows], max(1, TILE_ENTRIES // len(rows))

        def piece(part: slice) -> None:
            inner = scratch((len(rows), part.stop - part.start))
            products.of(products.Z, rows, inner, part.start)
            out[:, part] = kernel.from_inner(inner, x_norms, norms[part])

        run_in_pieces(piece, self.n, width)

    def _by_rows(self, kernel: Kernel, rows: np.ndarray, out: np.ndarray) -> None:
        """Multiply all of these rows, then evaluate some of them at a time."""
        products, norms = self._prepared.products, self._prepared.norms
        buffer = out if out.dtype == np.float64 else self._borrow_buffer(len(out))
        inner, x_norms = products.of(products.Z, rows, buffer[: len(out)]), norms[rows]

        def piece(part: slice) -> None:
            some = inner[part]
            values = kernel.from_inner(some, x_norms[part], norms)
            if values is not some or buffer is not out:
                out[part] = values

        run_in_pieces(piece, len(rows), max(1, TILE_ENTRIES // max(1, self.n)))
        if buffer is not out:
            self._buffers.append(buffer)

    def _borrow_buffer(self, count: int) -> np.ndarray:
        """Return an array for the inner products of so many rows, which no other thread uses until it is put back."""
        with suppress(IndexError):  # not asked first: another thread may take the last one in between
            buffer = self._buffers.pop()
            if len(buffer) >= count:
                return buffer
        return np.empty((count, self.n))

    def diagonal(self) -> np.ndarray:
        """kᵢᵢ for every example, shape (n,)."""
        if self.dense is not None:
            return self.dense.diagonal().copy()
        if isinstance(self.kernel, RBF):
            return np.ones(self.n)  # exp(0)
        if isinstance(self.kernel, Kernel):
            column, zero = self._prepared.norms.copy()[:, None], np.zeros(1)
            values = self.kernel.from_inner(column, zero, zero).ravel()  # x·x = ‖x‖²
            check_finite_values(values)
            return values
        steps = [np.arange(s, min(s + 64, self.n)) for s in range(0, self.n, 64)]
        return np.concatenate([self.block(s, s).diagonal() for s in steps])

    def restrict(self, indices: np.ndarray) -> Gram:
        """Return the Gram matrix of the examples in `indices`."""
        if self.dense is not None:
            return Gram(self.kernel, np.ascontiguousarray(self.dense[np.ix_(indices, indices)]))
        return Gram(self.kernel, self.X[indices])


def held_as_array(gram: KernelMatrix) -> Gram:
    """Return the same matrix, evaluated in one block and held as an array of 8n² bytes, for any number of solves.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> from refsvm.kernels.gram import Gram, held_as_array
    >>> held_as_array(Gram(Linear(), np.array([[1.0], [2.0]]))).dense
    array([[1., 2.],
           [2., 4.]])
    """
    held = Gram(Precomputed(), gram.block(np.arange(gram.n)), is_checked=True)
    held.rounding = gram.rounding
    return held


def set_diagonal_to_one(rows: np.ndarray, columns: np.ndarray | None, out: np.ndarray) -> None:
    """kᵢᵢ = 1 in K[rows][:, columns], where rounding of ‖xᵢ − xᵢ‖² may have left less."""
    if columns is None and len(rows) == 1:  # as nearly always on large data
        out[0, rows[0]] = 1.0
    elif columns is None:
        out[np.arange(len(rows)), rows] = 1.0
    else:
        out[rows[:, None] == columns] = 1.0


def shaped(values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Refuse a result of a user's kernel that is not one value for each pair."""
    block = np.ascontiguousarray(values, dtype=np.float64)
    if block.shape != shape:
        raise ValueError(
            f"The kernel callable returned an array of shape {block.shape} for blocks of {shape[0]} and "
            f"{shape[1]} rows; it must return one value for each pair, shape {shape}."
        )
    return block


def check_finite_values(values: np.ndarray) -> None:
    """Refuse kernel values that are NaN, infinite, or so large that Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ would overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    if values.dtype == np.float32 and not np.isfinite(largest):
        raise ValueError(
            'A kernel value is NaN or beyond what float32 rows hold (3.4e38); use cache_dtype="float64", '
            "or scale the data or the kernel's parameters down."
        )
    if not largest <= LARGEST_VALUE:
        raise ValueError(
            f"The kernel takes the value {largest:.3g} on this data, beyond what can be computed with (1e300); "
            "scale the data or the kernel's parameters down."
        )
