"""ParametricPath: the optimum along a line of problems, stored as its breakpoints."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from refsvm._checks import real
from refsvm.kernels.checked import cross_values
from refsvm.paths.audit import PathAudit, audit
from refsvm.paths.duplicates import Merged
from refsvm.paths.recorder import PathRecord, Timeline
from refsvm.problem import DualProblem
from refsvm.result import Status
from refsvm.walk.line import ProblemLine

__all__ = ["ParametricPath"]


@dataclass(frozen=True, eq=False)
class ParametricPath:
    """The optimum α(t), b(t) of every problem on a line: affine in t between breakpoints.

    Made by `refsvm.parametric_path` and by the lines with a name.

    Parameters
    ----------
    start, end : DualProblem
        The problems at both ends.
    line : ProblemLine
        What is between them, with merged variables as one.
    record : PathRecord
        Breakpoints and changes of those variables.
    merged : Merged
        Which variables are one.
    status : Status
        Whether the path reaches its end, or what ended it before.
    seconds, start_seconds : float
        Time for the path, with kernel matrix and start; and for these two.
    drift : float
        Largest error of G, in the line's unit, that had accumulated when it was recomputed.
    nullity : int
        Largest dimension of the null space of A on the way.
    tracker : str
        The tracker, as it prints.
    counts : dict of str to int
        How often each routine of the tracker was called.
    matrix : ndarray of shape (g, g), optional
        The kernel matrix of the merged variables, if it is at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, parametric_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> start, end = (DualProblem.classification(X, y, kernel=RBF(0.5), C=C) for C in (0.5, 8.0))
    >>> path = parametric_path(start, end, t=(0.5, 8.0))
    >>> path.t.round(2), path.n_support(1.5), round(path.intercept(5.0), 3)
    (array([0.5 , 1.42, 1.76, 6.13, 8.  ]), 4, -0.323)
    """

    start: DualProblem
    end: DualProblem
    line: ProblemLine
    record: PathRecord
    merged: Merged
    status: Status
    seconds: float
    start_seconds: float
    drift: float
    nullity: int
    tracker: str
    counts: dict[str, int] = field(default_factory=dict)
    matrix: np.ndarray | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        range_of_t = f"t from {self.t[0]:.6g} to {self.t[-1]:.6g}, " if len(self.t) else ""
        return f"{type(self).__name__}({len(self.t)} breakpoints, {range_of_t}{self.status.name})"

    # -- breakpoints -----------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Breakpoints in the order of the line, shape (m,); a t stands twice where α or b jumps there."""
        return self.record.C

    @property
    def events(self) -> np.ndarray:
        """Variables that left a bound or reached one, in order: a structured array of dtype `refsvm.paths.EVENT`."""
        return self.record.events

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.start.n

    @cached_property
    def _points(self) -> Timeline:
        """α of the merged variables at any breakpoint."""
        return Timeline(self.record, self.line.start.n)

    def _segment(self, t: float, before: bool) -> tuple[int, float]:
        """Return k and μ with t = (1 − μ) t_k + μ t_{k+1}."""
        t, way = real("t", t), self.line.line.t
        if not len(self.t):
            raise ValueError(f"The path is empty, as no optimum was found at its start ({self.status.name}).")
        passed = way * self.t
        if not passed[0] <= way * t <= passed[-1]:
            raise ValueError(
                f"t={t!r} is outside of the path, which goes from {self.t[0]:.6g} to {self.t[-1]:.6g}."
            )
        k = int(passed.searchsorted(way * t, side="left" if before else "right")) - (not before)
        if passed[k] == way * t:
            return k, 0.0
        k -= before
        return k, float((t - self.t[k]) / (self.t[k + 1] - self.t[k]))

    def _variables(self, t: float, before: bool) -> np.ndarray:
        """α of the merged variables."""
        k, mu = self._segment(t, before)
        here = self._points.at(k)
        if mu == 0.0:
            return here
        there = self._points.at(k + 1)
        return np.where(here == there, here, (1.0 - mu) * here + mu * there)

    # -- values at any t -------------------------------------------------------------------------------------------

    def problem(self, t: float) -> DualProblem:
        """Return the problem at t.

        Raises
        ------
        ValueError
            If t is outside of the path, here and in the other methods that take one.
        """
        self._segment(t, False)
        whole = ProblemLine(self.start, self.end, self.line.t, 1.0)
        return whole.at(real("t", t))

    def alpha(self, t: float, before: bool = False) -> np.ndarray:
        """Return the signed α at t, shape (n,), in its box exactly.

        Parameters
        ----------
        t : float
        before : bool
            Where α or b jumps at t: what the path comes with, not what it goes on with; here and in the other methods.

        Notes
        -----
        Merged variables share their sum so that each has gone the same part of the way from L to U.
        """
        chosen, group, own = self._variables(t, before), self.merged.group, self.problem(t)
        if len(chosen) == self.n:
            return chosen.clip(own.lower, own.upper)
        _, lower, upper = self.line.arrays(t)
        width = upper - lower
        part = ((chosen - lower) / np.where(width > 0.0, width, 1.0)).clip(0.0, 1.0)[group]
        return np.where(part == 1.0, own.upper, own.lower + part * (own.upper - own.lower))

    def intercept(self, t: float, before: bool = False) -> float:
        """Return b at t."""
        k, mu = self._segment(t, before)
        b = self.record.intercept
        return float(b[k] if mu == 0.0 else (1.0 - mu) * b[k] + mu * b[k + 1])

    def n_support(self, t: float, before: bool = False) -> int:
        """Count the variables with α ≠ 0."""
        return int(np.count_nonzero(self.alpha(t, before)))

    def objective(self, t: float) -> float:
        """f(α) = vᵀα − ½ αᵀKα at t: the maximum of the dual problem."""
        alpha, (v, _, _) = self._variables(t, False), self.line.arrays(t)
        return float(v @ alpha - 0.5 * alpha @ (self.kernel_matrix @ alpha))

    @cached_property
    def kernel_matrix(self) -> np.ndarray:
        """K of the merged variables, shape (g, g)."""
        if self.matrix is not None:
            return self.matrix
        return np.ascontiguousarray(self.line.start.gram.block(np.arange(self.line.start.n)))

    def decision_function(self, X: Any, t: float, before: bool = False) -> np.ndarray:
        """h(x) = Σ αᵢ k(x, xᵢ) + b at t.

        Parameters
        ----------
        X : array-like or CSR of shape (m, d)
            With a precomputed kernel or ``gram=``: shape (m, n), the kernel values with the n training examples.
        t : float
        before : bool

        Returns
        -------
        ndarray of shape (m,)
        """
        alpha = self._variables(t, before)
        support = np.flatnonzero(alpha)
        return np.asarray(self.cross(X, support) @ alpha[support] + self.intercept(t, before))

    def cross(self, X: Any, variables: np.ndarray) -> np.ndarray:
        """Return the kernel values of rows of X with the examples of merged variables, shape (m, len(variables))."""
        return cross_values(self.start.gram, self.merged.first[variables], X)

    # -- the whole path --------------------------------------------------------------------------------------------

    def kkt_audit(self, between: int = 2) -> PathAudit:
        """Measure how far the path is from optimal, at every breakpoint and at so many points between neighbours."""
        return audit(self.line, self.kernel_matrix, self.record, between)
