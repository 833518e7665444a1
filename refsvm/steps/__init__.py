"""Step rules: one rule per file, `base` first; its line here registers it."""

from refsvm.rule import export
from refsvm.steps.base import StepRule as StepRule
from refsvm.steps.conjugate import ConjugateStep as ConjugateStep
from refsvm.steps.eager_planning import EagerPlanningStep as EagerPlanningStep
from refsvm.steps.newton import NewtonStep as NewtonStep
from refsvm.steps.overrelaxed import OverrelaxedNewtonStep as OverrelaxedNewtonStep
from refsvm.steps.planning_ahead import PlanningAheadStep as PlanningAheadStep

export(vars())
