"""The exact gain of a clipped step, for the selectors that rank pairs by it, and what they do where it is rounding."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.state import SolverState

LEAST: Final = 1e-9
"""Share of ψ, and of the largest gain, below which something counts as nothing next to it."""


def exact_gain(slope: np.ndarray, curvature: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Twice the gain of a step along eᵢ − eⱼ for every pair, −inf where none is feasible.

        μ* = min(ℓ/q, room),   2g(μ*) = μ*(2ℓ − μ*q)

    Parameters
    ----------
    slope, curvature, room : ndarrays of one shape, float64
        ℓ = Gᵢ − Gⱼ, q > 0, and min(Uᵢ − αᵢ, αⱼ − Lⱼ).

    Returns
    -------
    ndarray, float64
        The factor 2 changes no comparison. Pairs with ℓ ≤ 0 or no room give −inf.

    References
    ----------
    T. Glasmachers and C. Igel, JMLR 7, 2006, eq. 3.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.selectors.gain import exact_gain
    >>> exact_gain(np.array([2.0, 2.0, -1.0]), np.array([1.0, 1.0, 1.0]), np.array([9.0, 1.0, 9.0]))
    array([  4.,   3., -inf])
    """
    mu = np.minimum(slope / curvature, room)
    gain = mu * (2.0 * slope - mu * curvature)
    return np.where((slope > 0.0) & (room > 0.0), gain, -np.inf)


def unless_negligible(state: SolverState, i: int, j: int, gain: float) -> tuple[int, int]:
    """Return the pair of largest gain, or the most violating pair where gains do not tell what is left to do.

    The gain of a variable of little room, in a narrow box or next to a bound, may be less than the rounding in the gain
    of a pair that has converged. A rule that ranks by gain alone would choose rounding for ever, at any ψ. The most
    violating pair is taken if

        Gᵢ − Gⱼ < 10⁻⁹ ψ            the largest gain is rounding, or near to it
        2ψ · room < 10⁻⁹ · 2g       the most violating pair has next to no room: a step takes it to its bound

    and if no pair gains. The second line saves steps, which pairs of small gain could take by the million before. By
    the first each pair chosen has a fixed share of ψ, and such rules converge (Chen, Fan & Lin 2006). Where a solve
    starts at bounds, and all boxes are of one size, steps of Newton are chosen as by gain alone.

    Parameters
    ----------
    state : SolverState
    i, j : int
        The pair of largest gain; (−1, −1) for none.
    gain : float
        2g, as `exact_gain` returns it.

    Returns
    -------
    (int, int)
        The working set, or (−1, −1) at an optimum.

    References
    ----------
    P.-H. Chen, R.-E. Fan and C.-J. Lin, "A study on SMO-type decomposition methods for support vector machines", IEEE
    Transactions on Neural Networks 17, 2006.
    """
    top, bottom, gap = state.top, state.bottom, state.gap
    if gap <= 0.0:
        return -1, -1
    if i >= 0 and state.gradient[i] - state.gradient[j] >= LEAST * gap:
        room = min(state.upper[top] - state.alpha[top], state.alpha[bottom] - state.lower[bottom])
        if 2.0 * gap * room >= LEAST * gain:
            return i, j
    return top, bottom
