"""WorkingSetSelector: the base class of rules that choose which pair of variables moves next."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from refsvm.core.rule import Rule
from refsvm.core.state import SolverState


class WorkingSetSelector(Rule):
    """Choose the working set (i, j): the step will increase αᵢ and decrease αⱼ by the step length.

    The loop calls `memory` once, stores the array in ``state.selector_memory``, and calls `select` before every step.
    `select` returns an i in I_up and a j in I_down, or (−1, −1) if no pair can raise the objective; among equally good
    variables it takes the lowest index. A compiled version (twin) has the signature ``select(parameters, state) -> (i,
    j)``.

    Attributes
    ----------
    takes_candidates : bool
        True if `select` compares its choice with the pairs in ``state.candidates``, as planning steps require
        (Glasmachers 2008, Theorem 2).
    takes_displacement : bool
        True if `select` reads ``state.displacement_image``; `ConjugateStep` is then the default step.
    may_stall : bool
        True if `select` may return (−1, −1) at a point that is not optimal.
    """

    example_call: ClassVar[str] = "SecondOrder()"
    role: ClassVar[str] = "SELECT"
    takes_candidates: ClassVar[bool] = False
    takes_displacement: ClassVar[bool] = False
    may_stall: ClassVar[bool] = False

    @abstractmethod
    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the working set (i, j) for the step, or (−1, −1) if no pair can raise the objective."""
