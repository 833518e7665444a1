"""Functions that spread the missing sum z − 1ᵀα over the variables that can still move."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.problem import total

ROUNDING: Final = 4.0 * float(np.finfo(float).eps)


def spread(
    alpha: np.ndarray, among: np.ndarray, missing: float, lower: np.ndarray, upper: np.ndarray
) -> float:
    """Add equal shares of the missing sum to all variables that can move; repeat with the part that bounds cut off.

    Parameters
    ----------
    alpha : ndarray of shape (n,), float64
        Values within the box; changed in place.
    among : ndarray of shape (m,), int64
        The variables that may change, ascending.
    missing : float
        The missing sum z − 1ᵀα; the variables move in the direction of its sign.
    lower, upper : ndarrays of shape (n,), float64
        The box. A variable that reaches a bound is set exactly to this bound.

    Returns
    -------
    float
        The sum that is still missing: only rounding error, unless all variables have reached their bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.seeders.spread import spread
    >>> alpha = np.array([0.0, 0.5, 0.9])
    >>> spread(alpha, np.array([1, 2]), 0.5, np.zeros(3), np.ones(3)), alpha
    (0.0, array([0. , 0.9, 1. ]))
    """
    for _ in range(len(among) + 1):
        room = alpha[among] < upper[among] if missing > 0.0 else alpha[among] > lower[among]
        open_ones = among[room]
        if missing == 0.0 or not len(open_ones):
            break
        share = missing / len(open_ones)
        before, low, high = alpha[open_ones], lower[open_ones], upper[open_ones]
        after = np.clip(before + share, low, high)
        after[share <= low - before] = low[share <= low - before]
        after[share >= high - before] = high[share >= high - before]
        alpha[open_ones] = after
        missing = total(np.append(missing, before - after))
        if not (after == (high if share > 0.0 else low)).any():
            break
    return missing


def complete(alpha: np.ndarray, z: float, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Spread z − 1ᵀα over the variables strictly inside the box, then the rest over all variables; return α.

    The function does not spread a difference z − 1ᵀα of up to 4 units in the last place of Σ|α|, which is rounding
    error, so that variables at bounds do not move.

    Parameters
    ----------
    alpha : ndarray of shape (n,), float64
        Values within the box; changed in place.
    z : float
        The sum that α must have.
    lower, upper : ndarrays of shape (n,), float64

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.seeders.spread import complete
    >>> complete(np.array([0.5, 0.0, 0.0]), 2.0, np.zeros(3), np.ones(3))
    array([1. , 0.5, 0.5])
    """
    free = np.flatnonzero((alpha > lower) & (alpha < upper))
    spread(alpha, free, z - total(alpha), lower, upper)
    # make a second pass, because the rounding errors of large numbers may remain in Σα after the first pass
    for _ in range(2):
        missing = z - total(alpha)
        if abs(missing) <= ROUNDING * (total(np.abs(alpha)) + abs(z)):
            break
        spread(alpha, np.arange(len(alpha)), missing, lower, upper)
    return alpha
