"""Path trackers: following the optimum from one breakpoint to the next.

One tracker per file, `base` first; its line here registers it.
"""

from refsvm.rule import export
from refsvm.trackers.base import PathTracker as PathTracker
from refsvm.trackers.hastie import Hastie as Hastie
from refsvm.trackers.svmp import SVMP as SVMP

export(vars())
