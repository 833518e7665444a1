"""Twins of `refsvm.core.stopping.midpoint`."""

from __future__ import annotations

import math

from refsvm.compiled.interface.twin import called, inlined
from refsvm.core.stopping.midpoint import EXCESS, ROUNDING


@called
def tangent(G, lower, upper, b):  # type: ignore[no-untyped-def]
    """P(b) and a slope of P there, −Σ_{G > b} U − Σ_{G ≤ b} L."""
    losses = bounds = 0.0
    for t in range(len(G)):
        excess = G[t] - b
        bound = upper[t] if excess > 0.0 else lower[t]
        losses += bound * excess
        bounds += bound
    return losses, -bounds


@inlined
def radius(primal, dual, separation):  # type: ignore[no-untyped-def]
    """Return ρ of (3)."""
    # ρ² = P(w) − D(α̃) − ¼‖w − w̃‖²
    return math.sqrt(max(primal - dual - 0.25 * separation, 0.0) + ROUNDING * (abs(primal) + abs(dual)))


@inlined
def distances(row, diagonal, r, result):  # type: ignore[no-untyped-def]
    """Write ‖φᵢ − φᵣ‖ for all i."""
    for t in range(len(diagonal)):
        # ‖φᵢ − φᵣ‖² = Kᵢᵢ + Kᵣᵣ − 2Kᵣᵢ
        result[t] = math.sqrt(max(diagonal[t] + diagonal[r] - 2.0 * row[t], 0.0))


@called
def certain_sign(outputs, distance, rho, r, v, lower, upper):  # type: ignore[no-untyped-def]
    """Return the sign of h_R(xᵣ) where (4) proves it, else 0.

    `outputs` is a pair of arrays (G_w, G): the centre is ½((v − G_w) + (v − G)) less its value at r.
    """
    first, second = outputs
    here = 0.5 * ((v[r] - first[r]) + (v[r] - second[r]))
    rising_up = falling_up = rising_down = falling_down = 0.0
    for t in range(len(v)):
        centre, reach = 0.5 * ((v[t] - first[t]) + (v[t] - second[t])) - here, rho * distance[t]
        # Σ {Uᵢ : c⁺ᵢ < vᵢ} > Σ {−Lᵢ : c⁺ᵢ ≥ vᵢ}
        short = centre + reach < v[t]
        rising_up += upper[t] if short else 0.0
        falling_up += 0.0 if short else lower[t]
        # Σ {−Lᵢ : c⁻ᵢ > vᵢ} > Σ {Uᵢ : c⁻ᵢ ≤ vᵢ}
        beyond = centre - reach > v[t]
        rising_down += 0.0 if beyond else upper[t]
        falling_down += lower[t] if beyond else 0.0
    if rising_up > -falling_up * (1.0 + EXCESS):
        return 1
    return -1 if -falling_down > rising_down * (1.0 + EXCESS) else 0
