"""The solver: one loop for every combination of rules.

Known algorithms are combinations of rules:

    SMO (LIBSVM ≥ 2.8)     solve(problem, selector=SecondOrder(), step=NewtonStep())
    planning-ahead SMO     solve(problem, selector=SecondOrder(), step=PlanningAheadStep())
    HMG                    solve(problem, selector=HybridMaximumGain(), step=NewtonStep())

==================  ========================================================
`loop`              steps(), iterate(): SMO itself, readable
`rules`             the three rules of a solve, its kernel rows, its first α
`options`           RunOptions: the options of a run
`run`               solved(): takes the steps in chunks and decides how a solve ended
`readable`          NumPyBackend: takes steps and runs rounds in NumPy
`shrinking`         restrict, solve, bring the gradient up to date
`libsvm_shrinking`  shrinking by LIBSVM's heuristic
`decomposition`     working sets of more than two variables
`active_sets`       which variables a restricted problem keeps
`hard_margin`       C = ∞: finds the widest margin, or proves that no margin exists
`validated`         checks of the values that users' own rules return
==================  ========================================================
"""
