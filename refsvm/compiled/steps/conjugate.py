"""Compiled twin of `refsvm.ConjugateStep`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.layout import CONJUGATE, LENGTH_AND_CARRY
from refsvm.compiled.interface.twin import inlined, twin
from refsvm.compiled.state import displacement_of, filled_up


@inlined
def room(alpha, lower, upper, p):  # type: ignore[no-untyped-def]
    """Return (U − α)/p if p > 0, (L − α)/p if p < 0, and otherwise a number larger than any μ."""
    bound = upper if p > 0.0 else lower
    return (bound - alpha) / p if p != 0.0 else np.inf


@inlined
def step_with_momentum(state, i, j, mu, kappa):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ConjugateStep._step_with_momentum`."""
    now = state.now[0]
    slope = now.slope - kappa * (state.displacement_image[i] - state.displacement_image[j])
    # Uᵢ − (αᵢ + κΔᵢ),  αⱼ + κΔⱼ − Lⱼ
    rise = state.upper[i] - (state.alpha[i] + kappa * displacement_of(state, i))
    fall = state.alpha[j] + kappa * displacement_of(state, j) - state.lower[j]
    # μ = (ℓ − κβ)/q
    return max(mu, min(slope / now.curvature, min(rise, fall))), kappa


@inlined
def inside(state, i, j, sigma, mu, max_support):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ConjugateStep._inside`."""
    count = state.now[0].n_support
    m = filled_up(count)
    delta, alpha, lower, upper = (
        state.moving[0, :m],
        state.moving[1, :m],
        state.moving[2, :m],
        state.moving[3, :m],
    )
    first, second = state.places[i], state.places[j]
    moved = (1 if first < 0 else 0) + (1 if second < 0 else 0)
    outside = 0
    # test with a fast loop, without branches or divisions, whether the whole step stays in the box, as it usually does
    for c in range(len(delta)):
        p = sigma * delta[c] + (1.0 if c == first else 0.0) - (1.0 if c == second else 0.0)
        after = alpha[c] + mu * p
        moved += 1 if p != 0.0 else 0
        outside += 1 if (after < lower[c]) | (after > upper[c]) else 0
    if moved > max_support:
        return 0.0, 0.0
    if first < 0:
        outside += 1 if state.alpha[i] + mu > state.upper[i] else 0
    if second < 0:
        outside += 1 if state.alpha[j] - mu < state.lower[j] else 0
    if outside == 0:
        return mu, mu * sigma
    p_i = 1.0 if first < 0 else sigma * delta[first] + 1.0
    p_j = -1.0 if second < 0 else sigma * delta[second] - 1.0
    of_pair = min(mu, room(state.alpha[i], state.lower[i], state.upper[i], p_i))
    of_pair = min(of_pair, room(state.alpha[j], state.lower[j], state.upper[j], p_j))
    of_others = np.inf
    for c in range(count):
        most = room(alpha[c], lower[c], upper[c], sigma * delta[c])
        of_others = most if (most < of_others) & (c != first) & (c != second) else of_others
    if of_pair <= of_others:
        return of_pair, of_pair * sigma
    return step_with_momentum(state, i, j, of_others, of_others * sigma)


@twin(LENGTH_AND_CARRY)
def conjugate(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ConjugateStep`."""
    now = state.now[0]
    if now.last_free == 1 and now.carried_curvature > 0.0:
        # σ = −β/q_Δ,  pᵀKp = q − β²/q_Δ
        beta = state.displacement_image[i] - state.displacement_image[j]
        sigma = -beta / now.carried_curvature
        curvature = now.curvature + sigma * beta
        if curvature > CONJUGATE * now.curvature:
            mu, kappa = inside(state, i, j, sigma, now.slope / curvature, parameters[0])
            if mu > 0.0:
                return mu, kappa
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high), 0.0
