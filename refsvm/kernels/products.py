"""Inner products x·z of many pairs of examples: where most of the time of kernel evaluation goes.

`DenseProducts` multiplies with BLAS, which has threads of its own; for CSR data see `refsvm.kernels.sparse`.

`PreparedExamples` holds one side of these products ready: norms, and for kernels of the distance ‖x − z‖ an origin near
the data. With ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z the rounding of ‖x‖² stays when the summands cancel: of features such as
time stamps, 10⁹ with differences of 1, nothing is left. Distances do not change under translation, and near the mean
of the data the norms are as small as they can be.

The products of a linear machine with Σα = 0 may be taken around any origin, too: see `refsvm.kernels.origin`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm._checks import is_sparse
from refsvm.kernels.memory import reused
from refsvm.kernels.origin import moved, origin_of
from refsvm.kernels.sparse import SparseProducts, compressed, squared_norms

COPY_BYTES: Final = 2**26
"""Size of dense data up to which a transposed copy is kept."""

MANY_FEATURES: Final = 100
"""Features from which on a batch pays: a row of shorter examples costs at most twice as much alone."""

CORE_ENTRIES: Final = 2**17
"""Entries that do, at 8 bytes each."""

ALONE: Final = 2**18
"""Multiplications up to which BLAS takes one thread for a product: several threads would wait for each other."""

TILED_FEATURES: Final = 32
"""Features up to which products of `ALONE` multiplications are as fast as large ones."""

TILED_FROM: Final = 2**22
"""Multiplications from which on the product of all examples with themselves is shared by several threads."""

TILE_ROWS: Final = 128
"""Rows of such a product."""

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
    by_columns : bool
        False: `of` always writes all columns.
    prefers_batches : bool
        Whether Z has many features and exceeds the cache of a core. A product with a few examples then reads all of Z
        from memory, or from a slower cache, whether they are one or sixteen.
    in_tiles : bool
        Whether the product of Z with itself is made of many small ones, by `tile`, for threads of ours.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.kernels.products import DenseProducts
    >>> Z = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> DenseProducts(Z).of(Z, np.array([1]), np.empty((1, 2)))
    array([[11., 25.]])
    """

    by_columns = False

    def __init__(self, Z: np.ndarray) -> None:
        self.Z = Z
        self.prefers_batches = Z.shape[1] >= MANY_FEATURES and Z.size > CORE_ENTRIES
        self.in_tiles = Z.shape[1] <= TILED_FEATURES and len(Z) * Z.size >= TILED_FROM
        self._features: np.ndarray | None = None

    def aligned(self, X: np.ndarray) -> np.ndarray:
        """Return examples of shape (m, d) as they are; see `SparseProducts.aligned`."""
        return X

    def of(self, X: np.ndarray, rows: np.ndarray | None, out: np.ndarray, start: int = 0) -> np.ndarray:
        """Write x·z to `out`, shape (m, n), x from X[rows] (None: all of X) and z from all of Z, and return it."""
        if rows is None:
            return np.matmul(X, self.Z.T, out=out)
        # a whole small matrix in parts: BLAS would start threads for it, which wait for each other
        if len(rows) == len(self.Z) and ALONE < len(rows) * self.Z.size < TILED_FROM:
            return self._in_parts(X[rows], self.features, out)
        if len(rows) > 1:
            return np.matmul(X[rows], self.features, out=out)
        # as nearly always on large data: a part needs no copy, and a row is over before BLAS has started threads
        x = X[rows[0] : rows[0] + 1]
        is_short = x.size <= TILED_FEATURES and self.Z.size > ALONE
        return self._in_parts(x, self.features, out) if is_short else np.matmul(x, self.features, out=out)

    def tile(self, rows: slice, columns: slice, out: np.ndarray) -> np.ndarray:
        """Write the products of at most `TILE_ROWS` rows of Z with some others to `out`, and return it."""
        return self._in_parts(self.Z[rows], self.features[:, columns], out)

    @staticmethod
    def _in_parts(X: np.ndarray, others: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Multiply by some columns at a time, so that BLAS takes one thread."""
        # as many columns as keep one product below the size at which BLAS takes threads
        width = max(1, ALONE // max(1, X.size))
        for start in range(0, out.shape[1], width):
            part = slice(start, start + width)
            np.matmul(X, others[:, part], out=out[:, part])
        return out

    @property
    def features(self) -> np.ndarray:
        """Zᵀ, with each feature contiguous where that may be kept: a product with few rows takes half the time then."""
        # a second copy of large data would take the memory that kernel rows need
        if self._features is None and self.Z.nbytes <= COPY_BYTES:
            self._features = np.ascontiguousarray(self.Z.T)
        return self.Z.T if self._features is None else self._features


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
    norms : ndarray of shape (n,), float64
        ‖z − c‖² with the origin c, of the examples as they are multiplied.
    rounding : float
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
    >>> from refsvm.kernels.products import PreparedExamples
    >>> far = np.array([[1e9], [1e9 + 2.0]])
    >>> PreparedExamples(RBF(gamma=1.0), far).norms
    array([1., 1.])
    """

    def __init__(
        self, kernel: Any, Z: Any, table_from: float | None = None, dtype: type = np.float64,
        origin: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        scale, norms, given = kernel.distance_scale, squared_norms(Z), Z
        if not np.isfinite(norms).all():
            raise ValueError("X is so large that ‖x‖² overflows; scale the data down.")
        # float32 has 24 bits: they are spent on differences from the mean, whatever the tolerance of float64
        is_single = dtype == np.float32
        centred_from = 0.0 if is_single else CENTRED_FROM
        if scale * norms.max(initial=0.0) > centred_from and not is_sparse(Z):
            origin = Z.mean(axis=0)
        self._origin = origin
        if origin is not None:
            Z = moved(Z, origin, dtype)
        elif is_single:
            Z = Z.astype(dtype)
        self.norms = norms if Z is given else squared_norms(Z)
        self.rounding = float(np.finfo(dtype).eps) * max(1.0, scale * float(self.norms.max(initial=0.0)))
        self.products: DenseProducts | SparseProducts = (
            SparseProducts(Z, table_from) if is_sparse(Z) else DenseProducts(Z)
        )

    def prepared(self, X: Any) -> tuple[Any, np.ndarray]:
        """Return other examples, with the same origin and columns, and their norms."""
        if self._origin is not None:
            X = moved(X, self._origin)
        return self.products.aligned(X), squared_norms(X)


def stored_for_products(kernel: Any, X: Any, origin: np.ndarray | None = None) -> Any:
    """Return dense data with few non-zero entries as CSR, for cheaper products; other data as they are.

    Data that are to be multiplied around an origin of their own stay dense: the move would fill a sparse matrix.

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
    >>> from refsvm.kernels.products import stored_for_products
    >>> stored_for_products(RBF(gamma=1.0), np.eye(500)).nnz
    500
    """
    scale = getattr(kernel, "distance_scale", None)  # a callable of the user's has none
    if scale is None or origin is not None or (csr := compressed(X)) is None:
        return X
    norms = squared_norms(csr)
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
    return np.matmul(X, Z.T, out=reused((len(X), len(Z)), np.result_type(X, Z)))
