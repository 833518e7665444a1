"""The shipped selectors and step rules, each with several parameters: what checks and trials combine."""

from __future__ import annotations

from typing import Final

from refsvm import selectors, steps

__all__ = ["SELECTORS", "STEPS"]

SELECTORS: Final[tuple[selectors.WorkingSetSelector, ...]] = (
    selectors.MostViolatingPair(),
    selectors.SecondOrder(),
    selectors.SecondOrder(planned_range=0.1),
    selectors.ConjugateSecondOrder(),
    selectors.Greedy(),
    selectors.MaximumGain(),
    selectors.MaximumGain(rows=1),
    selectors.MaximumGain(rows="all"),
    selectors.HybridMaximumGain(),
    selectors.HybridMaximumGain(eta=0.1, rows=1),
    selectors.HybridMaximumGain(rows="all"),
)
STEPS: Final[tuple[steps.StepRule, ...]] = (
    steps.NewtonStep(),
    steps.OverrelaxedNewtonStep(),
    steps.OverrelaxedNewtonStep(factor=0.5),
    steps.PlanningAheadStep(),
    steps.PlanningAheadStep(history=3),
    steps.ConjugateStep(),
)
