"""Merged duplicates: one variable with a wider box stands for all examples with equal features and labels.

Only the sum of the duplicates' α enters the problem, so the merged problem has the same path as the original problem.
Dividing each sum among its examples in proportion to the widths of their boxes gives an optimal α.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.core.problem import DualProblem


class Merged(NamedTuple):
    """The assignment of examples to variables; several examples may share one variable.

    Attributes
    ----------
    first : ndarray of shape (g,), int64
        The first example of each variable, ascending.
    group : ndarray of shape (n,), int64
        The variable of each example.
    weight : ndarray of shape (n,)
        For each example, the non-zero bound of its α at C = 1. The bound of a variable is the sum of these bounds
        over its examples.
    """

    first: np.ndarray
    group: np.ndarray
    weight: np.ndarray

    def __repr__(self) -> str:
        return f"Merged({len(self.first)} variables of {len(self.group)} examples)"


def no_merging(problem: DualProblem) -> Merged:
    """Return the assignment of each example to its own variable."""
    return Merged(np.arange(problem.n), np.arange(problem.n), problem.lower + problem.upper)
