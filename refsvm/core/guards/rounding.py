"""Two guards against rounding errors of float64 steps: FreshGradient recomputes G, and Snap sets α to nearby bounds.

The arguments of `moves`, `next_to_bound` and `room` may also be arrays with one entry or row for each problem.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from refsvm.core.guards.base import Guard, Verdict
from refsvm.core.problem import EPSILON, total
from refsvm.core.result import Status
from refsvm.core.state import SolverState

FRESH: Final = 10
"""A solve counts as stalled if the recomputed gradient contradicted the stopping rule this many times."""

NEAR: Final = 1e-6
"""A variable counts as being at a bound only if its distance from the bound is at most this fraction of its box."""

TINY: Final = float(np.finfo(float).tiny)
"""Replaces max Kⱼⱼ in a denominator if max Kⱼⱼ is 0."""


class FreshGradient(Guard):
    """Recomputes G if rounding errors may have spoiled G, and then evaluates the stopping rule again."""

    _disagreements = 0

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Withdraw a verdict that the recomputed G contradicts; end with STALLED after `FRESH` contradictions."""
        if not drifted(state, rules.stop.with_absolute_tolerance(state).restricted_tolerance(0.0)):
            return verdict
        state.recompute_gradient()
        if not verdict.is_final:
            return Verdict(verdict.status)
        code, self._disagreements = rules.stop.check(state), self._disagreements + 1
        if not code and self._disagreements < FRESH:
            return None
        return Verdict(Status.CONVERGED if code else Status.STALLED, code)

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Set the count of contradicted verdicts to 0 for the next solve."""
        self._disagreements = 0


class Snap(Guard):
    """Moves each α to its bound if only rounding errors separate α from the bound."""

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """At the last point of a solve, move each α to its bound if only rounding errors separate the two."""
        snap(state, rules.stop.with_absolute_tolerance(state).restricted_tolerance(0.0))


def drifted(state: SolverState, tolerance: float = 0.0) -> bool:
    """Return True if rounding errors of G may exceed max(|ψ|, tolerance)/100, where ψ is the KKT gap.

    If no pair of variables can move, as in a round with one class, the KKT gap counts as 0. The accuracy of G still
    matters, because b is computed from G.
    """
    gap = state.gap if state.gap > -math.inf else 0.0
    # in earlier steps αᵢKᵢⱼ may have been far larger than G is now, and G still has the rounding errors of these terms
    size = float(np.abs(state.gradient).max()) + state.largest * state.largest_diagonal
    return bool(moves(state.updates + state.iteration, size, gap, tolerance))


def moves(updates: Any, size: Any, gap: Any, tolerance: Any) -> Any:
    """Return True if the rounding errors of all updates may change G by more than max(|ψ|, tolerance)/100.

    The rounding error of one update is proportional to `size`: |G| plus the largest |αᵢKᵢⱼ| that has been added to G.
    """
    return EPSILON * updates * size > 0.01 * np.maximum(np.abs(gap), tolerance)


def snap(state: SolverState, tolerance: float = 0.0) -> None:
    """At the end of a solve, move each α to its bound if only rounding errors separate α from the bound.

    The last variable αᵢ that steps move to a bound may miss the bound by the rounding error of Σα. If all other
    variables are at bounds, αᵢ is then the only free variable, and b would equal Gᵢ although a whole interval of b is
    optimal. A variable counts as being at its bound under this condition:

        |αᵢ − bound| ≤ min(|z − Σα| + 4ε(Σ|α| + |z|), 10⁻⁶(Uᵢ − Lᵢ)),   ε the rounding of one operation

    Moving α to its bound removes members from I_up and I_down and adds none, so ψ does not grow. The function does not
    update G, whose exact value changes by at most |αᵢ − bound| max Kⱼⱼ. If this number exceeds max(|ψ|, tolerance)/100,
    αᵢ stays unchanged. If ψ exceeds the tolerance, no α changes, because the stopping rule may have ended the solve
    with a proof that holds only for this α.
    """
    if state.gap > tolerance:
        return
    alpha, z = state.alpha, state.problem.z
    bound, distance, near = next_to_bound(alpha, state.lower, state.upper)
    if not near.any():
        return
    sizes = total(np.abs(alpha)) + abs(z)
    near &= distance <= room(abs(z - total(alpha)), sizes, state.gap, tolerance, state.largest_diagonal)
    if near.any():
        alpha[near] = bound[near]
        state.refresh(recompute=False)


def next_to_bound(
    alpha: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each α's nearer bound, the distance to it, and a mask of the α that are near this bound but not at it."""
    above, below = alpha - lower, upper - alpha
    distance = np.minimum(above, below)
    # compare distances with the widths of boxes, because the rounding error of Σα may exceed the width of a narrow box
    near = (distance > 0.0) & (distance <= NEAR * (upper - lower))
    return np.where(above < below, lower, upper), distance, near


def room(missing: Any, sizes: Any, gap: Any, tolerance: Any, largest: Any) -> Any:
    """Return the distance from a bound within which an α counts as being at the bound.

    The distance is min(|z − Σα| + 4ε(Σ|α| + |z|), max(|ψ|, tolerance) / 100 max Kⱼⱼ).
    """
    allowed = 0.01 * np.maximum(np.abs(gap), tolerance) / np.maximum(largest, TINY)
    return np.minimum(missing + 4.0 * EPSILON * sizes, allowed)
