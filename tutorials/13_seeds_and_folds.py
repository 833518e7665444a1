r"""
13 · Seeds and folds
====================

Take related problems: ten folds, say, or twenty values of :math:`C`. Their solutions are similar, so this chapter
guesses each solution from another. The solver continues from the guess, or *seed*, so a seed changes the answer only
within the tolerance. Wen and others (2017) published three seeds for folds.
"""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np

from refsvm import ATO, MIR, RBF, SIR, ActiveSet, Cold, DualProblem, KKTGap, Rounds, cross_validate, solve
from refsvm.datasets import load, make_banana
from refsvm.display import SeedDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# A fold is a closed box
# ----------------------
#
# Holding a fold out sets :math:`L_i=U_i=0` for its examples, as :doc:`chapter 11 <11_leave_one_out>` does for one
# example. Ten-fold cross-validation thus solves one problem ten times, closing different boxes. From one round to the
# next a tenth of the examples leaves training (*removed*), a tenth joins (*added*), and eight tenths stay (*shared*).
# Most shared examples have nearly the same :math:`\alpha` in both solutions, and many have :math:`\alpha=0` in both:

# fold: The code of this figure
# alt: Weights without fold 0 are drawn against weights without fold 1. Shared examples scatter about the diagonal;
#     removed examples lie on the horizontal axis, added examples on the vertical axis.
heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.02), C=10.0)
fold = np.random.default_rng(0).permutation(problem.n) % 10
rounds = Rounds(problem)
first = rounds.solve(problem.without(np.flatnonzero(fold == 0)))
next_box = problem.without(np.flatnonzero(fold == 1))
second = rounds.solve(next_box)
print(f"{first.iterations} and {second.iterations} steps; {rounds.rows.computed} kernel rows for both")

figure, axes = plt.subplots(figsize=(5, 4.2))
shared = (fold != 0) & (fold != 1)
axes.plot(first.alpha[shared], second.alpha[shared], ".", color="0.6", label="shared")
axes.plot(first.alpha[fold == 1], second.alpha[fold == 1], "x", color=POSITIVE, label="removed")
axes.plot(first.alpha[fold == 0], second.alpha[fold == 0], "+", color=NEGATIVE, label="added")
axes.set(xlabel=r"$\alpha_i$ without fold 0", ylabel=r"$\alpha_i$ without fold 1")
axes.legend(frameon=False)
plt.show()
near = shared & (np.abs(first.alpha - second.alpha) <= 0.1)  # a hundredth of C
heavy = shared & ((first.alpha != 0) | (second.alpha != 0))
print(f"{(fold == 1).sum()} removed, {(fold == 0).sum()} added, {shared.sum()} shared")
print(
    f"within C/100 of each other: {near.sum()} of the shared examples, {(shared & ~heavy).sum()} zero in both,"
)
print(f"and {(near & heavy).sum()} of the {heavy.sum()} that have a weight")

# %%
# A seed has to satisfy the sum constraint and the box. Three seeds redistribute the weight of the removed examples:
#
# * **SIR**, *single instance replacement*, gives the weight of each removed example to the most similar added example
#   of the same class that is still unused.
# * **MIR**, *multiple instance replacement*, computes the :math:`\alpha` of all added examples together, by least
#   squares.
# * **ATO**, *adjusting alpha towards the optimum*, moves the weights of the removed examples gradually to 0 and lets
#   the weights of the added examples grow until these examples satisfy their conditions. During this walk
#   (:doc:`chapter 14 <14_straight_lines>`) the free support vectors keep :math:`G_i=b`.

# fold: The code of this figure
# alt: Weights of three seeds are drawn against weights of the optimum. With SIR and MIR the shared examples scatter
#     about the diagonal, and some added examples lie far away. With ATO all points stand on the diagonal.
figure, row = plt.subplots(1, 3, figsize=(11, 3.8))
for seeder, axes in zip((SIR(), MIR(), ATO(budget=np.inf)), row, strict=True):
    SeedDisplay.from_seeder(seeder, first, rounds.boxed(next_box.lower, next_box.upper), ax=axes)
    axes.set_title(type(seeder).__name__)
plt.show()

# %%
# An example on a panel's diagonal already has its optimal weight in the seed. With ``budget=np.inf`` ATO follows its
# walk to the end, and here its seed is the optimum.
#
# One for one, or all at once
# ---------------------------
#
# **SIR** gives the weight of a removed example :math:`r` to an added example :math:`t`. This changes
# :math:`h=\sum_i\alpha_ik(x_i,\cdot)+b` by :math:`\alpha_r\bigl(k(x_t,\cdot)-k(x_r,\cdot)\bigr)`, whose norm is
# :math:`|\alpha_r|\lVert\varphi(x_r)-\varphi(x_t)\rVert`. For a Gaussian kernel this norm is least for the largest
# :math:`K_{rt}`. The examples :math:`r` and :math:`t` must be of the same class, so that the weight fits into the box:


def sir(K, y, alpha, removed, added):
    """Return α after each removed example has given its weight to the most similar added example of its class."""
    seed, unused = np.where(np.isin(np.arange(len(y)), removed), 0.0, alpha), list(added)
    for r in removed:
        alike = [t for t in unused if y[t] == y[r]]
        if alpha[r] != 0.0 and alike:
            t = max(alike, key=lambda t: K[r, t])
            seed[t] = alpha[r]
            unused.remove(t)
    return seed


K = problem.gram.block(np.arange(problem.n))
own = sir(K, heart.y, first.alpha, np.flatnonzero(fold == 1), np.flatnonzero(fold == 0))
print("the seed of the package:", np.allclose(own, SIR().seed(first, next_box)))
gave, took = (np.count_nonzero(each[fold == k]) for each, k in ((first.alpha, 1), (own, 0)))
print(f"{gave} removed examples had a weight, {took} added ones have it now")

# %%
# If no added example of the class is left, the package's SIR gives the weight, with the opposite sign, to a random
# unused example of the other class.
#
# **MIR** looks for weights :math:`x` of the added examples that restore optimality. Let the examples :math:`R` be
# removed and :math:`T` added, and let :math:`X` be all examples of the new problem. If :math:`\alpha_R` goes to zero
# and :math:`\alpha_T` from zero to :math:`x`, the gradient changes by
#
# .. math:: dG_X = K_{XR}\,\alpha_R - K_{XT}\,x .
#
# A free variable, or an added example that violates its condition, should end at :math:`G_i=b`, so the required change
# is :math:`dG_i=b-G_i`. All other entries of :math:`G` should stay as they are: :math:`dG_i=0`. With the sum constraint
# these equations are an overdetermined system in :math:`x`:
#
# .. math::
#
#    \begin{pmatrix}K_{XT}\\ \mathbf 1^\top\end{pmatrix}x \;\approx\;
#    \begin{pmatrix}K_{XR}\,\alpha_R-dG_X\\ \mathbf 1^\top\alpha_R\end{pmatrix} .
#
# MIR solves the system by least squares and clips the solution to the box. If the seed then violates the sum
# constraint, SIR and MIR correct the sum with :math:`T`, then with the free, then with all variables.
#
# In the figure, areas show weights: rings for removed examples, coloured discs for added examples. Here only ATO
# changes the weights of shared examples (grey discs):

# fold: The code of this figure
# alt: Three panels show points of a plane, with rings for removed and discs for received weight. With SIR most discs
#     lie near a ring; with MIR the discs are smaller. Only ATO has grey discs.
plane, fold_of = make_banana(120, rng=2), np.random.default_rng(0).permutation(120) % 6
flat = DualProblem.classification(plane.X, plane.y, kernel=RBF(0.5), C=10.0)
before = solve(flat.without(np.flatnonzero(fold_of == 0)))
after = flat.without(np.flatnonzero(fold_of == 1))
colour = np.where(plane.y > 0, POSITIVE, NEGATIVE)
figure, row = plt.subplots(1, 3, figsize=(10, 3.8))
for seeder, axes in zip((SIR(), MIR(), ATO(budget=np.inf)), row, strict=True):
    guess = seeder.seed(before, after)
    axes.scatter(*plane.X.T, s=3, c="0.75")
    for members, weight, look in (
        (fold_of > 1, guess - before.alpha, {"color": "0.5"}),
        (
            fold_of == 1,
            before.alpha,
            {"facecolors": "none", "edgecolors": colour[fold_of == 1]},
        ),
        (fold_of == 0, guess, {"color": colour[fold_of == 0]}),
    ):
        axes.scatter(*plane.X[members].T, s=12 * np.abs(weight[members]), **look)
    axes.set(xticks=[], yticks=[], aspect="equal", title=type(seeder).__name__)
for name, look in (
    ("removed", {"facecolors": "none", "edgecolors": INK}),
    ("added", {"color": INK}),
    ("change of shared", {"color": "0.5"}),
):
    row[0].scatter([], [], s=40, label=name, **look)
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The loop over the folds
# -----------------------
#
# Cross-validation is now a loop: close the boxes of a fold, start at the seed, solve, and read the decision values of
# the fold. The loop need not predict, because the solver keeps :math:`G=v-K\alpha` of all examples, including the
# held-out fold, and :math:`h(x_i)=(K\alpha)_i+b=v_i-G_i+b`:


def held_out(problem, fold, seeder):
    """Return the decision value of each example by the machine without its fold, and the kernel rows computed."""
    rounds, values = Rounds(problem), np.empty(problem.n)
    full = rounds.solve()
    for h in range(fold.max() + 1):
        out = np.flatnonzero(fold == h)
        box = problem.without(out)
        run = rounds.solve(box, start=seeder.seed(full, box), origin=full)
        values[out] = (problem.v - run.gradient + run.intercept)[out]
    return values, rounds.rows.computed


values, rows_computed = held_out(problem, fold, SIR())
result = cross_validate(problem, folds=fold, seeder=SIR())
print(
    f"{np.sum(np.sign(values) != heart.y)} errors in {problem.n}, {rows_computed} kernel rows for all rounds"
)
print("the decision values of the package:", np.allclose(values, result.decision_values.ravel()))

# %%
# ``origin=full`` names the solution from which :math:`G` is updated: :math:`G\mathrel{-}=K\,\delta`, where
# :math:`\delta` is the seed minus :math:`\alpha` of this solution. In this loop every round starts from ``full``. In a
# *chain*, as in the paper, each round starts from the solution of the previous round, so ``run`` replaces ``full`` at
# the end of each pass.
#
# .. shipped:: core/rounds/chain.py
#    :object: planned
#    :fold: The rounds of the folds in the package
#
# .. shipped:: analysis/resampling/cross_validate.py
#    :object: FoldTable.take
#    :fold: The results of these rounds in the package
#
# .. shipped:: analysis/resampling/cross_validate.py
#    :fold: The whole of cross_validate
#
# For each round, ``planned`` lists the held-out examples and the solution from which the round starts. ``take`` stores
# the decision values of each round.
#
# The savings of a seed
# ---------------------
#
# If :math:`C=10`, rounds need few steps, and ATO usually does not follow its path, because that would cost more than it
# saves. If :math:`C=1000`, rounds need many steps, and after the first round ATO follows its path to the end and leaves
# no step for the solver:

steps = {}
for C in (10.0, 1000.0):
    for seeder in (Cold(), SIR(), MIR(), ATO()):
        result = cross_validate(
            heart.X, heart.y, kernel=RBF(0.02), C=C, folds=fold, seeder=seeder, from_full=False
        )
        steps[C, type(seeder).__name__] = counts = np.array([each.iterations for each in result.rounds])
        saved = 1.0 - result.iterations / steps[C, "Cold"].sum()
        print(f"C = {C:6g}  {type(seeder).__name__:5} error {result.error:.3f}  {result.iterations:6} steps,"
              f" {saved:6.1%} saved; {(counts == 0).sum()} rounds without a step")  # fmt: skip

# %%
# Fewer steps do not always save time, because an event on ATO's path takes as long as many steps. In how many rounds
# does the solver take more steps from a seed than from zero?

for name in ("SIR", "MIR", "ATO"):
    more = (steps[1000.0, name] > steps[1000.0, "Cold"]).sum()
    print(f"{name} takes more steps than a cold start in {more} of {len(counts)} rounds")

# %%
# Why do SIR and MIR save so little? Moving a weight from :math:`r` to :math:`t` lowers :math:`f` by
# :math:`\tfrac12\alpha_r^2\lVert\varphi(x_r)-\varphi(x_t)\rVert^2` and by a term that is linear in the weight
# (:doc:`chapter 11 <11_leave_one_out>`). Bounded weights are proportional to :math:`C`, so this loss grows like
# :math:`C^2`, but a cold start is only :math:`f^*\le Cn` below the optimum (exercise 2 of chapter 1). For the second
# round of the first picture, the table shows how far :math:`f` is below the optimum at each start, and after how many
# steps a cold solve is as near to the optimum:

print(f"{'':14}{'missing of f':>14}{'as near, cold, after':>22}{'steps in all':>14}")
for C in (1.0, 10.0, 100.0, 1000.0):
    each = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.02), C=C)
    before, after = (each.without(np.flatnonzero(fold == h)) for h in (0, 1))
    known, best = (solve(part, stop=KKTGap(1e-6)) for part in (before, after))
    way = solve(after, shrinking=False, trace=True).trace["objective"]
    for seeder in (Cold(), SIR(), MIR()):
        reached = after.objective(seeder.seed(known, after))
        print(f"C = {C:5g}  {type(seeder).__name__:4}{best.objective - reached:14.1f}"
              f"{(way < reached).sum():15} steps{len(way):14}")  # fmt: skip

# %%
# These seeds reach only the :math:`f` that a cold solve has after its first steps, which raise :math:`f` fastest; for a
# large :math:`C`, :math:`f` is even lower at the seeds than at :math:`\alpha=0`. Wherever the solver starts, it spends
# most steps at the end, while the free variables settle (:doc:`chapter 9 <09_does_it_end>`). ATO keeps :math:`G_i=b` on
# the free variables, so nothing is left to settle.
#
# If every round starts from the solution on all examples (``from_full=True``, the default), no example is added. SIR
# and MIR then give the same seed: both spread the removed weight, first over the free variables. Which takes fewer
# steps, these rounds or the chain?

print(f"{'':12}{'chain':>8}{'from the full solution':>24}")
for C in (10.0, 1000.0):
    for seeder in (SIR(), MIR(), ATO()):
        chain, full = (
            cross_validate(
                heart.X, heart.y, kernel=RBF(0.02), C=C, folds=fold, seeder=seeder, from_full=option
            ).iterations
            for option in (False, True)
        )
        print(f"{C:6g} {type(seeder).__name__:5}{chain:8}{full:24}")

# %%
# In some rows the chain takes fewer steps than these rounds, in others more. The right column includes the steps of the
# solve on all examples.
#
# Along C
# -------
#
# When :math:`C` grows to :math:`C'`, a copy of :math:`\alpha` is feasible, and so is :math:`\alpha\,C'/C`. Multiplying
# :math:`\alpha` keeps the same variables at their bounds, but also moves the free variables. ``ActiveSet`` moves
# bounded variables to their new bounds and corrects the sum with the free variables. The table shows the steps for
# twenty values of :math:`C` over two powers of ten:

curved = make_banana(400, rng=0)
sets = {
    "heart": DualProblem.classification(heart.X, heart.y, kernel=RBF(0.02), C=100.0),
    "banana": DualProblem.classification(curved.X, curved.y, kernel=RBF(0.25), C=100.0),
}
guesses = {
    "cold start": lambda last, box, factor: Cold().seed(last, box),
    "copy": lambda last, box, factor: last.alpha,
    "α times C'/C": lambda last, box, factor: box.feasible(factor * last.alpha),
    "ActiveSet": lambda last, box, factor: ActiveSet().seed(last, box),
}
factor = 100.0 ** (1 / 19)


def steps_along(problem, guess):
    """Return the steps for twenty values of C, each from a guess."""
    along, count, last = Rounds(problem), 0, None
    for share in factor ** np.arange(-19.0, 1.0):
        box = along.boxed(share * problem.lower, share * problem.upper)
        last = along.solve(box, start=last and guess(last, box, factor))
        count += last.iterations
    return count


print(f"{'':14}" + "".join(f"{name:>8}" for name in sets))
for name, guess in guesses.items():
    print(f"{name:14}" + "".join(f"{steps_along(each, guess):8}" for each in sets.values()))

# %%
# On both sets the solver takes fewer steps from each seed than from a cold start, and the fewest from the multiplied
# :math:`\alpha`.
#
# .. shipped:: core/seeders/sir.py
#    :twin:
#    :fold: SIR
#
# .. shipped:: core/seeders/mir.py
#    :twin:
#    :fold: MIR
#
# .. shipped:: core/seeders/exchange.py
#    :twin:
#    :fold: What the seeders of a fold share
#
# .. shipped:: core/seeders/active_set.py
#    :twin:
#    :fold: ActiveSet: the same variables stay at their bounds when C changes
#
# .. shipped:: core/seeders/neighbour.py
#    :fold: Extrapolation from a neighbouring round
#
# .. worth:: 13
#
#    With a large :math:`C`, SIR and MIR save almost no steps. On ionosphere and heart, where solves are short, all
#    seeds lose: computing a seed takes longer than the steps that it saves.
#
# .. admonition:: Known elsewhere as
#
#    Starting from a seed is a *warm start* or *alpha seeding* (DeCoste and Wagstaff, 2000).
#
# Exercises
# ---------
#
# 1. ★ Run leave-one-out: ``cross_validate(..., folds=problem.n)``. Why do most rounds take no step?
# 2. ★ Let one fold hold all positive examples. How does the machine predict this fold?
# 3. ★★ For the second round of the first picture, compute :math:`f` at the seeds of ``SIR``, ``MIR`` and ``ATO``, at a
#    cold start, and at the optimum.
#
# .. fold:: Hints
#
# 1. How many examples have no weight in the full solution?
# 2. Which labels are left in the training part?
# 3. ``rounds.boxed`` returns the problem with a given box, and ``seeder.seed(first, target)`` returns the seed.
#
# .. endfold::
#
# .. fold:: Answers

loo = cross_validate(problem, folds=problem.n, seeder=SIR())
idle = sum(each.iterations == 0 for each in loo.rounds)
print(f"1. {idle} of {problem.n} rounds take no step")
one_sided = np.where(heart.y > 0, 0, 1 + np.arange(heart.n) % 3)
predicted = cross_validate(problem, folds=one_sided).predictions[heart.y > 0]
print(f"2. {int((predicted < 0).sum())} of {len(predicted)} are predicted to be negative")
target = rounds.boxed(next_box.lower, next_box.upper)
for seeder in (Cold(), SIR(), MIR(), ATO(budget=np.inf)):
    seed = seeder.seed(first, target)
    steps = solve(target, start=seed, shrinking=False).iterations
    print(f"3. {type(seeder).__name__:5s} f = {target.objective(seed):7.2f}, {steps:4d} steps from there")
print(f"3. optimum f = {solve(next_box, stop=KKTGap(1e-6)).objective:7.2f}")

# %%
# 1. If :math:`\alpha_r=0` for the left-out example, the seed is already optimal.
# 2. The training part has one class, so :math:`\alpha=0`. Every :math:`b\le-1` is optimal, and the package takes −1.
# 3. Here seeds that take more computing have a higher :math:`f`, and the seed of ATO is the optimum. But a higher
#    :math:`f` does not always save steps.
#
# .. endfold::
