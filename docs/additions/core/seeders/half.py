"""Half: every variable keeps half of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class Half(Seeder):
    """α ← clip(½α*, L, U); the free variables share equally what the sum then lacks."""

    reads_rows: ClassVar[bool] = False

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        lower, upper = problem.lower, problem.upper
        return complete(np.clip(0.5 * solved.alpha, lower, upper), problem.z, lower, upper)
