"""Finds the removed and the added examples by comparing two boxes."""

from __future__ import annotations

import numpy as np

from refsvm.core.problem import DualProblem, most_violating_pair
from refsvm.core.result import Solution


def removed(old: DualProblem, new: DualProblem) -> np.ndarray:
    """Return R, ascending: the variables that are fixed at 0 in the new problem but not in the old problem.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem
    >>> from refsvm.core.seeders.exchange import added, removed
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0], [2.0]]), np.array([-1, 1, 1]), kernel="linear")
    >>> removed(problem, problem.without(2)), added(problem.without(1), problem.without(2))
    (array([2]), array([1]))
    """
    return np.flatnonzero(~absent(old) & absent(new))


def added(old: DualProblem, new: DualProblem) -> np.ndarray:
    """Return T, ascending: the variables that are fixed at 0 in the old problem but not in the new problem."""
    return removed(new, old)


def absent(problem: DualProblem) -> np.ndarray:
    """Return a mask of the variables with L = U = 0."""
    return (problem.lower == 0.0) & (problem.upper == 0.0)


def offset(solved: Solution) -> float:
    """Return b of the solved problem, or 0 if none of its variables may move, because any b is then optimal."""
    G = solved.gradient
    ends = most_violating_pair(solved.alpha, G, solved.problem.lower, solved.problem.upper)[:2]
    known = [float(G[i]) for i in ends if i >= 0]
    return sum(known) / len(known) if known else 0.0
