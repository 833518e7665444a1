"""The usual step: the Newton step, clipped to the box."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core.state import SolverState
from refsvm.core.steps.base import StepRule


@dataclass(frozen=True)
class NewtonStep(StepRule):
    """Take μ* = clip(μ̂, lo, hi) with the Newton step μ̂ = ℓ/q: the exact maximum of f on the feasible segment.

    References
    ----------
    J. Platt, "Fast training of support vector machines using sequential minimal optimization", 1998; T. Glasmachers,
    "The planning-ahead SMO algorithm", 2008, eq. 2.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, NewtonStep, solve
    >>> X, y = np.array([[0.0], [2.0]]), np.array([-1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear(), C=0.3), step=NewtonStep()).alpha
    array([-0.3,  0.3])
    """

    def length(self, state: SolverState, i: int, j: int) -> float:
        """Return the Newton step, clipped to the box."""
        # μ* = clip(ℓ/q, lo, hi)
        return min(max(state.slope / state.curvature, state.low), state.high)
