"""Extrapolation from a neighbouring round: a seed from three solved problems."""

from __future__ import annotations

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.spread import complete


def extrapolate(
    alpha: np.ndarray, problem: DualProblem, after: Solution, before: Solution | None = None,
    source: Solution | None = None,
) -> np.ndarray:  # fmt: skip
    """Return a seed: this problem's earlier α plus the change of α between two solutions of a neighbouring problem.

        αᵢ = clip(after αᵢ + (source αᵢ − before αᵢ))      for i that may move in `problem` and in its neighbour.

    The neighbour's solution changed from `before` to `after`; the new solution of `problem` should differ from `source`
    in the same way. If αᵢ is equal in `before` and `after`, the seed takes αᵢ from `source`; if αᵢ is equal in `before`
    and `source`, the seed takes αᵢ from `after`. Without `before` and `source`, the seed is the α of `after`, clipped
    to the box. The function `complete` spreads the missing sum z − 1ᵀα.

    Parameters
    ----------
    alpha : ndarray of shape (n,), float64
        A point in the box, changed in place: the formula replaces αᵢ for each i that may move in both problems.
    problem : DualProblem
        The problem that needs a seed.
    after : Solution
        Solution of the neighbouring problem with the new penalty.
    before, source : Solution, optional
        `before` is the neighbouring problem's solution with the old penalty, and `source` is the solution of this
        problem with the old penalty.

    Returns
    -------
    ndarray of shape (n,)
        A feasible α.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> from refsvm.core.seeders.neighbour import extrapolate
    >>> X, y = np.array([[0.0], [1.0], [1.1], [2.0]]), np.array([-1, 1, -1, 1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=3.0)
    >>> there, here = problem.without(3), problem.without(0)
    >>> extrapolate(here.lower + here.upper, here, solve(there)).round(3)
    array([ 0. ,  1.5, -3. ,  1.5])
    """
    lower, upper, neighbour = problem.lower, problem.upper, after.problem
    shared = (lower < upper) & (neighbour.lower < neighbour.upper)
    guess = after.alpha
    if before is not None and source is not None:
        guess = after.alpha + (source.alpha - before.alpha)
        guess = np.where(source.alpha == before.alpha, after.alpha, guess)
        guess = np.where(after.alpha == before.alpha, source.alpha, guess)
    alpha[shared] = np.clip(guess, lower, upper)[shared]
    return complete(alpha, problem.z, lower, upper)
