"""Inner products x·z of many pairs of examples, dense or sparse: where the time of kernel evaluation goes.

Dense rows go through BLAS, which uses its own threads. For sparse rows compiled code takes eight examples at a time, on
as many threads as there are processors; where Numba is not installed, scipy.sparse does the same on one.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse

__all__ = ["Products", "compiled", "inner_products", "squared_norms"]

LARGEST_COPY: Final = 2**26
"""Bytes of data up to which a transposed copy is kept."""

LARGE: Final = 2**18
"""Entries of X that exceed the inner caches of a processor."""

LANES: Final = 8
"""Examples that compiled code multiplies with a sparse matrix at once."""


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
        if is_sparse(X):
            self.alone = 3.0 if X.nnz > LARGE else 1.0
        else:
            self.alone = 16.0 if X.size > 4 * LARGE else 1.0

    def of(self, rows: Any, out: np.ndarray) -> np.ndarray:
        """Write x·z, x from X[rows] and z from all of X, to `out`, shape (m, n), and return it."""
        X = self._X
        if is_sparse(X):
            fast = compiled()
            if fast is None or len(out) < LANES // 2:
                out[:] = (X @ X[rows].toarray().T).T
            else:
                sparse_products(fast, X[rows], X, out)
            return out
        if self._features is None and X.nbytes <= LARGEST_COPY:
            # each feature contiguous: twice as fast to multiply a few rows with
            self._features = np.ascontiguousarray(X.T)
        return np.matmul(X[rows], X.T if self._features is None else self._features, out=out)


def sparse_products(fast: ModuleType, left: Any, X: Any, out: np.ndarray) -> None:
    """Multiply eight rows of `left` at a time with X, each group on a thread of its own."""

    def eight(start: int) -> None:
        group = left[start : start + LANES].toarray()
        target = out[start : start + LANES]
        full = target if len(target) == LANES else np.empty((LANES, X.shape[0]))
        table = np.zeros((X.shape[1], LANES))
        table[:, : len(group)] = group.T
        fast.sparse_products(X.data, X.indices, X.indptr, table, full)
        if full is not target:
            target[:] = full[: len(target)]

    starts, threads = range(0, len(out), LANES), pool()
    if threads is None or len(starts) == 1:
        for start in starts:
            eight(start)
    else:
        list(threads.map(eight, starts))


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
    of several threads gets none.
    """
    if threading.current_thread() is not threading.main_thread():
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
