"""Checks of this package's rules and of your own rules; `check_strategy` runs all these checks.

==============  ====================================================================================
`strategy`      check_strategy(): runs all these checks on one rule
`values`        a rule's fields, and the return values of its methods that need no solve
`contract`      the contract of the base classes, checked step by step in the readable loop
`seeds`         the contract of seeders
`trackers`      the contract of path trackers
`roles`         the contracts of shrinking, of the checks of leave-one-out, and of kernel matrices
`engines`       a comparison of both engines, bit for bit
`failures`      error messages with the rule, the problem, the step and the cause
`practice`      the test problems, random and degenerate
`shipped`       the shipped rules, with several parameters
`grade`         the grader of the course's assignments: ``python -m refsvm.testing.grade``
`assignments`   the oracles of the assignments, which examine what students' functions return
`student`       the program that runs a student's answers, without refsvm and with few rights
==============  ====================================================================================

The checks need NumPy only. Without Numba the engines are not compared, and the report says so.
"""

from refsvm.testing.contract import Case
from refsvm.testing.engines import SHRINK_EARLY, check_engines, first_difference
from refsvm.testing.practice import practice_problems, smallest_cache_mb
from refsvm.testing.strategy import StrategyReport, check_strategy

__all__ = [
    "SHRINK_EARLY", "Case", "StrategyReport", "check_engines", "check_strategy", "first_difference",
    "practice_problems", "smallest_cache_mb",
]  # fmt: skip
