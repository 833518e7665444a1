"""Twin of `refsvm.RBF`: its exponents, where NumPy is left the exponentials."""

from __future__ import annotations

from numba import float64, void

from refsvm.compiled.interface.exponential import DOUBLE_ROWS, SINGLE_ROWS, VECTOR, exponents_of
from refsvm.compiled.interface.twin import from_python


@from_python(*(void(rows, float64, VECTOR, VECTOR) for rows in (DOUBLE_ROWS, SINGLE_ROWS)))
def exponents(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.arithmetic.Arithmetic.exponents`: one pass instead of four, the same bits."""
    for i in range(len(inner)):
        exponents_of(inner[i], gamma, gamma * x_norms[i], z_norms)
