"""Compiled twin of `refsvm.SVMP` for ordinary events (`compiled.walk.runs`); the tracker handles all other events."""

from __future__ import annotations

from numba import float64, int64

from refsvm.compiled.interface.by_address import Block
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.walk.bordered import times
from refsvm.compiled.walk.walk import (
    AT,
    WALK,
    EventLog,
    add_member,
    direction,
    distance_of,
    leave,
    move,
    reach,
)
from refsvm.core.walk.elbow import LEFT_OVER, TIE
from refsvm.core.walk.walk import FREE

VECTOR = float64[::1]
LOG = Block(EventLog, (VECTOR, VECTOR, int64[:, ::1], float64[:, ::1]))
FOLLOW = int64(VECTOR, WALK, LOG, VECTOR)
"""follow(parameters, walk, log, limits) -> events"""

END, LARGEST_VALUE, WAY, PUSH, PACE, UNIT, UNIT_RATE, SPAN, LEAST, ROOTED, STALE = range(11)
"""Indices of the limits: the end, the largest kernel value, whether t rises, attributes of `refsvm.core.walk.line` of
the same names, and the λ below which G must be recomputed."""

EPS_KKT, TAU, TAU_2 = 0, 2, 3
"""Indices of parameters of `refsvm.SVMP`."""


@called
def noise_of(walk, tau, limits):  # type: ignore[no-untyped-def]
    """Write residuals of d's system; return bounds below which d and dG − db count as 0, and the largest residual."""
    d, speed, m, rest = walk.values[AT.d], walk.values[AT.speed], walk.now[0].m, walk.system.vectors[1]
    most = total = left = 0.0
    for s in range(m):
        i = walk.members[s]
        most, total, left = max(most, abs(d[i])), total + d[i], max(left, abs(speed[i]))
        rest[s + 1] = -speed[i]
    rest[0] = total - walk.now[0].total
    largest = limits[LARGEST_VALUE]
    noise_of_alpha, noise_of_excess = max(most, limits[PACE]), limits[PUSH] + m * largest * most
    return tau * noise_of_alpha, tau * noise_of_excess, max(left, largest * abs(rest[0]))


@called
def particular_direction(walk, tau, limits):  # type: ignore[no-untyped-def]
    """Set the walk's direction; return the first two results of `noise_of`. On failure, restore x and return −1, −1."""
    system, size = walk.system, walk.now[0].m + 1
    x, rest, change, before = system.x, system.vectors[1], system.vectors[2], system.vectors[3]
    for t in range(size):
        before[t] = x[t]
    for _ in range(3):
        direction(walk)
        noise_of_alpha, noise_of_excess, left = noise_of(walk, tau, limits)
        if left <= LEFT_OVER * noise_of_excess:
            return noise_of_alpha, noise_of_excess
        times(system, size, rest, change)
        for t in range(size):
            x[t] -= change[t]
    for t in range(size):
        x[t] = before[t]
    return -1.0, -1.0


@called
def foreseen(walk, step, unit, tie, noise_of_alpha, noise_of_excess):  # type: ignore[no-untyped-def]
    """Return, for the end of this step, the number of examples with an event, the worst violation, Σα and Σ|α|."""
    values, hits, worst, total, size = walk.values, 0, 0.0, 0.0, 0.0
    for i in range(len(walk.side)):
        side, d, speed = walk.side[i], values[AT.d, i], values[AT.speed, i]
        alpha = values[AT.alpha, i] + step * d
        if side == FREE:
            lower_rate, upper_rate = values[AT.lower_rate, i], values[AT.upper_rate, i]
            lower, upper = values[AT.lower, i] + step * lower_rate, values[AT.upper, i] + step * upper_rate
            alpha, near = min(max(alpha, lower), upper), tie * (upper - lower)
            hits += (d - upper_rate > noise_of_alpha and upper - alpha <= near) or (
                lower_rate - d > noise_of_alpha and alpha - lower <= near
            )
        elif abs(side) == 1:
            excess = side * (values[AT.excess, i] + step * speed)
            hits += -side * speed > noise_of_excess and excess <= tie * unit
            worst = max(worst, -excess)
        total, size = total + alpha, size + abs(alpha)
    return hits, worst, total, size


@called
def may_cross(walk, i, hits, is_c_path):  # type: ignore[no-untyped-def]
    """Return s (see `distance_of`) if i may join M, 1 if i may leave M or i = −1, 0 if the event is not ordinary."""
    m, slot, left = walk.now[0].m, 0, 0
    if i < 0 or hits != 1:
        return 1.0 if i < 0 and hits == 0 else 0.0
    if walk.side[i] == FREE:
        while walk.members[slot] != i:
            slot += 1
        return 1.0 if m > 1 and walk.system.values[slot + 1, slot + 1] > 0.0 else 0.0
    # variable i may leave 𝓛 only if another variable stays in 𝓛
    if is_c_path and walk.side[i] == (1 if walk.values[AT.upper, i] > 0.0 else -1):
        for k in range(len(walk.side)):
            left += walk.side[k] == (1 if walk.values[AT.upper, k] > 0.0 else -1)
    if left == 1 or m == len(walk.members):
        return 0.0
    s = distance_of(walk, i)
    return s if s > walk.now[0].least else 0.0


@called
def expected(walk, i, step, t, noise_of_alpha, noise_of_excess, limits):  # type: ignore[no-untyped-def]
    """Return the result of `may_cross` for the event of i at t, and the largest violation of the KKT conditions."""
    unit = limits[UNIT] + limits[UNIT_RATE] * t
    tie = TIE if i >= 0 else 2.0 * TIE  # at the end, allow for different rounding of L and U
    hits, worst, total, size = foreseen(walk, step, unit, tie, noise_of_alpha, noise_of_excess)
    is_c_path = limits[ROOTED] > 0.0
    unbalanced = abs(total) / max(size, 1e-300) if is_c_path else 0.0
    return may_cross(walk, i, hits, is_c_path), max(worst / unit, unbalanced)


@called
def cross(walk, i, s, step, way):  # type: ignore[no-untyped-def]
    """Advance to the next event, at which i enters or leaves the elbow; at the end of the path, i is −1."""
    values = walk.values
    move(walk, step, way)
    if i < 0:
        return
    for slot in range(walk.now[0].m):
        k = walk.members[slot]
        values[AT.alpha, k] = min(max(values[AT.alpha, k], values[AT.lower, k]), values[AT.upper, k])  # (38)
        values[AT.excess, k] = 0.0
    if walk.side[i] == FREE:
        leave(walk, i)
    else:
        add_member(walk, i, s)


@called
def logged(walk, log, k, i, s, step, way, t):  # type: ignore[no-untyped-def]
    """Advance to the next event, at t, and record it in row k of the log."""
    log.moved[k, 0], log.moved[k, 1] = i, walk.side[max(i, 0)]
    cross(walk, i, s, step, way)
    log.t[k], log.intercept[k] = t, walk.now[0].b
    log.moved[k, 2], log.moved[k, 3] = walk.side[max(i, 0)], walk.now[0].m
    for j in range(len(walk.side)):
        log.scaled[k, j] = walk.values[AT.alpha, j]


@twin(FOLLOW)
def svmp(parameters, walk, log, limits):  # type: ignore[no-untyped-def]
    """Follow events until the log is full or the next event is not ordinary; return the number of logged events."""
    end, way, now = limits[END], limits[WAY], walk.now
    enough = max(1e-12 * max(min(abs(end), limits[SPAN]), limits[LEAST]), 1e-10 * limits[LEAST])
    for k in range(len(log.t)):
        # --- d_p and the rates ---
        noise_of_alpha, noise_of_excess = particular_direction(walk, parameters[TAU], limits)
        if noise_of_excess < 0.0:
            return k
        # --- (47): the step to the next event of any example in 𝓔, 𝓛 or 𝓡 ---
        (i, step), room = reach(walk, noise_of_alpha, noise_of_excess), (end - now[0].t) * way
        i, step = (i, step) if step < room else (-1, room)
        t = now[0].t + step * way if i >= 0 else end
        scale, near = max(min(abs(now[0].t), limits[SPAN]), limits[LEAST]), (end - t) * way <= enough
        if step <= parameters[TAU_2] * scale or (i >= 0 and near) or t < limits[STALE]:
            return k
        # --- continue if one example changes its set (none at the end), (56) holds, and A is regular ---
        s, violation = expected(walk, i, step, t, noise_of_alpha, noise_of_excess, limits)
        if s == 0.0 or violation > parameters[EPS_KKT]:
            return k
        # --- update ŝ, λ, G − b̂, 𝓔, 𝓛, 𝓡 and A⁻¹ ---
        logged(walk, log, k, i, s, step, way, t)
        if i < 0:
            return k + 1
    return len(log.t)
