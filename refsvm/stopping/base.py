"""StoppingRule: when the point is good enough."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from refsvm.problem import DualProblem
from refsvm.result import Solution
from refsvm.rule import Rule
from refsvm.state import SolverState

__all__ = ["StoppingRule", "left_out_examples"]


class StoppingRule(Rule):
    """Decide, before every step, whether to stop.

    What `memory` returned is ``state.stop_memory``. Its twin is ``check(parameters, state) -> code``.

    Attributes
    ----------
    reasons : tuple of str
        One sentence for each positive code that `check` returns, in order.
    period : int
        The rule looks when ``state.iteration`` is a multiple of this; the steps that shrinking takes end there too.
    left_out : bool
        Whether the rule is made for problems from which one example is left out, and for no others.
    """

    such_as: ClassVar[str] = "KKTGap()"
    reasons: ClassVar[tuple[str, ...]] = ("The stopping rule is satisfied.",)
    left_out: ClassVar[bool] = False
    period: int = 1

    @abstractmethod
    def check(self, state: SolverState) -> int:
        """Return 0 to go on, or the 1-based number of the reason to stop.

        May be asked more than once between two steps; asking again must change nothing.
        """

    @property
    def tolerance(self) -> float:
        """The KKT gap that rounding is compared with, and ε where ε-KKT takes over: `tol`, or 1e-3 without it."""
        return float(getattr(self, "tol", 1e-3))

    def knowing(self, solved: Solution) -> StoppingRule:
        """Return the rule for rounds from this full solution; a rule made for left-out examples may want to know it."""
        return self

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return what decided a left-out example, and its decision value, where a round ended for this reason."""
        return "kkt", value

    def restricted_tolerance(self, gap: float) -> float:
        """To which KKT gap a restricted problem is solved while the full one has `gap`; by default, to half of it.

        With shrinking the rule is asked about the full problem, after each restricted one and at its `period`. Whoever
        knows which gap satisfies the rule goes there at once.
        """
        return gap / 2.0


def left_out_examples(rule: StoppingRule, example: int | None, problem: DualProblem) -> np.ndarray:
    """Return the examples that a rule is about, ascending: all with an empty box L = U = 0, or the one that it names.

    Raises
    ------
    ValueError
        If the sum of α is not 0, or the example named may still move.
    """
    if problem.z != 0.0:
        raise ValueError(
            f"{type(rule).__name__} needs a problem whose α sums to 0, and here it sums to {problem.z!r}; use KKTGap()."
        )
    empty = np.flatnonzero((problem.lower == 0.0) & (problem.upper == 0.0))
    if example is None:
        return empty
    if example not in empty:
        raise ValueError(
            f"example={example!r} is not left out of the problem of {problem.n} examples: its box is not "
            "L = U = 0; solve problem.without(example)."
        )
    return np.array([example])
