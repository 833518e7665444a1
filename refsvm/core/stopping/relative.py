"""A tolerance for the KKT gap that is relative to the range of the decision values.

The rule ψ ≤ ε suits decision values of size 1, as in classification. Let s be the range of the decision values,
max − min of v − G over the examples. A relative rule stops when

    ψ(α) ≤ ε min(1, s).

If the decision values have a size u that is not near 1, for example because of the unit of the targets, set
``relative`` to u; the rule then stops when ψ(α) ≤ ε min(1, s/u). If the targets, C, ε and u are all converted to
another unit, the steps change only by rounding. ``relative=True`` means u = 1.

The relative tolerance bounds the relative error of the model, since f* − f ≤ ψ · ½‖α* − α‖₁ and ‖w − w*‖² ≤ 2(f* − f).
With ψ ≤ εs, if v and the box grow by a factor c, both sides of each inequality grow by a factor c². At α = 0, s is the
range of v, which holds the targets. The rule computes s only when ψ ≤ ε; if s ≥ u, the steps are the same, bit for bit,
as with an absolute tolerance.

If the best model is a constant, s falls to zero with ψ, so that ψ ≤ εs/u might never hold. The rule therefore never
uses an s below a hundredth of the first s that was computed with some αᵢ ≠ 0.
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
"""A later s counts as at least this fraction of the first s."""

SMALLEST: Final = float(np.finfo(float).tiny)
"""Smallest tolerance, which is used if α, G and K are all 0."""


def compare(rule: Any, state: SolverState) -> int:
    """Return 1 if ψ ≤ ε and otherwise 0; a relative rule with s < u returns 2 if ψ ≤ εs/u and otherwise 0.

    The last two numbers in the memory of a relative rule are the first s (0 before it is known) and the tolerance with
    which ψ was last compared.
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
    """Return ε min(1, s/u), or the rounding error of G if this is larger, but at most ε."""
    if share >= 1.0:
        return tol
    rounding = rounding_of_gradient(state.alpha, state.gradient, state.largest_diagonal)
    return min(max(tol * share, rounding, SMALLEST), tol)


def rounding_of_gradient(alpha: np.ndarray, gradient: np.ndarray, largest: float) -> float:
    """Return the KKT gap that rounding of G = v − Kα can cause; `largest` is the largest |Kᵢⱼ|."""
    size = float(np.abs(gradient).max()) + float(np.abs(alpha).max()) * largest
    return ROUNDED * math.sqrt(len(alpha)) * size
