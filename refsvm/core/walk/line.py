"""ProblemLine: problems with one K, whose v, L, U and z are affine in a parameter t, such as λ = 1/C.

    v(t) = (1 − s) v(start) + s v(end),     s = (t − t₀)/(t₁ − t₀),     and likewise for L, U and z.

The parameter t, such as C, ε or ν, is not scaled to [0, 1], because scaling would lose digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.problem import DualProblem
from refsvm.core.walk.breakpoint import Breakpoint, LinePoint, Move, Point
from refsvm.core.walk.walk import Line

FAR = 0.01
"""If values of a row of K differ by less than this fraction of the values, the origin is far from the data."""

SMALLEST = 1e-4
"""Tolerances of t are relative to t, or absolute if t is below this fraction of the line's length."""


class ProblemLine:
    """The problems on the line between two problems that share K.

    Parameters
    ----------
    start, end : DualProblem
        The problems at the ends, with finite bounds.
    t : (float, float)
        The parameter at the start and at the end; it may rise or fall.
    largest : float
        Largest |Kᵢⱼ|.
    K : ndarray of shape (n, n), optional
        The kernel matrix. If v is constant, the largest range of a row of K gives the scale of the decision values;
        `largest` is far above this scale if the origin is far from the data.

    Attributes
    ----------
    line : Line
        The rates of v, L, U and z along the line, and whether t rises or falls.
    sign : ndarray of shape (n,)
        0 for variables whose box has no width anywhere on the line, and 1 for all others.
    unit, span, least : tuple of float, float, float
        Scales for tolerances: the scale of G − b is unit[0] + unit[1]·t, and the scale of t is t, but at least `least`
        and at most `span`.
    reach : float
        Largest possible decision value relative to `unit`, at most 1; it is small if C is small.
    push, pace : float
        Scales of rounding errors: an upper bound of |v¹ − K d_B|, and the largest rate of a bound.
    widest : float
        Largest width of a box.
    is_c_path : bool
        True for a path in C. Such a path is complete when no variable is at its non-zero bound.
    name : str
        Name of the parameter in printed results and messages.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem
    >>> from refsvm.core.walk.line import ProblemLine
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1])
    >>> start, end = (DualProblem.classification(X, y, kernel="linear", C=C) for C in (1.0, 3.0))
    >>> ProblemLine(start, end, (1.0, 3.0), largest=4.0).at(2.0).upper
    array([0., 2., 2.])
    """

    is_c_path, name = False, "t"

    def __init__(
        self, start: DualProblem, end: DualProblem, t: tuple[float, float], largest: float,
        K: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.start, self.end, self.t = start, end, t
        way = abs(t[1] - t[0])
        self.line = Line(
            (end.v - start.v) / way,
            (end.lower - start.lower) / way,
            (end.upper - start.upper) / way,
            (end.z - start.z) / way,
            1.0 if t[1] > t[0] else -1.0,
        )
        width = np.maximum(end.upper - end.lower, start.upper - start.lower)
        self.sign, self.widest = np.where(width > 0.0, 1.0, 0.0), float(width.max()) or 1.0
        bounds = np.maximum(np.abs(self.line.lower), np.abs(self.line.upper))
        self.pace = float(bounds.max())
        self.push = float(np.abs(self.line.v).max()) + largest * float(bounds.sum())
        spread = max(
            0.5 * float(np.ptp(each.v[self.sign > 0.0])) if self.sign.any() else 0.0 for each in (start, end)
        )
        # with one class |Kα| ≤ Σα max |Kᵢⱼ|, and if νn < 1, Σα is smaller than the width of a box
        most = max(start.z, end.z) if min(start.lower.min(), end.lower.min()) >= 0.0 else 0.0
        varied = largest if spread or K is None else range_of_rows(K, largest)
        self.unit = (spread or varied * min(self.widest, most or self.widest) or 1.0), 0.0
        self.reach = min(1.0, largest * float(width.sum()) / self.unit[0]) or 1.0
        self.span, self.least = way, SMALLEST * way

    def at(self, t: float) -> DualProblem:
        """Return the problem at t."""
        if t in self.t:
            return self.start if t == self.t[0] else self.end
        v, lower, upper = self.arrays(t)
        z = min(max(self.z(t), float(lower.sum())), float(upper.sum()))
        return DualProblem(self.start.gram, v, z, lower, upper)

    def arrays(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return v, L and U at t, arrays of shape (n,)."""
        one, other = self.start, self.end
        pairs = (one.v, other.v), (one.lower, other.lower), (one.upper, other.upper)
        v, lower, upper = (np.where(a == b, a, self.between(a, b, t)) for a, b in pairs)
        return v, lower, np.maximum(lower, upper)

    def z(self, t: float) -> float:
        """Return the sum of α at t."""
        one, other = self.start.z, self.end.z
        return one if one == other else float(self.between(one, other, t))

    def between(self, one: Any, other: Any, t: float) -> Any:
        """Return (1 − s)·`one` + s·`other`, exact at both ends, and precise if the values at one end are small."""
        way = self.t[1] - self.t[0]
        return ((self.t[1] - t) / way) * one + ((t - self.t[0]) / way) * other

    def tolerance(self, t: float, eps: float) -> float:
        """Return the KKT tolerance at t: `eps` times the unit, or times the largest decision value if smaller."""
        return max(eps * self.reach, 1e-14) * (self.unit[0] + self.unit[1] * t)

    def point(
        self, t: float, alpha: np.ndarray, b: float, kind: str, moves: tuple[Move, ...], elbow: int
    ) -> Point:
        """Make the breakpoint of these values, which a tracker then yields."""
        return LinePoint(t, alpha, b, kind, moves, elbow)


def range_of_rows(K: np.ndarray, largest: float) -> float:
    """Return the largest range of a row of K if it is far smaller than `largest`; otherwise return `largest`."""
    most = float(np.ptp(K, axis=1).max())
    return most if 0.0 < most < FAR * largest else largest


def solved_gram(start: DualProblem, end: DualProblem) -> KernelMatrix:
    """Return the kernel matrix of a line, centred as in `DualProblem.centred` if z = 0 at both ends."""
    return (start if start.z != 0.0 else end).centred.gram


class RegularizationLine(ProblemLine):
    """The line of falling λ = 1/C: in the scaled variables ŝ = λα, v is λ v(C = 1), and the box is the box at C = 1.

    Parameters
    ----------
    problem : DualProblem
        The problem at C = 1, with z = 0 and a bound at 0 in each box.
    ends : tuple of float
        Values of C that are reported exactly, because 1/(1/C) may be rounded.
    """

    is_c_path, name = True, "C"

    def __init__(self, problem: DualProblem, *ends: float) -> None:
        self.exactly = {1.0 / C: C for C in ends}
        zero, weight = np.zeros(problem.n), problem.lower + problem.upper
        self.start = self.end = problem
        self.line = Line(-problem.v, zero, zero, 0.0, -1.0)
        self.sign, self.pace, self.push = np.sign(weight), 0.0, float(np.abs(problem.v).max())
        spread, self.widest = 0.5 * float(np.ptp(problem.v)), 1.0
        self.unit, self.span, self.least = (0.0, spread if spread > 0.0 else 1.0), np.inf, 0.0

    def arrays(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return λv, L and U."""
        return t * self.start.v, self.start.lower, self.start.upper

    def at(self, t: float) -> DualProblem:
        """Return the problem at λ = t, in scaled variables."""
        problem = self.start
        return DualProblem._of_checked(problem.gram, t * problem.v, problem.lower, problem.upper)

    def tolerance(self, t: float, eps: float) -> float:
        """Return the tolerance of the KKT gap, which for C < 1 is relative to C, the size of the decision values."""
        return max(eps * min(t, 1.0), 1e-14 * t) * self.unit[1]

    def point(
        self, t: float, alpha: np.ndarray, b: float, kind: str, moves: tuple[Move, ...], elbow: int
    ) -> Point:
        """Make the breakpoint of these values, with C in place of λ; a tracker then yields it."""
        return Breakpoint(self.exactly.get(t, 1.0 / t), alpha, b, kind, moves, elbow)
