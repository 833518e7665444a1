"""Inner products x·z of many pairs of examples, dense or sparse: where the time of kernel evaluation goes.

Dense rows go through BLAS, which uses its own threads. The products of one sparse example with all others are a sum of
some columns of X, one for each of its features that is not zero: with these columns in a dense table, six times faster
than a sparse matrix product. Where the table would be too large, or Numba is not installed, scipy.sparse multiplies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.kernels.threads import load_compiled

__all__ = ["Products", "inner_products", "squared_norms"]

LARGEST_COPY: Final = 2**26
"""Bytes of dense data up to which a transposed copy is kept."""

LARGEST_TABLE: Final = 2**27
"""Bytes up to which the features of large sparse data are kept as a dense table beside them."""

LARGE: Final = 2**18
"""Entries of X that exceed the inner caches of a processor."""


class Products:
    """x·z between some examples and all of them.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d), float64

    Attributes
    ----------
    prefers_batches : bool
        Whether X is dense and exceeds the processor's caches. A product with a few examples then reads all of X from
        memory, whether they are one or sixteen.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.kernels.products import Products
    >>> Products(np.array([[1.0, 2.0], [3.0, 4.0]])).of(np.array([1]), np.empty((1, 2)))
    array([[11., 25.]])
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._features: np.ndarray | None = None
        self.prefers_batches = not is_sparse(X) and X.size > 4 * LARGE

    @cached_property
    def table(self) -> np.ndarray | None:
        """Xᵀ of large sparse data as a dense array, if there is room for it and compiled code to use it."""
        X = self._X
        n, d = X.shape
        if not is_sparse(X) or X.nnz < LARGE or 8 * n * d > LARGEST_TABLE or load_compiled() is None:
            return None
        return np.asarray(X.T.toarray(order="C"))

    def some(self, rows: np.ndarray, start: int, out: np.ndarray) -> np.ndarray:
        """Write x·z, x from X[rows] and z from X[start : start + w], to `out`, shape (m, w), by means of `table`."""
        X = self._X
        times()(rows, X.data, X.indices, X.indptr, self.table, start, out)
        return out

    def of(self, rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write x·z, x from X[rows] and z from all of X, to `out`, shape (m, n), and return it."""
        if self.table is not None:
            return self.some(rows, 0, out)
        X = self._X
        if is_sparse(X):
            if len(rows) > 1:
                out[:] = (X @ X[rows].toarray().T).T
            else:
                out[0] = X @ dense_row(X, rows[0])
            return out
        if self._features is None and X.nbytes <= LARGEST_COPY:
            # each feature contiguous: twice as fast to multiply a few rows with
            self._features = np.ascontiguousarray(X.T)
        return np.matmul(X[rows], X.T if self._features is None else self._features, out=out)


def dense_row(X: Any, i: int) -> np.ndarray:
    """Row i of a CSR matrix as an array of shape (d,), without the checks that indexing makes."""
    entries, row = slice(X.indptr[i], X.indptr[i + 1]), np.zeros(X.shape[1])
    np.add.at(row, X.indices[entries], X.data[entries])  # duplicate entries add up
    return row


@cache
def times() -> Callable[..., None]:
    """Return the compiled product of sparse rows with a dense table."""
    from refsvm.fast import sparse

    return sparse.times


def inner_products(X: Any, Z: Any, out: np.ndarray | None = None) -> np.ndarray:
    """x·z for all pairs of rows, as a C-ordered (m, n) float64 array; X and Z dense or CSR."""
    if is_sparse(X):
        return np.ascontiguousarray((Z @ X.toarray().T).T)  # sparse (n, d) × dense (d, m)
    return np.matmul(X, Z.T, out=out)


def squared_norms(X: Any) -> np.ndarray:
    """‖x‖² of every row, shape (n,)."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)
