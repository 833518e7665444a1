"""Twins of the event search of a path, `refsvm.paths.events`."""

from __future__ import annotations

import numpy as np
from numba import float64, int8, int64, types, void

from refsvm.fast.twin import from_python
from refsvm.paths.events import PathArrays

__all__ = ["advance", "elbow_fall", "outside_fall", "rates", "violation"]

VECTOR = float64[::1]
ARRAYS = types.NamedTuple((float64[:, ::1], *[VECTOR] * 7, int8[::1], int64[::1], int64[::1]), PathArrays)
PAIR = types.UniTuple(float64, 2)


@from_python(void(ARRAYS, int64, VECTOR, float64, float64))
def rates(arrays, m, d, d_intercept, target):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.events.rates`."""
    K, elbow, total = arrays.K, arrays.elbow, arrays.rates
    n = len(total)
    for i in range(n):
        total[i] = d_intercept - target * arrays.v[i]
    # four rows at a time, added one after the other as in the readable version
    j = 0
    while j + 4 <= m:
        a, b, c, e = K[elbow[j]], K[elbow[j + 1]], K[elbow[j + 2]], K[elbow[j + 3]]
        da, db, dc, de = d[j], d[j + 1], d[j + 2], d[j + 3]
        for i in range(n):
            total[i] = (((total[i] + da * a[i]) + db * b[i]) + dc * c[i]) + de * e[i]
        j += 4
    while j < m:
        a, da = K[elbow[j]], d[j]
        for i in range(n):
            total[i] += da * a[i]
        j += 1
    for i in range(n):
        total[i] *= arrays.sign[i]


@from_python(float64(ARRAYS, int64, VECTOR, float64))
def elbow_fall(arrays, m, d, noise):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.events.elbow_fall`."""
    least = np.inf
    for j in range(m):
        i = arrays.elbow[j]
        if d[j] > noise:
            least = min(least, (arrays.scaled[i] - arrays.low[i]) / d[j])
        elif d[j] < -noise:
            least = min(least, (arrays.high[i] - arrays.scaled[i]) / -d[j])
    return least


@from_python(float64(ARRAYS, float64))
def outside_fall(arrays, noise):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.events.outside_fall`."""
    slack, p, side = arrays.slack, arrays.rates, arrays.side
    least = np.inf
    for i in range(len(p)):
        if side[i] < 0 and p[i] > noise:
            least = min(least, max(-slack[i], 0.0) / p[i])
        elif side[i] > 0 and p[i] < -noise:
            least = min(least, max(slack[i], 0.0) / -p[i])
    return least


@from_python(int64(ARRAYS, int64, VECTOR, float64, PAIR, PAIR))
def advance(arrays, m, d, t, noise, tie):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.events.advance`."""
    slack, p, side, hits = arrays.slack, arrays.rates, arrays.side, arrays.hits
    count = 0
    for i in range(len(p)):
        slack[i] += t * p[i]
    for j in range(m):
        i = arrays.elbow[j]
        low, high = arrays.low[i], arrays.high[i]
        scaled = min(max(arrays.scaled[i] - t * d[j], low), high)
        arrays.scaled[i] = scaled
        slack[i] = 0.0
        near = tie[0] * (high - low)
        if (d[j] > noise[0] and scaled - low <= near) or (d[j] < -noise[0] and high - scaled <= near):
            hits[count] = i
            count += 1
    for i in range(len(p)):
        if (side[i] < 0 and p[i] > noise[1] and slack[i] >= -tie[1]) or (
            side[i] > 0 and p[i] < -noise[1] and slack[i] <= tie[1]
        ):
            hits[count] = i
            count += 1
    return count


@from_python(float64(ARRAYS))
def violation(arrays):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.events.violation`."""
    slack, side = arrays.slack, arrays.side
    worst = 0.0
    for i in range(len(slack)):
        if side[i] < 0:
            worst = max(worst, slack[i])
        elif side[i] > 0:
            worst = max(worst, -slack[i])
        else:
            worst = max(worst, abs(slack[i]))
    return worst
