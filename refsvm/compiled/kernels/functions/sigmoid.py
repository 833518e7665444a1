"""Compiled twin of `refsvm.Sigmoid`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.exponential import ROUNDER, reduced, scaled


def hyperbolic_tangents(values):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.arithmetic.Arithmetic.hyperbolic_tangents`."""
    for r in range(len(values)):
        row = values[r]
        for t in range(len(row)):
            k, less_one = reduced(-2.0 * abs(row[t]))
            m = less_one if k == ROUNDER else scaled(1.0 + less_one, k) - 1.0
            row[t] = np.copysign(m / (2.0 + m), row[t])
