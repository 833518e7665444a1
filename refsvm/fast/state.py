"""Twins of `refsvm.state.SolverState`: what a step does to α, G and the history."""

from __future__ import annotations

import numpy as np

from refsvm.fast.extremes import LARGEST, TILE, sortable_bits
from refsvm.fast.layout import FALLS, RISES, TAU
from refsvm.fast.twin import inlined, merged

__all__ = ["measure", "move", "moved", "side"]


@merged
def measure(state, i, j):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.measure`."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    # ℓ = Gᵢ − Gⱼ
    now.slope = state.gradient[i] - state.gradient[j]
    # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
    raw = state.diagonal[i] + state.diagonal[j] - 2.0 * state.kernel[state.slots[i], j]
    now.raw_curvature = raw
    now.least_curvature = min(now.least_curvature, raw)
    now.curvature = raw if raw > 0.0 else TAU
    # lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ),  hi = min(Uᵢ − αᵢ, αⱼ − Lⱼ)
    now.low = max(lower[i] - alpha[i], alpha[j] - upper[j])
    now.high = min(upper[i] - alpha[i], alpha[j] - lower[j])


@inlined
def moved(value, change, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.moved`."""
    if change >= upper - value:
        return upper
    if change <= lower - value:
        return lower
    return min(max(value + change, lower), upper)


@inlined
def side(value, lower, upper):  # type: ignore[no-untyped-def]
    """RISES where α < U plus FALLS where α > L: what a step reads of a variable instead of α, L and U."""
    return np.int8((RISES if value < upper else 0) + (FALLS if value > lower else 0))


@inlined
def first_on(side, key, state, start, stop):  # type: ignore[no-untyped-def]
    """Return the lowest index from `start` on that is on this side and whose gradient has these bits."""
    G, sides = state.gradient[start:stop], state.sides[start:stop]
    place = len(G)
    for t in range(len(G)):
        found = (sortable_bits(G[t]) == key) & ((sides[t] & side) != 0)
        place = min(place, t if found else len(G))
    return start + place


@inlined
def update_gradient(state, i, j, mu):  # type: ignore[no-untyped-def]
    """G −= μ (K[i] − K[j]), and its extremes over I_up and I_down: twin of `refsvm.problem.most_violating_pair`."""
    now = state.now[0]
    top = bottom = -1
    highest, lowest = -LARGEST, LARGEST
    # a tile at a time: where an extreme stands is looked up in its tile alone, lowest index first
    for start in range(0, len(state.gradient), TILE):
        stop = min(start + TILE, len(state.gradient))
        G, sides = state.gradient[start:stop], state.sides[start:stop]
        row_i, row_j = state.kernel[state.slots[i], start:stop], state.kernel[state.slots[j], start:stop]
        high, low = -LARGEST, LARGEST
        for t in range(len(G)):
            g = G[t] - mu * (np.float64(row_i[t]) - row_j[t])  # rows may be float32
            G[t] = g
            key = sortable_bits(g)
            rising = key if (sides[t] & RISES) != 0 else -LARGEST
            falling = key if (sides[t] & FALLS) != 0 else LARGEST
            high = rising if rising > high else high
            low = falling if falling < low else low
        if high > highest:
            highest, top = high, first_on(RISES, high, state, start, stop)
        if low < lowest:
            lowest, bottom = low, first_on(FALLS, low, state, start, stop)
    now.top, now.bottom = top, bottom
    now.gap = state.gradient[top] - state.gradient[bottom] if min(top, bottom) >= 0 else -np.inf


@merged
def remember(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Push the finished step onto the history."""
    now = state.now[0]
    now.last_step, now.last_newton = mu, now.slope / now.curvature
    now.last_free = 1 if now.low < mu < now.high else 0
    now.last_planned = 1 if now.n_candidates > 0 else 0
    for h in range(len(state.curvatures) - 1, 0, -1):
        state.working_sets[h, 0] = state.working_sets[h - 1, 0]
        state.working_sets[h, 1] = state.working_sets[h - 1, 1]
        state.curvatures[h] = state.curvatures[h - 1]
    state.working_sets[0, 0], state.working_sets[0, 1] = i, j
    state.curvatures[0] = now.curvature
    now.iteration += 1


@merged
def move(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.move`, with the most violating pair tracked in the same pass."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    before_i, before_j = alpha[i], alpha[j]
    # αᵢ += μ,  αⱼ −= μ; a variable that reaches its bound is set to it exactly
    alpha[i] = moved(before_i, mu, lower[i], upper[i])
    alpha[j] = moved(before_j, -mu, lower[j], upper[j])
    state.sides[i] = side(alpha[i], lower[i], upper[i])
    state.sides[j] = side(alpha[j], lower[j], upper[j])
    now.largest = max(now.largest, max(abs(alpha[i]), abs(alpha[j])))
    now.stalled = now.stalled + 1 if alpha[i] == before_i and alpha[j] == before_j else 0
    # G −= μ (K[i] − K[j])
    update_gradient(state, i, j, mu)
    # f += μℓ − ½μ²q
    now.objective += mu * now.slope - 0.5 * mu * mu * now.raw_curvature
    remember(state, i, j, mu)
