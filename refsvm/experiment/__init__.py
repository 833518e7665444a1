"""Experiments: run strategies on problems in random orders, keep the runs in a store, and show tables of the results.

==================  ==============================================================================
`experiment`        Experiment: computes the runs that are missing, and shows the finished ones
`problem`           Problem: examples, kernel and C under a name; Instance: its examples in one order
`strategy`          Strategy: the work that is measured on an instance, and how to add a kind of strategy
`solve`             Solve: one call of `refsvm.solve`
`track_path`        TrackPath: one call of `refsvm.regularization_path`
`grid_search`       GridSearch: one search by `refsvm.SVCCV`
`cross_validation`  CrossValidate: one call of `refsvm.cross_validate`
`leave_one_out`     LeaveOneOutError: one call of `refsvm.leave_one_out`
`identity`          hashes the code that computes a run, and describes the machine
`race`              compare: several rules on one problem, side by side
`own_rules`         reads rules of the user, named as FILE.py:NAME
`comparison`        Comparison: means, standard deviations, ratios and paired Wilcoxon tests
`grid`              Grid: a table, as Markdown or LaTeX
==================  ==============================================================================

Every script that reproduces a table of a paper uses this folder. joblib, pandas, SciPy and tabulate are imported only
when they are first needed.
"""

from refsvm.experiment.comparison import Comparison, Ranking, Summary, holm, paired_p
from refsvm.experiment.cross_validation import CrossValidate
from refsvm.experiment.experiment import Experiment
from refsvm.experiment.grid import Grid
from refsvm.experiment.grid_search import GridSearch
from refsvm.experiment.leave_one_out import LeaveOneOutError
from refsvm.experiment.problem import Instance, Problem
from refsvm.experiment.race import RuleComparison, compare
from refsvm.experiment.solve import STEP_RATIO_EDGES, Solve
from refsvm.experiment.strategy import Strategy
from refsvm.experiment.track_path import TrackPath
from refsvm.services.store import RunStore

__all__ = [
    "STEP_RATIO_EDGES", "Comparison", "CrossValidate", "Experiment", "Grid", "GridSearch", "Instance",
    "LeaveOneOutError", "Problem", "Ranking", "RuleComparison", "RunStore", "Solve", "Strategy", "Summary",
    "TrackPath", "compare", "holm", "paired_p",
]  # fmt: skip
