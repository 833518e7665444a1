r"""
15 · The path of C
==================

Which :math:`C`? The walk of :doc:`chapter 14 <14_straight_lines>` answers for all of them at once. A few linear systems
give the solution for every :math:`C`, and the errors of cross-validation and of leave-one-out as exact functions of
:math:`C`. T. Hastie and others (2004) published the path; C.-J. Ong, S. Shao and J. Yang (2010) made it work on any
data.
"""

# fold: Imports, the data, and the code of this figure
# alt: The same points with boundary and margins at three values of C. Open circles lie right of their margin,
#     filled diamonds exactly on it, squares left of it. As C grows the squares become few.
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import null_space
from scipy.optimize import linprog

from refsvm import RBF, SVMP, DualProblem, Hastie, KKTGap, Linear, parametric_path, regularization_path, solve
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
# It is usual to divide by :math:`C`. With :math:`\lambda=1/C`, :math:`\hat s=\lambda\alpha` and :math:`\hat b=\lambda
# b`, the box no longer moves, bounded variables stand still, and :math:`v=\lambda y`. The three sets have names of
# their own here: *right* (of the margin, :math:`\alpha_i=0`), *left* (:math:`\alpha_i=y_iC`), and between them the
# *elbow*, named after the bend of the hinge loss. The pictures above show the three sets for three values of :math:`C`.
#
# Move :math:`C` yourself. The picture is also exact between two events, because the path is.
#
# .. path-stepper::
#
# Three points by hand
# --------------------
#
# Let three points be at a right angle to one another in the space of :math:`\varphi`, each of length one: :math:`K` is
# the unit matrix, and :math:`G_i=y_i(1-a_i)` with :math:`a_i=y_i\alpha_i`. Points 0 and 1 are positive, and point 0
# counts a quarter: its box is :math:`[0,C/4]`. Point 2 is negative. The sum requires :math:`a_2=a_0+a_1`.
#
# * For a small :math:`C` each point wants more weight than it gets. Points 2 and 0 are left, :math:`a_2=C` and
#   :math:`a_0=C/4`. The remaining weight goes to point 1, :math:`a_1=\tfrac34C`: it is on the elbow, and
#   :math:`b=G_1=1-\tfrac34C`.
# * *First event.* Point 2 is left while :math:`G_2=-1+a_2=-1+C` is below :math:`b`. They meet at
#   :math:`-1+C=1-\tfrac34C`, so :math:`C=\tfrac87`, and the point joins the elbow. From there :math:`G_1=G_2` implies
#   :math:`a_1+a_2=2`, and with the sum :math:`a_1=1-\tfrac C8`, :math:`a_2=1+\tfrac C8`, :math:`b=\tfrac C8`.
# * *Second event.* Point 0 is left while :math:`G_0=1-\tfrac C4` is above :math:`b`. They meet at :math:`1-\tfrac
#   C4=\tfrac C8`, so :math:`C=\tfrac83`. Now all points are on the elbow, and nothing changes any more:
#   :math:`a=(\tfrac23,\tfrac23,\tfrac43)`.
#
# The package finds both events:

three, signs = np.eye(3), np.array([1, 1, -1])
by_hand = regularization_path(
    three, signs, kernel=Linear(), C_min=0.5, C_max=4.0, sample_weight=[0.25, 1.0, 1.0]
)
print("breakpoints", by_hand.C.round(6), " 8/7 and 8/3 are", round(8 / 7, 6), round(8 / 3, 6))
assert np.allclose(by_hand.alpha(2.0), [0.5, 0.75, -1.25])  # C/4, 1 - C/8, -(1 + C/8)

# %%

# fold: The code of this figure
# alt: The weights of three points over C. All grow in straight lines at first. At C = 8/7 two of the lines bend, at
#     C = 8/3 all three become flat. The intercept falls, then rises, and is flat at the end.
figure, axes = plt.subplots(figsize=(6.4, 3.4))
along = np.linspace(0.5, 4.0, 200)
at = np.array([signs * by_hand.alpha(C) for C in along])
for line_of, name, colour, look in zip(
    at.T,
    ("$a_0$, counts a quarter", "$a_1$", "$a_2$, negative"),
    (NEGATIVE, POSITIVE, INK),
    ("--", "-", "-."),
    strict=True,
):
    axes.plot(along, line_of, look, color=colour, label=name)
axes.plot(along, [by_hand.intercept(C) for C in along], ":", color="0.5", label="$b$")
for C in (8 / 7, 8 / 3):
    axes.axvline(C, color="0.8", lw=1, zorder=0)
axes.set(xlabel="$C$; grey: the two events", ylabel=r"$a_i$")
figure.legend(loc="outside upper center", ncols=4, frameon=False)
plt.show()

# %%
# The sixty points of the path above have more events, found in the same way, and the line of chapter 14 passes through
# the same solutions. Here are the last breakpoints, with the size of the elbow:

print(f"{len(banana.y)} points, {len(path.C)} breakpoints")
print(path.to_frame().tail(5).to_string(index=False))
small = solve(
    DualProblem.classification(banana.X, banana.y, kernel=kernel, C=1.0), stop=KKTGap(1e-12)
).problem
line = parametric_path(small, small.boxed(20.0 * small.lower, 20.0 * small.upper), t=(1.0, 20.0))
for C in (1.5, 5.0, 20.0):
    print(
        f"C = {C:4g}: the line of chapter 14 and this path differ by {np.abs(line.alpha(C) - path.alpha(C)).max():.0e}"
    )

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
# Since :math:`\lambda h(x)` is linear between breakpoints for *any* :math:`x`, the :math:`C` at which a held-out
# example changes sides is as exact as the breakpoints. So the error of cross-validation is a step function of
# :math:`C`. It leaves no gaps between grid points in which a minimum could hide:

# fold: The code of this figure
# alt: The error of ten-fold cross-validation on heart as a step function of C. It falls, is least in a narrow
#     band, and rises slowly. The six dots of a grid are not in the band.
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
# The curve is ragged: steps of a single example are chance. A wide interval is therefore a better choice than a deep
# one. ``curve.best()`` returns the widest of the intervals with the least error.
#
# The C of leave-one-out
# ----------------------
#
# Leave-one-out does not require :math:`n` separate paths: the path of all examples already answers most of the
# questions. While :math:`\alpha_r=0`, the path without :math:`r` is the same path. While :math:`r` is on the wrong side
# although it is trained on, it is also wrong without it. In between, a ball like the one in chapter 12 moves along with
# :math:`C`. Only where the ball cannot tell the sign is :math:`r` really left out, and its path branches off:

# fold: The code of this figure
# alt: A row for each patient, with a line at those C for which the machine without that patient is wrong. Rows at
#     the bottom are wrong for nearly all C, a large block only for small C. A vertical band marks the least error.
alone = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=10.0, folds="loo")
low, high, error = alone.curve.best()
print(f"least error {error:.4f} for C from {low:.4g} to {high:.4g}")
walked, branched = sum(alone.breakpoints), np.count_nonzero(alone.breakpoints)
print(f"{branched} of {heart.n} examples have a branch; {walked} breakpoints on all branches together")

display = LOOPathDisplay.from_result(alone)
part = np.array([each.error @ np.diff(np.log(each.C)) for each in display.curves]) / np.log(10.0 / 0.01)
print(f"{(part > 0.9).sum()} examples are wrong for more than 0.9 of the axis, {(part == 0).sum()} for no C")
display.ax_.legend(loc="center right", frameon=False)
plt.show()

# %%
# Each row is one patient. It is coloured at those :math:`C` for which the machine trained without that patient
# misclassifies him or her. The patients at the bottom are misclassified for nearly every :math:`C`, so no choice helps
# them. Only the short pieces above depend on the choice.
#
# α may jump, w cannot
# --------------------
#
# Give every example a twin. The optimal function is the same at half the :math:`C`, but :math:`\alpha` is no longer
# unique: a pair may share its weight in many ways. The matrix of the linear system is singular, and Hastie's rule has
# no answer:

twice = np.repeat(banana.X, 2, axis=0), np.repeat(banana.y, 2)
try:
    regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=Hastie(), merge=False)
except ValueError as error:
    print(error)

# %%
# If the matrix is singular it has null vectors :math:`u=(u_0,u_M)`. The first row gives :math:`\mathbf 1^\top u_M=0`,
# the others :math:`K_{MM}u_M=-u_0\mathbf 1`; multiplying by :math:`u_M` gives
# :math:`\lVert\sum u_i\varphi(x_i)\rVert^2=0`. So moving :math:`\alpha` along :math:`u` changes neither :math:`w` nor
# any decision value: **along** :math:`u` **the street does not move at all**. The direction of the path is therefore
# unique only up to such :math:`u`, and we may choose the :math:`u` that lets :math:`\lambda` fall furthest before a
# variable meets its bound. That choice is a linear program. With :math:`d_p` any solution of the system, as a rate for
# falling :math:`\lambda`, and the columns of :math:`N` a basis of the :math:`u_M`:
#
# .. math::
#
#    \max_{s,\,\beta}\ s \quad\text{where}\quad
#    L_M \;\le\; \hat s_M + s\,d_p + N\beta \;\le\; U_M, \qquad 0\le s\le s_{\max},
#
# where :math:`s_{\max}` is the fall at which the first bounded variable reaches :math:`G_i=b`, which no :math:`u`
# changes. The solution is a corner, at which one of each pair goes to a bound and leaves the elbow. Here are two
# points, each with its twin, and all four on the elbow. A solver for linear programs needs the two bounds as rows of
# inequalities:


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
# For lines other than :math:`\lambda` there may be no :math:`d_p`. Then :math:`\alpha` has to move along :math:`u` at a
# fixed :math:`t` before the walk can go on: :math:`\alpha` jumps, and :math:`w` stays.
#
# The package's version scales the inequalities first, and needs no linear program for a single :math:`u`:
#
# .. shipped:: core/walk/linear_program.py
#    :object: longest_fall
#    :fold: The linear program in the package
#
# ``SVMP`` uses it, and has a way out where several examples stand exactly between two sets:
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
# Exact duplicates need not be tracked one by one: with ``merge=True``, the default, examples of equal features and
# label share one variable with a wider box. The linear program remains for points that are dependent without being
# equal.
#
# .. admonition:: Known elsewhere as
#
#    The *regularisation path* of T. Hastie, S. Rosset, R. Tibshirani and J. Zhu (2004); *model selection* or
#    *hyper-parameter tuning* for the choice of :math:`C`. The interval of least error is a *plateau* of the validation
#    curve.
#
# Exercises
# ---------
#
# 1. ★ Why does nothing happen any more once the left set is empty?
# 2. ★ ``folds=len(y)`` also gives leave-one-out for the path. Compare its curve on the sixty points with ten folds.
# 3. ★★ How does the number of breakpoints grow with the number of examples? Follow the path for 30, 60, 120 and 240
#    points of the banana.
#
# .. fold:: Hints
#
# 1. Which variables depend on :math:`C` at all, once none is at :math:`\pm C`?
# 2. ``cross_validate_path`` has the argument ``folds``; ``curve.best()`` returns the interval.
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
# 1. Then no variable is at :math:`\pm C`, so :math:`\alpha` satisfies all conditions for every larger :math:`C`.
# 2. The intervals of least error overlap; the interval of leave-one-out is smaller.
# 3. Roughly in proportion: a few events for each example.
#
# .. endfold::
