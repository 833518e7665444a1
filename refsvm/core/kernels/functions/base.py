"""Kernel: a map from inner products to kernel values; Precomputed: a marker for a kernel matrix given as X."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from refsvm.core._checks import ArrayLike, is_sparse
from refsvm.core.kernels.products import Columns, PreparedExamples, inner_products
from refsvm.core.kernels.sparse import squared_norms
from refsvm.core.rule import PlainNumbers


class Kernel(PlainNumbers, ABC):
    """Base of kernels that are functions of the inner product x·z and the norms ‖x‖², ‖z‖².

    A subclass implements one formula, `from_inner`; this class computes the inner products.
    """

    name: ClassVar[str] = ""
    """Name of one of the package's kernels in estimators and on the command line, such as "rbf"."""

    smooth_parameters: ClassVar[Any]
    """Names of the parameters with respect to which the kernel has derivatives; `refsvm.analysis.derivatives.kernels`
    sets it."""

    derivative: ClassVar[Callable[..., np.ndarray]]
    """``derivative(name, X, Z)`` returns ∂k(x, z)/∂θ for all pairs of rows. `refsvm.analysis.derivatives.kernels` sets
    this method to formulas for the package's kernels, and to finite differences for a user's kernel, which may
    override the method with a formula."""

    derivative_sum: ClassVar[Callable[..., Any]]
    """``derivative_sum(name, left, X, Z, right, values)`` returns Σᵢⱼ leftᵢ ∂k(xᵢ, zⱼ)/∂θ rightⱼ;
    `refsvm.analysis.derivatives.kernels` sets it."""

    @abstractmethod
    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Turn inner products into kernel values, in place where possible.

        Parameters
        ----------
        inner : ndarray of shape (m, n), float64, or float32 if `supports_float32`
            The inner products x·z of all pairs; the method may overwrite them.
        x_norms, z_norms : ndarrays of shape (m,) and (n,), of the type of `inner`
            The squared norms ‖x‖² and ‖z‖².

        Returns
        -------
        ndarray of shape (m, n), of the type of `inner`
            The kernel values of all pairs.
        """

    def rows(self, examples: PreparedExamples, rows: np.ndarray, columns: Columns, out: np.ndarray) -> None:
        """Write K[rows] of prepared examples to `out`, in the type of the examples.

        Parameters
        ----------
        examples : PreparedExamples
            The examples x.
        rows : ndarray of shape (m,), int64
            The rows of K to compute.
        columns : Columns
            The examples z; the method uses w of these examples, beginning at
            position ``columns.start``.
        out : ndarray of shape (m, w)
            The array to which the method writes the values.
        """
        products, norms = examples.products, examples.norms
        inner = products.of(products.Z, rows, out, columns.start, columns.features)
        part = slice(columns.start, columns.start + out.shape[1])
        values = self.from_inner(inner, norms[rows], columns.norms[part])
        if values is not out:  # a user's kernel may return a new array instead of using `out`
            out[:] = values

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Return the kernel matrix, shape (m, n), between the rows of X (m, d) and the rows of Z (n, d)."""
        if is_sparse(X) or is_sparse(Z):
            X, Z = self.scaled(X), self.scaled(Z)
            return self.from_inner(inner_products(X, Z), squared_norms(X), squared_norms(Z))
        others = PreparedExamples(self, np.ascontiguousarray(Z, dtype=np.float64))
        X, norms = others.prepared(np.ascontiguousarray(X, dtype=np.float64))
        return self.from_inner(inner_products(X, others.products.Z), norms, others.norms)

    def scaled(self, X: ArrayLike) -> Any:
        """Scale the examples X (m, d) before their inner products are computed; by default, return X unchanged."""
        return X

    is_bounded: ClassVar[bool] = False
    """True if |k(x, z)| ≤ 1, so that values need no check."""

    has_unit_diagonal: ClassVar[bool] = False
    """True if k(x, x) = 1; the diagonal is then set to 1, because a computed ‖x − x‖² has rounding errors."""

    uses_norms: ClassVar[bool] = True
    """True if `from_inner` reads the norms; if it does not, one call computes the whole diagonal."""

    supports_float32: ClassVar[bool] = False
    """True if `from_inner` accepts float32 inner products, for rows that are kept as float32."""

    is_inner_product: ClassVar[bool] = False
    """True if k(x, z) = x·z; if Σα = 0, moving the origin of such a kernel adds one constant to all entries of Kα."""

    @property
    def is_psd(self) -> bool:
        """True if every matrix of this kernel is known to be positive semi-definite."""
        return False

    @property
    def distance_scale(self) -> float:
        """γ if the kernel is a function of γ‖x − z‖² and thus the same for every origin; 0 for all other kernels."""
        return 0.0


@dataclass(frozen=True)
class Precomputed:
    """The kernel argument for an ``X`` that is the kernel matrix itself, shape (n, n), computed by the user.

    With a precomputed matrix, the package computes no kernel rows, and `KernelRows` counts none.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Precomputed
    >>> K = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> DualProblem.classification(K, np.array([1, -1]), kernel=Precomputed(), C=1.0).n
    2
    """
