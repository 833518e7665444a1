"""Step rules: one rule per file, `base` first."""

from refsvm.steps.base import StepRule
from refsvm.steps.newton import NewtonStep

__all__ = ["NewtonStep", "StepRule"]
