"""Inner products with CSR data, in memory that is bounded by the size of the data, not by the number of columns.

`SparseProducts.of` uses the first of these methods that applies:

=========================  =====================================================================================
compiled, many entries     add rows of Zᵀ (a dense table), each times an entry of x: six times faster than scipy
compiled, few entries      add only the stored entries of these rows: ten times faster for one example
one example                scipy multiplies Z by x as a dense vector
several examples           scipy multiplies sparse by sparse matrices, or Z by the examples as dense columns
=========================  =====================================================================================

The dense table takes at most `TABLE_BYTES`. For several examples, scipy multiplies two sparse matrices if Z stores few
entries, and otherwise multiplies Z by dense columns, at most `WORK_BYTES` at a time.

Columns without an entry in Z add nothing to a product. If Z has more columns than entries, the constructor removes the
columns without an entry, so that a vector with one number for each column is never longer than the data.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import is_sparse

TABLE_BYTES: Final = 2**27
"""Largest size of the dense table that is made for sparse data."""

TABLE_FROM_ENTRIES: Final = 2**18
"""If rows are computed one by one, a dense table is made for at least this number of stored entries, which exceed the
inner caches."""

WORK_BYTES: Final = 2**23
"""Size of the dense columns, or of the sparse product, that scipy handles at a time."""

SPARSE_BELOW: Final = 0.02
"""If a smaller share of the entries than this is stored, a product of two sparse matrices is faster than a product with
dense columns: six times faster for a batch with a share of 0.005."""

COMPRESSED_BELOW: Final = 0.04
"""Dense data with a smaller share of non-zero entries are multiplied as CSR; above 0.05 to 0.1, BLAS is as fast."""

COMPRESSED_FEATURES: Final = 100
"""Non-zero entries of dense data are counted only if the data have at least this number of features."""

COMPRESSED_ENTRIES: Final = 2**17
"""Non-zero entries of dense data are counted only if the data have this number of entries, which exceed a core's
cache."""

ENTRIES_COUNTED: Final = 2**18
"""Number of entries that are counted at a time."""

FEW_COLUMNS: Final = 4096
"""Up to this number of columns, empty columns are kept, because a vector of this length costs almost nothing."""


class SparseProducts:
    """Inner products x·z of any examples x with all rows z of one CSR matrix Z.

    Parameters
    ----------
    Z : CSR array or matrix of shape (n, d), float64 or float32
    table_from : int, optional
        A dense table is made only if Z stores at least this number of entries, by default `TABLE_FROM_ENTRIES`. 0 is
        best for products of many examples at once.

    Attributes
    ----------
    Z : CSR of shape (n, d′)
        Z without the columns that the constructor has removed; every entry is stored once.
    by_columns : bool
        True if `of` can compute some of the columns without computing the others.
    prefers_batches : bool
        False, because computing several rows in one product takes as long as computing them one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from refsvm.core.kernels.sparse import SparseProducts
    >>> Z = csr_array(np.array([[1.0, 2.0], [3.0, 0.0]]))
    >>> products = SparseProducts(Z)
    >>> products.of(products.aligned(Z), np.array([1]), np.empty((1, 2)))
    array([[3., 9.]])
    """

    prefers_batches = False

    def __init__(self, Z: Any, table_from: float | None = None) -> None:
        Z = canonical(Z)
        self._columns: np.ndarray | None = None
        # hashed texts have millions of mostly empty columns, for which a dense row of an example would be too large
        if Z.shape[1] > max(Z.nnz, FEW_COLUMNS):
            self._columns, places = np.unique(Z.indices, return_inverse=True)
            shape = Z.shape[0], max(1, len(self._columns))
            Z = type(Z)((Z.data, places.astype(Z.indptr.dtype), Z.indptr), shape=shape)
        self.Z = Z
        self._table_from = TABLE_FROM_ENTRIES if table_from is None else table_from

    def aligned(self, X: Any) -> Any:
        """Return CSR examples of shape (m, d) with only the columns of ``self.Z``, which suffice for the products."""
        if self._columns is None:
            return X
        shape = X.shape[0], self.Z.shape[1]
        if not len(self._columns):
            return type(X)(shape)
        places = np.searchsorted(self._columns, X.indices)
        # columns beyond the last column of Z get a valid position here; the comparison below drops these columns
        places[places == len(self._columns)] = 0
        common = self._columns[places] == X.indices
        ends = np.concatenate([[0], np.cumsum(common)])[X.indptr]
        return type(X)((X.data[common], places[common], ends), shape=shape)

    @cached_property
    def _table(self) -> np.ndarray | None:
        """Zᵀ as a dense array, shape (d′, n), if it is small enough and compiled code can use it, or None."""
        n, d = self.Z.shape
        # reading a dense table in order is faster than following indices, as long as the cache holds the table
        too_large = self.Z.dtype.itemsize * n * d > TABLE_BYTES
        if self.Z.nnz < self._table_from or too_large or arithmetic.fastest().sparse is None:
            return None
        return np.asarray(self.Z.T.toarray(order="C"))

    @cached_property
    def _transposed(self) -> Any:
        """Zᵀ as CSR."""
        return self.Z.T.tocsr()

    @property
    def entries(self) -> tuple[np.ndarray, ...] | None:
        """The arrays of Z and Zᵀ as CSR, or None if there is a dense table or the indices are not int32."""
        Z, other = self.Z, self._transposed
        if self._table is not None or not Z.indices.dtype == other.indices.dtype == np.int32:
            return None
        return Z.data, Z.indices, Z.indptr, other.data, other.indices, other.indptr

    @property
    def _has_few_entries(self) -> bool:
        """True if a product of two sparse matrices is faster than a product with dense columns."""
        n, d = self.Z.shape
        return bool(self.Z.nnz < SPARSE_BELOW * n * d)

    @property
    def by_columns(self) -> bool:
        """True if `of` can compute some of the columns without computing the others."""
        return self._table is not None

    def of(
        self, X: Any, rows: np.ndarray | None, out: np.ndarray, start: int = 0, features: Any = None
    ) -> np.ndarray:
        """Write x·z to `out`, shape (m, w), and return `out`.

        Parameters
        ----------
        X : CSR of shape (t, d′)
            Examples returned by `aligned`.
        rows : ndarray of shape (m,), int64, or None
            The rows of X to multiply; None for all rows.
        out : ndarray of shape (m, w), of the type of Z, C-ordered
            The array to which the method writes the products.
        start : int
            The products use the rows start … start + w of Z; if `by_columns` is False, all rows of Z.
        features : None
            Not used; this argument exists because `refsvm.core.kernels.products.DenseProducts.of` has it.
        """
        rows = np.arange(X.shape[0]) if rows is None else rows
        if self._table is not None:
            arithmetic.current.sparse.times(rows, X.data, X.indices, X.indptr, self._table, start, out)
        elif arithmetic.current.sparse is not None and (len(rows) == 1 or self._has_few_entries):
            arithmetic.current.sparse.times_features(rows, X.data, X.indices, X.indptr, self._transposed, out)
        elif len(rows) == 1:
            out[0] = self.Z @ dense_row(X, rows[0])
        else:
            self._several(X, rows, out)
        return out

    def _several(self, X: Any, rows: np.ndarray, out: np.ndarray) -> None:
        """Compute the products with SciPy, for some examples at a time."""
        n, d = self.Z.shape
        sparse = self._has_few_entries
        # compute a large sparse product in parts and convert each part to a dense array
        height = max(1, WORK_BYTES // (8 * (n if sparse else d)))
        for first in range(0, len(rows), height):
            part = slice(first, first + height)
            if sparse:
                (X[rows[part]] @ self._transposed).toarray(out=out[part])
            else:
                out[part] = (self.Z @ X[rows[part]].toarray().T).T


def compressed(X: Any) -> Any | None:
    """Return dense data as a CSR array if they are large and have few non-zero entries, otherwise None.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.sparse import compressed
    >>> compressed(np.eye(500)).nnz, compressed(np.ones((500, 500)))
    (500, None)
    """
    if is_sparse(X) or X.shape[1] < COMPRESSED_FEATURES or X.size < COMPRESSED_ENTRIES:
        return None
    n, d = X.shape
    height = max(1, ENTRIES_COUNTED // d)
    # first count the entries of some rows: this takes microseconds and finds nearly all data with too many entries
    if np.count_nonzero(X[:: -(-n // height)]) > 2.0 * COMPRESSED_BELOW * height * d:
        return None
    return _csr_of(X, height)


def _csr_of(X: np.ndarray, height: int) -> Any | None:
    """Convert dense data to a CSR array, `height` rows at a time; return None if too many entries are not 0."""
    (n, d), ends, places, values = X.shape, [np.zeros(1, np.int64)], [], []
    for start in range(0, n, height):
        some = X[start : start + height]
        filled = np.flatnonzero(some != 0.0)
        ends.append(ends[-1][-1] + np.searchsorted(filled, d * np.arange(1, len(some) + 1)))
        places.append(filled % d)
        values.append(some.ravel()[filled])
    nnz = int(ends[-1][-1])
    if nnz > COMPRESSED_BELOW * X.size:
        return None
    try:
        from scipy.sparse import csr_array
    except ImportError:  # without SciPy, data stay dense
        return None
    kind = np.int32 if nnz < 2**31 else np.int64
    parts = np.concatenate(places).astype(kind), np.concatenate(ends).astype(kind)
    return csr_array((np.concatenate(values), *parts), shape=X.shape)


def canonical(X: Any) -> Any:
    """Return CSR data in which every entry is stored once, in order; the function sums duplicate entries."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def squared_norms(X: Any) -> np.ndarray:
    """Return ‖x‖² of every row, shape (n,): in float64 for CSR data, and with the bits of x·x for dense data."""
    if not is_sparse(X):
        return arithmetic.current.norms(np.ascontiguousarray(X))
    X = canonical(X)
    # use bincount, because squaring a sparse matrix would copy the matrix with its indices
    row_of_entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    data = X.data.astype(np.float64, copy=False)
    sums = np.bincount(row_of_entry, weights=data * data, minlength=X.shape[0])
    return sums.astype(np.float64, copy=False)  # if there are no entries, bincount returns integers


def dense_row(X: Any, i: int) -> np.ndarray:
    """Return row i of a CSR matrix as an array of shape (d,), without the checks that indexing makes."""
    entries, row = slice(X.indptr[i], X.indptr[i + 1]), np.zeros(X.shape[1], X.dtype)
    np.add.at(row, X.indices[entries], X.data[entries])  # `np.add.at` sums duplicate entries
    return row
