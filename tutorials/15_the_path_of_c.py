r"""
15 · The path of C
==================

The walk of :doc:`chapter 14 <14_straight_lines>` gives the solution for every :math:`C`, and solves a linear system at
each corner. So the errors of cross-validation and leave-one-out become exact functions of :math:`C`. Hastie and others
(2004) published the path; Ong, Shao and Yang (2010) made it work on any data.
"""

# fold: Imports, the data, and the code of this figure
# alt: Three panels show points, boundary and margins at three values of C. Open circles lie beyond their margin, filled
#     diamonds on it, squares on its wrong side. As C grows the squares become few.
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog

from refsvm import RBF, SVMP, Hastie, Linear, regularization_path
from refsvm.analysis.paths import cross_validate_path
from refsvm.core.walk.linear_program import longest_fall
from refsvm.datasets import load, make_banana
from refsvm.display import LOOPathDisplay, ValidationPathDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

heart, banana, kernel = load("heart"), make_banana(60, rng=1), RBF(0.5)
path = regularization_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0)
side = np.linspace(-3.2, 3.2, 90)
grid = np.stack(np.meshgrid(side, side), axis=-1)
figure, row = plt.subplots(1, 3, figsize=(10, 3.9), sharex=True, sharey=True)
for axes, C in zip(row, (0.2, 2.0, 50.0), strict=True):
    share = np.abs(path.alpha(C)) / C
    h = path.decision_function(grid.reshape(-1, 2), C).reshape(90, 90)
    axes.contour(side, side, h, levels=[-1, 0, 1], colors=INK, linewidths=[0.8, 1.6, 0.8],
                 linestyles=["--", "-", "--"])  # fmt: skip
    for label, colour in ((-1, NEGATIVE), (1, POSITIVE)):
        for name, members, marker, face in (
            ("right", share == 0, "o", "none"),
            ("elbow", (share > 0) & (share < 1), "D", colour),
            ("left", share == 1, "s", "0.75"),
        ):
            chosen = members & (banana.y == label)
            axes.scatter(
                *banana.X[chosen].T,
                marker=marker,
                facecolor=face,
                edgecolor=colour,
                s=28,
                label=f"{name}, {label:+d}",
            )
    axes.plot([], [], color=INK, lw=1.6, label="$h=0$")
    axes.plot([], [], "--", color=INK, lw=0.8, label=r"$h=\pm1$")
    axes.set(xticks=[], yticks=[], title=f"C = {C:g}: {int(((share > 0) & (share < 1)).sum())} on the elbow")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# Right, elbow, left
# ------------------
#
# Divide the problem by :math:`C`. With :math:`\lambda=1/C`, :math:`\hat s=\lambda\alpha` and :math:`\hat b=\lambda b`,
# the box no longer moves, bounded variables stand still, and :math:`v=\lambda y`. On this path the three sets are
# *right* (of the margin), with :math:`\alpha_i=0`; *left*, with :math:`\alpha_i=y_iC`; and the *elbow* of free
# examples, named after the bend of the hinge loss. If the elbow is empty, :math:`b` may be any number between the
# :math:`G_i` of two examples. The walk goes on until these two :math:`G_i` meet, and both examples join the elbow.
#
# Change :math:`C`: the picture shows the exact solution.
#
# .. path-stepper::
#
# Three points by hand
# --------------------
#
# Let three points be at right angles to one another in the space of :math:`\varphi`, each of length 1. Then :math:`K`
# is the unit matrix, and :math:`G_i=y_i(1-a_i)` with :math:`a_i=y_i\alpha_i`. Points 0 and 1 are positive, and point 2
# is negative. Point 0 has a quarter of the usual weight: its box is :math:`[0,C/4]`. The sum requires
# :math:`a_2=a_0+a_1`.
#
# * For a small :math:`C` points 2 and 0 are in *left*: :math:`a_2=C` and :math:`a_0=C/4`. The remaining weight goes to
#   point 1, :math:`a_1=\tfrac34C`. This point is on the elbow, so :math:`b=G_1=1-\tfrac34C`.
# * *First event.* Point 2 stays in *left* while :math:`G_2=-1+a_2=-1+C` is below :math:`b`. :math:`G_2` and :math:`b`
#   are equal at :math:`C=\tfrac87`, and point 2 joins the elbow. From then on :math:`G_1=G_2` implies
#   :math:`a_1+a_2=2`, and with the sum :math:`a_1=1-\tfrac C8`, :math:`a_2=1+\tfrac C8`, :math:`b=\tfrac C8`.
# * *Second event.* Point 0 stays in *left* while :math:`G_0=1-\tfrac C4` is above :math:`b`. :math:`G_0` and :math:`b`
#   are equal at :math:`C=\tfrac83`. Now all points are on the elbow, and no larger :math:`C` changes the solution:
#   :math:`a=(\tfrac23,\tfrac23,\tfrac43)`.
#
# The package finds the same events:

three, signs = np.eye(3), np.array([1, 1, -1])
by_hand = regularization_path(
    three, signs, kernel=Linear(), C_min=0.5, C_max=4.0, sample_weight=[0.25, 1.0, 1.0]
)
print("breakpoints", by_hand.C.round(6), " 8/7 and 8/3 are", round(8 / 7, 6), round(8 / 3, 6))
assert np.allclose(by_hand.alpha(2.0), [0.5, 0.75, -1.25])  # C/4, 1 - C/8, -(1 + C/8)

# %%
# For the sixty points, the next lines print the last breakpoints and elbow sizes:

print(f"{len(banana.y)} points, {len(path.C)} breakpoints")
print(path.to_frame().tail(5).to_string(index=False))

# %%
# On our sets a path has a few events for each example (exercise 3). In the worst case the number of events grows
# exponentially with :math:`n` (Gärtner, Jaggi and Maria, 2012). The figure shows the path of a real set, the 270
# patients of heart, with each weight as a share of :math:`C`:

# fold: The code of this figure
# alt: The weights of 270 patients, as shares of C, are drawn over C on a logarithmic axis. For a small C most shares
#     are one. As C grows, most shares fall to zero, some stay at one, and many lie between.
patients = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=100.0)
shares = np.array([np.abs(patients.alpha(C)) / C for C in patients.C])
figure, axes = plt.subplots(figsize=(6.4, 3.4))
axes.semilogx(patients.C, shares, color=NEGATIVE, lw=0.5, alpha=0.5)
axes.set(xlabel="$C$", ylabel=r"$|\alpha_i|/C$")
plt.show()
print(f"{len(patients.C)} breakpoints")

# %%
# .. shipped:: core/trackers/hastie.py
#    :object: Hastie.follow Hastie._next_step
#    :fold: Hastie's tracker: the loop and one step
#
# .. shipped:: core/trackers/hastie.py
#    :fold: The whole of Hastie's tracker
#
# .. shipped:: core/trackers/base.py
#    :fold: What a tracker is
#
# Choosing C
# ----------
#
# Between breakpoints :math:`\lambda h(x)` is linear in :math:`\lambda` for *any* :math:`x`. So each :math:`C` at which
# the prediction of a held-out example changes is known as exactly as the breakpoints, and the error of cross-validation
# is a step function of :math:`C`. A grid may miss the minimum of this function; the path cannot:

# fold: The code of this figure
# alt: The error of ten-fold cross-validation over C falls in steps, is least in a narrow band, and rises slowly. The
#     six dots of a grid are not in the band.
validated = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=1e3, folds=10)
low, high, error = validated.curve.best()
print(
    f"least error {error:.4f} for C from {low:.4g} to {high:.4g}; {sum(validated.breakpoints)} breakpoints in 10 paths"
)

powers, jumps = 10.0 ** np.arange(-2, 4), np.abs(np.diff(validated.curve.errors))
print(f"{len(jumps)} steps of the curve, {np.mean(jumps <= 1):.0%} of them of one example")
print(f"least error on the grid of six values {validated.curve.at(powers).min():.4f}")

display = ValidationPathDisplay({"10-fold cross-validation, heart": validated.curve}).plot()
display.ax_.plot(powers, validated.curve.at(powers), "o", color=INK, ms=5, label="a grid of six values")
display.ax_.legend(frameon=False)
plt.show()

# %%
# The curve is ragged, because nearly every step changes only one prediction. If several intervals share the least
# error, ``curve.best()`` returns the interval that is widest on the axis of :math:`\log C`.
#
# The C of leave-one-out
# ----------------------
#
# Leave-one-out does not require :math:`n` separate paths. While :math:`\alpha_r=0` and another example is free, the
# path on all examples is also the path without :math:`r`. While the machine on all examples predicts :math:`r` wrongly,
# so does the machine without :math:`r`. For all other :math:`C`, the package tries the ball of chapter 12, and follows
# the path without :math:`r` only near those :math:`C` where the ball does not prove the sign:

# fold: The code of this figure
# alt: In the row of a patient a line marks each C for which the machine without the patient is wrong: nearly all C in
#     the bottom rows, only small C in a large block. A vertical band marks the least error.
alone = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=10.0, folds="loo")
low, high, error = alone.curve.best()
print(f"least error {error:.4f} for C from {low:.4g} to {high:.4g}")
least, coarse = heart.n * error, heart.n * validated.curve.at(powers).min()
print(
    f"{least:.0f} of {heart.n} wrong, on the grid {coarse:.0f}; deviation {np.sqrt(least * (1.0 - error)):.0f}"
)
walked, branched = sum(alone.breakpoints), np.count_nonzero(alone.breakpoints)
print(f"{branched} of {heart.n} examples have a branch; {walked} breakpoints on all branches together")

display = LOOPathDisplay.from_result(alone)
part = np.array([each.error @ np.diff(np.log(each.C)) for each in display.curves]) / np.log(10.0 / 0.01)
print(f"{(part > 0.9).sum()} examples are wrong for more than 0.9 of the axis, {(part == 0).sum()} for no C")
display.ax_.legend(loc="center right", frameon=False)
plt.show()

# %%
# Each row is a patient, coloured at every :math:`C` for which the machine without this patient predicts it wrongly.
#
# Ten-fold cross-validation and leave-one-out have the same least error, but on intervals of :math:`C` that do not
# overlap. Ten-fold cross-validation makes 43 errors at the best :math:`C` of the grid, and 38 at the exact minimum. The
# binomial standard deviation of such a count is about 6, so the exact minimum hardly improves the accuracy.
#
# α may jump, w cannot
# --------------------
#
# Give every example a twin, an equal copy. With half the :math:`C` the optimal function stays, but :math:`\alpha` is no
# longer unique: two twins may share their weight in many ways. If both twins are free, the matrix of the linear system
# is singular, and Hastie's rule fails:

twice = np.repeat(banana.X, 2, axis=0), np.repeat(banana.y, 2)
try:
    regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=Hastie(), merge=False)
except ValueError as error:
    print(error)

# %%
# A singular matrix has null vectors :math:`u=(u_0,u_M)`, with :math:`u_0` for :math:`b` and :math:`u_M` for the free
# variables. The first row of the matrix gives :math:`\mathbf 1^\top u_M=0`, and the other rows give
# :math:`K_{MM}u_M=-u_0\mathbf 1`. Multiplying these rows by :math:`u_M` gives :math:`\lVert\sum
# u_i\varphi(x_i)\rVert^2=0`, so :math:`K_{MM}u_M=0` and :math:`u_0=0`. So **moving** :math:`\alpha` **along** :math:`u`
# **changes neither** :math:`w` **nor any decision value**, and adding any :math:`u` to a direction of the path gives
# another direction of the path. One solution of the system gives the rates :math:`d_p` of the free variables while
# :math:`\lambda` falls. Let the columns of :math:`N` be a basis of all vectors :math:`u_M`. If :math:`\lambda` falls by
# :math:`s`, the free variables may go to :math:`\hat s_M+s\,d_p+N\beta` with any :math:`\beta`. A linear program
# chooses :math:`\beta` such that :math:`\lambda` falls furthest before a variable meets its bound:
#
# .. math::
#
#    \max_{s,\,\beta}\ s \quad\text{where}\quad
#    L_M \;\le\; \hat s_M + s\,d_p + N\beta \;\le\; U_M, \qquad 0\le s\le s_{\max} .
#
# At :math:`s_{\max}` the first bounded variable reaches :math:`G_i=b`, whatever :math:`\beta` is. If the program ends
# at :math:`s<s_{\max}`, free variables reach their bounds there and leave the elbow. The next lines solve this program
# for two points, each with a twin; all four are on the elbow:


def longest(rate, gap, null, limit):
    """Return the largest t ≤ limit, and β, with t·rate + null·β ≤ gap."""
    k = null.shape[1]
    at = linprog(
        [-1.0] + [0.0] * k, np.column_stack([rate, null]), gap, bounds=[(0, limit)] + [(None, None)] * k
    ).x
    return at[0], at[1:]


K_MM, labels = np.kron([[1.0, 0.3], [0.3, 1.0]], np.ones((2, 2))), np.array([1.0, 1.0, -1.0, -1.0])
weights, low, high = np.array([0.7, 0.3, -0.4, -0.6]), np.minimum(labels, 0.0), np.maximum(labels, 0.0)
bordered = np.block([[np.zeros((1, 1)), np.ones((1, 4))], [np.ones((4, 1)), K_MM]])
d_p = np.linalg.lstsq(bordered, np.append(0.0, -labels))[0][1:]  # v = λy falls at the rate y
N = null_space(bordered)[1:]
given = np.append(d_p, -d_p), np.append(high - weights, weights - low), np.vstack([N, -N]), 0.6
fall, beta = longest(*given)
alone = (given[1][given[0] > 0] / given[0][given[0] > 0]).min()
print(f"{N.shape[1]} null vectors; λ falls by {fall:.2f}, in the package by {longest_fall(*given)[0]:.2f}")
print(f"without β it would fall by {alone:.2f}")
print("weights before", weights, "and after", (weights + fall * d_p + N @ beta).round(3) + 0.0)

# %%
# If a parameter other than :math:`\lambda` moves, the system may have no solution :math:`d_p`. Then :math:`\alpha` has
# to move along :math:`u` at a fixed parameter before the walk can continue: :math:`\alpha` jumps, and :math:`w` stays.
#
# For a single :math:`u` the package solves the program in closed form:
#
# .. shipped:: core/walk/linear_program.py
#    :object: longest_fall
#    :fold: The linear program in the package
#
# ``SVMP`` solves this program. If examples on the border of two sets stop the walk, ``SVMP`` moves each of them to the
# other set; if this fails, SMO finds a new direction or point:
#
# .. shipped:: core/trackers/svmp.py
#    :object: SVMP.follow SVMP._next_step SVMP._singular_step
#    :fold: SVMP: the loop and its steps
#
# .. shipped:: core/trackers/backup.py
#    :fold: The way out: points and directions found by SMO
#
# .. shipped:: core/trackers/svmp.py
#    :twin:
#    :fold: The whole of SVMP

paired = regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=SVMP(), merge=False)
kinds, counts = np.unique(paired.record.kind, return_counts=True)
for kind, count in zip(kinds, counts, strict=True):
    print(f"{kind:15s} {count:4d} breakpoints")
change = paired.decision_function(banana.X, 5.0) - path.decision_function(banana.X, 10.0)
print(f"same function at C/2: {np.abs(change).max():.0e}")

# %%
# By default (``merge=True``), equal examples of one class become one variable with a wider box, and need no linear
# program.
#
# .. worth:: 15
#
#    A path usually takes more time than a grid, because it stops at every corner. A path is faster on the chessboard,
#    where the grid takes by far the most steps for each corner of the path.
#
# .. admonition:: Known elsewhere as
#
#    The path is the *regularisation path* of Hastie, Rosset, Tibshirani and Zhu (2004). Choosing :math:`C` is *model
#    selection* or *hyper-parameter tuning*.
#
# Exercises
# ---------
#
# 1. ★ Why has the path no more events once the set *left* is empty?
# 2. ★ On the sixty points, compare the error curves of leave-one-out (``folds=len(y)``) and of ten folds.
# 3. ★★ How does the number of breakpoints grow with the number of examples? Try 30, 60, 120 and 240 points of the
#    banana.
#
# .. fold:: Hints
#
# 1. Which variables depend on :math:`C` if no variable is at :math:`\pm C`?
# 2. ``curve.best()`` returns the interval of :math:`C` with the least error.
# 3. ``len(path.C)`` counts the breakpoints.
#
# .. endfold::
#
# .. fold:: Answers

separable = banana.X + 2.0 * banana.y[:, None], banana.y
last = regularization_path(*separable, kernel=kernel, C_min=0.05, C_max=1e5)
change = np.abs(last.alpha(1e5) - last.alpha(1e3)).max()
print(f"1. the last event is at C = {last.C[-2]:.4g}; from 1,000 to 100,000 α changes by {change:.0e}")
for folds in (10, 60):
    curve = cross_validate_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0, folds=folds).curve
    low, high, error = curve.best()
    print(
        f"2. {folds} folds: {error:.3f} for C from {low:.3g} to {high:.3g}, {len(curve.errors)} steps of the curve"
    )
for n in (30, 60, 120, 240):
    sample = make_banana(n, rng=1)
    each = regularization_path(sample.X, sample.y, kernel=kernel, C_min=0.05, C_max=100.0)
    print(f"3. n = {n:3d}: {len(each.C)} breakpoints, {len(each.C) / n:.2f} for each example")

# %%
# 1. No variable is at :math:`\pm C`, so :math:`\alpha` satisfies all conditions for every larger :math:`C`.
# 2. Each curve is lowest on an interval of :math:`C`. These intervals overlap; leave-one-out has the shorter interval.
# 3. On the banana the number of breakpoints grows roughly in proportion to the number of examples.
#
# .. endfold::
