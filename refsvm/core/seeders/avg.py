"""AVG: spreads the α of the left-out examples equally over the free support vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class AVG(Seeder):
    """Clip the solution to the box, and spread the missing sum z − 1ᵀα equally over the free variables.

        α ← clip(α*, L, U);   αᵢ += (z − 1ᵀα)/|J|  for i ∈ J = {i : Lᵢ < αᵢ < Uᵢ},  then clip αᵢ and repeat.

    Free variables may rise or fall. If all free variables reach their bounds, the seeder spreads the remaining sum over
    all variables.

    References
    ----------
    D. DeCoste and K. Wagstaff, "Alpha seeding for support vector machines", KDD 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import AVG, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, 1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> solve(problem).alpha.round(3), AVG().seed(solve(problem), problem.without(3)).round(3)
    (array([-1.253,  1.253,  1.253, -1.253]), array([-1.671,  0.836,  0.836,  0.   ]))
    """

    reads_rows: ClassVar[bool] = False

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return a feasible α for `problem`."""
        lower, upper = problem.lower, problem.upper
        return complete(np.clip(solved.alpha, lower, upper), problem.z, lower, upper)
