"""Machine: a problem from which rounds leave examples out."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from refsvm.core.problem import DualProblem

CLASSIFICATION, REGRESSION, NOVELTY = "classification", "regression", "novelty"

COPIES: Final = {CLASSIFICATION: 1, REGRESSION: 2, NOVELTY: 1}
"""Number of variables per example, for each kind of problem."""


class Machine(NamedTuple):
    """One model of a task, such as the model of two classes; rounds leave examples out of its problem.

    Attributes
    ----------
    problem : DualProblem
        The problem with all examples.
    pair : (int, int)
        Indices of the two classes; (0, 0) if there are no classes.
    copies : int
        Number of variables per example.
    """

    problem: DualProblem
    pair: tuple[int, int]
    copies: int

    def variables(self, examples: np.ndarray) -> np.ndarray:
        """Return the variables of m examples, shape (copies · m,): all first variables, then all second variables."""
        if self.copies == 1:
            return examples
        return np.concatenate([examples, examples + self.problem.n // 2])
