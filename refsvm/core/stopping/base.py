"""StoppingRule: the base class of rules that decide when a point is good enough to stop."""

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
    """Decide before every step whether to end the solve.

    ``state.stop_memory`` is the array that `memory` returned. A compiled version (twin) has the signature
    ``check(parameters, state) -> code``.

    Attributes
    ----------
    reasons : tuple of str
        One sentence for each positive code that `check` returns, in order.
    period : int
        The solver evaluates the rule when the number of steps, ``state.iteration``, is a multiple of `period`. With
        shrinking, the solver checks the full problem at multiples of `period`.
    left_out : bool
        True if the rule only works on problems that leave out an example (``state.left_out``); if the rule has a field
        ``example``, its memory begins with the left-out example.
    relative : bool or float
        True, or a number u (True means 1), if ε is relative to the range s of the decision values: the tolerance is
        ε min(1, s/u), see `refsvm.core.stopping.relative`. The last number in the memory of a relative rule is the
        tolerance with which the rule last compared the KKT gap.
    """

    example_call: ClassVar[str] = "KKTGap()"
    role: ClassVar[str] = "CHECK"
    reasons: ClassVar[tuple[str, ...]] = ("The stopping rule is satisfied.",)
    left_out: ClassVar[bool] = False
    period: int = 1
    relative: bool | float = False

    @abstractmethod
    def check(self, state: SolverState) -> int:
        """Return 0 to continue, or the number of the reason to stop, counted from 1.

        The solver may call `check` more than once between two steps; a second call must change nothing.
        """

    @property
    def tolerance(self) -> float:
        """The KKT gap against which rounding errors are compared: `tol`, or 1e-3 if the rule has no `tol`."""
        return float(getattr(self, "tol", 1e-3))

    def share_of_tolerance(self, s: float) -> float:
        """Return the factor of ε for decision values with the range s: min(1, s/u) for a relative rule, otherwise 1."""
        return min(1.0, s / self.relative) if self.relative else 1.0

    def with_absolute_tolerance(self, state: SolverState) -> Any:
        """Return a copy whose absolute tolerance is the number with which this rule last compared the KKT gap.

        Return the rule unchanged if its tolerance is absolute, if ψ exceeds ε, or if the number is not finite.
        """
        if not self.relative or state.gap > self.tolerance or not math.isfinite(state.stop_memory[-1]):
            return self
        # `dataclasses.replace` is slower, because it would check all numbers again
        absolute = object.__new__(type(self))
        absolute.__dict__.update(self.__dict__, tol=float(state.stop_memory[-1]), relative=False)
        return absolute

    def tolerance_for_rounding(self, problem: DualProblem, alpha: np.ndarray, s: float) -> float:
        """Return the tolerance for rounding errors of K: ε, times `share_of_tolerance` for a relative rule.

        If large terms of the decision values cancel, for example if the best model is a constant, the range s is small,
        although rounding errors are not. This method therefore uses an s of at least a hundredth of the range of
        Σ|αᵢ|Kᵢⱼ. Rules that prove a sign have their own margin for rounding; for them, ε counts as at least 1e-3.
        """
        tol = max(self.tolerance, 1e-3) if self.left_out else self.tolerance
        if not self.relative:
            return tol
        # use only variables that may move: left-out examples and examples of other classes are not in this problem
        free = np.flatnonzero(problem.lower < problem.upper)
        terms = variation(problem.gram, alpha, free, problem.z) if len(free) else 0.0
        wanted = tol * self.share_of_tolerance(max(s, LEAST_SHARE * terms))
        # errors smaller than the rounding of v itself do not matter
        return max(wanted, ROUNDED * float(np.abs(problem.v).max()))

    def with_reference(self, solved: Solution) -> StoppingRule:
        """Return the rule for rounds that start from `solved`, the solution on all examples; by default this rule."""
        return self

    def outcome(self, reason: str, value: float) -> tuple[str, float]:
        """Return the name of the test that gave the `reason` to end a round, such as "kkt", and the decision value."""
        return "kkt", value

    @classmethod
    def checked(cls, name: str, rule: Any) -> Any:
        """Return the rule given for `name`; raise ValueError unless it is a stopping rule with a valid `period`."""
        stop = super().checked(name, rule)
        if not isinstance(stop.period, int | np.integer) or stop.period < 1:  # type: ignore[redundant-expr]
            raise ValueError(
                f"{type(rule).__name__}.period is {stop.period!r}; give a whole number of steps, at least 1."
            )
        return stop

    def restricted_tolerance(self, gap: float) -> float:
        """Return the KKT gap to which a restricted problem is solved if the full problem's gap is `gap`: gap/2.

        With shrinking, the solver evaluates the rule only on the full problem, after each restricted problem and when
        the number of steps is a multiple of `period`. A rule that stops at a known KKT gap should return this KKT gap
        instead of gap/2. The solver solves large problems to half of the returned gap (`refsvm.core.solver.shrinking`).
        """
        return gap / 2.0


def has_target(stop: StoppingRule) -> bool:
    """Return True if the rule has a field that names the left-out example."""
    return stop.left_out and hasattr(stop, "example")


def validated_code(stop: StoppingRule, code: Any) -> int:
    """Return the code of `check` as an int; raise ValueError if it is neither 0 nor the number of a reason."""
    reasons: Any = stop.reasons
    count = len(reasons) if type(reasons) is tuple or isinstance(reasons, list) else 0
    if type(code) is int and 0 <= code <= count:  # usually True
        return code
    if isinstance(code, int | float | np.number | np.bool_) and code in range(count + 1):
        return int(code)
    raise ValueError(
        f"{stop!r}.check() returned {code!r}; expected a whole number from 0 to {count}: 0 to continue, or the number "
        "of a reason."
    )


def left_out_examples(rule: StoppingRule, example: int | None, problem: DualProblem) -> np.ndarray:
    """Return the sorted left-out examples of a rule: the example that the rule names, or all examples with L = U = 0.

    Raises
    ------
    ValueError
        If the sum of α is not 0, or the named example is not left out.
    """
    if problem.z != 0.0:
        raise ValueError(
            f"{type(rule).__name__} needs a problem with Σα = 0, but this problem has Σα = {problem.z!r}; use KKTGap()."
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
