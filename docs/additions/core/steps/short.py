"""The short step: a little less than the Newton step."""

from __future__ import annotations

from dataclasses import dataclass

from refsvm.core.state import SolverState
from refsvm.core.steps.base import StepRule


@dataclass(frozen=True)
class ShortStep(StepRule):
    """μ = clip(ω μ̂, lo, hi) with μ̂ = ℓ/q and ω < 1.

    Parameters
    ----------
    factor : float
        ω in (0, 1).
    """

    factor: float = 0.9

    def length(self, state: SolverState, i: int, j: int) -> float:
        """Clip ω times the Newton step to the box."""
        # μ = clip(ω ℓ/q, lo, hi)
        return min(max(self.factor * (state.slope / state.curvature), state.low), state.high)
