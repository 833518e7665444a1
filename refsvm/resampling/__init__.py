"""Resampling: many rounds of training on parts of the data, which share kernel rows and start from each other.

==================  ===============================================================
`leave_one_out`     leave_one_out(): the exact leave-one-out error
`procedure`         its algorithm: the full solution, the checks, the rounds
`sufficiency`       what the full solution tells without training again
`left_out`          its rounds: readable, and compiled
`parallel`          chunks of them, in threads or processes
`result`            what comes out
`cross_validation`  cross_validate(): the error of k-fold cross-validation
`fold_rounds`       its rounds: one fold held out after another
`grid`              the rounds of a grid search: all C and folds
`sequence`          rounds in a given order: readable, and compiled (`compiled_sequence`)
`folds`, `family`   which examples are held out when; what rounds over one data set share
==================  ===============================================================
"""

from refsvm.resampling.cross_validation import CrossValidation, cross_validate
from refsvm.resampling.leave_one_out import leave_one_out
from refsvm.resampling.result import LeaveOneOut

__all__ = ["CrossValidation", "LeaveOneOut", "cross_validate", "leave_one_out"]
