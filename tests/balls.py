"""The ball of `refsvm.core.stopping.midpoint`, from K, α and b alone."""

from __future__ import annotations

import numpy as np

from refsvm import DualProblem


def proved_sign(problem: DualProblem, r: int, w: np.ndarray, b: float, other: np.ndarray) -> int:
    """The sign of h(xᵣ) without r that (2), (3) and (4) prove with the machines of w, with intercept b, and `other`."""
    v, left_out = problem.v, problem.without(r)
    K = problem.gram.block(np.arange(problem.n))
    lower, upper, excess = left_out.lower, left_out.upper, v - K @ w - b
    P = 0.5 * w @ K @ w + np.maximum(upper * excess, lower * excess).sum()
    D = v @ other - 0.5 * other @ K @ other
    rho = np.sqrt(max(0.0, P - D - 0.25 * (w - other) @ K @ (w - other)))
    t = 0.5 * (v - K @ w + v - K @ other) + 0.5 * (K @ (w + other))[r]
    apart = np.sqrt(np.maximum(0.0, np.diag(K) + K[r, r] - 2.0 * K[r]))
    proved = []
    for side, low, high, a in ((1, lower, upper, upper - other), (-1, -upper, -lower, other - lower)):
        least = side * t - rho * apart
        falls = high[least > 0.0].sum() > -low[least <= 0.0].sum()
        over = np.maximum(0.0, rho - 0.5 * a * apart) ** 2
        proved.append(falls or (least > np.divide(over, a, out=np.full(len(a), np.inf), where=a > 0.0)).any())
    return int(proved[0]) - int(proved[1])
