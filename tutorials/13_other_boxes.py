r"""
Other boxes
===========

Classification, regression, novelty detection and the hard margin look like four methods. In the signed dual they are
one problem,

.. math:: \max_\alpha\; v^T\alpha - \tfrac12\alpha^TK\alpha \quad\text{where}\quad 1^T\alpha = z,\; L \le \alpha \le U,

with another :math:`v`, another :math:`z` and another box :math:`[L, U]`. So each rule of this package serves all four:
a selector reads the gradient and the box, and does not know what they mean. The symbols are those of the page
:doc:`/notation`.
"""

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    RBF,
    SVR,
    DualProblem,
    HybridMaximumGain,
    MostViolatingPair,
    OneClassSVM,
    SecondOrder,
    solve,
)

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# Four problems on the same examples
# ----------------------------------
#
# Forty points on a line. For classification they have labels, for regression targets, for novelty detection nothing.

rng = np.random.default_rng(4)
x = np.sort(rng.uniform(-3.0, 3.0, 40))
X = x[:, None]
labels = np.where(x + 0.4 * rng.normal(size=40) > 0, 1, -1)
separable = np.where(x > 0, 1, -1)
targets = np.sin(2.0 * x) + 0.1 * rng.normal(size=40)
kernel = RBF(1.0)

problems = {
    "classification": DualProblem.classification(X, labels, kernel=kernel, C=2.0),
    "hard margin": DualProblem.classification(X, separable, kernel=kernel, C=np.inf),
    "regression": DualProblem.regression(X, targets, kernel=kernel, C=2.0, epsilon=0.2),
    "novelty": DualProblem.one_class(X, kernel=kernel, nu=0.2),
}

# %%
# The boxes, drawn
# ----------------
#
# A grey bar is the interval :math:`[L_i, U_i]` of a variable, a dot its value at the optimum. In classification the
# label says to which side of 0 the bar reaches. A hard margin leaves that side open. In regression each example has two
# variables, one that pulls the function up and one that pulls it down; they share a kernel row, and at most one of them
# is not zero. In novelty detection all bars are :math:`[0, 1]`, and the sum of the variables is
# :math:`z = \nu n = 8` instead of 0.


def draw(axes, name, problem, alpha):
    """Draw the box of a problem, and α in it."""
    top = 1.15 * np.abs(alpha).max()
    for i, (low, high) in enumerate(zip(problem.lower, problem.upper, strict=True)):
        axes.plot([i, i], [max(low, -top), min(high, top)], color="0.85", lw=3, solid_capstyle="butt")
    axes.plot(alpha, ".", color=ORANGE, ms=5)
    axes.axhline(0.0, color=INK, lw=0.6)
    axes.set(title=f"{name}: z = {problem.z:g}", xlabel="variable", ylabel=r"$\alpha$")


figure, grid = plt.subplots(2, 2, figsize=(8.4, 5.6))
for axes, (name, problem) in zip(grid.flat, problems.items(), strict=True):
    draw(axes, name, problem, solve(problem).alpha)

# %%
# The same selectors, swapped in each
# -----------------------------------
#
# Nothing about a selector changes from one problem to the next. How many steps each takes does; the optimum does not.

print(f"{'':16}" + "".join(f"{name:>16}" for name in problems))
for selector in (MostViolatingPair(), SecondOrder(), HybridMaximumGain()):
    solutions = [solve(problem, selector=selector, shrinking=False) for problem in problems.values()]
    steps = "".join(f"{solution.iterations:16d}" for solution in solutions)
    print(f"{type(selector).__name__[:16]:16}{steps}")
    for problem, solution in zip(problems.values(), solutions, strict=True):
        assert abs(solution.objective - solve(problem).objective) <= 1e-2 * (1.0 + abs(solution.objective))

# %%
# What the solutions mean
# -----------------------
#
# The estimators :class:`~refsvm.estimators.svr.SVR` and :class:`~refsvm.estimators.one_class.OneClassSVM` make the last
# two of these problems and predict. The tube of width :math:`2\varepsilon` holds the examples that cost nothing; the
# novelty detector marks where :math:`h(x) < 0`.

line = np.linspace(-5.0, 5.0, 400)[:, None]
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
regression = SVR(kernel=kernel, C=2.0, epsilon=0.2).fit(X, targets)
h = regression.predict(line)
left.fill_between(line[:, 0], h - 0.2, h + 0.2, color=BLUE, alpha=0.15, lw=0, label=r"tube, $\pm\varepsilon$")
left.plot(line, h, color=BLUE, label="h(x)")
left.plot(x, targets, ".", color=INK, label="examples")
left.plot(
    x[regression.support_],
    targets[regression.support_],
    "o",
    mfc="none",
    color=ORANGE,
    label="support vectors",
)
left.set(title="regression", xlabel="x", xlim=(-3.5, 3.5))
left.legend(frameon=False, fontsize=8)
novelty = OneClassSVM(kernel=kernel, nu=0.2).fit(X)
right.plot(line, novelty.decision_function(line), color=BLUE, label="h(x)")
right.plot(x, np.zeros(40), "|", color=INK, ms=12, label="examples")
right.axhline(0.0, color="0.7", lw=0.8)
right.set(title="novelty detection", xlabel="x")
right.legend(frameon=False, fontsize=8)
outside = int((novelty.predict(X) < 0).sum())
print(f"{outside} of 40 examples are outside; at most ν·n = 8 may be")

# %%
# Exercises
# ---------
#
# 1. Set :math:`\varepsilon = 1.5`, more than any target is away from 0. How many support vectors are left?
# 2. Give one example of the hard margin the other label, and put it on top of its neighbour. What does
#    ``solve(...).status`` say?
#
# .. raw:: html
#
#     <details><summary>Answers</summary>
#
# None: the tube holds all targets, and α = 0 is the optimum. The status is ``INSEPARABLE``: no function of the kernel
# separates two examples that are the same.
#
# .. raw:: html
#
#     </details>

assert len(SVR(kernel=kernel, epsilon=1.5).fit(X, targets).support_) == 0
twice, other = np.vstack([X, X[:1]]), np.append(separable, -separable[0])
print(solve(DualProblem.classification(twice, other, kernel=kernel, C=np.inf)).status.name)
