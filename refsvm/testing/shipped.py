"""The shipped selectors and step rules, each with several parameters: what checks and trials combine."""

from __future__ import annotations

from typing import Final

from refsvm.selectors.base import WorkingSetSelector
from refsvm.selectors.conjugate_second_order import ConjugateSecondOrder
from refsvm.selectors.greedy import Greedy
from refsvm.selectors.hybrid_maximum_gain import HybridMaximumGain
from refsvm.selectors.maximum_gain import MaximumGain
from refsvm.selectors.most_violating_pair import MostViolatingPair
from refsvm.selectors.second_order import SecondOrder
from refsvm.steps.base import StepRule
from refsvm.steps.conjugate import ConjugateStep
from refsvm.steps.newton import NewtonStep
from refsvm.steps.overrelaxed import OverrelaxedNewtonStep
from refsvm.steps.planning_ahead import PlanningAheadStep

__all__ = ["SELECTORS", "STEPS"]

SELECTORS: Final[tuple[WorkingSetSelector, ...]] = (
    MostViolatingPair(),
    SecondOrder(),
    SecondOrder(planned_range=0.1),
    ConjugateSecondOrder(),
    Greedy(),
    MaximumGain(),
    MaximumGain(rows=1),
    MaximumGain(rows="all"),
    HybridMaximumGain(),
    HybridMaximumGain(eta=0.1, rows=1),
    HybridMaximumGain(rows="all"),
)
STEPS: Final[tuple[StepRule, ...]] = (
    NewtonStep(),
    OverrelaxedNewtonStep(),
    OverrelaxedNewtonStep(factor=0.5),
    PlanningAheadStep(),
    PlanningAheadStep(history=3),
    ConjugateStep(),
)
