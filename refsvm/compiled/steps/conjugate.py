"""Twin of `refsvm.ConjugateStep`."""

from __future__ import annotations

from refsvm.compiled.interface.extremes import LARGEST, bits, from_bits
from refsvm.compiled.interface.layout import CONJUGATE, LENGTH_AND_CARRY
from refsvm.compiled.interface.twin import inlined, twin

__all__ = ["conjugate"]


@inlined
def room(alpha, lower, upper, p):  # type: ignore[no-untyped-def]
    """(U − α)/p where p > 0, (L − α)/p where p < 0, else more than any μ; as bits, which compare like numbers ≥ 0."""
    bound = upper if p > 0.0 else lower
    return bits((bound - alpha) / (p if p != 0.0 else 1.0)) if p != 0.0 else LARGEST


@inlined
def longest(state, i, j, sigma, mu, max_support):  # type: ignore[no-untyped-def]
    """Return μ, or less where a variable of p = eᵢ − eⱼ + σΔ meets its bound before; 0 if p moves too many."""
    m = state.now[0].n_support
    delta, alpha, lower, upper = (
        state.moving[0, :m],
        state.moving[1, :m],
        state.moving[2, :m],
        state.moving[3, :m],
    )
    first, second, p = state.places[i], state.places[j], state.scratch[:m]
    for c in range(len(delta)):
        p[c] = sigma * delta[c]
    if first >= 0:
        p[first] += 1.0
    if second >= 0:
        p[second] -= 1.0
    moved = (1 if first < 0 else 0) + (1 if second < 0 else 0)
    outside = 0
    for c in range(len(delta)):  # without branches and divisions: mostly the whole step fits
        after = alpha[c] + mu * p[c]
        moved += 1 if p[c] != 0.0 else 0
        outside += 1 if (after < lower[c]) | (after > upper[c]) else 0
    if moved > max_support:
        return 0.0
    if first < 0:
        outside += 1 if state.alpha[i] + mu > state.upper[i] else 0
    if second < 0:
        outside += 1 if state.alpha[j] - mu < state.lower[j] else 0
    if outside == 0:
        return mu
    least = bits(mu)
    for c in range(len(delta)):
        key = room(alpha[c], lower[c], upper[c], p[c])
        least = key if key < least else least
    if first < 0:
        least = min(least, room(state.alpha[i], state.lower[i], state.upper[i], 1.0))
    if second < 0:
        least = min(least, room(state.alpha[j], state.lower[j], state.upper[j], -1.0))
    return from_bits(least)


@twin(LENGTH_AND_CARRY)
def conjugate(parameters, state, i, j):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.ConjugateStep`."""
    now = state.now[0]
    if now.last_free == 1 and now.carried_curvature > 0.0:
        # σ = −β/q_Δ,  pᵀKp = q − β²/q_Δ
        beta = state.displacement_image[i] - state.displacement_image[j]
        sigma = -beta / now.carried_curvature
        curvature = now.curvature + sigma * beta
        if curvature > CONJUGATE * now.curvature:
            mu = longest(state, i, j, sigma, now.slope / curvature, parameters[0])
            if mu > 0.0:
                return mu, mu * sigma
    # μ* = clip(ℓ/q, lo, hi)
    return min(max(now.slope / now.curvature, now.low), now.high), 0.0
