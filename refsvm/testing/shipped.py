"""The shipped rules, each with its defaults and some with other parameters, for checks and experiments."""

from __future__ import annotations

from typing import Any, Final

from refsvm.core import seeders, selectors, steps, stopping
from refsvm.core.rule import rules_in

SELECTORS: Final[tuple[selectors.WorkingSetSelector, ...]] = (
    *(rule() for rule in rules_in(selectors)),
    selectors.SecondOrder(planned_range=0.1),
    selectors.MaximumGain(rows=1),
    selectors.MaximumGain(rows="all"),
    selectors.HybridMaximumGain(eta=0.1, rows=1),
    selectors.HybridMaximumGain(rows="all"),
    selectors.ImprovedSMO(tol=0.1),
)
STEPS: Final[tuple[steps.StepRule, ...]] = (
    *(rule() for rule in rules_in(steps)),
    steps.OverrelaxedNewtonStep(factor=0.5),
    steps.PlanningAheadStep(history=3),
    steps.EagerPlanningStep(history=3),
)
STOPS: Final[tuple[Any, ...]] = (
    *(rule() for rule in rules_in(stopping)),
    stopping.KKTGap(tol=1e-8),
    stopping.KKTGap(relative=True),
    stopping.KKTGap(tol=0.01, relative=10.0),
    stopping.LOODualityGap(variables=1),
    stopping.BallRule(1e-6, every=1),
)
SEEDERS: Final[tuple[seeders.Seeder, ...]] = (
    *(rule() for rule in rules_in(seeders)),
    seeders.ATO(margin=0.1, max_events=20),
    seeders.ATO(max_free=2),
)
