"""Greedy selection: the pair with the largest exact gain among all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.selectors.gain import exact_gain, unless_negligible
from refsvm.core.state import TAU, SolverState


@dataclass(frozen=True)
class Greedy(WorkingSetSelector):
    """(i, j) = argmax of the exact gain g(μ*) over all n(n − 1)/2 pairs.

    The gain g(μ*) = μ*ℓ − ½μ*²q of the clipped step μ* is exactly what the step adds to f. Comparing all pairs needs
    the whole kernel matrix and O(n²) time for each step, so this rule serves for comparisons with selectors that look
    at fewer pairs. `solve` raises an error if the matrix does not fit in `cache_mb`.

    The convergence proof (Corollary 6) holds in exact arithmetic. In floating point, the largest computed gain may be
    only rounding error; the rule then takes the most violating pair (`refsvm.core.selectors.gain.unless_negligible`).

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §2.3, eq. 3 and
    Corollary 6 (convergence).

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Greedy, Linear, solve
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
    >>> solve(DualProblem.classification(X, y, kernel=Linear()), selector=Greedy()).alpha
    array([ 0. , -0.5,  0.5])
    """

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the best pair, found by a scan of all pairs with i in I_up, j in I_down and Gᵢ > Gⱼ."""
        i, j, best = -1, -1, 0.0
        fall = state.alpha - state.lower
        for r in range(len(state.alpha)):
            rise = state.upper[r] - state.alpha[r]
            if not rise > 0.0:
                continue
            # ℓ = Gᵢ − Gⱼ,  q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
            slope = state.gradient[r] - state.gradient
            curvature = state.diagonal[r] + state.diagonal - 2.0 * state.row(r)
            curvature[~(curvature > 0.0)] = TAU
            gain = exact_gain(slope, curvature, np.minimum(rise, fall))
            s = int(gain.argmax())
            if gain[s] > best:
                i, j, best = r, s, float(gain[s])
        return unless_negligible(state, i, j, best)

    def rows_needed(self, n: int) -> int:
        """Return n: the rule reads all kernel rows."""
        return n
