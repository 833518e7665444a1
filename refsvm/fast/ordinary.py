"""Twins of `refsvm.paths.inverse` and of the run of ordinary events, `refsvm.paths.ordinary`."""

from __future__ import annotations

import math

from numba import boolean, float64, int64, types

from refsvm.fast.paths import ARRAYS, VECTOR, advance, elbow_fall, outside_fall, rates, violation
from refsvm.fast.twin import called, from_python
from refsvm.paths.inverse import Inverse
from refsvm.paths.ordinary import INACCURATE, LEFT_OVER, NOTHING, EventLog, Tolerances

__all__ = ["delete", "follow", "insert"]

INVERSE = types.NamedTuple((float64[:, ::1], VECTOR, VECTOR, VECTOR), Inverse)
LOG = types.NamedTuple((VECTOR, VECTOR, int64[:, ::1], int64[::1], int64[::1], VECTOR), EventLog)
TOLERANCES = types.NamedUniTuple(float64, 7, Tolerances)


@called
def product(inverse, size, right, out):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.inverse.product`."""
    values = inverse.values
    for i in range(size):
        out[i] = 0.0
    # four rows at a time, added one after the other as in the readable version
    j = 0
    while j + 4 <= size:
        a, b, c, e = values[j], values[j + 1], values[j + 2], values[j + 3]
        ra, rb, rc, re = right[j], right[j + 1], right[j + 2], right[j + 3]
        for i in range(size):
            out[i] = (((out[i] + ra * a[i]) + rb * b[i]) + rc * c[i]) + re * e[i]
        j += 4
    while j < size:
        a, ra = values[j], right[j]
        for i in range(size):
            out[i] += ra * a[i]
        j += 1


@from_python(boolean(ARRAYS, INVERSE, int64, int64, float64))
def insert(arrays, inverse, m, i, least):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.inverse.insert`."""
    size, values, u, w = m + 1, inverse.values, inverse.right, inverse.w
    u[0] = 1.0
    for j in range(m):
        u[j + 1] = arrays.K[i, arrays.elbow[j]]
    product(inverse, size, u, w)
    # s = kᵢᵢ − uᵀA⁻¹u
    s = 0.0
    for j in range(size):
        s += u[j] * w[j]
    s = arrays.K[i, i] - s
    if not s > least:
        return False
    root = 1.0 / math.sqrt(s)
    for j in range(size):
        w[j] *= root
    for j in range(size):  # A⁻¹ + wwᵀ/s
        row, wj = values[j], w[j]
        for k in range(size):
            row[k] += wj * w[k]
        row[size] = values[size, j] = -root * wj
    values[size, size] = root * root
    return True


@from_python(boolean(INVERSE, int64, int64))
def delete(inverse, size, position):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.inverse.delete`."""
    values, c = inverse.values, inverse.w
    if not values[position, position] > 0.0:
        return False
    root = 1.0 / math.sqrt(values[position, position])
    for j in range(size):
        c[j] = values[position, j] * root
    # a row by itself, and its parts by slices: otherwise these loops are not vectorised
    changed, after, to = inverse.right, inverse.right[position + 1 : size], 0
    for j in range(size):
        if j == position:
            continue
        row, new, moved, cj = values[j], values[to], values[to, position:], c[j]
        for k in range(size):
            changed[k] = row[k] - cj * c[k]
        for k in range(position):
            new[k] = changed[k]
        for k in range(len(after)):
            moved[k] = after[k]
        to += 1
    return True


@called
def direction(arrays, inverse, m, limits):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.ordinary.direction`."""
    size, elbow, x, w, right = m + 1, arrays.elbow, inverse.x, inverse.w, inverse.right
    right[0] = 0.0
    for j in range(m):
        right[j + 1] = arrays.v[elbow[j]]
    product(inverse, size, right, x)
    d = x[1:size]
    for _ in range(3):
        rates(arrays, m, d, x[0], 1.0)
        largest = 0.0
        for j in range(m):
            largest = max(largest, abs(d[j]))
        noise = limits.tau * (1.0 + m * limits.largest * largest)
        # A(d₀, d) − (0, v_𝓔)
        total = left = 0.0
        for j in range(m):
            total += d[j]
            right[j + 1] = arrays.sign[elbow[j]] * arrays.rates[elbow[j]]
            left = max(left, abs(right[j + 1]))
        right[0] = total
        if max(left, limits.largest * abs(total)) <= LEFT_OVER * noise:
            return limits.tau * largest, noise
        product(inverse, size, right, w)
        for j in range(size):
            x[j] -= w[j]
    return -1.0, -1.0


@called
def _move(arrays, inverse, log, m, k, left, least):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.ordinary._move`."""
    i, elbow, side, scaled = arrays.hits[0], arrays.elbow, arrays.side, arrays.scaled
    before, after, position = side[i], 0, 0
    if before == 0:
        while elbow[position] != i:
            position += 1
        if m == 1 or not delete(inverse, m + 1, position + 1):
            return -1
        weight = arrays.low[i] + arrays.high[i]
        after = -1 if abs(scaled[i]) < abs(weight - scaled[i]) else 1
        scaled[i] = weight if after > 0 else 0.0
    elif (before > 0 and left == 1) or m + 2 > len(inverse.x) or not insert(arrays, inverse, m, i, least):
        return -1
    start = log.start[k]
    for j in range(m):
        log.changed[start + j], log.value[start + j] = elbow[j], scaled[elbow[j]]
    log.start[k + 1] = start + m
    log.moved[k, 0], log.moved[k, 1], log.moved[k, 2] = i, before, after
    side[i] = after
    if after == 0:
        elbow[m] = i
        return m + 1
    for j in range(position, m - 1):
        elbow[j] = elbow[j + 1]
    return m - 1


@from_python(types.UniTuple(int64, 3)(ARRAYS, INVERSE, LOG, int64, VECTOR, TOLERANCES))
def follow(arrays, inverse, log, m, here, limits):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.paths.ordinary.follow`."""
    left = 0
    for i in range(len(arrays.side)):
        left += arrays.side[i] > 0
    for k in range(len(log.lam)):
        # --- d_p and p ---
        noise = direction(arrays, inverse, m, limits)
        if noise[1] < 0.0:
            return m, k, INACCURATE
        # --- (47): max over 𝓔, 𝓛, 𝓡 ---
        lam, d = here[0], inverse.x[1 : m + 1]
        room = lam - limits.lam_min
        t = min(elbow_fall(arrays, m, d, noise[0]), outside_fall(arrays, noise[1]), room)
        if log.start[k] + m > len(log.value) or (t <= limits.tau_2 * lam and t < room):
            return m, k, NOTHING
        # --- update ŝ, λ, g ---
        lam -= t
        if lam <= limits.lam_min * (1.0 + 1e-12):
            lam = limits.lam_min
        here[0] = lam
        here[1] -= t * inverse.x[0]
        hits = advance(arrays, m, d, t, noise, (limits.tie, limits.tie * lam))
        if hits != 1 or lam == limits.lam_min or violation(arrays) > limits.eps_kkt * lam:
            return m, k, hits
        # --- update 𝓔, 𝓛, 𝓡 and A⁻¹ ---
        size = _move(arrays, inverse, log, m, k, left, limits.least)
        if size < 0:
            return m, k, hits
        left += int(log.moved[k, 2] > 0) - int(log.moved[k, 1] > 0)
        m = size
        log.lam[k], log.intercept[k], log.moved[k, 3] = lam, here[1], m
    return m, len(log.lam), NOTHING
