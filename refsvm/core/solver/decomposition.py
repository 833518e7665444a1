"""Decomposition: a working set of more than two variables, as a restriction to that many.

until the stopping rule is satisfied
B ← the q/2 variables of I_up with the largest G, and the q/2 others of I_down with the smallest
solve the problem restricted to B, to 0.3 ψ
G ← G − K[:, B] Δα_B, on all variables
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from refsvm.core._checks import whole
from refsvm.core.backend import Backend
from refsvm.core.engine.limits import Limits
from refsvm.core.result import Trace
from refsvm.core.solver.rules import Rules
from refsvm.core.solver.shrinking import NoShrinking, Shrinking
from refsvm.core.state import SolverState

SHARE_OF_GAP: Final = 0.3
"""The KKT gap to which a working set is solved, in that of all variables."""


@dataclass(frozen=True)
class Decomposition(Shrinking):
    """Solve for q variables at a time, those that violate the KKT conditions most: the decomposition of SVM-light.

    The steps that are counted are those of the selector and the step rule inside the working sets. The most violating
    pair is part of every working set, so each begins with a pair that gains. (It may begin with another one, and gain
    less than a step on the most violating pair would.) SVM-light also shrinks, and solves the small problems exactly,
    by an interior point method; here they are solved by steps on pairs, to three tenths of the KKT gap.

    Parameters
    ----------
    size : int
        q, at least 2 and even; no more than kernel rows fit the cache.

    Raises
    ------
    ValueError
        If size is not an even whole number, or less than 2.

    References
    ----------
    T. Joachims, "Making large-scale SVM learning practical", in Advances in Kernel Methods, 1999, section 11.3.
    T. Glasmachers and C. Igel, JMLR 7, 2006, Table 3, run it with q = 10 beside working sets of two.

    Examples
    --------
    >>> from refsvm import RBF, Decomposition, DualProblem, solve
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=100.0)
    >>> solve(problem, shrinking=Decomposition()).status.name
    'CONVERGED'
    """

    size: int = 10

    def __post_init__(self) -> None:
        if whole("size", self.size, 2) % 2:
            raise ValueError(
                f"size={self.size} is odd; half of a working set rises and half falls, such as size=10."
            )

    @property
    def for_restricted_problem(self) -> Shrinking:
        """A working set is not shrunk."""
        return NoShrinking()

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Solve for the variables of one working set."""
        if code := rules.stop.check(state):
            return code
        if state.gap <= 0.0:
            return -1
        B = working_set(state, min(self.size, 2 * (state.rows.evaluator.capacity // 2)))
        # the rows of B are needed for the gradient in any case; together they are one product
        state.rows.evaluator.fetch(state.rows.indices[B])
        # not to the end: what is gained on B alone is partly lost again once others join
        return self.solve_restricted(
            backend, limits, state, rules, trace, B, budget, at_least=SHARE_OF_GAP * state.gap
        )


def working_set(state: SolverState, size: int) -> np.ndarray:
    """Return half of `size` variables of I_up with the largest G, as many others of I_down with the smallest; sorted.

    Joachims' steepest feasible direction of `size` non-zero entries. Ties go to the lowest index.
    """
    alpha, G = state.alpha, state.gradient
    up = np.flatnonzero(alpha < state.upper)
    rising = up[np.argsort(-G[up], kind="stable")[: size // 2]]
    falls = alpha > state.lower
    falls[rising] = False
    down = np.flatnonzero(falls)
    falling = down[np.argsort(G[down], kind="stable")[: size // 2]]
    return np.sort(np.concatenate([rising, falling]))
