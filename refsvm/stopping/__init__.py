"""Stopping rules: one rule per file, `base` first; its line here registers it."""

from refsvm.rule import export
from refsvm.stopping.ball_rule import BallRule as BallRule
from refsvm.stopping.base import StoppingRule as StoppingRule
from refsvm.stopping.kkt_gap import KKTGap as KKTGap
from refsvm.stopping.loo_duality_gap import LOODualityGap as LOODualityGap
from refsvm.stopping.working_set_gap import WorkingSetGap as WorkingSetGap

export(vars())
