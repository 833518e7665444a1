"""Working-set selectors: each file holds one rule, and importing the rule in this ``__init__`` registers it.

`base` holds the base class.
"""

from refsvm.core.rule import export
from refsvm.core.selectors.base import WorkingSetSelector as WorkingSetSelector
from refsvm.core.selectors.conjugate_second_order import ConjugateSecondOrder as ConjugateSecondOrder
from refsvm.core.selectors.greedy import Greedy as Greedy
from refsvm.core.selectors.hybrid_maximum_gain import HybridMaximumGain as HybridMaximumGain
from refsvm.core.selectors.improved_smo import ImprovedSMO as ImprovedSMO
from refsvm.core.selectors.maximum_gain import MaximumGain as MaximumGain
from refsvm.core.selectors.most_violating_pair import MostViolatingPair as MostViolatingPair
from refsvm.core.selectors.second_order import SecondOrder as SecondOrder

export(vars())
