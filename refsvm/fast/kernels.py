"""Compiled parts of what Python does between the steps: evaluating kernels, adding rows up, looking for the gap."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba import float64, from_dtype, int64, types, void

from refsvm.fast.twin import cached, from_python

__all__ = ["AVAILABLE", "exponents", "most_violating_pair", "subtract_rows"]

AVAILABLE = not numba.config.DISABLE_JIT
"""False where Numba interprets instead of compiling: NumPy is faster then."""

_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")


@from_python(void(_matrix, float64, _vector, _vector))
def exponents(inner, gamma, x_norms, z_norms):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.kernels.functions.RBF.exponents`: one pass instead of four, the same bits."""
    for i in range(len(inner)):
        row, x_part = inner[i], gamma * x_norms[i]
        for t in range(len(row)):
            # −γ‖x − z‖² = 2γ x·z − γ‖x‖² − γ‖z‖², cut off at 0
            value = (2.0 * gamma) * row[t] - x_part - gamma * z_norms[t]
            row[t] = value if value < 0.0 else 0.0


def subtract_rows(target, rows, slots, coefficients):  # type: ignore[no-untyped-def]
    """Call `subtraction`, compiled for this type of rows."""
    subtraction_for(rows.dtype)(target, rows, slots, coefficients)


@cache
def subtraction_for(kind: np.dtype) -> Callable[..., Any]:
    """Return `subtraction` compiled for rows of this type: few programs keep rows as float32."""
    rows = types.Array(from_dtype(kind), 2, "C", readonly=True)
    return cached(subtraction, void(_vector, rows, types.Array(int64, 1, "C"), _vector), nogil=True)


def subtraction(target, rows, slots, coefficients):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.kernels.rows.subtract_rows`: four rows in one pass over the target, the same bits."""
    full = len(slots) - len(slots) % 4
    for k in range(0, full, 4):
        first, second = rows[slots[k]], rows[slots[k + 1]]
        third, fourth = rows[slots[k + 2]], rows[slots[k + 3]]
        a, b, c, d = coefficients[k], coefficients[k + 1], coefficients[k + 2], coefficients[k + 3]
        for t in range(len(target)):
            target[t] = (((target[t] - a * first[t]) - b * second[t]) - c * third[t]) - d * fourth[t]
    for k in range(full, len(slots)):
        row, a = rows[slots[k]], coefficients[k]
        for t in range(len(target)):
            target[t] -= a * row[t]


@from_python(types.Tuple((int64, int64, float64))(_vector, _vector, _vector, _vector))
def most_violating_pair(alpha, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.problem.most_violating_pair`."""
    top = bottom = -1
    highest, lowest = -np.inf, np.inf
    for t in range(len(alpha)):
        # lowest index on ties
        if alpha[t] < upper[t] and gradient[t] > highest:
            top, highest = t, gradient[t]
        if alpha[t] > lower[t] and gradient[t] < lowest:
            bottom, lowest = t, gradient[t]
    return top, bottom, highest - lowest if min(top, bottom) >= 0 else -np.inf
