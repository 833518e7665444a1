r"""
Add your own seeder
===================

A seeder says where the next of several similar problems starts. It is one class with one method. This page adds one
that is not in the package, checks it, and measures it on leave-one-out rounds. Nothing in the package changes for it.

The rule
--------

When example :math:`r` is left out, its weight :math:`\alpha_r` has to go somewhere, for the sum to stay. ``TOP`` gives
it to the most similar example, ``AVG`` to all free ones alike. Ours shares it among all free support vectors in
proportion to their similarity, :math:`k(x_r, x_i)`:

.. math::

   \alpha_i \leftarrow \alpha_i + \alpha_r\,\frac{\max(k(x_r, x_i), 0)}{\sum_j \max(k(x_r, x_j), 0)} .

A seed has to be feasible *exactly*: inside of the box, with the right sum.
:func:`~refsvm.core.seeders.spread.complete` spreads what rounding or the box has left over. A seed changes the cost of
a solve and never its answer.
"""

from dataclasses import dataclass

import numpy as np

from refsvm import AVG, RBF, TOP, Cold, DualProblem, KKTGap, Seeder, leave_one_out, solve
from refsvm.core.seeders.spread import complete
from refsvm.datasets import load
from refsvm.testing import check_strategy


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


heart = load("heart")
kernel, C = RBF(gamma=0.005), 1.0
problem = DualProblem.classification(heart.X, heart.y, kernel=kernel, C=C)
solved = solve(problem)
r = int(np.flatnonzero(solved.alpha)[0])
seed = InProportion().seed(solved, problem.without(r))
print(f"example {r} had the weight {solved.alpha[r]:.3f}; the sum of the seed is {seed.sum():.1e}")

# %%
# Checked
# -------
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
# --------
#
# It can be passed to everything that seeds. Where a seeder has no compiled twin, the rounds are run by the readable
# driver; the steps within them are compiled.

for seeder in (Cold(), AVG(), TOP(), InProportion()):
    loo = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, seeder=seeder, stop=KKTGap(1e-3))
    print(f"{type(seeder).__name__:12s} {loo.round_iterations.sum():6d} steps in {loo.counts['kkt']} rounds")

# %%
# A twin, ``seed(parameters, seeding)``, is a Numba function that writes to ``seeding.seed``; it lets the rounds run in
# one compiled function. Those of the shipped seeders stand in :mod:`refsvm.compiled.seeders`, and ``check_strategy``
# compares twin and rule bit for bit.
