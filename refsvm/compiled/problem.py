"""Compiled twin of `refsvm.core.problem`."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from refsvm.compiled.interface.twin import from_python

_vector = types.Array(float64, 1, "C", readonly=True)


@from_python(types.Tuple((int64, int64, float64))(_vector, _vector, _vector, _vector))
def most_violating_pair(alpha, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.problem.most_violating_pair`."""
    top = bottom = -1
    highest, lowest = -np.inf, np.inf
    for t in range(len(alpha)):
        # compare with > and <, so that among equal values the lowest index wins
        if alpha[t] < upper[t] and gradient[t] > highest:
            top, highest = t, gradient[t]
        if alpha[t] > lower[t] and gradient[t] < lowest:
            bottom, lowest = t, gradient[t]
    return top, bottom, highest - lowest if min(top, bottom) >= 0 else -np.inf
