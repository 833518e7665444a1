"""The Cauchy kernel, whose tails are heavier than those of the Gaussian one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core.kernels.functions.base import Kernel


@dataclass(frozen=True)
class Cauchy(Kernel):
    """k(x, z) = 1/(1 + γ‖x − z‖²).

    Parameters
    ----------
    gamma : float
        γ ≥ 0.
    """

    gamma: float = 1.0
    name = "cauchy"
    is_psd = is_bounded = has_unit_diagonal = True

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Evaluate 1/(1 + γ‖x − z‖²), with ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z."""
        distances = np.maximum(x_norms[:, None] + z_norms - 2.0 * inner, 0.0)
        return np.divide(1.0, 1.0 + self.gamma * distances, out=inner)
