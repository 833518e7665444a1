"""The three rules of a solve: defaults, and what does not fit together."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from refsvm.kernels.rows import KernelRows
from refsvm.problem import DualProblem
from refsvm.selectors.base import WorkingSetSelector
from refsvm.selectors.second_order import SecondOrder
from refsvm.state import SolverState
from refsvm.steps.base import StepRule
from refsvm.steps.newton import NewtonStep
from refsvm.steps.planning_ahead import PlanningAheadStep
from refsvm.stopping.base import StoppingRule
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["Rules", "chosen_rules"]


BASES: Final = {"selector": WorkingSetSelector, "step": StepRule, "stop": StoppingRule}
"""What the rule of each role has to be."""


class Rules(NamedTuple):
    """Selector, step and stopping rule of one solve."""

    selector: WorkingSetSelector
    step: StepRule
    stop: StoppingRule

    def begin(
        self, problem: DualProblem, alpha: np.ndarray, rows: KernelRows, gradient: np.ndarray | None = None
    ) -> SolverState:
        """Return the state before the first step of these rules; arguments as in `SolverState`."""
        return SolverState(
            problem,
            alpha,
            rows,
            history=self.step.history,
            memories=self.memories(problem),
            gradient=gradient,
        )

    def memories(self, problem: DualProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return fresh scratch memory of each rule."""
        return self.selector.prepare(problem), self.step.prepare(problem), self.stop.prepare(problem)


def chosen_rules(
    selector: WorkingSetSelector | None, step: StepRule | None, stop: StoppingRule | None
) -> Rules:
    """Fill in the default rules and refuse what is no rule or does not fit together."""
    selector = SecondOrder() if selector is None else selector
    if step is None:
        step = PlanningAheadStep() if getattr(selector, "takes_candidates", False) else NewtonStep()
    rules = Rules(selector, step, KKTGap() if stop is None else stop)
    for (name, base), rule in zip(BASES.items(), rules, strict=True):
        if not isinstance(rule, base):
            raise ValueError(
                f"{name}={rule!r} is not a {base.__name__}; pass an instance of one, such as "
                f"{name}={type(rules_default(name)).__name__}()."
            )
    if rules.step.history and not rules.selector.takes_candidates:
        raise ValueError(
            f"selector={selector!r} cannot be combined with step={step!r}: the convergence proof of planned steps "
            "needs a selector that also considers the pairs planned with, such as SecondOrder()."
        )
    return rules


def rules_default(name: str) -> object:
    """Return the default rule of a role, for messages."""
    return {"selector": SecondOrder(), "step": NewtonStep(), "stop": KKTGap()}[name]
