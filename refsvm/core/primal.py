"""The primal objective F(α, b) and the b that minimises it, for boxes with finite and infinite bounds.

    F(α, b) = ½ αᵀKα + Σᵢ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz

An infinite bound is a hard margin: in place of a penalty, Uᵢ = ∞ demands h(xᵢ) ≥ vᵢ, and Lᵢ = −∞ demands h(xᵢ) ≤ vᵢ,
where h(xᵢ) = vᵢ − Gᵢ + b is the decision value. A solver meets the demands of hard margins only up to its tolerance.
This module therefore multiplies the weight vector w and b by the smallest t ≥ 1 that meets all demands. F at
(t·w, t·b) is then an upper bound of the dual optimum.
"""

from __future__ import annotations

import math

import numpy as np


def best_intercept(gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the b that minimises Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz, or the middle of all such b.

    The sum is convex and piecewise linear in b, with slope z − Σ_{Gᵢ>b} Uᵢ − Σ_{Gᵢ<b} Lᵢ; as b passes Gᵢ from below,
    the slope grows by Uᵢ − Lᵢ ≥ 0. The function sorts the breakpoints Gᵢ and finds where the slope changes sign. Hard
    margins set a lower and an upper limit for b; if the lower limit exceeds the upper limit, the function returns the
    middle between them.
    """
    if not math.isfinite(np.add.reduce(upper - lower)):
        return _confined_intercept(gradient, z, lower, upper)
    first, final = least_and_greatest(gradient, z, lower, upper)
    return 0.5 * (first + final)


def least_and_greatest(
    gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray
) -> tuple[float, float]:
    """Return the least and the greatest b that minimise Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz, for finite boxes.

    If the interval of optimal b has no lower end, the function returns the least Gᵢ in its place; if the interval has
    no upper end, the greatest Gᵢ.
    """
    order, width = gradient.argsort(kind="stable"), upper - lower
    after = z - np.add.reduce(upper) + width[order].cumsum()  # slope just above each breakpoint
    tolerance = 1e-12 * (np.add.reduce(np.abs(upper)) + np.add.reduce(np.abs(lower)))
    last = len(order) - 1
    first = min(int(after.searchsorted(-tolerance)), last)
    final = min(int(after.searchsorted(tolerance, side="right")), last)
    return float(gradient[order[first]]), float(gradient[order[final]])


def _confined_intercept(gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the best b under the hard margins: Gᵢ ≤ b where Uᵢ = ∞, and b ≤ Gᵢ where Lᵢ = −∞."""
    hard_up, hard_down = np.isinf(upper), np.isinf(lower)
    least = float(gradient[hard_up].max(initial=-np.inf))
    most = float(gradient[hard_down].min(initial=np.inf))
    soft_lower, soft_upper = np.where(hard_down, 0.0, lower), np.where(hard_up, 0.0, upper)
    if least < most and (z != 0.0 or soft_lower.any() or soft_upper.any()):
        return min(max(best_intercept(gradient, z, soft_lower, soft_upper), least), most)
    ends = [end for end in (least, most) if np.isfinite(end)]
    return sum(ends) / len(ends)


def primal_value(
    quadratic: float, v: np.ndarray, excess: np.ndarray, lower: np.ndarray, upper: np.ndarray, bz: float
) -> float:
    """Return F at (t·w, t·b) with the smallest t ≥ 1 that meets all hard margins, or infinity if no t meets them.

    Parameters
    ----------
    quadratic : float
        αᵀKα.
    v, lower, upper : ndarrays of shape (n,)
    excess : ndarray of shape (n,)
        Gᵢ − b = vᵢ − h(xᵢ).
    bz : float
        b·z.
    """
    t = 1.0
    if not math.isfinite(np.add.reduce(upper - lower)):
        hard_up, hard_down = np.isinf(upper), np.isinf(lower)
        t, excess = _stretched(v, excess, hard_up, hard_down)
        if t == math.inf:
            return t
        lower, upper = np.where(hard_down, 0.0, lower), np.where(hard_up, 0.0, upper)
    losses = np.maximum(upper * excess, lower * excess)
    return 0.5 * t * t * quadratic + float(np.add.reduce(losses)) + t * bz


def _stretched(
    v: np.ndarray, excess: np.ndarray, hard_up: np.ndarray, hard_down: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return two values: the smallest t ≥ 1 with which (t·w, t·b) meets all hard margins, or ∞; and v − t·h(x)."""
    value = v - excess
    short = (hard_up & (excess > 0.0)) | (hard_down & (excess < 0.0))
    if not short.any():
        return 1.0, excess
    if not (value[short] * v[short] > 0.0).all():
        return math.inf, excess
    t = float((v[short] / value[short]).max())
    excess = v - t * value
    missed = max(excess[hard_up].max(initial=-np.inf), -(excess[hard_down].min(initial=np.inf)))
    but_for_rounding = missed <= 1e-12 * t * float(np.abs(value).max())
    return t if but_for_rounding else math.inf, excess
