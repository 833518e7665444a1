"""ε-KKT: stop when no pair violates the optimality conditions by more than ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from refsvm._checks import positive
from refsvm.state import SolverState
from refsvm.stopping.base import StoppingRule

__all__ = ["KKTGap"]


@dataclass(frozen=True)
class KKTGap(StoppingRule):
    """Stop when ψ(α) = max over I_up of G − min over I_down of G ≤ ε.

    ψ has the unit of the labels: ε = 1e-3 means every decision value is right to about a thousandth of the margin.

    Parameters
    ----------
    tol : float
        ε > 0; LIBSVM's default is 1e-3.

    Raises
    ------
    ValueError
        If tol is not a positive finite number.

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
    """

    tol: float = 1e-3
    reasons: ClassVar[tuple[str, ...]] = ("The KKT gap is at most tol.",)

    def __post_init__(self) -> None:
        positive("tol", self.tol)

    def check(self, state: SolverState) -> int:
        """Compare the gap that the state keeps with ε."""
        # ψ ≤ ε
        return int(state.gap <= self.tol)

    def restricted_tolerance(self, gap: float) -> float:
        """Solve restricted problems to 10 ε at first, to ε at the end."""
        return 10.0 * self.tol if gap > 200.0 * self.tol else self.tol
