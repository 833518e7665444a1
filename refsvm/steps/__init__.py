"""Step rules: one rule per file, `base` first."""

from refsvm.steps.base import StepRule
from refsvm.steps.conjugate import ConjugateStep
from refsvm.steps.newton import NewtonStep
from refsvm.steps.overrelaxed import OverrelaxedNewtonStep
from refsvm.steps.planning_ahead import PlanningAheadStep

__all__ = ["ConjugateStep", "NewtonStep", "OverrelaxedNewtonStep", "PlanningAheadStep", "StepRule"]
