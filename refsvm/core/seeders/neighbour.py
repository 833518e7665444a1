"""Extrapolate from a neighbouring round: a seed from three solved problems."""

from __future__ import annotations

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.seeders.spread import complete


def extrapolate(
    alpha: np.ndarray, problem: DualProblem, after: Solution, before: Solution | None = None,
    source: Solution | None = None,
) -> np.ndarray:  # fmt: skip
    """Return a seed that changes as the solution of a neighbouring problem did, such as another fold at the same two C.

        αᵢ = clip(after αᵢ + (source αᵢ − before αᵢ))      for i that may move in both neighbouring problems,

    where `before` became `after` and `source` is to become the solution of `problem`. A variable that did not change
    there keeps its value, and one that was the same here and there follows without rounding. Without `before` and
    `source`, αᵢ = clip(after αᵢ). The rest of the sum is spread as by `complete`.

    Parameters
    ----------
    alpha : ndarray of shape (n,), float64
        L ≤ α ≤ U for all others; changed in place.
    problem : DualProblem
        To be seeded.
    after : Solution
        The neighbour in the box that corresponds to the new one.
    before, source : Solution, optional
        The neighbour in the old box, and the old problem itself.

    Returns
    -------
    ndarray of shape (n,)
        The feasible α.

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
    lower, upper, there = problem.lower, problem.upper, after.problem
    shared = (lower < upper) & (there.lower < there.upper)
    guess = after.alpha
    if before is not None and source is not None:
        guess = after.alpha + (source.alpha - before.alpha)
        guess = np.where(source.alpha == before.alpha, after.alpha, guess)
        guess = np.where(after.alpha == before.alpha, source.alpha, guess)
    alpha[shared] = np.clip(guess, lower, upper)[shared]
    return complete(alpha, problem.z, lower, upper)
