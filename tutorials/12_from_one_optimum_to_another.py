r"""
The whole path of C
===================

How much is an error worth? The penalty :math:`C` says so, and nobody knows its value before the data are seen. The
usual way out is a grid: train for ten values, keep the best. This tutorial trains for *all* values at once. It
shows that the optimum moves along straight lines, why, what happens where examples coincide, and how to read the
best :math:`C` off the result. The rule is that of C.-J. Ong, S. Shao and J. Yang (2010), which goes back to T. Hastie,
S. Rosset, R. Tibshirani and J. Zhu (2004). The symbols are those of the page :doc:`/notation`.
"""

import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, SVMP, DualProblem, Hastie, KKTGap, regularization_path, solve
from refsvm.datasets import load, make_banana
from refsvm.display import PathDisplay, ValidationPathDisplay
from refsvm.paths import cross_validate_path

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# Left, right and elbow
# ---------------------
#
# At the optimum for one :math:`C` every example is in one of three sets:
#
# * **right** of its margin, :math:`y_ih(x_i)\ge1`: it has :math:`\alpha_i=0` and could be left out;
# * **left** of it, :math:`y_ih(x_i)\le1`: it has :math:`\alpha_i=y_iC`, all that the box allows;
# * on the **elbow**, :math:`y_ih(x_i)=1`, with :math:`\alpha_i` in between.
#
# The name is that of the loss :math:`\max(0,1-yh)`, which bends there. Sixty points, and the three sets for three
# values of :math:`C`:

banana = make_banana(60, rng=1)
kernel = RBF(0.5)
path = regularization_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0)
print(path)

side = np.linspace(-3.2, 3.2, 90)
grid = np.stack(np.meshgrid(side, side), axis=-1)
figure, row = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True)
for axes, C in zip(row, (0.2, 2.0, 50.0), strict=True):
    share = np.abs(path.alpha(C)) / C
    h = path.decision_function(grid.reshape(-1, 2), C).reshape(90, 90)
    axes.contour(
        side, side, h, levels=[-1, 0, 1], colors=INK, linewidths=[0.8, 1.6, 0.8], linestyles=["--", "-", "--"]
    )
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
    axes.set_title(f"C = {C:g}: {int(((share > 0) & (share < 1)).sum())} on the elbow")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, frameon=False)
plt.show()

# %%
# With small :math:`C` nearly everything is left and the function is flat. As :math:`C` grows examples pass through
# the elbow to the right, one at a time. Each passage is an *event*.
#
# Straight lines
# --------------
#
# Between two events the sets stay as they are. Then on the elbow :math:`\mathcal E`
#
# .. math::
#
#    \sum_j\alpha_jK_{ij}+b=y_i\quad(i\in\mathcal E),\qquad\sum_j\alpha_j=0,\qquad\alpha_j=y_jC\quad(j\ \text{left}).
#
# Divide by :math:`C` and write :math:`\lambda=1/C`, :math:`\hat s=\lambda\alpha`, :math:`\hat b=\lambda b`. The left
# examples now have :math:`\hat s_j=y_j`, a constant, and the right-hand side is :math:`\lambda y_i`: these are linear
# equations with a right-hand side linear in :math:`\lambda`. So is their solution. Take the middle of a segment, solve
# there by the solver that knows nothing of paths, and compare:

k = len(path.C) // 2
middle = 0.5 * (1 / path.C[k] + 1 / path.C[k + 1])
problem = DualProblem.classification(banana.X, banana.y, kernel=kernel, C=1 / middle)
independent = solve(problem, stop=KKTGap(1e-12)).alpha
ends = [path.alpha(C) / C for C in path.C[k : k + 2]]
print(f"largest difference: {np.abs(middle * independent - 0.5 * (ends[0] + ends[1])).max():.0e}")

# %%
# This is why a finite list of breakpoints holds the answer for every :math:`C`. The picture of all
# :math:`\alpha_i/C`, with the size of the elbow in grey and a tick for every event:

PathDisplay.from_path(path)
plt.show()

# %%
# How the tracker finds the next event
# ------------------------------------
#
# The linear system gives :math:`d\hat s/d\lambda`. From it follows for each example how far :math:`\lambda` may fall
# until :math:`\hat s_i` reaches an end of its box, or :math:`g_i=\lambda\bigl(1-y_ih(x_i)\bigr)` reaches zero. The
# nearest
# of these is the next event. The loop of the tracker:
#
# .. literalinclude:: ../../../refsvm/trackers/svmp.py
#    :pyobject: SVMP.follow
#    :caption: refsvm/trackers/svmp.py
#
# The table of events tells who moved where:

print(path.to_frame().tail(6).to_string(index=False))

# %%
# Where examples coincide
# -----------------------
#
# Give every example a twin. The optimum as a function is the same at :math:`C/2`, but :math:`\alpha` is not unique any
# more: a pair may share its weight in many ways. The matrix of the linear system is singular, and the rule of 2004 has
# no answer:

twice = np.repeat(banana.X, 2, axis=0), np.repeat(banana.y, 2)
try:
    regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=Hastie(), merge=False)
except ValueError as error:
    print(error)

# %%
# ``SVMP`` asks a linear program instead: of all directions that keep the elbow on the margin, take one that lets
# :math:`\lambda` fall furthest. Its solution is a corner, at which one of each pair goes to a bound and leaves the
# elbow. If several examples stand exactly between two sets, they are flipped until the way is free.

paired = regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=SVMP(), merge=False)
kinds, counts = np.unique(paired.record.kind, return_counts=True)
print(paired)
print(
    dict(zip(kinds.tolist(), counts.tolist(), strict=True)),
    "special events:",
    paired.counts.get("special", 0),
)
change = paired.decision_function(banana.X, 5.0) - path.decision_function(banana.X, 10.0)
print(f"same function at C/2: {np.abs(change).max():.0e}")

# %%
# Exact duplicates need not be tracked one by one: with ``merge=True``, the default, examples of equal features and
# label share one variable with a wider box. The linear program remains for points that are dependent without being
# equal.
#
# Choosing C
# ----------
#
# Since :math:`\lambda h(x)` is linear between breakpoints for *any* :math:`x`, the :math:`C` at which a held-out
# example changes sides is known exactly. So the error of cross-validation is a step function of :math:`C`, with no
# grid in
# between which a minimum could hide:

heart = load("heart")
validated = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=1e3, folds=10)
low, high, error = validated.curve.best()
print(f"least error {error:.4f} for C from {low:.4g} to {high:.4g}")
print(f"{sum(validated.breakpoints)} breakpoints in 10 paths")

display = ValidationPathDisplay({"10-fold cross-validation, heart": validated.curve}).plot()
powers = 10.0 ** np.arange(-2, 4)
display.ax_.plot(powers, validated.curve.at(powers), "o", color=INK, ms=5, label="a grid of six values")
display.ax_.legend(frameon=False)
plt.show()

# %%
# The curve is ragged: one example more or less. Differences of that size are chance, and a wide interval is a better
# choice than a deep one. ``curve.best()`` returns the widest of the intervals with the least error.
#
# Exercises
# ---------
#
# 1. Why does nothing happen any more once the left set is empty? Check that :math:`\alpha` stays the same from there.
# 2. Leave-one-out is ``folds=len(y)``. Compare its curve on the sixty points with ten folds: where are the minima?

separable = banana.X + 2.0 * banana.y[:, None], banana.y
last = regularization_path(*separable, kernel=kernel, C_min=0.05, C_max=1e5)
change = last.alpha(1e5) - last.alpha(1e3)
print(
    f"1. The last event is at C = {last.C[-2]:.4g}; from 1000 to 100,000 α changes by {np.abs(change).max():.0e}."
)

for folds in (10, 60):
    curve = cross_validate_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0, folds=folds).curve
    low, high, error = curve.best()
    print(f"2. {folds} folds: {error:.3f} for C from {low:.3g} to {high:.3g}, {len(curve.errors)} steps.")
