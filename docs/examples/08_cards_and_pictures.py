r"""
Cards and pictures
==================

A notebook shows a card for each result; ``repr`` returns one line, and ``print`` shows a table. This page shows the
cards of six calls and all pictures. A card has no script and loads nothing. It takes its colours from the page, and has
text for screen readers.

Cards
-----

A problem
~~~~~~~~~
"""

from refsvm import DualProblem, cross_validate, leave_one_out, regularization_path, solve
from refsvm.datasets import load

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0)
problem

# %%
# A solution
# ~~~~~~~~~~
# The bar says how many α are at 0, free, and at a bound.

solution = solve(problem)
solution

# %%
# Leave-one-out
# ~~~~~~~~~~~~~
# The error comes first, with its standard error; the bar says what decided how many examples.

loo = leave_one_out(heart.X, heart.y, gamma=0.005, C=10.0)
loo

# %%
# ``print`` has the same numbers as text:

print(loo)

# %%
# A partial result
# ~~~~~~~~~~~~~~~~
# A callback ends this one early. Its error is not known, and an interval holds it, whatever the rest would be. Ctrl-C
# raises ``KeyboardInterrupt``, with the same partial result as ``error.result``.

part = leave_one_out(
    heart.X,
    heart.y,
    gamma=0.005,
    C=10.0,
    checks=(),
    engine="numpy",
    callback=lambda at: at.done > at.total // 2,
)
part

# %%
# Its score is NaN, so that a cell below cannot go on with it unnoticed:

print(part.error, part.error_bounds[0] < loo.error < part.error_bounds[1])

# %%
# Cross-validation
# ~~~~~~~~~~~~~~~~
# One column for each fold.

cross_validate(heart.X, heart.y, gamma=0.005, C=10.0, folds=10, rng=0)

# %%
# A path
# ~~~~~~

path = regularization_path(heart.X, heart.y, gamma=0.005, C_min=0.1, C_max=100.0)
path

# %%
# Pictures
# --------
#
# ``plot()`` of a result draws it, and returns the display, whose axes are ``ax_``. ``from_result`` makes a display from
# a result, ``from_estimator`` from a model or a fitted search. These are all displays, with their defaults.

import tempfile
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    ATO,
    RBF,
    SVCCV,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Recording,
    SecondOrder,
    compare,
    cost_path,
    cross_validate,
    iterate,
    leave_one_out,
    nu_path,
    regularization_path,
    solve,
)
from refsvm.analysis.paths import cross_validate_path
from refsvm.analysis.resampling.jackknife import held_out_machines
from refsvm.datasets import load, make_banana, make_chessboard
from refsvm.display import (
    BoxDisplay,
    CostPathDisplay,
    GridDisplay,
    LOOGapDisplay,
    LOOPathDisplay,
    SearchDisplay,
    SeedDisplay,
    StepSizeDisplay,
    ValidationPathDisplay,
    WorkingSetDisplay,
)
from refsvm.experiment import Experiment, Problem, Solve

heart, banana = load("heart"), make_banana(60, rng=0)
names = np.where(banana.y > 0, "ill", "well")
problem = DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0)

# %%
# A solve
# ~~~~~~~
# Rules side by side, a solution with a trace, a trace and a recording are drawn in the same way.

# alt: The KKT gap of three selectors against the steps, on a logarithmic scale.
race = compare(problem, ["mvp", "second-order", "maximum-gain"])
race.plot()

# %%
# With a note if the solve did not converge:

# alt: The KKT gap of one solve that was cut after 100 steps, which a note above the picture says.
solve(problem, trace=True, max_iter=100).plot()

# %%
# One step, in the plane of its two variables. A state draws the most violating pair; a recording any of its steps.

# alt: The box of two variables with the line on which their sum is fixed, level lines of the objective, and the end of
#     the step.
next(iterate(problem)).plot()

# %%

# alt: The same picture of step 50 of a recorded solve.
board = make_chessboard(300, rng=0)
hard = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1000.0)
WorkingSetDisplay.from_recording(Recording(hard), 50)
plt.show()

# %%
# How long planned steps are:

# alt: A histogram of the length of planned steps, compared with the Newton step.
StepSizeDisplay.from_result(solve(hard, step=PlanningAheadStep(), shrinking=False, trace=True))
plt.show()

# %%
# How α moves with a parameter, and at a kink on both sides of it:

# alt: The rates at which forty variables move with C, the largest first.
solve(problem, stop=KKTGap(1e-9)).derivative("C").plot()

# %%

# alt: The rates of two variables as C falls and as it rises, which differ.
parted = DualProblem.classification(np.array([[0.0], [2.0]]), [-1, 1], kernel="linear", C=0.5)
solve(parted, stop=KKTGap(1e-12)).derivative("C").plot()

# %%
# Leave-one-out and folds
# ~~~~~~~~~~~~~~~~~~~~~~~
# Of two features each example is seen, of more the number of examples that each check has decided.

# alt: Sixty examples in the plane, coloured by what decided them; those that are wrong when they are left out have a
#     ring.
leave_one_out(banana.X, names, kernel=RBF(0.25)).plot()

# %%

# alt: Four bars: how many examples of heart each check has decided.
leave_one_out(heart.X, heart.y, gamma=0.005, C=10.0).plot()

# %%
# Two curves that meet when a left-out example is decided:

# alt: The primal objective falls, the bound of the duality gap rises, and a line marks the step at which they cross.
LOOGapDisplay.from_problem(DualProblem.classification(banana.X, banana.y, kernel=RBF(0.25)), 3)
plt.show()

# %%
# The error of each fold:

# alt: Ten bars with the error of each fold of heart.
cross_validate(heart.X, heart.y, gamma=0.005, C=10.0, folds=10, rng=0).plot()

# %%
# How far held-out predictions of a regression are from the targets:

# alt: A staircase of the share of the examples whose prediction is at most so far from its target.
held_out_machines(DualProblem.regression(banana.X[:, :1], banana.X[:, 1], kernel=RBF(0.5))).plot()

# %%
# A seed against the optimum of its round:

# alt: The variables of a seed lie on the diagonal: they are those of the optimum.
SeedDisplay.from_seeder(ATO(), solve(problem.without(0)), problem.without(1))
plt.show()

# %%
# Paths
# ~~~~~
# Of C, and of any other line of problems:

# alt: The share of its bound that each variable has against C, one colour for each class, and the size of the elbow.
path = regularization_path(banana.X, names, kernel=RBF(0.25), C_min=0.1, C_max=100.0)
path.plot()

# %%

# alt: The variables of a one-class machine against nu, in straight pieces.
nu_path(banana.X, nu=(0.2, 0.5), kernel=RBF(0.25)).plot()

# %%
# Of several classes one pair:

# alt: The path of the first of three pairs of classes.
three = np.array(["a", "b", "c"])[np.argsort(np.argsort(banana.X[:, 0])) * 3 // 60]
regularization_path(banana.X, three, kernel=RBF(0.25), C_min=0.1, C_max=10.0).plot()

# %%
# Errors and operating points along them:

# alt: The error of five folds as a step function of C, with the interval of least error.
cross_validate_path(banana.X, names, kernel=RBF(0.25), C_min=0.1, C_max=100.0, folds=5).plot()

# %%

# alt: A line for each example, where it is drawn the machine without it errs on it.
LOOPathDisplay.from_result(
    cross_validate_path(banana.X, names, kernel=RBF(0.25), C_min=0.1, C_max=100.0, folds="loo")
)
plt.show()

# %%

# alt: The share of true against that of false positives for every cost of the two errors.
cost_path(banana.X, names, kernel=RBF(0.25)).roc(banana.X, names).plot()

# %%
# A fitted search
# ~~~~~~~~~~~~~~~
# The scores of its cells, and what its best machine would do at any C and at any cost of the errors:

# alt: A grid of scores over C and gamma; a ring marks the best one.
search = SVCCV(Cs=[0.1, 1.0, 10.0, 100.0], gammas=[0.001, 0.01, 0.1, 1.0], cv=5).fit(heart.X, heart.y)
GridDisplay.from_estimator(search)
plt.show()

# %%
# Without γ there is no grid: ``search.plot()`` draws the scores against C.

# alt: The score of a linear kernel against C; a ring marks the best one.
SearchDisplay.from_estimator(SVCCV(kernel="linear", Cs=[0.01, 0.1, 1.0], cv=5).fit(heart.X, heart.y))
plt.show()

# %%

# alt: The error of ten folds as a step function of C; a dashed line is the C of the search.
ValidationPathDisplay.from_estimator(search, heart.X, heart.y)
plt.show()

# %%

# alt: Operating points of the kernel of the search; a ring is the machine of equal costs.
CostPathDisplay.from_estimator(search, heart.X, heart.y)
plt.show()

# %%
# An experiment
# ~~~~~~~~~~~~~
# Performance profiles, boxes, means with their deviation or as ratios to a baseline, and mean ranks:

strategies = [
    Solve("mvp", selector=MostViolatingPair(), step=NewtonStep(), shrinking=False),
    Solve("second order", selector=SecondOrder(), step=NewtonStep(), shrinking=False),
    Solve("default"),
]
problems = [
    Problem(name, partial(load, name), kernel=RBF(gamma), C=10.0)
    for name, gamma in (("heart", 0.005), ("sonar", 0.1), ("thyroid", 0.1))
]
experiment = Experiment(strategies, problems, Path(tempfile.mkdtemp(), "runs.sqlite"), permutations=4)
experiment.run()

# alt: A staircase for each of three strategies: the share of runs that take at most so many times the steps of the
#     best.
experiment.plot()

# %%

# alt: Boxes of the number of steps of three strategies on three sets.
BoxDisplay.from_result(experiment)
plt.show()

# %%

# alt: Mean and standard deviation of the steps of three strategies on three sets.
experiment.compare("iterations").plot()

# %%

# alt: The steps of two strategies, divided by those of the most violating pair.
experiment.compare("iterations", "mvp").plot()

# %%

# alt: Bars of the mean rank of three strategies.
experiment.compare("iterations").friedman().plot()
