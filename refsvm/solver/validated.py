"""What rules of the user return, looked at before a step is taken; the package's own rules are tested for it.

The sentences are those of `refsvm.testing.check_strategy`.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, Final

from refsvm.rule import is_builtin
from refsvm.selectors.base import WorkingSetSelector
from refsvm.state import SolverState
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule, validated_code

SLACK: Final = 1e-9
"""By how much of the box a step may be too long: rounding."""


def validated(selector: Any, step: Any, stop: Any) -> tuple[Any, Any, Any]:
    """Return the rules of a loop; those of the user refuse to return what would make no step.

    Parameters
    ----------
    selector, step, stop : rules

    Returns
    -------
    selector, step, stop
        With the methods that a loop calls: `select`, `length` and `check`.

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.solver.validated import validated
    >>> validated(SecondOrder(), NewtonStep(), KKTGap())
    (SecondOrder(planned_range=0.9), NewtonStep(), KKTGap(tol=0.001))
    """
    ours = [*map(is_builtin, map(type, (selector, step, stop)))]
    return (
        selector if ours[0] else _Selector(selector),
        step if ours[1] else _Step(step),
        stop if ours[2] else _Stop(stop),
    )


class _Selector:
    """A selector of the user."""

    def __init__(self, rule: WorkingSetSelector) -> None:
        self._rule = rule

    def select(self, state: SolverState) -> tuple[int, int]:
        """Return the pair, or raise ValueError."""
        found: Any = self._rule.select(state)
        try:
            i, j = found
        except (TypeError, ValueError):
            raise self._refused(found, "expected two whole numbers") from None
        if not all(type(each) is not bool and isinstance(each, Integral) for each in (i, j)):
            raise self._refused(found, "expected two whole numbers")
        n = len(state.alpha)
        if i < 0:
            return -1, -1
        if not (0 <= i < n and 0 <= j < n and i != j):
            raise self._refused(found, f"expected two different indices below {n}, or (-1, -1)")
        if not state.alpha[i] < state.upper[i]:
            raise self._refused(found, f"and i = {i} is not in I_up")
        if not state.alpha[j] > state.lower[j]:
            raise self._refused(found, f"and j = {j} is not in I_down")
        return int(i), int(j)

    def _refused(self, found: Any, why: str) -> ValueError:
        return ValueError(f"selector={self._rule!r}: select() returned {found!r:.60}; {why}.")


class _Step:
    """A step rule of the user."""

    def __init__(self, rule: StepRule) -> None:
        self._rule, self.uses_momentum = rule, rule.uses_momentum

    def length(self, state: SolverState, i: int, j: int) -> Any:
        """Return the step length, or raise ValueError."""
        mu: Any = self._rule.length(state, i, j)
        if self.uses_momentum:
            if isinstance(mu, tuple | list) and len(mu) == 2 and all(map(_is_finite, mu)):
                return mu
            raise self._refused("(μ, κ)", mu, "expected two finite numbers")
        low, high = state.low, state.high
        slack = SLACK * max((abs(each) for each in (low, high) if math.isfinite(each)), default=0.0)
        if not _is_finite(mu) or not low - slack <= mu <= high + slack:
            raise self._refused("μ", mu, f"a step length outside [lo, hi] = [{low!r}, {high!r}]")
        return mu

    def _refused(self, name: str, found: Any, why: str) -> ValueError:
        return ValueError(f"step={self._rule!r}: length() returned {name} = {found!r:.60}, {why}.")


class _Stop:
    """A stopping rule of the user."""

    def __init__(self, rule: StoppingRule) -> None:
        self._rule = rule

    def check(self, state: SolverState) -> int:
        """Return the code, or raise ValueError."""
        return validated_code(self._rule, self._rule.check(state))


def _is_finite(value: Any) -> bool:
    """Whether a value is a finite real number, and no truth value."""
    return type(value) is not bool and isinstance(value, Real) and math.isfinite(value)
