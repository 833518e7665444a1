"""Helpers for a stepper's runs: rules of the second run, a pair chosen by the user, and text that rules print."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import Any

from refsvm.analysis.recording import RecordedState, Recording
from refsvm.core.problem import DualProblem
from refsvm.core.rule import Rule
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.rules import Rules, chosen_rules
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping.base import StoppingRule


def reached(recordings: Sequence[Recording], k: int) -> str:
    """Take steps until step k + 1 of each recording is known; return the text that the rules print."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        for each in recordings:
            each.reach(k)
    return printed.getvalue()


class FixedPair(WorkingSetSelector):
    """Selector that returns the pair that the user chose."""

    def __init__(self, i: int, j: int) -> None:
        self.i, self.j = i, j

    def select(self, state: Any) -> tuple[int, int]:
        """Return the pair that the user chose; raise an error unless its indices lie between 0 and n − 1."""
        n = len(state.alpha)
        if not (0 <= self.i < n and 0 <= self.j < n):
            raise ValueError(f"The pair ({self.i}, {self.j}) does not exist; give indices from 0 to {n - 1}.")
        return self.i, self.j


def refusal(problem: DualProblem, state: RecordedState, i: int, j: int, tolerance: float) -> str:
    """Return why a step that raises αᵢ and lowers αⱼ is refused, as a sentence; "" if the step increases f."""
    G, alpha = state.gradient, state.alpha
    if abs(G[i] - G[j]) <= tolerance:
        return f"The pair ({i}, {j}) has nothing to gain: its two values of G are equal up to {tolerance:g}."
    up, down = (i, j) if G[i] > G[j] else (j, i)
    bounds = {
        f"α of {up} is at its upper bound": alpha[up] >= problem.upper[up],
        f"α of {down} is at its lower bound": alpha[down] <= problem.lower[down],
    }
    if any(bounds.values()):
        return f"The pair ({i}, {j}) is blocked: {', and '.join(reason for reason, is_so in bounds.items() if is_so)}."
    if up == j:
        return f"The pair ({i}, {j}) would move backwards, because G of {i} is below G of {j}; ({j}, {i}) can move."
    return ""


def second_rules(against: Rule | Sequence[Rule], stop: StoppingRule | None) -> Rules:
    """Return the rules of the stepper's second run.

    Raises
    ------
    ValueError
        If a rule is neither a selector nor a step rule, or `against` contains two selectors or two step rules.
    """
    rules = list(against) if isinstance(against, Sequence) else [against]
    selectors = [rule for rule in rules if isinstance(rule, WorkingSetSelector)]
    steps = [rule for rule in rules if isinstance(rule, StepRule)]
    if not rules or len(selectors) > 1 or len(steps) > 1 or len(selectors) + len(steps) < len(rules):
        raise ValueError(
            f"against={against!r} is not valid; give a selector, a step rule, or both, such as "
            "(SecondOrder(), NewtonStep())."
        )
    return chosen_rules(next(iter(selectors), None), next(iter(steps), None), stop)
