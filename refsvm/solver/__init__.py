"""The solver: one loop for every combination of rules.

The field's algorithms are compositions:

    SMO (LIBSVM ≥ 2.8)     solve(problem, selector=SecondOrder(), step=NewtonStep())
    planning-ahead SMO     solve(problem, selector=SecondOrder(), step=PlanningAheadStep())
    HMG                    solve(problem, selector=HybridMaximumGain(), step=NewtonStep())

=================  ====================================================
`loop`             steps(), iterate(): SMO itself, readable
`solve`            solve(): one problem, from its arguments to a Solution
`rounds`           Rounds: many related problems over one kernel matrix
`run`              an engine, chunk after chunk, until a rule or a limit says stop
`rules`            the three rules of a solve: defaults, compatibility
`start`            memory for kernel rows, and a feasible α
`engine`           the Engine protocol, and the readable engine
`handover`         which engine takes the steps, and when it changes
`compiled_engine`  the engine that runs compiled
`shrinking`        restrict, solve, bring the gradient up to date
`active_sets`      which variables matter
`limits`           iterations, seconds, callback, Ctrl-C
`hard_margin`      C = ∞: the widest margin, or none
`polish`           one exact step on the free variables
=================  ====================================================
"""

from refsvm.solver.loop import iterate, steps
from refsvm.solver.rounds import Rounds
from refsvm.solver.shrinking import ShrinkingPolicy
from refsvm.solver.solve import solve

__all__ = ["Rounds", "ShrinkingPolicy", "iterate", "solve", "steps"]
