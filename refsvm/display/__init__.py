"""Displays: pictures of a solve, in the manner of scikit-learn's display classes.

=======================  ==============================================================
`ConvergenceDisplay`     gap or objective of several solves against steps, rows or seconds
`WorkingSetDisplay`      one working set: the box, the feasible line and the steps along it
`StepSizeDisplay`        how long planned steps are, compared with the Newton step
`LOOGapDisplay`          the two objectives that meet when a left-out example is decided
`LOODecisionDisplay`     what decided each example of a plane
`LOOPathDisplay`         for which C each example is wrong when it is left out
`PathDisplay`            α against log C, with the elbow and the events
`SeedDisplay`            α of a seed against α of the optimum, by what became of each example
`GridDisplay`            score over C and γ, the best cell ringed
`SearchDisplay`          the scores of another search against C, or in the order of its evaluations
`ValidationPathDisplay`  the error as a step function of C, with its minimum
`ProfileDisplay`         an experiment: on which share of the runs a strategy is how near to the best
`Stepper`                a solve in a notebook, driven by hand: one run, or two side by side
`BoxDisplay`             an experiment: a metric over the orders, side by side
`CostPathDisplay`        true against false positives for every cost of the two errors
`MeanDisplay`            an experiment: mean and deviation of a metric, or ratios to a baseline
`ResidualDisplay`        how far held-out predictions of a regression are from the targets
`DerivativeDisplay`      how fast each α moves with a parameter
`BarDisplay`             numbers by name, such as how many examples each check decided
=======================  ==============================================================

``result.plot()`` draws a result by one of these (`refsvm.display.of_result`). A method ``from_…`` computes what is to
be seen and draws it: ``from_result`` takes a result; ``from_estimator`` a model, or a fitted search, of which the best
machine counts; others take what the picture is made of, such as ``from_state``. ``plot`` draws it once more, into other
axes or with other settings, and returns the display; ``ax_`` and ``figure_`` (of `refsvm.display.canvas.Display`) are
where it was drawn last. Matplotlib is imported when something is drawn.
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
