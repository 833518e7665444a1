"""The linear kernel: the inner product itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core.kernels.functions.base import Kernel


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

    name = "linear"
    is_psd = supports_float32 = is_inner_product = True
    uses_norms = False

    def from_inner(self, inner: np.ndarray, x_norms: np.ndarray, z_norms: np.ndarray) -> np.ndarray:
        """Return the inner products unchanged."""
        return inner
