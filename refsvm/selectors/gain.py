"""The exact gain of a clipped step, for the selectors that rank pairs by it."""

from __future__ import annotations

import numpy as np


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
    >>> from refsvm.selectors.gain import exact_gain
    >>> exact_gain(np.array([2.0, 2.0, -1.0]), np.array([1.0, 1.0, 1.0]), np.array([9.0, 1.0, 9.0]))
    array([  4.,   3., -inf])
    """
    mu = np.minimum(slope / curvature, room)
    gain = mu * (2.0 * slope - mu * curvature)
    return np.where((slope > 0.0) & (room > 0.0), gain, -np.inf)
