"""Path trackers: each file holds one tracker, and importing the tracker in this ``__init__`` registers it.

A tracker follows the optimum from one breakpoint to the next. `base` holds the base class.
"""

from refsvm.core.rule import export
from refsvm.core.trackers.base import PathTracker as PathTracker
from refsvm.core.trackers.hastie import Hastie as Hastie
from refsvm.core.trackers.svmp import SVMP as SVMP

export(vars())
