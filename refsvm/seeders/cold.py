"""Cold start: the seeder that seeds nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refsvm.seeders.base import Seeder

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.result import Solution

__all__ = ["Cold"]


@dataclass(frozen=True)
class Cold(Seeder):
    """α = 0, or the feasible point nearest to it where the box excludes 0.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import Cold, DualProblem, Linear, solve
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1]), kernel=Linear())
    >>> Cold().seed(solve(problem), problem.without(0))
    array([0., 0., 0.])
    """

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Ignore what was solved."""
        return problem.feasible(np.zeros(problem.n))
