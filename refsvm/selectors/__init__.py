"""Working-set selectors: one rule per file, `base` first; its line here registers it."""

from refsvm.rule import export
from refsvm.selectors.base import WorkingSetSelector as WorkingSetSelector
from refsvm.selectors.cache_aware import CacheAware as CacheAware
from refsvm.selectors.conjugate_second_order import ConjugateSecondOrder as ConjugateSecondOrder
from refsvm.selectors.greedy import Greedy as Greedy
from refsvm.selectors.hybrid_maximum_gain import HybridMaximumGain as HybridMaximumGain
from refsvm.selectors.maximum_gain import MaximumGain as MaximumGain
from refsvm.selectors.most_violating_pair import MostViolatingPair as MostViolatingPair
from refsvm.selectors.second_order import SecondOrder as SecondOrder

export(vars())
