"""Hard margins: solves with C = ∞, where the box is unbounded.

If the classes are separable, the dual has an optimum. If the classes are not separable, the dual is unbounded, and α
would grow for ever. `HardMargin` therefore does two things after each round of steps.

**Measure the margin.** If α is divided by s = Σ over αᵢ > 0 of αᵢ, its positive entries describe a point in the convex
hull of one class, and its negative entries a point in the convex hull of the other class. The width of the margin is at
most the distance of these two points, ‖w‖/s with ‖w‖² = αᵀKα. If the distance of the two points is not larger than
rounding errors, the hulls meet: no function of this kernel separates the classes.

**Stretch.** f(tα) is largest at t = vᵀα/αᵀKα. At the optimum t = 1. If the hulls meet, t is large: multiplying α by
this t lets α grow much faster than steps would. The distance of the two points then falls to zero as fast as in
Gilbert's algorithm, which finds the nearest points of two hulls.

References: E. G. Gilbert, "An iterative procedure for computing the minimum of a quadratic form on a convex set", SIAM
Journal on Control 4, 1966; S. S. Keerthi et al., "A fast iterative nearest point algorithm for support vector machine
classifier design", IEEE Transactions on Neural Networks 11, 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from refsvm.core.arithmetic import dot
from refsvm.core.state import NotFiniteError, SolverState

INSEPARABLE: Final = -2
"""The code that `HardMargin.steps` returns if no function of the kernel separates the classes."""

NARROWEST: Final = 1e-7
"""Smallest width of a margin, in units of the largest ‖φ(xᵢ)‖, that can be told from rounding errors of K."""

MOST_ALPHA: Final = 1e100
"""If an |αᵢ| is larger than this number, α counts as diverging."""

ROUND: Final = 1000
"""Number of steps between two measurements of the margin, or the number of variables if that number is larger."""

LONGER: Final = 1.5
"""Smallest factor t by which `HardMargin` multiplies α; the usual steps make smaller corrections."""


class HardMargin:
    """Calls a function that takes some steps, and measures the margin after each call.

    Parameters
    ----------
    state : SolverState
        State of a problem with an infinite bound.
    take : callable
        ``take(state, rules, budget, trace)`` takes the steps.
    """

    def __init__(self, state: SolverState, take: Callable[..., int]) -> None:
        self._state, self._take = state, take
        bounds = np.concatenate([state.lower, state.upper])
        # True if every multiple tα of a feasible α is feasible
        self._cone = bool(((bounds == 0.0) | np.isinf(bounds)).all()) and state.problem.z == 0.0
        self._open = np.isinf(state.lower) | np.isinf(state.upper)
        self._scale = float(np.abs(state.v).max()) or 1.0

    def steps(self, state: SolverState, rules: Any, budget: int, trace: Any) -> int:
        """Take up to `budget` steps and measure the margin; return the code of the loop, or INSEPARABLE."""
        # copy α, to return to this point if the steps overflow because f is unbounded
        before, iteration, outcome, is_beyond = self._state.alpha.copy(), self._state.iteration, 0, False
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                outcome = self._take(state, rules, min(budget, max(ROUND, len(before))), trace)
            except NotFiniteError:
                is_beyond = True  # a restricted problem has overflowed; this state does not hold the α of that problem
            except ValueError:
                if self._is_bounded():
                    raise  # α has not diverged, so neither NaN nor infinity has caused this error
        # α also diverges if the kernel is indefinite and its curvature q is negative in a direction without a bound
        if is_beyond or not self._is_bounded():
            self._state.alpha[:], self._state.iteration = before, iteration
            self._state.refresh()
            if trace is not None:
                trace.drop()
            return INSEPARABLE
        if self._hulls_meet():
            return INSEPARABLE
        # multiply α by a factor only while steps continue: if the usual loop has converged, f(tα) is largest at t = 1
        if not outcome and self._cone:
            self._stretch()
        return outcome

    def _is_bounded(self) -> bool:
        return bool(np.abs(self._state.alpha).max() <= MOST_ALPHA and np.isfinite(self._state.gradient).all())

    def _hulls_meet(self) -> bool:
        """Return True if the two points that α describes in the hulls are equal up to rounding."""
        state = self._state
        alpha = np.where(self._open, state.alpha, 0.0)
        above, below = float(alpha.clip(0.0, None).sum()), float(-alpha.clip(None, 0.0).sum())
        # if all α of a class are 0, they describe no point of the class's hull
        if min(above, below) <= 0.0:
            return False
        if not self._cone:
            # |dᵢ| is the weight of example i in the point that α describes in the hull of its class
            d = np.where(alpha > 0.0, alpha / above, alpha / below)
            return self._is_nothing(dot(d, state.rows.product(d)), dot(state.v, d))
        # αᵀKα = αᵀ(v − G)
        linear = dot(state.v, alpha)
        if not self._is_nothing(dot(alpha, state.v - state.gradient), linear):
            return False
        state.refresh()  # recompute G, to remove the rounding errors of the steps
        return self._is_nothing(dot(alpha, state.v - state.gradient), linear)

    def _is_nothing(self, quadratic: float, linear: float) -> bool:
        """Return True if αᵀKα is only rounding error in comparison with vᵀα.

        For two classes vᵀα = 2s, and √(αᵀKα)/s is the distance of the two points that α describes in the hulls. Every w
        that satisfies the margin constraints has ‖w‖ ≥ vᵀα/√(αᵀKα). If the method returns True, ‖w‖ times the largest
        ‖φ(xᵢ)‖ is at least 1/NARROWEST times the largest |v|.
        """
        return quadratic <= self._state.largest_diagonal * (0.5 * NARROWEST * linear / self._scale) ** 2

    def _stretch(self) -> None:
        """Multiply α by the factor t that maximises f(tα), and update G ← v − t(v − G)."""
        state = self._state
        v, past = state.v, state.v - state.gradient
        # t = vᵀα / αᵀKα
        linear, quadratic = dot(v, state.alpha), dot(state.alpha, past)
        if linear > LONGER * quadratic > 0.0:
            t = linear / quadratic
            state.alpha *= t
            state.gradient[:] = v - t * past
            state.refresh(recompute=False)
