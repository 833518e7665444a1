"""Inner products x·z of many pairs of examples: where most of the time of kernel evaluation goes.

`DenseProducts` adds the summands of each product in order (`refsvm.core.arithmetic`): the same bits on every processor,
in both engines, for every block. For CSR data see `refsvm.core.kernels.sparse`.

`PreparedExamples` holds one side of these products ready: norms, and for kernels of the distance ‖x − z‖ an origin near
the data. With ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z the rounding of ‖x‖² stays when the summands cancel: of features such as
time stamps, 10⁹ with differences of 1, nothing is left. Distances do not change under translation, and near the mean
of the data the norms are as small as they can be.

The products of a linear machine with Σα = 0 may be taken around any origin, too: see `refsvm.core.kernels.origin`.
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
"""Features from which on a batch pays: a row of shorter examples costs at most twice as much alone."""

CORE_ENTRIES: Final = 2**17
"""Entries that do, at 8 bytes each."""

LARGEST_NORM: Final = float(np.finfo(np.float64).max) / 4.0
"""‖x‖² + ‖z‖² + 2 x·z must not overflow."""

CENTRED_FROM: Final = 1e3
"""Largest γ‖x‖² that is left alone: kernel values are then exact to about 10⁻¹²."""


class DenseProducts:
    """Inner products x·z of any examples with all rows of one dense matrix Z.

    Parameters
    ----------
    Z : ndarray of shape (n, d), float64 or float32

    Attributes
    ----------
    Z : ndarray of shape (n, d)
    features : ndarray of shape (d, n)
        Zᵀ, with each feature contiguous.
    by_columns : bool
        False: large blocks are shared among threads by rows.
    prefers_batches : bool
        Whether Z has many features and exceeds the cache of a core. Four examples at once then cost less than half of
        what they cost one by one.

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
        """Zᵀ, with each feature contiguous."""
        return np.ascontiguousarray(self.Z.T)

    def aligned(self, X: np.ndarray) -> np.ndarray:
        """Return examples of shape (m, d) as they are; see `SparseProducts.aligned`."""
        return X

    def of(
        self, X: np.ndarray, rows: np.ndarray | None, out: np.ndarray, start: int = 0,
        features: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Write x·z to `out`, shape (m, w), and return it; see `SparseProducts.of`.

        `features`, shape (d, n), may be those of other z.
        """
        rows = np.arange(len(X)) if rows is None else rows
        arithmetic.current.products(X, rows, self.features if features is None else features, start, out)
        return out


class RowParts(NamedTuple):
    """The arrays of which compiled code makes a row of the Gaussian or the linear kernel; without norms of no row."""

    X: np.ndarray  # dense examples, shape (n, d), of the type of the row; no rows of sparse ones
    features: np.ndarray  # Xᵀ
    entries: tuple[np.ndarray, ...]  # of sparse examples: `SparseProducts.entries`
    norms: np.ndarray
    gamma: float  # γ; −1 of the linear kernel


def no_parts(dtype: np.dtype) -> RowParts:
    """Return empty arrays of these types."""
    line, places = np.empty(0, dtype), np.empty(0, np.int32)
    return RowParts(line[:, None], line[:, None], (line, places, places) * 2, line, -1.0)


class Columns(NamedTuple):
    """The z of some columns of a kernel matrix, from `start` on."""

    features: np.ndarray | None  # of dense examples, shape (d, n)
    norms: np.ndarray
    start: int


class PreparedExamples:
    """Examples Z, ready to be multiplied with others: where their origin lies, their norms, their products.

    Parameters
    ----------
    kernel : Kernel
        Its `distance_scale` decides about the origin.
    Z : ndarray or CSR of shape (n, d), float64
    table_from : int, optional
        See `SparseProducts`.
    dtype : numpy type
        float32 rounds the examples to it: dense ones around their mean, for a kernel of the distance.
    origin : ndarray of shape (d,), optional
        Where the examples are to be multiplied around, whatever the kernel.

    Attributes
    ----------
    products : DenseProducts or SparseProducts
        Of the prepared Z, which is ``products.Z``.
    norms : ndarray of shape (n,), of the type of the examples
        ‖z − c‖² with the origin c, of the examples as they are multiplied, summed as their products are.
    data_error : float
        About how far a kernel value may be from its true value: ε γ max ‖z − c‖² for a kernel of γ‖x − z‖² and ε for
        the others, with ε = 2⁻⁵² in float64 and 2⁻²³ in float32.

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
        Z = given = kernel.scaled(Z)
        norms = squared_norms(Z)
        if not (norms < LARGEST_NORM).all():
            raise ValueError("X is so large that ‖x‖² overflows; scale the data down.")
        # float32 has 24 bits: they are spent on differences from the mean, whatever the tolerance of float64
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
        self.norms: np.ndarray = (norms if Z is given else squared_norms(Z)).astype(dtype, copy=False)
        self.data_error = float(np.finfo(dtype).eps) * max(1.0, scale * float(self.norms.max(initial=0.0)))

    def columns(self, those: np.ndarray | slice | None) -> Columns:
        """Return some of the examples, or all, as the z of kernel rows."""
        products = self.products
        if isinstance(those, np.ndarray):
            return Columns(np.ascontiguousarray(products.Z[those].T), self.norms[those], 0)
        features = products.features if isinstance(products, DenseProducts) else None
        return Columns(features, self.norms, 0 if those is None else those.start)

    def prepared(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return other examples, with the same scales, origin and columns, and their norms."""
        X = self._scaled(X)
        if self._origin is not None:
            X = moved(X, self._origin)
        return self.products.aligned(X), squared_norms(X)


def stored_for_products(kernel: Any, X: Any, origin: np.ndarray | None = None) -> Any:
    """Return dense data with few non-zero entries as CSR, for cheaper products; other data as they are.

    Data that are to be multiplied around an origin, given here or found because they are far from zero, stay dense: the
    move would fill a sparse matrix. So do data of a kernel that has no ``distance_scale``.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        Only the examples of a `Kernel` are multiplied.
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
    scale = getattr(kernel, "distance_scale", None)  # a callable of the user's has none
    if scale is None or origin is not None or (csr := compressed(X)) is None:
        return X
    norms = squared_norms(kernel.scaled(csr))
    is_far = scale * norms.max() > CENTRED_FROM or (
        kernel.is_inner_product and origin_of(X, norms) is not None
    )
    return X if is_far else csr


def inner_products(X: Any, Z: Any) -> np.ndarray:
    """x·z for all pairs of rows, as a C-ordered (m, n) float64 array; X and Z dense or CSR, each as it likes."""
    if is_sparse(X) and is_sparse(Z):
        products = SparseProducts(Z, table_from=np.inf)
        return products.of(products.aligned(X), None, np.empty((X.shape[0], Z.shape[0])))
    if is_sparse(Z):
        return np.ascontiguousarray((Z @ X.T).T)
    if is_sparse(X):
        return np.asarray(X @ Z.T)
    return DenseProducts(Z).of(np.ascontiguousarray(X), None, reused((len(X), len(Z))))
