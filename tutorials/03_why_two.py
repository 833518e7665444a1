r"""
3 · Why two
===========

The simplest solver of the dual (:doc:`chapter 2 <02_prices>`) would change one variable at a time, but the sum
constraint forbids that. At least two variables have to move together. This chapter shows why two suffice, how far a
pair may go, and which pairs gain.
"""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, solve

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

X = np.array([[-1.0, 0.0], [1.0, 0.3], [0.1, 0.5]])
y = np.array([1, 1, -1])
problem = DualProblem.classification(X, y, kernel=RBF(gamma=0.5), C=2.0)

# %%
# One variable cannot move
# ------------------------
#
# The sum is fixed: :math:`\sum_i\alpha_i=0`. If a variable rises by :math:`\mu`, the other variables together have to
# fall by :math:`\mu`. The simplest move is
#
# .. math:: \alpha_i \leftarrow \alpha_i+\mu, \qquad \alpha_j \leftarrow \alpha_j-\mu,
#
# a step of length :math:`\mu` along :math:`e_i-e_j`, where the vector :math:`e_i` has a 1 at place :math:`i` and zeros
# elsewhere. The two indices are the *working set* :math:`(i,j)`.
#
# A problem with three examples can be drawn in a plane, because :math:`\alpha_0` and :math:`\alpha_1` determine
# :math:`\alpha_2=-\alpha_0-\alpha_1`. The box of the third variable excludes a corner of the square of the first two
# variables. Each of the three pairs has its own direction.

# fold: The code of this figure
# alt: A plane of two variables shows contours of the objective, the shaded feasible triangle, the directions of the
#     three pairs, and the optimum on an edge of the triangle.
grid = np.meshgrid(np.linspace(-0.3, 2.3, 200), np.linspace(-0.3, 2.3, 200))
alpha = np.stack([*grid, -grid[0] - grid[1]])
K = RBF(gamma=0.5)(X, X)
f = np.tensordot(y, alpha, 1) - 0.5 * np.einsum("i...,ij,j...", alpha, K, alpha)
inside = np.all((alpha >= problem.lower[:, None, None]) & (alpha <= problem.upper[:, None, None]), axis=0)

figure, axes = plt.subplots(figsize=(5, 5.2))
axes.contourf(*grid, inside, levels=[0.5, 1.5], colors=["0.93"])
axes.contour(*grid, f, levels=15, colors="0.7", linewidths=0.8, linestyles="solid")
start = np.array([0.6, 0.5])
for (i, j), direction, colour in (
    ((0, 1), (1, -1), INK),
    ((0, 2), (1, 0), NEGATIVE),
    ((1, 2), (0, 1), POSITIVE),
):
    way = 0.35 * np.array(direction)
    axes.annotate("", start + way, start - way, arrowprops={"arrowstyle": "<->", "color": colour, "lw": 2})
    axes.plot([], [], color=colour, lw=2, label=f"pair ({i}, {j})")
best = solve(problem).alpha
axes.plot(*best[:2], "*", color=INK, ms=13, label="optimum")
axes.fill([], [], color="0.93", label="feasible")
axes.set(xlabel=r"$\alpha_0$", ylabel=r"$\alpha_1$", aspect="equal")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# How far?
# --------
#
# A pair can move as far as the box allows both variables to move. If :math:`\mu` is positive, :math:`\alpha_i` can rise
# by :math:`U_i-\alpha_i`, and :math:`\alpha_j` can fall by :math:`\alpha_j-L_j`. If :math:`\mu` is negative,
# :math:`\alpha_i` falls and :math:`\alpha_j` rises. So :math:`\mu` lies between
#
# .. math::
#
#    \text{lo}=\max(L_i-\alpha_i,\ \alpha_j-U_j) \quad\text{and}\quad \text{hi}=\min(U_i-\alpha_i,\ \alpha_j-L_j).
#
# In the package ``measure`` computes both limits, and the slope and curvature of :doc:`chapter 4 <04_one_step>`:
#
# .. shipped:: core/state.py
#    :object: SolverState.measure
#
# Which pairs gain?
# -----------------
#
# Along :math:`e_i-e_j` the objective :math:`f` has the slope :math:`\nabla f\cdot(e_i-e_j)=G_i-G_j`, with the gradient
# :math:`G=y-K\alpha`. To gain, a step must go uphill, and the box must let both variables move. So collect
#
# .. math:: I_\text{up}=\{i:\alpha_i<U_i\}, \qquad I_\text{down}=\{j:\alpha_j>L_j\},
#
# the variables that may rise and the variables that may fall. A pair gains exactly if :math:`i\in I_\text{up}`,
# :math:`j\in I_\text{down}` and :math:`G_i>G_j`. To see whether some pair gains, compare two numbers:
#
# .. math:: \psi = \max_{I_\text{up}} G - \min_{I_\text{down}} G .
#
# This is the *KKT gap*. If :math:`\psi\le0`, no step on a pair gains; if :math:`\psi>0`, the indices of the maximum and
# the minimum form a pair that gains, the *most violating pair*.
#
# .. shipped:: core/arithmetic.py
#    :object: Arithmetic.most_violating_pair

from refsvm.core.problem import most_violating_pair

for name, at in (("α = 0", np.zeros(3)), ("start", np.append(start, -start.sum())), ("optimum", best)):
    G = problem.gradient(at)
    i, j, psi = most_violating_pair(at, G, problem.lower, problem.upper)
    print(f"{name:8s} G = {G.round(3)}, most violating pair ({i}, {j}), ψ = {psi:.4f}")

# %%
# The bars in the third picture of the stepper show :math:`G_i-b`, first for the variables that may rise, then for the
# variables that may fall. Choose "your own" as the pair, then :math:`i` and :math:`j`. The step gains if the bar of
# :math:`i` in the first group ends above the bar of :math:`j` in the second group.
#
# .. stepper::
#    :selector: mvp
#    :C: 2
#
# Two are enough
# --------------
#
# Could a direction that moves many variables gain if no pair gains? No. Let :math:`d` lead from :math:`\alpha` to
# another feasible point. The entries of :math:`d` sum to zero, so its positive entries can be matched with its negative
# entries:
#
# .. math:: d = \sum_{i:\,d_i>0}\ \sum_{j:\,d_j<0} t_{ij}\,(e_i-e_j), \qquad t_{ij}\ge0 .
#
# Each :math:`i` rises, so it is in :math:`I_\text{up}`; each :math:`j` falls, so it is in :math:`I_\text{down}`. Hence
#
# .. math:: \nabla f\cdot d = \sum_{i,j} t_{ij}\,(G_i-G_j) \;\le\; \psi\sum_{i,j} t_{ij} .
#
# If :math:`\psi\le0`, no feasible direction leads uphill. Along any direction :math:`d` the function :math:`f` is a
# parabola that bends down, because :math:`d^\top Kd\ge0`. If the parabola does not rise at its start, it never rises.
# **So a point is optimal exactly if no step on a pair gains.** The method is *sequential minimal optimisation*, SMO:
# every step solves the smallest possible problem.
#
# This function matches positive with negative entries:


def matched(d):
    """Return the triples (i, j, t) with d = Σ t (e_i − e_j)."""
    rest, triples = d.copy(), []
    while rest.max() > 1e-12:
        i, j = int(rest.argmax()), int(rest.argmin())
        t = min(rest[i], -rest[j])
        rest[i] -= t
        rest[j] += t
        triples.append((i, j, round(float(t), 3)))
    return triples


print(matched(np.array([0.5, -0.2, 0.4, -0.6, -0.1])))

# %%
# .. admonition:: Known elsewhere as
#
#    The problem of a pair is also called the *subproblem*, and the most violating pair the *maximal violating pair*. A
#    solver that moves a few variables at a time is a *decomposition method*. LIBSVM writes :math:`I_\text{low}` for
#    :math:`I_\text{down}`. Osuna, Freund and Girosi moved larger sets of variables in 1997, Platt pairs in 1998.
#
# Exercises
# ---------
#
# 1. ★ Write a function that returns lo and hi of a pair, and call it for all six ordered pairs, at the point where the
#    picture's arrows cross. How do lo and hi of the pair :math:`(j,i)` follow from lo and hi of :math:`(i,j)`?
# 2. ★ :math:`n` examples have :math:`n(n-1)/2` pairs. How many numbers have to be compared to find the most violating
#    pair?
# 3. ★★ Without :math:`b` the sum is free (exercise 2 of chapter 2), so a solver may move one variable at a time. Write
#    such a solver.
#
# .. fold:: Hints
#
# 1. The formulas for lo and hi are two lines of NumPy; for :math:`(j,i)` exchange the indices.
# 2. The index of the maximum does not depend on the index of the minimum.
# 3. :math:`G_i` is the slope along :math:`\alpha_i` and :math:`K_{ii}` the curvature.
#
# .. endfold::
#
# .. fold:: Answers

at = np.append(start, -start.sum())
for i in range(3):
    for j in range(3):
        if i != j:
            low = max(problem.lower[i] - at[i], at[j] - problem.upper[j])
            high = min(problem.upper[i] - at[i], at[j] - problem.lower[j])
            print(f"1. pair ({i}, {j}): lo {low:.2f}, hi {high:.2f}")

alpha = np.zeros(3)
for _ in range(50):
    for i in range(3):
        G_i = y[i] - K[i] @ alpha
        alpha[i] = np.clip(alpha[i] + G_i / K[i, i], problem.lower[i], problem.upper[i])
print("3. without b:", alpha.round(4), "with b:", best.round(4))

# %%
# 1. A step on :math:`(j,i)` is a step on :math:`(i,j)` with the opposite sign, so lo of :math:`(j,i)` is minus hi of
#    :math:`(i,j)`.
# 2. The search compares at most :math:`n` numbers for the maximum and :math:`n` for the minimum.
# 3. The solver takes Newton's step for one variable, clipped to the box: afterwards :math:`G_i=0`, or :math:`\alpha_i`
#    is at a bound.
#
# .. endfold::
