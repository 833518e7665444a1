"""The solver: one loop for every combination of rules.

The field's algorithms are compositions:

    SMO (LIBSVM ≥ 2.8)     solve(problem, selector=SecondOrder(), step=NewtonStep())
    planning-ahead SMO     solve(problem, selector=SecondOrder(), step=PlanningAheadStep())
    HMG                    solve(problem, selector=HybridMaximumGain(), step=NewtonStep())

=================  ====================================================
`loop`             steps(), iterate(): SMO itself, readable
`solve`            solve(): run it, or its compiled twin, to a Solution
`rules`            the three rules of a solve: defaults, compatibility
`start`            the state before the first step
`engine`           the Engine protocol, and the readable engine
`compiled_engine`  the engine that runs compiled
`shrinking`        restrict, solve, bring the gradient up to date
`active_sets`      which variables matter
`limits`           iterations, seconds, callback, Ctrl-C
`hard_margin`      C = ∞: the widest margin, or none
`polish`           one exact step on the free variables
=================  ====================================================
"""

from refsvm.solver.loop import iterate, steps
from refsvm.solver.solve import solve

__all__ = ["iterate", "solve", "steps"]
