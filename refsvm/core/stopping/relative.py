"""A tolerance relative to the range of the decision values.

ψ ≤ ε is meant for decision values of size one, as those of classification with a common C are. With s = max − min of
v − G over the examples, which is the range of the decision values, a relative rule ends at

    ψ(α) ≤ ε min(1, s)

For decision values of another size u, as where targets stand in another unit, ε belongs to that size: a rule whose
``relative`` is the number u ends at ψ(α) ≤ ε min(1, s/u). With targets, C, ε and u in another unit the steps are the
same, to rounding. True is u = 1.

f* − f ≤ ψ · ½‖α* − α‖₁ and ‖w − w*‖² ≤ 2(f* − f): where ψ ≤ εs, both sides go as α², so the relative error of the
machine has no unit. Where nothing has moved yet, s is the range of v, which holds the targets. s is computed where
ψ ≤ ε, of all variables: where s ≥ u the steps are those of ψ ≤ ε, bit for bit.

The best machine may be a constant: then s falls with ψ, and no number of steps would end it. So s counts for no less
than a hundredth of what it was when it was first computed with some αᵢ ≠ 0.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core.problem import EPSILON
from refsvm.core.state import SolverState

ROUNDED: Final = 16.0 * EPSILON
"""Rounding error of G, relative to √n (max |G| + max |αᵢ| max Kⱼⱼ)."""

LEAST_SHARE: Final = 0.01
"""Of the first s: what a later one counts for at least."""

SMALLEST: Final = float(np.finfo(float).tiny)
"""Of a tolerance, where all of α, G and K is 0."""


def compare(rule: Any, state: SolverState) -> int:
    """Return 1 where ψ ≤ ε, 0 where it is not; of a relative rule 2 where ψ ≤ εs/u with s < u.

    The last two numbers in the memory of a relative rule are the first s, 0 before there is one, and what it has
    compared ψ with.
    """
    # ψ ≤ ε
    if not rule.relative or not state.gap <= rule.tol:
        return int(state.gap <= rule.tol)
    # ψ ≤ ε min(1, s/u)
    s, memory = state.problem.decision_range(state.alpha, state.gradient), state.stop_memory
    if memory[-2] == 0.0 and np.count_nonzero(state.alpha):
        memory[-2] = s
    share = max(s, LEAST_SHARE * float(memory[-2])) / rule.relative
    memory[-1] = tolerance = relative_tolerance(rule.tol, share, state)
    return 0 if state.gap > tolerance else 1 if tolerance == rule.tol else 2


def relative_tolerance(tol: float, share: float, state: SolverState) -> float:
    """Return ε min(1, s/u), or what rounding of G allows where that is more; never more than ε."""
    if share >= 1.0:
        return tol
    rounding = rounding_of_gradient(state.alpha, state.gradient, state.largest_diagonal)
    return min(max(tol * share, rounding, SMALLEST), tol)


def rounding_of_gradient(alpha: np.ndarray, gradient: np.ndarray, largest: float) -> float:
    """Return the KKT gap that rounding of G = v − Kα leaves, for the largest |Kᵢⱼ|."""
    size = float(np.abs(gradient).max()) + float(np.abs(alpha).max()) * largest
    return ROUNDED * math.sqrt(len(alpha)) * size
