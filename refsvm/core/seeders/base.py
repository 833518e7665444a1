"""Seeder: where the next of several similar problems starts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.rule import Rule


class Seeder(Rule):
    """Returns a feasible start for a problem, from the solution of a related one.

    Both problems have the same n variables; they differ in their boxes. A removed example has Lᵣ = Uᵣ = 0 in the new
    problem, an added one had it in the old. A seed changes the cost of a solve and never its answer.

    Seeds from one solution may share work, such as an inverse: `memory` does it once, for a solution in place of a
    problem, and returns an empty array where nothing is shared. A seeder that has one is asked with it, with an empty
    one and without: ``seed(solved, problem, memory=None)``. The twin is ``seed(parameters, seeding) -> 0``; it writes α
    to ``seeding.seed`` (`refsvm.compiled.interface.seeding.Seeding`).
    """

    example_call: ClassVar[str] = "TOP()"
    role: ClassVar[str] = "SEED"
    reads_rows: ClassVar[bool] = True
    """Whether a seed depends on kernel rows, which the twin reads as float64."""
    is_exact: Any = False
    """Whether a seed is the new optimum itself, as exactly as the old one is known.

    `leave_one_out` solves the full problem more exactly then, and says "path" where no step came after the seed.
    """

    @abstractmethod
    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return α, shape (n,), with L ≤ α ≤ U and 1ᵀα = z of the new `problem`."""

    def pays(self, solved: Solution, steps: int, left_out: Sequence[Any]) -> bool:
        """Return whether to make `memory` for problems that leave these examples of `solved` out, one entry for each.

        Where not, their seeds get an empty one. `steps` as in `memory`.
        """
        return True
