"""Path trackers: following the optimum from one breakpoint to the next; one tracker a file, `base` first."""

from refsvm.trackers.base import PathTracker
from refsvm.trackers.hastie import Hastie
from refsvm.trackers.svmp import SVMP

__all__ = ["SVMP", "Hastie", "PathTracker"]
