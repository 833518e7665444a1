"""StepRule: the base class of rules that choose how far the working set moves."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from refsvm.core.rule import Rule
from refsvm.core.state import SolverState


class StepRule(Rule):
    """Choose the step length μ along eᵢ − eⱼ, inside [lo, hi].

    Before each call of `length`, the loop sets ``state.slope`` (ℓ), ``state.curvature`` (q > 0), ``state.low`` (lo) and
    ``state.high`` (hi), and puts the kernel rows of i and j in memory. ``state.last_step``, ``last_newton``,
    ``last_free`` and ``last_planned`` describe the previous step, and ``state.working_sets`` holds the recent pairs.
    ``state.step_memory`` is the array from `memory`. A compiled version (twin) has the signature ``length(parameters,
    state, i, j) -> μ``.

    Attributes
    ----------
    history : int
        Number of recent working sets with which the rule plans; 0 for a rule that does not plan. A planning rule writes
        the planned pairs to ``state.candidates``, their curvatures to ``state.candidate_curvatures`` and their number
        to ``state.n_candidates``. The loop sets ``state.n_candidates`` to 0 before each call of `length`; if the number
        is above 0 after the call, the step counts as planned.
    uses_momentum : bool
        True if `length` returns (μ, κ), for a step that also continues along the last displacement Δ:
        α += μ(eᵢ − eⱼ) + κΔ. For a rule with momentum, the state holds Δ (``displacement``), KΔ
        (``displacement_image``), ΔᵀG (``carried_slope``) and ΔᵀKΔ (``carried_curvature``). After the step, every
        variable must be inside its box.
    """

    example_call: ClassVar[str] = "NewtonStep()"
    role: ClassVar[str] = "LENGTH"
    uses_momentum: ClassVar[bool] = False
    history: int = 0

    @classmethod
    def checked(cls, name: str, rule: Any) -> Any:
        """Return the rule given for `name`; raise ValueError unless it is a step rule with a valid `history`."""
        step = super().checked(name, rule)
        if not isinstance(step.history, int | np.integer) or step.history < 0:  # type: ignore[redundant-expr]
            raise ValueError(
                f"{type(rule).__name__}.history is {step.history!r}; give a whole number of working sets, 0 or more."
            )
        return step

    @abstractmethod
    def length(self, state: SolverState, i: int, j: int) -> Any:
        """Return μ with lo ≤ μ ≤ hi, or (μ, κ) if the rule uses momentum."""
