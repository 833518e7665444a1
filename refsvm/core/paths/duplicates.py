"""Merged duplicates: examples with the same features and label as one variable with a wider box.

Their α enter the problem through their sum alone. So the path of the merged problem is the path of the whole one, and
sharing each sum in proportion to the widths of the boxes gives one of its optimal α.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.core.problem import DualProblem


class Merged(NamedTuple):
    """The variable of each example, where several examples share one.

    Attributes
    ----------
    first : ndarray of shape (g,), int64
        The first example of each variable, ascending.
    group : ndarray of shape (n,), int64
        The variable of each example.
    weight : ndarray of shape (n,)
        Its bound that is not 0, at C = 1; that of the variable is their sum.
    """

    first: np.ndarray
    group: np.ndarray
    weight: np.ndarray

    def __repr__(self) -> str:
        return f"Merged({len(self.first)} variables of {len(self.group)} examples)"


def no_merging(problem: DualProblem) -> Merged:
    """Each variable on its own."""
    return Merged(np.arange(problem.n), np.arange(problem.n), problem.lower + problem.upper)
