"""Kernel: a map from inner products to kernel values; Precomputed: a matrix in the place of one."""

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
    """Base of the kernels that are functions of the inner product x·z and the norms ‖x‖², ‖z‖².

    A subclass states one formula, `from_inner`; the inner products themselves are computed once, here.
    """

    name: ClassVar[str] = ""
    """The name of a kernel of the package in estimators and on the command line, such as "rbf"."""

    smooth_parameters: ClassVar[Any]
    """Names of the parameters by which the kernel has a derivative; `refsvm.analysis.derivatives.kernels` puts it here.
    """

    derivative: ClassVar[Callable[..., np.ndarray]]
    """``derivative(name, X, Z)``: ∂k(x, z)/∂θ for all pairs of rows. `refsvm.analysis.derivatives.kernels` puts the
    formulas of the package here, and differences of values for other kernels; override it with your own formula."""

    derivative_sum: ClassVar[Callable[..., Any]]
    """``derivative_sum(name, left, X, Z, right, values)``: Σᵢⱼ leftᵢ ∂k(xᵢ, zⱼ)/∂θ rightⱼ, from the same file."""

    @abstractmethod
    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Turn inner products into kernel values, in place where possible.

        Parameters
        ----------
        inner : ndarray of shape (m, n), float64, or float32 where `supports_float32`
            x·z for every pair; may be overwritten.
        x_norms, z_norms : ndarrays of shape (m,) and (n,), of the type of `inner`
            Squared norms ‖x‖², ‖z‖².

        Returns
        -------
        ndarray of shape (m, n), of the type of `inner`
        """

    def rows(self, examples: PreparedExamples, rows: np.ndarray, columns: Columns, out: np.ndarray) -> None:
        """Write K[rows] of prepared examples to `out`, shape (m, w), of their type.

        Parameters
        ----------
        examples : PreparedExamples
        rows : ndarray of shape (m,), int64
        columns : Columns
            The z; of a wider table w of them, from its start on.
        out : ndarray of shape (m, w)
        """
        products, norms = examples.products, examples.norms
        inner = products.of(products.Z, rows, out, columns.start, columns.features)
        part = slice(columns.start, columns.start + out.shape[1])
        values = self.from_inner(inner, norms[rows], columns.norms[part])
        if values is not out:  # in place, but a user's kernel need not work so
            out[:] = values

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Kernel matrix between the rows of X (m, d) and the rows of Z (n, d)."""
        if is_sparse(X) or is_sparse(Z):
            X, Z = self.scaled(X), self.scaled(Z)
            return self.from_inner(inner_products(X, Z), squared_norms(X), squared_norms(Z))
        others = PreparedExamples(self, np.ascontiguousarray(Z, dtype=np.float64))
        X, norms = others.prepared(np.ascontiguousarray(X, dtype=np.float64))
        return self.from_inner(inner_products(X, others.products.Z), norms, others.norms)

    def scaled(self, X: ArrayLike) -> Any:
        """Return the examples whose inner products `from_inner` gets, shape (m, d), dense or CSR: by default X."""
        return X

    is_bounded: ClassVar[bool] = False
    """Whether |k(x, z)| ≤ 1, so that values need no check."""

    has_unit_diagonal: ClassVar[bool] = False
    """Whether k(x, x) = 1, which rounding of ‖x − x‖² would miss."""

    uses_norms: ClassVar[bool] = True
    """Whether `from_inner` reads the norms; if not, the diagonal takes one call."""

    supports_float32: ClassVar[bool] = False
    """Whether `from_inner` takes float32 products, for rows that are kept as float32."""

    is_inner_product: ClassVar[bool] = False
    """Whether k(x, z) = x·z: where Σα = 0, moving the origin changes Kα by one number in all components."""

    @property
    def is_psd(self) -> bool:
        """Whether every matrix of this kernel is known to be positive semi-definite."""
        return False

    @property
    def distance_scale(self) -> float:
        """γ of a kernel that depends on γ‖x − z‖² alone, which may therefore move the origin; 0 of all others."""
        return 0.0


@dataclass(frozen=True)
class Precomputed:
    """The caller computed K: ``X`` is the (n, n) Gram matrix itself.

    No kernel row is ever computed, so `KernelRows` counts none.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Precomputed
    >>> K = np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> DualProblem.classification(K, np.array([1, -1]), kernel=Precomputed(), C=1.0).n
    2
    """
