"""Analysis: functions that go beyond the papers, built on the algorithms in `refsvm.core`.

=====================  ================================================================
`solve`                solve(): one problem, from its arguments to a Solution
`resampling`           leave-one-out, cross-validation, grids, the jackknife
`paths`                the optimum along C, ε, ν and weights: errors, intervals, ROC
`derivatives`          influence of examples, gradients of errors, tuning
`multiclass`           several classes by pairs, trained models, model files
`small`                many small problems solved in one call
`scheme`, `units`      the pairs of classes and their votes; the unit of a regression's targets
`recording`            a recording of the steps of a solve
`growing`              a kernel matrix to which examples are added, and from which they are removed
=====================  ================================================================
"""
