"""Cold start: the seeder that ignores the solution and starts at α = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class Cold(Seeder):
    """Start at α = 0, clipped to the box, and spread the missing sum z − 1ᵀα equally over all variables.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Cold, DualProblem, Linear, solve
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1]), kernel=Linear())
    >>> Cold().seed(solve(problem), problem.without(0))
    array([0., 0., 0.])
    """

    reads_rows: ClassVar[bool] = False

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return α = 0, clipped to the box and completed to the sum z."""
        alpha = np.clip(np.zeros(problem.n), problem.lower, problem.upper)
        return complete(alpha, problem.z, problem.lower, problem.upper)
