"""StepRule: how far the working set moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.state import SolverState

__all__ = ["StepRule"]


class StepRule(ABC):
    """Choose the step length μ along eᵢ − eⱼ, inside [lo, hi].

    Subclasses are frozen dataclasses that hold hyper-parameters only. Before calling `length` the loop has measured
    the pair: ``state.slope`` ℓ, ``state.curvature`` q > 0, ``state.low``, ``state.high``; the kernel rows of i and j
    are in memory. ``state.last_step``, ``last_newton``, ``last_free`` and ``last_planned`` describe the previous
    step, ``state.working_sets`` the recent pairs.

    Attributes
    ----------
    history : int
        How many recent working sets the rule plans with; 0 for a rule that does not plan. A planning rule writes
        the pairs it planned with to ``state.candidates``, their curvatures to ``state.candidate_curvatures`` and
        their number to ``state.n_candidates`` (which the loop resets to 0 before each call): that is what marks the
        step as planned.
    """

    history: int = 0

    def prepare(self, problem: DualProblem) -> np.ndarray:
        """Return scratch memory for one solve, float64 of any length; it reappears as ``state.step_memory``."""
        return np.zeros(0)

    @abstractmethod
    def length(self, state: SolverState, i: int, j: int) -> float:
        """Return μ with lo ≤ μ ≤ hi."""

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters as the twin gets them."""
        return ()

    def twin(self) -> Callable[..., float] | None:
        """Return the Numba version ``length(parameters, state, i, j) -> μ``, equal bit for bit, or None."""
        return None
