r"""
Which pair moves
================

Two rules decide how a solver walks: which pair of variables moves next, and how far. This tutorial is about the
first. It compares what each selector looks at and what that costs in *kernel rows*, shows four examples on which a
plausible rule gets stuck, and how a hybrid of two rules gets out. The selectors are those of T. Glasmachers and
C. Igel, *Maximum-gain working set selection for SVMs* (2006). The symbols are those of the page :doc:`/notation`; the
loop itself is the subject of :doc:`the first tutorial <01_first_svm>`.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    SecondOrder,
    iterate,
    solve,
)
from refsvm.datasets import load, make_banana, make_waveform
from refsvm.display import ConvergenceDisplay, WorkingSetDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)

# %%
# What a step on a pair gains
# ---------------------------
#
# A step of length :math:`\mu` on the working set :math:`(i,j)` raises :math:`\alpha_i` and lowers
# :math:`\alpha_j`. The objective changes by
#
# .. math:: g(\mu) = \mu\,\ell - \tfrac12 q\,\mu^2, \qquad \ell = G_i - G_j, \qquad q = K_{ii}+K_{jj}-2K_{ij}.
#
# The top of this parabola is the Newton step :math:`\hat\mu=\ell/q`, and its gain :math:`\tilde g=\tfrac12\ell^2/q`.
# But the box may end before. In the plane of the two variables it looks like this: the sum of the two is fixed, so
# the point moves along a line, as far as to where the line touches a contour of :math:`f`, or to the edge of the box.

data = make_banana(400, rng=0)
problem = DualProblem.classification(data.X, data.y, kernel=RBF(gamma=0.25), C=100.0)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.6))
moments = {35: (left, "a free step"), 33: (right, "a clipped step")}
for state in iterate(problem, step=NewtonStep()):
    if state.iteration in moments:
        axes, title = moments.pop(state.iteration)
        i, j = SecondOrder().select(state)
        WorkingSetDisplay.from_state(state, i, j, ax=axes)
        axes.set_title(title)
    if not moments:
        break
plt.show()

# %%
# What each rule looks at
# -----------------------
#
# ``iterate`` selects with ``SecondOrder`` unless told otherwise, so these were the pairs about to move. (The step is
# the Newton step, cut off at the box, all through this tutorial.) Other rules would have chosen other pairs:
#
# =====================  ===================================  ======================  =================
# selector               pairs compared                       compared by             kernel rows read
# =====================  ===================================  ======================  =================
# ``MostViolatingPair``  none: it is known from the gradient  violation :math:`\ell`  none
# ``SecondOrder``        its :math:`i` with every :math:`j`   :math:`\tilde g`        that of :math:`i`
# ``MaximumGain``        the previous two with every other    exact gain              the previous two
# ``HybridMaximumGain``  the same, except in corners          exact gain              the previous two
# ``Greedy``             all                                  exact gain              all
# =====================  ===================================  ======================  =================
#
# The exact gain is that of the clipped step. Each rule may be asked at any state, so here they are at one and the same:


def gains(state, i, j):
    """Return the gain of the Newton step on (i, j), and of the clipped one."""
    (Kii, Kij), (_, Kjj) = problem.gram.block(np.array([i, j]), np.array([i, j]))
    slope, curvature = state.gradient[i] - state.gradient[j], Kii + Kjj - 2 * Kij
    newton = slope / curvature
    clipped = min(newton, state.upper[i] - state.alpha[i], state.alpha[j] - state.lower[j])
    return [mu * slope - curvature * mu**2 / 2 for mu in (newton, clipped)]


state = next(state for state in iterate(problem, step=NewtonStep(), cache_mb=np.inf) if state.iteration == 90)
print("previous working set", state.working_sets[0])
print(f"{'selector':20s}    i    j  violation  Newton gain  exact gain")
for selector in (MostViolatingPair(), SecondOrder(), MaximumGain(), Greedy()):
    i, j = selector.select(state)
    newton, exact = gains(state, i, j)
    violation = state.gradient[i] - state.gradient[j]
    print(f"{type(selector).__name__:20s} {i:4d} {j:4d} {violation:10.2f} {newton:12.2f} {exact:11.2f}")

# %%
# Each takes the best of its pairs by its own measure. The steepest direction is not the one that gains most, because it
# may be strongly curved; a Newton gain may be cut down by the box, as in the last line; and to find the best of all
# pairs takes the whole matrix. ``MaximumGain`` measures what is really gained, but only for pairs that contain a
# variable of the set before.
#
# Kernel rows are the cost
# ------------------------
#
# Why should one want such a narrow choice? A step needs the rows of :math:`K` of its two variables, to update the
# gradient. Computing a row of :math:`n` entries takes about :math:`nd` multiplications for :math:`d` features and
# :math:`n` exponentials; everything else in a step is a few passes over :math:`n` numbers:

wave = make_waveform(2000, rng=0)
waves = DualProblem.classification(wave.X, wave.y, kernel=RBF(gamma=0.05), C=1.0)
began = time.perf_counter()
for i in range(300):
    waves.gram.block(np.array([i]))
row_time = (time.perf_counter() - began) / 300

K = waves.gram.block(np.arange(2000))
in_memory = DualProblem.classification(K, wave.y, kernel=Precomputed(), C=1.0)
solve(in_memory, step=NewtonStep(), shrinking=False, max_iter=1)  # so that compiling is not measured
solution = solve(in_memory, step=NewtonStep(), shrinking=False)
step_time = solution.seconds / solution.iterations
print(
    f"n = 2000, d = 21: {1e6 * row_time:.0f} us for a kernel row, {1e6 * step_time:.0f} us for the rest of a step"
)

# %%
# As long as the whole matrix fits into memory, each row is computed once and the cost is forgotten. Where it does
# not fit, rows are dropped and computed again, and a rule that moves on to two new variables pays for two rows. The
# rows of the previous working set are in memory, because that step has just used them. So maximum gain computes *at
# most one* row a step.
#
# Here are three problems, with a budget for one row in twenty:

problems = {
    "banana": (data, 100.0, 0.25),
    "tic_tac_toe": (load("tic_tac_toe"), 200.0, 0.02),
    "ionosphere": (load("ionosphere"), 3.0, 0.4),
}
selectors = (MostViolatingPair(), SecondOrder(), HybridMaximumGain())


def budget(n, rows):
    """Return the MiB that hold this many of n kernel rows, and half a row to be safe."""
    return (rows + 0.5) * 8 * n / 2**20


runs = {}
print(f"{'problem':13s}{'selector':20s}   steps   rows  rows a step")
for name, (sample, C, gamma) in problems.items():
    n = len(sample.y)
    sampled = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma), C=C)
    for selector in selectors:
        run = solve(
            sampled,
            selector=selector,
            step=NewtonStep(),
            shrinking=False,
            cache_mb=budget(n, n // 20),
            trace=True,
        )
        runs[name, type(selector).__name__] = run
        print(
            f"{name:13s}{type(selector).__name__:20s} {run.iterations:7d} {run.kernel_rows:6d}"
            f" {run.kernel_rows / run.iterations:10.2f}"
        )

# %%
# On tic-tac-toe the hybrid takes more steps than second-order selection and computes fewer rows all the same. On the
# ionosphere it takes so many more steps that it loses by either count. The kernel is narrow there: between two
# different examples it is nearly zero, so a step all but settles its two variables, and to move one of them again gains
# little. The paper names two cases in which reselecting is a bad idea (§4.3): this one, and its opposite, a kernel so
# wide that most variables end at a bound.

for name, (sample, _, gamma) in problems.items():
    K = RBF(gamma)(sample.X, sample.X)
    print(f"{name:13s} median kernel value of two examples: {np.median(K[np.triu_indices(len(K), k=1)]):.3f}")

# %%
# Steps and rows are two yardsticks. A display shows a run by either. The thin lines are the gap, the thick ones the
# smallest gap so far:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
for axes, against in ((left, "iterations"), (right, "rows")):
    chosen = {type(rule).__name__: runs["tic_tac_toe", type(rule).__name__] for rule in selectors}
    ConvergenceDisplay.from_solutions(chosen, metric="gap", against=against, ax=axes)
left.get_legend().remove()
right.set_ylabel("")
plt.show()

# %%
# How much the choice matters depends on the memory. The banana once more, from three rows in memory to all 400:

room = (3, 5, 10, 20, 40, 80, 400)
markers = dict(zip(selectors, "so^", strict=True))
figure, axes = plt.subplots(figsize=(6.4, 3.8))
for selector in selectors:
    computed = [
        solve(
            problem, selector=selector, step=NewtonStep(), shrinking=False, cache_mb=budget(400, rows)
        ).kernel_rows
        for rows in room
    ]
    axes.loglog(room, computed, marker=markers[selector], label=type(selector).__name__)
axes.set(xlabel="kernel rows that fit into memory, of 400", ylabel="kernel rows computed")
axes.set_xticks(room, [str(rows) for rows in room])
axes.minorticks_off()
axes.legend(frameon=False)
plt.show()

# %%
# Four points on which maximum gain gets stuck
# --------------------------------------------
#
# To reselect one of the last two variables is a restriction, and with four variables it already bites. Theorem 7 of
# the paper gives this example, in terms of :math:`Q_{ij}=y_iy_jK_{ij}` and :math:`a_i=y_i\alpha_i\in[0,C]`.

root = np.sqrt(3.0)
Q = np.array([[2, root, 1, root], [root, 4, root, 3], [1, root, 2, root], [root, 3, root, 4]])
y = np.array([-1, -1, 1, 1])
C = 0.1
four = DualProblem.classification(np.outer(y, y) * Q, y, kernel=Precomputed(), C=C)

for selector in (MaximumGain(), HybridMaximumGain()):
    solution = solve(four, selector=selector, stop=KKTGap(1e-9), shrinking=False, trace=True)
    steps = list(zip(solution.trace["i"].tolist(), solution.trace["j"].tolist(), strict=True))
    print(f"{type(selector).__name__}: a = {(y * solution.alpha).round(4) + 0.0}, working sets {steps}")
    print(f"    KKT gap {solution.kkt_gap:.2g}. {solution.status.value}")

# %%
# Both start with the most violating pair; of equals the one of lowest index, which is the paper's choice. The step is
# clipped, and both of its variables end at :math:`C`. At that point only one of the six pairs gains anything, and it
# contains neither of them:

stuck = next(iterate(four, selector=MaximumGain()))
fall, rise = stuck.alpha > stuck.lower, stuck.alpha < stuck.upper
for first in range(4):
    for second in range(first + 1, 4):
        uphill = max(
            [
                stuck.gradient[i] - stuck.gradient[j]
                for i, j in ((first, second), (second, first))
                if rise[i] and fall[j]
            ],
            default=0.0,
        )
        seen = "related to the previous set" if {first, second} & {0, 2} else "not related"
        print(f"pair {{{first}, {second}}}: largest slope uphill {max(uphill, 0.0):.3f}, {seen}")

# %%
# The hybrid asks first whether *both* variables of the previous working set stand at a bound. If they do, as here, it
# takes the most violating pair instead, which always gains where anything is to be gained. The second step, on the pair
# that maximum gain cannot see:

figure, axes = plt.subplots(figsize=(5, 4.6))
WorkingSetDisplay.from_state(stuck, 3, 1, ax=axes)
plt.show()

# %%
# (The paper's Figure 5 draws this step into the corner where all :math:`a_i=C`. With the numbers printed there it is
# free and ends a little before, at :math:`(1-\sqrt3/5)/7\approx0.0934`; for any :math:`C` up to
# :math:`1/(7+2\sqrt3)\approx0.0956` it does end in the corner. The line happens to run through the very top of
# :math:`f` in this plane, where a contour is a point.)
#
# Is a corner the only place to get stuck? Yes: if a variable of the previous set is free and the point is not
# optimal, then some pair that contains one of the two gains (Lemma 8). The authors let a computer look at 2 834 352
# cases, and so do the tests of this package. There is a short reason, too. Let :math:`b` be free and suppose no pair
# with :math:`b` gains. Then :math:`G_t\le G_b` for every :math:`t` that may rise and :math:`G_t\ge G_b` for every one
# that may fall, so :math:`\psi\le0`: the point is optimal. Therefore an exception in corners is enough, and with it the
# rule converges (Theorem 1).
#
# Corners are not rare. With a small :math:`C` most variables end at a bound. Here is the banana with :math:`C=0.1`, in
# twenty orders of the examples:

ended = {"MaximumGain": [], "HybridMaximumGain": []}
for seed in range(20):
    order = np.random.default_rng(seed).permutation(400)
    shuffled = DualProblem.classification(data.X[order], data.y[order], kernel=RBF(0.25), C=0.1)
    for selector in (MaximumGain(), HybridMaximumGain()):
        ended[type(selector).__name__].append(
            solve(shuffled, selector=selector, step=NewtonStep(), shrinking=False)
        )
for name, solutions in ended.items():
    stalled = sum(solution.status.name == "STALLED" for solution in solutions)
    largest = max(solution.kkt_gap for solution in solutions)
    print(f"{name:18s} stalled in {stalled:2d} of 20 orders, largest KKT gap at the end {largest:.2g}")

# %%
# What to try next
# ----------------
#
# * Let ``HybridMaximumGain(rows="all")`` look at every row in memory, and ``rows=1`` at one of the two: how many steps
#   does each take on tic-tac-toe, and how long?
# * Solve it with ``shrinking=True``, the default: the solver works on few variables at a time, and more of their rows
#   fit into the same memory. How many rows does each rule compute now?
# * :doc:`The next tutorial <03_planning_ahead>` keeps the selector and changes the length of the step.
