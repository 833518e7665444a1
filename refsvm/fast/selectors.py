"""Twins of the working-set selectors."""

from __future__ import annotations

import numpy as np
from numba import njit

from refsvm.fast.layout import SELECT

__all__ = ["most_violating_pair", "second_order"]

TAU = 1e-12  # refsvm.state.TAU, repeated because a constant of another file would go stale in the disk cache


@njit(SELECT, cache=True)
def most_violating_pair(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.MostViolatingPair`."""
    if state.now[0].gap <= 0.0:
        return -1, -1
    # i = argmax_{I_up} G,  j = argmin_{I_down} G
    return state.now[0].top, state.now[0].bottom


@njit(SELECT, cache=True)
def second_order(parameters, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.SecondOrder`."""
    now, alpha, G, lower, diagonal = state.now[0], state.alpha, state.gradient, state.lower, state.diagonal
    i = now.top
    if now.gap <= 0.0:
        return -1, -1
    if state.slots[i] < 0:
        return i, -1
    row = state.kernel[state.slots[i]]
    # --- the exact gain replaces g̃ after a planned step far from the Newton step ---
    exact = now.last_planned == 1 and abs(now.last_step / now.last_newton - 1.0) > parameters[0]
    # --- j = argmax g̃ over I_down with Gⱼ < Gᵢ ---
    j, best = -1, -np.inf
    rise = state.upper[i] - alpha[i]
    for t in range(len(alpha)):
        slope = G[i] - G[t]
        if alpha[t] > lower[t] and slope > 0.0:
            q = diagonal[i] + diagonal[t] - 2.0 * row[t]
            if not q > 0.0:
                q = TAU
            if exact:
                mu = min(slope / q, min(rise, alpha[t] - lower[t]))
                gain = mu * (2.0 * slope - mu * q)
            else:
                gain = slope * slope / q
            if gain > best:
                j, best = t, gain
    # --- candidates left by the planned step ---
    for c in range(now.n_candidates):
        k, m = state.candidates[c, 0], state.candidates[c, 1]
        if G[k] < G[m]:
            k, m = m, k
        slope = G[k] - G[m]
        room = min(state.upper[k] - alpha[k], alpha[m] - lower[m])
        if slope > 0.0 and room > 0.0:
            q = state.candidate_curvatures[c]
            mu = min(slope / q, room)
            gain = mu * (2.0 * slope - mu * q) if exact else slope * slope / q
            if gain > best:
                i, j, best = k, m, gain
    return i, j
