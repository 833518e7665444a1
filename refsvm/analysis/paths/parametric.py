"""ParametricPath: the optimum of every problem between two problems, stored as breakpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.analysis.paths.novelty import intercept_of_inside
from refsvm.analysis.resampling.task import is_novelty
from refsvm.core._checks import real
from refsvm.core.kernels.checked import cross_values
from refsvm.core.paths.tracked import TrackedPath
from refsvm.core.problem import DualProblem
from refsvm.core.walk.line import ProblemLine

AT_BOUND: Final = 1e-9
"""Largest rounding error of a bounded variable between two breakpoints, relative to its bound."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ParametricPath(TrackedPath):
    """The optimum α(t), b(t) of every problem between two problems; α and b are affine in t between breakpoints.

    `refsvm.parametric_path` and the functions of `refsvm.analysis.paths.lines` return this class.

    Parameters
    ----------
    start, end : DualProblem
        The problems at both ends of the line.
    line : ProblemLine
        The line from `start` to `end`, on which one variable replaces each group of merged variables.
    record, merged, status, seconds, start_seconds, drift, nullity, tracker, counts, matrix, classes
        As in `refsvm.core.paths.tracked.TrackedPath`.

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
        """The line between both problems, an alias of `line`."""
        return self.line

    # -- breakpoints -----------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Breakpoints in the order of the line, shape (m,); a t at which α or b jumps occurs twice."""
        return self.record.t

    # -- values at any t -------------------------------------------------------------------------------------------

    def problem(self, t: float) -> DualProblem:
        """Return the problem at t.

        Raises
        ------
        ValueError
            If t is outside the path; all methods with an argument t raise this error.
        """
        self._segment(t)
        whole = ProblemLine(self.start, self.end, self.line.t, 1.0)
        return whole.at(real("t", t))

    def alpha(self, t: float, before: bool = False) -> np.ndarray:
        """Return the signed α at t, shape (n,), exactly inside its box.

        Parameters
        ----------
        t : float
            The parameter.
        before : bool
            If α or b jumps at t: whether to return the value before the jump, as seen from the start of the path.

        Notes
        -----
        The sum of merged variables is divided so that each variable is at the same fraction of the way from its L to
        its U.
        """
        chosen, group, own = self._variables(t, before), self.merged.group, self.problem(t)
        if len(chosen) == self.n:
            return chosen.clip(own.lower, own.upper)
        _, lower, upper = self.line.arrays(t)
        width = upper - lower
        part = ((chosen - lower) / np.where(width > 0.0, width, 1.0)).clip(0.0, 1.0)[group]
        return np.where(part == 1.0, own.upper, own.lower + part * (own.upper - own.lower))

    def intercept(self, t: float, before: bool = False) -> float:
        """Return b at t; for a one-class problem the least b for which at most a share ν of the examples is outside."""
        return self._intercept(t, before) - self._gram.offset(self._variables(t, before))

    def _intercept(self, at: float, before: bool = False) -> float:
        """Return b; for a one-class problem, the end of b's interval at which examples with α below U are inside.

        With the returned b, at most a share ν of the training data is outside, as in `refsvm.OneClassSVM`.
        """
        b = super()._intercept(at, before)
        if not (is_novelty(self.start) and is_novelty(self.end)):
            return b
        alpha, (_, _, upper) = self._variables(at, before), self.line.arrays(at)
        gradient = -(self.kernel_matrix @ alpha)
        return intercept_of_inside(self._gram, alpha, gradient, alpha < (1.0 - AT_BOUND) * upper, b)

    def n_support(self, t: float, before: bool = False) -> int:
        """Return the number of variables with α ≠ 0."""
        return int(np.count_nonzero(self.alpha(t, before)))

    def objective(self, t: float) -> float:
        """Return f(α) = vᵀα − ½ αᵀKα at t, the maximum of the dual problem."""
        alpha, (v, _, _) = self._variables(t), self.line.arrays(t)
        return float(v @ alpha - 0.5 * alpha @ (self.kernel_matrix @ alpha))

    def decision_function(self, X: Any, t: float, before: bool = False) -> np.ndarray:
        """Return h(x) = Σ αᵢ k(x, xᵢ) + b at t.

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
        return self._decision(X, t, before)

    def cross(self, X: Any, variables: np.ndarray) -> np.ndarray:
        """Return kernel values of the rows of X with the examples of some variables, shape (m, len(variables))."""
        if (gram := self._gram).origin is not None:  # b belongs to the data that `gram` shifts to `origin`
            return cross_values(gram, variables, X)
        return cross_values(self.start.gram, self.merged.first[variables], X)
