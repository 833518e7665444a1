"""Machines: the problems whose examples rounds leave out."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from refsvm.core.problem import DualProblem

CLASSIFICATION, REGRESSION, NOVELTY = "classification", "regression", "novelty"

COPIES: Final = {CLASSIFICATION: 1, REGRESSION: 2, NOVELTY: 1}
"""Variables of an example."""


class Machine(NamedTuple):
    """One of the machines of a task: a family of problems that differ in which examples are left out.

    Attributes
    ----------
    problem : DualProblem
        With all examples.
    pair : (int, int)
        Numbers of the two classes; (0, 0) where there are none.
    copies : int
        Variables of an example.
    """

    problem: DualProblem
    pair: tuple[int, int]
    copies: int

    def variables(self, examples: np.ndarray) -> np.ndarray:
        """Return the variables of some examples, shape (copies · m,): those of the first copy come first."""
        if self.copies == 1:
            return examples
        return np.concatenate([examples, examples + self.problem.n // 2])
