"""Seeder: computes a starting point for a problem from the solution of a similar problem."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.rule import Rule


class Seeder(Rule):
    """Computes a feasible start (a seed) for a problem from the solution of a related problem.

    The solved problem and the new problem have the same n variables and differ in their boxes: a removed example has
    Lᵣ = Uᵣ = 0 in the new problem, and an added example has Lᵣ = Uᵣ = 0 in the old problem. A seed changes the number
    of steps of a solve, never its result.

    Several seeds computed from one solution may need the same numbers, such as an inverse matrix. `memory`, called with
    this solution, computes these numbers once and returns them, or an empty array if there are none. A seeder with a
    memory has the signature ``seed(solved, problem, memory=None)``, and must accept the memory, an empty array, and
    None. A compiled version (twin) has the signature ``seed(parameters, seeding) -> 0`` and writes α to
    ``seeding.seed`` (`refsvm.compiled.interface.seeding.Seeding`).
    """

    example_call: ClassVar[str] = "TOP()"
    role: ClassVar[str] = "SEED"
    reads_rows: ClassVar[bool] = True
    """True if a seed depends on kernel rows, which the compiled seeder reads as float64."""
    is_exact: Any = False
    """True if a seed is the new optimum itself, as exact as the old optimum.

    `leave_one_out` then solves the full problem more exactly, and marks the rounds that take no step after the seed as
    decided by "path".
    """

    @abstractmethod
    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return α, shape (n,), with L ≤ α ≤ U and 1ᵀα = z for the new `problem`."""

    def pays(self, solved: Solution, steps: int, left_out: Sequence[Any]) -> bool:
        """Return True if calling `memory` saves time for the problems that `left_out` describes.

        Each entry of `left_out` names the examples that one problem leaves out; `steps` means the same as in `memory`.
        If `pays` returns False, `seed` gets an empty memory.
        """
        return True
