"""PathAudit: measures how far a path violates the KKT conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from refsvm.core._checks import whole
from refsvm.core.paths.recorder import PathRecord, Timeline
from refsvm.core.shown import Stamped
from refsvm.core.walk.line import ProblemLine

POINTS: Final = 256
"""Number of breakpoints whose decision values are computed in one product."""


@dataclass(frozen=True)
class PathAudit(Stamped):
    """The worst violation of the KKT conditions along a path.

    Attributes
    ----------
    at : float
        Worst violation at breakpoints, the largest of three numbers: the natural residual of an example; the distance
        of an ŝᵢ from its box, divided by the width of the widest box; and |Σŝ|/Σ|ŝ|. If the path does not follow C, the
        third number is |Σα − z| divided by the sum of all widths. The natural residual of example i is the smaller of
        two numbers: |yᵢh(xᵢ) − 1|; and the distance of ŝᵢ from the bound at which example i satisfies the KKT
        conditions, divided by the width of the box of ŝᵢ.
    between : float
        Worst violation at points between neighbouring breakpoints.
    C : float
        C at the worst violation, or t if the path follows a parameter other than C.
    points : int
        Number of points that were examined.
    """

    at: float
    between: float
    C: float
    points: int

    @property
    def worst(self) -> float:
        """The worst violation, max(at, between)."""
        return max(self.at, self.between)


def audit(along: ProblemLine, K: np.ndarray, record: PathRecord, between: int) -> PathAudit:
    """Recompute G − b at all examined points, and return how far the path violates the KKT conditions.

    Parameters
    ----------
    along : ProblemLine
        The line.
    K : ndarray of shape (n, n)
        The kernel matrix.
    record : PathRecord
        The breakpoints.
    between : int
        Number of points to examine between two neighbouring breakpoints.

    Raises
    ------
    ValueError
        If `between` is not a whole number ≥ 0.
    """
    between = whole("between", between, 0)
    if not len(record.t):
        return PathAudit(0.0, 0.0, float("nan"), 0)
    sizes, ts = violations(along, K, record, between)
    worst = float(ts.flat[sizes.argmax()])
    return PathAudit(
        float(sizes[:, -1].max()),
        float(sizes[1:, :-1].max(initial=0.0)),
        1.0 / worst if along.is_c_path else worst,
        sizes.size - between,
    )


def violations(
    along: ProblemLine, K: np.ndarray, record: PathRecord, between: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return two arrays: the KKT violation at each examined point, and the t (or λ) of this point.

    Both arrays have shape (m, between + 1). Each row ends with a breakpoint, after `between` points that precede it. No
    point precedes the first breakpoint, so the first row repeats the violation at this breakpoint.
    """
    ts, points = 1.0 / record.t if along.is_c_path else record.t, Timeline(record, len(K))
    shares, last = np.arange(1, between + 2) / (between + 1), np.arange(len(ts))
    first = np.maximum(last - 1, 0)
    at, b = ((1.0 - shares) * each[first, None] + shares * each[:, None] for each in (ts, record.intercept))
    sizes = np.empty_like(at)
    for begin in range(0, len(ts), POINTS):
        ks = last[begin : begin + POINTS]
        alpha = np.array([points.at(k) for k in range(first[begin], ks[-1] + 1)])
        left, right = alpha[first[ks] - first[begin]], alpha[ks - first[begin]]
        for s, share in enumerate(shares.tolist()):
            middle = (1.0 - share) * left + share * right
            sizes[ks, s] = _residuals(along, K, at[ks, s], middle, b[ks, s])
    return sizes, at


def _residuals(
    along: ProblemLine, K: np.ndarray, ts: np.ndarray, alpha: np.ndarray, intercept: np.ndarray
) -> np.ndarray:
    """Return the KKT violation at each of p points; `alpha` holds the α (or ŝ = α/C) of these points, shape (p, n)."""
    v, low, high = (np.array(each) for each in zip(*map(along.arrays, ts.tolist()), strict=True))
    unit = along.unit[0] + along.unit[1] * ts
    width = high - low
    open_box = width > 0.0
    # along the line, the width of a box may become nearly 0: do not divide by such a width
    span = np.where(open_box, np.maximum(width, 0.0 if along.is_c_path else 1e-8 * along.widest), 1.0)
    # at the optimum, (G − b)/λ is > 0 only if α is at its upper bound, and < 0 only if α is at its lower bound
    excess = (v - alpha @ K - intercept[:, None]) / unit[:, None]
    rising = np.minimum(excess, (high - alpha) / span)
    falling = np.minimum(-excess, (alpha - low) / span)
    natural = np.where(open_box, np.maximum(rising, falling), 0.0).max(axis=1, initial=0.0)
    outside = np.maximum(low - alpha, alpha - high).max(axis=1, initial=0.0) / along.widest
    z = np.array([along.z(t) for t in ts.tolist()])
    all_of_it = (np.abs(alpha) if along.is_c_path else width).sum(axis=1)
    unbalanced = np.abs(alpha.sum(axis=1) - z) / np.maximum(all_of_it, 1e-300)
    return np.maximum(natural, np.maximum(outside, unbalanced))
