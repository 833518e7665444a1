"""Compiled twins of `refsvm.core.stopping.midpoint`."""

from __future__ import annotations

import math

from refsvm.compiled.interface.extremes import larger
from refsvm.compiled.interface.twin import called, inlined
from refsvm.core.stopping.midpoint import EXCESS, INDEFINITE

EPSILON = 2.0**-52


@called
def tangent(G, lower, upper, b):  # type: ignore[no-untyped-def]
    """Return P(b) and the slope −Σ_{G > b} U − Σ_{G ≤ b} L of a tangent of P at b."""
    losses = bounds = 0.0
    for t in range(len(G)):
        excess = G[t] - b
        bound = upper[t] if excess > 0.0 else lower[t]
        losses += bound * excess
        bounds += bound
    return losses, -bounds


@called
def largest_of(values):  # type: ignore[no-untyped-def]
    """Return max |value|."""
    largest = 0.0
    for value in values:
        largest = larger(largest, abs(value))
    return largest


@inlined
def rounding_of(state, highest, more, largest, size):  # type: ignore[no-untyped-def]
    """Return (share, size, term) as `refsvm.core.stopping.midpoint.Rounding.of` does; `highest` is max Kⱼⱼ."""
    now = state.now[0]
    share = len(state.alpha) * now.kernel_rounding
    share += EPSILON * (now.updates + now.iteration + more)
    return share, max(largest_of(state.gradient), size), max(now.largest, largest) * math.sqrt(highest)


@inlined
def error_at(rounding, diagonal):  # type: ignore[no-untyped-def]
    """Return a bound on the rounding error of Gᵢ; `diagonal` is Kᵢᵢ."""
    return rounding[0] * (rounding[1] + rounding[2] * math.sqrt(abs(diagonal)))


@called
def largest_moving(state):  # type: ignore[no-untyped-def]
    """Return the largest Kᵢᵢ of the variables that may move."""
    largest = 0.0
    for t in range(len(state.alpha)):
        largest = larger(largest, state.diagonal[t] if state.lower[t] < state.upper[t] else 0.0)
    return largest


@called
def gap(alpha, G, b, lower, upper, error):  # type: ignore[no-untyped-def]
    """Return T(α, G − b) of equation (1), summed from left to right."""
    result = 0.0
    for t in range(len(G)):
        excess = G[t] - b
        above, below = max(excess + error, 0.0), max(error - excess, 0.0)
        result += (upper[t] - alpha[t]) * above + (alpha[t] - lower[t]) * below
    return result


@inlined
def distances(row, diagonal, r, rounding, result):  # type: ignore[no-untyped-def]
    """Write ‖φᵢ − φᵣ‖ for all i to `result`, enlarged by a bound on the rounding errors."""
    for t in range(len(diagonal)):
        # ‖φᵢ − φᵣ‖² = Kᵢᵢ + Kᵣᵣ − 2Kᵣᵢ
        sizes = diagonal[t] + diagonal[r]
        result[t] = math.sqrt(larger(sizes - 2.0 * row[t], 0.0) + rounding * abs(sizes))


@called
def certain_sign(outputs, r, v_r, distance, square, error, state):  # type: ignore[no-untyped-def]
    """Return the sign of h_R(xᵣ) if condition (3) or (4) proves the sign, or 0.

    `outputs` is a pair of arrays (G_w, G). With their mean M = ½(G_w + G), tᵢ is Mᵢ + vᵣ − Mᵣ.
    """
    first, second = outputs
    alpha, lower, upper = state.alpha, state.lower, state.upper
    base, rho = v_r - 0.5 * (first[r] + second[r]), math.sqrt(square * (1.0 + EXCESS))
    up = down = 0
    for t in range(len(alpha)):  # the processor computes several t at once: the order does not matter
        value, reach, half = 0.5 * (first[t] + second[t]) + base, rho * distance[t] + error, 0.5 * distance[t]
        # (tᵢ − ρDᵢ) a > (ρ − ½aDᵢ)₊² with a = Uᵢ − αᵢ
        room = upper[t] - alpha[t]
        over = larger(rho - room * half, 0.0)
        up += 1 if (value - reach) * room > over * over else 0
        # −(tᵢ + ρDᵢ) a > (ρ − ½aDᵢ)₊² with a = αᵢ − Lᵢ
        room = alpha[t] - lower[t]
        over = larger(rho - room * half, 0.0)
        down += 1 if -(value + reach) * room > over * over else 0
    if up + down > 0:
        return 1 if up > 0 else -1
    rising_up = falling_up = rising_down = falling_down = 0.0
    for t in range(len(alpha)):
        value, reach = 0.5 * (first[t] + second[t]) + base, rho * distance[t] + error
        # Σ {Uᵢ : tᵢ − ρDᵢ > 0} > Σ {−Lᵢ : tᵢ − ρDᵢ ≤ 0}
        short = value - reach > 0.0
        rising_up += upper[t] if short else 0.0
        falling_up += 0.0 if short else lower[t]
        # Σ {−Lᵢ : tᵢ + ρDᵢ < 0} > Σ {Uᵢ : tᵢ + ρDᵢ ≥ 0}
        beyond = value + reach < 0.0
        rising_down += 0.0 if beyond else upper[t]
        falling_down += lower[t] if beyond else 0.0
    if rising_up > -falling_up * (1.0 + EXCESS):
        return 1
    return -1 if -falling_down > rising_down * (1.0 + EXCESS) else 0


@called
def sign_at(state, v, r):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.stopping.midpoint.sign_at`; the kernel row of r must be in memory."""
    G, now, highest = state.gradient, state.now[0], largest_of(state.diagonal)
    if now.least_curvature < INDEFINITE * state.diagonal[r]:
        return 0
    b, rounding = (G[now.top] + G[now.bottom]) / 2.0, rounding_of(state, highest, 0.0, 0.0, 0.0)
    error = error_at(rounding, largest_moving(state))
    delta = gap(state.alpha, G, b, state.lower, state.upper, error)
    distances(state.kernel[state.slots[r]], state.diagonal, r, now.kernel_rounding, state.scratch)
    error += error_at(rounding, state.diagonal[r])
    return certain_sign((G, G), r, v[r], state.scratch, delta, error, state)
