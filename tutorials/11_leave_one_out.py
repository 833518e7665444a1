r"""
11 · Leave one out
==================

How well will a classifier do on examples it has not seen? Leave one example out, train on the others, predict it; do
so for each. The share of wrong predictions is the *leave-one-out error*. It uses every example for training and for
testing, and it has no random splits. Its price seems to be :math:`n` trainings. This chapter shows why it is far
less: most examples are decided by a proof, and the rest need a *sign*, not a solution. The procedure is that of V.
Franc, P. Laskov and K.-R. Müller (2008); the ball at the end is the package's own.
"""

# fold: Imports, the data, and the code of this figure
import time

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    AVG,
    RBF,
    TOP,
    BallRule,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    Rounds,
    leave_one_out,
    solve,
)
from refsvm.datasets import load, make_banana
from refsvm.display import LOODecisionDisplay, LOOGapDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

heart = load("heart")
kernel, C = RBF(gamma=0.005), 1.0
problem = DualProblem.classification(heart.X, heart.y, kernel=kernel, C=C)

banana = make_banana(250, rng=0)
loo = leave_one_out(banana.X, banana.y, kernel=RBF(0.5), C=2.0, stop=LOODualityGap())
LOODecisionDisplay.from_result(loo, banana.X)
plt.show()

# %%
# The obvious way
# ---------------
#
# An example that is left out has no weight: :math:`\alpha_r=0`. In the dual that is an empty box,
# :math:`L_r=U_r=0`, and nothing else changes: not the matrix, not the gradient. So its decision value need not even
# be predicted. It is read off the gradient, :math:`h(x_r)=y_r-G_r+b`. :class:`~refsvm.rounds.rounds.Rounds` trains
# one machine after the other and keeps the kernel rows:


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
# The tolerance matters. The error is a count, and an inexact machine counts other examples. So the question is not
# how exact a *solution* is needed, but how to be certain of a *sign*.
#
# Three proofs
# ------------
#
# Train once, on all examples. Much follows from that alone.
#
# **Zero alpha.** If :math:`\alpha_r=0`, the solution is feasible without :math:`r` too, and the conditions of
# chapter 6 hold for the others as before. So it is the solution without :math:`r`, and :math:`y_rh(x_r)\ge1`: right.
#
# **Training error.** An example that is wrong although it was trained on is wrong without it. Let :math:`P` be the
# primal objective with :math:`r` and :math:`P_r` without, so that :math:`P=P_r+C\,\xi_r`. The machine :math:`m`
# minimises :math:`P`, and :math:`m'` minimises :math:`P_r`. Add the two lines
#
# .. math:: P_r(m')\le P_r(m), \qquad P_r(m)+C\,\xi_r(m)\le P_r(m')+C\,\xi_r(m'):
#
# what is left is :math:`\xi_r(m)\le\xi_r(m')`. Leaving an example out never does it good.
#
# **The ξα bound.** A small weight cannot turn a decision. Let :math:`R^2\ge k(x,x)-k(x,x')` for all pairs, so that
# :math:`q\le2R^2` for every pair, and let some free support vectors have room for :math:`a=|\alpha_r|`. Move that
# weight to them. This lowers :math:`f` by at most :math:`a\,\xi_r+R^2a^2`, because the slope between :math:`r` and a
# free variable is :math:`\xi_r`; so the optimum without :math:`r` is lower by at most the same amount. From there, let
# :math:`r` take :math:`a` back: with :math:`y_rh_r(x_r)=-e` the slope is :math:`1+e`, and that gains at least
# :math:`a(1+e)-R^2a^2`, which cannot be more than what was lost:
#
# .. math:: a(1+e)-R^2a^2 \;\le\; a\,\xi_r+R^2a^2 \qquad\Longrightarrow\qquad 1+e \;\le\; 2aR^2+\xi_r .
#
# A wrong decision has :math:`e\ge0`. So :math:`2aR^2+\xi_r<1` excludes it (T. Joachims, 2000).
#
# .. shipped:: rounds/sufficiency.py
#    :object: ZeroAlpha.decide TrainingError.decide XiAlphaBound.decide
#
# .. shipped:: rounds/sufficiency.py
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
# The rest is trained, each round from the solution with all examples. Its weight :math:`\alpha_r` has to go
# somewhere, for the sum to stay zero: that is the job of a *seeder*. ``TOP`` gives it to the most similar example,
# ``AVG`` to all free ones alike, ``Cold`` begins again.

for seeder in (Cold(), AVG(), TOP()):
    result = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, seeder=seeder, stop=KKTGap(1e-3))
    print(
        f"{type(seeder).__name__:5s} {result.round_iterations.sum():6d} steps in the rounds, error {result.error:.4f}"
    )

# %%
# The errors of different starts may differ by an example whose :math:`h` is within the tolerance of zero: both
# solutions are right to :math:`10^{-3}`, and their signs are not the same.
#
# What does a seed lose? Let :math:`\delta` be its change of :math:`\alpha`: :math:`r` falls to zero, and others share
# what it had. The entries of :math:`\delta` sum to zero, so :math:`b` may be taken off :math:`G`:
#
# .. math:: f(\alpha)-f(\alpha+\delta)
#           = -\sum_i(G_i-b)\,\delta_i + \tfrac12\,\Bigl\lVert\sum_i\delta_i\varphi(x_i)\Bigr\rVert^2 .
#
# The second term is how far :math:`w` moves. With one :math:`j` it is
# :math:`\tfrac12\alpha_r^2\lVert\varphi(x_r)-\varphi(x_j)\rVert^2`, least for the nearest: that is ``TOP``. The first
# term is least where all that share are free, with :math:`G_i=b`: then it is :math:`|\alpha_r|\,\xi_r`. That is
# ``AVG``, with the mean of the free ones in the place of :math:`\varphi(x_j)`.


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
    while abs(weight) > 1e-12 and len(free):
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
# .. shipped:: seeders/top.py
#    :twin:
#    :fold: TOP
#
# .. shipped:: seeders/avg.py
#    :twin:
#    :fold: AVG
#
# .. shipped:: seeders/cold.py
#    :twin:
#    :fold: Cold
#
# .. shipped:: seeders/spread.py
#    :fold: Sharing out what the sum lacks
#
# .. shipped:: seeders/base.py
#    :fold: What a seeder is
#
# And this is the procedure, in the order of the paper:
#
# .. shipped:: rounds/leave_one_out.py
#    :object: algorithm_1
#
# It is called by ``leave_one_out``, once for each machine: two classes have one, several have one for each pair.
#
# .. shipped:: rounds/leave_one_out.py
#    :object: leave_one_out
#
# .. shipped:: rounds/leave_one_out.py
#    :fold: The whole file
#
# When is a sign certain?
# -----------------------
#
# Let :math:`F` be the primal objective without example :math:`r`. Look at all machines that cannot decide,
# :math:`h(x_r)=0`, and suppose we knew that none of them has an objective below some number :math:`H`. Suppose
# further that we stand at a machine with :math:`F<H`. Then the optimum is on our side of :math:`h(x_r)=0`: on the
# straight way to an optimum on the other side there would be a machine with :math:`h(x_r)=0`. :math:`F` is convex
# and largest at one of the ends, so that machine has an objective no larger than ours, below :math:`H`. A
# contradiction.
#
# Where does :math:`H` come from? From weak duality, as in chapter 2. :math:`h(x_r)=0` fixes the intercept,
# :math:`b=-w\cdot\varphi(x_r)`, so :math:`h(x)=w\cdot(\varphi(x)-\varphi(x_r))`: a machine without intercept, with
# the kernel
#
# .. math:: K'_{ij} = \bigl(\varphi(x_i)-\varphi(x_r)\bigr)\cdot\bigl(\varphi(x_j)-\varphi(x_r)\bigr)
#           = K_{ij}-K_{ri}-K_{rj}+K_{rr} .
#
# Its dual has no sum constraint, since there is no :math:`b` to leave one, and any point :math:`\eta` of it is a
# bound:
#
# .. math:: H(\eta) = y^\top\eta-\tfrac12\,\eta^\top K'\eta, \qquad L\le\eta\le U,\quad \eta_r=0 .
#
# :class:`~refsvm.stopping.loo_duality_gap.LOODualityGap` raises :math:`H` alongside :math:`f` and stops at
# :math:`F<H`. With a linear kernel, where SMO takes long to converge, that is long before the end:

# fold: The code of this figure
straight = DualProblem.classification(heart.X, heart.y, kernel=Linear(), C=C)
full = solve(straight)
chosen = int(np.argmax((np.abs(full.alpha) > 0.1) & (heart.y * full.decision_values > 0.5)))
display = LOOGapDisplay.from_problem(straight, chosen)
plt.show()
print(
    f"sign certain after {display.decided_after} steps, the KKT gap is small enough after {len(display.primal)}"
)

# %%
# The primal objective falls, the bound rises, and where they meet training may end.
#
# .. shipped:: stopping/loo_duality_gap.py
#    :object: _begin _ascend _decided
#
# .. shipped:: stopping/loo_duality_gap.py
#    :twin:
#    :fold: The whole file
#
# A ball that holds the machine
# -----------------------------
#
# The machine without :math:`r` is not known before it is trained, but where it can be is. Let :math:`w_r` be its
# weights, :math:`w` those of *any* machine, :math:`\tilde w` those of any feasible :math:`\tilde\alpha`, and
# :math:`P_r`, :math:`D_r` primal (at its best :math:`b`) and dual without :math:`r`, :math:`P_r^*=D_r^*` the optimum.
#
# * The primal holds :math:`\tfrac12\lVert w\rVert^2`, so it curves upwards at least as much as that:
#   :math:`P_r(w)\ge P_r^*+\tfrac12\lVert w-w_r\rVert^2`.
# * The dual curves downwards by :math:`K`, and at its top no feasible direction goes up:
#   :math:`D_r(\tilde\alpha)\le D_r^*-\tfrac12\lVert\tilde w-w_r\rVert^2`.
#
# Subtract. The sum of the two squares is, by the parallelogram, twice the square of the distance to the midpoint and
# half that of the two machines:
#
# .. math::
#
#    \bigl\lVert\tfrac12(w+\tilde w)-w_r\bigr\rVert^2
#    \;\le\; P_r(w)-D_r(\tilde\alpha)-\tfrac14\lVert w-\tilde w\rVert^2 \;=:\; \rho^2 .
#
# With the linear kernel and two features :math:`w` is a point of a plane, and the ball a disc:

two = make_banana(40, rng=1)
in_plane = DualProblem.classification(two.X, two.y, kernel=Linear(), C=0.3)
machine = solve(in_plane, stop=KKTGap(1e-9))
left = int(np.argmax((np.abs(machine.alpha) > 0.05) * two.y * machine.decision_values))
rest = in_plane.without(left)
start = TOP().seed(machine, rest)
w, w_start, w_left = (
    two.X.T @ alpha for alpha in (machine.alpha, start, solve(rest, stop=KKTGap(1e-9)).alpha)
)
primal, dual = rest.primal_objective(machine.alpha), rest.objective(start)
radius = np.sqrt(primal - dual - np.sum((w - w_start) ** 2) / 4)
distance = np.linalg.norm((w + w_start) / 2 - w_left)
print(f"example {left}: radius {radius:.4f}, distance of the machine without it {distance:.4f}")
assert distance <= radius

# %%

# fold: The code of this figure
figure, axes = plt.subplots(figsize=(5.6, 4.6))
axes.add_patch(
    plt.Circle((w + w_start) / 2, radius, fc="0.93", ec=INK, lw=1, label=r"the ball, of radius $\rho$")
)
axes.plot(*np.transpose([w, w_start]), ":", color="0.5", zorder=1)
for point, marker, colour, name in (
    (w, "o", NEGATIVE, "$w$, with the example"),
    (w_start, "^", POSITIVE, r"$\tilde w$, the seed"),
    (w_left, "*", INK, "$w_r$, without it"),
):
    axes.plot(*point, marker, color=colour, ms=10, ls="none", label=name)
axes.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
axes.autoscale_view()
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# Take the full machine for :math:`w` and a seed for :math:`\tilde\alpha`: both are known before a step is taken. All
# machines in the ball agree about :math:`x_r`? Then so does :math:`w_r`. With
# :math:`c_i=w_r\cdot(\varphi_i-\varphi_r)`, :math:`h_r(x_r)` is the number :math:`\zeta` that minimises
# :math:`\sum_iC_i\max(0,1-y_i(c_i+\zeta))`. It is positive if that sum still falls at :math:`\zeta=0`. In the ball
# no :math:`c_i` is more than its value at the centre plus :math:`\rho\lVert\varphi_i-\varphi_r\rVert`; and if the
# sum falls with these largest values, it falls.
#
# .. shipped:: stopping/midpoint.py
#    :object: radius distances certain_sign
#
# .. shipped:: stopping/ball_rule.py
#    :twin:
#    :fold: The rule that asks the ball
#
# .. shipped:: stopping/midpoint.py
#    :fold: The constants of the ball
#
# The three ways to stop, on the same rounds:

for stop in (KKTGap(), LOODualityGap(), BallRule()):
    result = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, stop=stop)
    rounds = {name: count for name, count in result.counts.items() if name in ("kkt", "duality gap", "ball")}
    early = ", ".join(f"{count} by {name}" for name, count in rounds.items())
    print(
        f"{type(stop).__name__:14s} {result.round_iterations.sum():5d} steps in the rounds; decided: {early}"
    )

# %%
# What decided which example is shown at the head of the chapter. Far from the boundary examples have no weight. Those
# beyond it are wrong anyway. What has to be trained lies between.
#
# .. admonition:: Known elsewhere as
#
#    *Jackknife* or *leave-one-out cross-validation*; the *ξα estimator* of T. Joachims; *alpha seeding* for starts (D.
#    DeCoste and K. Wagstaff, 2000). Balls that prove what a solution must be are *safe screening rules*, there used to
#    leave out variables.
#
# Exercises
# ---------
#
# 1. Switch the checks off one by one (``checks=("zero alpha",)`` …). Do the predictions change? How many more rounds
#    are there?
# 2. Leave out one of two equal examples. What is :math:`K'_{ii}` of the other?
# 3. Check the ball: compute :math:`\rho` and the true distance for one example.
# 4. Compute both terms of what the seeds of ``TOP`` and ``AVG`` lose for that example. How much do the seeds lack of
#    the optimum without it?
#
# .. fold:: Answers

for checks in ((), ("zero alpha",), ("zero alpha", "training error", "xi-alpha bound")):
    each = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, checks=checks, stop=KKTGap(1e-4))
    print(f"1. {len(checks)} checks: {each.counts['kkt']:3d} rounds, error {each.error:.4f}")

full = solve(problem, stop=KKTGap(1e-6))
r = int(np.argmax(np.abs(full.alpha) * (heart.y * full.decision_values > 0)))
left_out = problem.without(r)
seed = TOP().seed(full, left_out)
w_r = solve(left_out, stop=KKTGap(1e-9)).alpha
K = problem.gram.block(np.arange(heart.n))
apart = full.alpha - seed
middle = (full.alpha + seed) / 2 - w_r
primal = left_out.primal_objective(full.alpha)  # of the machine w, losses of the others only
square = primal - left_out.objective(seed) - apart @ K @ apart / 4
print(f"3. example {r}: ρ² = {square:.4f}, true squared distance {middle @ K @ middle:.4f}")

for seeder in (TOP(), AVG()):
    delta = seeder.seed(full, left_out) - full.alpha
    first, second = -(full.gradient - full.intercept) @ delta, delta @ K @ delta / 2
    seeded = left_out.objective(full.alpha + delta)
    lost, lacks = full.objective - seeded, left_out.objective(w_r) - seeded
    print(f"4. {type(seeder).__name__}: {first:.4f} + {second:.4f}; lost {lost:.4f}, lacks {lacks:.4f}")

# %%
# 1. They do not: the checks are theorems. Without any there is a round for each example.
# 2. Zero: :math:`K'_{ii}=K_{ii}-2K_{ri}+K_{rr}=\lVert\varphi(x_i)-\varphi(x_r)\rVert^2=0`.
# 3. The machine is inside.
# 4. Never more than they lose, as the optimum without an example is no higher than that with it.
#
# .. endfold::
