r"""
Swap a rule and measure
=======================

Does a Newton step that is made a tenth longer save steps, and does it with every selector? A single solve answers
nothing: the number of steps changes with the order of the examples. So every strategy runs on several sets, on several
random orders of each, the same for all; then the runs are paired, and the difference can be tested.

Strategies, problems, orders
----------------------------

Three selectors and two step rules make six strategies. Settings that a strategy does not name have the defaults of
:func:`~refsvm.analysis.solve.solve`; without shrinking, the steps are those of the papers.
"""

import tempfile
import time
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from refsvm import (
    RBF,
    HybridMaximumGain,
    Linear,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    SecondOrder,
)
from refsvm.datasets import load, make_banana
from refsvm.display import BoxDisplay, ProfileDisplay
from refsvm.experiment import Experiment, Problem, Solve, TrackPath

selectors = {"MVP": MostViolatingPair(), "2nd order": SecondOrder(), "HMG": HybridMaximumGain()}
steps = {"": NewtonStep(), ", 1.1": OverrelaxedNewtonStep(1.1)}
strategies = [
    Solve(name + words, selector=selector, step=step, shrinking=False)
    for (name, selector), (words, step) in product(selectors.items(), steps.items())
]
problems = [
    Problem("heart", partial(load, "heart"), kernel=RBF(0.005), C=1e4),
    Problem("sonar", partial(load, "sonar"), kernel=RBF(0.5), C=10.0),
    Problem("monks1", partial(load, "monks1"), kernel=Linear(), C=1.0),
    Problem("banana", partial(make_banana, 200, rng=0), kernel=RBF(0.5), C=316.0),
]
store = Path(tempfile.mkdtemp(), "runs.sqlite")
experiment = Experiment(strategies, problems, store, permutations=10)

# %%
# Interrupted, and resumed
# ------------------------
#
# A finished run is in the store at once. Here a callback ends the experiment after fifty runs; Ctrl-C or a kill would
# leave as many. Called again, it carries out what is missing, in this process or in another one.

experiment.run(callback=lambda at: at.done == 50)
print(len(experiment.records()), "of 240 runs are kept")

began = time.perf_counter()
print(experiment.run(), "runs carried out now, in", round(time.perf_counter() - began, 1), "s")
print(experiment.run(), "left")

# %%
# What is one run? Its identity is a hash: of the strategy's settings, the examples, the kernel, C, the order, the
# version of refsvm, and the code that computes. Change a rule's file, and its runs are carried out anew; rename a
# strategy, and they are found again. ``to_frame`` has all of it, the metrics, and the versions that computed the run.

frame = experiment.to_frame()
print(frame.shape)
print(frame.iloc[0][["run", "identity.selector", "identity.C", "iterations"]].to_string())

# %%
# The table
# ---------
#
# Mean and standard deviation over the orders, of all strategies:

print(experiment.listing(["iterations"]).to_markdown())

# %%
# One selector with both steps: the ratio of the means, and p of Wilcoxon's paired test. With ten orders p cannot
# be below :math:`2/2^{10} = 0.002`: then all ten differences have one sign. With five orders that bound is 0.06, and
# the table would say so, because no difference can be called significant then.

baseline = "2nd order"
print(replace(experiment, strategies=strategies[2:4]).table("iterations", baseline).to_markdown())

# %%
# Twenty tests are made here, five strategies on four sets, so that one of them is likely to fall below 0.05 by
# chance alone. Holm's correction multiplies the smallest p by 20, the next by 19, and so on. A difference
# whose p is still below 0.05 is significant among all of these tests.

adjusted = experiment.compare("iterations", baseline).adjusted()
for problem in (each.name for each in problems):
    print(f"{problem:8} {adjusted[problem, '2nd order, 1.1']:.3f}")

# %%
# One question for all sets at once is Friedman's: do the strategies rank alike? It takes one number from each set,
# and four sets are few; but it is one test.

ranking = experiment.compare("iterations").friedman()
for name, rank in ranking.mean_rank.items():
    print(f"{rank:.2f}  {name}")
print(f"p = {ranking.p:.3f}")

# %%
# The figures
# -----------
#
# The boxes show what a mean hides: how far the number of steps depends on the order of the examples.

# alt: Boxes of the number of steps of six strategies on four sets, as ratios to second-order selection. Those of the
#     most violating pair are highest, from 2 to 4; a tenth longer steps lower most boxes a little.
axes = BoxDisplay.from_experiment(experiment, "iterations", baseline=baseline).ax_
axes.set_yscale("log")
axes.set_yticks(ratios := [0.6, 1, 2, 3, 4], [str(ratio) for ratio in ratios])
axes.minorticks_off()

# %%
# A performance profile has a curve for each strategy: on which share of all runs it takes at most :math:`\tau`
# times the steps of the best one. At the left end stands how often it is the best, and further right how bad it gets.

# alt: A staircase for each of six strategies: the share of runs that take at most so many times the steps of the best.
#     Second order with longer steps rises first and reaches one first; the most violating pair begins at two.
_ = ProfileDisplay.from_experiment(experiment, "iterations").ax_.set_title("240 runs, 40 of each strategy")

# %%
# Where a strategy does not fit
# -----------------------------
#
# The path of :math:`C` is one of classes or targets. A run that is refused is stored with the reason, the table has a
# dash and the sentence, and the other runs go on.

mixed = Experiment(
    [TrackPath("path", C_min=0.1, C_max=10.0)],
    [problems[0], Problem("heart, one class", partial(load, "heart"), kernel=RBF(0.005), nu=0.2)],
    store,
)
mixed.run()
print(mixed.table("breakpoints").to_markdown())

# %%
# Exercise
# --------
#
# The baseline "2nd order" answers whether longer steps pay with that selector. Do they with MVP and with HMG? And
# what does it take to say so at the level 0.05, with Holm's correction for these eight tests?
#
# .. dropdown:: Answer
#
#    ``experiment.compare("iterations", "MVP")`` pairs "MVP, 1.1" with "MVP"; likewise for HMG. Collect the eight p in
#    one mapping and give it to :func:`~refsvm.experiment.comparison.holm`: the smallest of them has to be below
#    0.05/8 = 0.00625, which ten orders allow (0.002) and eight (0.008) do not.
