"""A step rule that carries the last displacement, for tests: conjugate where that stays inside the box, else Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from refsvm import StepRule

from ..settings import NUMBA


@dataclass(frozen=True)
class Conjugate(StepRule):
    """(μ, κ) along eᵢ − eⱼ − (β/δ)Δ, with β = (KΔ)ᵢ − (KΔ)ⱼ and δ = ΔᵀKΔ; κ = 0 where a bound is in the way."""

    uses_momentum: ClassVar[bool] = True

    def length(self, state, i, j):
        plain = min(max(state.slope / state.curvature, state.low), state.high)
        delta = state.carried_curvature
        if delta <= 0.0 or abs(state.carried_slope) > 1e-9 * delta:
            return plain, 0.0
        beta = float(state.displacement_image[i] - state.displacement_image[j])
        curvature = state.raw_curvature - beta * beta / delta
        if curvature <= 1e-9 * state.curvature:
            return plain, 0.0
        mu = state.slope / curvature
        kappa = -mu * (beta / delta)
        change = kappa * state.displacement
        change[i] += mu
        change[j] -= mu
        after = state.alpha + change
        moving = change != 0.0
        inside = (after > state.lower) & (after < state.upper)
        return (mu, kappa) if inside[moving].all() else (plain, 0.0)

    def twin(self):
        return conjugate if NUMBA else None


if NUMBA:
    from refsvm.compiled.interface.layout import LENGTH_AND_CARRY
    from refsvm.compiled.interface.twin import twin
    from refsvm.compiled.state import displacement_of

    @twin(LENGTH_AND_CARRY)
    def conjugate(parameters, state, i, j):
        now = state.now[0]
        plain = min(max(now.slope / now.curvature, now.low), now.high)
        delta = now.carried_curvature
        if delta <= 0.0 or abs(now.carried_slope) > 1e-9 * delta:
            return plain, 0.0
        beta = state.displacement_image[i] - state.displacement_image[j]
        curvature = now.raw_curvature - beta * beta / delta
        if curvature <= 1e-9 * now.curvature:
            return plain, 0.0
        mu = now.slope / curvature
        kappa = -mu * (beta / delta)
        for t in range(len(state.alpha)):
            change = kappa * displacement_of(state, t)
            change += mu if t == i else 0.0
            change -= mu if t == j else 0.0
            after = state.alpha[t] + change
            if change != 0.0 and not (after > state.lower[t] and after < state.upper[t]):
                return plain, 0.0
        return mu, kappa
