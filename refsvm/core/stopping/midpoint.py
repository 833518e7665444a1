"""Proofs of the sign of h at a left-out example: a ball that contains the optimum without this example, and two tests.

P and D are the primal and the dual objective without the examples R, (w_R, b_R) is an optimum of P, α̃ is any feasible
point of D with weight vector w̃, and (w, b) is any model. Let eᵢ = vᵢ − w·φᵢ − b, which is Gᵢ − b for w = Σ αⱼφⱼ, and

    T(α̃, e)  =  Σ (Uᵢ − α̃ᵢ)(eᵢ)₊ + (α̃ᵢ − Lᵢ)(−eᵢ)₊                    a sum of terms that are never negative   (1).

Since Σ α̃ᵢ = z, P(w, b) − D(α̃) = ½‖w − w̃‖² + T(α̃, e) for every (w, b). Since ½‖w‖² is 1-strongly convex, P(w, b) ≥
P(w_R, b_R) + ½‖w − w_R‖². This inequality, the equation at (w, b) and at (w_R, b_R), and the parallelogram law give

    ‖½(w + w̃) − w_R‖² + T(α̃, e_R)  ≤  ¼‖w − w̃‖² + T(α̃, e)  =:  ρ²                                          (2).

For w = w̃ the right side is δ, the duality gap at b. ρ² is computed as a sum, because the difference of two objectives
would lose ten digits. w and w̃ need not be optimal, and b may be any number.

For a left-out example r with Dᵢ = ‖φᵢ − φᵣ‖ let tᵢ = vᵢ − ½(w + w̃)·(φᵢ − φᵣ) and τᵢ = vᵢ − w_R·(φᵢ − φᵣ). Then
|τᵢ − tᵢ| ≤ ρDᵢ, and h_R(xᵣ) is a minimiser ζ of Σ max(Uᵢ(τᵢ − ζ), Lᵢ(τᵢ − ζ)). All minimisers are positive

    if   Σ { Uᵢ : tᵢ − ρDᵢ > 0 }  >  Σ { −Lᵢ : tᵢ − ρDᵢ ≤ 0 }               the sum still falls at ζ = 0           (3)
    or   tᵢ  >  ρDᵢ + (ρ − ½aDᵢ)₊² / a   for one i with a = Uᵢ − α̃ᵢ > 0                                          (4)

Test (4) holds because eᵢ = τᵢ − ζ at the optimum. For x = ‖½(w + w̃) − w_R‖, (2) leaves a(τᵢ − ζ)₊ ≤ ρ² − x², so that ζ
≥ tᵢ − xDᵢ − (ρ² − x²)/a. The right side is least at x = min(ρ, ½aDᵢ). Mirrored tests prove h_R(xᵣ) < 0. No proof needs
a unique b or a free variable. If several b are optimal and give h_R(xᵣ) both signs, neither test ever holds.

The proofs need a positive semi-definite K, a finite box and kernel rows in float64. `Rounding` bounds the rounding
errors of G.

As far as we know, test (4) is new, and so is the ball around the midpoint for any kernel and a free intercept. Related
work: S. Okumura, Y. Suzuki and I. Takeuchi, "Quick sensitivity analysis for incremental data modification and its
application to leave-one-out CV in linear classification problems", KDD 2015, and H. Hanada et al., "Generalized
low-rank update", Neural Computation 35, 2023, use balls around one known solution; E. Ndiaye et al., "Gap safe
screening rules", JMLR 18, 2017.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from refsvm.core.problem import EPSILON, total

if TYPE_CHECKING:
    from refsvm.core.state import SolverState

EXCESS: Final = 1e-10
"""Relative margin for rounding of sums: one side of (3) must exceed the other by it, and ρ² grows by it."""

INDEFINITE: Final = -1e-8
"""K counts as indefinite if the least curvature of a step, relative to Kᵣᵣ, was below this number."""


class Rounding(NamedTuple):
    """A bound of the rounding error of G = v − Kα.

    G is a sum of terms αⱼKᵢⱼ, none of which exceeds max |αⱼ| √(Kᵢᵢ max Kⱼⱼ). A step updates G once; moving to another α
    updates G once for each changed variable. An update rounds a term and a partial sum. Computing G from scratch rounds
    n terms and their kernel values. The bound allows sixteen roundings for each term; these include the error of Σα.

    Attributes
    ----------
    share : float
        Relative rounding error of a term, times the number of terms.
    size : float
        Scale of the sums, max |G|.
    term : float
        Scale of the terms, max |αⱼ| √(max Kⱼⱼ).
    """

    share: float
    size: float
    term: float

    @classmethod
    def of(cls, state: SolverState, more: float = 0.0, largest: float = 0.0, size: float = 0.0) -> Rounding:
        """Return the bound for the G of a state.

        The bound also covers a point with max |α| = `largest` and max |G| = `size`, whose G was updated `more` times.
        """
        share = len(state.alpha) * state.kernel_rounding
        share += EPSILON * (state.updates + state.iteration + more)
        term = max(state.largest, largest) * math.sqrt(state.largest_diagonal)
        return cls(share, max(float(np.abs(state.gradient).max()), size), term)

    def at(self, diagonal: Any) -> Any:
        """Return a bound of the error of Gᵢ, for one Kᵢᵢ or for an array of Kᵢᵢ."""
        return self.share * (self.size + self.term * np.sqrt(np.abs(diagonal)))


def tangent(G: np.ndarray, lower: np.ndarray, upper: np.ndarray, b: float) -> tuple[float, float]:
    """Return P(b) and a slope of P at b, −Σ_{G > b} U − Σ_{G ≤ b} L."""
    excess = G - b
    bound = np.where(excess > 0.0, upper, lower)
    return total(bound * excess), -total(bound)


def gap(alpha: np.ndarray, excess: np.ndarray, lower: np.ndarray, upper: np.ndarray, error: Any) -> float:
    """Return T(α, e) of (1), or an upper bound if eᵢ has an `error`; if e = G − b at this α, T is the duality gap.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.stopping.midpoint import gap
    >>> alpha, lower, upper = np.array([0.25, -0.25]), np.array([0.0, -1.0]), np.array([1.0, 0.0])
    >>> gap(alpha, np.array([0.5, 0.5]), lower, upper, 0.0)
    0.5
    """
    # (Uᵢ − αᵢ)(eᵢ)₊ + (αᵢ − Lᵢ)(−eᵢ)₊
    above, below = np.maximum(excess + error, 0.0), np.maximum(error - excess, 0.0)
    return total((upper - alpha) * above + (alpha - lower) * below)


def distances(row: np.ndarray, diagonal: np.ndarray, own: float, rounding: float) -> np.ndarray:
    """Return ‖φᵢ − φᵣ‖ for all i, shape (n,), from Kᵣᵢ, all Kᵢᵢ and Kᵣᵣ, enlarged by their rounding errors."""
    # ‖φᵢ − φᵣ‖² = Kᵢᵢ + Kᵣᵣ − 2Kᵣᵢ
    sizes = diagonal + own
    squared: np.ndarray = sizes - 2.0 * row
    return np.sqrt(np.maximum(squared, 0.0) + rounding * np.abs(sizes))


def certain_sign(
    t: np.ndarray, distance: np.ndarray, square: float, error: float,
    alpha: np.ndarray, lower: np.ndarray, upper: np.ndarray,
) -> int:  # fmt: skip
    """Return the sign of h_R(xᵣ) if condition (3) or (4) proves the sign, or 0.

    Parameters
    ----------
    t, distance : ndarrays of shape (n,), float64
        tᵢ and Dᵢ.
    square, error : float
        ρ², and the error of the tᵢ.
    alpha, lower, upper : ndarrays of shape (n,), float64
        α̃, and the box of the problem without R, with L = U = 0 for the examples in R.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.stopping.midpoint import certain_sign
    >>> lower, upper = np.array([0.0, 0.0, -1.0]), np.array([1.0, 1.0, 0.0])
    >>> t, apart, alpha = np.array([3.0, 0.5, 2.0]), np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.0, -1.0])
    >>> [certain_sign(t, apart, square, 0.0, alpha, lower, upper) for square in (0.01, 16.0)]
    [1, 0]
    """
    rho = math.sqrt(square * (1.0 + EXCESS))
    reach, half = rho * distance + error, 0.5 * distance
    # Σ {Uᵢ : tᵢ − ρDᵢ > 0} > Σ {−Lᵢ : tᵢ − ρDᵢ ≤ 0}
    short = t - reach
    rising = total(np.where(short > 0.0, upper, 0.0))
    falling = -total(np.where(short > 0.0, 0.0, lower))
    # (tᵢ − ρDᵢ) a > (ρ − ½aDᵢ)₊² with a = Uᵢ − αᵢ
    room = upper - alpha
    if rising > falling * (1.0 + EXCESS) or (short * room > np.maximum(rho - room * half, 0.0) ** 2).any():
        return 1
    # Σ {−Lᵢ : tᵢ + ρDᵢ < 0} > Σ {Uᵢ : tᵢ + ρDᵢ ≥ 0}
    beyond = t + reach
    rising = total(np.where(beyond < 0.0, 0.0, upper))
    falling = -total(np.where(beyond < 0.0, lower, 0.0))
    # −(tᵢ + ρDᵢ) a > (ρ − ½aDᵢ)₊² with a = αᵢ − Lᵢ
    room = alpha - lower
    if falling > rising * (1.0 + EXCESS) or (-beyond * room > np.maximum(rho - room * half, 0.0) ** 2).any():
        return -1
    return 0


def sign_at(state: SolverState, r: int) -> int:
    """Return the sign of h_R(xᵣ) at the left-out example r if the duality gap of the present α proves it, or 0."""
    alpha, G, lower, upper, diagonal = state.alpha, state.gradient, state.lower, state.upper, state.diagonal
    if state.least_curvature < INDEFINITE * float(diagonal[r]):
        return 0
    b, rounding = state.problem.midway(G, state.top, state.bottom), Rounding.of(state)
    error = rounding.at(diagonal.max(initial=0.0, where=lower < upper))
    delta = gap(alpha, G - b, lower, upper, error)
    # tᵢ = Gᵢ + fᵣ
    t, apart = G + (state.v[r] - G[r]), distances(state.row(r), diagonal, diagonal[r], state.kernel_rounding)
    return certain_sign(t, apart, delta, error + rounding.at(diagonal[r]), alpha, lower, upper)


def ends_elsewhere(
    alpha: np.ndarray, gradient: np.ndarray, lower: np.ndarray, upper: np.ndarray, delta: float, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return, for each variable, low and high: at any x, low − r ≤ h*(x) − (Kα)(x) ≤ high + r with r = √(δ k(x, x)).

    The bounds follow from (4) with Dᵢ ≤ √Kᵢᵢ + √k(x, x), which needs no kernel row. If x is a left-out example, do not
    use the low and high of its own variable.

    Parameters
    ----------
    alpha, gradient, lower, upper : ndarrays of shape (n,), float64
    delta : float
        The duality gap.
    sizes : ndarray of shape (n,), float64
        √Kᵢᵢ.

    Returns
    -------
    low, high : ndarrays of shape (n,), float64
        Infinite for a variable that gives no bound.
    """
    rho = math.sqrt(delta * (1.0 + EXCESS))
    ends = []
    for room, side in ((upper - alpha, -1.0), (alpha - lower, 1.0)):
        over = np.maximum(rho - 0.5 * room * sizes, 0.0) ** 2
        more = np.divide(over, room, np.full(len(over), np.inf), where=room > 0.0)
        ends.append(gradient + side * (rho * sizes + more))
    return ends[0], ends[1]
