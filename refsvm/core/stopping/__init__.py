"""Stopping rules: each file holds one rule, and importing the rule in this ``__init__`` registers it.

`base` holds the base class.
"""

from refsvm.core.rule import export
from refsvm.core.stopping.ball_rule import BallRule as BallRule
from refsvm.core.stopping.base import StoppingRule as StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap as KKTGap
from refsvm.core.stopping.loo_duality_gap import LOODualityGap as LOODualityGap
from refsvm.core.stopping.working_set_gap import WorkingSetGap as WorkingSetGap

export(vars())
