"""Resampling: many rounds of training on parts of the data, which share kernel rows and start from each other.

================  ===============================================================
`leave_one_out`   leave_one_out(): the exact leave-one-out error, Algorithm 1
`cross_validate`  cross_validate(): the error of k-fold cross-validation
`folds`           which examples are held out when
`jackknife`       intervals for targets from the machines without each example
`grid`            all C and folds of a grid search
`task`            classes, targets or novelty: its machines, and what an example takes with it
`task_table`      what leave-one-out knows about each example of a task
`results`         what comes out
`scores`          error, residuals, R²
`workers`         parts of some rounds each, by threads or processes
`small_folds`     folds of many small classes, in few calls
`weights`         the weight of an example: how many copies of it there are
`of_model`        an estimator in place of the parameters
`shown`           how results are shown
================  ===============================================================
"""

from refsvm.analysis.resampling.cross_validate import cross_validate
from refsvm.analysis.resampling.leave_one_out import leave_one_out
from refsvm.analysis.resampling.results import CrossValidation, LeaveOneOut

__all__ = ["CrossValidation", "LeaveOneOut", "cross_validate", "leave_one_out"]
