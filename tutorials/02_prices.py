r"""
2 · Prices
==========

:doc:`Chapter 1 <01_the_widest_street>` computed the widest street under constraints. This chapter replaces each
constraint by a price. The prices are the unknowns of a second problem, the *dual*, which has one variable for each
example and uses only inner products of examples. Any feasible prices give a lower bound on the cost of every street.
"""

# fold: Imports, the examples, and the code of this figure
# alt: Over the steps of a solver, the cost F of the street lies above the dual objective f, which rises; both meet
#     after a few steps.
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from refsvm import RBF, DualProblem, KKTGap, Linear, NewtonStep, iterate, solve

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

rng = np.random.default_rng(3)
y = np.repeat([-1, 1], 10)
X = rng.normal(scale=0.6, size=(20, 2)) + np.outer(y, [1.0, 0.8])
y[2] = 1  # no line separates these
n, C = len(y), 0.3

problem = DualProblem.classification(X, y, kernel=Linear(), C=C)
values = [
    (state.objective, problem.primal_objective(state.alpha, gradient=state.gradient))
    for state in iterate(problem, step=NewtonStep())
]
figure, axes = plt.subplots(figsize=(6.4, 3.2))
steps = np.arange(1, len(values) + 1)
axes.plot(steps, np.array(values)[:, 1], ".-", color=POSITIVE, label="$F$, an upper bound")
axes.plot(steps, np.array(values)[:, 0], ".-", color=NEGATIVE, label="$f$, a lower bound")
axes.set(xlabel="steps", ylabel="objective")
axes.legend(frameon=False)
plt.show()

# %%
# A price for each constraint
# ---------------------------
#
# The problem of chapter 1, with its soft margin, is
#
# .. math::
#
#    \min_{w,b,\xi}\ \tfrac12\lVert w\rVert^2 + C\sum_i\xi_i
#    \quad\text{where}\quad y_i(w\cdot x_i+b)\ge1-\xi_i,\quad \xi_i\ge0 .
#
# Drop the constraints, and add to the cost a price for each unit by which a constraint is broken: the price
# :math:`a_i\ge0` for the first constraint, :math:`r_i\ge0` for the second. Over-fulfilment is refunded. The prices are
# called *Lagrange multipliers*, and the total bill is the *Lagrangian*
#
# .. math::
#
#    \mathcal L = \tfrac12\lVert w\rVert^2 + C\sum_i\xi_i
#      - \sum_ia_i\bigl(y_i(w\cdot x_i+b)-1+\xi_i\bigr) - \sum_ir_i\xi_i .
#
# For any feasible :math:`(w,b,\xi)` the bill is at most :math:`F`, because feasible points only earn refunds. So the
# *smallest* bill over all :math:`w,b,\xi`, feasible or not, is at most the optimum. Every choice of prices thus gives a
# lower bound. Which bill is smallest?
#
# * As a function of :math:`w` the bill is a parabola. Its derivative :math:`w-\sum_ia_iy_ix_i` is zero at
#   :math:`w=\sum_ia_iy_ix_i`.
# * As a function of :math:`b` the bill is a straight line with the slope :math:`-\sum_ia_iy_i`. Unless the slope is
#   zero, the line falls to :math:`-\infty`, and the bound is useless. So :math:`\sum_ia_iy_i=0`. **The sum constraint
#   comes from** :math:`b`.
# * As a function of :math:`\xi_i` the bill is a straight line with the slope :math:`C-a_i-r_i`, which also has to be
#   zero. Since :math:`r_i\ge0`, a zero slope requires :math:`0\le a_i\le C`. **The box comes from the slack.**
#
# Putting these results into the bill leaves :math:`\sum_ia_i-\tfrac12\lVert\sum_ia_iy_ix_i\rVert^2`. Multiply each
# price by its label: :math:`\alpha_i=y_ia_i`. Then :math:`w=\sum_i\alpha_ix_i`, and the largest lower bound is
#
# .. math::
#
#    \max_\alpha\ f(\alpha) = y^\top\alpha-\tfrac12\,\alpha^\top K\alpha
#    \quad\text{where}\quad \sum_i\alpha_i=0,\quad L_i\le\alpha_i\le U_i,
#
# with :math:`K_{ij}=x_i\cdot x_j`; the box is :math:`[0,C]` for a positive example and :math:`[-C,0]` for a negative
# one. This is the *dual problem*. The package builds it with this function:
#
# .. shipped:: core/formulations.py
#    :object: Formulations.classification

for i in (0, 2):
    print(f"example {i}: y = {y[i]:+d}, box from {problem.lower[i]:g} to {problem.upper[i]:g}")

# %%
# Three points by hand
# --------------------
#
# Let the negative examples be the numbers 0 and 1, and the positive example 3; slack is not allowed. The street lies
# between 1 and 3, so :math:`w=1`, :math:`b=-2`, and :math:`F=\tfrac12`. The sum constraint requires
# :math:`a_3=a_0+a_1`, and
#
# .. math:: f = a_0+a_1+a_3-\tfrac12(3a_3-a_1)^2 = 2a_3-\tfrac12(3a_3-a_1)^2 .
#
# For a given :math:`a_3`, :math:`f` is largest when :math:`a_1` is as large as possible: :math:`a_1=a_3`,
# :math:`a_0=0`. The remaining parabola :math:`2a_3-2a_3^2` has its top at :math:`a_3=\tfrac12`, where :math:`f`, like
# :math:`F`, is :math:`\tfrac12`. The price of point 0, which is not on a margin, is zero.

line, sides = np.array([[0.0], [1.0], [3.0]]), np.array([-1, -1, 1])
by_hand = solve(DualProblem.classification(line, sides, kernel=Linear(), C=np.inf), stop=KKTGap(1e-9))
print(
    f"α = {by_hand.alpha.round(6) + 0.0}, w = {by_hand.alpha @ line[:, 0]:.3f}, b = {by_hand.intercept:.3f}"
)
print(f"f = {by_hand.objective:.6f}, F = {by_hand.primal_objective:.6f}")

# %%
# A price is a slope of the optimum. If point :math:`i` has to satisfy :math:`y_ih(x_i)\ge1+u`, the dual objective gains
# the term :math:`a_iu`, and the optimal prices stay feasible. So for every :math:`u` the optimum grows by at least
# :math:`a_iu`: a line of slope :math:`a_i` touches the curve of the optimum over :math:`u` from below at :math:`u=0`.
# If the curve is smooth there, the line is its tangent. For each point the figure shows this curve and, dotted, this
# line:

# fold: The code of this figure
# alt: The optimum is drawn over u for each of the three points. The curve of point 0 is flat up to u = 1. The equal
#     curves of points 1 and 3 rise, and touch their dotted line of slope one half at u = 0.
figure, axes = plt.subplots(figsize=(6.4, 3.0))
asked = np.linspace(-0.6, 1.6, 45)
for i, (colour, look) in enumerate(((INK, "-"), (NEGATIVE, "-"), (POSITIVE, "--"))):
    optima = []
    for u in asked:
        v = by_hand.problem.v.copy()
        v[i] *= 1.0 + u
        moved = DualProblem(by_hand.problem.gram, v, 0.0, by_hand.problem.lower, by_hand.problem.upper)
        optima.append(solve(moved, stop=KKTGap(1e-9)).objective)
    axes.plot(asked, optima, look, color=colour, label=f"point {line[i, 0]:g}, $a={abs(by_hand.alpha[i]):g}$")
    axes.plot(asked, by_hand.objective + abs(by_hand.alpha[i]) * asked, ":", color=colour, lw=1)
axes.set(xlabel="$u$", ylabel="the optimum")
axes.legend(frameon=False)
plt.show()

# %%
# Allow no slack. The prices of the positive and of the negative examples have the same sum :math:`s`. Divided by
# :math:`s`, the prices of a class are the weights of a mixture of its examples. The mixture is a point of the *convex
# hull* of the class, and :math:`w` is :math:`s` times the difference of the two mixtures. For mixtures :math:`m_+` and
# :math:`m_-` the dual objective is :math:`2s-\tfrac12s^2\lVert m_+-m_-\rVert^2`. Its maximum over :math:`s` is
# :math:`2/\lVert m_+-m_-\rVert^2`, which is largest for the two nearest points of the hulls. So the widest street is at
# a right angle to the line that joins these points.

# fold: The code of this figure
# alt: A polygon, the convex hull, surrounds each of two clouds of points. A line joins the nearest points of the
#     polygons, and the boundary crosses this line in its middle at a right angle.
from scipy.spatial import ConvexHull

figure, axes = plt.subplots(figsize=(4.8, 4.8))
parts = np.random.default_rng(3).normal(scale=0.6, size=(20, 2)) + np.outer(
    np.repeat([-1, 1], 10), [1.0, 0.8]
)
of = np.repeat([-1, 1], 10)
hulls = solve(DualProblem.classification(parts, of, kernel=Linear(), C=np.inf), stop=KKTGap(1e-9))
nearest = []
for label, colour, marker in ((-1, NEGATIVE, "o"), (1, POSITIVE, "^")):
    corners = parts[of == label][ConvexHull(parts[of == label]).vertices]
    axes.fill(*corners.T, fc="none", ec=colour, lw=1)
    axes.plot(*parts[of == label].T, marker, color=colour, ms=5)
    mix = np.abs(hulls.alpha[of == label])
    nearest.append(mix @ parts[of == label] / mix.sum())
axes.plot(*np.transpose(nearest), "D-", color=INK, ms=6, label="nearest points of the hulls")
direction, middle = nearest[1] - nearest[0], np.mean(nearest, axis=0)
across = np.array([-direction[1], direction[0]]) / np.linalg.norm(direction)
axes.plot(*(middle + np.array([[-1.8], [1.8]]) * across).T, color=INK, lw=2, label="$h=0$")
axes.set(xticks=[], yticks=[], aspect="equal")
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()
w_hulls = hulls.alpha @ parts
print(
    f"distance of the hulls {np.linalg.norm(direction):.4f}, width of the street {2 / np.linalg.norm(w_hulls):.4f}"
)

# %%
# Never above
# -----------
#
# Take any feasible :math:`\alpha`, any :math:`b`, and the street with :math:`w=\sum_i\alpha_ix_i`. For this street
# :math:`\lVert w\rVert^2` is :math:`\alpha^\top K\alpha=\sum_i\alpha_i\,w\cdot x_i=\sum_i\alpha_ih(x_i)`, where
# :math:`b` drops out because :math:`\sum_i\alpha_i=0`. The third line below uses :math:`\alpha_iy_i=a_i`, which holds
# because :math:`y_i^2=1`:
#
# .. math::
#
#    F-f &= \alpha^\top K\alpha + C\sum_i\xi_i - \sum_i y_i\alpha_i \\
#        &= C\sum_i\xi_i - \sum_i\alpha_i\bigl(y_i-h(x_i)\bigr) \\
#        &= \sum_i\Bigl(C\,\xi_i - a_i\bigl(1-y_ih(x_i)\bigr)\Bigr) \;\ge\; 0 ,
#
# because :math:`1-y_ih(x_i)\le\xi_i` and :math:`0\le a_i\le C` and :math:`\xi_i\ge0`. These three lines are a
# *certificate*: they hold for every feasible :math:`\alpha`, whatever program computed it. The inequality :math:`f\le
# F` is called *weak duality*, and :math:`F-f` is the *duality gap*.
#
# The optimum lies above the :math:`f` of a thousand random :math:`\alpha` and below the :math:`F` of a thousand random
# streets:

# fold: Random prices and streets, and a general optimiser in between
certain = minimize(
    lambda a: -problem.objective(a),
    np.zeros(n),
    jac=lambda a: -problem.gradient(a),
    bounds=list(zip(problem.lower, problem.upper, strict=True)),
    constraints={"type": "eq", "fun": np.sum, "jac": lambda a: np.ones(n)},
    method="SLSQP",
    options={"ftol": 1e-14, "maxiter": 500},
).x
for bound in (problem.lower, problem.upper):  # what is at a bound but for rounding is put there
    certain = np.where(np.abs(certain - bound) < 1e-9, bound, certain)
w = X.T @ certain
b = problem.intercept(certain)

nearer = rng.uniform(size=(1000, 1))  # a mixture of two feasible points is feasible
lottery = np.array([problem.feasible(rng.uniform(problem.lower, problem.upper)) for _ in range(1000)])
duals = [problem.objective(prices) for prices in nearer * certain + (1 - nearer) * lottery]
streets = w + rng.normal(scale=0.3, size=(1000, 2))
offsets = b + rng.normal(scale=0.2, size=1000)
losses = np.maximum(0.0, 1.0 - y * (streets @ X.T + offsets[:, None])).sum(axis=1)
primals = (streets**2).sum(axis=1) / 2 + C * losses
print(
    f"largest f {max(duals):.4f} <= optimum {problem.objective(certain):.4f} <= smallest F {min(primals):.4f}"
)
print(f"w from the prices {w.round(3)}, duality gap {problem.duality_gap(certain):.1e}")

# %%

# fold: The code of this figure
# alt: A vertical line marks the optimum. The values of random prices lie to its left, the costs of random streets to
#     its right.
figure, axes = plt.subplots(figsize=(6.4, 3.2))
bins = problem.objective(certain) + np.linspace(-6, 2, 81)  # the optimum is an edge
axes.hist(duals, bins, color=NEGATIVE, label=r"$f$ of random prices $\alpha$")
axes.hist(primals, bins, color=POSITIVE, label="$F$ of random streets")
axes.axvline(problem.objective(certain), color=INK, label="the optimum of both")
axes.set(xlabel="value of the objective", ylabel="how many", yticks=[])
axes.legend(frameon=False)
plt.show()

# %%
# At the optimum :math:`f` and :math:`F` are equal. :doc:`Chapter 6 <06_when_it_is_over>` proves this *strong duality*.
# So every term of the sum above is zero, because none is negative: either the price of a constraint is zero or the
# constraint holds with equality. This *complementary slackness* sorts the examples:
#
# ===============  =================  =========================================================================
# :math:`a_i`      :math:`y_ih(x_i)`  the example
# ===============  =================  =========================================================================
# :math:`0`        :math:`\ge1`       costs nothing: outside the street, or just on its margin
# between 0 and C  :math:`=1`         stands on its margin: a *free* support vector
# :math:`C`        :math:`\le1`       stands on its margin, on the street or beyond: a *bounded* support vector
# ===============  =================  =========================================================================

margin, a = y * (X @ w + b), y * certain
for name, members in (
    ("zero", a == 0),
    ("free", (a > 0) & (a < C)),
    ("bounded", a == C),
):
    print(
        f"{name:8s}{members.sum():3d} examples, y h from {margin[members].min():6.3f} to {margin[members].max():6.3f}"
    )

# %%
# From both sides
# ---------------
#
# Each step of the solver ``iterate``, which chapters 3 to 5 build, raises :math:`f`. The optimum lies between :math:`f`
# and the cost of the street with the present :math:`w` and the best intercept.

print(f"{len(values)} steps; the last f {values[-1][0]:.4f}, the last F {values[-1][1]:.4f}")

# %%
# Take the steps yourself. The line under the buttons shows :math:`f` and :math:`F`. The fill of each mark shows the
# example's price as a share of :math:`C`. How do the prices change when :math:`C` grows?
#
# .. stepper::
#    :data: clouds
#    :n: 20
#    :seed: 3
#    :gamma: 0
#    :C: 0.3
#
# Streets that bend
# -----------------
#
# The dual and the classifier :math:`h(x)=\sum_i\alpha_i\,x_i\cdot x+b` use the examples only in inner products. If
# :math:`\varphi(x)` replaces :math:`x`, and :math:`k(x,x')=\varphi(x)\cdot\varphi(x')` replaces the inner product, all
# formulas stay valid. The *feature map* :math:`\varphi` takes the examples into a space in which the street is
# straight; in the space of the examples the street bends. For example, :math:`\varphi(x)=(x,x^2)` takes points of a
# line to points of a plane. The inner points of the line are of one kind, the outer points of the other, so no
# threshold separates them. A straight line in the plane separates the kinds; back on the line it becomes two
# thresholds. The *kernel* is :math:`k(x,x')=xx'+x^2x'^2`.

dots = np.linspace(-2.2, 2.2, 23)
kind = np.where(np.abs(dots) < 1.25, 1, -1)
mapped = np.column_stack([dots, dots**2])
kernel = np.outer(dots, dots) + np.outer(dots**2, dots**2)
print("the kernel is the inner product in the plane:", np.allclose(kernel, mapped @ mapped.T))
parted = solve(DualProblem.classification(mapped, kind, kernel=Linear(), C=np.inf))
w_map, b_map = mapped.T @ parted.alpha, parted.intercept
print(f"a line in the plane separates them: {(kind * (mapped @ w_map + b_map) > 0).all()}")

# %%

# fold: The code of this figure
# alt: In the left panel two thresholds separate the inner from the outer points of a line. In the right panel a
#     straight line separates the same points on a parabola.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.8))
for label, colour, marker in ((-1, NEGATIVE, "o"), (1, POSITIVE, "^")):
    left.plot(
        dots[kind == label],
        0.0 * dots[kind == label],
        marker,
        color=colour,
        ls="none",
        label=f"$y={label:+d}$",
    )
    right.plot(*mapped[kind == label].T, marker, color=colour, ls="none")
ends = np.array([-2.4, 2.4])
for level, look in ((-1, "--"), (0, "-"), (1, "--")):
    right.plot(ends, (level - b_map - w_map[0] * ends) / w_map[1], look, color=INK, lw=1.2)
fine = np.linspace(-2.4, 2.4, 801)
h = w_map[0] * fine + w_map[1] * fine**2 + b_map
for at in fine[1:][np.diff(np.sign(h)) != 0]:
    left.axvline(at, 0.0, 0.85, color=INK, lw=1.2)  # below the legend
right.plot(fine, fine**2, color="0.8", lw=1, zorder=0)
left.plot([], [], color=INK, lw=1.2, label="$h=0$")
left.set(yticks=[], xlabel="$x$", title="the line", ylim=(-1, 1))
right.set(xlabel="$x$", ylabel="$x^2$", title=r"after $\varphi(x)=(x,\,x^2)$", ylim=(-0.4, 5.2))
left.legend(frameon=False, loc="upper right", ncols=3)
plt.show()

# %%
# A function is a kernel if :math:`k(x,x')=\varphi(x)\cdot\varphi(x')` for some :math:`\varphi`. Such a :math:`\varphi`
# exists exactly if all matrices :math:`K_{ij}=k(x_i,x_j)` are symmetric and *positive semi-definite*: :math:`d^\top
# Kd\ge0` for every :math:`d`. (This is *Mercer's condition*, after Mercer's theorem of 1909.) If :math:`\varphi`
# exists, the condition holds because :math:`d^\top Kd=\lVert\sum_i d_i\varphi(x_i)\rVert^2`. Conversely, a positive
# semi-definite matrix of :math:`n` points has eigenvalues :math:`\lambda_t\ge0` and orthonormal eigenvectors
# :math:`u_t`, so
#
# .. math::
#
#    K_{ij}=\sum_t\lambda_t\,u_{ti}\,u_{tj}=\varphi(x_i)\cdot\varphi(x_j)\quad\text{with}\quad
#    \varphi(x_i)=\bigl(\sqrt{\lambda_1}\,u_{1i},\ \dots,\ \sqrt{\lambda_n}\,u_{ni}\bigr) .
#
# (A map for all points at once takes :math:`x` to the function :math:`k(x,\cdot)`, with the inner product
# :math:`k(x,\cdot)\cdot k(x',\cdot)=k(x,x')`; Moore, and Aronszajn, 1950.) However many coordinates :math:`\varphi`
# has, the best :math:`w` is a combination of the mapped examples, :math:`w=\sum_i\alpha_i\varphi(x_i)` (the
# *representer theorem* of Kimeldorf and Wahba, 1971): a part of :math:`w` at a right angle to all :math:`\varphi(x_i)`
# changes no :math:`h(x_i)`, and makes :math:`w` longer.
#
# The default kernel of the package is :math:`k(x,x')=e^{-\gamma\lVert x-x'\rVert^2}`, the Gaussian kernel ``RBF``.
#
# .. shipped:: core/kernels/functions/rbf.py
#    :object: RBF
#    :fold: The Gaussian kernel in the package

K = RBF(gamma=0.5)(X, X)
eigenvalues, u = np.linalg.eigh(K)
coordinates = u * np.sqrt(eigenvalues)
print(
    f"smallest eigenvalue of K: {eigenvalues[0]:.1e}; coordinates with these inner products: {coordinates.shape[1]}"
)
print("inner products right:", np.allclose(coordinates @ coordinates.T, K))

# %%
# The gradient :math:`G=\nabla f(\alpha)` holds the slope of :math:`f` along each variable: :math:`G_i=\partial
# f/\partial\alpha_i=v_i-\sum_jK_{ij}\alpha_j`. In vector form :math:`G=v-K\alpha`; for classification :math:`v=y`. Now
# you can read the code of :math:`F` at the end of chapter 1: ``dot(alpha, self.v - G)`` is :math:`\alpha^\top
# K\alpha=\lVert w\rVert^2`, the slacks :math:`\xi_i=\max(0,\,y_i(G_i-b))` follow from :math:`y_i-h(x_i)=G_i-b`, and
# ``b=None`` asks for the best intercept.
#
# .. shipped:: core/problem.py
#    :object: DualProblem.gradient DualProblem.objective DualProblem.duality_gap
#
# .. admonition:: Known elsewhere as
#
#    The prices are also called *dual variables*, and their problem is the *Wolfe dual*. Replacing the inner product is
#    the *kernel trick*. Most texts, and LIBSVM, use :math:`a_i=y_i\alpha_i\ge0` and :math:`Q_{ij}=y_iy_jK_{ij}`, and
#    minimise :math:`\tfrac12a^\top Qa-\sum_ia_i`, whose gradient is :math:`-y_iG_i`.
#
# Exercises
# ---------
#
# 1. ★★ Why are the :math:`a_i` called prices? Require :math:`y_ih(x_i)\ge1+u-\xi_i` of one example :math:`i`, with a
#    small :math:`u>0`. By how much does the optimum grow? (In the dual :math:`v_i` becomes :math:`y_i(1+u)`.)
# 2. ★ Fix :math:`b=0`. Which step of the derivation is no longer needed, and which constraint of the dual disappears?
# 3. ★ Prove that the classifier does not need :math:`\varphi`: write :math:`h(x)` with :math:`k` alone.
#
# .. fold:: Hints
#
# 1. At a fixed :math:`\alpha` the objective :math:`f` is linear in :math:`v`. The optimal :math:`\alpha` also moves,
#    but at the optimum :math:`f` is flat in every direction in which :math:`\alpha` may move forwards and backwards.
# 2. Which of the three derivatives is with respect to :math:`b`?
# 3. Put :math:`w=\sum_i\alpha_i\varphi(x_i)` into :math:`h(x)=w\cdot\varphi(x)+b`.
#
# .. endfold::
#
# .. fold:: Answers

u = 1e-3
best = solve(problem, stop=KKTGap(1e-10))
for i in (2, int(np.argmax((a > 0.01) & (a < C - 0.01)))):
    v = problem.v.copy()
    v[i] *= 1.0 + u
    asked = DualProblem(problem.gram, v, 0.0, problem.lower, problem.upper)
    growth = solve(asked, stop=KKTGap(1e-10)).objective - best.objective
    print(f"1. example {i}: growth / u = {growth / u:.4f}, price a = {y[i] * best.alpha[i]:.4f}")

# %%
# 1. If the optimum is a smooth function of :math:`u`, it grows by :math:`a_iu`, up to terms in :math:`u^2`: the price
#    of an example is the cost of requiring that its :math:`y_ih(x_i)` is a unit larger.
# 2. The derivative with respect to :math:`b` is not needed, and the constraint :math:`\sum_i\alpha_i=0` disappears, so
#    one variable may move alone.
# 3. The classifier is
#    :math:`h(x)=w\cdot\varphi(x)+b=\sum_i\alpha_i\,\varphi(x_i)\cdot\varphi(x)+b=\sum_i\alpha_ik(x_i,x)+b`.
#
# .. endfold::
