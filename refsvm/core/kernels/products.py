"""Inner products x·z of many pairs of examples, which take most of the time of kernel evaluation.

`DenseProducts` adds the terms of each product in order (`refsvm.core.arithmetic`), so that the bits are the same on
every processor, in both engines, and for every block. For CSR data see `refsvm.core.kernels.sparse`.

`PreparedExamples` prepares the examples z of the products x·z: it computes norms and, for kernels of the distance
‖x − z‖, shifts the examples to an origin near the data. When the terms of ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z cancel, the
rounding error of ‖x‖² remains. For features such as time stamps (10⁹ with differences of 1), the distance would have no
correct digit. Distances do not change under translation, and near the mean of the data the norms are as small as
possible.

The products for a linear model with Σα = 0 may also be computed around any origin, see `refsvm.core.kernels.origin`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import is_sparse
from refsvm.core.kernels.memory import reused
from refsvm.core.kernels.origin import moved, origin_of
from refsvm.core.kernels.sparse import SparseProducts, compressed, squared_norms

MANY_FEATURES: Final = 100
"""Rows are computed in batches if the data have at least `MANY_FEATURES` features; with fewer features, a row computed
alone takes at most twice as long."""

CORE_ENTRIES: Final = 2**17
"""Rows are computed in batches if the data have more entries (of 8 bytes) than this and thus exceed a core's cache."""

LARGEST_NORM: Final = float(np.finfo(np.float64).max) / 4.0
"""Largest ‖x‖² that is accepted; up to this size, ‖x‖² + ‖z‖² + 2 x·z does not overflow."""

CENTRED_FROM: Final = 1e3
"""Data are moved to their mean if γ‖x‖² exceeds this number; otherwise kernel values are exact to about 10⁻¹²."""


class DenseProducts:
    """Inner products x·z of any examples x with all rows z of one dense matrix Z.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float64 or float32

    Attributes
    ----------
    Z : ndarray of shape (n, d)
    features : ndarray of shape (d, n)
        Zᵀ, with the values of each feature contiguous.
    by_columns : bool
        False, because `Gram` gives each thread some rows of a large block, not some columns.
    prefers_batches : bool
        True if Z has many features and exceeds a core's cache. Multiplying four examples by such a Z at once takes less
        than half the time of multiplying them one by one.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.kernels.products import DenseProducts
    >>> Z = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> DenseProducts(Z).of(Z, np.array([1]), np.empty((1, 2)))
    array([[11., 25.]])
    """

    by_columns = False

    def __init__(self, Z: np.ndarray) -> None:
        self.Z = np.ascontiguousarray(Z)
        self.prefers_batches = Z.shape[1] >= MANY_FEATURES and Z.size > CORE_ENTRIES

    @cached_property
    def features(self) -> np.ndarray:
        """Zᵀ, with the values of each feature contiguous."""
        return np.ascontiguousarray(self.Z.T)

    def aligned(self, X: np.ndarray) -> np.ndarray:
        """Return examples of shape (m, d) unchanged; see `SparseProducts.aligned`."""
        return X

    def of(
        self, X: np.ndarray, rows: np.ndarray | None, out: np.ndarray, start: int = 0,
        features: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Write x·z to `out`, shape (m, w), and return `out`; see `SparseProducts.of`.

        If `features`, shape (d, n), is given, the method multiplies by these examples instead of Z.
        """
        rows = np.arange(len(X)) if rows is None else rows
        arithmetic.current.products(X, rows, self.features if features is None else features, start, out)
        return out


class RowParts(NamedTuple):
    """Arrays from which compiled code computes RBF or linear kernel rows; if `norms` is empty, Python computes rows."""

    X: np.ndarray  # dense examples, shape (n, d), in the type of the row; empty for sparse data
    features: np.ndarray  # Xᵀ
    entries: tuple[np.ndarray, ...]  # for sparse data: `SparseProducts.entries`
    norms: np.ndarray
    gamma: float  # γ; −1 for the linear kernel


def no_parts(dtype: np.dtype) -> RowParts:
    """Return `RowParts` with empty arrays of type `dtype`, from which compiled code computes no row."""
    line, places = np.empty(0, dtype), np.empty(0, np.int32)
    return RowParts(line[:, None], line[:, None], (line, places, places) * 2, line, -1.0)


class Columns(NamedTuple):
    """The examples z that belong to some columns of a kernel matrix; `start` is the first of these columns."""

    features: np.ndarray | None  # features of dense examples, shape (d, n)
    norms: np.ndarray
    start: int


class PreparedExamples:
    """Examples Z that are prepared for products with other examples: moved to an origin, with their norms.

    Parameters
    ----------
    kernel : Kernel
        The kernel, whose `distance_scale` decides whether the origin is moved.
    Z : ndarray or CSR of shape (n, d), float64
    table_from : int, optional
        See `SparseProducts`.
    dtype : numpy type
        Type of the prepared examples. For a kernel of the distance, dense examples are shifted to mean 0 before they
        are rounded to float32.
    origin : ndarray of shape (d,), optional
        The point c that is subtracted from all examples before they are multiplied, for any kernel.

    Attributes
    ----------
    products : DenseProducts or SparseProducts
        The products with the prepared Z, which is ``products.Z``.
    norms : ndarray of shape (n,), of the type of the examples
        ‖z − c‖² for the origin c, computed from the prepared examples in the same order as their products.
    data_error : float
        Estimated error of a kernel value: ε γ max ‖z − c‖² for kernels of γ‖x − z‖² and ε for other kernels, with
        ε = 2⁻⁵² in float64 and 2⁻²³ in float32.

    Raises
    ------
    ValueError
        If some ‖z‖² overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels.products import PreparedExamples
    >>> far = np.array([[1e9], [1e9 + 2.0]])
    >>> PreparedExamples(RBF(gamma=1.0), far).norms
    array([1., 1.])
    """

    def __init__(
        self, kernel: Any, Z: Any, table_from: float | None = None, dtype: type = np.float64,
        origin: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self._scaled, scale, is_single = kernel.scaled, kernel.distance_scale, dtype == np.float32
        Z = scaled = kernel.scaled(Z)
        norms = squared_norms(Z)
        if not (norms < LARGEST_NORM).all():
            raise ValueError("X is so large that ‖x‖² overflows; scale the data down.")
        # float32 has only 24 bits, so data are always shifted to mean 0 before they are rounded
        centred_from = 0.0 if is_single else CENTRED_FROM
        if scale * norms.max(initial=0.0) > centred_from and not is_sparse(Z):
            origin = Z.mean(axis=0)
        self._origin = origin
        if origin is not None:
            Z = moved(Z, origin, dtype)
        elif is_single:
            Z = Z.astype(dtype)
        self.products: DenseProducts | SparseProducts = (
            SparseProducts(Z, table_from) if is_sparse(Z) else DenseProducts(Z)
        )
        self.norms: np.ndarray = (norms if Z is scaled else squared_norms(Z)).astype(dtype, copy=False)
        self.data_error = float(np.finfo(dtype).eps) * max(1.0, scale * float(self.norms.max(initial=0.0)))

    def columns(self, chosen: np.ndarray | slice | None) -> Columns:
        """Return some or all of the examples as the columns (z) of kernel rows."""
        products = self.products
        if isinstance(chosen, np.ndarray):
            return Columns(np.ascontiguousarray(products.Z[chosen].T), self.norms[chosen], 0)
        features = products.features if isinstance(products, DenseProducts) else None
        return Columns(features, self.norms, 0 if chosen is None else chosen.start)

    def prepared(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return the examples X, prepared with the scales, origin and columns of Z, and their norms."""
        X = self._scaled(X)
        if self._origin is not None:
            X = moved(X, self._origin)
        return self.products.aligned(X), squared_norms(X)


def stored_for_products(kernel: Any, X: Any, origin: np.ndarray | None = None) -> Any:
    """Return dense data with few non-zero entries as CSR, for cheaper products, and other data unchanged.

    Data that will be moved to an origin (because `origin` is given, or because they are far from zero) stay dense,
    because the move would fill a sparse matrix. Data also stay dense if the kernel has no ``distance_scale``.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        The kernel; the package computes inner products only for a `Kernel`.
    X : ndarray or CSR of shape (n, d)
    origin : ndarray of shape (d,), optional
        As for `PreparedExamples`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.core.kernels.products import stored_for_products
    >>> stored_for_products(RBF(gamma=1.0), np.eye(500)).nnz
    500
    """
    scale = getattr(kernel, "distance_scale", None)  # a user's callable has no `distance_scale`
    if scale is None or origin is not None or (csr := compressed(X)) is None:
        return X
    norms = squared_norms(kernel.scaled(csr))
    is_far = scale * norms.max() > CENTRED_FROM or (
        kernel.is_inner_product and origin_of(X, norms) is not None
    )
    return X if is_far else csr


def inner_products(X: Any, Z: Any) -> np.ndarray:
    """Return x·z for all pairs of rows as a C-ordered (m, n) float64 array; X and Z may each be dense or CSR."""
    if is_sparse(X) and is_sparse(Z):
        products = SparseProducts(Z, table_from=np.inf)
        return products.of(products.aligned(X), None, np.empty((X.shape[0], Z.shape[0])))
    if is_sparse(Z):
        return np.ascontiguousarray((Z @ X.T).T)
    if is_sparse(X):
        return np.asarray(X @ Z.T)
    return DenseProducts(Z).of(np.ascontiguousarray(X), None, reused((len(X), len(Z))))
