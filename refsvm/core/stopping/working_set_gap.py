"""The stopping rule of the maximum-gain paper: stop when a step hardly changes the working set's α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from refsvm.core._checks import positive
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule


@dataclass(frozen=True)
class WorkingSetGap(StoppingRule):
    """Stop when ψ(α) ≤ ε, or when a step that moved a variable of the previous working set was shorter than ε.

    If maximum gain chose the pair, the paper's solver stops when the length μ* of "the constrained step" is below ε; if
    the pair is the most violating pair, it stops when the pair's violation is below ε. `WorkingSetGap` takes the
    clipped step as μ*; the paper's step counts suggest that its authors took the Newton step. If a pair shares a
    variable with the previous working set, the class assumes that maximum gain chose the pair. The rule stops after the
    short step, not before it.

    The length |μ| has the unit of α and says nothing about optimality; use `KKTGap` unless you reproduce the paper's
    tables.

    Parameters
    ----------
    tol : float
        Tolerance ε > 0; the paper uses LIBSVM's default, 1e-3.

    Raises
    ------
    ValueError
        If tol is not a positive finite number.

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §2.3 and §2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, HybridMaximumGain, RBF, WorkingSetGap, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, 1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0))
    >>> solve(problem, selector=HybridMaximumGain(), stop=WorkingSetGap(), shrinking=False).status.name
    'CONVERGED'
    """

    tol: float = 1e-3
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The last step on a reselected variable was shorter than tol.",
    )

    def __post_init__(self) -> None:
        positive("tol", self.tol)

    def restricted_tolerance(self, gap: float) -> float:
        """Return a tenth of the gap, so that |μ| is tested often enough on the full problem."""
        return gap / 10.0

    def check(self, state: SolverState) -> int:
        """Compare the KKT gap and the length of the last step with ε."""
        # ψ ≤ ε
        if state.gap <= self.tol:
            return 1
        # |μ*| < ε for a pair that shares a variable with the previous working set
        latest, before = state.working_sets[0].tolist(), state.working_sets[1].tolist()
        related = latest[0] >= 0 and (latest[0] in before or latest[1] in before)
        return 2 if related and abs(state.last_step) < self.tol else 0
