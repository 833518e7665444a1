"""The polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import not_negative, real, whole
from refsvm.core.kernels.functions.base import Kernel


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(x, z) = (γ x·z + c)ᵈ.

    Parameters
    ----------
    degree : int
        The degree d ≥ 0.
    gamma : float
        The factor γ ≥ 0.
    coef0 : float
        The constant c, any finite number; a negative c gives an indefinite kernel.

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
    name = "poly"
    uses_norms = False

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)
        real("coef0", self.coef0)
        whole("degree", self.degree, 0)

    @property
    def is_psd(self) -> bool:
        """True if c ≥ 0, because sums and products of positive semi-definite kernels are positive semi-definite."""
        return self.coef0 >= 0.0

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate (γ x·z + c)ᵈ."""
        inner *= self.gamma
        inner += self.coef0
        arithmetic.current.powers(inner, int(self.degree))
        return inner
