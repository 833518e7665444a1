"""StoppingRule: when the point is good enough."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from refsvm.core.kernels.precision import variation
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution
from refsvm.core.rule import Rule
from refsvm.core.state import SolverState
from refsvm.core.stopping.relative import LEAST_SHARE, ROUNDED


class StoppingRule(Rule):
    """Decide, before every step, whether to stop.

    ``state.stop_memory`` is the array that `memory` returned. Its twin is ``check(parameters, state) -> code``.

    Attributes
    ----------
    reasons : tuple of str
        One sentence for each positive code that `check` returns, in order.
    period : int
        The rule looks when ``state.iteration`` is a multiple of this; the steps that shrinking takes end there too.
    left_out : bool
        Whether the rule is made for problems from which one example is left out, and for no others. Which one it is
        says ``state.left_out``, and a field ``example`` of the rule, if it has one: then its memory begins with it.
    relative : bool or float
        Whether ε is relative to the range of the decision values (`refsvm.core.stopping.relative`), or the range up to
        which it is; True is 1. The last number of the rule's memory is then the number that the KKT gap was compared
        with, if it was at most `tol`.
    """

    example_call: ClassVar[str] = "KKTGap()"
    role: ClassVar[str] = "CHECK"
    reasons: ClassVar[tuple[str, ...]] = ("The stopping rule is satisfied.",)
    left_out: ClassVar[bool] = False
    period: int = 1
    relative: bool | float = False

    @abstractmethod
    def check(self, state: SolverState) -> int:
        """Return 0 to go on, or the 1-based number of the reason to stop.

        May be asked more than once between two steps; asking again must change nothing.
        """

    @property
    def tolerance(self) -> float:
        """The KKT gap that rounding is compared with, and ε where ε-KKT takes over: `tol`, or 1e-3 without it."""
        return float(getattr(self, "tol", 1e-3))

    def share_of_tolerance(self, s: float) -> float:
        """Return the factor of ε where the decision values differ by s: 1, or min(1, s/u) of a relative rule."""
        return min(1.0, s / self.relative) if self.relative else 1.0

    def with_absolute_tolerance(self, state: SolverState) -> Any:
        """Return the rule with the absolute tolerance that it last compared the KKT gap with.

        A rule that has an absolute one already, or whose gap is above ε or not finite, is returned as it is.
        """
        if not self.relative or state.gap > self.tolerance or not math.isfinite(state.stop_memory[-1]):
            return self
        absolute = object.__new__(type(self))  # `replace` would check all numbers again
        absolute.__dict__.update(self.__dict__, tol=float(state.stop_memory[-1]), relative=False)
        return absolute

    def tolerance_for_rounding(self, problem: DualProblem, alpha: np.ndarray, s: float) -> float:
        """Return the tolerance that rounding of K is compared with: ε, of a relative rule times its share.

        Where terms cancel, as where the best machine is a constant, s says nothing of K: a hundredth of what Σ|αᵢ|Kᵢⱼ
        varies by is the least. A rule that proves signs allows for rounding by itself, and asks for no smaller ε than
        others do.
        """
        tol = max(self.tolerance, 1e-3) if self.left_out else self.tolerance
        if not self.relative:
            return tol
        # examples that are left out, or of other classes, say nothing of how far these decision values vary
        free = np.flatnonzero(problem.lower < problem.upper)
        terms = variation(problem.gram, alpha, free, problem.z) if len(free) else 0.0
        wanted = tol * self.share_of_tolerance(max(s, LEAST_SHARE * terms))
        # of values near v no rounding of K is seen below that of v itself
        return max(wanted, ROUNDED * float(np.abs(problem.v).max()))

    def with_reference(self, solved: Solution) -> StoppingRule:
        """Return the rule for rounds from this full solution; a rule made for left-out examples may want to know it."""
        return self

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return the name under which a round that ended for `reason` is counted, and its decision value."""
        return "kkt", value

    @classmethod
    def checked(cls, name: str, rule: Any) -> Any:
        """Return the value of argument `name` if it is a stopping rule with a period, or raise ValueError."""
        stop = super().checked(name, rule)
        if not isinstance(stop.period, int | np.integer) or stop.period < 1:  # type: ignore[redundant-expr]
            raise ValueError(
                f"{type(rule).__name__}.period is {stop.period!r}; give a whole number of steps, at least 1."
            )
        return stop

    def restricted_tolerance(self, gap: float) -> float:
        """Return the KKT gap to which a restricted problem is solved while the full one has `gap`; by default, half.

        With shrinking the rule is asked about the full problem, after each restricted one and at its `period`. A rule
        that knows which gap satisfies it goes there at once. Large problems go to half of what this says
        (`refsvm.core.solver.shrinking`).
        """
        return gap / 2.0


def has_target(stop: StoppingRule) -> bool:
    """Whether the rule has a field for the example that is left out."""
    return stop.left_out and hasattr(stop, "example")


def validated_code(stop: StoppingRule, code: Any) -> int:
    """Return the code of `check` as an int; refuse one that is neither 0 nor the number of a reason."""
    reasons: Any = stop.reasons
    count = len(reasons) if type(reasons) is tuple or isinstance(reasons, list) else 0
    if type(code) is int and 0 <= code <= count:  # as nearly always
        return code
    if isinstance(code, int | float | np.number | np.bool_) and code in range(count + 1):
        return int(code)
    raise ValueError(
        f"{stop!r}.check() returned {code!r}; expected a whole number from 0 to {count}: 0 to go on, or the number of "
        "one of its reasons."
    )


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
