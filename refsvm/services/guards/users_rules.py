"""Guards that detect faults of users' rules, such as steps that leave the feasible set."""

from __future__ import annotations

import math
from typing import Any, Final, cast

import numpy as np

from refsvm.core.guards.base import Guard, Verdict
from refsvm.core.result import Status
from refsvm.core.rule import Rule, is_builtin
from refsvm.core.shown import short
from refsvm.core.solver.validated import place
from refsvm.core.state import SolverState

IDLE: Final = 10_000
"""Largest number of calls of a shrinking rule without a step."""

STEPS_FOR_EACH: Final = 30
"""A solve counts as long from this number of steps for each variable."""

OFF: Final = 1e-6
"""Largest distance of α from its box, and of Σα from z, relative to Σ|α|; rounding errors are smaller."""


class PointError(ValueError):
    """Raised if a solve ended at a point that steps inside the box cannot reach."""


class NoStepGuard(Guard):
    """Raises an error if a shrinking rule's method `steps` moves no variables, because the solve would never end.

    Parameters
    ----------
    shrinking : Shrinking
        The rule.
    """

    def __init__(self, shrinking: Any) -> None:
        self._shrinking, self._calls, self._reached = shrinking, 0, -1

    def before(self, state: SolverState, rules: Any) -> None:
        """Raise an error after more than `IDLE` calls without a step."""
        self._calls = self._calls + 1 if state.iteration == self._reached else 0
        self._reached = state.iteration
        if self._calls > IDLE:
            raise RuntimeError(
                f"{self._shrinking!r} took no step in {IDLE} calls of steps(); it must take at least one step in "
                "each call."
            )


class LongSolve(Guard):
    """Names the user's rule in a warning if a limit, or Ctrl-C, ends a long solve with this rule."""

    for_users_rules = True

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Warn if the solve took far more steps than the problem has variables."""
        if verdict.is_final or state.iteration < max(IDLE, STEPS_FOR_EACH * len(state.alpha)):
            return
        own = next(rule for rule in rules if not is_builtin(cast("type[Rule]", type(rule))))
        self.warn(
            f"{state.iteration:,} steps with your rule {short(own)} have not solved the problem of "
            f"{len(state.alpha):,} variables; "
            f"refsvm.testing.check_strategy({type(own).__name__}(…)) checks the rule for faults."
        )


class FeasiblePoint(Guard):
    """Raises an error if a solve ends at a point that steps inside the box cannot reach."""

    # check only users' rules: tests cover the package's rules, and sums over α would slow down short solves
    for_users_rules = True

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """Raise an error unless Σα = z, α lies in the box, and all numbers are finite."""
        if wrong := feasibility_error(state):
            raise PointError(
                f"{wrong}: a step length was outside [state.low, state.high], or a rule wrote to the state. "
                + place(state, rules)
            )


class ChosenPair(Guard):
    """Warns if a solve stalls because the user's selector returned a pair that cannot move."""

    for_users_rules = True

    def after(self, state: SolverState, rules: Any, verdict: Verdict) -> None:
        """If the solve has stalled, call the selector again, and warn if its pair cannot move."""
        if verdict.status is not Status.STALLED or is_builtin(cast("type[Rule]", type(rules.selector))):
            return
        i, j = rules.selector.select(state)
        if i < 0 or not (wrong := why_it_cannot_move(state, i, j)):
            return
        self.warn(f"The selector returned ({i}, {j}), which cannot move: {wrong}. {place(state, rules)}")


def why_it_cannot_move(state: SolverState, i: int, j: int) -> str:
    """Return the reason why no step on a pair increases f; return "" if a step increases f."""
    if not state.alpha[i] < state.upper[i]:
        return f"{i} is not in I_up, because α[{i}] is at its upper bound"
    if not state.alpha[j] > state.lower[j]:
        return f"{j} is not in I_down, because α[{j}] is at its lower bound"
    if not state.gradient[i] > state.gradient[j]:
        return f"G[{i}] = {state.gradient[i]:.6g} is not above G[{j}] = {state.gradient[j]:.6g}"
    return ""


def feasibility_error(state: SolverState) -> str:
    """Return the reason why steps inside the box cannot reach the point of a state; return "" if steps can reach it."""
    alpha, problem = state.alpha, state.problem
    sum_ = float(np.add.reduce(alpha))
    # allow an error of Σα that is proportional to Σ|α|, as rounding errors of Σα are
    allowed = OFF * (float(np.add.reduce(np.abs(alpha))) + abs(problem.z))
    if not math.isfinite(sum_ + float(np.add.reduce(state.gradient))):
        return "α or G is not finite"
    if abs(problem.z - sum_) > allowed:
        return f"Σα is {sum_:.6g} instead of {problem.z:.6g}"
    outside = float(np.maximum(problem.lower - alpha, alpha - problem.upper).max(initial=0.0))
    return f"α is outside the box by {outside:.3g}" if outside > allowed else ""
