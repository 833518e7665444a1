"""Inner products x·z of many pairs of examples, dense or sparse: where the time of kernel evaluation goes.

Dense rows go through BLAS, which uses its own threads. The products of one sparse example with all others are a sum of
some columns of X, one for each of its features that is not zero: with these columns in a dense table, six times faster
than a sparse matrix product. Where the table would be too large, or Numba is not installed, scipy.sparse multiplies.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse

__all__ = ["Products", "compiled", "inner_products", "squared_norms"]

LARGEST_COPY: Final = 2**26
"""Bytes of dense data up to which a transposed copy is kept."""

LARGEST_TABLE: Final = 2**27
"""Bytes up to which the features of large sparse data are kept as a dense table beside them."""

LARGE: Final = 2**18
"""Entries of X that exceed the inner caches of a processor."""

PIECE: Final = 4
"""Sparse examples that a thread multiplies at a time."""


class Products:
    """x·z between some examples and all of them.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d), float64

    Attributes
    ----------
    alone : float
        What one example costs alone, in examples of a batch, roughly: all of X has to be read from memory for it.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.products import Products
    >>> Products(np.array([[1.0, 2.0], [3.0, 4.0]])).of(np.array([1]), np.empty((1, 2)))
    array([[11., 25.]])
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._features: np.ndarray | None = None
        self.alone = 16.0 if not is_sparse(X) and X.size > 4 * LARGE else 1.0

    @cached_property
    def _table(self) -> np.ndarray | None:
        """Xᵀ of large sparse data as a dense array, if there is room for it and compiled code to use it."""
        X = self._X
        if X.nnz < LARGE or 8 * X.shape[0] * X.shape[1] > LARGEST_TABLE or compiled() is None:
            return None
        return np.asarray(X.T.toarray(order="C"))

    def of(self, rows: Any, out: np.ndarray) -> np.ndarray:
        """Write x·z, x from X[rows] and z from all of X, to `out`, shape (m, n), and return it."""
        X = self._X
        if is_sparse(X):
            self._of_sparse(rows, out)
            return out
        if self._features is None and X.nbytes <= LARGEST_COPY:
            # each feature contiguous: twice as fast to multiply a few rows with
            self._features = np.ascontiguousarray(X.T)
        return np.matmul(X[rows], X.T if self._features is None else self._features, out=out)

    def _of_sparse(self, rows: Any, out: np.ndarray) -> None:
        X = self._X
        if not isinstance(rows, slice):
            if self._table is None:
                out[:] = (X @ X[rows].toarray().T).T
            else:
                spread(X[rows], self._table, out)
        elif self._table is None:
            for i, sums in enumerate(out, rows.start):
                sums[:] = X @ dense_row(X, i)
        else:
            times()(X.data, X.indices, X.indptr[rows.start : rows.stop + 1], self._table, out)


def dense_row(X: Any, i: int) -> np.ndarray:
    """Row i of a CSR matrix as an array of shape (d,), without the checks that indexing makes."""
    entries, row = slice(X.indptr[i], X.indptr[i + 1]), np.zeros(X.shape[1])
    np.add.at(row, X.indices[entries], X.data[entries])  # duplicate entries add up
    return row


def spread(left: Any, table: np.ndarray, out: np.ndarray) -> None:
    """Multiply a CSR matrix with a dense table, (m, d) × (d, n), large ones in pieces on several threads."""

    def piece(start: int) -> None:
        stop = min(start + PIECE, len(out))
        times()(left.data, left.indices, left.indptr[start : stop + 1], table, out[start:stop])

    starts, threads = range(0, len(out), PIECE), pool()
    list(map(piece, starts) if threads is None or len(starts) == 1 else threads.map(piece, starts))


@cache
def times() -> Callable[..., None]:
    """Return the compiled product of sparse rows with a dense table."""
    from refsvm.fast import sparse

    return sparse.times


@cache
def compiled() -> ModuleType | None:
    """Return `refsvm.fast.kernels`, None where Numba is not installed or interprets."""
    if find_spec("numba") is None:
        return None
    from refsvm.fast import kernels

    return kernels if kernels.AVAILABLE else None


def pool() -> ThreadPoolExecutor | None:
    """Return the threads for kernel blocks, None where there should be one only.

    Their number is Numba's (``NUMBA_NUM_THREADS``), which joblib lowers in its processes. A caller that is itself one
    of several threads gets none, nor does one without Numba: only compiled code lets others run meanwhile.
    """
    if threading.current_thread() is not threading.main_thread() or compiled() is None:
        return None
    return _pool(os.getpid())


@cache
def _pool(process: int) -> ThreadPoolExecutor | None:
    """Return the threads of a process; after a fork there are none."""
    import numba

    count = int(numba.config.NUMBA_NUM_THREADS)
    return ThreadPoolExecutor(count, "refsvm") if count > 1 else None


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
