"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm import arithmetic
from refsvm._checks import not_negative
from refsvm.kernels.differences import named
from refsvm.kernels.functions.base import Kernel
from refsvm.kernels.products import Columns, PreparedExamples, squared_distances


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

    gamma: float = None  # type: ignore[assignment]  # refused with a sentence
    name = "rbf"
    is_psd = is_bounded = has_unit_diagonal = supports_float32 = True

    def __post_init__(self) -> None:
        given: Any = self.gamma
        if given is None or given in ("scale", "auto"):
            raise ValueError(
                f"gamma={given!r} is not a number; RBF needs one, such as RBF(0.5). 'scale' is of data, and belongs "
                "to a kernel that is given by name: kernel='rbf', gamma='scale'."
            )
        not_negative("gamma", given)

    @property
    def distance_scale(self) -> float:
        """γ."""
        return self.gamma

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate −γ‖x − z‖² and its exponential."""
        way = arithmetic.current if inner.flags.c_contiguous else arithmetic.Arithmetic
        way.gaussian(
            inner, self.gamma, *(norms.astype(inner.dtype, copy=False) for norms in (x_norms, z_norms))
        )
        return inner

    def rows(self, examples: PreparedExamples, rows: np.ndarray, columns: Columns, out: np.ndarray) -> None:
        """Write K[rows], of dense examples in one pass."""
        features, norms, start = columns
        if features is None or type(self).from_inner is not RBF.from_inner:
            super().rows(examples, rows, columns, out)
        else:
            arithmetic.current.gaussian_rows(
                examples.products.Z, rows, examples.norms, features, norms, start, self.gamma, out
            )

    def derivative(self, name: str, X: Any, Z: Any) -> np.ndarray:
        """∂k/∂γ = −‖x − z‖² k, shape (m, n)."""
        named(self, name)
        return -squared_distances(self, X, Z) * self(X, Z)
