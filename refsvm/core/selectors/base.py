"""WorkingSetSelector: which pair of variables moves next."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from refsvm.core.rule import Rule
from refsvm.core.state import SolverState


class WorkingSetSelector(Rule):
    """Choose the working set (i, j): αᵢ will rise and αⱼ fall by the step length.

    The loop calls `memory` once and `select` before every step; the memory reappears as ``state.selector_memory``.
    Ties go to the lowest index. i must be in I_up, j in I_down; (−1, −1) says that no pair is left from which anything
    could be gained. Its twin is ``select(parameters, state) -> (i, j)``.

    Attributes
    ----------
    takes_candidates : bool
        Whether `select` considers ``state.candidates``. Planning steps require it: without it their convergence
        proof (Glasmachers 2008, Theorem 2) does not hold.
    takes_displacement : bool
        Whether `select` reads ``state.displacement_image`` where a step carries it; `ConjugateStep` is its default.
    may_stall : bool
        Whether `select` may return (−1, −1) at a point that is not optimal.
    """

    example_call: ClassVar[str] = "SecondOrder()"
    role: ClassVar[str] = "SELECT"
    takes_candidates: ClassVar[bool] = False
    takes_displacement: ClassVar[bool] = False
    may_stall: ClassVar[bool] = False

    @abstractmethod
    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the working set (i, j) for the coming step, or (−1, −1)."""
