r"""
7 · Which pair
==============

The best pair is too expensive to find, and the steepest pair need not be the best. This chapter draws the gain of every
pair as a map, shows which part of the map each selector examines, and presents four examples on which a plausible rule
gets stuck. Glasmachers and Igel (2006) published the maximum-gain rules, and Fan, Chen and Lin (2005) second-order
selection.
"""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm

from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    ImprovedSMO,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    SecondOrder,
    iterate,
    solve,
)
from refsvm.core.selectors.gain import exact_gain
from refsvm.datasets import load, make_banana
from refsvm.display import ConvergenceDisplay, WorkingSetDisplay
from refsvm.display.canvas import PALETTE

plt.rcParams.update({
    "figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=PALETTE),
})  # fmt: skip
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# Steep or flat
# -------------
#
# For two pairs, the figure shows the gain of a step over its length. The first gain rises steeply but soon bends down,
# because its curvature is large. The second gain rises less steeply but reaches a higher top. Which pair would you
# take?

# fold: The code of this figure
# alt: Over the length of the step, a steep parabola has a low top after a short step, and a flat parabola has a higher
#     top further out.
lengths = np.linspace(0.0, 2.6, 200)
figure, axes = plt.subplots(figsize=(6.4, 3.0))
for ell, q, colour, name in ((2.0, 4.0, NEGATIVE, "steep and short"), (1.2, 0.6, POSITIVE, "flat and long")):
    rise = lengths * ell - q * lengths**2 / 2
    axes.plot(lengths[rise > -0.2], rise[rise > -0.2], color=colour, lw=2, label=name)
    axes.plot(ell / q, ell**2 / q / 2, "o", color=colour, ms=7)
    print(f"{name}: slope {ell}, curvature {q}, top at {ell / q:.1f}, gain there {ell**2 / q / 2:.1f}")
axes.axhline(0.0, color="0.7", lw=0.8)
axes.set(xlabel=r"step length $\mu$", ylabel=r"gain $g(\mu)$")
axes.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Take the pair whose gain has the higher top, :math:`\tfrac12\ell^2/q`, whatever its slope.
#
# The map of gains
# ----------------
#
# A step on :math:`(i,j)` gains :math:`g(\mu)=\mu\ell-\tfrac12q\mu^2` (:doc:`chapter 4 <04_one_step>`). The *exact* gain
# is the gain of the step that the box allows; the Newton step would gain :math:`\tilde g=\tfrac12\ell^2/q`. The map
# shows the exact gain of every pair of sixty examples after twenty steps.

# fold: The code of this figure
# alt: A map of all pairs is coloured by exact gain. The most violating pair is the upper right corner of the coloured
#     part. Second order chooses a pair in the row of this corner; maximum gain and the greedy rule choose pairs in its
#     column.
small = make_banana(60, rng=1)
few = DualProblem.classification(small.X, small.y, kernel=RBF(gamma=0.5), C=10.0)
for state in iterate(few, step=NewtonStep(), cache_mb=np.inf):
    if state.iteration == 20:
        break

G, alpha, K = state.gradient, state.alpha, few.gram.block(np.arange(60))
slope = G[:, None] - G
curvature = K.diagonal()[:, None] + K.diagonal() - 2 * K + 1e-12 * np.eye(60)
room = np.minimum((few.upper - alpha)[:, None], alpha - few.lower)
gain = exact_gain(slope, curvature, room) / 2

order = np.argsort(-G)
place = np.argsort(order)
figure, axes = plt.subplots(figsize=(6, 5.6))
image = axes.imshow(
    np.where(np.isfinite(gain), gain, np.nan)[np.ix_(order, order)], cmap="viridis", norm=PowerNorm(0.4)
)
figure.colorbar(image, ax=axes, label="exact gain; blank: no gain", shrink=0.8)
for selector, marker, colour in (
    (MostViolatingPair(), "s", "white"),
    (SecondOrder(), "o", "#E69F00"),
    (MaximumGain(), "^", "#CC79A7"),
    (Greedy(), "*", "#D55E00"),
):
    i, j = selector.select(state)
    axes.plot(place[j], place[i], marker, mfc=colour, mec=INK, ms=10, ls="", label=type(selector).__name__)
    print(
        f"{type(selector).__name__:18s} ({i:2d}, {j:2d})  slope {slope[i, j]:.2f}"
        f"  Newton gain {slope[i, j] ** 2 / curvature[i, j] / 2:6.2f}  exact gain {gain[i, j]:.2f}"
    )
axes.set(xlabel="j, which falls (by $G$, descending)", ylabel="i, which rises (by $G$, descending)")
figure.legend(loc="outside lower center", ncols=2)
plt.show()
print("previous working set", state.working_sets[0])

# %%
# What each rule looks at
# -----------------------
#
# =====================  ===================================  ======================  =================
# selector               pairs compared                       compared by             kernel rows read
# =====================  ===================================  ======================  =================
# ``MostViolatingPair``  none: it is known from the gradient  slope :math:`\ell`      none
# ``SecondOrder``        its :math:`i` with every :math:`j`   :math:`\tilde g`        row :math:`i`
# ``MaximumGain``        the previous two with every other    exact gain              the previous two
# ``HybridMaximumGain``  the same, except in corners          exact gain              the previous two
# ``Greedy``             all                                  exact gain              all
# =====================  ===================================  ======================  =================
#
# ``MostViolatingPair`` takes the steepest pair, in the upper right corner of the map's coloured part.
#
# .. shipped:: core/selectors/most_violating_pair.py
#    :twin:
#
# ``SecondOrder`` keeps the :math:`i` of the steepest pair and searches row :math:`i` of the map for the largest
# :math:`\tfrac12\ell^2/q`. This Newton gain is the exact gain if the box does not cut the step. The search needs only
# the kernel row of :math:`i`, which the step needs anyway. It includes the most violating :math:`j`, whose slope is
# :math:`\psi`. So if :math:`D^2` is the largest curvature of a pair, the chosen pair has
#
# .. math:: \tfrac12\,\ell^2/q \;\ge\; \tfrac12\,\psi^2/D^2 .
#
# With this bound :doc:`chapter 9 <09_does_it_end>` proves that the loop ends.


def second_order(K, G, alpha, lower, upper):
    """Return i, the highest that may rise, and the j with the largest Newton gain."""
    i = int(np.argmax(np.where(alpha < upper, G, -np.inf)))
    slope, q = G[i] - G, np.maximum(K[i, i] + K.diagonal() - 2.0 * K[i], 1e-12)
    gain = np.where((alpha > lower) & (slope > 0.0), slope**2 / q, -np.inf)
    return i, int(np.argmax(gain))


# %%
# In how many steps does another :math:`j` have a larger exact gain than the :math:`j` with the largest Newton gain?

# fold: Newton gain and exact gain
for C in (0.1, 1.0, 10.0):
    each, ratios = DualProblem.classification(small.X, small.y, kernel=RBF(gamma=0.5), C=C), []
    for s in iterate(each, step=NewtonStep()):
        i, j = second_order(K, s.gradient, s.alpha, each.lower, each.upper)
        q, space = curvature[i], np.minimum(each.upper[i] - s.alpha[i], s.alpha - each.lower)
        exact = exact_gain(s.gradient[i] - s.gradient, q, space)
        ratios.append(exact[j] / exact.max())
        assert (s.gradient[i] - s.gradient[j]) ** 2 / q[j] >= s.gap**2 / curvature.max() - 1e-9
    other, share = np.mean(np.array(ratios) < 1.0), np.mean(ratios)
    print(f"C = {C:4g}: in {other:.0%} of the steps; the chosen j has {share:.0%} of the best gain")

# %%
# If :math:`C` is small, the box often cuts the step, but the :math:`j` with the largest Newton gain still has nearly
# the largest exact gain.
#
# ``MaximumGain`` searches the rows and columns of the two variables that have just moved, whose kernel rows are in
# memory. So the next step computes at most *one* new row.


def maximum_gain(K, G, alpha, lower, upper, last):
    """Return the pair of largest exact gain among those with a variable of the last pair, or (-1, -1)."""
    best, pair = 0.0, (-1, -1)
    for k in last:
        slope, q = np.abs(G[k] - G), np.maximum(K[k, k] + K.diagonal() - 2.0 * K[k], 1e-12)
        rises = G[k] > G  # the variable with the larger gradient rises
        room = np.where(
            rises,
            np.minimum(upper[k] - alpha[k], alpha - lower),
            np.minimum(upper - alpha, alpha[k] - lower[k]),
        )
        mu = np.minimum(slope / q, room)
        gain = mu * (2.0 * slope - mu * q)  # twice g(μ), which changes no comparison
        t = int(np.argmax(gain))
        if gain[t] > best:
            best, pair = gain[t], (k, t) if rises[t] else (t, k)
    return pair


now = K, G, alpha, few.lower, few.upper
print("as the package chooses:", second_order(*now) == SecondOrder().select(state))
print(
    "as the package chooses:",
    maximum_gain(*now, state.working_sets[0].tolist()) == MaximumGain().select(state),
)

# %%
# ``Greedy`` examines the whole map, which is too expensive except for comparisons.
#
# .. shipped:: core/selectors/second_order.py
#    :twin:
#    :fold: SecondOrder in the package
#
# .. shipped:: core/selectors/maximum_gain.py
#    :twin:
#    :fold: MaximumGain in the package
#
# .. shipped:: core/selectors/greedy.py
#    :twin:
#    :fold: Greedy in the package
#
# .. shipped:: core/selectors/gain.py
#    :fold: The exact gain
#
# One example after another
# -------------------------
#
# To find the steepest pair a solver needs all of :math:`G`. To update one :math:`G_i` after a step, it needs two kernel
# values. The first SMO, by Platt (1998), kept :math:`G` of the free examples only. It alternated a pass over all
# examples with passes over the free examples. An example that violated its KKT condition became one half of the pair.
# The other half was, if possible, the free example whose :math:`G` differed most from the :math:`G` of the first half.
#
# Platt compared each :math:`G_i` with an estimate of :math:`b`, so even at an optimal :math:`\alpha` an example could
# look like a violator. Keerthi, Shevade, Bhattacharyya and Murthy (2001) replaced :math:`b` by two examples: *up* has
# the largest known :math:`G` of an example that may rise, and *down* the smallest known :math:`G` of an example that
# may fall. In their second modification, after each pass over all examples the solver moves the current pair (up, down)
# until its violation is within the tolerance. A solver that stores all of :math:`G` needs no passes.
#
# ``ImprovedSMO`` selects the pairs of the second modification, and counts the kernel values that Keerthi's solver would
# compute. Each step needs two kernel values for each known :math:`G_i`. Examining a bounded example needs one kernel
# value for each support vector. Without memory for rows, ``MostViolatingPair`` computes two whole rows in each step.

points = make_banana(150, rng=0)
print("     C  selector           steps   kernel values, in rows")
for C in (1.0, 30.0, 300.0):
    each = DualProblem.classification(points.X, points.y, kernel=RBF(gamma=0.5), C=C)
    for selector in (ImprovedSMO(), MostViolatingPair()):
        *_, state = iterate(each, selector=selector, step=NewtonStep())
        values = (
            selector.kernel_values(state)
            if isinstance(selector, ImprovedSMO)
            else 2 * each.n * state.iteration
        )
        print(f"{C:6.0f}  {type(selector).__name__:17s} {state.iteration:6d}   {values / each.n:8.0f}")

# %%
# With a small :math:`C` most examples are support vectors, and ``ImprovedSMO`` needs more kernel values than
# ``MostViolatingPair``. With a large :math:`C` few examples are free here, so ``ImprovedSMO`` needs fewer kernel
# values, although it takes more steps.
#
# .. shipped:: core/selectors/improved_smo.py
#    :twin:
#    :fold: ImprovedSMO in the package
#
# How fast does each selector reduce :math:`\psi` on the forty points of the stepper?
#
# .. stepper::
#    :selector: second-order
#
# Steps and rows
# --------------
#
# With the whole matrix in memory, the solver computes each kernel row once. With less memory it drops rows, and may
# compute them again. In the next table memory holds a twentieth of each problem's rows:

problems = {
    "banana": (make_banana(400, rng=0), 100.0, 0.25),
    "tic_tac_toe": (load("tic_tac_toe"), 200.0, 0.02),
    "ionosphere": (load("ionosphere"), 3.0, 0.4),
}
selectors = MostViolatingPair(), SecondOrder(), HybridMaximumGain()


def budget(n, rows):
    """Return the MiB that hold this many of n kernel rows, and half a row to be safe."""
    return (rows + 0.5) * 8 * n / 2**20


runs = {}
print(f"{'problem':13s}{'selector':20s}   steps   rows  rows a step  median kernel value")
for name, (sample, C, gamma) in problems.items():
    n = len(sample.y)
    sampled = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma), C=C)
    median = np.median(RBF(gamma)(sample.X, sample.X)[np.triu_indices(n, k=1)])
    for selector in selectors:
        run = solve(sampled, selector=selector, step=NewtonStep(), shrinking=False, cache_mb=budget(n, n // 20),
                    trace=True)  # fmt: skip
        runs[name, type(selector).__name__] = run
        print(
            f"{name:13s}{type(selector).__name__:20s} {run.iterations:7d} {run.kernel_rows:6d}"
            f" {run.kernel_rows / run.iterations:10.2f} {median:15.3f}"
        )

# %%
# On tic-tac-toe and ionosphere the hybrid takes more steps than second-order selection. It computes fewer rows on
# tic-tac-toe, and more on ionosphere. The kernel for ionosphere is narrow: its median value for two examples is nearly
# zero. So a step hardly changes most entries of :math:`G`, but brings the two entries of its own pair together. Moving
# a variable of this pair again usually gains less than this step. Glasmachers and Igel warn against such repeated moves
# if the kernel is narrow, or so wide that most variables end at a bound (§4.3).
#
# The figure shows the runs on tic-tac-toe; thick lines show the smallest gap so far:

# fold: The code of this figure
# alt: Two panels show the KKT gap on tic-tac-toe for three selectors, over steps and over computed kernel rows.
#     Second-order selection needs the fewest steps, the hybrid the fewest rows.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True)
for axes, against in ((left, "iterations"), (right, "rows")):
    chosen = {type(rule).__name__: runs["tic_tac_toe", type(rule).__name__] for rule in selectors}
    ConvergenceDisplay.from_solutions(chosen, metric="gap", against=against, ax=axes)
right.set_ylabel("")
plt.show()

# %%
# Four points on which maximum gain gets stuck
# --------------------------------------------
#
# A rule that always reselects one of the last two variables may get stuck. Glasmachers and Igel prove their Theorem 7
# with the following matrix of all :math:`y_iy_jK_{ij}`, and with variables :math:`a_i=y_i\alpha_i\in[0,C]`.

root = np.sqrt(3.0)
printed = np.array([[2, root, 1, root], [root, 4, root, 3], [1, root, 2, root], [root, 3, root, 4]])
y = np.array([-1, -1, 1, 1])
four = DualProblem.classification(np.outer(y, y) * printed, y, kernel=Precomputed(), C=0.1)

for selector in (MaximumGain(), HybridMaximumGain()):
    solution = solve(four, selector=selector, stop=KKTGap(1e-9), shrinking=False, trace=True)
    steps = list(zip(solution.trace["i"].tolist(), solution.trace["j"].tolist(), strict=True))
    print(f"{type(selector).__name__}: a = {(y * solution.alpha).round(4) + 0.0}, working sets {steps}")
    print(f"    KKT gap {solution.kkt_gap:.2g}. {solution.status.value}")

# %%
# In the stepper above, choose "Theorem 7" as examples and "maximum gain" as pair.
#
# Maximum gain and its hybrid both start with the most violating pair; the lowest index wins a tie. The first step is
# clipped, and both variables end at :math:`C`. Then only one of the six pairs gains, and this pair contains neither
# variable of the first step:

# fold: The code of this figure
# alt: A box belongs to a pair that maximum gain does not compare. The feasible line runs from the upper left to the
#     lower right corner, and the Newton step ends just before the lower right corner.
stuck = next(iterate(four, selector=MaximumGain()))
fall, rise = stuck.alpha > stuck.lower, stuck.alpha < stuck.upper
for first in range(4):
    for second in range(first + 1, 4):
        ways = [(i, j) for i, j in ((first, second), (second, first)) if rise[i] and fall[j]]
        uphill = max([stuck.gradient[i] - stuck.gradient[j] for i, j in ways], default=0.0)
        seen = "related to the previous set" if {first, second} & {0, 2} else "not related"
        print(f"pair {{{first}, {second}}}: largest slope uphill {max(uphill, 0.0):.3f}, {seen}")

figure, axes = plt.subplots(figsize=(6.4, 4.1))
WorkingSetDisplay.from_state(stuck, 3, 1, ax=axes)
axes.set_title("the step that maximum gain cannot see")
plt.show()

# %%
# If *both* variables of the previous working set stand at a bound, ``HybridMaximumGain`` takes the most violating pair,
# which gains unless the point is optimal. On the four points the hybrid finds the pair that maximum gain does not
# compare.


def hybrid_maximum_gain(K, G, alpha, lower, upper, last):
    """Return the pair of maximum gain, or the most violating pair if both variables of the last pair are at bounds."""
    if all(alpha[k] in (lower[k], upper[k]) for k in last):
        i = int(np.argmax(np.where(alpha < upper, G, -np.inf)))
        j = int(np.argmin(np.where(alpha > lower, G, np.inf)))
        return (i, j) if G[i] > G[j] else (-1, -1)
    return maximum_gain(K, G, alpha, lower, upper, last)


there = four.gram.block(np.arange(4)), stuck.gradient, stuck.alpha, four.lower, four.upper
print("maximum gain:", maximum_gain(*there, [2, 0]), " the hybrid:", hybrid_maximum_gain(*there, [2, 0]))

# %%
# .. shipped:: core/selectors/hybrid_maximum_gain.py
#    :twin:
#    :fold: HybridMaximumGain in the package
#
# Maximum gain gets stuck only in corners, where both variables of the previous set stand at a bound: if a variable of
# this set is free and the point is not optimal, a pair with this variable gains (Lemma 8). Glasmachers and Igel checked
# the lemma by computer in 2,834,352 cases, as do this package's tests. To prove the lemma, let variable :math:`r` be
# free and suppose no pair with :math:`r` gains. Then :math:`G_t\le G_r` for every :math:`t` that may rise and
# :math:`G_t\ge G_r` for every :math:`t` that may fall, so :math:`\psi\le0`. Hence the hybrid never gets stuck before
# the optimum, but its gains might shrink to zero. Theorem 1 of Glasmachers and Igel (2006) proves that the hybrid
# converges if all principal :math:`2\times2` minors of :math:`K` are positive.
#
# With a small :math:`C` corners are common, because most variables end at a bound. How often does each rule get stuck
# on the banana with :math:`C=0.1`, in ten orders of the examples?

data = problems["banana"][0]
ended = {"MaximumGain": [], "HybridMaximumGain": []}
for seed in range(10):
    mixed = np.random.default_rng(seed).permutation(400)
    shuffled = DualProblem.classification(data.X[mixed], data.y[mixed], kernel=RBF(0.25), C=0.1)
    for selector in (MaximumGain(), HybridMaximumGain()):
        ended[type(selector).__name__].append(
            solve(shuffled, selector=selector, step=NewtonStep(), shrinking=False)
        )
for name, solutions in ended.items():
    stalled = sum(solution.status.name == "STALLED" for solution in solutions)
    largest = max(solution.kkt_gap for solution in solutions)
    print(f"{name:18s} stalled in {stalled:2d} of 10 orders, largest KKT gap at the end {largest:.2g}")

# %%
# In floating point, a pair at its maximum still shows a tiny gain, a rounding error. If the largest gain is only
# rounding error, ``HybridMaximumGain`` and ``Greedy`` take the most violating pair.
#
# .. worth:: 7
#
#    On four sets the hybrid computes fewer rows than second order, but a row of these sets is cheap, and searching two
#    rows costs more than searching one. On ionosphere the hybrid saves no rows.
#
# .. admonition:: Known elsewhere as
#
#    Choosing a pair is *working set selection*, WSS. Fan, Chen and Lin call the most violating pair WSS 1 and
#    second-order selection WSS 2 (WSS 3 where it replaces :math:`q\le0`). Choosing the pair with the largest gain is
#    *greedy coordinate ascent* on pairs.
#
# Exercises
# ---------
#
# 1. ★ How many steps does each of the five selectors take on the examples of the map? Guess the order first.
# 2. ★ ``HybridMaximumGain(rows="all")`` examines every row in memory, ``rows=1`` only the row of one previous variable.
#    How many steps does the rule take with each option on tic-tac-toe?
# 3. ★★ Let memory hold all 400 rows of the banana. Which rows do second-order selection and the hybrid compute now?
#
# .. fold:: Hints
#
# 1. Which selector compares all pairs?
# 2. By default, memory keeps every computed row.
# 3. A step needs only the rows of its two examples. How many examples ever move?
#
# .. endfold::
#
# .. fold:: Answers

taken = {
    type(rule).__name__: solve(few, selector=rule, step=NewtonStep(), shrinking=False).iterations
    for rule in (MostViolatingPair(), SecondOrder(), MaximumGain(), HybridMaximumGain(), Greedy())
}


def mean_share(rule):
    """Return the pair's exact gain as a share of the largest exact gain, in the mean over a run."""
    shares, alpha, G = [], np.zeros(60), few.v
    for state in iterate(few, selector=rule, step=NewtonStep()):
        room = np.minimum((few.upper - alpha)[:, None], alpha - few.lower)
        gains = exact_gain(G[:, None] - G, curvature, room)
        shares.append(gains[tuple(state.working_sets[0])] / gains.max())
        alpha, G = state.alpha.copy(), state.gradient.copy()
    return np.mean(shares)


shares = {
    type(rule).__name__: mean_share(rule)
    for rule in (MostViolatingPair(), SecondOrder(), MaximumGain(), HybridMaximumGain(), Greedy())
}
for name in sorted(taken, key=taken.get, reverse=True):
    print(
        f"1. {name:18s} {taken[name]:4d} steps, each with {shares[name]:4.0%} of the largest gain, in the mean"
    )
assert shares["SecondOrder"] > shares["MaximumGain"] > shares["MostViolatingPair"]
assert taken["MaximumGain"] == taken["HybridMaximumGain"] > taken["SecondOrder"] > taken["Greedy"]
sample, C, gamma = problems["tic_tac_toe"]
sampled = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma), C=C)
for rows in (1, 2, "all"):
    run = solve(sampled, selector=HybridMaximumGain(rows=rows), step=NewtonStep(), shrinking=False)
    print(f"2. rows={rows!r}: {run.iterations} steps")
sampled = DualProblem.classification(data.X, data.y, kernel=RBF(0.25), C=100.0)
for selector in (SecondOrder(), HybridMaximumGain()):
    run = solve(sampled, selector=selector, step=NewtonStep(), shrinking=False, trace=True)
    ever = len(np.union1d(run.trace["i"], run.trace["j"]))
    print(f"3. {type(selector).__name__}: {run.kernel_rows} rows computed, {ever} examples ever moved")

# %%
# 1. ``Greedy`` needs the fewest steps and examines every pair in each step. ``MaximumGain`` and its hybrid take equally
#    many steps here, and more than ``SecondOrder``. Both maximum-gain rules compare about twice as many pairs as
#    ``SecondOrder``, but only pairs with a variable that has just moved. On average their steps gain a smaller share of
#    the largest gain than the steps of ``SecondOrder``.
# 2. The more rows the hybrid examines, the fewer steps it takes here, but the more each step costs.
# 3. Both selectors compute one row for each example that ever moved.
#
# .. endfold::
#
# .. shipped:: core/selectors/base.py
#    :fold: What a selector is
