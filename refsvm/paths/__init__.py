"""Path trackers: `base`, the contract that they will keep."""

from refsvm.paths.base import PathTracker

__all__ = ["PathTracker"]
