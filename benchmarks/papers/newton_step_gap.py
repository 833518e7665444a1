"""A stopping rule that looks at the Newton step, to read the maximum-gain paper's rule in the other possible way.

The paper stops a maximum-gain iteration when "the value μ* defining the length of the constrained step" is below ε.
Taken at its word, as by `refsvm.WorkingSetGap`, that also stops where a variable happens to stand closer than ε to its
bound and its step is clipped to almost nothing, however far the point is from optimal. Here the step before clipping
decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from numba import njit

from refsvm import StoppingRule
from refsvm.compiled.interface.layout import CHECK
from refsvm.core.state import SolverState

__all__ = ["NewtonStepGap"]


@dataclass(frozen=True)
class NewtonStepGap(StoppingRule):
    """Stop when ψ(α) ≤ ε, or when the Newton step μ̂ = ℓ/q of a pair that reselected a variable was shorter than ε.

    Parameters
    ----------
    tol : float
        ε > 0.

    References
    ----------
    T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006, §2.3 and §2.4.
    """

    tol: float = 1e-3
    reasons: ClassVar[tuple[str, ...]] = (
        "The KKT gap is at most tol.",
        "The last Newton step on a reselected variable was shorter than tol.",
    )

    def check(self, state: SolverState) -> int:
        """Compare the gap and the last Newton step with ε."""
        # ψ ≤ ε
        if state.gap <= self.tol:
            return 1
        # |μ̂| < ε on a set related to the one before
        latest, before = state.working_sets[0].tolist(), state.working_sets[1].tolist()
        related = latest[0] >= 0 and (latest[0] in before or latest[1] in before)
        return 2 if related and abs(state.last_newton) < self.tol else 0

    def parameters(self) -> tuple[float, ...]:
        """Return (tol,)."""
        return (self.tol,)

    def twin(self) -> Callable[..., int]:
        """Return `newton_step_gap`."""
        return newton_step_gap


@njit(CHECK, cache=True)
def newton_step_gap(parameters, state):
    """Twin of `NewtonStepGap`."""
    now, sets = state.now[0], state.working_sets
    # ψ ≤ ε
    if now.gap <= parameters[0]:
        return 1
    # |μ̂| < ε on a set related to the one before
    related = False
    for place in range(2):
        b = sets[0, place]
        related = related or (b >= 0 and (b == sets[1, 0] or b == sets[1, 1]))
    return 2 if related and abs(now.last_newton) < parameters[0] else 0
