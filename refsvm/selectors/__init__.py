"""Working-set selectors: one rule per file, `base` first."""

from refsvm.selectors.base import WorkingSetSelector
from refsvm.selectors.most_violating_pair import MostViolatingPair
from refsvm.selectors.second_order import SecondOrder

__all__ = ["MostViolatingPair", "SecondOrder", "WorkingSetSelector"]
