"""Kernels: small frozen objects that turn inner products into kernel values.

`refsvm.kernels.gram.Gram` pairs one with data and evaluates blocks of K.

=================  ==========================================
`Linear`           k(x, z) = x·z
`RBF`              k(x, z) = exp(−γ‖x − z‖²)
`Polynomial`       k(x, z) = (γ x·z + c)ᵈ
`Sigmoid`          k(x, z) = tanh(γ x·z + c)
`Precomputed`      the caller holds K; "X" *is* the matrix
any callable       ``k(X, Z) -> (n, m)`` array
=================  ==========================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from refsvm import arithmetic
from refsvm._checks import is_sparse, not_negative, real, whole
from refsvm.kernels.products import PreparedExamples, inner_products, squared_norms

__all__ = ["RBF", "Kernel", "Linear", "Polynomial", "Precomputed", "Sigmoid"]


class Kernel(ABC):
    """Base of the kernels that are functions of the inner product x·z and the norms ‖x‖², ‖z‖².

    A subclass states one formula, `from_inner`; the inner products themselves are computed once, here.
    """

    @abstractmethod
    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Turn inner products into kernel values, in place where possible.

        Parameters
        ----------
        inner : ndarray of shape (m, n), float64, or float32 where `takes_single`
            x·z for every pair; may be overwritten.
        x_norms, z_norms : ndarrays of shape (m,) and (n,), float64
            Squared norms ‖x‖², ‖z‖².

        Returns
        -------
        ndarray of shape (m, n), of the type of `inner`
        """

    def __call__(self, X: Any, Z: Any) -> np.ndarray:
        """Kernel matrix between the rows of X (m, d) and the rows of Z (n, d)."""
        if is_sparse(X) or is_sparse(Z):
            return self.from_inner(inner_products(X, Z), squared_norms(X), squared_norms(Z))
        others = PreparedExamples(self, Z)
        X, norms = others.prepared(X)
        return self.from_inner(inner_products(X, others.products.Z), norms, others.norms)

    is_bounded: ClassVar[bool] = False
    """Whether |k(x, z)| ≤ 1, so that values need no check."""

    has_unit_diagonal: ClassVar[bool] = False
    """Whether k(x, x) = 1, which rounding of ‖x − x‖² would miss."""

    takes_single: ClassVar[bool] = False
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
class Linear(Kernel):
    """k(x, z) = x·z.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Linear
    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    is_psd = takes_single = is_inner_product = True

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Return the inner products unchanged."""
        return inner


@dataclass(frozen=True)
class RBF(Kernel):
    """k(x, z) = exp(−γ‖x − z‖²), the Gaussian kernel.

    Parameters
    ----------
    gamma : float
        γ ≥ 0. Papers that use a width σ mean γ = 1/(2σ²).

    Raises
    ------
    ValueError
        If gamma is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> RBF(gamma=0.5)(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353]])
    """

    gamma: float
    is_psd = is_bounded = has_unit_diagonal = takes_single = True

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)

    @property
    def distance_scale(self) -> float:
        """γ."""
        return self.gamma

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate −γ‖x − z‖², in float64, and its exponential."""
        way = arithmetic.current if inner.flags.c_contiguous else arithmetic.Arithmetic
        way.exponents(inner, self.gamma, x_norms, z_norms)
        return np.exp(inner, out=inner)


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (γ x·z + c)ᵈ.

    Parameters
    ----------
    degree : int
        d ≥ 0.
    gamma : float
        γ ≥ 0.
    coef0 : float
        c, any finite number; negative values give an indefinite kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[144.]])
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)
        real("coef0", self.coef0)
        whole("degree", self.degree, 0)

    @property
    def is_psd(self) -> bool:
        """Whether c ≥ 0: sums and products of kernels are kernels."""
        return self.coef0 >= 0.0

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate (γ x·z + c)ᵈ."""
        inner *= self.gamma
        inner += self.coef0
        return np.power(inner, int(self.degree), out=inner)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(γ x·z + c), in general indefinite: the dual then has local optima only.

    Parameters
    ----------
    gamma : float
        γ ≥ 0.
    coef0 : float
        c, any finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Sigmoid
    >>> Sigmoid(gamma=0.1)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).round(4)
    array([[0.8005]])
    """

    gamma: float = 1.0
    coef0: float = 0.0
    is_bounded = True

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)
        real("coef0", self.coef0)

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate tanh(γ x·z + c)."""
        inner *= self.gamma
        inner += self.coef0
        return np.tanh(inner, out=inner)


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
