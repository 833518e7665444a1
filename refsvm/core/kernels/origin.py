"""The origin around which inner products are computed; a linear model with Σα = 0 is the same for every origin.

    (xᵢ − c)·(xⱼ − c) = xᵢ·xⱼ − c·xᵢ − c·xⱼ + c·c
    (K around c) α = Kα − w·c in every component, with w = Σ αᵢxᵢ and Σα = 0

So the optimal α is the same for every c, and b with the origin c exceeds b with the origin 0 by w·c. Rounding errors,
however, depend on c: for map coordinates or time stamps of size 10⁹ with differences of 1, the error of x·x is about
100. If c is the mean, the products are as small as possible. A matrix uses the same c for all its entries. Entries
computed with two different c would not belong to the kernel matrix of any data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.sparse import FEW_COLUMNS, canonical, squared_norms

FAR: Final = 100.0
"""Data are not moved if max ‖x‖² is at most this multiple of max ‖x − c‖², with the mean c: x·x then loses at most two
digits."""

CONSTANT_UP_TO: Final = 1e3
"""If all examples are equal, they are not moved if max ‖x‖² is at most this number, because no digits can be lost."""


def origin_of(X: Any, norms: np.ndarray | None = None) -> np.ndarray | None:
    """Return the mean of the examples if their distances from 0 far exceed their distances from the mean; else None.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        The examples. In CSR data, only the features that every row stores are moved, because moving any other feature
        would fill the matrix. Data with more columns than entries are not moved.
    norms : ndarray of shape (n,), optional
        ‖x‖², if they are known.

    Returns
    -------
    ndarray of shape (d,), float64, or None

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.origin import origin_of
    >>> origin_of(np.array([[1.0, 1e9], [3.0, 1e9]])), origin_of(np.array([[1.0, 2.0], [3.0, 2.0]]))
    (array([2.e+00, 1.e+09]), None)
    """
    norms = squared_norms(X) if norms is None else norms
    largest = float(norms.max(initial=0.0))
    # if max ‖x‖ is at least ten times the largest distance from the mean, min ‖x‖² is at least 0.64 max ‖x‖²
    if not norms.min(initial=np.inf) >= 0.64 * largest > 0.0:
        return None
    if is_sparse(X) and X.shape[1] > max(X.nnz, FEW_COLUMNS):
        return None  # an origin would take more memory than the sparse data
    origin = _mean(X)
    # the origin is 0 if the mean is 0, or if every feature of CSR data is missing in some row
    if not origin.any():
        return None
    # compute distances from the moved data: differences of large norms would lose the digits that matter
    farthest = float(squared_norms(moved(X, origin)).max())
    if largest > FAR * farthest and (farthest > 0.0 or largest > CONSTANT_UP_TO):
        return origin
    return None


def _mean(X: Any) -> np.ndarray:
    """Return the mean of each feature; for CSR data, 0 for each feature that is not stored in all rows."""
    if not is_sparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    X = canonical(X)
    n, d = X.shape
    counts, sums = np.bincount(X.indices, minlength=d), np.bincount(X.indices, X.data, minlength=d)
    return np.where(counts == n, sums / n, 0.0)


def moved(X: Any, origin: np.ndarray, dtype: Any = np.float64) -> Any:
    """Return X − c in the form of X, dense or CSR; the subtraction is exact if c is near x.

    Parameters
    ----------
    X : ndarray or CSR of shape (m, d)
    origin : ndarray of shape (d,)
        The point c. In CSR data, every row of X − c stores the features in which c is not 0.
    dtype : numpy type

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from refsvm.core.kernels.origin import moved
    >>> moved(csr_array([[0.0, 3.0], [4.0, 0.0]]), np.array([0.0, 2.0])).toarray()
    array([[ 0.,  1.],
           [ 4., -2.]])
    """
    if not is_sparse(X):
        return np.subtract(X, origin, out=np.empty(X.shape, dtype), casting="same_kind")
    m, places = X.shape[0], np.flatnonzero(origin)
    parts = np.tile(origin[places], m), np.tile(places, m), len(places) * np.arange(m + 1)
    return (canonical(X) - type(X)(parts, shape=X.shape)).astype(dtype, copy=False)


def around(origin: np.ndarray | None, X: Any) -> Any:
    """Return X − c, or X if c is None."""
    return X if origin is None else moved(X, origin)


def weights_at(origin: np.ndarray, X: Any, sums: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return w·c for p weight vectors w = Σ αᵢ(xᵢ − c); b with the origin c exceeds b with the origin 0 by w·c.

    If c is large, rounding errors of w matter. The function therefore computes w and w·c in extended precision if the
    processor has it.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        The point c.
    X : ndarray or CSR of shape (m, d)
    sums : callable
        Function that maps values of shape (m, d) to the sums Σ αᵢ valuesᵢ for p vectors α, shape (p, d).

    Returns
    -------
    ndarray of shape (p,), float64
    """
    weights = sums(moved(X, origin).astype(np.longdouble))
    return np.asarray(weights @ origin.astype(np.longdouble), dtype=np.float64)
