r"""
Add your own rule
=================

A rule is one class with one method. This page adds a selector that is not in the package, runs it, compiles
it, checks it, and breaks it on purpose. Nothing in the package changes for it.

The rule
--------

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
# --------
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
# ---------
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
# ---------------
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
# Some rows favour the one, some the other. To put a rule into the package itself, see :doc:`/adding`: its file, the
# file of its twin, and one line.
