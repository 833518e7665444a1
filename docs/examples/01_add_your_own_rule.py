r"""
Add your own rule
=================

A rule is one class with one method. This page adds a selector, a seeder and a path tracker that are not in the package.
It runs them, checks them, and breaks them on purpose. Nothing in the package changes for them.

A selector
----------

The rule
~~~~~~~~

``SecondOrder`` takes the index :math:`i` with the largest gradient among those that may rise, and looks for
the partner :math:`j` with the largest gain :math:`\tfrac12\ell^2/q`. Nothing says that one has to start from
above. Our rule starts from below:

.. math::

   j = \arg\min_{I_\text{down}} G, \qquad
   i = \arg\max_{i\in I_\text{up},\ G_i>G_j}\ \frac{(G_i-G_j)^2}{2\,(K_{ii}+K_{jj}-2K_{ij})} .

A selector is a frozen dataclass with a method ``select``. It reads the
:class:`state <refsvm.core.state.SolverState>`, writes nothing to it, and returns two indices: :math:`i` will rise,
:math:`j` will fall. Ties go to the lowest index, which is what ``argmax`` does.

.. literalinclude:: ../../examples/second_order_from_below.py
   :caption: second_order_from_below.py
"""

from second_order_from_below import SecondOrderFromBelow

from refsvm import RBF, DualProblem, NewtonStep, SecondOrder, WorkingSetSelector, iterate, solve
from refsvm.datasets import load

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=100.0)

for state in iterate(problem, selector=SecondOrderFromBelow()):
    i, j = state.working_sets[0]
    print(f"step {state.iteration}: i = {i}, j = {j}, moved by {state.last_step:.4f}, gap {state.gap:.4f}")
    if state.iteration == 3:
        break

# %%
# To see its steps, drive it: in a notebook each press of a button is a step of the rule, here next to the shipped one.
# Forty points are enough. In this page no Python runs, and you see a strip of pictures;
# :doc:`06_step_through_your_own_rule` says what the buttons do.

from refsvm.datasets import make_banana
from refsvm.display import Stepper

banana = make_banana(40, rng=1)
rules = {"selector": SecondOrderFromBelow(), "against": SecondOrder()}
Stepper(banana.X, banana.y, kernel=RBF(0.5), C=10.0, **rules)

# %%
# That is all the readable engine needs. The method ``twin`` can be left away at first: then ``engine="auto"``
# runs the readable loop, and asking for the compiled one is answered with a sentence.


class NumPyOnly(WorkingSetSelector):
    """The same rule before its twin was written."""

    def select(self, state):
        """Select as above."""
        return SecondOrderFromBelow().select(state)


try:
    solve(problem, selector=NumPyOnly(), engine="numba")
except ValueError as error:
    print(error)

# %%
# The twin
# ~~~~~~~~
#
# The twin is the same rule as a Numba function of the same name. The decorator ``twin`` compiles it when a solve
# first uses it, with the signature of its role: ``SELECT``. Numba's own ``@njit`` does as well. The arrays of the
# state have their names; its numbers are in ``state.now[0]``; hyper-parameters, of which this rule has none, come as
# an array. Where NumPy writes whole vectors the twin writes a loop, with the same operations in the same order, so
# that both give the same floating-point numbers.
#
# One thing is new. Compiled code does not compute kernels, so a twin that needs a kernel row asks for it:
# ``row_or_ask(state, i)`` gives the row and whether it is there. If it is not, the twin returns at once, whatever it
# likes, and is called again when the row has been computed.
#
# .. literalinclude:: ../../examples/second_order_from_below_twin.py
#    :caption: second_order_from_below_twin.py
#
# Both engines now take the same steps:

for engine in ("numpy", "numba"):
    solution = solve(problem, selector=SecondOrderFromBelow(), engine=engine, shrinking=False)
    print(f"{engine}: {solution.iterations} steps, objective {solution.objective!r}")

# %%
# The check
# ~~~~~~~~~
#
# ``check_strategy`` runs a rule on random and degenerate problems: duplicates, a singular and an indefinite
# kernel, constant features, two examples, very small and very large :math:`C`. It checks every step against
# the contract of the base class, and compares the engines bit for bit, with all kernel rows in memory and
# with as few as possible.

from refsvm.testing import check_strategy

report = check_strategy(SecondOrderFromBelow())
print(f"{report.rule}: {len(report.problems)} problems, {report.steps} steps checked one by one.")
print(report.twin)

# %%
# A check is worth something only if it can fail. Here is the rule with a typical slip: it forgets that
# :math:`\alpha_i` must have room to rise.

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Forgetful(WorkingSetSelector):
    """j = argmin of G over I_down, i = argmax of G over all i."""

    def select(self, state):
        """Forget I_up."""
        if state.gap <= 0.0:
            return -1, -1
        return int(np.argmax(state.gradient)), state.bottom


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# Is it any good?
# ~~~~~~~~~~~~~~~
#
# One call runs it next to shipped rules, on one problem and to the same KKT gap. :doc:`07_race_your_rule` has more of
# it, and the same as one command.

from refsvm import compare

race = compare(problem, ["second-order", SecondOrderFromBelow(), "mvp"])
race

# %%
# The gap of each run against its steps:

# alt: The KKT gap of three runs on a logarithmic scale against the steps; the most violating pair takes the most.
race.plot()

# %%
# One problem is not enough. Newton steps until the KKT gap is :math:`10^{-3}`, for three data sets of the
# package and three values of :math:`C`:

print("set           C   SecondOrder   from below")
for name, gamma in (("heart", 0.005), ("sonar", 0.1), ("ionosphere", 0.4)):
    data = load(name)
    for C in (1.0, 10.0, 100.0):
        task = DualProblem.classification(data.X, data.y, kernel=RBF(gamma), C=C)
        above, below = (
            solve(task, selector=rule, step=NewtonStep(), shrinking=False).iterations
            for rule in (SecondOrder(), SecondOrderFromBelow())
        )
        print(f"{name:10s} {C:4.0f} {above:13d} {below:12d}")

# %%
# Each of the two rules wins some rows. :doc:`/write_a_rule` shows how to put a rule into the package itself: its file,
# the file of its twin, and one line.

# %%
# A seeder
# --------
#
# A seeder says where the next of several similar problems starts.
#
# The rule
# ~~~~~~~~
#
# When example :math:`r` is left out, other examples have to take over its weight :math:`\alpha_r`, because the sum of
# the weights stays the same. ``TOP`` gives the weight to the most similar example, ``AVG`` gives equal parts of it to
# all free support vectors. Our rule shares it among them in proportion to their similarity :math:`k(x_r, x_i)`:
#
# .. math::
#
#    \alpha_i \leftarrow \alpha_i + \alpha_r\,\frac{\max(k(x_r, x_i), 0)}{\sum_j \max(k(x_r, x_j), 0)} .
#
# A seed has to be feasible *exactly*: inside of the box, with the right sum.
# :func:`~refsvm.core.seeders.spread.complete` corrects the sum after rounding and clipping. A seed changes the cost
# of a solve, but not its answer.

from refsvm import AVG, TOP, Cold, KKTGap, Seeder, leave_one_out
from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class InProportion(Seeder):
    """The weight that is left out goes to the free support vectors, in proportion to their similarity."""

    def seed(self, solved, problem):
        """Return the feasible α."""
        lower, upper = problem.lower, problem.upper
        alpha = np.clip(solved.alpha, lower, upper)
        removed = np.flatnonzero(alpha != solved.alpha)
        free = (alpha > lower) & (alpha < upper)
        for r in removed:
            similar = np.where(free, np.maximum(problem.gram.block(np.array([r]))[0], 0.0), 0.0)
            if similar.sum() > 0.0:
                alpha += (solved.alpha[r] - alpha[r]) * similar / similar.sum()
        return complete(np.clip(alpha, lower, upper), problem.z, lower, upper)


kernel, C = RBF(gamma=0.005), 1.0
problem = DualProblem.classification(heart.X, heart.y, kernel=kernel, C=C)
solved = solve(problem)
r = int(np.flatnonzero(solved.alpha)[0])
seed = InProportion().seed(solved, problem.without(r))
print(f"example {r} had the weight {solved.alpha[r]:.3f}; the sum of the seed is {seed.sum():.1e}")

# %%
# Checked
# ~~~~~~~
#
# ``check_strategy`` tries it on random and degenerate problems: one example left out, many, some put back. The seed
# must be feasible, the same each time, an array of its own, and lead to the same optimum.

report = check_strategy(InProportion())
print(f"{report.rule}: {len(report.problems)} problems. {report.twin}")

# %%
# A seeder that forgets to repair the sum is found at once:


@dataclass(frozen=True)
class Forgetful(Seeder):
    """Only clips."""

    def seed(self, solved, problem):
        """Return an α whose sum is wrong."""
        return np.clip(solved.alpha, problem.lower, problem.upper)


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# Measured
# ~~~~~~~~
#
# Every function that seeds accepts the new seeder. It has no compiled twin, so the readable driver runs the rounds; the
# steps within them are compiled.

for seeder in (Cold(), AVG(), TOP(), InProportion()):
    loo = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, seeder=seeder, stop=KKTGap(1e-3))
    print(f"{type(seeder).__name__:12s} {loo.round_iterations.sum():6d} steps in {loo.counts['kkt']} rounds")

# %%
# The twin of a seeder is a Numba function ``seed(parameters, seeding)`` that writes to ``seeding.seed``. With a twin,
# one compiled function runs all rounds. :mod:`refsvm.compiled.seeders` contains the twins of the shipped seeders.
# ``check_strategy`` compares twin and rule bit for bit.

# %%
# A tracker
# ---------
#
# A path tracker follows the optimum from breakpoint to breakpoint while :math:`\lambda=1/C` falls.
#
# What a tracker is given
# ~~~~~~~~~~~~~~~~~~~~~~~
#
# In the scaled variables :math:`\hat s=\lambda\alpha`, :math:`\hat b=\lambda b` the box does not depend on :math:`C`,
# and the optimum is piecewise linear in :math:`\lambda`. A :class:`~refsvm.core.walk.state.PathState` walks along this
# line. It holds one point, :math:`\lambda` as ``t``, :math:`\hat s` as ``of.alpha``, and its three sets:
# *right* (:math:`\hat s_i=0`), *left* (:math:`\hat s_i` at its other bound), and the *elbow* between them, where
# :math:`\lambda y_i-(K\hat s)_i-\hat b`, which is ``of.excess``, is zero. As long as no example changes its set,
#
# .. math::
#
#    \begin{pmatrix}0&\mathbf 1^\top\\ \mathbf 1&K_{\mathcal E\mathcal E}\end{pmatrix}
#    \frac{d}{d\lambda}\begin{pmatrix}\hat b\\ \hat s_{\mathcal E}\end{pmatrix}
#    =\begin{pmatrix}0\\ y_{\mathcal E}\end{pmatrix}.
#
# The method ``follow`` moves the walk along and yields a :class:`~refsvm.core.walk.breakpoint.Breakpoint` after every
# event. :func:`~refsvm.analysis.paths.regularization_path.regularization_path` calls it, stores the breakpoints, and
# obeys Ctrl-C and the time limit between two of them.
#
# The tracker
# ~~~~~~~~~~~
#
# ``Hastie`` solves this system and stops where it is singular; ``SVMP`` has a linear program and a routine for
# ties. There is a third way. Where several examples stand exactly between two sets, the derivative
# :math:`x=d\hat s/dt` for falling :math:`\lambda` is itself the solution of a small dual problem, in which these
# examples may only move inwards. Examples with :math:`x_i\ne0` belong to the elbow.
# :func:`refsvm.core.trackers.backup.choose_sets` solves this problem. ``SVMP`` calls it as a last resort, our tracker
# calls it at every event.
#
# .. literalinclude:: ../../examples/derivative_tracker.py
#    :caption: derivative_tracker.py

from derivative_tracker import DerivativeTracker

from refsvm import SVMP, Hastie, Linear, regularization_path

for tracker in (Hastie(), SVMP(), DerivativeTracker()):
    path = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.1, C_max=10.0, tracker=tracker)
    print(f"{type(tracker).__name__:18s} {len(path.C)} breakpoints, audit {path.kkt_audit().worst < 1e-6}")

# %%
# The audit recomputes the optimality conditions at every breakpoint and at points between them.
#
# The check
# ~~~~~~~~~
#
# ``check_strategy`` runs a tracker on degenerate problems: duplicates, a singular kernel, constant features, one
# example against many, weights of zero. The path has to cover the range of :math:`C`, to be optimal to
# :math:`10^{-6}` at breakpoints and between them, and to come out the same in both engines bit for bit. A tracker
# that says ``may_refuse = True`` may leave problems out, if it raises a ``ValueError``.

for tracker in (SVMP(), DerivativeTracker()):
    report = check_strategy(tracker)
    print(f"{type(tracker).__name__}: {len(report.problems)} problems, {report.steps} breakpoints.")
    print(report.twin)

# %%
# A check is worth something only if it can fail. This tracker forgets every third breakpoint. The breakpoints that it
# reports are right, but the path between them is wrong.

from refsvm import PathTracker


@dataclass(frozen=True)
class Forgetful(PathTracker):
    """SVMP with gaps."""

    def follow(self, walk, end):
        """Leave out every third breakpoint."""
        for number, point in enumerate(SVMP().follow(walk, end)):
            if number % 3 or end >= 1.0 / point.C:
                yield point


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# Is it any good?
# ~~~~~~~~~~~~~~~
#
# :class:`~refsvm.experiment.track_path.TrackPath` makes a tracker a strategy of an experiment. This one has no store
# and four sets. It prints the number of breakpoints of each tracker, or why the tracker gave up.

from refsvm.experiment import Problem, TrackPath

for name, kernel in (("heart", RBF(0.005)), ("thyroid", RBF(0.05)), ("monks1", Linear()), ("wbc", Linear())):
    instance = Problem(name, lambda name=name: load(name), kernel=kernel).instance()
    for tracker in (Hastie(), SVMP(), DerivativeTracker()):
        strategy = TrackPath(type(tracker).__name__, tracker=tracker, C_min=0.01, C_max=10.0)
        try:
            outcome = f"{strategy.run(instance)['breakpoints']} breakpoints"
        except ValueError as error:
            outcome = str(error)
        print(f"{name:8s} {strategy.name:18s} {outcome}")
