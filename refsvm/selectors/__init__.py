"""Working-set selectors: one rule per file, `base` first."""

from refsvm.selectors.base import WorkingSetSelector
from refsvm.selectors.conjugate_second_order import ConjugateSecondOrder
from refsvm.selectors.greedy import Greedy
from refsvm.selectors.hybrid_maximum_gain import HybridMaximumGain
from refsvm.selectors.maximum_gain import MaximumGain
from refsvm.selectors.most_violating_pair import MostViolatingPair
from refsvm.selectors.second_order import SecondOrder

__all__ = [
    "ConjugateSecondOrder", "Greedy", "HybridMaximumGain", "MaximumGain", "MostViolatingPair", "SecondOrder",
    "WorkingSetSelector",
]  # fmt: skip
