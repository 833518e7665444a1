"""Hard margins: a solve whose box is open, C = ∞.

Separable classes have an optimum, inseparable ones have none: their dual grows without bound, and so would α. Between
the rounds of another loop two things are therefore done that a closed box does not need.

**Measure the margin.** Scaled to Σ αᵢ = 1 on each side, α names one point in the convex hull of each class, and the
width of the margin is at most their distance ‖w‖/s, with ‖w‖² = αᵀKα and s = Σ over αᵢ > 0 of αᵢ. Where that distance
is nothing but rounding, the hulls meet: no function of this kernel separates the classes.

**Stretch.** f(tα) is largest at t = vᵀα/αᵀKα. At the optimum t = 1. Where the hulls meet, t is large: α grows by
factors rather than by steps, and the distance above falls to zero as fast as in Gilbert's algorithm for the two
nearest points.

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
"""The code of `HardMargin.steps` if no function separates the classes, however hard the margin."""

NARROWEST: Final = 1e-7
"""Width of a margin, in units of the largest ‖φ(xᵢ)‖, that can still be told from the rounding of K."""

MOST_ALPHA: Final = 1e100
"""Where α is larger, one round has led it nowhere."""

ROUND: Final = 1000
"""Steps between two looks; more for more variables."""

LONGER: Final = 1.5
"""Factor from which on α is stretched: the last digits are the other loop's work."""


class HardMargin:
    """Takes steps in another way, and watches over the margin between its rounds.

    Parameters
    ----------
    state : SolverState
        Of a problem with an open side.
    take : callable
        ``take(state, rules, budget, trace)`` takes the steps.
    """

    def __init__(self, state: SolverState, take: Callable[..., int]) -> None:
        self._state, self._take = state, take
        bounds = np.concatenate([state.lower, state.upper])
        # any factor of a feasible α is feasible
        self._cone = bool(((bounds == 0.0) | np.isinf(bounds)).all()) and state.problem.z == 0.0
        self._open = np.isinf(state.lower) | np.isinf(state.upper)
        self._scale = float(np.abs(state.v).max()) or 1.0

    def steps(self, state: SolverState, rules: Any, budget: int, trace: Any) -> int:
        """Take one round of up to `budget` steps; return its code, or INSEPARABLE."""
        # to go back to: where f has no bound, one round may lead beyond all numbers
        before, taken, outcome = self._state.alpha.copy(), self._state.iteration, 0
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                outcome = self._take(state, rules, min(budget, max(ROUND, len(before))), trace)
            except (ValueError, NotFiniteError):
                if self._is_bounded():
                    raise  # else the rules have met NaN or infinite values, and are not to blame
        # q < 0 in an open direction: an indefinite kernel
        if not self._is_bounded():
            self._state.alpha[:], self._state.iteration = before, taken
            self._state.refresh()
            if trace is not None:
                trace.drop()
            return INSEPARABLE
        if self._hulls_meet():
            return INSEPARABLE
        # only while steps go on: at its end the other loop has found the length of α itself
        if not outcome and self._cone:
            self._stretch()
        return outcome

    def _is_bounded(self) -> bool:
        state = self._state
        return bool(np.abs(state.alpha).max() <= MOST_ALPHA and np.isfinite(state.gradient).all())

    def _hulls_meet(self) -> bool:
        """Whether the points that α names in the two hulls are one but for rounding."""
        state = self._state
        alpha = np.where(self._open, state.alpha, 0.0)
        above, below = float(alpha.clip(0.0, None).sum()), float(-alpha.clip(None, 0.0).sum())
        # without weight on a side there is no point of its hull yet
        if min(above, below) <= 0.0:
            return False
        if not self._cone:
            # d names the two points
            d = np.where(alpha > 0.0, alpha / above, alpha / below)
            return self._is_nothing(dot(d, state.rows.product(d)), dot(state.v, d))
        # αᵀKα = αᵀ(v − G)
        linear = dot(state.v, alpha)
        if not self._is_nothing(dot(alpha, state.v - state.gradient), linear):
            return False
        state.refresh()  # the steps may have left their rounding in G
        return self._is_nothing(dot(alpha, state.v - state.gradient), linear)

    def _is_nothing(self, quadratic: float, linear: float) -> bool:
        """Whether αᵀKα is nothing but rounding, compared with vᵀα: for classes vᵀα = 2s, and √(αᵀKα)/s is the distance.

        ‖w‖ ≥ vᵀα/√(αᵀKα) for whatever keeps the margins, so |h| would reach 1/NARROWEST times the largest |v|.
        """
        return quadratic <= self._state.largest_diagonal * (0.5 * NARROWEST * linear / self._scale) ** 2

    def _stretch(self) -> None:
        """α ← tα with the best t; then G ← v − t(v − G)."""
        state = self._state
        v, past = state.v, state.v - state.gradient
        # t = vᵀα / αᵀKα
        linear, quadratic = dot(v, state.alpha), dot(state.alpha, past)
        if linear > LONGER * quadratic > 0.0:
            t = linear / quadratic
            state.alpha *= t
            state.gradient[:] = v - t * past
            state.refresh(recompute=False)
