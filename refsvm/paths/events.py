"""Event search: how far λ can fall until an example changes its set, and the step to that point.

These functions have compiled twins in `refsvm.fast.paths` that give the same result bit for bit. "Fall" t is −δλ of the
paper: λ falls from λᵗ to λᵗ − t, ŝ moves by −t d and g by t p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["PathArrays", "advance", "elbow_fall", "outside_fall", "rates", "violation"]


class PathArrays(NamedTuple):
    """The arrays of a `PathState`, as the twins take them; see there."""

    K: np.ndarray
    v: np.ndarray
    sign: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scaled: np.ndarray
    slack: np.ndarray
    rates: np.ndarray
    side: np.ndarray
    elbow: np.ndarray
    hits: np.ndarray


def rates(arrays: PathArrays, m: int, d: np.ndarray, d_intercept: float, target: float) -> None:
    """Write pᵢ = yᵢ(Σⱼ dⱼKⱼᵢ + d₀ − target·vᵢ) for all i, eq. (35): gᵢ rises by pᵢ as λ falls by 1.

    With target 1, d = d_p; with target 0 the change of −g along a correction of ŝ at constant λ.
    """
    total = d_intercept - target * arrays.v
    for j in range(m):
        total += d[j] * arrays.K[arrays.elbow[j]]
    np.multiply(arrays.sign, total, out=arrays.rates)


def elbow_fall(arrays: PathArrays, m: int, d: np.ndarray, noise: float) -> float:
    """Return the largest t with low ≤ ŝ − t d ≤ high on the elbow, eq. (48); |dⱼ| up to `noise` counts as zero."""
    elbow = arrays.elbow[:m]
    scaled = arrays.scaled[elbow]
    falling, rising = d > noise, d < -noise
    to_low = (scaled - arrays.low[elbow])[falling] / d[falling]
    to_high = (arrays.high[elbow] - scaled)[rising] / -d[rising]
    return float(min(to_low.min(initial=np.inf), to_high.min(initial=np.inf)))


def outside_fall(arrays: PathArrays, noise: float) -> float:
    """Return the largest t with g + t p ≤ 0 on 𝓡 and ≥ 0 on 𝓛, eq. (49); |pᵢ| up to `noise` counts as zero."""
    slack, p = arrays.slack, arrays.rates
    right = (arrays.side < 0) & (p > noise)
    left = (arrays.side > 0) & (p < -noise)
    to_elbow = np.append(np.maximum(-slack[right], 0.0) / p[right], np.maximum(slack[left], 0.0) / -p[left])
    return float(to_elbow.min(initial=np.inf))


def advance(
    arrays: PathArrays, m: int, d: np.ndarray, t: float, noise: tuple[float, float], tie: tuple[float, float]
) -> int:
    """Let λ fall by t: ŝ −= t d, g += t p, and g = 0 on the elbow; eq. (37)–(39).

    Returns
    -------
    int
        How many examples have reached the end of their set, eq. (40)–(43): at most ``tie[0]`` times the width of the
        box from a bound, or ``tie[1]`` from g = 0, and moving towards it. ``arrays.hits`` names them.
    """
    elbow = arrays.elbow[:m]
    low, high = arrays.low[elbow], arrays.high[elbow]
    scaled = np.minimum(np.maximum(arrays.scaled[elbow] - t * d, low), high)  # (38)
    arrays.scaled[elbow] = scaled
    near = tie[0] * (high - low)
    at_bound = ((d > noise[0]) & (scaled - low <= near)) | ((d < -noise[0]) & (high - scaled <= near))
    slack, p, side = arrays.slack, arrays.rates, arrays.side
    slack += t * p
    slack[elbow] = 0.0
    reached = ((side < 0) & (p > noise[1]) & (slack >= -tie[1])) | (
        (side > 0) & (p < -noise[1]) & (slack <= tie[1])
    )
    hits = np.append(elbow[at_bound], np.flatnonzero(reached))
    arrays.hits[: len(hits)] = hits
    return len(hits)


def violation(arrays: PathArrays) -> float:
    """Return the largest violation of g ≤ 0 on 𝓡, g = 0 on 𝓔, g ≥ 0 on 𝓛, eq. (56)."""
    slack, side = arrays.slack, arrays.side
    worst = np.where(side < 0, slack, np.where(side > 0, -slack, np.abs(slack)))
    return float(max(worst.max(initial=0.0), 0.0))
