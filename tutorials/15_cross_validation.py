r"""
Ten folds for little more than one
==================================

Ten-fold cross-validation trains ten times on nine tenths of the data. The ten problems are nearly the same, and this
tutorial shows what follows from that: how much neighbouring folds share, how one round can start where another ended,
what that saves, and what it costs. The seeders are those of Z. Wen and others, *Improving efficiency of SVM k-fold
cross-validation by alpha seeding* (2017). The symbols are those of the page :doc:`/notation`.
"""

import matplotlib.pyplot as plt
import numpy as np

from refsvm import ATO, MIR, RBF, SIR, SVCCV, Cold, DualProblem, Rounds, cross_validate
from refsvm.datasets import load
from refsvm.display import GridDisplay, SeedDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)

# %%
# A fold is an empty box
# ----------------------
#
# Leaving an example out means :math:`\alpha_i=0`, and that is the box :math:`L_i=U_i=0`. So all rounds are one problem
# with ten boxes: the same kernel matrix, the same gradient :math:`G=v-K\alpha` on all :math:`n` examples. ``Rounds``
# solves them one after the other and computes no kernel row twice.

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.02), C=10.0)
fold = np.random.default_rng(0).permutation(problem.n) % 10
rounds = Rounds(problem)


def without(h):
    return np.where(fold == h, 0.0, problem.lower), np.where(fold == h, 0.0, problem.upper)


lower, upper = without(0)
first = rounds.solve(lower=lower, upper=upper)
lower, upper = without(1)
second = rounds.solve(lower=lower, upper=upper)
print(first.iterations, "and", second.iterations, "steps;", rounds.rows.computed, "kernel rows for both")

# %%
# The gradient of a held-out example is there as well, and with it its decision value,
# :math:`h(x_i)=v_i-G_i+b`: nothing has to be predicted.

held_out = fold == 0
print("errors in fold 0:", int((first.decision_values[held_out] * heart.y[held_out] <= 0).sum()))

# %%
# What two rounds share
# ---------------------
#
# The examples of fold 0 join (*added*), those of fold 1 leave (*removed*), eight tenths stay. Most of the shared
# examples have the same :math:`\alpha` in both solutions.

fig, ax = plt.subplots(figsize=(5, 4.2))
shared = (fold != 0) & (fold != 1)
ax.plot(first.alpha[shared], second.alpha[shared], ".", color="#999999", label="shared")
ax.plot(first.alpha[fold == 1], second.alpha[fold == 1], "x", color="#D55E00", label="removed")
ax.plot(first.alpha[fold == 0], second.alpha[fold == 0], "+", color="#0072B2", label="added")
ax.set(xlabel=r"$\alpha_i$ without fold 0", ylabel=r"$\alpha_i$ without fold 1")
ax.legend(frameon=False)
support = (first.alpha != 0) & (second.alpha != 0) & shared
counts = [int((each.alpha[shared] != 0).sum()) for each in (first, second)]
print(f"{support.sum()} support vectors in common, of {counts[0]} and {counts[1]}")

# %%
# Three ways to fill the gap
# --------------------------
#
# A seed has to satisfy :math:`\sum\alpha_i=0` and the box. **SIR** gives what a removed example had to the most similar
# added one of its class. **MIR** computes :math:`\alpha` of all added examples by least squares, such that
# :math:`G` stays where it is optimal. **ATO** moves the removed ones to 0 and the added ones to where they belong
# in one straight line, and lets the free support vectors keep :math:`G_i=b` all the way; where one of them reaches a
# bound, or another example reaches :math:`G_i=b`, the direction changes. This is the whole of SIR:
#
# .. literalinclude:: ../../../refsvm/seeders/sir.py
#    :pyobject: SIR.seed

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8))
for seeder, ax in zip((SIR(), MIR(), ATO()), axes, strict=True):
    SeedDisplay.from_seeder(seeder, first, rounds.boxed(lower, upper), ax=ax)
    ax.set_title(type(seeder).__name__)

# %%
# On the diagonal a seed is right from the start. ATO is, up to the tolerance of the solution it began with, where it
# follows its path to the end; ``budget`` forbids that where the path would cost more than the steps it saves.
#
# What it saves
# -------------
#
# Each seed changes the cost and nothing else: all of these end at the same errors. The first use of a seeder loads its
# compiled code, so each is run twice and the second run is shown.

for seeder in (Cold(), SIR(), MIR(), ATO()):
    for _ in range(2):
        result = cross_validate(
            heart.X, heart.y, kernel=RBF(0.02), C=10.0, folds=fold, seeder=seeder, from_full=False
        )
    print(
        f"{type(seeder).__name__:5} error {result.error:.3f}  {result.iterations:6} steps  "
        f"seeds {1000 * result.seed_seconds:5.1f} ms  rest {1000 * result.solve_seconds:5.1f} ms"
    )

# %%
# ATO needs a fraction of the steps. Whether it also needs less time is another question: each of its events costs as
# much as many steps, and on a problem as small as this one a step is very cheap. The paper found the same. What pays
# everywhere is what the rounds share: the kernel rows, and the solution on all examples as the origin of every round
# (``from_full=True``, the default), which leaves only the removed weight to be shared out.
#
# Many values of C and γ
# ----------------------
#
# ``SVCCV`` goes on with the idea. All folds and all :math:`C` of one γ are boxes over one kernel matrix. From one
# :math:`C` to the next, :math:`\alpha` at the bound goes to the new bound and the free ones stay (``ActiveSet``).

model = SVCCV(Cs=[0.1, 1.0, 10.0, 100.0], gammas=[0.001, 0.01, 0.1, 1.0]).fit(heart.X, heart.y)
print(model.best_params_, round(model.best_score_, 3))
GridDisplay.from_results(model.cv_results_)

# %%
# The numbers are mean steps: the cost is in the corner of large :math:`C`, the best cell hardly ever is.
#
# Exercises
# ---------
#
# 1. Cross-validate with ``C=1000`` instead of 10. What does it do to each seeder? (All take about six to eight times as
#    many steps. ATO still takes some twelve per cent of those of Cold.)
# 2. Use ``folds=problem.n``, leave-one-out, with ``SIR()`` and ``from_full=True``. Why do most rounds take no step at
#    all? (Their example has :math:`\alpha_r=0`: leaving it out changes nothing.)
# 3. Give ``fold`` so that one fold holds all positive examples. What is predicted for them, and why? (The training
#    part has one class; :math:`\alpha=0` and :math:`b=-1` is the only solution.)
