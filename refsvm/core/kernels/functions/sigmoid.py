"""The sigmoid kernel, which is indefinite in general."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core import arithmetic
from refsvm.core._checks import not_negative, real
from refsvm.core.kernels.functions.base import Kernel


@dataclass(frozen=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(γ x·z + c), an indefinite kernel in general, so a solve may end at a local optimum of the dual.

    Parameters
    ----------
    gamma : float
        The factor γ ≥ 0.
    coef0 : float
        The constant c, any finite number.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Sigmoid
    >>> Sigmoid(gamma=0.1)(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])).round(4)
    array([[0.8005]])
    """

    gamma: float = 1.0
    coef0: float = 0.0
    name = "sigmoid"
    is_bounded = True
    uses_norms = False

    def __post_init__(self) -> None:
        not_negative("gamma", self.gamma)
        real("coef0", self.coef0)

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate tanh(γ x·z + c)."""
        inner *= self.gamma
        inner += self.coef0
        arithmetic.current.hyperbolic_tangents(inner)
        return inner
