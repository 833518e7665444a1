"""Three checks that tell a leave-one-out prediction from the full solution, without training again."""

from __future__ import annotations

import numpy as np

from refsvm.kernels.functions import RBF
from refsvm.kernels.rows import KernelRows
from refsvm.result import Solution

__all__ = ["largest_distance", "sufficient"]

CHECKS = ("zero alpha", "training error", "xi-alpha bound")


def sufficient(solution: Solution, rows: KernelRows, checks: tuple[str, ...]) -> np.ndarray:
    """Apply the checks, each to the examples that the ones before have left undecided.

    1. "zero alpha": αᵣ = 0. The solution is the same without r, and so is h(xᵣ).
    2. "training error": yᵣh(xᵣ) < 0. Without r it is no larger.
    3. "xi-alpha bound": some support vector is free and 2|αᵣ|R² + ξᵣ < 1, where R² ≥ k(x, x) − k(x, x′) for all pairs.
       Then yᵣh(xᵣ) stays positive. Not used without a bound R², which takes an RBF kernel or all rows in memory.

    Checks 2 and 3 keep a distance of the KKT gap from zero, because α is only known to that accuracy, and leave an
    example that is alone in its class to be trained without.

    Parameters
    ----------
    solution : Solution
        Of all examples; v holds the labels ±1.
    rows : KernelRows
    checks : tuple of str
        Those that may be used.

    Returns
    -------
    ndarray of shape (n,) of str
        The check that decided, or "".

    References
    ----------
    V. Franc, P. Laskov and K.-R. Müller, ICML 2008, Table 1; T. Joachims, "Estimating the generalization performance of
    an SVM efficiently", ICML 2000, for checks 2 and 3.
    """
    problem, alpha = solution.problem, solution.alpha
    y, h, gap = problem.v, solution.decision_values, max(solution.kkt_gap, 0.0)
    decided = np.full(problem.n, "", dtype=object)
    takes_part = problem.lower < problem.upper
    counts = [int((takes_part & (y == label)).sum()) for label in (-1.0, 1.0)]
    lone = takes_part & (np.where(y > 0.0, counts[1], counts[0]) == 1)
    if "zero alpha" in checks:
        decided[(alpha == 0.0) & ~lone] = "zero alpha"
    if "training error" in checks:
        decided[(decided == "") & (y * h < -gap) & ~lone] = "training error"
    free = (alpha > problem.lower) & (alpha < problem.upper)
    if "xi-alpha bound" in checks and free.any():
        bound = largest_distance(rows)
        # ξᵣ = max(0, 1 − yᵣh(xᵣ)),  2|αᵣ|R² + ξᵣ < 1
        slack = np.maximum(0.0, 1.0 - y * h)
        certain = 2.0 * np.abs(alpha) * bound + slack < 1.0 - 2.0 * gap
        decided[(decided == "") & certain & ~lone] = "xi-alpha bound"
    return decided


def largest_distance(rows: KernelRows) -> float:
    """R², a bound on k(x, x) − k(x, x′): 1 for an RBF kernel, max Kᵢᵢ − min Kᵢⱼ where all rows are stored, else ∞."""
    if isinstance(getattr(rows.gram, "kernel", None), RBF):
        return 1.0
    if not (rows.holds_all and rows.filled == rows.gram.n):
        return np.inf
    return float(rows.gram.diagonal().max() - rows.values.min())
