"""The linear program (30)–(34), which finds the largest decrease of λ if A is singular.

Null vectors u of A do not change the decision function: K u = 0, because uᵀK u = 0 for the elbow's block and K is
positive semi-definite. So qᵢ = 0 in (32) and (33), and only the box constrains β.
"""

from __future__ import annotations

import numpy as np


def longest_fall(
    rate: np.ndarray, gap: np.ndarray, null: np.ndarray, limit: float
) -> tuple[float, np.ndarray]:
    """Solve max t subject to t·rate + U β ≤ gap and 0 ≤ t ≤ limit.

    Parameters
    ----------
    rate : ndarray of shape (2m,)
        Speeds at which ŝ on the elbow, moving along d_p, approaches its upper and its lower bounds. In the paper the
        box does not move and t is the decrease of λ, so that the speeds are −d_p and d_p.
    gap : ndarray of shape (2m,)
        Distances high − ŝ ≥ 0 and ŝ − low ≥ 0.
    null : ndarray of shape (2m, k)
        U_{m−r} and −U_{m−r}, both without the entries of the intercept.
    limit : float
        The largest t: at this t, the first example outside the elbow reaches the elbow, or the path ends.

    Returns
    -------
    t : float
    beta : ndarray of shape (k,)

    Notes
    -----
    One null vector gives a problem in two variables, which is solved in closed form (`most_before_crossing`). HiGHS
    solves problems with more null vectors by its dual simplex method. Both methods return a vertex of the feasible set,
    where as many points as possible leave the elbow.
    """
    if null.shape[1] == 1:
        return _in_the_plane(rate, gap, null[:, 0], limit)
    from scipy.optimize import linprog

    k = null.shape[1]
    # scale t by `limit` and β by the box, because the solver's tolerances do not depend on the sizes of t and β
    largest = max(limit * float(np.abs(rate).max()), float(gap.max()))
    unit = float(2.0 ** np.rint(np.log2(largest))) if largest > 0.0 else 1.0
    rows = np.column_stack([limit * rate / unit, null])
    scale = np.maximum(np.abs(rows).max(axis=1), 1.0)
    result = linprog(
        np.append(-1.0, np.zeros(k)),
        A_ub=rows / scale[:, None],
        b_ub=gap / unit / scale,
        bounds=[(0.0, 1.0)] + [(None, None)] * k,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.x is None:  # only rounding can make the program infeasible, because (0, 0) is feasible
        return 0.0, np.zeros(k)
    return float(limit * result.x[0]), unit * np.asarray(result.x[1:])


def _in_the_plane(rate: np.ndarray, gap: np.ndarray, u: np.ndarray, limit: float) -> tuple[float, np.ndarray]:
    """Solve the program for one null vector: t·rate + u β ≤ gap."""
    tiny = 1e-12 * float(np.abs(u).max())
    blocked = (np.abs(u) <= tiny) & (rate > 0.0)  # variables that approach a bound whatever β is
    limit = float((gap[blocked] / rate[blocked]).min(initial=limit))
    # β ≤ (gap − t·rate)/u if u > 0, and β ≥ (gap − t·rate)/u if u < 0
    least, most = ((gap[part] / u[part], -rate[part] / u[part]) for part in (u < -tiny, u > tiny))
    t, lowest, highest = most_before_crossing(*least, *most, limit)
    # take an end of the interval of β, not its middle, because at an end an example leaves the elbow
    return t, np.array([lowest if abs(lowest) < abs(highest) else highest])


def most_before_crossing(
    least: np.ndarray,
    least_slope: np.ndarray,
    most: np.ndarray,
    most_slope: np.ndarray,
    limit: float,
    tol: float = 0.0,
) -> tuple[float, float, float]:
    """Return the largest t ≤ limit with max(least + t·slope) ≤ min(most + t·slope), and the values of both sides.

    The difference min − max is concave and piecewise linear in t. Newton's method, started from the right, reaches the
    zero of this difference in finitely many steps. A difference ≥ −`tol` counts as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.walk.linear_program import most_before_crossing
    >>> most_before_crossing(np.array([-1.0]), np.array([1.0]), np.array([3.0]), np.array([-1.0]), limit=5.0)
    (2.0, 1.0, 1.0)
    """
    t = limit
    for _ in range(len(least) + len(most) + 10):
        lows, highs = least + t * least_slope, most + t * most_slope
        i, j = int(lows.argmax()), int(highs.argmin())
        if lows[i] <= highs[j] + tol:
            break
        closing = least_slope[i] - most_slope[j]  # rate at which both limits approach each other
        before = t
        t = max((most[j] - least[i]) / closing, 0.0) if closing > 0.0 else 0.0
        if t >= before or t == 0.0:
            break
    lows, highs = least + t * least_slope, most + t * most_slope
    return float(t), float(lows.max()), float(highs.min())
