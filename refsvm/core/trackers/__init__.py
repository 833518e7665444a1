"""Path trackers: following the optimum from one breakpoint to the next.

One tracker per file, `base` first; its line here registers it.
"""

from refsvm.core.rule import export
from refsvm.core.trackers.base import PathTracker as PathTracker
from refsvm.core.trackers.hastie import Hastie as Hastie
from refsvm.core.trackers.svmp import SVMP as SVMP

export(vars())
