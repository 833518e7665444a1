"""Settling: computes the exact optimum from the free variables of an approximate solution.

    free F       move so that G = b on F:   | 0   1ᵀ  | | b |   | z − Σα      |
                                            | 1  K_FF | | δ | = | G_F         |
    leaves F     if its α is beyond a bound; α is set to the bound
    joins F      if its α is at a bound, and G would move it inside

`settled` starts at a solution at a loose tolerance, changes the set F of free variables a few times, and so finds the
optimum up to rounding. Each change of F costs m³/3 multiplications for m free variables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from refsvm.core.result import Solution

MOST_CHANGES: Final = 12
"""After this number of changes of F, settling gives up, and the solver's steps must find the optimum."""


def settled(begun: Solution, K: np.ndarray, example: np.ndarray, tol: float) -> Solution | None:
    """Return the optimum, or None if settling does not find its free variables.

    Parameters
    ----------
    begun : Solution
        A solution of the same problem at a loose tolerance.
    K : ndarray of shape (m, m)
        Kernel values between all examples, for data shifted as in the solver.
    example : ndarray of shape (n,), int64
        The example of each variable.
    tol : float
        The largest KKT gap allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, KKTGap, solve
    >>> from refsvm.analysis.derivatives.settling import settled
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> begun = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0), stop=KKTGap(0.5))
    >>> found = settled(begun, RBF(0.5)(X, X), np.arange(4), 1e-12)
    >>> begun.kkt_gap > 0.1, found.kkt_gap <= 1e-12
    (True, True)
    """
    lower, upper, z = begun.problem.lower, begun.problem.upper, begun.problem.z
    alpha, G = begun.alpha.copy(), begun.gradient.copy()
    free = (lower < alpha) & (alpha < upper)

    for _ in range(MOST_CHANGES):
        F = np.flatnonzero(free)
        if not len(F):
            return None
        rows = K[example[F]]
        A = np.ones((len(F) + 1, len(F) + 1))
        A[0, 0], A[1:, 1:] = 0.0, rows[:, example[F]]
        try:
            solved = np.linalg.solve(A, np.append(z - alpha.sum(), G[F]))
        except np.linalg.LinAlgError:
            return None
        b, target = float(solved[0]), alpha[F] + solved[1:]
        if not np.isfinite(target).all():
            return None
        inside = np.clip(target, lower[F], upper[F])
        G -= ((inside - alpha[F]) @ rows)[example]
        alpha[F] = inside
        if (left := inside != target).any():
            free[F[left]] = False
            continue
        joins = ~free & ((alpha < upper) & (b + 0.5 * tol < G) | (lower < alpha) & (b - 0.5 * tol > G))
        if not joins.any():
            break
        free |= joins
    optimum = replace(begun, alpha=alpha, gradient=G)
    # if K is indefinite, the solution of the system may be a saddle point, so check that f has not fallen
    gain = 0.5 * (alpha - begun.alpha) @ (begun.gradient + G)
    return optimum if optimum.kkt_gap <= tol and gain >= -tol else None
