"""A tolerance relative to the range of the decision values.

ψ ≤ ε is meant for decision values of size one, as those of classification with a common C are. With s = max − min of
v − G over the examples, which is the range of the decision values, a relative rule ends at

    ψ(α) ≤ ε min(1, s)

f* − f ≤ ψ · ½‖α* − α‖₁ and ‖w − w*‖² ≤ 2(f* − f): where ψ ≤ εs, both sides go as α², so the relative error of the
machine has no unit. Where nothing has moved yet, s is the range of v, which holds the targets. s is computed where
ψ ≤ ε, of all variables: where s ≥ 1 the steps are those of ψ ≤ ε, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.problem import EPSILON
from refsvm.state import SolverState

__all__ = ["ROUNDED", "SMALLEST", "compare", "relative_tolerance"]

ROUNDED: Final = 16.0 * EPSILON
"""What rounding leaves in G, relative to √n (max |G| + max |αᵢ| max Kⱼⱼ)."""

SMALLEST: Final = float(np.finfo(float).tiny)
"""Of a tolerance, where all of α, G and K is 0."""


def compare(rule: Any, state: SolverState) -> int:
    """Return 1 where ψ ≤ ε, 0 where it is not; of a relative rule 2 where ψ ≤ εs with s < 1.

    What a relative rule has compared ψ with is the last number of its memory then.
    """
    # ψ ≤ ε
    if not rule.relative or not state.gap <= rule.tol:
        return int(state.gap <= rule.tol)
    # ψ ≤ ε min(1, s)
    state.stop_memory[-1] = tolerance = relative_tolerance(rule.tol, state)
    return 0 if state.gap > tolerance else 1 if tolerance == rule.tol else 2


def relative_tolerance(tol: float, state: SolverState) -> float:
    """Return ε min(1, s), or what rounding of G allows where that is more; never more than ε.

    Examples
    --------
    Targets in metres for micrometres:

    >>> import numpy as np
    >>> from refsvm import DualProblem, KKTGap, Linear, iterate
    >>> from refsvm.stopping.relative import relative_tolerance
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), 1e-6 * np.array([0.0, 1.0, 2.0])
    >>> problem = DualProblem.regression(X, y, kernel=Linear(), epsilon=1e-7)
    >>> state = next(iterate(problem, stop=KKTGap(1e-9)))
    >>> bool(1e-9 < relative_tolerance(1e-3, state) < 1e-8)
    True
    """
    s = state.problem.decision_range(state.alpha, state.gradient)
    if s >= 1.0:
        return tol
    size = float(np.abs(state.gradient).max()) + float(np.abs(state.alpha).max()) * state.largest_diagonal
    rounding = ROUNDED * math.sqrt(len(state.alpha)) * size
    return min(max(tol * s, rounding, SMALLEST), tol)
