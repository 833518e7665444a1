"""A ball that holds the machine w_R of a problem without some examples R, and what it says about a sign.

P is the primal objective of the problem without R at its best b, D the dual one, w̃ the machine of a feasible α̃:

    P(w)  ≥  P* + ½‖w − w_R‖²          ½‖w‖² is 1-strongly convex, and the losses at the best b are convex in w     (1)
    D(α̃)  ≤  D* − ½‖w̃ − w_R‖²          ∇D(α*)ᵀ(α̃ − α*) ≤ 0 at the optimum, and ∇²D = −K                         (2)
    ‖w − w_R‖² + ‖w̃ − w_R‖²  =  2‖½(w + w̃) − w_R‖² + ½‖w − w̃‖²                                     (parallelogram)

P* = D*. Half of (1) − (2), with the parallelogram, for any w and any feasible α̃:

    ‖½(w + w̃) − w_R‖²  ≤  P(w) − D(α̃) − ¼‖w − w̃‖²  =: ρ²                                                      (3)

Nothing is optimal here, and b does not appear. For a left-out example r write cᵢ = w_R·(φᵢ − φᵣ). Then h_R(xᵣ) is a
minimiser ζ of Σ max(Uᵢ(vᵢ − cᵢ − ζ), Lᵢ(vᵢ − cᵢ − ζ)). All minimisers are positive where the right derivative at ζ = 0
is negative. By (3) no cᵢ exceeds c⁺ᵢ = ½(w + w̃)·(φᵢ − φᵣ) + ρ‖φᵢ − φᵣ‖, and larger cᵢ only raise that derivative:

    Σ { Uᵢ : c⁺ᵢ < vᵢ }  >  Σ { −Lᵢ : c⁺ᵢ ≥ vᵢ }     proves h_R(xᵣ) > 0, whether b is unique or not                  (4)

and the same from the other side proves h_R(xᵣ) < 0. All of it needs K positive semi-definite.

The midpoint of two machines, any kernel, and the offset are ours as far as we know. Near to it: S. Okumura, Y. Suzuki
and I. Takeuchi, "Quick sensitivity analysis for incremental data modification and its application to leave-one-out CV
in linear classification problems", KDD 2015, and H. Hanada et al., "Generalized low-rank update", Neural Computation
35, 2023: balls around one known solution; E. Ndiaye et al., "Gap safe screening rules", JMLR 18, 2017.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from refsvm.core.problem import total

ROUNDING: Final = 1e-10
"""Rounding error of ρ², relative to P and D."""

EXCESS: Final = 1e-10
"""By how much one side of (4) has to exceed the other, relatively."""

INDEFINITE: Final = -1e-8
"""Least curvature met, relative to Kᵣᵣ, from which on K counts as positive semi-definite."""


def tangent(G: np.ndarray, lower: np.ndarray, upper: np.ndarray, b: float) -> tuple[float, float]:
    """P(b) and a slope of P there, −Σ_{G > b} U − Σ_{G ≤ b} L."""
    excess = G - b
    bound = np.where(excess > 0.0, upper, lower)
    return total(bound * excess), -total(bound)


def radius(primal: float, dual: float, separation: float) -> float:
    """Return ρ of (3).

    Parameters
    ----------
    primal, dual : float
        P(w) and D(α̃).
    separation : float
        ‖w − w̃‖².

    Examples
    --------
    >>> from refsvm.core.stopping.midpoint import radius
    >>> round(radius(3.0, 1.0, 4.0), 6)
    1.0
    """
    # ρ² = P(w) − D(α̃) − ¼‖w − w̃‖²
    return math.sqrt(max(primal - dual - 0.25 * separation, 0.0) + ROUNDING * (abs(primal) + abs(dual)))


def distances(row: np.ndarray, diagonal: np.ndarray, r: int) -> np.ndarray:
    """Return ‖φᵢ − φᵣ‖ for all i, shape (n,), from kernel row r and the diagonal of K."""
    # ‖φᵢ − φᵣ‖² = Kᵢᵢ + Kᵣᵣ − 2Kᵣᵢ
    squared: np.ndarray = diagonal + diagonal[r] - 2.0 * row
    return np.sqrt(np.maximum(squared, 0.0))


def certain_sign(
    centre: np.ndarray, reach: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> int:
    """Return the sign of h_R(xᵣ) where (4) proves it, else 0.

    Parameters
    ----------
    centre, reach : ndarrays of shape (n,), float64
        ½(w + w̃)·(φᵢ − φᵣ), and ρ‖φᵢ − φᵣ‖.
    v, lower, upper : ndarrays of shape (n,), float64
        Linear term and box of the problem without R, where L = U = 0 on R.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.stopping.midpoint import certain_sign
    >>> v, lower, upper = np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, -1.0]), np.array([1.0, 1.0, 0.0])
    >>> certain_sign(np.array([-2.0, 0.5, -3.0]), np.array([0.1, 0.1, 0.1]), v, lower, upper)
    1
    >>> certain_sign(np.array([-2.0, 0.5, -3.0]), np.array([4.0, 4.0, 4.0]), v, lower, upper)
    0
    """
    # Σ {Uᵢ : c⁺ᵢ < vᵢ} > Σ {−Lᵢ : c⁺ᵢ ≥ vᵢ}
    short = centre + reach < v
    rising, falling = total(np.where(short, upper, 0.0)), -total(np.where(short, 0.0, lower))
    if rising > falling * (1.0 + EXCESS):
        return 1
    # Σ {−Lᵢ : c⁻ᵢ > vᵢ} > Σ {Uᵢ : c⁻ᵢ ≤ vᵢ}
    beyond = centre - reach > v
    rising, falling = total(np.where(beyond, 0.0, upper)), -total(np.where(beyond, lower, 0.0))
    return -1 if falling > rising * (1.0 + EXCESS) else 0
