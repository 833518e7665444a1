"""ActiveSet: keeps the same variables at their bounds when the bounds move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class ActiveSet(Seeder):
    """Start from the active set of the solved problem, which has the same examples and another C.

        αᵢ = Uᵢ if αᵢ* was at its upper bound,  Lᵢ if αᵢ* was at its lower bound,  clip(αᵢ*) if it was free.

    The seeder spreads the missing sum z − 1ᵀα over the free variables, and over all variables if no free variable is
    left. The seed α·C′/C (Chu et al. 2015, for linear classifiers) also keeps the same variables at their bounds, but
    multiplies the free α by C′/C. `ActiveSet` saves more steps than α·C′/C on some data, and fewer on others.

    References
    ----------
    H. J. Ferreau, H. G. Bock and M. Diehl, "An online active set strategy to overcome the limitations of explicit
    MPC", International Journal of Robust and Nonlinear Control 18, 2008: a sequence of quadratic programs, each of
    which starts from the active set of the previous one.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import ActiveSet, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [1.1], [2.0]]), np.array([-1, 1, -1, 1])
    >>> small, large = (DualProblem.classification(X, y, kernel=RBF(1.0), C=C) for C in (3.0, 6.0))
    >>> solve(small).alpha.round(3), ActiveSet().seed(solve(small), large).round(3)
    (array([-1.243,  3.   , -3.   ,  1.243]), array([-1.243,  6.   , -6.   ,  1.243]))
    """

    reads_rows: ClassVar[bool] = False

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem` with the active set of `solved`."""
        old, before = solved.problem, solved.alpha
        moves = old.lower < old.upper
        alpha = np.clip(before, problem.lower, problem.upper)
        risen = moves & (before == old.upper) & np.isfinite(problem.upper)
        fallen = moves & (before == old.lower) & np.isfinite(problem.lower)
        alpha[risen] = problem.upper[risen]
        alpha[fallen] = problem.lower[fallen]
        return complete(alpha, problem.z, problem.lower, problem.upper)
