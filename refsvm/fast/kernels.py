"""Compiled parts of kernel evaluation."""

from __future__ import annotations

import numba
from numba import float64, njit, types, void

__all__ = ["AVAILABLE", "exponents"]

AVAILABLE = not numba.config.DISABLE_JIT
"""False where Numba interprets instead of compiling: NumPy is faster then."""

_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")


@njit(void(_matrix, float64, _vector, _vector), cache=True, error_model="numpy", _nrt=False, nogil=True)
def exponents(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.kernels.functions.RBF.exponents`: one pass instead of four, the same bits."""
    for i in range(len(inner)):
        row, x_part = inner[i], gamma * x_norms[i]
        for t in range(len(row)):
            # −γ‖x − z‖² = 2γ x·z − γ‖x‖² − γ‖z‖², cut off at 0
            value = (2.0 * gamma) * row[t] - x_part - gamma * z_norms[t]
            row[t] = value if value < 0.0 else 0.0
