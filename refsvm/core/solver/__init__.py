"""The solver: one loop for every combination of rules.

The field's algorithms are compositions:

    SMO (LIBSVM ≥ 2.8)     solve(problem, selector=SecondOrder(), step=NewtonStep())
    planning-ahead SMO     solve(problem, selector=SecondOrder(), step=PlanningAheadStep())
    HMG                    solve(problem, selector=HybridMaximumGain(), step=NewtonStep())

==================  ========================================================
`loop`              steps(), iterate(): SMO itself, readable
`rules`             the three rules of a solve, its kernel rows, its first α
`options`           what a run can be asked for
`run`               solved(): the chunks of a solve, and its verdict
`readable`          what takes the steps and runs the rounds in NumPy
`shrinking`         restrict, solve, bring the gradient up to date
`libsvm_shrinking`  the same by the heuristic of LIBSVM
`decomposition`     working sets of more than two variables
`active_sets`       which variables matter
`hard_margin`       C = ∞: the widest margin, or none
`validated`         checks of what rules of users return
==================  ========================================================
"""
