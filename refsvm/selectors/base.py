"""WorkingSetSelector: which pair of variables moves next."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

from refsvm.rule import Rule
from refsvm.state import SolverState

__all__ = ["WorkingSetSelector", "after_stall", "no_pair", "nothing_left"]


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

    such_as: ClassVar[str] = "SecondOrder()"
    role: ClassVar[str] = "SELECT"
    takes_candidates: ClassVar[bool] = False
    takes_displacement: ClassVar[bool] = False
    may_stall: ClassVar[bool] = False

    @abstractmethod
    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the working set (i, j) for the coming step, or (−1, −1)."""


def no_pair(selector: WorkingSetSelector, pair: Any) -> ValueError:
    """Return the error that says what `select` has returned in place of a pair, and what it should."""
    return ValueError(
        f"{selector!r}.select() returned {pair!r}, which is no pair; return two different indices (i, j), i of I_up "
        "and j of I_down, or (-1, -1) where no pair gains."
    )


def nothing_left(selector: WorkingSetSelector, i: int, j: int) -> int:
    """Return the code for (−1, −1), no pair; refuse other numbers below 0, which would count from the end."""
    if min(i, j) < -1:
        raise no_pair(selector, (i, j))
    return -1


def after_stall(selector: WorkingSetSelector, state: SolverState) -> tuple[int, int]:
    """Return (−1, −1), because two steps in a row have changed nothing; raise if that is a pair of one index."""
    i, j = state.working_sets[0].tolist()
    if i == j and math.isfinite(state.last_step):
        raise no_pair(selector, (i, j))
    return -1, -1
