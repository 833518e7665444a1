"""Rounding of float64 steps: a gradient that has drifted is computed afresh, and α next to its bound is put there.

The formulas take the numbers of one problem, or arrays of those of many (`refsvm.analysis.small.small`).
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
"""Number of fresh gradients after which a rule that disagrees with each of them counts as stalled."""

NEAR: Final = 1e-6
"""Share of its box within which a variable may count as being at its bound but for rounding of Σα."""

TINY: Final = float(np.finfo(float).tiny)
"""In place of max Kⱼⱼ = 0 below a line."""


class FreshGradient(Guard):
    """Asks the stopping rule again, with a fresh G, where rounding may have spoiled G and with it the verdict."""

    _disagreements = 0

    def review(self, state: SolverState, rules: Any, verdict: Verdict) -> Verdict | None:
        """Take a verdict back that the fresh G does not support, up to `FRESH` times; then the solve has stalled."""
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
        """Begin to count anew."""
        self._disagreements = 0


class Snap(Guard):
    """Sets each α within rounding of its bound to the bound."""

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Do so at the last point."""
        snap(state, rules.stop.with_absolute_tolerance(state).restricted_tolerance(0.0))


def drifted(state: SolverState, tolerance: float = 0.0) -> bool:
    """Whether rounding may have moved G by more than a hundredth of the KKT gap, or of what it is compared with.

    Where no pair is left, as in a round of one class, there is no gap: b is read from G all the same.
    """
    gap = state.gap if state.gap > -math.inf else 0.0
    # αᵢKᵢⱼ may have been far larger on the way than G is now, and has left its rounding
    size = float(np.abs(state.gradient).max()) + state.largest * state.largest_diagonal
    return bool(moves(state.updates + state.iteration, size, gap, tolerance))


def moves(updates: Any, size: Any, gap: Any, tolerance: Any) -> Any:
    """Whether rounding by so many updates moves G by more than a hundredth of ψ, or of what that is compared with.

    Each update rounds G at the size of G and of its summands αᵢKᵢⱼ, the largest of which may have been earlier.
    """
    return EPSILON * updates * size > 0.01 * np.maximum(np.abs(gap), tolerance)


def snap(state: SolverState, tolerance: float = 0.0) -> None:
    """Set each α within rounding of its bound to the bound: at the end of a solve, whatever its start was.

    The last variable to reach a bound may be short of it by what Σα misses: if all others are at theirs, b would be
    its G, though a whole interval of b is optimal, and another start would give another b. Here that is

        |αᵢ − bound| ≤ min(|z − Σα| + 4ε(Σ|α| + |z|), 10⁻⁶(Uᵢ − Lᵢ)),   ε the rounding of one operation

    I_up and I_down only lose members by it, so that ψ does not grow. G stays. It changes by |αᵢ − bound| max Kⱼⱼ at
    most: where that is above a hundredth of the KKT gap, or of what it is compared with, αᵢ stays, too. Nothing is
    done at a point where the KKT gap is above the tolerance: what a rule knows of its b is to stay true.
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
    """Return the nearer bound of each α, its distance, and whether that is small in the box, but not 0."""
    above, below = alpha - lower, upper - alpha
    distance = np.minimum(above, below)
    # a narrow box could lie within the rounding of Σα as a whole; then nearness says nothing
    near = (distance > 0.0) & (distance <= NEAR * (upper - lower))
    return np.where(above < below, lower, upper), distance, near


def room(missing: Any, sizes: Any, gap: Any, tolerance: Any, largest: Any) -> Any:
    """Return min(|z − Σα| + 4ε(Σ|α| + |z|), max(|ψ|, tolerance) / 100 max Kⱼⱼ), within which α is at its bound."""
    allowed = 0.01 * np.maximum(np.abs(gap), tolerance) / np.maximum(largest, TINY)
    return np.minimum(missing + 4.0 * EPSILON * sizes, allowed)
