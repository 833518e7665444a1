"""Checks that a rule is a frozen value, and that its methods that need no state return valid results."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from refsvm import DualProblem, PathTracker, Rule, solve
from refsvm.core._checks import not_negative, positive
from refsvm.core.rule import memory_of
from refsvm.core.selectors import WorkingSetSelector
from refsvm.core.steps import StepRule
from refsvm.core.stopping import StoppingRule
from refsvm.testing import engines
from refsvm.testing.failures import require


def check_value(rule: Rule, problem: DualProblem) -> None:
    """Check that a rule is a frozen value, and that its methods that need no state return valid results.

    Raises
    ------
    AssertionError
        If the rule is not a frozen, hashable dataclass, or a method that needs no state is wrong.
    """
    name = type(rule).__name__
    parameters = getattr(type(rule), "__dataclass_params__", None)
    frozen = parameters is not None and parameters.frozen
    require(frozen, f"{name} is not a frozen dataclass; decorate it with @dataclass(frozen=True).")
    # rules must compare by value: other processes get copies, and stores identify runs by their rules
    require(copy.deepcopy(rule) == rule, f"{name} does not equal its copy; give it comparable fields.")
    try:
        hash(rule)
    except TypeError as error:
        raise AssertionError(f"{name} cannot be hashed ({error}); give it hashable fields.") from error
    values: Any = rule.parameters()
    numbers = isinstance(values, tuple) and all(isinstance(value, int | float) for value in values)
    require(numbers, f"{name}.parameters() returned {values!r}; it must return a tuple of floats.")
    if engines.can_compare():
        _check_twin(rule)
    if isinstance(rule, WorkingSetSelector | StepRule | StoppingRule):
        _check_memory(rule, problem)
        rows: Any = rule.rows_needed(problem.n)
        message = f"{name}.rows_needed({problem.n}) returned {rows!r}; return a whole number of kernel rows."
        require(isinstance(rows, int | np.integer), message)
    if isinstance(rule, StepRule):
        StepRule.checked("step", rule)
    if isinstance(rule, StoppingRule):
        _check_stopping_rule(rule, problem)
    if isinstance(rule, PathTracker):
        accuracy: Any = rule.accuracy
        right = isinstance(accuracy, float) and 0.0 < accuracy <= 0.1
        require(right, f"{name}.accuracy is {accuracy!r}; give a number above 0, at most 0.1.")


def _check_memory(rule: Rule, problem: DualProblem) -> None:
    """Check that the method `memory` returns a float64 vector, and a new array at each call."""
    memory, another = memory_of(rule, problem), memory_of(rule, problem)
    shared = np.shares_memory(memory, another)
    message = f"{type(rule).__name__}.memory() returned the same array twice; return a new array each time."
    require(not shared, message)


def _check_stopping_rule(rule: StoppingRule, problem: DualProblem) -> None:
    """Check a stopping rule's reasons, period and tolerances, and the methods that leave-one-out calls."""
    name = type(rule).__name__
    reasons: Any = rule.reasons
    sentences = isinstance(reasons, tuple) and all(isinstance(each, str) for each in reasons)
    message = f"{name}.reasons is {reasons!r}; give a sentence for each code of check()."
    require(sentences and reasons, message)
    StoppingRule.checked("stop", rule)
    tolerance: Any = rule.tolerance
    right = isinstance(tolerance, int | float) and 0.0 <= tolerance < np.inf
    require(right, f"{name}.tolerance is {tolerance!r}; give a KKT gap, 0 or more.")
    for gap in (0.0, 1e-2, 1.0):
        (positive if gap else not_negative)(
            f"{name}.restricted_tolerance({gap:.3g})", rule.restricted_tolerance(gap)
        )
    known: Any = rule.with_reference(solve(problem, engine="numpy"))
    message = f"{name}.with_reference(solved) returned {known!r}; return a stopping rule, such as itself."
    require(isinstance(known, StoppingRule), message)
    outcome: Any = rule.outcome(reasons[0], 0.5)
    right = isinstance(outcome, tuple) and list(map(type, outcome)) == [str, float]
    message = f"{name}.outcome() returned {outcome!r}; return the name of what decided the example, and h."
    require(right, message)


def _check_twin(rule: Rule) -> None:
    """Check that `twin()` always returns the same compiled function, and that it fits the rule's role."""
    twin: Any = rule.twin
    same = not callable(twin) or twin() is twin()
    name = type(rule).__name__
    require(same, f"{name}.twin() returned different functions in two calls; make the function once.")
    from refsvm.compiled.twins import twin_of  # import `refsvm.compiled` only if it exists

    twin_of(rule)
