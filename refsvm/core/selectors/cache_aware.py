"""Cache-aware selection: second order while kernel rows fit the cache, hybrid maximum gain afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.core.selectors.hybrid_maximum_gain import HybridMaximumGain
from refsvm.core.selectors.second_order import SecondOrder
from refsvm.core.state import SolverState

SECOND_ORDER: Final = SecondOrder()


@dataclass(frozen=True)
class CacheAware(HybridMaximumGain):
    """Second-order selection while the cache has a free slot for a kernel row, hybrid maximum gain once it is full.

        m < min(n, capacity):  i = argmax of G over I_up,  j = argmax of (Gᵢ − Gⱼ)²/q over j in I_down with Gⱼ < Gᵢ
        m = capacity < n:      (i, j) = argmax of g(μ*) over the pairs that contain a variable of the previous set
        m = n:                 i and j as in the first line: no row is missing

    m is the number of rows in memory, capacity the number that fits. A row that has been computed is not computed again
    before the cache is full, so second order computes at most as many rows as there are variables, and takes fewer
    steps. With a full cache rows
    are evicted and computed anew; hybrid maximum gain needs one new row a step at most. A cache for all n rows is never
    full. The cache frees no slot during a solve, so the selection changes over once at most, and the convergence proof
    of the later rule holds.

    The store that the rules read counts: on a restricted problem its own rows. A restricted problem that takes
    the memory of all rows leaves an empty cache, and second order begins anew.

    Parameters
    ----------
    eta, rows
        Those of `HybridMaximumGain`.

    References
    ----------
    The rule is ours. T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, section
    5, suggest "a mixed strategy which switches between the algorithms depending on cache and problem size".

    Examples
    --------
    >>> from refsvm import RBF, CacheAware, DualProblem, solve
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=100.0)
    >>> solve(problem, selector=CacheAware(), shrinking=False, cache_mb=0.1).status.name
    'CONVERGED'
    """

    def memory(self, problem: Any, steps: int = 0) -> np.ndarray:
        """The number of the last step that second order chose."""
        return np.full(1, -1.0)

    def select(self, state: SolverState) -> tuple[int, int]:
        """Choose by the rule that the cache has room for."""
        rows, latest = state.rows, state.selector_memory
        full = not rows.holds_all and rows.filled == rows.capacity
        # second order may take the last slot for its own row, and goes on with it
        if full and latest[0] != state.iteration:
            return super().select(state)
        latest[0] = state.iteration
        return SECOND_ORDER.select(state)
