"""Compiled twin of `refsvm.Hastie` for ordinary events (`compiled.walk.runs`); the tracker handles all other events."""

from __future__ import annotations

from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.trackers.svmp import (
    END,
    FOLLOW,
    LEAST,
    SPAN,
    WAY,
    expected,
    logged,
    particular_direction,
)
from refsvm.compiled.walk.walk import AT
from refsvm.core.trackers.hastie import TAU
from refsvm.core.walk.walk import ABOVE, BELOW, FREE

TOL = 0
"""Index of the parameter `tol` of `refsvm.Hastie`."""


@called
def next_fall(walk, shortest, room, noise_of_alpha, noise_of_excess):  # type: ignore[no-untyped-def]
    """Return the variable with the first event at a distance between `shortest` and `room`, or −1, and the distance."""
    values, side, first, fall = walk.values, walk.side, -1, room
    for i in range(len(side)):
        if side[i] == FREE:
            d, alpha = values[AT.d, i], values[AT.alpha, i]
            to_upper, to_lower = d - values[AT.upper_rate, i], values[AT.lower_rate, i] - d
            if to_upper > noise_of_alpha:
                way = (values[AT.upper, i] - alpha) / to_upper
                if shortest < way < fall:
                    first, fall = i, way
            if to_lower > noise_of_alpha:
                way = (alpha - values[AT.lower, i]) / to_lower
                if shortest < way < fall:
                    first, fall = i, way
        elif side[i] == BELOW or side[i] == ABOVE:
            closing = -side[i] * values[AT.speed, i]
            if closing > noise_of_excess:
                way = side[i] * values[AT.excess, i] / closing
                if shortest < way < fall:
                    first, fall = i, way
    return first, fall


@twin(FOLLOW)
def hastie(parameters, walk, log, limits):  # type: ignore[no-untyped-def]
    """Follow events until the log is full or the next event is not ordinary; return the number of logged events."""
    end, way, now, tol = limits[END], limits[WAY], walk.now, parameters[TOL]
    enough = max(1e-12 * max(min(abs(end), limits[SPAN]), limits[LEAST]), 1e-10 * limits[LEAST])
    for k in range(len(log.t)):
        # --- d_p = A⁻¹(0, v_𝓔) ---
        noise_of_alpha, noise_of_excess = particular_direction(walk, TAU, limits)
        if noise_of_excess < 0.0:
            return k
        # --- the largest λ below the present λ at which an event happens ---
        scale, room = max(min(abs(now[0].t), limits[SPAN]), limits[LEAST]), (end - now[0].t) * way
        i, step = next_fall(walk, tol * scale, room, noise_of_alpha, noise_of_excess)
        t = now[0].t + step * way if i >= 0 else end
        if room <= enough or (i >= 0 and (end - t) * way <= enough):
            return k
        # --- continue if one example changes its set (none at the end) and the tracker would raise no error ---
        s, violation = expected(walk, i, step, t, noise_of_alpha, noise_of_excess, limits)
        if s == 0.0 or violation > 1e3 * tol:
            return k
        # --- update ŝ, λ, G − b̂, 𝓔, 𝓛, 𝓡 and A⁻¹ ---
        logged(walk, log, k, i, s, step, way, t)
        if i < 0:
            return k + 1
    return len(log.t)
