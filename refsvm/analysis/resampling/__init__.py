"""Resampling: many rounds of training on parts of the data, which share kernel rows and starting points.

================  ===============================================================
`leave_one_out`   leave_one_out(): the exact leave-one-out error, Algorithm 1
`cross_validate`  cross_validate(): the error of k-fold cross-validation
`folds`           which fold holds out each example
`jackknife`       prediction intervals from the models trained without one example
`grid`            all C and all folds of a grid search
`task`            classification, regression or novelty detection: its machines and the variables of an example
`task_table`      the state of leave-one-out for each example of a task
`results`         the result classes
`scores`          error, residuals, R²
`workers`         rounds shared among threads or processes
`small_left_out`  leave-one-out of many small classes, solved in few calls
`small_folds`     folds of many small classes, solved in few calls
`weights`         weights of examples: an example of weight w counts as w copies
`of_model`        lets functions take an estimator in place of parameters
`shown`           the cards that notebooks show for results
================  ===============================================================
"""

from refsvm.analysis.resampling.cross_validate import cross_validate
from refsvm.analysis.resampling.leave_one_out import leave_one_out
from refsvm.analysis.resampling.results import CrossValidation, LeaveOneOut

__all__ = ["CrossValidation", "LeaveOneOut", "cross_validate", "leave_one_out"]
