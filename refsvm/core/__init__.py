"""Implements the methods of the papers in readable NumPy. The folder imports nothing from outside itself.

=================================  ===================================================================
`problem`, `formulations`          DualProblem: the signed dual, and the learning problems that it states
`primal`, `result`                 F(α, b) and the best b; Solution, its status and its trace
`state`                            everything that changes while a problem is solved; `move` takes a step
`rule`                             the base class of all rules
`arithmetic`, `kernels`            kernel values and sums of rows; kernels, rows of K and their cache
`selectors`, `steps`, `stopping`   which pair comes next, how far to go along it, when to stop
`solver`                           the loop over these rules, shrinking, one run from start to end
`seeders`, `rounds`                where a related solve starts; leave-one-out and folds as many solves
`walk`, `trackers`, `paths`        following the optimum along a line, finding breakpoints, the optima for all C
`engine`, `guards`                 limits, Ctrl-C and progress; guards that correct rounding errors
`backend`, `doors`                 the engine that takes the steps, NumPy or compiled; functions that other folders set
`_checks`, `shown`                 checks of arguments; how a result prints
=================================  ===================================================================

The compiled version of a file, if there is one, has the same path below `refsvm.compiled`.
"""
