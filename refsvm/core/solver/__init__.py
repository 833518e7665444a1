"""The solver: one loop for every combination of rules.

The field's algorithms are compositions:

    SMO (LIBSVM ≥ 2.8)     solve(problem, selector=SecondOrder(), step=NewtonStep())
    planning-ahead SMO     solve(problem, selector=SecondOrder(), step=PlanningAheadStep())
    HMG                    solve(problem, selector=HybridMaximumGain(), step=NewtonStep())

==================  ========================================================
`loop`              steps(), iterate(): SMO itself, readable
`recording`         Recording: the states of a solve, kept, each with its next step
`solve`             solve(): one problem, from its arguments to a Solution
`rules`             the three rules of a solve, its kernel rows, its first α
`options`           what a run can be asked for
`run`               the chunks of a solve and its verdict
`readable`          what takes the steps and runs the rounds in NumPy
`shrinking`         restrict, solve, bring the gradient up to date
`libsvm_shrinking`  the same by the heuristic of LIBSVM
`decomposition`     working sets of more than two variables
`active_sets`       which variables matter
`hard_margin`       C = ∞: the widest margin, or none
`rounding`          how much room b leaves for the rounding of decision values
`small`             many small problems of one size at once; `small_pairs`, `stacked`: pairs of classes, all in one step
`validated`         checks of what rules of users return
==================  ========================================================
"""

import refsvm.core.solver.readable  # noqa: F401  which enters itself among the backends
from refsvm.analysis.recording import Recording
from refsvm.core.solver.decomposition import Decomposition
from refsvm.core.solver.libsvm_shrinking import LIBSVMShrinking
from refsvm.core.solver.loop import iterate, steps
from refsvm.core.solver.shrinking import NoShrinking, Restriction, Shrinking, ShrinkingPolicy
from refsvm.core.solver.solve import solve

__all__ = [
    "Decomposition", "LIBSVMShrinking", "NoShrinking", "Recording", "Restriction", "Shrinking", "ShrinkingPolicy",
    "iterate", "solve", "steps",
]  # fmt: skip
