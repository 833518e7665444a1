"""Checks for rules, shipped or your own: `check_strategy` is the one to call.

==============  ====================================================================================
`strategy`      check_strategy(): all of the below, for one rule
`values`        what a rule is before it is used, and what its hooks return
`contract`      what the base classes promise, checked step by step in the readable loop
`seeds`         what seeders promise
`trackers`      what path trackers promise
`roles`         what shrinking and the checks of leave-one-out promise
`engines`       both engines compared bit for bit
`failures`      what goes wrong, with the rule, the problem, the step and the cause
`practice`      the problems that this is done on: random ones and degenerate ones
`shipped`       the shipped rules, with several parameters
==============  ====================================================================================

NumPy is all they need. Where Numba is missing the engines are not compared, and the report says so.
"""

from refsvm.testing.contract import Case
from refsvm.testing.engines import SHRINK_EARLY, check_engines, first_difference
from refsvm.testing.practice import practice_problems, smallest_cache_mb
from refsvm.testing.strategy import StrategyReport, check_strategy

__all__ = [
    "SHRINK_EARLY", "Case", "StrategyReport", "check_engines", "check_strategy", "first_difference",
    "practice_problems", "smallest_cache_mb",
]  # fmt: skip
