"""Displays: plots of results, used like scikit-learn's display classes.

=======================  ==============================================================
`ConvergenceDisplay`     gap or objective of several solves against steps, rows or seconds
`WorkingSetDisplay`      one working set: the box, the feasible line and the steps along it
`StepSizeDisplay`        the length of planned steps compared with the Newton step
`LOOGapDisplay`          the objective and the bound that cross when a left-out example is decided
`LOODecisionDisplay`     the check or rule that decided each example, for examples in the plane
`LOOPathDisplay`         the C for which each example is wrong when it is left out
`PathDisplay`            α against log C, with the elbow and the events
`SeedDisplay`            α of a seed against α of the optimum; colours show removed and added examples
`GridDisplay`            score over C and γ, with a ring around the best cell
`SearchDisplay`          scores of another search against C, or in the order of the evaluations
`ValidationPathDisplay`  the error as a step function of C, with its minimum
`ProfileDisplay`         an experiment: the share of runs on which a strategy is within a factor of the best
`Stepper`                a solve in a notebook, step by step: one run, or two side by side
`BoxDisplay`             an experiment: box plots of a metric for each strategy and problem
`CostPathDisplay`        true against false positives for every cost of the two errors
`MeanDisplay`            an experiment: mean and deviation of a metric, or ratios to a baseline
`ResidualDisplay`        distances between held-out predictions of a regression and the targets
`DerivativeDisplay`      the rate of each α with respect to a parameter
`BarDisplay`             numbers by name, such as the number of examples that each check decided
=======================  ==============================================================

``result.plot()`` draws a result with the display for its type (`refsvm.display.of_result`). ``from_result`` draws a
result, and ``from_estimator`` draws a model or the best model of a fitted search. A display of an object that is
neither a result nor a model has its own class method, such as ``from_state`` for a solver state. ``plot`` draws the
display again, on other axes or with other settings, and returns the display. ``ax_`` and ``figure_`` are the axes and
the figure of the latest drawing. Matplotlib is imported at the first drawing.
"""

from refsvm.display.convergence import ConvergenceDisplay
from refsvm.display.cost_path import CostPathDisplay
from refsvm.display.cross_validation import GridDisplay, SeedDisplay
from refsvm.display.derivative import DerivativeDisplay
from refsvm.display.experiment import BoxDisplay, MeanDisplay, ProfileDisplay
from refsvm.display.leave_one_out import LOODecisionDisplay, LOOGapDisplay
from refsvm.display.of_result import BarDisplay
from refsvm.display.path import LOOPathDisplay, PathDisplay, ValidationPathDisplay
from refsvm.display.residuals import ResidualDisplay
from refsvm.display.search import SearchDisplay
from refsvm.display.step_size import StepSizeDisplay
from refsvm.display.stepper import Stepper
from refsvm.display.working_set import WorkingSetDisplay

__all__ = [
    "BarDisplay", "BoxDisplay", "ConvergenceDisplay", "CostPathDisplay", "DerivativeDisplay", "GridDisplay",
    "LOODecisionDisplay", "LOOGapDisplay", "LOOPathDisplay", "MeanDisplay", "PathDisplay", "ProfileDisplay",
    "ResidualDisplay", "SearchDisplay", "SeedDisplay", "StepSizeDisplay", "Stepper", "ValidationPathDisplay",
    "WorkingSetDisplay",
]  # fmt: skip
