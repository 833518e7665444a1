"""The maximum-gain paper's own stopping rule: stop when the working set hardly moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from refsvm.core._checks import positive
from refsvm.core.state import SolverState
from refsvm.core.stopping.base import StoppingRule


@dataclass(frozen=True)
class WorkingSetGap(StoppingRule):
    """Stop when ψ(α) ≤ ε, or when a step that reselected a variable was shorter than ε.

    The paper stops an iteration with a maximum-gain choice when its clipped step has μ* < ε, and one with a most
    violating pair when the violation is below ε. A maximum-gain choice always shares a variable with the working set
    before it, which is how it is recognised here; the short step itself has been taken.

    |μ| has the unit of α and says nothing about optimality: use `KKTGap` unless the paper's tables are to be
    reproduced.

    Parameters
    ----------
    tol : float
        ε > 0; the paper uses LIBSVM's default, 1e-3.

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
        """Solve restricted problems to a tenth of the gap: |μ| is looked at in between."""
        return gap / 10.0

    def check(self, state: SolverState) -> int:
        """Compare the gap and the last step with ε."""
        # ψ ≤ ε
        if state.gap <= self.tol:
            return 1
        # |μ*| < ε on a set related to the one before
        latest, before = state.working_sets[0].tolist(), state.working_sets[1].tolist()
        related = latest[0] >= 0 and (latest[0] in before or latest[1] in before)
        return 2 if related and abs(state.last_step) < self.tol else 0
