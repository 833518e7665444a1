"""Compiled twin of `refsvm.PlanningAheadStep`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.layout import LENGTH, TAU
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.core.steps.planning_ahead import NO_PLAN


@inlined
def plan(state, i, j, h):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.PlanningAheadStep._plan`."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    k, m = state.working_sets[h, 0], state.working_sets[h, 1]
    Q11, Q22 = now.curvature, state.curvatures[h]
    if k < 0 or Q11 <= TAU or Q22 <= TAU:
        return NO_PLAN
    row_i, row_j = state.kernel[state.slots[i]], state.kernel[state.slots[j]]
    w1, w2 = now.slope, state.gradient[k] - state.gradient[m]
    # Q₁₂ = Kᵢₖ − Kᵢₗ − Kⱼₖ + Kⱼₗ,  det = Q₁₁Q₂₂ − Q₁₂²
    Q12 = np.float64(row_i[k]) - row_i[m] - row_j[k] + row_j[m]  # rows may be float32
    det = Q11 * Q22 - Q12 * Q12
    if det <= 1e-10 * (Q11 * Q22):
        return NO_PLAN
    # μ_P = (Q₂₂w₁ − Q₁₂w₂)/det,  μ₂ = (w₂ − Q₁₂μ_P)/Q₂₂
    mu = (Q22 * w1 - Q12 * w2) / det
    rest = w2 - Q12 * mu
    second = rest / Q22
    # both steps must end strictly inside the box; the first step has already moved variables that are in both pairs
    at_k = alpha[k] + (mu if k == i else 0.0) - (mu if k == j else 0.0)
    at_m = alpha[m] + (mu if m == i else 0.0) - (mu if m == j else 0.0)
    low = max(lower[k] - at_k, at_m - upper[m])
    high = min(upper[k] - at_k, at_m - lower[m])
    if not (now.low < mu < now.high and low < second < high):
        return NO_PLAN
    # 2g₂ = μ(2w₁ − μQ₁₁) + (w₂ − Q₁₂μ)²/Q₂₂
    return mu, mu * (2.0 * w1 - mu * Q11) + rest * second


@inlined
def best_plan(history, state, i, j):  # type: ignore[no-untyped-def]
    """Return 2g₂ and μ_P of the best plan, and store the planned pairs as candidates; without a plan, 2g₂ is −1."""
    now = state.now[0]
    best, chosen = -1.0, 0.0
    for h in range(history):
        mu, gain = plan(state, i, j, h)
        if gain > best:
            best, chosen = gain, mu
    if best >= 0.0:
        for h in range(history):
            if state.working_sets[h, 0] >= 0:
                state.candidates[h, 0] = state.working_sets[h, 0]
                state.candidates[h, 1] = state.working_sets[h, 1]
                state.candidate_curvatures[h] = state.curvatures[h]
                now.n_candidates = h + 1
    return best, chosen


@twin(LENGTH)
def planning_ahead(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.PlanningAheadStep`."""
    now = state.now[0]
    if now.last_free == 1 and now.last_planned == 0:
        best, chosen = best_plan(int(parameters[0]), state, i, j)
        if best >= 0.0:
            return chosen
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high)
