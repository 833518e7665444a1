"""RegularizationPath: the optimum for every C of a range, stored as its breakpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from refsvm.core._checks import pandas_for
from refsvm.core.kernels.checked import cross_values, examples_like
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.paths.tracked import TrackedPath
from refsvm.core.problem import DualProblem
from refsvm.core.walk.line import RegularizationLine


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RegularizationPath(TrackedPath):
    """The optimum α(C), b(C) for every C of a range: α(C)/C and b(C)/C are linear in 1/C between breakpoints.

    `refsvm.regularization_path` makes objects of this class.

    Parameters
    ----------
    problem : DualProblem
        The problem at C = 1, in which examples with equal features and labels share one variable.
    record, merged, status, seconds, start_seconds, drift, nullity, tracker, counts, matrix, classes
        As in `refsvm.core.paths.tracked.TrackedPath`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, regularization_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    >>> path
    RegularizationPath(5 breakpoints, C from 0.1 to 10, CONVERGED)
    >>> path.C.round(2)
    array([ 0.1 ,  1.42,  1.76,  6.13, 10.  ])
    >>> path.alpha(1.5).round(3), path.n_support(1.5), round(path.intercept(5.0), 3)
    (array([-1.447,  1.5  , -1.5  ,  1.447]), 4, -0.323)
    """

    problem: DualProblem

    @cached_property
    def along(self) -> RegularizationLine:
        """The problems that the path solves, with the parameter λ = 1/C and the scaled variables ŝ = α/C."""
        return RegularizationLine(self.problem)

    # -- breakpoints -----------------------------------------------------------------------------------------------

    @property
    def C(self) -> np.ndarray:  # noqa: N802
        """The C of all breakpoints, ascending, shape (m,); the first and the last are the ends of the range.

        The array is empty if a limit, Ctrl-C or rounding errors ended the call before the optimum at C_min was found.
        """
        return self.record.t

    # -- values at any C -------------------------------------------------------------------------------------------

    def alpha(self, C: float) -> np.ndarray:
        """Return the signed α at C, shape (n,).

        Raises
        ------
        ValueError
            If C is outside the range of the path; all methods with an argument C
            raise this error.
        """
        bound = self.problem.lower + self.problem.upper
        part = self._variables(C) / np.where(bound == 0.0, 1.0, bound)
        part = part.clip(0.0, 1.0)  # rounding may move α/bound out of [0, 1]
        return C * self.merged.weight * part[self.merged.group]

    def intercept(self, C: float) -> float:
        """Return b at C."""
        return C * (self._intercept(C) - self._gram.offset(self._variables(C)))

    def n_support(self, C: float) -> int:
        """Return the number of examples with α ≠ 0 at C."""
        return int(np.count_nonzero(self.alpha(C)))

    def objective(self, C: float) -> float:
        """Return the maximum of the dual problem at C, f(α) = vᵀα − ½ αᵀKα."""
        alpha = C * self._variables(C)
        return float(self.problem.v @ alpha - 0.5 * alpha @ (self.kernel_matrix @ alpha))

    def decision_function(self, X: Any, C: float) -> np.ndarray:
        """Return h(x) = Σ αᵢ k(x, xᵢ) + b at C for each row of X.

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
            Examples. With a precomputed kernel or ``gram=``, X holds the kernel values between t examples and the n
            training examples, shape (t, n).
        C : float
            The penalty.

        Returns
        -------
        ndarray of shape (t,)
        """
        return C * self._decision(X, C)

    def predict(self, X: Any, C: float) -> np.ndarray:
        """Return labels at C, shape (t,): the second of `classes` if h ≥ 0, else the first; in regression, return h."""
        values = self.decision_function(X, C)
        return self.classes[(values >= 0.0).astype(np.int64)] if self.problem.has_labels else values

    def cross(self, X: Any, variables: np.ndarray) -> np.ndarray:
        """Return the kernel values between the rows of X and the given variables, shape (t, len(variables))."""
        gram: Any = self.problem.centred.gram
        whole = self.merged.first
        if len(whole) < self.n and isinstance(getattr(gram, "kernel", None), Precomputed):
            # X has a column for every example, but the path uses only the first example of each variable
            if (X := examples_like(gram, X)).shape[1] != self.n:
                raise ValueError(
                    f"X has shape {X.shape}; with a precomputed kernel or gram= give one column for each of the "
                    f"{self.n} training examples."
                )
            X = X[:, whole]
        return cross_values(gram, variables, X)

    # -- along the whole path --------------------------------------------------------------------------------------

    validation_error: ClassVar[Callable[..., Any]]
    """The method ``validation_error(X, y)``; `refsvm.analysis.paths.error_curve` adds it to this class."""

    def to_frame(self) -> Any:
        """Return the events as a pandas DataFrame; in each row, a variable moves between right, elbow and left."""
        pd = pandas_for("to_frame()")

        events = self.events
        names = {-1: "right", 0: "elbow", 1: "left"}
        return pd.DataFrame(
            {
                "C": self.C[events["breakpoint"]],
                "index": self.merged.first[events["index"]],
                "before": [names[side] for side in events["before"].tolist()],
                "after": [names[side] for side in events["after"].tolist()],
                "kind": events["kind"],
                "elbow": self.record.elbow[events["breakpoint"]],
            }
        )
