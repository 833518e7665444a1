"""Step rules: each file holds one rule, and importing the rule in this ``__init__`` registers it.

`base` holds the base class. `SolverState.measure` computes slope, curvature and limits for the pair, a step rule
chooses the length of the step, and `SolverState.move` takes the step.
"""

from refsvm.core.rule import export
from refsvm.core.steps.base import StepRule as StepRule
from refsvm.core.steps.conjugate import ConjugateStep as ConjugateStep
from refsvm.core.steps.eager_planning import EagerPlanningStep as EagerPlanningStep
from refsvm.core.steps.newton import NewtonStep as NewtonStep
from refsvm.core.steps.overrelaxed import OverrelaxedNewtonStep as OverrelaxedNewtonStep
from refsvm.core.steps.planning_ahead import PlanningAheadStep as PlanningAheadStep

export(vars())
