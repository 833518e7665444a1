r"""
11 · Leave one out
==================

How well will a classifier do on examples that it has not seen? Leave an example out, train on all other examples, and
predict it; repeat this for every example. The share of wrong predictions is the *leave-one-out error*. Every example
serves for training and testing, and no split is random. Computing this error usually costs far less than :math:`n`
trainings: three proofs decide many predictions, and all remaining trainings start from the solution on all examples.
Franc, Laskov and Müller (2008) published the procedure.
"""

# fold: Imports, the data, and the code of this figure
# alt: Colours show what decided the leave-one-out prediction of each example. Most examples without weight lie away
#     from the boundary, training errors lie on its wrong side, and most examples left out in a round lie near the
#     boundary. Wrong predictions are ringed.
import time

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    AVG,
    RBF,
    TOP,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Rounds,
    cross_validate,
    leave_one_out,
    solve,
)
from refsvm.datasets import load, make_banana
from refsvm.display import LOODecisionDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)

heart = load("heart")
kernel, C = RBF(gamma=0.005), 1.0
problem = DualProblem.classification(heart.X, heart.y, kernel=kernel, C=C)

banana = make_banana(250, rng=0)
loo = leave_one_out(banana.X, banana.y, kernel=RBF(0.5), C=2.0, stop=LOODualityGap())
display = LOODecisionDisplay.from_result(loo, banana.X)
side = np.linspace(-4.0, 4.0, 100)
grid = np.stack(np.meshgrid(side, side), axis=-1)
h = RBF(0.5)(grid.reshape(-1, 2), banana.X) @ loo.full_solution.alpha + loo.full_solution.intercept
display.ax_.autoscale(False)
display.ax_.contour(side, side, h.reshape(100, 100), levels=[0], colors="#222222", linewidths=1.5)
plt.show()

# %%
# The obvious way
# ---------------
#
# An example that is left out has no weight: in the dual its box is closed, :math:`L_r=U_r=0`; the matrix does not
# change. The gradient shows the decision value of the left-out example, :math:`h(x_r)=y_r-G_r+b`.
# :class:`~refsvm.core.rounds.rounds.Rounds` trains one machine after another and keeps the kernel rows:


def brute_force(tol):
    """Train without each example, from scratch; return the decision values and the steps."""
    rounds, values, steps = Rounds(problem, stop=KKTGap(tol)), np.empty(heart.n), 0
    for r in range(heart.n):
        solution = rounds.solve(problem.without(r))
        values[r], steps = solution.decision_values[r], steps + solution.iterations
    return values, steps


for tol in (1.0, 1e-3):
    values, steps = brute_force(tol)
    wrong = int(((values >= 0) != (heart.y > 0)).sum())
    print(f"tolerance {tol:5g}: {wrong} of {heart.n} wrong, {steps} steps")

# %%
# The tolerance matters: an inexact machine and the exact machine may predict different examples wrongly. So we ask not
# how exact a *solution* must be, but how to be certain of a *sign*.
#
# Three proofs
# ------------
#
# After one training on all examples, each of three proofs settles many predictions.
#
# **Zero alpha.** If :math:`\alpha_r=0`, the solution is also feasible without :math:`r`, and the conditions of chapter
# 6 hold for all other examples as before. So the solution stays optimal without :math:`r`, and :math:`y_rh(x_r)\ge1`:
# the prediction is right. If :math:`b` is unique, only support vectors can be predicted wrongly. (A free support vector
# fixes :math:`b`. If no support vector is free, :math:`b` is the middle of an interval between two examples. Leaving
# out either example lengthens the interval, so the package trains without this example.)
#
# **Training error.** If the machine trained with :math:`r` predicts :math:`r` wrongly, so does the machine trained
# without :math:`r`. Let :math:`P` be the primal objective with :math:`r`, and :math:`P_r` without :math:`r`, so that
# :math:`P=P_r+C\,\xi_r`. Let :math:`m` minimise :math:`P`, and :math:`m'` minimise :math:`P_r`. Adding the inequalities
#
# .. math:: P_r(m')\le P_r(m), \qquad P_r(m)+C\,\xi_r(m)\le P_r(m')+C\,\xi_r(m')
#
# gives :math:`\xi_r(m)\le\xi_r(m')`. Leaving an example out never reduces its slack.
#
# **The ξα bound.** Removing a small weight cannot change a decision: :math:`2|\alpha_r|R^2+\xi_r<1` proves that the
# prediction of :math:`r` is right (Joachims, 2000). :math:`R^2` is at least :math:`k(x,x)-k(x,x')` for all pairs, so
# that :math:`\lVert\varphi(x)-\varphi(x')\rVert^2\le2R^2`. Let :math:`y_r=1` (otherwise change all signs). Suppose the
# other free support vectors can take over the weight :math:`a` of :math:`r`: :math:`\sum_j(U_j-\alpha_j)>a`. Let
# :math:`w_r` be the :math:`w` of the machine without :math:`r`.
#
# 1. *The model moves little.* While the weight :math:`a` of :math:`r` moves to free support vectors, :math:`f` has the
#    initial slope :math:`-\xi_r` and at most the curvature :math:`2R^2`. So without :math:`r` the optimum is
#    :math:`f_r^*\ge f^*-a\,\xi_r-R^2a^2`. For an upper bound on :math:`f_r^*`, expand :math:`f` around its optimum. To
#    first order, taking the weight from :math:`r` lowers :math:`f` by :math:`a\,\xi_r`, and no other change raises
#    :math:`f`, because :math:`w` is optimal. The second-order term of :math:`f` is :math:`-\tfrac12\lVert
#    w-w_r\rVert^2`. So :math:`f_r^*\le f^*-a\,\xi_r-\tfrac12\lVert w-w_r\rVert^2`, and the two bounds give
#    :math:`\lVert w-w_r\rVert\le\sqrt2\,Ra`.
# 2. *So the difference of* :math:`h(x_i)` *and* :math:`h(x_r)` *grows little.* Let
#    :math:`c_i=w_r\cdot(\varphi(x_i)-\varphi(x_r))`. Then :math:`c_i\le h(x_i)-h(x_r)+2R^2a`, which is less than
#    :math:`h(x_i)`, because :math:`2R^2a<1-\xi_r\le h(x_r)`.
# 3. *So the sign of* :math:`h(x_r)` *stays.* The decision value :math:`h_r(x_r)` of the machine without :math:`r` is
#    the :math:`\zeta` that minimises
#
#    .. math:: \sum_{i\ne r}C\max\bigl(0,\,1-y_i(c_i+\zeta)\bigr) .
#
#    Just to the right of :math:`\zeta=0`, each negative example with :math:`c_i\ge-1` adds :math:`C` to the slope of
#    this sum, and each positive example with :math:`c_i<1` subtracts :math:`C`. Because :math:`c_i<h(x_i)`, all these
#    negative examples have :math:`h(x_i)>-1` and are bounded; these positive examples include all positive support
#    vectors except :math:`r`. With :math:`\sum_i\alpha_i=0` the slope is therefore at most
#    :math:`a-\sum_j(U_j-\alpha_j)<0`. So the sum of losses falls at :math:`\zeta=0`, and :math:`h_r(x_r)>0`.
#
# For one example, the figure draws :math:`f` along two straight lines from the optimum to points with
# :math:`\alpha_r=0`. At the end of the first line all free variables share the weight of :math:`r` as equally as their
# boxes permit; the second line ends at the optimum without :math:`r`.

# fold: The code of this figure
# alt: Two curves show the falling objective on straight lines from the optimum. The curve to the best point ends
#     slightly higher than the other curve, and both end above the lower bound, a dashed parabola.
whole = solve(problem, stop=KKTGap(1e-9))
xi = np.maximum(0.0, 1.0 - heart.y * whole.decision_values)
free = (problem.lower < whole.alpha) & (whole.alpha < problem.upper)
r = int(np.argmax(free & (np.abs(whole.alpha) > 0.4)))
ends = {
    "to the weight handed on": AVG().seed(whole, problem.without(r)),
    "to the best without r": solve(problem.without(r), stop=KKTGap(1e-9)).alpha,
}
a, R2, share = abs(whole.alpha[r]), 1.0, np.linspace(0.0, 1.0, 50)  # k(x, x) - k(x, x') <= 1
figure, axes = plt.subplots(figsize=(6.4, 3.2))
for (name, end), colour in zip(ends.items(), ("#D55E00", "#0072B2"), strict=True):
    fall = [problem.objective(whole.alpha + t * (end - whole.alpha)) - whole.objective for t in share]
    axes.plot(share, fall, color=colour, label=name)
    assert fall[-1] >= -a * xi[r] - R2 * a**2 - 1e-9
axes.plot(
    share,
    -share * a * xi[r] - R2 * (share * a) ** 2,
    "--",
    color="#222222",
    label=r"at least $-a\xi_r-R^2a^2$",
)
axes.set(xlabel="share of the line", ylabel=r"$f-f^*$")
axes.legend(frameon=False)
plt.show()
K = problem.gram.block(np.arange(heart.n))
apart = whole.alpha - ends["to the best without r"]
moved = np.sqrt(apart @ K @ apart)
print(f"example {r}: the weights move by {moved:.4f}, at most by {np.sqrt(2 * R2) * a:.4f}")

# %%
# From the optimum to a computed solution
# ---------------------------------------
#
# The three proofs are about the optimum, but a solver returns only a point near it, and the duality gap shows how near.
# At a feasible :math:`\alpha` and any :math:`b` the gap is a sum of terms that are never negative:
#
# .. math:: \delta = P(w,b)-f(\alpha) = \sum_i (U_i-\alpha_i)\max(0,\,G_i-b)+(\alpha_i-L_i)\max(0,\,b-G_i) .
#
# (Write out both objectives, and use :math:`\sum_i\alpha_i=0`.) The exact :math:`w` is within :math:`\sqrt\delta` of
# the computed :math:`w` (:doc:`chapter 12 <12_a_sign_is_enough>`). So the conditions of the proofs get stricter:
#
# * *Zero alpha.* If :math:`\alpha_r=0`, the point is feasible without :math:`r`, and its gap in the problem without
#   :math:`r` is at most :math:`\delta`. If this gap is small enough, the ball of chapter 12 proves the sign of the
#   decision value without :math:`r`; otherwise the package trains without :math:`r`.
# * *Training error.* The computed :math:`m` is optimal only up to :math:`\delta`, so the proof gives only
#   :math:`\xi_r(m)-\delta/C_r\le\xi_r(m')`. So the check requires :math:`y_rh(x_r)<-\delta/C_r`, with the penalty
#   :math:`C_r` of the example.
# * *The ξα bound.* In step 1 of the proof, :math:`w_r` lies in a ball whose radius grows with :math:`\delta`; the
#   docstring below derives the radius.
#
# .. shipped:: core/rounds/sufficiency.py
#    :object: ZeroAlpha.decide TrainingError.decide XiAlphaBound.decide
#
# .. shipped:: core/rounds/sufficiency.py
#    :fold: The whole file
#
# In one call
# -----------

for _ in range(2):  # the first call loads compiled code
    began = time.perf_counter()
    loo = leave_one_out(heart.X, heart.y, kernel=kernel, C=C)
    seconds = time.perf_counter() - began
began = time.perf_counter()
solve(problem)
once = time.perf_counter() - began
print(
    f"leave-one-out error {loo.error:.4f}; it took as long as {seconds / once:.1f} trainings, not {heart.n}"
)
for reason, count in loo.counts.items():
    if count:
        print(f"  {reason:15s} {count:4d} examples")

# %%
# If several :math:`b` are optimal without :math:`r` and give :math:`h(x_r)` different signs, :math:`r` is a *tie*: the
# lower bound of the error counts it as right, the upper bound as wrong. With a small :math:`C` two of the points -1, 0
# and 1 are ties. Without the point 0, the other weights are :math:`\pm C`, and :math:`h(0)=b` may be any number in an
# interval around zero:

three = leave_one_out([[-1.0], [0.0], [1.0]], [-1, 1, 1], kernel=Linear(), C=0.1)
print(three.decided_by, three.error_bounds)

# %%
# To leave an example out, set "a tap" to "leaves it out", and tap the example. The line under the buttons names the
# proof that decides the example, or counts the steps of training without it. The dotted boundary belongs to the machine
# without the example.
#
# .. stepper::
#    :selector: second-order
#    :C: 2
#
# The span rule
# -------------
#
# Suppose that without :math:`r` every free example stays free, and every bounded example stays at its bound. Then only
# free examples take the weight of :math:`r`, in shares :math:`\lambda_i` with the sum 1. With
# :math:`p=\sum_i\lambda_i\varphi(x_i)`, each :math:`h(x_i)` changes by
# :math:`\alpha_r\,(p-\varphi(x_r))\cdot\varphi(x_i)` and by the change of :math:`b`. For free :math:`i` both changes
# cancel, because :math:`h(x_i)=y_i` stays. Subtracting these changes, weighted with :math:`\lambda_i`, from the change
# of :math:`h(x_r)` removes the change of :math:`b` and gives the *span rule* (Vapnik and Chapelle, 2000):
#
# .. math:: y_rh_r(x_r) = y_rh(x_r)-|\alpha_r|\,S_r^2 ,\qquad S_r=\lVert\varphi(x_r)-p\rVert ,
#
# where :math:`S_r` is the distance of :math:`\varphi(x_r)` from the plane through all free :math:`\varphi(x_i)`,
# :math:`i\ne r`. The inverse of one matrix gives all distances:

F = np.flatnonzero(free)
inverse = np.linalg.inv(
    np.block([[K[np.ix_(F, F)], np.ones((len(F), 1))], [np.ones((1, len(F))), np.zeros((1, 1))]])
)
beside = np.vstack([K[F], np.ones(heart.n)])
span = K.diagonal() - (beside * (inverse @ beside)).sum(axis=0)
span[F] = 1.0 / inverse.diagonal()[:-1]
guess, exact = whole.decision_values - whole.alpha * span, brute_force(1e-6)[0]
alike, close = np.sum(np.sign(guess) == np.sign(exact)), np.corrcoef(guess, exact)[0, 1]
wrong = [np.sum(np.sign(each) != heart.y) for each in (guess, exact)]
print(
    f"{alike} of {heart.n} signs as by rounds, correlation {close:.4f}; {wrong[0]} errors, by rounds {wrong[1]}"
)

# %%
# What the estimate is worth
# --------------------------
#
# If the examples are independent and from one distribution, each machine predicts an example that is independent of its
# :math:`n-1` training examples. So the mean of the leave-one-out error over all samples is the mean error of machines
# trained on :math:`n-1` examples (Luntz and Brailovsky, 1969). If :math:`b` is unique, only support vectors can be
# predicted wrongly, so the mean leave-one-out error is at most :math:`E[\#\mathrm{SV}]/n`. Cross-validation with
# :math:`k` folds estimates the error of machines trained on :math:`n-n/k` examples, with only :math:`k` trainings. If
# you estimate the error for several :math:`C` and :math:`\gamma`, the smallest estimate is on average too optimistic.
# The table compares estimates from forty samples of sixty points with the errors on 2,000 new points:

# fold: Estimates and errors on new points
new = make_banana(2000, rng=1)
grid = [(gamma, price) for gamma in (0.05, 0.5, 5.0) for price in (0.3, 3.0, 30.0)]
table, folds = np.empty((40, len(grid), 2)), []
for sample, rows in enumerate(table):
    few = make_banana(60, rng=100 + sample)
    for (gamma, price), row in zip(grid, rows, strict=True):
        found = leave_one_out(few.X, few.y, kernel=RBF(gamma), C=price)
        full = found.full_solution
        h = RBF(gamma)(new.X, few.X) @ full.alpha + full.intercept
        row[:] = found.error, np.mean(np.sign(h) != new.y)
    folds.append(cross_validate(few.X, few.y, kernel=RBF(0.5), C=3.0, folds=10).error)
estimate, true = table[:, grid.index((0.5, 3.0))].T
least = table[np.arange(40), table[:, :, 0].argmin(axis=1)]
print("                        estimate  ten folds   new points")
columns = np.array([estimate, folds, true])
spread = columns.std(axis=1)
for line, each in (
    ("gamma = 0.5, C = 3, mean", columns.mean(axis=1)),
    ("standard deviation", spread),
    ("standard error of mean", spread / 40**0.5),
):
    print(f"{line:24} {each[0]:7.1%} {each[1]:10.1%} {each[2]:12.1%}")
print(f"best of {len(grid)}, mean          {least[:, 0].mean():7.1%} {'':10} {least[:, 1].mean():12.1%}")
correlation = np.corrcoef(columns)[0]
print(f"correlation of the estimate with ten folds {correlation[1]:.2f}, with the error {correlation[2]:.2f}")

# %%
# In the first line, both estimates differ from the error on new points by less than a standard error, so they show no
# bias. From sample to sample both estimates rise and fall together, and vary more than the error on new points.
# Leave-one-out hardly tells which samples gave better machines: it estimates the mean error over all samples.
#
# Where a round begins
# --------------------
#
# If no proof decides an example, the training without it, its *round*, begins at the solution on all examples. To keep
# the sum at zero, the weight :math:`\alpha_r` has to go to other examples, which a *seeder* chooses. As far as the
# boxes permit, ``TOP`` gives this weight to the most similar example, and ``AVG`` shares it equally among all free
# examples. ``Cold`` starts from zero.

for seeder in (Cold(), AVG(), TOP()):
    result = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, seeder=seeder, stop=KKTGap(1e-3))
    print(
        f"{type(seeder).__name__:5s} {result.round_iterations.sum():6d} steps in the rounds, error {result.error:.4f}"
    )

# %%
# Each seeder gives the same error, although the tolerance is only :math:`10^{-3}`: if a round ends without a proof, the
# package solves it more exactly.
#
# How much lower is :math:`f` at the *seed* of a round than at the full solution? Let :math:`\delta` be the change of
# :math:`\alpha`: :math:`\alpha_r` goes to zero, and other variables take this weight. The entries of :math:`\delta` sum
# to zero, so :math:`b` may be subtracted from :math:`G`:
#
# .. math:: f(\alpha)-f(\alpha+\delta)
#           = -\sum_i(G_i-b)\,\delta_i + \tfrac12\,\Bigl\lVert\sum_i\delta_i\varphi(x_i)\Bigr\rVert^2 .
#
# The second term is half the squared distance that :math:`w` moves. If a single :math:`j` receives the weight, this
# term is :math:`\tfrac12\alpha_r^2\lVert\varphi(x_r)-\varphi(x_j)\rVert^2`. ``TOP`` makes the second term small: it
# takes the :math:`j` with the largest :math:`K_{rj}`, which is the nearest example if all :math:`K_{jj}` are equal. If
# only free variables receive the weight, they have :math:`G_i=b`, and the first term is only :math:`|\alpha_r|\,\xi_r`.
# ``AVG`` makes the first term small; in the second term the mean of the free :math:`\varphi(x_i)` replaces
# :math:`\varphi(x_j)`.


def top(K, alpha, lower, upper, r):
    """Return α with the weight of r given to the examples that are most like it."""
    alpha, weight = np.where(np.arange(len(alpha)) == r, 0.0, alpha), alpha[r]
    for t in np.argsort(-K[r], kind="stable"):
        if t != r:
            taken = np.clip(alpha[t] + weight, lower[t], upper[t]) - alpha[t]
            alpha[t], weight = alpha[t] + taken, weight - taken
    return alpha


def avg(alpha, lower, upper, r):
    """Return α with the weight of r shared by the free variables."""
    alpha, weight = np.where(np.arange(len(alpha)) == r, 0.0, alpha), alpha[r]
    free = np.flatnonzero((lower < alpha) & (alpha < upper) & (np.arange(len(alpha)) != r))
    while abs(weight) > 1e-12:
        if not len(free):  # all others then
            others = (alpha < upper) if weight > 0.0 else (alpha > lower)
            free = np.flatnonzero(others & (np.arange(len(alpha)) != r))
        taken = np.clip(alpha[free] + weight / len(free), lower[free], upper[free]) - alpha[free]
        alpha[free], weight = alpha[free] + taken, weight - taken.sum()
        free = free[(alpha[free] < upper[free]) if weight > 0.0 else (alpha[free] > lower[free])]
    return alpha


full = solve(problem)
r = int(np.argmax(np.abs(full.alpha)))
own = top(problem.gram.block(np.arange(heart.n)), full.alpha, problem.lower, problem.upper, r)
print("the seed of the package:", np.allclose(own, TOP().seed(full, problem.without(r))))
own = avg(full.alpha, problem.lower, problem.upper, r)
print("the seed of the package:", np.allclose(own, AVG().seed(full, problem.without(r))))

# %%
# .. shipped:: core/seeders/top.py
#    :twin:
#    :fold: TOP
#
# .. shipped:: core/seeders/avg.py
#    :twin:
#    :fold: AVG
#
# .. shipped:: core/seeders/cold.py
#    :twin:
#    :fold: Cold
#
# .. shipped:: core/seeders/spread.py
#    :fold: Sharing out what the sum lacks
#
# .. shipped:: core/seeders/base.py
#    :fold: What a seeder is
#
# This function follows the algorithm of Franc, Laskov and Müller:
#
# .. shipped:: core/rounds/leave_one_out.py
#    :object: algorithm_1
#
# .. shipped:: analysis/resampling/leave_one_out.py
#    :object: leave_one_out
#
# .. shipped:: analysis/resampling/leave_one_out.py
#    :fold: The whole file
#
# .. worth:: 11
#
#    The proofs gain least on heart, where they leave the largest share of the examples open. A seed loses more of
#    :math:`f` if the left-out example has a larger weight.
#
# .. admonition:: Known elsewhere as
#
#    The procedure is *leave-one-out cross-validation*, and related to the *jackknife*. Counting the examples that the
#    third proof leaves open gives the *ξα estimator* of Joachims.
#
# Exercises
# ---------
#
# 1. ★ Switch the checks off one by one (``checks=("zero alpha",)`` …). Do the predictions change? How many more rounds
#    are needed?
# 2. ★ Write the first two checks yourself, with :math:`\alpha` and the decision values, in two lines of NumPy. Do your
#    checks decide as many examples as the package's?
# 3. ★★ Leave out the correctly predicted example with the largest weight. For the seeds of ``TOP`` and ``AVG``, compute
#    both terms of :math:`f(\alpha)-f(\alpha+\delta)`. How far below the new optimum is :math:`f` at each seed?
#
# .. fold:: Hints
#
# 1. See the ``counts`` of the result.
# 2. Each check compares :math:`n` numbers with zero.
# 3. ``seeder.seed`` returns the new :math:`\alpha`; subtract the old :math:`\alpha` to get :math:`\delta`.
#
# .. endfold::
#
# .. fold:: Answers

for checks in ((), ("zero alpha",), ("zero alpha", "training error", "xi-alpha bound")):
    each = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, checks=checks, stop=KKTGap(1e-4))
    print(f"1. {len(checks)} checks: {each.counts['kkt']:3d} rounds, error {each.error:.4f}")

full = solve(problem, stop=KKTGap(1e-6))
zero, wrong = full.alpha == 0.0, heart.y * full.decision_values < 0.0
loo = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, checks=("zero alpha", "training error"))
print(
    f"2. {zero.sum()} and {wrong.sum()}; the package {loo.counts['zero alpha']} and {loo.counts['training error']}"
)

r = int(np.argmax(np.abs(full.alpha) * (heart.y * full.decision_values > 0)))
left_out = problem.without(r)
w_r = solve(left_out, stop=KKTGap(1e-9)).alpha
K = problem.gram.block(np.arange(heart.n))
for seeder in (TOP(), AVG()):
    delta = seeder.seed(full, left_out) - full.alpha
    first, second = -(full.gradient - full.intercept) @ delta, delta @ K @ delta / 2
    seeded = left_out.objective(full.alpha + delta)
    lost, lacks = full.objective - seeded, left_out.objective(w_r) - seeded
    print(f"3. {type(seeder).__name__}: {first:.4f} + {second:.4f}; lost {lost:.4f}, lacks {lacks:.4f}")

# %%
# 1. The predictions do not change, because a check decides only proved signs. Without checks each example needs a
#    round.
# 2. The first check is :math:`\alpha_r=0`, the second :math:`y_rh(x_r)<0`. No example passes both checks: a training
#    error has a slack above one, and so :math:`|\alpha_r|=C`.
# 3. The new optimum exceeds :math:`f(\alpha+\delta)` by at most :math:`f(\alpha)-f(\alpha+\delta)`, because leaving out
#    an example never raises the optimum.
#
# .. endfold::
