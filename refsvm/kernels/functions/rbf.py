"""The Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm import arithmetic
from refsvm._checks import not_negative
from refsvm.kernels.functions.base import Kernel


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
    name = "rbf"
    is_psd = is_bounded = has_unit_diagonal = supports_float32 = True

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)

    @property
    def distance_scale(self) -> float:
        """γ."""
        return self.gamma

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate −γ‖x − z‖², in float64, and its exponential."""
        way = arithmetic.current if inner.flags.c_contiguous else arithmetic.Arithmetic
        way.gaussian(inner, self.gamma, x_norms, z_norms)
        return inner
