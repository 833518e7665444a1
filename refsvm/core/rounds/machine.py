"""Machines: the problems whose examples rounds leave out, and what the algorithms of rounds ask of a task."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution

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


class LeftOutMachine(NamedTuple):
    """A machine, and which examples leave-one-out asks it about.

    Attributes
    ----------
    machine : Machine
    examples : ndarray of shape (m,), int64
        Those of its problem, ascending.
    asked : list of int or None
        Positions among them; None for all.
    gram : KernelMatrix
        Of all examples.
    """

    machine: Machine
    examples: np.ndarray
    asked: list[int] | None
    gram: KernelMatrix

    @property
    def others(self) -> np.ndarray:
        """The examples of other classes, ascending."""
        return np.setdiff1d(np.arange(self.gram.n), self.examples, assume_unique=True)

    def values_of_others(self, full: Solution) -> np.ndarray:
        """h of the machine of all examples for those of other classes."""
        support = np.flatnonzero(full.alpha)
        values = self.gram.block(self.examples[support], self.others)
        return arithmetic.product(full.alpha[None, support], values)[0] + full.intercept


class Task(Protocol):
    """What a table of leave-one-out asks of its task (`refsvm.analysis.resampling.task.Task`)."""

    @property
    def kind(self) -> str:
        """One of the three above."""

    @property
    def gram(self) -> KernelMatrix:
        """The matrix of the examples."""

    @property
    def labels(self) -> np.ndarray:
        """The labels given, or targets, shape (n,)."""

    @property
    def classes(self) -> np.ndarray:
        """Names of the classes; empty where there are none."""

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Numbers of the two classes of each machine; (0, 0) where there are none."""

    def predicted(self, values: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the predictions from the decision values of all machines, shape (n, machines)."""
