"""StepRule: how far the working set moves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from refsvm.core.rule import Rule
from refsvm.core.state import SolverState


class StepRule(Rule):
    """Choose the step length μ along eᵢ − eⱼ, inside [lo, hi].

    Before calling `length` the loop has measured the pair: ``state.slope`` ℓ, ``state.curvature`` q > 0, ``state.low``,
    ``state.high``; the kernel rows of i and j are in memory. ``state.last_step``, ``last_newton``, ``last_free`` and
    ``last_planned`` describe the previous step, ``state.working_sets`` the recent pairs. What `memory` returned is
    ``state.step_memory``. Its twin is ``length(parameters, state, i, j) -> μ``.

    Attributes
    ----------
    history : int
        Number of recent working sets that the rule plans with; 0 for a rule that does not plan. A planning rule writes
        the pairs it planned with to ``state.candidates``, their curvatures to ``state.candidate_curvatures`` and their
        number to ``state.n_candidates`` (which the loop resets to 0 before each call): that is what marks the step as
        planned.
    uses_momentum : bool
        Whether `length` returns (μ, κ), for a step that goes on along the last displacement Δ as well:
        α += μ(eᵢ − eⱼ) + κΔ. The state keeps Δ for it, ``state.displacement``, and ``state.displacement_image`` KΔ,
        ``state.carried_slope`` ΔᵀG and ``state.carried_curvature`` ΔᵀKΔ. Every variable has to stay inside the box.
    """

    example_call: ClassVar[str] = "NewtonStep()"
    role: ClassVar[str] = "LENGTH"
    uses_momentum: ClassVar[bool] = False
    history: int = 0

    @classmethod
    def checked(cls, name: str, rule: Any) -> Any:
        """Return the value of argument `name` if it is a step rule with a history, or raise ValueError."""
        step = super().checked(name, rule)
        if not isinstance(step.history, int | np.integer) or step.history < 0:  # type: ignore[redundant-expr]
            raise ValueError(
                f"{type(rule).__name__}.history is {step.history!r}; give a whole number of working sets, 0 or more."
            )
        return step

    @abstractmethod
    def length(self, state: SolverState, i: int, j: int) -> Any:
        """Return μ with lo ≤ μ ≤ hi; or (μ, κ), if the rule uses momentum."""
