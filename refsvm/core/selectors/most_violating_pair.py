"""Most violating pair: the working set that violates the KKT conditions most."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.state import SolverState


@dataclass(frozen=True)
class MostViolatingPair(WorkingSetSelector):
    """i = argmax of G over I_up,  j = argmin of G over I_down.

    The rule uses only first-order information and reads no kernel row. The state finds this pair after every step,
    because Gᵢ − Gⱼ is the KKT gap ψ, which stopping rules need.

    References
    ----------
    S. S. Keerthi and E. G. Gilbert, "Convergence of a generalized SMO algorithm for SVM classifier design", Machine
    Learning 46, 2002; T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §1.3
    (under the name LIBSVM-2.71).

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear, MostViolatingPair, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=MostViolatingPair()).alpha
    array([ 0. , -0.5,  0.5])
    """

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the most violating pair, which the state stores."""
        if state.gap <= 0.0:
            return -1, -1
        # i = argmax_{I_up} G,  j = argmin_{I_down} G
        return state.top, state.bottom
