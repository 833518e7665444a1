r"""
A first support vector machine
==============================

A support vector machine is trained by solving one optimisation problem. This tutorial solves it on data that
fit on a page and watches every step: which two variables move, how far, and what that does to the decision
boundary. At the end a certificate tells how good the solution is. The symbols are those of the page
:doc:`/notation`.
"""

import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, SVC, DualProblem, KKTGap, MostViolatingPair, NewtonStep, SecondOrder, iterate, solve
from refsvm.datasets import make_banana

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# The data and the problem
# ------------------------
#
# Two hundred points in the plane, in two classes :math:`y_i=\pm1` that no straight line separates.

data = make_banana(200, rng=0)
X, y = data.X, data.y


def show_points(axes, *, size=18, alpha=1.0):
    """Draw the examples, a marker and a colour for each class."""
    axes.scatter(*X[y < 0].T, s=size, c=NEGATIVE, marker="o", lw=0, alpha=alpha, label="$y=-1$")
    axes.scatter(*X[y > 0].T, s=size * 1.3, c=POSITIVE, marker="^", lw=0, alpha=alpha, label="$y=+1$")
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set(visible=True, color="0.8")


figure, axes = plt.subplots(figsize=(4.6, 4.2))
show_points(axes)
axes.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.09))
plt.show()

# %%
# The classifier is the sign of
#
# .. math:: h(x) = \sum_i \alpha_i\,k(x, x_i) + b, \qquad k(x, x') = e^{-\gamma\lVert x-x'\rVert^2},
#
# and training finds one :math:`\alpha_i` for each example. They are the solution of the *dual problem*
#
# .. math::
#
#    \text{maximise}\quad f(\alpha) = y^\top\alpha - \tfrac12\,\alpha^\top K\alpha
#    \qquad\text{subject to}\quad \sum_i\alpha_i = 0,\quad L \le \alpha \le U ,
#
# where :math:`K_{ij}=k(x_i,x_j)`. The box :math:`[L_i,U_i]` is :math:`[0,C]` for an example of the positive
# class and :math:`[-C,0]` for one of the negative class: the sign of :math:`\alpha_i` carries the label.
# Two numbers are ours to choose: :math:`\gamma`, how local the kernel is, and :math:`C`, the price of an
# example on the wrong side of its margin.

kernel, C = RBF(gamma=0.5), 10.0
problem = DualProblem.classification(X, y, kernel=kernel, C=C)

# %%
# The first steps
# ---------------
#
# *Sequential minimal optimisation* starts at :math:`\alpha=0` and moves two variables at a time,
# :math:`\alpha_i` up and :math:`\alpha_j` down by the same :math:`\mu`, so that the sum stays zero. Let
# :math:`G = \nabla f(\alpha) = y - K\alpha`. Along this direction :math:`f` is a parabola with slope
# :math:`\ell = G_i-G_j` and curvature :math:`q = K_{ii}+K_{jj}-2K_{ij}`. Its top is one Newton step away,
# unless the box ends first:
#
# .. math:: \hat\mu = \ell/q, \qquad \mu = \min\bigl(\hat\mu,\ U_i-\alpha_i,\ \alpha_j-L_j\bigr).
#
# ``iterate`` is this loop, written in plain NumPy. It hands over its state after every step; the state is
# one object that changes, so whatever is to be kept has to be copied.

recorded = {}
print(" step    i    j       mu    l/q  ends at       gap  objective")
for state in iterate(problem, selector=SecondOrder(), step=NewtonStep()):
    i, j = state.working_sets[0]
    end = "the top" if state.last_free else "the box"
    print(
        f"{state.iteration:5d} {i:4d} {j:4d} {state.last_step:8.4f} {state.last_newton:6.2f}"
        f"  {end} {state.gap:9.4f} {state.objective:10.4f}"
    )
    recorded[state.iteration] = state.slope, state.curvature, state.high
    if state.iteration == 10:
        break

# %%
# Two of these steps, drawn from the formula of the gain, :math:`g(\mu)=\mu\ell-\tfrac12q\mu^2`. The first
# reaches the top of its parabola. The second is *clipped*: the box ends before the top, and a variable
# comes to lie on its bound.

figure, row = plt.subplots(1, 2, figsize=(9.5, 3))
for axes, number in zip(row, (4, 8), strict=True):
    slope, curvature, high = recorded[number]
    newton = slope / curvature
    mu = np.linspace(0, 1.9 * newton, 300)
    gain = mu * slope - curvature * mu**2 / 2
    axes.axvspan(min(high, mu[-1]), mu[-1], color="0.93", lw=0)
    axes.plot(mu, np.where(mu > high, gain, np.nan), color="0.6", lw=1.5)
    axes.plot(mu, np.where(mu <= high, gain, np.nan), color=INK, lw=2)
    axes.plot(newton, newton * slope / 2, "o", color="white", mec=INK, ms=9, label=r"Newton step $\hat\mu$")
    step = min(newton, high)
    axes.plot(
        step, step * slope - curvature * step**2 / 2, "o", color=POSITIVE, ms=5, label=r"step taken $\mu$"
    )
    axes.set(xlabel=r"step length $\mu$", ylabel="gain", title=f"step {number}; grey: outside the box")
row[1].legend(frameon=False, loc="lower center")
plt.show()

# %%
# Which pair moves is the selector's choice. The plainest one takes the index with the largest gradient
# among those that may rise, :math:`I_\text{up}=\{i:\alpha_i<U_i\}`, and the one with the smallest among
# those that may fall, :math:`I_\text{down}=\{j:\alpha_j>L_j\}`. No other pair contradicts optimality as
# much; the difference of their gradients is the *KKT gap* :math:`\psi` of the table.

may_rise, may_fall = state.alpha < problem.upper, state.alpha > problem.lower
i = np.argmax(np.where(may_rise, state.gradient, -np.inf))
j = np.argmin(np.where(may_fall, state.gradient, np.inf))
print(f"pair ({i}, {j}) with the difference {state.gradient[i] - state.gradient[j]:.4f}; gap {state.gap:.4f}")

# %%
# How the boundary appears
# ------------------------
#
# The same loop once more, with copies of :math:`\alpha` kept at a few moments. The intercept belongs to the
# point reached, :math:`b=\tfrac12(\max_{I_\text{up}}G+\min_{I_\text{down}}G)`. The line is :math:`h(x)=0`.

moments = (1, 10, 50, 200)
kept = {}
for state in iterate(problem, step=NewtonStep()):
    if state.iteration in moments:
        kept[state.iteration] = state.alpha.copy()
kept[state.iteration] = state.alpha.copy()

grid_x, grid_y = np.meshgrid(
    *(np.linspace(low - 0.4, high + 0.4, 120) for low, high in zip(X.min(0), X.max(0), strict=True))
)
to_grid = kernel(np.column_stack([grid_x.ravel(), grid_y.ravel()]), X)
figure, row = plt.subplots(1, len(kept), figsize=(11, 2.6))
for axes, (steps, alpha) in zip(row, kept.items(), strict=True):
    show_points(axes, size=7, alpha=0.6)
    h = (to_grid @ alpha + problem.intercept(alpha)).reshape(grid_x.shape)
    axes.contour(grid_x, grid_y, h, levels=[0], colors=INK, linewidths=1.5)
    axes.set_title(f"{steps} step{'s' * (steps > 1)}, $f={problem.objective(alpha):.1f}$", fontsize=10)
plt.show()

# %%
# When to stop
# ------------
#
# At the optimum no pair can move uphill:
# :math:`\psi(\alpha)=\max_{I_\text{up}}G-\min_{I_\text{down}}G\le0`. The loop stops as soon as
# :math:`\psi\le\varepsilon`, here at the default :math:`10^{-3}`. The objective grows with every step; the
# gap falls in the long run only, because a step can make another pair worse. The two selectors differ in
# :math:`j`. ``MostViolatingPair`` takes the pair that makes the gap. ``SecondOrder`` keeps its :math:`i`
# and looks at the curvature too: its :math:`j` has the largest :math:`\tfrac12\ell^2/q`, the gain of the
# whole Newton step.

best = solve(problem, stop=KKTGap(1e-10)).objective
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.3), sharex=True)
for selector, colour in ((MostViolatingPair(), NEGATIVE), (SecondOrder(), POSITIVE)):
    seen = [
        (state.gap, best - state.objective)
        for state in iterate(problem, selector=selector, step=NewtonStep())
    ]
    gaps, missing = np.array(seen).T
    name = type(selector).__name__
    left.semilogy(np.arange(1, len(gaps) + 1), gaps, color=colour, lw=0.7, label=f"{name}: {len(gaps)} steps")
    right.semilogy(np.arange(1, len(gaps) + 1), missing, color=colour, lw=1.5)
left.axhline(1e-3, color=INK, lw=0.8, ls=":")
left.set(xlabel="steps", title=r"KKT gap $\psi$, until it is $10^{-3}$")
right.set(xlabel="steps", title=r"what the objective still lacks, $f^*-f$")
left.legend(frameon=False)
plt.show()

# %%
# The solution, and what a support vector is
# ------------------------------------------
#
# ``solve`` runs the loop to its end and returns a ``Solution``. With ``shrinking=False`` it takes the steps
# of the loop above one by one, in the compiled engine where Numba is installed. The result is not nearly
# the same, it is the same:

solution = solve(problem, step=NewtonStep(), shrinking=False)
print(solution.status.value, solution.iterations, "steps in the engine", solution.engine)
print("alpha equal to that of the readable loop:", np.array_equal(solution.alpha, state.alpha))

# %%
# The optimality conditions sort the examples into three groups by their *margin* :math:`y_ih(x_i)`:
#
# ==========================  ============================  ==============================================
# :math:`\alpha_i`            margin                        the example
# ==========================  ============================  ==============================================
# zero                        :math:`\ge 1`                 could be left out without changing anything
# inside its box              :math:`=1`                    a *free* support vector: it lies on the margin
# at :math:`\pm C`            :math:`\le 1`                 a *bounded* one: inside the margin, or wrong
# ==========================  ============================  ==============================================
#
# All of it can be read off the gradient, because :math:`h(x_i) = y_i - G_i + b`.

margin = y * (y - solution.gradient + solution.intercept)
size = np.abs(solution.alpha)
groups = {
    "zero": size == 0,
    "free": (size > 0) & (size < C),
    "bounded": size == C,
}
for name, members in groups.items():
    lowest, highest = margin[members].min(), margin[members].max()
    print(f"{name:8s} {members.sum():4d} examples, margins {lowest:7.4f} to {highest:7.4f}")

# %%
# ``SVC`` is the same solver behind scikit-learn's interface, so scikit-learn's display draws its decision
# function. Solid: the boundary :math:`h=0`; dashed: the margins :math:`h=\pm1`. Rings are free support
# vectors and lie on the dashed lines, crosses are bounded ones.

from sklearn.inspection import DecisionBoundaryDisplay

model = SVC(C=C, kernel="rbf", gamma=0.5).fit(X, y)
figure, axes = plt.subplots(figsize=(6.4, 5.6))
display = DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", grid_resolution=200, eps=0.4, ax=axes,
    levels=np.linspace(-4, 4, 17), extend="both", cmap="RdBu_r", alpha=0.35,
)  # fmt: skip
lines = {"levels": [-1, 0, 1], "colors": INK, "linestyles": ["--", "-", "--"], "linewidths": [1, 2, 1]}
axes.contour(display.xx0, display.xx1, display.response, **lines)
show_points(axes)
axes.scatter(*X[groups["free"]].T, s=110, facecolors="none", edgecolors=INK, lw=1.3, label="free")
axes.scatter(*X[groups["bounded"]].T, s=45, c=INK, marker="x", lw=0.9, label="bounded")
axes.legend(frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.08))
plt.show()

# %%
# A certificate
# -------------
#
# How far from optimal can this solution be? Every :math:`(\alpha,b)` gives a *primal* value
#
# .. math:: F(\alpha,b) = \tfrac12\,\alpha^\top K\alpha + C\sum_i\max\bigl(0,\ 1-y_ih(x_i)\bigr),
#
# which never lies below the dual optimum. So the optimum is between :math:`f(\alpha)` and
# :math:`F(\alpha,b)`, whatever program computed :math:`\alpha` and whatever rule stopped it.

print(f"dual {solution.objective:.6f} <= optimum <= primal {solution.primal_objective:.6f}")
print(
    f"duality gap {solution.duality_gap:.4f}, {solution.duality_gap / solution.objective:.1e} of the objective"
)

# %%
# What to try next
# ----------------
#
# * Set ``C = 1e4`` and look at the gap again: more steps, fewer bounded support vectors.
# * Set ``gamma`` to 0.05 and to 20: a boundary that is too stiff, and one that follows every point.
# * Put ``make_chessboard(200, rng=0)`` in the place of the banana.
# * Leave ``step=NewtonStep()`` away: the default step plans ahead, which is the subject of the third tutorial.
