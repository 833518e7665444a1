"""ParametricPath: the optimum along a line of problems, stored as its breakpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm._checks import real
from refsvm.kernels.checked import cross_values
from refsvm.paths.tracked import TrackedPath
from refsvm.problem import DualProblem
from refsvm.walk.line import ProblemLine

__all__ = ["ParametricPath"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ParametricPath(TrackedPath):
    """The optimum α(t), b(t) of every problem on a line: affine in t between breakpoints.

    Made by `refsvm.parametric_path` and by the lines with a name.

    Parameters
    ----------
    start, end : DualProblem
        The problems at both ends.
    line : ProblemLine
        What is between them, with merged variables as one.
    record, merged, status, seconds, start_seconds, drift, nullity, tracker, counts, matrix
        As of `refsvm.paths.tracked.TrackedPath`.

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

    @property
    def along(self) -> ProblemLine:
        """As `line`."""
        return self.line

    # -- breakpoints -----------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Breakpoints in the order of the line, shape (m,); a t stands twice where α or b jumps there."""
        return self.record.t

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
        return self._between(*self._segment(t, before))

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
