"""The reference: what the papers are about, in NumPy alone. It imports nothing outside this folder.

=================================  ===================================================================
`problem`, `formulations`          DualProblem: the signed dual, and the learning problems that it states
`primal`, `result`                 F(α, b) and the best b; Solution, its status and its trace
`state`                            what changes while a problem is solved; a step changes it in `move`
`rule`                             the base of all rules
`arithmetic`, `kernels`            kernel values and sums of rows; kernels, rows of K and their cache
`selectors`, `steps`, `stopping`   which pair comes next, how far to go along it, when to stop
`solver`                           the loop over these rules, shrinking, one run from start to end
`seeders`, `rounds`                where a related solve starts; leave-one-out and folds as many solves
`walk`, `trackers`, `paths`        the optimum followed along a line; where it turns; all of it for every C
`engine`, `guards`                 limits, Ctrl-C and progress; watches against rounding
`backend`, `doors`                 who takes the steps, readable or compiled; four functions from outside
`_checks`, `shown`                 checks of arguments; how a result prints
=================================  ===================================================================

A twin in `refsvm.compiled` mirrors each file that runs compiled, at the same place.
"""
