r"""
6 · When it is over
===================

The loop of :doc:`chapter 5 <05_the_whole_loop>` stops when :math:`\psi` is below a tolerance. This chapter draws
:math:`\psi`, computes the intercept, and shows how the tolerance affects decisions and the objective.
"""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, KKTGap, MostViolatingPair, NewtonStep, WorkingSetGap, iterate, solve
from refsvm.datasets import load, make_banana

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

data = make_banana(60, rng=1)
problem = DualProblem.classification(data.X, data.y, kernel=RBF(gamma=0.5), C=2.0)

# %%
# Marks that get out of each other's way
# --------------------------------------
#
# A variable at its lower bound may only rise, a variable at its upper bound may only fall, and a free variable may do
# both. Draw :math:`G_i` as a mark that points up if the variable may rise, and as a mark that points down if it may
# fall. Chapter 3 proves that :math:`\alpha` is optimal exactly if no up-mark is above a down-mark. The overlap of the
# marks is :math:`\psi`.

# fold: The code of this figure
# alt: Three panels show the gradient of every example, with upward marks for variables that may rise and downward marks
#     for those that may fall. At first the marks overlap in a wide band; at the end a line separates them.
moments = {0: problem.v * 0.0}
for state in iterate(problem, step=NewtonStep()):
    moments[state.iteration] = state.alpha.copy()
last = state.iteration

figure, row = plt.subplots(1, 3, figsize=(10, 4), sharey=True)
for axes, step in zip(row, (5, last // 2, last), strict=True):
    at = moments[step]
    G = problem.gradient(at)
    up, down = at < problem.upper, at > problem.lower
    top, bottom = G[up].max(), G[down].min()
    axes.axhspan(min(top, bottom), max(top, bottom), color="0.9", lw=0, label=r"overlap $\psi$")
    axes.plot(np.flatnonzero(up), G[up], "^", color=POSITIVE, ms=5, mfc="none", label="may rise")
    axes.plot(np.flatnonzero(down), G[down], "v", color=NEGATIVE, ms=5, mfc="none", label="may fall")
    axes.axhline((top + bottom) / 2, color=INK, lw=1, label="$b$, its middle")
    axes.set(title=f"after {step} steps: ψ = {top - bottom:.2g}", xlabel="example")
row[0].set_ylabel("$G_i$")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# At the end all free variables, which carry both marks, stand on one line. Why is this line at :math:`b`? From
# :math:`G=y-K\alpha` and :math:`h(x_i)=(K\alpha)_i+b` follows
#
# .. math:: G_i-b = y_i-h(x_i) .
#
# So :math:`G_i=b` means :math:`h(x_i)=y_i`: the example stands exactly on its margin, as complementary slackness
# demands of free support vectors (:doc:`chapter 2 <02_prices>`). The three rows of the table in chapter 2 become the
# *Karush-Kuhn-Tucker conditions*
#
# .. math::
#
#    G_i\le b\ \text{ where }\alpha_i=L_i, \qquad G_i=b\ \text{ in between}, \qquad G_i\ge b\ \text{ where
#    }\alpha_i=U_i.
#
# A :math:`b` that satisfies all conditions exists exactly if :math:`\max_{I_\text{up}}G\le\min_{I_\text{down}}G`, that
# is, if :math:`\psi\le0`. Before the optimum the middle of the overlap is the fairest :math:`b`: it breaks no condition
# by more than :math:`\psi/2`.
#
# .. shipped:: core/problem.py
#    :object: DualProblem.kkt_gap DualProblem.intercept DualProblem.midway
#
# The state keeps :math:`\psi`, and the stopping rule compares it with a tolerance:
#
# .. shipped:: core/stopping/kkt_gap.py
#    :twin:

solution = solve(problem)
free = (problem.lower < solution.alpha) & (solution.alpha < problem.upper)
spread = np.ptp(solution.gradient[free])
print(f"b = {solution.intercept:.4f}; G of the {free.sum()} free variables within {spread:.1e} of each other")

# %%
# What a tolerance is worth
# -------------------------
#
# The gap :math:`\psi` has the unit of the labels. With the tolerance :math:`\varepsilon=10^{-3}` each condition is
# broken by at most half a thousandth, while :math:`h` changes by 1 from the middle of the street to its margin. To
# bound the error of the objective, put :math:`b=(\max_{I_\text{up}}G+\min_{I_\text{down}}G)/2` into the third line of
# the certificate of chapter 2. The term of example :math:`i`, :math:`C\xi_i-\alpha_i(G_i-b)`, is zero unless the
# example breaks its condition, and no example breaks its condition by more than :math:`\psi/2`. So for :math:`\psi\ge0`
# every term is at most :math:`C\psi/2`:
#
# .. math:: f^* - f(\alpha) \;\le\; F-f \;\le\; \tfrac12\,n\,C\,\psi .
#
# At an optimum :math:`\psi\le0`, so every term is zero and :math:`F=f`. This proves the strong duality of chapter 2.
#
# On the heart data the duality gap :math:`F-f` is far smaller than this bound (the last line shows the ratio), and the
# error :math:`f^*-f` is even smaller:

heart = load("heart")
wide = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=10.0)
best = solve(wide, stop=KKTGap(1e-10)).objective
print("tolerance   steps    n C ψ / 2       F − f     f* − f   wrong by 10⁻³ or more in h")
found = []
exact = solve(wide, stop=KKTGap(1e-10)).decision_values
for tol in (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6):
    run = solve(wide, step=NewtonStep(), stop=KKTGap(tol), shrinking=False)
    off = (np.abs(run.decision_values - exact) >= 1e-3).sum()
    bound = wide.n * 10.0 * run.kkt_gap / 2
    found.append((run.kkt_gap, bound, run.duality_gap, best - run.objective, run.iterations))
    print(
        f"{tol:9g} {run.iterations:7d} {bound:12.2e} {run.duality_gap:11.2e} {best - run.objective:10.2e}"
        f" {off:10d} of {wide.n}"
    )
psi, bounds, gaps, lacks, steps = np.transpose(found)
print(f"bound / gap from {min(bounds / gaps):.0f} to {max(bounds / gaps):.0f}")

# %%

# fold: The code of this figure
# alt: Over the falling KKT gap, on logarithmic axes, the left panel shows the bound on the duality gap, this gap and
#     the smaller error of the objective. In the right panel the number of steps rises slowly.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2))
for values, name, colour in (
    (bounds, r"bound $nC\psi/2$", INK), (gaps, "duality gap $F-f$", POSITIVE), (lacks, "error $f^*-f$", NEGATIVE)
):  # fmt: skip
    left.loglog(psi, values, "o-", color=colour, label=name)
right.semilogx(psi, steps, "o-", color=INK, label="steps")
for axes in (left, right):
    axes.set(xlabel=r"KKT gap $\psi$ at the end")
    axes.invert_xaxis()
    axes.legend(frameon=False)
plt.show()

# %%
# The best intercept
# ------------------
#
# Before the end the middle of the overlap is not always the :math:`b` with the least :math:`F`. Written with :math:`G`,
# the slack is :math:`\xi_i=\max\bigl(0,\,y_i(G_i-b)\bigr)`. So :math:`F`, as a function of :math:`b` alone, is convex
# and consists of straight pieces that meet at the :math:`G_i`. The slope of :math:`F` is :math:`C` times the number of
# negative examples with :math:`G_i<b`, minus :math:`C` times the number of positive examples with :math:`G_i>b`. A best
# :math:`b` is the least :math:`G_i` above which the slope of :math:`F` is not negative.

# fold: The code of this figure
# alt: The cost F, as a function of b, is convex. The best b is at its lowest point; the middle of the overlap is
#     further right.
at = moments[10]
G = problem.gradient(at)
offsets = np.linspace(-1.5, 1.5, 400)
slacks = np.maximum(0.0, data.y * (G - offsets[:, None]))
curve = at @ (problem.v - G) / 2 + 2.0 * slacks.sum(axis=1)
middle = problem.intercept(at, G)
lowest = float(G[np.argmin(np.maximum(0.0, data.y * (G - G[:, None])).sum(axis=1))])
figure, axes = plt.subplots(figsize=(6.4, 3.2))
axes.plot(offsets, curve, color=POSITIVE, label="$F$ after 10 steps")
axes.axvline(middle, color=INK, lw=1, label="the middle of the overlap")
axes.axvline(lowest, color=INK, lw=1, ls="--", label="the best $b$")
axes.set(xlabel="$b$", ylabel="$F$")
axes.legend(frameon=False)
plt.show()
print(f"middle {middle:.4f}, best {lowest:.4f}; F at its best {problem.primal_objective(at, gradient=G):.4f}")

# %%
# .. shipped:: core/primal.py
#    :object: best_intercept
#
# LIBSVM and most textbooks take the mean of :math:`G_i` over the free variables as :math:`b`. How far are middle and
# mean from the exact :math:`b`?

limit = solve(wide, stop=KKTGap(1e-10)).intercept
for tol in (1e-1, 1e-2, 1e-3):
    run = solve(wide, step=NewtonStep(), stop=KKTGap(tol), shrinking=False)
    mean = run.gradient[(wide.lower < run.alpha) & (run.alpha < wide.upper)].mean()
    print(f"tolerance {tol:5g}: middle {abs(run.intercept - limit):.1e}, mean {abs(mean - limit):.1e} from b")

# %%
# On this set the middle of the overlap and the mean are about equally near to the exact :math:`b`. The middle breaks no
# condition by more than :math:`\psi/2`; the mean may break a condition by more.
#
# At an optimum without a free support vector, the lowest part of the curve of :math:`F` over :math:`b` is usually flat.
# Every :math:`b` from the largest :math:`G_i` of a variable that may rise to the smallest :math:`G_i` of a variable
# that may fall is optimal. The package and LIBSVM take the middle of this interval:

# fold: The code of this figure
# alt: The cost F, as a function of b, falls, is flat over a shaded interval, and rises. A line marks the middle of the
#     interval, the intercept of the package.
even = np.concatenate([np.flatnonzero(data.y < 0)[:20], np.flatnonzero(data.y > 0)[:20]])
stiff = DualProblem.classification(data.X[even], data.y[even], kernel=RBF(gamma=0.5), C=0.01)
end = solve(stiff, stop=KKTGap(1e-9))
low, high = end.gradient[end.alpha < stiff.upper].max(), end.gradient[end.alpha > stiff.lower].min()
offsets = np.linspace(low - 0.4, high + 0.4, 400)
losses = np.maximum(0.0, stiff.v * (end.gradient - offsets[:, None])).sum(axis=1)
figure, axes = plt.subplots(figsize=(6.4, 3.0))
axes.plot(offsets, end.alpha @ (stiff.v - end.gradient) / 2 + 0.01 * losses, color=POSITIVE, label="$F$")
axes.axvspan(low, high, color="0.92", lw=0, label="every $b$ here is valid")
axes.axvline(end.intercept, color=INK, lw=1, label="$b$ of the package")
axes.set(xlabel="$b$", ylabel="$F$")
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()
count = ((stiff.lower < end.alpha) & (end.alpha < stiff.upper)).sum()
print(f"{count} free support vectors; b from {low:.3f} to {high:.3f}, the package takes {end.intercept:.3f}")

# %%
# The objective rises, the gap does not fall
# ------------------------------------------
#
# Each step raises :math:`f`, but :math:`\psi` falls only in the long run, because a step that makes one pair optimal
# can increase the violation of other pairs.

# fold: The code of this figure
# alt: Over the steps of two runs, the KKT gap jumps and falls only in the long run. The distance of the objective from
#     its maximum never rises.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
for selector, colour in ((MostViolatingPair(), NEGATIVE), (None, POSITIVE)):
    seen = [(s.gap, best - s.objective) for s in iterate(wide, selector=selector, step=NewtonStep())]
    gaps, missing = np.array(seen).T
    name = "SecondOrder" if selector is None else "MostViolatingPair"
    left.semilogy(np.arange(1, len(gaps) + 1), gaps, color=colour, lw=0.8, label=f"{name}: {len(gaps)} steps")
    right.semilogy(np.arange(1, len(gaps) + 1), missing, color=colour, lw=1.5, label=name)
left.axhline(1e-3, color=INK, lw=0.8, ls=":", label=r"$\varepsilon=10^{-3}$")
left.set(xlabel="steps", ylabel=r"KKT gap $\psi$")
right.set(xlabel="steps", ylabel=r"what the objective still lacks, $f^*-f$")
left.legend(frameon=False)
right.legend(frameon=False)
plt.show()

# %%
# Other reasons to stop
# ---------------------
#
# ``WorkingSetGap``, the rule of the paper on maximum gain (:doc:`chapter 7 <07_which_pair>`), also stops after a short
# step, but a step may be short because a bound is near. With this rule, the second run below ends while :math:`\psi` is
# far above the tolerance.
#
# .. shipped:: core/stopping/working_set_gap.py
#    :object: WorkingSetGap.check
#
# Two more rules stop when the *sign* of one decision value is certain, often before the optimum (:doc:`chapter 12
# <12_a_sign_is_enough>`). A limit on steps or seconds, a callback and Ctrl-C also end a solve. ``solve`` returns a
# solution, whose status says why the solve ended (Ctrl-C raises an exception that holds the solution):

print(solve(wide, max_iter=50, shrinking=False).status.value)
many = make_banana(400, rng=0)
flat = DualProblem.classification(many.X, many.y, kernel=RBF(gamma=0.05), C=10.0)
early = solve(flat, step=NewtonStep(), stop=WorkingSetGap(1e-3), shrinking=False)
print(f"{early.reason} KKT gap {early.kkt_gap:.3f}")

# %%
# .. admonition:: Known elsewhere as
#
#    The conditions are the *KKT conditions*. LIBSVM writes :math:`\psi` as :math:`m(\alpha)-M(\alpha)` and stops when
#    this difference is below ``eps``.
#
# Exercises
# ---------
#
# 1. ★ Show that the middle :math:`b` breaks each condition by at most :math:`\psi/2`.
# 2. ★ Train on the heart data until :math:`\psi\le0.1`. How many of the *predictions* on the training set differ from
#    the predictions after training until :math:`\psi\le10^{-6}`?
# 3. ★★ At the optimum, why is the middle of the overlap a best :math:`b`?
#
# .. fold:: Hints
#
# 1. Write :math:`\max_{I_\text{up}}G` and :math:`\min_{I_\text{down}}G` as functions of :math:`b` and :math:`\psi`.
# 2. Compare the signs of ``decision_values`` at both tolerances.
# 3. Which terms of :math:`F-f` differ from zero if :math:`\psi\le0`?
#
# .. endfold::
#
# .. fold:: Answers

rough, fine = (solve(wide, stop=KKTGap(tol)).decision_values for tol in (0.1, 1e-6))
print(f"2. {int((np.sign(rough) != np.sign(fine)).sum())} of {wide.n}")

# %%
# 1. Since :math:`b` is the middle, :math:`\max_{I_\text{up}}G=b+\psi/2` and :math:`\min_{I_\text{down}}G=b-\psi/2`.
# 2. A sign can differ only where :math:`h` is nearly zero.
# 3. With :math:`\psi\le0` the middle breaks no condition, so every term of :math:`F-f` is zero and :math:`F=f`. By weak
#    duality no :math:`b` gives a smaller :math:`F`.
#
# .. endfold::
#
# .. shipped:: core/stopping/working_set_gap.py
#    :twin:
#    :fold: The whole of WorkingSetGap
#
# .. shipped:: core/stopping/base.py
#    :fold: What a stopping rule is
