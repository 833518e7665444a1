"""Stopping rules: one rule per file, `base` first."""

from refsvm.stopping.base import StoppingRule
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["KKTGap", "StoppingRule"]
