"""The KKT gap: stop when no pair violates the optimality conditions by more than ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core._checks import positive
from refsvm.core.problem import DualProblem
from refsvm.core.state import NOTHING, SolverState
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.relative import compare


@dataclass(frozen=True)
class KKTGap(StoppingRule):
    """Stop when ψ(α) = max over I_up of G − min over I_down of G ≤ ε, or ≤ ε times the range of the decision values.

    ψ has the unit of the labels: with ε = 1e-3 and labels ±1, decision values are right to about 0.001. If all decision
    values differ by less than ε, for example with a tiny C or targets in a small unit, every model satisfies ψ ≤ ε, and
    a relative tolerance is needed.

    Parameters
    ----------
    tol : float
        Tolerance ε > 0; default 1e-3 as in LIBSVM.
    relative : bool or float
        With False (default), the rule stops when ψ(α) ≤ ε. With True, as in the estimators, `leave_one_out` and
        `cross_validate`, the rule stops when ψ(α) ≤ ε min(1, s), where s is the range of the decision values. With a
        number u, the unit of the targets, the rule stops when ψ(α) ≤ ε min(1, s/u).

    Raises
    ------
    ValueError
        If `tol`, or a number given for `relative`, is not positive and finite.

    References
    ----------
    S. S. Keerthi and E. G. Gilbert, Machine Learning 46, 2002; T. Glasmachers, "The planning-ahead SMO algorithm",
    2008, Algorithm 1, step 4.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, KKTGap, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, 1, -1])
    >>> solve(DualProblem.classification(X, y, kernel=RBF(1.0)), stop=KKTGap(1e-6)).kkt_gap <= 1e-6
    True

    With C = 1e-6, the absolute tolerance of the papers is already satisfied at the start:

    >>> tiny = DualProblem.classification(X, y, kernel=RBF(1.0), C=1e-6)
    >>> [solve(tiny, stop=KKTGap(relative=each)).reason for each in (False, True)]
    ['The KKT gap is at most tol.', 'The KKT gap is at most tol times the range of the decision values.']
    """

    tol: float = 1e-3
    relative: bool | float = False
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The KKT gap is at most tol times the range of the decision values.",
    )

    def __post_init__(self) -> None:
        positive("tol", self.tol)
        if not isinstance(self.relative, bool):
            positive("relative", self.relative)

    def memory(self, problem: DualProblem, steps: int = 0) -> np.ndarray:
        """Return v and places for the first s and last tolerance, or an empty array if the tolerance is absolute."""
        return np.append(problem.v, (0.0, self.tol)) if self.relative else NOTHING

    def check(self, state: SolverState) -> int:
        """Compare the state's KKT gap with ε or ε min(1, s/u)."""
        # ψ ≤ ε, or ψ ≤ ε min(1, s/u)
        return compare(self, state)

    def restricted_tolerance(self, gap: float) -> float:
        """Return 10 ε while the full problem's gap is large, and ε at the end."""
        return 10.0 * self.tol if gap > 200.0 * self.tol else self.tol
