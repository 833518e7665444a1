"""Analysis: questions beyond the papers, answered with the reference.

=====================  ================================================================
`solve`                solve(): one problem, from its arguments to a Solution
`resampling`           leave-one-out, cross-validation, grids, the jackknife
`paths`                the optimum along C, ε, ν and weights: errors, intervals, ROC
`derivatives`          influence of examples, gradients of errors, tuning
`multiclass`           several classes by pairs, trained models, model files
`small`                many small problems in one call: a second copy of the loop, on stacks
`scheme`, `units`      which machines several classes have; the unit of a regression's targets
`recording`            the steps of a solve, kept
`growing`              a kernel matrix that is held while examples come and go
=====================  ================================================================
"""
