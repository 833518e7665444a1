"""WorkingSetSelector: which pair of variables moves next."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.state import SolverState

__all__ = ["WorkingSetSelector"]


class WorkingSetSelector(ABC):
    """Choose the working set (i, j): αᵢ will rise and αⱼ fall by the step length.

    Subclasses are frozen dataclasses that hold hyper-parameters only. The loop calls `prepare` once and `select`
    before every step. Ties go to the lowest index. i must be in I_up, j in I_down; (−1, −1) says that no pair is
    left from which anything could be gained.

    Attributes
    ----------
    takes_candidates : bool
        Whether `select` considers ``state.candidates``. Planning steps require it: without it their convergence
        proof (Glasmachers 2008, Theorem 2) does not hold.
    may_stall : bool
        Whether `select` may return (−1, −1) at a point that is not optimal.
    """

    takes_candidates: ClassVar[bool] = False
    may_stall: ClassVar[bool] = False

    def prepare(self, problem: DualProblem) -> np.ndarray:
        """Return scratch memory for one solve, float64 of any length; it reappears as ``state.selector_memory``."""
        return np.zeros(0)

    @abstractmethod
    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the working set (i, j) for the coming step, or (−1, −1)."""

    def rows_needed(self, n: int) -> int:
        """How many kernel rows must be in memory at once, for a problem of n variables."""
        return 2

    def parameters(self) -> tuple[float, ...]:
        """Return the hyper-parameters as the twin gets them."""
        return ()

    def twin(self) -> Callable[..., tuple[int, int]] | None:
        """Return the Numba version ``select(parameters, state) -> (i, j)``, or None if there is none.

        It makes the same decisions bit for bit. Where it needs a kernel row i that is not stored
        (``state.slots[i] < 0``) it returns ``(i, -1)`` and is called again once the row is there.
        """
        return None
