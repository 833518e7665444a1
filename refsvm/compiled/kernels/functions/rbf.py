"""Twin of `refsvm.RBF`: its exponents."""

from __future__ import annotations

import numpy as np
from numba import float32, float64, types, void

from refsvm.compiled.interface.twin import from_python

_vector, _matrix, _single = (
    types.Array(float64, 1, "C", readonly=True),
    types.Array(float64, 2, "C"),
    types.Array(float32, 2, "C"),
)


@from_python(*(void(rows, float64, _vector, _vector) for rows in (_matrix, _single)))
def exponents(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Twin of the exponents in `refsvm.RBF.from_inner`: one pass instead of four, the same bits."""
    for i in range(len(inner)):
        row, x_part = inner[i], gamma * x_norms[i]
        for t in range(len(row)):
            # −γ‖x − z‖² = 2γ x·z − γ‖x‖² − γ‖z‖², cut off at 0
            value = (2.0 * gamma) * np.float64(row[t]) - x_part - gamma * z_norms[t]
            row[t] = value if value < 0.0 else 0.0
