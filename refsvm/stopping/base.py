"""StoppingRule: when the point is good enough."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.state import SolverState

__all__ = ["StoppingRule"]


class StoppingRule(ABC):
    """Decide, before every step, whether to stop.

    Subclasses are frozen dataclasses that hold hyper-parameters only.

    Attributes
    ----------
    reasons : tuple of str
        One sentence for each positive code that `check` returns, in order.
    left_out : bool
        Whether the rule is made for problems from which one example is left out, and for no others.
    rows_needed : int
        Kernel rows that have to fit into memory beside those that the selector needs.
    """

    reasons: ClassVar[tuple[str, ...]] = ("The stopping rule is satisfied.",)
    left_out: ClassVar[bool] = False
    rows_needed: ClassVar[int] = 0

    def prepare(self, problem: DualProblem) -> np.ndarray:
        """Return scratch memory for one solve, float64 of any length; it reappears as ``state.stop_memory``."""
        return np.zeros(0)

    @abstractmethod
    def check(self, state: SolverState) -> int:
        """Return 0 to go on, or the 1-based number of the reason to stop.

        May be asked more than once between two steps; asking again must change nothing.
        """

    def restricted_tolerance(self, gap: float) -> float:
        """To which KKT gap `refsvm.solver.shrinking` solves a restricted problem while the full one has `gap`."""
        return gap / 10.0

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters as the twin gets them."""
        return ()

    def twin(self) -> Callable[..., int] | None:
        """Return the Numba version ``check(parameters, state) -> code``, equal bit for bit, or None.

        Compiled code computes no kernel. Where the rule calls ``state.row(i)`` its twin returns −1 − i if
        ``state.slots[i] < 0``, and is asked again once the row is there.
        """
        return None
