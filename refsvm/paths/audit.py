"""PathAudit: the KKT conditions along a path, from scratch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm._checks import whole
from refsvm.paths.recorder import PathRecord
from refsvm.problem import DualProblem

__all__ = ["PathAudit", "audit"]

POINTS = 256


@dataclass(frozen=True)
class PathAudit:
    """The worst violation of the KKT conditions along a path.

    Attributes
    ----------
    at : float
        At breakpoints: the larger of the natural residual, what ŝ lacks to lie in its box, and |Σŝ|/Σw. The natural
        residual of an example is the smaller of its KKT violation in units of the margin, |yᵢ(h(xᵢ)) − 1|, and the
        distance of its ŝ, in widths of the box, from the bound at which there would be none.
    between : float
        The same at points between neighbouring breakpoints.
    C : float
        Where the worst of all is.
    points : int
        How many points were looked at.
    """

    at: float
    between: float
    C: float
    points: int

    @property
    def worst(self) -> float:
        """The larger of `at` and `between`."""
        return max(self.at, self.between)


def audit(problem: DualProblem, K: np.ndarray, record: PathRecord, between: int) -> PathAudit:
    """Recompute λξ = λv − Kŝ − b̂ at all points and compare with what ŝ demands.

    Parameters
    ----------
    problem : DualProblem
        At C = 1.
    K : ndarray of shape (n, n)
    record : PathRecord
    between : int
        Points between two neighbours.

    Raises
    ------
    ValueError
        If `between` is not a whole number ≥ 0.
    """
    between = whole("between", between, 0)
    m = len(record.C)
    lam = 1.0 / record.C
    worst, where, worst_at, worst_between = -1.0, float(record.C[0]), 0.0, 0.0
    shares = np.arange(1, between + 1) / (between + 1)
    current = np.zeros(problem.n)
    lams: list[float] = []
    points: list[np.ndarray] = []
    intercepts: list[float] = []
    for k in range(m):
        part = slice(record.start[k], record.start[k + 1])
        before = current.copy()
        current[record.changed[part]] = record.value[part]
        for share in (*(shares if k else ()), 1.0):
            start = k - 1 if k else 0
            lams.append((1.0 - share) * lam[start] + share * lam[k])
            points.append((1.0 - share) * before + share * current)
            intercepts.append((1.0 - share) * record.intercept[start] + share * record.intercept[k])
        if len(points) < POINTS and k < m - 1:
            continue
        found = _residuals(problem, K, np.array(lams), np.array(points), np.array(intercepts))
        whole_points = np.isin(np.array(lams), lam)
        worst_at = max(worst_at, float(found[whole_points].max(initial=0.0)))
        worst_between = max(worst_between, float(found[~whole_points].max(initial=0.0)))
        if found.max() > worst:
            worst, where = float(found.max()), 1.0 / lams[int(found.argmax())]
        lams, points, intercepts = [], [], []
    return PathAudit(worst_at, worst_between, where, m + between * (m - 1))


def _residuals(
    problem: DualProblem, K: np.ndarray, lam: np.ndarray, scaled: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return the violation at each of p points, given ŝ of shape (p, n)."""
    low, high = problem.lower, problem.upper
    width = high - low
    open_box = width > 0.0
    span = np.where(open_box, width, 1.0)
    # G − b = (λv − Kŝ − b̂)/λ: above 0 only where ŝ is at its upper bound, below 0 only at the lower one
    excess = (lam[:, None] * problem.v - scaled @ K - intercept[:, None]) / lam[:, None]
    rising = np.minimum(excess, (high - scaled) / span)
    falling = np.minimum(-excess, (scaled - low) / span)
    natural = np.where(open_box, np.maximum(rising, falling), 0.0).max(axis=1, initial=0.0)
    outside = np.maximum(low - scaled, scaled - high).max(axis=1, initial=0.0)
    unbalanced = np.abs(scaled.sum(axis=1) - problem.z) / max(float(width.sum()), 1e-300)
    return np.maximum(natural, np.maximum(outside, unbalanced))
