"""The primal side of the dual problem: the best b, and F(α, b), also where the box is open.

    F(α, b) = ½ αᵀKα + Σᵢ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz

Uᵢ = ∞ or Lᵢ = −∞ is a hard margin: in place of a penalty it demands h(xᵢ) ≥ vᵢ, or h(xᵢ) ≤ vᵢ, of the decision value
h(xᵢ) = vᵢ − Gᵢ + b. A solver gets there up to its tolerance only; the nearest point that keeps every hard margin is
then a slightly longer one, (t·w, t·b) with t > 1, and F is given there. It bounds the dual as it should.
"""

from __future__ import annotations

import math

import numpy as np


def best_intercept(gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the b minimising Σ max(Uᵢ(Gᵢ − b), Lᵢ(Gᵢ − b)) + bz; the middle one if a whole interval does.

    Convex and piecewise linear in b, with slope z − Σ_{Gᵢ>b} Uᵢ − Σ_{Gᵢ<b} Lᵢ: sort the breakpoints Gᵢ and find where
    the slope changes sign. Passing Gᵢ from below adds Uᵢ − Lᵢ ≥ 0. Hard margins confine b to an interval, or to its
    middle where they contradict each other.
    """
    if not math.isfinite(np.add.reduce(upper - lower)):
        return _confined_intercept(gradient, z, lower, upper)
    first, final = least_and_greatest(gradient, z, lower, upper)
    return 0.5 * (first + final)


def least_and_greatest(
    gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray
) -> tuple[float, float]:
    """Return the ends of the interval of `best_intercept` for finite boxes, or those of G if it has none."""
    order, width = gradient.argsort(kind="stable"), upper - lower
    after = z - np.add.reduce(upper) + width[order].cumsum()  # slope just above each breakpoint
    tolerance = 1e-12 * (np.add.reduce(np.abs(upper)) + np.add.reduce(np.abs(lower)))
    last = len(order) - 1
    first = min(int(after.searchsorted(-tolerance)), last)
    final = min(int(after.searchsorted(tolerance, side="right")), last)
    return float(gradient[order[first]]), float(gradient[order[final]])


def gap_at(
    alpha: np.ndarray, excess: np.ndarray, lower: np.ndarray, upper: np.ndarray, error: np.ndarray
) -> float:
    """Return F(α, b) − f(α) = Σ (Uᵢ − αᵢ)(Gᵢ − b)₊ + (αᵢ − Lᵢ)(b − Gᵢ)₊, no smaller if Gᵢ is off by this error.

    Each term is at least 0, where F − f would lose ten digits.
    """
    above, below = np.maximum(excess + error, 0.0), np.maximum(error - excess, 0.0)
    return float(np.add.reduce((upper - alpha) * above + (alpha - lower) * below))


def best_intercepts(gradients: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return `best_intercept` of many problems with z = 0 and finite boxes, one a row; shape (P,)."""
    order = gradients.argsort(axis=1, kind="stable")
    width = np.take_along_axis(upper - lower, order, axis=1)
    after = width.cumsum(axis=1) - upper.sum(axis=1, keepdims=True)
    tolerance = 1e-12 * (np.abs(upper).sum(axis=1) + np.abs(lower).sum(axis=1))[:, None]
    last = gradients.shape[1] - 1
    places = (np.minimum(each.sum(axis=1), last) for each in (after < -tolerance, after <= tolerance))
    rows = np.arange(len(order))
    ends = [gradients[rows, order[rows, place]] for place in places]
    return np.asarray(0.5 * (ends[0] + ends[1]))


def _confined_intercept(gradient: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray) -> float:
    """Return the best b of hard margins: Gᵢ ≤ b where Uᵢ = ∞, b ≤ Gᵢ where Lᵢ = −∞."""
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
    """F(α, b), at (t·w, t·b) with the smallest t ≥ 1 that keeps every hard margin; infinite if none does.

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
    """Return the smallest t ≥ 1 with which (t·w, t·b) keeps all hard margins, infinite if none does, and the excess."""
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
