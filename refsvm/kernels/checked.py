"""A kernel on data, both checked first."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from refsvm.kernels.functions import Kernel, Linear, Precomputed
from refsvm.kernels.gram import Gram

__all__ = ["gram_on"]


def gram_on(kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None, X: Any) -> Gram:
    """Return the Gram matrix of a kernel, `Linear` by default, on checked data."""
    kernel = Linear() if kernel is None else kernel
    if isinstance(kernel, type) or not (callable(kernel) or isinstance(kernel, Precomputed)):
        raise ValueError(
            f"kernel={kernel!r} is not a kernel; pass e.g. RBF(gamma=0.5) or a callable k(X, Z)."
        )
    return Gram(kernel, _symmetric(X) if isinstance(kernel, Precomputed) else X)


def _symmetric(K: Any) -> np.ndarray:
    """Check a precomputed Gram matrix: square, dense, and symmetric, which is repaired with a warning."""
    K = np.ascontiguousarray(K.toarray() if hasattr(K, "toarray") else K)
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"The precomputed kernel has shape {K.shape}; expected a square matrix, shape (n, n)."
        )
    if not np.array_equal(K, K.T):
        if not np.allclose(K, K.T, rtol=1e-10, atol=1e-12 * float(np.abs(K).max())):
            warnings.warn("The precomputed kernel is not symmetric; ½(K + Kᵀ) is used instead.", stacklevel=4)
        K = 0.5 * (K + K.T)
    return K
