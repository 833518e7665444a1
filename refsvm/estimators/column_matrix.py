"""Computes the kernel matrix for one γ of a search from inner products that all γ share."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from refsvm.core._checks import is_sparse
from refsvm.core.kernels import Kernel, Linear, Precomputed
from refsvm.core.kernels.checked import gram_on
from refsvm.core.kernels.gram import Gram, dense_gram, held_from_products
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.origin import around
from refsvm.core.kernels.rows import megabytes
from refsvm.core.kernels.sparse import squared_norms


def column_gram(X: Any, token: str, kernel: Any, cache_mb: float) -> KernelMatrix:
    """Return the kernel matrix for one γ; if `cache_mb` suffices, compute it from inner products that all γ share."""
    gram, n = gram_on(kernel, X).centred, X.shape[0]
    # if the matrix exceeds the budget, compute and cache kernel rows on demand for each γ of the search
    if isinstance(kernel, Precomputed) or megabytes(n, n) > cache_mb:
        return gram
    if not isinstance(kernel, Kernel) or 2.0 * megabytes(n, n) > cache_mb:
        return dense_gram(gram)
    origin, scaled = gram.origin, kernel.scaled(gram.X)
    if kernel.distance_scale > 0.0 and not is_sparse(scaled):
        origin = scaled.mean(axis=0)
    inner, norms = shared_products(scaled, token, origin)
    return held_from_products(gram, kernel, inner, norms)


_products: dict[tuple[str, bytes], tuple[np.ndarray, np.ndarray]] = {}
_lock = threading.Lock()


def shared_products(X: Any, token: str, origin: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Subtract an origin from all examples; return all x·z and ‖x‖². Each process does so once for each search.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    token : str
        Text that identifies the search; this call deletes the products of earlier searches.
    origin : ndarray of shape (d,) or None
        The mean of the data if the kernel depends on distances and the data are dense: around the mean, the sum ‖x‖² +
        ‖z‖² − 2 x·z loses the fewest digits. Otherwise, the origin of the kernel matrix (`refsvm.core.kernels.origin`).
    """
    key = token, b"" if origin is None else origin.tobytes()
    with _lock:
        if key not in _products:
            # delete earlier products, which are as large as a kernel matrix
            _products.clear()
            X = around(origin, X)
            inner = Gram(Linear(), X, may_move=False).block(np.arange(X.shape[0]))
            _products[key] = inner, squared_norms(X)
        return _products[key]


def forget(token: str) -> None:
    """Delete the inner products of the search that `token` identifies."""
    with _lock:
        for key in [key for key in _products if key[0] == token]:
            del _products[key]
