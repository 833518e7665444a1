"""Prediction: the decision values of all pairs of classes, and the votes they cast.

    h_pq(x) = Σ αᵢ k(x, xᵢ) + b

Only the support vectors are looked at. A block of examples takes one product with them, one pass of the kernel
function, and one product with the coefficients of all pairs, in the layout that
`refsvm.multiclass.one_vs_one` describes. Pieces of sparse data are shared among threads. Dense products go
through BLAS, which has threads of its own; more threads beside those gained nothing that could be relied on, even with
BLAS held to one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.kernels import Kernel, Linear, Precomputed
from refsvm.kernels.products import LARGEST_TABLE, inner_products, squared_norms
from refsvm.kernels.threads import compiled, run_in_pieces
from refsvm.multiclass.one_vs_one import kernel_values

__all__ = ["decision_values", "pair_sums", "votes"]

BLOCK: Final = 2**18
"""Kernel values computed at a time: 2 MiB."""

PARTS: Final = 8
"""Pieces of sparse data that threads share."""


def pair_sums(coefficients: np.ndarray, n_support: np.ndarray, values: Any) -> np.ndarray:
    """Σ αᵢ valuesᵢ over the support vectors of each pair.

    Parameters
    ----------
    coefficients : ndarray of shape (k − 1, m), float64
    n_support : ndarray of shape (k,), int
        Support vectors of each class.
    values : ndarray or CSR of shape (m, t)
        One row for each support vector: its kernel values, or the vector itself to get the weights of a linear model.

    Returns
    -------
    ndarray of shape (k(k − 1)/2, t), float64
    """
    k = len(n_support)
    if k == 2:
        return np.asarray(coefficients @ values)
    number = np.zeros((k, k), dtype=np.int64)  # of the pair of two classes
    first, second = np.triu_indices(k, 1)
    number[first, second] = number[second, first] = np.arange(len(first))
    sums = np.zeros((len(first), values.shape[1]))
    ends = np.cumsum(n_support)
    for c in range(k):
        group = slice(ends[c] - n_support[c], ends[c])
        sums[np.delete(number[c], c)] += coefficients[:, group] @ values[group]
    return sums


def decision_values(kernel: Any, X: Any, vectors: Any, pair_sum: Callable[[Any], np.ndarray]) -> np.ndarray:
    """Σ αᵢ k(x, xᵢ) of every pair for every row of X, in blocks of rows.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
    X : ndarray or CSR of shape (t, d), float64
    vectors : ndarray or CSR of shape (m, d)
        The support vectors; for `Precomputed` the columns of X that belong to them, ndarray of shape (m,).
    pair_sum : callable
        `pair_sums` with its coefficients.

    Returns
    -------
    ndarray of shape (t, k(k − 1)/2), float64
    """
    if isinstance(kernel, Linear):  # Σ αᵢ x·xᵢ = x·w
        return np.asarray(X @ pair_sum(vectors).T)
    t, m = X.shape[0], max(1, vectors.shape[0])
    height = BLOCK // m
    if is_sparse(X):  # a block of X may be made dense
        height = min(height, 8 * BLOCK // X.shape[1])
    height = max(1, height)
    block = _blocks(kernel, X, vectors)
    sums = np.empty((t, len(pair_sum(np.empty((vectors.shape[0], 0))))))

    def piece(part: slice) -> None:
        room = np.empty((min(height, part.stop - part.start), vectors.shape[0]))
        for start in range(part.start, part.stop, height):
            some = slice(start, min(start + height, part.stop))
            sums[some] = pair_sum(block(some, room).T).T

    shared = isinstance(kernel, Kernel) and is_sparse(X) and t * m >= 8 * BLOCK
    run_in_pieces(piece, t, -(-t // PARTS) if shared else max(1, t))
    return sums


def _blocks(kernel: Any, X: Any, vectors: Any) -> Callable[[slice, np.ndarray], np.ndarray]:
    """Return what makes the kernel values between some rows of X and the support vectors, given room for them."""
    if isinstance(kernel, Precomputed):
        return lambda rows, room: np.asarray(X[rows, vectors])
    if not isinstance(kernel, Kernel):
        return lambda rows, room: kernel_values(kernel, X[rows], vectors)
    if is_sparse(vectors) and not is_sparse(X):
        X = type(vectors)(X)
    inner, x_norms, z_norms = _products(X, vectors), squared_norms(X), squared_norms(vectors)
    return lambda rows, room: kernel.from_inner(
        inner(rows, room[: rows.stop - rows.start]), x_norms[rows], z_norms
    )


def _products(X: Any, vectors: Any) -> Callable[[slice, np.ndarray], np.ndarray]:
    """Return what makes the inner products of some rows of X with the support vectors, given room for them."""
    if not is_sparse(X) or compiled() is None or 8 * vectors.shape[0] * vectors.shape[1] > LARGEST_TABLE:
        return lambda rows, room: inner_products(X[rows], vectors, room)
    from refsvm.fast.sparse import times

    table = vectors.T.toarray(order="C") if is_sparse(vectors) else np.ascontiguousarray(vectors.T)

    def inner(rows: slice, room: np.ndarray) -> np.ndarray:
        times(np.arange(rows.start, rows.stop), X.data, X.indices, X.indptr, table, 0, room)
        return room

    return inner


def votes(values: np.ndarray, k: int) -> np.ndarray:
    """Class number with the most votes of the pairs; the lowest on a tie, as in LIBSVM.

    Parameters
    ----------
    values : ndarray of shape (t, k(k − 1)/2), float64
        Decision values, intercepts included.
    k : int
        Number of classes.

    Returns
    -------
    ndarray of shape (t,), int64
    """
    if k == 2:
        return (values[:, 0] >= 0.0).astype(np.int64)
    count = np.zeros((len(values), k), dtype=np.int64)
    for wins, (p, q) in zip(values.T > 0.0, combinations(range(k), 2), strict=True):
        count[:, p] += wins
        count[:, q] += ~wins
    return count.argmax(axis=1)
