"""Polishing: one exact step on the free variables of a nearly solved problem.

At the optimum G = b on every free variable. Where an approximate solution already has the right variables at their
bounds, the rest is linear algebra: the step δ of the free variables F and b solve

    ⎡ K_FF  1 ⎤ ⎡ δ ⎤   ⎡ G_F ⎤
    ⎣  1ᵀ   0 ⎦ ⎣ b ⎦ = ⎣  0  ⎦

If α_F + δ stays in the box and the KKT gap falls, the result is the optimum up to rounding, whatever the tolerance,
the selector and the engine were. The gain is ½ δᵀG_F; where it is negative K is indefinite and the step leads to a
saddle, so it is not taken. Solvers of quadratic programs do the same under this name (Stellato et al., "OSQP: an
operator splitting solver for quadratic programs", Mathematical Programming Computation 12, 2020).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from refsvm.result import Solution, Status

__all__ = ["polished"]

LARGEST: Final = 32
"""Free variables up to which the step takes about a tenth of a millisecond."""


def polished(solution: Solution) -> Solution:
    """Return the exact optimum next to a converged solution, or the solution itself where that is out of reach.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    Solution
        A new one if the KKT gap fell, with the same counters: the kernel rows of the step are not counted. The same
        one if it has not converged, has more than `LARGEST` free variables, or has the wrong ones at their bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> from refsvm.solver.polish import polished
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, 1, -1])
    >>> rough = solve(DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0))
    >>> rough.kkt_gap > 1e-6, polished(rough).kkt_gap < 1e-12
    (True, True)
    """
    problem, alpha, G = solution.problem, solution.alpha, solution.gradient
    F = ((alpha > problem.lower) & (alpha < problem.upper)).nonzero()[0]
    if solution.status is not Status.CONVERGED or not 0 < len(F) <= LARGEST:
        return solution
    rows = problem.gram.block(F)
    point = _optimum(rows[:, F], alpha[F], G[F], problem.lower[F], problem.upper[F])
    if point is None:
        return solution
    gradient = G - (point - alpha[F]) @ rows
    moved = alpha.copy()
    moved[F] = point
    exact = replace(solution, alpha=moved, gradient=gradient)
    return exact if exact.kkt_gap < solution.kkt_gap else solution


def _optimum(
    K_FF: np.ndarray, alpha_F: np.ndarray, G_F: np.ndarray, lower_F: np.ndarray, upper_F: np.ndarray
) -> np.ndarray | None:
    """α_F at the optimum on the free variables, or None if that is outside the box or no maximum."""
    m = len(G_F)
    scale = float(np.abs(K_FF).max()) or 1.0  # K/s and sδ, so that the rows of the system are of one size
    system, right = np.ones((m + 1, m + 1)), np.zeros(m + 1)
    system[:m, :m], system[m, m], right[:m] = K_FF / scale, 0.0, G_F
    for solver in (np.linalg.solve, _refined):
        try:
            delta = solver(system, right)[:m] / scale
        except np.linalg.LinAlgError:
            continue
        delta -= delta.sum() / m  # 1ᵀδ = 0, whatever the rounding
        point = alpha_F + delta
        if delta @ G_F >= 0.0 and (lower_F <= point).all() and (point <= upper_F).all():
            return point
    return None


def _refined(system: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution near 0 of a system that may be singular: for duplicates, whose share of δ is not determined.

    With K + εI in place of K it is determined; iterative refinement removes the error that makes, as in OSQP.
    """
    m = len(right) - 1
    inverse = np.linalg.inv(system + np.diag(np.append(np.full(m, 1e-8 * m), 0.0)))
    solution = np.zeros(m + 1)
    for _ in range(4):
        solution += inverse @ (right - system @ solution)
    return solution
