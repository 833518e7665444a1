r"""
1 · The widest street
=====================

Two kinds of points lie in a plane, and many lines separate them. A support vector machine takes the middle line of the
widest street between the two kinds. This chapter describes the street by a formula and finds it with a general
optimiser. If no street separates the two kinds, the chapter allows points on the street, at a price. You need to know
only vectors and derivatives.
"""

# SVC lays the widest street between two kinds of points.
import numpy as np

from refsvm import SVC

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 10)
X = rng.normal(scale=0.6, size=(20, 2)) + np.outer(y, [1.0, 0.8])

machine = SVC(kernel="linear", C=np.inf).fit(X, y)  # the price C forbids points on the street
print("the line: w =", machine.coef_[0].round(2), "and b =", machine.intercept_.round(2))

# %%

# fold: The code of this figure
# alt: Two panels show the same points of two kinds. In the left panel four lines separate the kinds. The right panel
#     shows the widest street, shaded, and its middle line.
import matplotlib.pyplot as plt
from scipy.optimize import minimize

from refsvm import DualProblem, Linear, solve

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"


def draw(axes, X, y, w, b):
    """Draw the points and the street."""
    axes.scatter(*X[y < 0].T, c=NEGATIVE, marker="o", label="$y=-1$")
    axes.scatter(*X[y > 0].T, c=POSITIVE, marker="^", label="$y=+1$")
    side = np.linspace(-3.2, 3.2, 50)
    h = np.add.outer(w[1] * side, w[0] * side) + b
    axes.contourf(side, side, h, levels=[-1, 1], colors=["0.92"], zorder=0)  # behind the points
    axes.contour(side, side, h, levels=[-1, 0, 1], colors=INK, linestyles=["--", "-", "--"])
    axes.plot([], [], "-", color=INK, label="$h=0$")
    axes.plot([], [], "--", color=INK, label=r"margins, $h=\pm1$")
    axes.set(xticks=[], yticks=[], xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")


figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 4.6))
draw(right, X, y, machine.coef_[0], machine.intercept_[0])
right.set_title("the widest street")
left.scatter(*X[y < 0].T, c=NEGATIVE, marker="o")
left.scatter(*X[y > 0].T, c=POSITIVE, marker="^")
ends, widths = np.array([-3.2, 3.2]), []
for angle, shift in ((-0.12, 0.25), (0.0, 0.5), (0.1, -0.3), (0.03, -0.6)):
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    w, b = turn @ machine.coef_[0], machine.intercept_[0] + shift
    assert (y * (X @ w + b) > 0).all()  # this line separates them, too
    widths.append(2.0 * (y * (X @ w + b)).min() / np.linalg.norm(w))  # to the nearest point, on both sides
    left.plot(ends, -(w[0] * ends + b) / w[1], color="0.5", lw=1.2)
left.set(
    xticks=[], yticks=[], xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal", title="lines that separate"
)
figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()
print("streets about the four lines:", np.round(widths, 3), "wide")
print("the widest street:", round(2.0 / float(np.linalg.norm(machine.coef_[0])), 3))

# %%
# How wide is a street?
# ---------------------
#
# A line is the set of all :math:`x` with :math:`w\cdot x+b=0`. The vector :math:`w` stands at a right angle to the
# line, and :math:`b`, the *intercept*, shifts the line. Write
#
# .. math:: h(x) = w\cdot x + b .
#
# The function :math:`h` is positive on one side of the line and negative on the other, so its sign is a classifier. The
# distance of a point from the line is :math:`|h(x)|/\lVert w\rVert`: moving a distance :math:`s` in the direction
# :math:`w/\lVert w\rVert` changes :math:`h` by :math:`s\,w\cdot w/\lVert w\rVert = s\lVert w\rVert`.
#
# If :math:`w` and :math:`b` are multiplied by a positive number, the line stays the same. Choose this number such that
# :math:`h(x)=1` and :math:`h(x)=-1` on the two edges of the street, its *margins*. The distance from the middle to a
# margin is :math:`1/\lVert w\rVert`, the *geometric margin*, so the street is :math:`2/\lVert w\rVert` wide. Let
# :math:`y_i=\pm1` be the label of point :math:`i`. All points are outside the street, each on the side of its label, if
# :math:`y_ih(x_i)\ge1` for all :math:`i`. The widest street has the shortest :math:`w`:
#
# .. math:: \min_{w,b}\ \tfrac12\lVert w\rVert^2 \quad\text{where}\quad y_i\,h(x_i)\ge1\ \text{for all } i.
#
# The square and the factor :math:`\tfrac12` do not change the minimiser.
#
# Why should the street be wide? The classifier has to *generalise*: to classify new points correctly. If the distance
# of a new point from an old point of its kind is below the geometric margin, the line puts both points on the same
# side. So the wider the street, the further all points may move before one is misclassified.
#
# A theorem about the perceptron supports wide streets (Novikoff, 1962, for lines through the origin). The perceptron
# begins with :math:`w=0`. If the perceptron misclassifies example :math:`i`, so that :math:`y_iw\cdot x_i\le0`, it
# corrects :math:`w` by adding :math:`y_ix_i`. It ends when all examples are classified correctly. Let :math:`R` be the
# length of the longest example, :math:`\rho` the geometric margin, and :math:`u` the unit vector with :math:`y_iu\cdot
# x_i\ge\rho` for all :math:`i`. A correction adds at least :math:`\rho` to :math:`w\cdot u` and at most :math:`R^2` to
# :math:`\lVert w\rVert^2`, so after :math:`k` corrections
#
# .. math:: k\rho\le w\cdot u\le\lVert w\rVert\le\sqrt k\,R , \qquad\text{that is}\qquad k\le(R/\rho)^2 .
#
# Leaving out an example that caused no correction changes nothing, and this example is predicted correctly. So if each
# of :math:`n+1` examples is left out once, at most :math:`(R/\rho)^2` of them are predicted wrongly; after training on
# :math:`n` examples the expected error is at most :math:`E[(R/\rho)^2]/(n+1)`. A second theorem favours streets with
# few examples on their margins: leaving out any other example does not move the street, so only examples on a margin
# can be predicted wrongly (:doc:`chapter 11 <11_leave_one_out>`).
#
# Turn and shift the line in the left picture, which shows the widest empty street around this line. For each direction
# of the line, the right picture shows the width of the widest empty street. The top of the curve belongs to the widest
# street.
#
# .. line-stepper::
#
# Found by a general optimiser
# ----------------------------
#
# SciPy's optimiser SLSQP suffices for twenty points.


def widest_street(X, y):
    """Return w and b of the widest street."""
    found = minimize(
        lambda p: p[:2] @ p[:2] / 2,
        x0=np.array([1.0, 1.0, 0.0]),
        jac=lambda p: np.append(p[:2], 0.0),
        constraints={"type": "ineq", "fun": lambda p: y * (X @ p[:2] + p[2]) - 1},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    return found.x[:2], found.x[2]


w, b = widest_street(X, y)
margin = y * (X @ w + b)
on_margin = np.isclose(margin, 1.0, atol=1e-6)
print(f"w = {w.round(3)}, b = {b:.3f}, the street is {2 / np.linalg.norm(w):.3f} wide")
print(f"{on_margin.sum()} of {len(y)} points stand on a margin; the smallest y h(x) is {margin.min():.6f}")

# %%

# fold: The code of this figure
# alt: The widest street between the two kinds of points is shaded, and its margins are dashed. The points on a margin
#     are ringed; all other points lie further out.
figure, axes = plt.subplots(figsize=(4.8, 5.2))
draw(axes, X, y, w, b)
axes.scatter(*X[on_margin].T, s=150, facecolors="none", edgecolors=INK, label="on a margin")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The few points on a margin hold the street in place and are called *support vectors*. Removing all other points, or
# moving them without crossing a margin, does not change the street (exercise 1).
#
# Does a wide street help on new points? For 200 sets of twenty points, the next lines try streets in 90 directions, and
# compare the error of the widest street with the mean error of all streets that separate the set:

# fold: Widest and other streets on 4000 new points
fresh_y = np.repeat([-1, 1], 2000)
fresh = rng.normal(scale=0.6, size=(4000, 2)) + np.outer(fresh_y, [1.0, 0.8])
normals = np.array(
    [[np.cos(angle), np.sin(angle)] for angle in np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)]
)
pairs = []
for _ in range(200):
    at = (rng.normal(scale=0.6, size=(20, 2)) + np.outer(y, [1.0, 0.8])) @ normals.T
    ends = np.array([at[y < 0].max(axis=0), at[y > 0].min(axis=0)])  # of the widest street in each direction
    width, errors = (
        ends[1] - ends[0],
        (np.sign(fresh @ normals.T - ends.mean(axis=0)) != fresh_y[:, None]).mean(axis=0),
    )
    if (width > 0.0).sum() > 1:
        pairs.append((errors[width.argmax()], errors[width > 0.0].mean()))
widest, others = np.transpose(pairs)
print(f"errors on new points: widest street {widest.mean():.1%}, mean of all {others.mean():.1%}")
print(
    f"the widest street errs less in {(widest < others).mean():.0%} of {len(pairs)} sets that a line separates"
)

# %%
# When no street fits
# -------------------
#
# If one point in the middle of its kind gets the opposite label, no line separates the two kinds. So we allow points on
# the street, and on its wrong side, at a price. Let the *slack* :math:`\xi_i\ge0` be the amount by which
# :math:`y_ih(x_i)` falls short of 1, and :math:`C` the price of a unit of slack:
#
# .. math::
#
#    \min_{w,b,\xi}\ \tfrac12\lVert w\rVert^2 + C\sum_i\xi_i
#    \quad\text{where}\quad y_i\,h(x_i)\ge1-\xi_i,\quad \xi_i\ge0 .
#
# This street has a *soft margin*. For given :math:`w` and :math:`b` the cheapest slack is
# :math:`\xi_i=\max(0,\,1-y_ih(x_i))`. With this slack the problem has no constraints:
#
# .. math:: \min_{w,b}\ F, \qquad F = \tfrac12\lVert w\rVert^2 + C\sum_i\max\bigl(0,\,1-y_ih(x_i)\bigr).
#
# This *primal objective* :math:`F` is a sum of convex functions, so it is convex, and every local minimum is global.
# The error drops from 1 to 0 at :math:`yh=0`, so it is not convex. The *hinge loss* :math:`\max(0,1-yh)` is convex and
# never below the error. Logistic regression uses a smooth loss whose slope is never zero, so every example acts as a
# support vector.

# %%

# fold: The code of this figure
# alt: Three losses are drawn over y times h. The error drops from one to zero at 0, the hinge loss falls straight to
#     zero at 1, and the logistic loss stays above zero.
margins = np.linspace(-2.0, 3.0, 501)
figure, axes = plt.subplots(figsize=(6.4, 3.4))
axes.step(margins, margins < 0.0, color="0.6", lw=1.5, label="error, 0 or 1")
axes.plot(margins, np.maximum(0.0, 1.0 - margins), color=POSITIVE, lw=2, label=r"hinge loss, $\max(0,1-yh)$")
logistic = np.log2(1.0 + np.exp(-margins))  # in bits, so that it is 1 at 0
axes.plot(margins, logistic, color=NEGATIVE, lw=2, label=r"logistic loss, $\log_2(1+e^{-yh})$")
axes.vlines(1.0, -0.1, 1.9, color=INK, lw=0.8, ls=":")  # below the legend
axes.annotate("the margin", (1.04, 1.5))
axes.set(xlabel="$y\\,h(x)$", ylabel="loss", ylim=(-0.1, 3.0))
axes.legend(frameon=False, loc="upper right")
plt.show()

# %%
# SLSQP needs functions without corners, so we give it the problem with slacks.


def soft_street(X, y, C):
    """Return w, b and the slacks of the street with price C."""
    n = len(y)
    slope = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])  # of y h + ξ, in w, b, ξ
    found = minimize(
        lambda p: p[:2] @ p[:2] / 2 + C * p[3:].sum(),
        x0=np.concatenate([np.zeros(3), np.ones(n)]),
        jac=lambda p: np.concatenate([p[:2], [0.0], np.full(n, C)]),
        constraints={"type": "ineq", "fun": lambda p: slope @ p - 1, "jac": lambda p: slope},
        bounds=[(None, None)] * 3 + [(0, None)] * n,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return found.x[:2], found.x[2], found.x[3:]


turned = y.copy()
turned[2] = 1  # it stands among the negative points
streets = {C: soft_street(X, turned, C) for C in (0.03, 0.3, 30.0)}
for C, (soft_w, _, slack) in streets.items():
    print(f"C = {C:5g}: width {2 / np.linalg.norm(soft_w):.2f}, sum of the slacks {slack.sum():.2f}")

# %%

# fold: The code of this figure
# alt: Three panels show the soft street for three values of C. With the smallest C the street is widest and holds many
#     points; with the largest C the street is narrow.
figure, row = plt.subplots(1, 3, figsize=(10, 4))
for axes, (C, (soft_w, soft_b, slack)) in zip(row, streets.items(), strict=True):
    draw(axes, X, turned, soft_w, soft_b)
    axes.set_title(f"C = {C:g}: width {2 / np.linalg.norm(soft_w):.2f}, Σξ = {slack.sum():.2f}")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# A small :math:`C` buys width with slack, and a large :math:`C` gives up width to avoid slack. A street that avoids the
# slack of a few stray points may *overfit*: it fits their random positions, and misclassifies more new points. Only
# data, not geometry, can show which :math:`C` is too large. :doc:`Chapter 5 <05_the_whole_loop>` shows overfitting;
# chapters :doc:`11 <11_leave_one_out>` and :doc:`15 <15_the_path_of_c>` estimate the error on new points.
#
# Below, the button "End" computes the street for the :math:`C` that the slider shows. Drag a point across the line, and
# press "End" again. Chapters 3 to 5 build the solver behind the button "Step"; chapters 2 to 7 explain the other
# pictures of this *stepper*.
#
# .. stepper::
#    :data: clouds
#    :n: 20
#    :seed: 3
#    :gamma: 0
#    :C: 30
#
# In the package
# --------------
#
# :class:`~refsvm.estimators.svc.SVC` finds the same street without SLSQP; the rest of this book explains how.

model = SVC(kernel="linear", C=30.0, tol=1e-6).fit(X, turned)
print("SLSQP ", soft_w.round(4), f"{soft_b:.4f}")
print("refsvm", model.coef_[0].round(4), f"{model.intercept_[0]:.4f}")
hard = solve(DualProblem.classification(X, turned, kernel=Linear(), C=np.inf))
print("without slack:", hard.status.value)

# %%
# This is the package's code for :math:`F`; the next chapter explains :math:`\alpha` and :math:`G`.
#
# .. shipped:: core/problem.py
#    :object: DualProblem.primal_objective
#    :fold: The primal objective in the package
#
# .. admonition:: Known elsewhere as
#
#    Other texts call the middle of the widest street the *maximum-margin* or *optimal hyperplane*, and a street without
#    slack a *hard margin*. The objective :math:`F` is the *regularised risk*, its first term *weight decay* or an
#    :math:`\ell_2` penalty, and :math:`b` the *bias* or *offset*. LIBSVM stores :math:`-b` as ``rho``.
#
# Where it comes from
# -------------------
#
# Wolfe derived the dual of convex problems (1961). Novikoff bounded the perceptron's number of corrections (1962), and
# Aizerman, Braverman and Rozonoer gave the perceptron a kernel (1964). Vapnik and Lerner published the separating
# hyperplane of largest margin (1963). Boser, Guyon and Vapnik gave the hyperplane a kernel (1992), and Cortes and
# Vapnik added the slacks (1995).
#
# Wen and others (2018) trained support vector machines on graphics processors. The picture shows the year of each idea;
# the numbers in brackets are chapters.
#

# fold: The code of this figure
# alt: Three time axes from 1961 to today list ideas, most with the number of a chapter: models and large n, training,
#     and many problems.
events = {
    "models, and large n": (
        (1961, "dual problem (2)"), (1962, "perceptron (1)"), (1963, "widest margin (1)"),
        (1964, "kernels (2)"), (1992, "margin, kernels (2)"), (1995, "slacks (1)"),
        (2000, "ν, graph of pairs (16)"), (2001, "novelty (16), Nyström (9)"), (2007, "random features (9)"),
        (2008, "LIBLINEAR (9)"),
    ),
    "training": (
        (1997, "larger sets (3)"), (1998, "pairs: SMO (3)"), (1999, "shrinking (8)"), (2001, "most violating pair (3)"),
        (2002, "it converges (9)"), (2005, "second order (7)"), (2006, "maximum gain (7)"),
        (2008, "planned steps (10)"), (2018, "graphics processors"), (2021, "conjugate steps (10)"),
    ),
    "many problems": (
        (2000, "seeds, ξα bound (11)"), (2002, "slope of the optimum (18)"), (2004, "path of C (15)"),
        (2008, "sign, left out (12)"), (2010, "path on any data (15)"), (2017, "seeds of folds (13)"),
        (2026, "balls of refsvm (12, 15)"),
    ),
}  # fmt: skip
figure, axes = plt.subplots(figsize=(6.4, 7.4))
for x, (name, entries) in zip((0.0, 1.21, 2.29), events.items(), strict=True):
    axes.text(x, 1984.6, name, fontsize=10, weight="bold")
    axes.plot([x, x], [1986, 1989.4], color=INK, lw=1)
    axes.plot([x, x], [1989.4, 1991.2], ":", color=INK, lw=1)  # the axis is cut: from 1964 to 1992
    axes.plot([x, x], [1991.2, 2027.5], color=INK, lw=1)
    for year, words in entries:
        at = year + 25 if year < 1970 else year
        axes.plot(x, at, "o", color=POSITIVE, ms=4)
        axes.text(x + 0.05, at, f"{year} {words}", va="center", fontsize=9)
    axes.text(x + 0.05, 2027.5, "today", va="center", fontsize=9, color="0.4")
axes.set(xlim=(-0.03, 3.38), ylim=(2028.1, 1983.6))
axes.axis("off")
plt.show()

# %%
# Exercises
# ---------
#
# An answer takes a few lines (★), half a page (★★) or a page (★★★).
#
# 1. ★ Remove all points of the first picture that are not on a margin, and find the street again. Has the street moved?
# 2. ★ Show that the least :math:`F` of a soft street is at most :math:`Cn`.
# 3. ★ Why is a general optimiser unsuited to ten thousand points?
#
# .. fold:: Hints
#
# 1. Call ``widest_street`` with the remaining points and labels.
# 2. Compute the slacks and the :math:`F` of a machine with :math:`w=0` and :math:`b=0`.
# 3. Count the unknowns of the problem with slacks, and think of the matrix that SLSQP factorises.
#
# .. endfold::
#
# .. fold:: Answers

alone_w, alone_b = widest_street(X[on_margin], y[on_margin])
print(f"1. moved by {np.abs(alone_w - w).max():.0e} in w and {abs(alone_b - b):.0e} in b: no")
for C in (0.03, 0.3, 30.0):
    soft_w, soft_b, slack = soft_street(X, turned, C)
    print(f"2. C = {C:g}: F = {soft_w @ soft_w / 2 + C * slack.sum():.3f}, C n = {C * len(y):g}")

# %%
# 1. A point away from the margins has :math:`y_ih(x_i)>1`, so its constraint is not active near the solution. Dropping
#    an inactive constraint does not move the minimum of a convex function.
# 2. With :math:`w=0` and :math:`b=0` every point has the slack 1, so :math:`F=Cn`, and the least :math:`F` is at most
#    :math:`Cn`.
# 3. In each iteration SLSQP factorises a matrix with a row for each unknown. Ten thousand examples add as many
#    unknowns, their slacks, so the matrix has more than :math:`10^8` entries.
#
# .. endfold::
