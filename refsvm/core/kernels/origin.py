"""Where inner products are taken around: a linear machine with Σα = 0 does not depend on the origin.

    (xᵢ − c)·(xⱼ − c) = xᵢ·xⱼ − c·xᵢ − c·xⱼ + c·c
    K around c times α is Kα − w·c, the same number less in every component, with w = Σ αᵢxᵢ and Σα = 0

So the optimal α is the same for every c, and b grows by w·c. The rounding is not the same: x·x of a map coordinate or a
time stamp, 10⁹ with differences of 1, is only right to about 100. Around the mean the products are as small as they can
be. One c holds for all of a matrix: two of them would make another problem.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels.sparse import FEW_COLUMNS, canonical, squared_norms

FAR: Final = 100.0
"""max ‖x‖² over max ‖x − c‖², c the mean, up to which data stay where they are: x·x loses two digits at most."""

CONSTANT_UP_TO: Final = 1e3
"""max ‖x‖² up to which examples that are all the same stay where they are, too: there is no digit to be lost."""


def origin_of(X: Any, norms: np.ndarray | None = None) -> np.ndarray | None:
    """Return the mean of examples that are far from 0 compared with their distances from it; None of others.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
        Of CSR data, features that some row does not store keep their 0: a shift would fill the matrix. Data with more
        columns than entries stay where they are.
    norms : ndarray of shape (n,), optional
        ‖x‖², if known.

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
    # at ten times the largest distance from the mean, norms differ by less than a third
    if not norms.min(initial=np.inf) >= 0.64 * largest > 0.0:
        return None
    if is_sparse(X) and X.shape[1] > max(X.nnz, FEW_COLUMNS):
        return None  # c would take more memory than the data
    origin = _mean(X)
    # the mean is 0, or of sparse data no feature is stored by every row
    if not origin.any():
        return None
    # after the move and not by subtraction of norms, which would cancel just where it matters
    farthest = float(squared_norms(moved(X, origin)).max())
    if largest > FAR * farthest and (farthest > 0.0 or largest > CONSTANT_UP_TO):
        return origin
    return None


def _mean(X: Any) -> np.ndarray:
    """Return the mean of each feature; 0 of those that some row of CSR data does not store."""
    if not is_sparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    X = canonical(X)
    n, d = X.shape
    counts, sums = np.bincount(X.indices, minlength=d), np.bincount(X.indices, X.data, minlength=d)
    return np.where(counts == n, sums / n, 0.0)


def moved(X: Any, origin: np.ndarray, dtype: Any = np.float64) -> Any:
    """Return X − c, dense or CSR as X is; the subtraction is exact where c is near x.

    Parameters
    ----------
    X : ndarray or CSR of shape (m, d)
    origin : ndarray of shape (d,)
        The point c. CSR data store the features in which it is not 0 in every row afterwards.
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
    """Return X − c; X itself where there is no c."""
    return X if origin is None else moved(X, origin)


def weights_at(origin: np.ndarray, X: Any, sums: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Return w·c, which b around c has more than b around 0, for each of some weights w = Σ αᵢ(xᵢ − c).

    c is large where this is asked for, and so is what it makes of the rounding of w: both products are taken in
    extended precision where the processor has it.

    Parameters
    ----------
    origin : ndarray of shape (d,)
        The point c.
    X : ndarray or CSR of shape (m, d)
    sums : callable
        Returns Σ αᵢ valuesᵢ, shape (p, d), for values of shape (m, d).

    Returns
    -------
    ndarray of shape (p,), float64
    """
    weights = sums(moved(X, origin).astype(np.longdouble))
    return np.asarray(weights @ origin.astype(np.longdouble), dtype=np.float64)
