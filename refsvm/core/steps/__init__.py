"""Step rules: one rule per file, `base` first; its line here registers it.

A rule says how far to go. `SolverState.measure` describes the pair to it, `SolverState.move` takes the step, and
`refsvm.testing.contract` checks both.
"""

from refsvm.core.rule import export
from refsvm.core.steps.base import StepRule as StepRule
from refsvm.core.steps.conjugate import ConjugateStep as ConjugateStep
from refsvm.core.steps.eager_planning import EagerPlanningStep as EagerPlanningStep
from refsvm.core.steps.newton import NewtonStep as NewtonStep
from refsvm.core.steps.overrelaxed import OverrelaxedNewtonStep as OverrelaxedNewtonStep
from refsvm.core.steps.planning_ahead import PlanningAheadStep as PlanningAheadStep

export(vars())
