"""Decomposition: working sets of q > 2 variables, each solved as a restricted problem.

A solve is the following loop.

    Until the stopping rule is satisfied:
        B ← the q/2 variables of I_up with the largest G, and q/2 others of I_down with the smallest G;
        solve the problem restricted to B to the KKT gap 0.3 ψ;
        G ← G − K[:, B] Δα_B, on all variables.
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
"""A working set is solved until its KKT gap is this fraction of the KKT gap of all variables."""


@dataclass(frozen=True)
class Decomposition(Shrinking):
    """Solve repeatedly for the q variables that violate the KKT conditions most: the decomposition of SVM-light.

    Every working set contains the most violating pair, so steps on its variables can raise f. The selector and the step
    rule take steps on pairs in the working set until its KKT gap is 0.3 ψ (ψ is the gap of all variables); the solver
    counts these steps. SVM-light itself solves for each working set exactly, by an interior point method, and shrinks.

    Parameters
    ----------
    size : int
        Number q of variables in a working set: even, at least 2, and at most the number of kernel rows in the cache.

    Raises
    ------
    ValueError
        If size is odd, less than 2, or not a whole number.

    References
    ----------
    T. Joachims, "Making large-scale SVM learning practical", in Advances in Kernel Methods, 1999, section 11.3.
    T. Glasmachers and C. Igel, JMLR 7, 2006, Table 3, compare q = 10 with working sets of two.

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
                f"size={self.size} is odd, but half of a working set rises and half falls; give e.g. size=10."
            )

    @property
    def for_restricted_problem(self) -> Shrinking:
        """The shrinking rule for the steps inside a working set: no shrinking."""
        return NoShrinking()

    def steps(
        self, backend: Backend, limits: Limits[SolverState], state: SolverState, rules: Rules, budget: int,
        trace: Trace | None,
    ) -> int:  # fmt: skip
        """Choose one working set and solve for its variables."""
        if code := rules.stop.check(state):
            return code
        if state.gap <= 0.0:
            return -1
        B = working_set(state, min(self.size, 2 * (state.rows.evaluator.capacity // 2)))
        # compute all rows of B in one product, because the update of G will need them
        state.rows.evaluator.fetch(state.rows.indices[B])
        # do not solve exactly for B: the next working set would undo part of the gain
        return self.solve_restricted(
            backend, limits, state, rules, trace, B, budget, at_least=SHARE_OF_GAP * state.gap
        )


def working_set(state: SolverState, size: int) -> np.ndarray:
    """Return sorted indices of size/2 variables in I_up with the largest G, and size/2 in I_down with the smallest G.

    Joachims' steepest feasible direction changes exactly the returned variables. Ties go to the lowest index.
    """
    alpha, G = state.alpha, state.gradient
    up = np.flatnonzero(alpha < state.upper)
    rising = up[np.argsort(-G[up], kind="stable")[: size // 2]]
    falls = alpha > state.lower
    falls[rising] = False
    down = np.flatnonzero(falls)
    falling = down[np.argsort(G[down], kind="stable")[: size // 2]]
    return np.sort(np.concatenate([rising, falling]))
