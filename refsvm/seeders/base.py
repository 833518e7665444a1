"""Seeder: where the next of several similar problems starts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.result import Solution

__all__ = ["Seeder"]


class Seeder(ABC):
    """Make a feasible start for a problem out of the solution of a related one.

    Both problems have the same n variables; they differ in their boxes. A removed example has Lᵣ = Uᵣ = 0 in the new
    problem, an added one had it in the old. A seed changes the cost of a solve and never its answer.
    """

    @abstractmethod
    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return α, shape (n,), with L ≤ α ≤ U and 1ᵀα = z of the new `problem`."""

    def seeds_from(self, solved: Solution) -> Callable[[DualProblem], np.ndarray]:
        """Return `seed` for one solution and many problems; what these share is computed once."""
        return partial(self.seed, solved)

    def prepare(self, solved: Solution) -> np.ndarray:
        """Return what the twin needs to know of the solution beside α and G, float64 of any length."""
        return np.zeros(0)

    def outline(self, solved: Solution) -> np.ndarray:
        """Return as much of `prepare` as the twin needs to see whether it needs the rest: by default all of it."""
        return self.prepare(solved)

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters as the twin gets them."""
        return ()

    def twin(self) -> Callable[..., int] | None:
        """Return the Numba version ``seed(parameters, seeding) -> code``, equal bit for bit, or None.

        It writes α to ``seeding.seed`` and returns 0; or −1 − i to be called again once kernel row i is there
        (`refsvm.fast.seeding.Seeding`); or 1 to be called again with all of `prepare` in place of its `outline`.
        """
        return None
