"""Prediction: the decision values of all pairs of classes for new examples.

    h_pq(x) = Σ αᵢ k(x, xᵢ) + b

For each block of examples, `decision_values` computes one product with the support vectors, calls the kernel function
once, and computes one product with the coefficients of all pairs, whose layout `refsvm.analysis.multiclass.one_vs_one`
describes. Threads share the blocks of large data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import is_sparse
from refsvm.core.kernels import Kernel, Linear, Precomputed
from refsvm.core.kernels.blocks import called
from refsvm.core.kernels.memory import scratch
from refsvm.core.kernels.origin import around
from refsvm.core.kernels.products import Columns, PreparedExamples, stored_for_products
from refsvm.core.kernels.sparse import SparseProducts, compressed
from refsvm.core.kernels.threads import run_in_pieces

BLOCK_ENTRIES: Final = 2**18
"""Number of kernel values computed at a time: 2 MiB."""

REDUCED_ENTRIES: Final = 2**20
"""Number of decision values in memory at a time if they are reduced: 8 MiB."""

WEIGHTS_BYTES: Final = 2**27
"""Largest size for which the weights of linear models are computed before prediction."""

LARGE_ENTRIES: Final = 2**21
"""Sparse data with at least this many kernel values use threads and compiled code, whose loading takes tenths of a
second."""

LARGE_DENSE_ENTRIES: Final = 2**23
"""`LARGE_ENTRIES` for dense data, for which NumPy takes about as long as loading compiled code."""

PIECES: Final = 8
"""Number of pieces into which the data are divided among threads."""


def pair_sums(coefficients: np.ndarray, n_support: np.ndarray | None, values: Any) -> np.ndarray:
    """Return Σ αᵢ valuesᵢ over the support vectors of each pair of classes, or of a single decision function.

    Parameters
    ----------
    coefficients : ndarray of shape (k − 1, m), float64
        Coefficients of the support vectors.
    n_support : ndarray of shape (k,), int
        Number of support vectors of each class; None for a single decision function.
    values : ndarray or CSR of shape (m, t)
        One row for each support vector: its kernel values, or, to compute the weights of a linear model, the support
        vector itself.

    Returns
    -------
    ndarray of shape (k(k − 1)/2, t), float64, or long double if `values` are long double
    """
    if n_support is None or len(coefficients) == 1:
        return _sums(coefficients, values)
    k = len(n_support)
    number = np.zeros((k, k), dtype=np.int64)  # number[p, q] is the index of the pair of classes p and q
    first, second = np.triu_indices(k, 1)
    number[first, second] = number[second, first] = np.arange(len(first))
    # keep long double values, because b needs their precision
    sums = np.zeros((len(first), values.shape[1]), np.result_type(coefficients, values.dtype))
    ends = np.cumsum(n_support)
    for c in range(k):
        group = slice(ends[c] - n_support[c], ends[c])
        sums[np.delete(number[c], c)] += _sums(coefficients[:, group], values[group])
    return sums


def _sums(coefficients: np.ndarray, values: Any) -> np.ndarray:
    """Return the matrix product of coefficients and values; with Numba, its bits are the same on every computer."""
    # if compiled code is missing or cannot multiply the arrays, use @: BLAS is ten times as fast as NumPy's loops
    if is_sparse(values) or values.dtype == np.longdouble or not arithmetic.can_be_fast():
        return np.asarray(coefficients @ values)
    return arithmetic.product(coefficients, values)


@np.errstate(under="ignore")
def decision_values(
    kernel: Any, X: Any, vectors: Any, pair_sum: Callable[[Any], np.ndarray], origin: np.ndarray | None = None,
    reduce: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> np.ndarray:  # fmt: skip
    """Return Σ αᵢ k(x, xᵢ) of every pair for every row of X, computed in blocks of rows.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        The kernel.
    X : ndarray or CSR of shape (t, d), float64
        The examples.
    vectors : ndarray or CSR of shape (m, d)
        The support vectors; for `Precomputed` the indices of their columns in X, ndarray of shape (m,).
    pair_sum : callable
        `pair_sums` as a function of `values`, with fixed `coefficients` and `n_support`.
    origin : ndarray of shape (d,), optional
        Point to subtract from X and `vectors` if the kernel is linear.
    reduce : callable, optional
        Function that turns the decision values of some rows of X into an array with an entry or a row for each of these
        rows; the default changes nothing.

    Returns
    -------
    ndarray of shape (t, k(k − 1)/2), float64, or the results of `reduce`
    """
    # call `pair_sum` without values to learn the number of pairs
    pairs = len(pair_sum(np.empty((vectors.shape[0], 0))))
    if isinstance(kernel, Linear) and 8 * pairs * _columns_in_use(vectors) <= WEIGHTS_BYTES:
        # if the kernel is linear, compute w once, and then x·w for each row, without kernel values
        X, weights = _linear_parts(around(origin, X), around(origin, vectors), pair_sum)
        return _reduced_in_blocks(lambda rows: _products(X[rows], weights), X.shape[0], pairs, reduce)
    if isinstance(kernel, Kernel) and is_sparse(vectors) and not is_sparse(X):
        X = type(vectors)(X)
    elif isinstance(kernel, Kernel) and (csr := compressed(X)) is not None:
        vectors = stored_for_products(kernel, vectors, origin)
        X = csr if is_sparse(vectors) else X
    t, m = X.shape[0], max(1, vectors.shape[0])
    # choose blocks of kernel values so small that they are still in the processor's cache when they are summed
    height = max(1, BLOCK_ENTRIES // m)
    if is_sparse(X) and not (isinstance(kernel, Kernel) and is_sparse(vectors)):
        height = max(1, min(height, 8 * BLOCK_ENTRIES // X.shape[1]))  # blocks may become dense
    large = isinstance(kernel, Kernel) and t * m >= (LARGE_ENTRIES if is_sparse(X) else LARGE_DENSE_ENTRIES)
    if large:
        arithmetic.fastest(waits=is_sparse(X))
    # for small data, loading compiled code would take more time than the compiled code saves
    table_from = 0 if large or arithmetic.current.sparse is not None else np.inf
    values = _kernel_values_of(kernel, X, vectors, table_from, origin)

    def some(among: slice) -> np.ndarray:
        sums = np.empty((among.stop - among.start, pairs))

        def piece(part: slice) -> None:
            for start in range(part.start, part.stop, height):
                rows = slice(start, min(start + height, part.stop))
                there = slice(among.start + rows.start, among.start + rows.stop)
                sums[rows] = pair_sum(values(there)).T

        run_in_pieces(piece, len(sums), -(-len(sums) // PIECES) if large else max(1, len(sums)))
        return sums

    return _reduced_in_blocks(some, t, pairs, reduce)


def _reduced_in_blocks(
    values: Callable[[slice], np.ndarray], t: int, pairs: int, reduce: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the results of `reduce` for the decision values of t rows; many values are reduced block by block."""
    # if `reduce` changes nothing, use one block, because joining blocks copies all decision values
    if reduce is np.asarray or t * pairs <= REDUCED_ENTRIES:
        return reduce(values(slice(0, t)))
    height = max(1, REDUCED_ENTRIES // pairs)
    blocks = (slice(start, min(start + height, t)) for start in range(0, t, height))
    return np.concatenate([reduce(values(rows)) for rows in blocks])


def _columns_in_use(vectors: Any) -> int:
    """Return an upper bound of the number of columns in which some support vector is nonzero."""
    return int(min(vectors.shape[1], vectors.nnz) if is_sparse(vectors) else vectors.shape[1])


def _linear_parts(X: Any, vectors: Any, pair_sum: Callable[[Any], np.ndarray]) -> tuple[Any, Any]:
    """Return X, and w = Σ αᵢxᵢ of each pair, shape (pairs, d), so that Σ αᵢ x·xᵢ = x·w for each row x of X."""
    if is_sparse(vectors) and is_sparse(X):  # omit columns in which all support vectors are 0
        products = SparseProducts(vectors)
        X, vectors = products.aligned(X), products.Z
    return X, np.ascontiguousarray(pair_sum(vectors))


def _products(X: Any, weights: np.ndarray) -> np.ndarray:
    """Return x·w for every row of X and every pair, shape (t, pairs)."""
    if is_sparse(X) or not arithmetic.can_be_fast():
        return np.asarray(X @ weights.T)
    out = np.empty((len(X), len(weights)))
    arithmetic.current.products_of_rows(np.ascontiguousarray(X), weights, out)
    return out


def _kernel_values_of(
    kernel: Any, X: Any, vectors: Any, table_from: float, origin: np.ndarray | None
) -> Callable[[slice], np.ndarray]:
    """Return a function that evaluates the kernel between all support vectors and some rows of X."""
    if isinstance(kernel, Precomputed):
        return lambda rows: np.asarray(X[rows, vectors]).T
    if not isinstance(kernel, Kernel):
        return lambda rows: called(kernel, X[rows], vectors).T
    others, m = PreparedExamples(kernel, vectors, table_from, origin=origin), vectors.shape[0]
    if is_sparse(X) and is_sparse(vectors):
        examples, x_norms = others.prepared(X)

        def values_of_sparse(rows: slice) -> np.ndarray:
            numbers = np.arange(rows.start, rows.stop)
            inner = others.products.of(examples, numbers, scratch((len(numbers), m)))
            return kernel.from_inner(inner, x_norms[rows], others.norms).T

        return values_of_sparse
    every = np.arange(m)

    def values_of_dense(rows: slice) -> np.ndarray:
        some, norms = others.prepared(X[rows].toarray() if is_sparse(X) else X[rows])
        values = scratch((m, len(some)))
        if not arithmetic.can_be_fast():
            return kernel.from_inner(np.matmul(others.products.Z, some.T, out=values), others.norms, norms)
        kernel.rows(others, every, Columns(np.ascontiguousarray(some.T), norms, 0), values)
        return values

    return values_of_dense
