"""A step rule that offers candidates without planning, to measure the two halves of planning ahead apart.

Planning-ahead SMO changes the step (Algorithm 4) and the selection (Algorithm 3). §7.2 of its paper keeps the second
change and drops the first: the selection also considers the working set used two iterations ago, but every step is an
ordinary one. Here that is a step rule which offers the set and then does nothing special; with a factor it is the
over-relaxed step of §7.3 with the same selection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from numba import njit

from refsvm import StepRule
from refsvm.compiled.interface.layout import LENGTH
from refsvm.core.state import SolverState

__all__ = ["CandidateStep"]


@dataclass(frozen=True)
class CandidateStep(StepRule):
    """μ = clip(ω μ̂, lo, hi), and the previous working set is a candidate for the next selection.

    Parameters
    ----------
    factor : float
        ω in (0, 2); 1 is the ordinary SMO step.

    References
    ----------
    T. Glasmachers, "The planning-ahead SMO algorithm", 2008, Algorithm 3, §7.2, §7.3.
    """

    factor: float = 1.0
    history: int = field(default=1, init=False, repr=False)

    def length(self, state: SolverState, i: int, j: int) -> float:
        """Offer the previous working set; clip ω times the Newton step to the box."""
        if state.working_sets[0, 0] >= 0:
            state.candidates[0] = state.working_sets[0]
            state.candidate_curvatures[0] = state.curvatures[0]
            state.n_candidates = 1
        # μ = clip(ω ℓ/q, lo, hi)
        return min(max(self.factor * (state.slope / state.curvature), state.low), state.high)

    def parameters(self) -> tuple[float, ...]:
        """Return (factor,)."""
        return (self.factor,)

    def twin(self) -> Callable[..., float]:
        """Return `candidate_step`."""
        return candidate_step


@njit(LENGTH, cache=True)
def candidate_step(parameters, state, i, j):
    """Twin of `CandidateStep`."""
    now = state.now[0]
    if state.working_sets[0, 0] >= 0:
        state.candidates[0, 0] = state.working_sets[0, 0]
        state.candidates[0, 1] = state.working_sets[0, 1]
        state.candidate_curvatures[0] = state.curvatures[0]
        now.n_candidates = 1
    # μ = clip(ω ℓ/q, lo, hi)
    return min(max(parameters[0] * (now.slope / now.curvature), now.low), now.high)
