"""Inner products with CSR data, whose memory is bounded by the data and not by its number of columns.

Four ways, the first that applies:

=========================  ==============================================================================
compiled, many entries     Zᵀ as a dense table of at most `TABLE_BYTES`. The products of one example x with all z
                           are a sum of rows of the table, one for each entry of x: six times faster than scipy
compiled, few entries      the same sum with the entries of each feature: ten times faster for one example
one example                scipy multiplies Z with x as a dense vector
several examples           scipy multiplies sparse with sparse if few entries of Z are stored; otherwise Z with the
                           examples as dense columns. At most `WORK_BYTES` at a time
=========================  ==============================================================================

Columns without an entry in Z contribute nothing. Where there are more columns than entries they are left out first, so
a vector with one number for each column is never longer than the data.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import is_sparse

TABLE_BYTES: Final = 2**27
"""Size up to which sparse data get a dense table beside them."""

TABLE_FROM_ENTRIES: Final = 2**18
"""Stored entries from which a table pays when one row is computed at a time: they exceed the inner caches."""

WORK_BYTES: Final = 2**23
"""Size of the dense columns that scipy multiplies at a time, or of the sparse product that it makes at a time."""

SPARSE_BELOW: Final = 0.02
"""Share of stored entries below which the product of two sparse matrices is faster: six times at 0.005 for a batch."""

COMPRESSED_BELOW: Final = 0.04
"""Share of non-zero entries below which dense data are multiplied as CSR; BLAS draws level from 0.05 to 0.1 on."""

COMPRESSED_FEATURES: Final = 100
"""Features from which on that pays for counting them."""

COMPRESSED_ENTRIES: Final = 2**17
"""Entries from which on it does: dense data of this size exceed the cache of a core."""

ENTRIES_COUNTED: Final = 2**18
"""Entries that are counted at a time."""

FEW_COLUMNS: Final = 4096
"""Columns up to which empty ones stay: a vector of that length costs nothing."""


class SparseProducts:
    """Inner products x·z of any examples with all rows of one CSR matrix Z.

    Parameters
    ----------
    Z : CSR array or matrix of shape (n, d), float64 or float32
    table_from : int, optional
        Stored entries of Z from which a dense table is made, `TABLE_FROM_ENTRIES` by default. A caller that multiplies
        many examples at once may set 0.

    Attributes
    ----------
    Z : CSR of shape (n, d′)
        The same rows, every entry stored once, without the columns that are left out.
    by_columns : bool
        Whether `of` can write some of the columns alone, at their share of the cost.
    prefers_batches : bool
        False: several rows in one product cost about as much as one by one.

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
        # hashed texts have millions of columns, nearly all of them empty, and a dense row of each example would not fit
        if Z.shape[1] > max(Z.nnz, FEW_COLUMNS):
            self._columns, places = np.unique(Z.indices, return_inverse=True)
            shape = Z.shape[0], max(1, len(self._columns))
            Z = type(Z)((Z.data, places.astype(Z.indptr.dtype), Z.indptr), shape=shape)
        self.Z = Z
        self._table_from = TABLE_FROM_ENTRIES if table_from is None else table_from

    def aligned(self, X: Any) -> Any:
        """Return examples of shape (m, d), CSR, with the columns of ``self.Z``; the products need no others."""
        if self._columns is None:
            return X
        shape = X.shape[0], self.Z.shape[1]
        if not len(self._columns):
            return type(X)(shape)
        places = np.searchsorted(self._columns, X.indices)
        # any place inside the array: the comparison below drops what is not there
        places[places == len(self._columns)] = 0
        kept = self._columns[places] == X.indices
        ends = np.concatenate([[0], np.cumsum(kept)])[X.indptr]
        return type(X)((X.data[kept], places[kept], ends), shape=shape)

    @cached_property
    def _table(self) -> np.ndarray | None:
        """Zᵀ as a dense array, shape (d′, n), if it is small enough and there is compiled code to use it."""
        n, d = self.Z.shape
        # a dense table is read in order, which is faster than to follow indices, while it fits
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
        """The arrays of Z and of Zᵀ as CSR, where compiled code multiplies these; None of other types of indices."""
        Z, other = self.Z, self._transposed
        if self._table is not None or not Z.indices.dtype == other.indices.dtype == np.int32:
            return None
        return Z.data, Z.indices, Z.indptr, other.data, other.indices, other.indptr

    @property
    def _has_few_entries(self) -> bool:
        """Whether a product of two sparse matrices is faster than one with dense columns."""
        n, d = self.Z.shape
        return bool(self.Z.nnz < SPARSE_BELOW * n * d)

    @property
    def by_columns(self) -> bool:
        """Whether `of` can write some of the columns alone, at their share of the cost."""
        return self._table is not None

    def of(
        self, X: Any, rows: np.ndarray | None, out: np.ndarray, start: int = 0, features: Any = None
    ) -> np.ndarray:
        """Write x·z to `out`, shape (m, w), and return it.

        Parameters
        ----------
        X : CSR of shape (t, d′)
            Examples, `aligned`.
        rows : ndarray of shape (m,), int64, or None
            Those of them that are multiplied; None for all.
        out : ndarray of shape (m, w), of the type of Z, C-ordered
        start : int
            The z are rows start … start + w of Z; without `by_columns` all of them.
        features : None
            As `refsvm.core.kernels.products.DenseProducts` has it.
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
        """Multiply by SciPy, some examples at a time."""
        n, d = self.Z.shape
        sparse = self._has_few_entries
        # dense parts of a large sparse product are made and dropped one after the other
        height = max(1, WORK_BYTES // (8 * (n if sparse else d)))
        for first in range(0, len(rows), height):
            part = slice(first, first + height)
            if sparse:
                (X[rows[part]] @ self._transposed).toarray(out=out[part])
            else:
                out[part] = (self.Z @ X[rows[part]].toarray().T).T


def compressed(X: Any) -> Any | None:
    """Return dense data as a CSR array if they are large and few of their entries are not 0; None of all others.

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
    # rows from all over tell nearly all dense data from others, in microseconds
    if np.count_nonzero(X[:: -(-n // height)]) > 2.0 * COMPRESSED_BELOW * height * d:
        return None
    return _csr_of(X, height)


def _csr_of(X: np.ndarray, height: int) -> Any | None:
    """Return dense data as a CSR array, made of pieces of so many rows; None if it has too many entries."""
    (n, d), ends, places, values = X.shape, [np.zeros(1, np.int64)], [], []
    for start in range(0, n, height):
        some = X[start : start + height]
        there = np.flatnonzero(some != 0.0)
        ends.append(ends[-1][-1] + np.searchsorted(there, d * np.arange(1, len(some) + 1)))
        places.append(there % d)
        values.append(some.ravel()[there])
    nnz = int(ends[-1][-1])
    if nnz > COMPRESSED_BELOW * X.size:
        return None
    try:
        from scipy.sparse import csr_array
    except ImportError:  # the products of dense data need NumPy alone
        return None
    kind = np.int32 if nnz < 2**31 else np.int64
    parts = np.concatenate(places).astype(kind), np.concatenate(ends).astype(kind)
    return csr_array((np.concatenate(values), *parts), shape=X.shape)


def canonical(X: Any) -> Any:
    """Return CSR data in which every entry is stored once, in order; SciPy allows duplicates, whose sum it means."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def squared_norms(X: Any) -> np.ndarray:
    """‖x‖² of every row, shape (n,): of CSR data in float64, of dense data with the bits of the products x·x."""
    if not is_sparse(X):
        return arithmetic.current.norms(np.ascontiguousarray(X))
    X = canonical(X)
    # by bincount: the square of a sparse matrix would be a copy of it with its indices
    row_of_entry = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    data = X.data.astype(np.float64, copy=False)
    sums = np.bincount(row_of_entry, weights=data * data, minlength=X.shape[0])
    return sums.astype(np.float64, copy=False)  # without any entry they are integers


def dense_row(X: Any, i: int) -> np.ndarray:
    """Row i of a CSR matrix as an array of shape (d,), without the checks that indexing makes."""
    entries, row = slice(X.indptr[i], X.indptr[i + 1]), np.zeros(X.shape[1], X.dtype)
    np.add.at(row, X.indices[entries], X.data[entries])  # duplicate entries add up
    return row
