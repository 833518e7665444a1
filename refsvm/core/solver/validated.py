"""Checks the values that users' own rules return, because the loop could misinterpret them.

Tests check the package's own rules, and `refsvm.testing.check_strategy` finds more mistakes of users' rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np

from refsvm.core.rule import is_builtin
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.shown import named
from refsvm.core.state import NO_PAIR, SolverState
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule, validated_code


def validated(selector: Any, step: Any, stop: Any) -> tuple[Any, Any, Any]:
    """Return the rules of a loop; wrap users' own rules so that invalid return values raise ValueError.

    The wrappers refuse indices that are truth values or negative, steps that are infinite or NaN, and negative codes.

    Parameters
    ----------
    selector, step, stop : rules

    Returns
    -------
    selector, step, stop
        Objects with the methods that the loop calls: `select`, `length` and `check`.

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.core.solver.validated import validated
    >>> validated(SecondOrder(), NewtonStep(), KKTGap())
    (SecondOrder(planned_range=0.9), NewtonStep(), KKTGap(tol=0.001, relative=False))
    """
    ours = [*map(is_builtin, map(type, (selector, step, stop)))]
    return (
        selector if ours[0] else _Selector(selector),
        step if ours[1] else _Step(step),
        stop if ours[2] else _Stop(stop),
    )


def refuse_negative(stop: StoppingRule, code: Any) -> Any:
    """Return a user's code; raise ValueError if it is negative, because negative codes have a meaning in the loop."""
    return validated_code(stop, code) if isinstance(code, Real) and code < 0 else code


def user_code(stop: StoppingRule, state: SolverState, code: Any, own: Any) -> int:
    """Return the code of a user's stopping rule after checking it; codes of the run (in `own`) need no check."""
    if code not in own:
        return validated_code(stop, code)
    refuse_negative(stop, stop.check(state))
    return int(code)


class _Selector:
    """Wraps a user's own selector."""

    def __init__(self, rule: WorkingSetSelector) -> None:
        self._rule = rule

    def select(self, state: SolverState) -> Any:
        """Return the selected pair, or raise ValueError for truth values and negative indices."""
        pair: Any = self._rule.select(state)
        i, j = pair
        are_whole = isinstance(i, Integral) and isinstance(j, Integral)
        is_below = are_whole and min(int(i), int(j)) < 0 and not i == j == -1
        if is_below or isinstance(i, bool | np.bool_) or isinstance(j, bool | np.bool_):
            raise ValueError(f"{NO_PAIR.format(i, j)} The selector is {self._rule!r}.")
        return i, j


class _Step:
    """Wraps a user's own step rule."""

    def __init__(self, rule: StepRule) -> None:
        self._rule, self.uses_momentum = rule, rule.uses_momentum

    def length(self, state: SolverState, i: int, j: int) -> Any:
        """Return the step length, or raise ValueError if the step would make α or G infinite or NaN."""
        mu: Any = self._rule.length(state, i, j)
        parts = mu if self.uses_momentum and isinstance(mu, tuple) else (mu,)
        if any(isinstance(each, Real) and not math.isfinite(each) for each in parts):
            raise ValueError(
                f"length() returned μ = {mu!r}, a step length outside [lo, hi] = [{state.low!r}, {state.high!r}]; "
                f"α or G would not be finite; return lo ≤ μ ≤ hi. The step rule is {self._rule!r}."
            )
        return mu


class _Stop:
    """Wraps a user's own stopping rule."""

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule

    def check(self, state: SolverState) -> Any:
        """Return the rule's code, or raise ValueError if the code is negative."""
        return refuse_negative(self._rule, self._rule.check(state))


@contextmanager
def located(state: SolverState, rules: Any) -> Iterator[None]:
    """If a rule raises an error, add a note with the number of steps taken and the rules in use."""
    try:
        yield
    except Exception as error:
        error.add_note(place(state, rules))
        raise


def place(state: SolverState, rules: Any) -> str:
    """Return a sentence that locates a failure: the number of steps and of variables, and the rules."""
    return (
        f"The error occurred after {state.iteration} steps on {len(state.alpha)} variables, with "
        f"{', '.join(map(named, rules))}; refsvm.testing.check_strategy(rule) finds what a rule of your own does wrong."
    )
