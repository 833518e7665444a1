"""Stopping rules: one rule per file, `base` first."""

from refsvm.stopping.ball_rule import BallRule
from refsvm.stopping.base import StoppingRule
from refsvm.stopping.kkt_gap import KKTGap
from refsvm.stopping.loo_duality_gap import LOODualityGap
from refsvm.stopping.working_set_gap import WorkingSetGap

__all__ = ["BallRule", "KKTGap", "LOODualityGap", "StoppingRule", "WorkingSetGap"]
