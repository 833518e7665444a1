"""Functions that rank pairs by the exact gain of a clipped step, and guard the choice against rounding errors."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.state import SolverState

LEAST: Final = 1e-9
"""A slope below this fraction of ψ, or a gain below this fraction of the largest gain, counts as zero."""


def exact_gain(slope: np.ndarray, curvature: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return twice the gain of a clipped step along eᵢ − eⱼ for every pair, −inf for pairs without a feasible step.

        μ* = min(ℓ/q, room),   2g(μ*) = μ*(2ℓ − μ*q)

    Parameters
    ----------
    slope, curvature, room : ndarrays of one shape, float64
        The slope ℓ = Gᵢ − Gⱼ, the curvature q > 0, and the longest step min(Uᵢ − αᵢ, αⱼ − Lⱼ) of each pair.

    Returns
    -------
    ndarray, float64
        2g for each pair, −inf for pairs with ℓ ≤ 0 or room = 0. The factor 2 changes no comparison.

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
    """Return (i, j), the pair of largest gain, or the most violating pair if that gain may be only rounding error.

    In floating point, even a pair that cannot raise f shows a tiny gain, which is rounding error. If a variable is in a
    narrow box or near a bound, a step on it may gain less than this error. A rule that ranks pairs by gain alone could
    then choose useless pairs for ever. `unless_negligible` therefore takes the most violating pair if

        Gᵢ − Gⱼ < 10⁻⁹ ψ            (the largest gain is rounding error, or close to it),
        2ψ · room < 10⁻⁹ · 2g       (room, the longest step of the most violating pair, is tiny),

    or if no pair has a positive gain. Because of the first inequality, Gᵢ − Gⱼ of each chosen pair is at least a fixed
    share of ψ, and rules with this property converge (Chen, Fan & Lin 2006). On some problems, the second inequality
    saves millions of steps on pairs whose gain is small. The two inequalities change no choice if a solve takes Newton
    steps, all boxes have the same size, and all variables start at bounds.

    Parameters
    ----------
    state : SolverState
    i, j : int
        The pair with the largest gain; (−1, −1) if no pair has a positive gain.
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
