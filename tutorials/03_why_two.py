r"""
3 · Why two
===========

The dual of :doc:`chapter 2 <02_prices>` has one variable for each example. The simplest solver would change one
variable at a time, but the sum constraint forbids that. Two variables are the fewest that can move together, and two
suffice. This chapter shows why, how far a pair may go, and how to see at a glance which pairs gain.
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
# The sum is prescribed: :math:`\sum_i\alpha_i=0`. Raising one variable by :math:`\mu` breaks this by :math:`\mu`. So
# another variable has to fall by as much, and the simplest move is
#
# .. math:: \alpha_i \leftarrow \alpha_i+\mu, \qquad \alpha_j \leftarrow \alpha_j-\mu,
#
# a step of length :math:`\mu` along :math:`e_i-e_j`, where :math:`e_i` is the vector with a one at place :math:`i`.
# The two indices are the *working set* :math:`(i,j)`.
#
# Three examples fit on a page: :math:`\alpha_2=-\alpha_0-\alpha_1`, so two coordinates show everything. The box of the
# third example cuts a corner off the square of the first two. Three pairs are three directions.

# fold: The code of this figure
# alt: The plane of two variables with contours of the objective. The feasible region is a shaded triangle. At a
#     point inside it arrows show the directions of the three pairs, two along the axes and one diagonal; a star on
#     the edge of the triangle marks the optimum.
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
# As far as the box allows both variables. :math:`\alpha_i` can rise by :math:`U_i-\alpha_i`, and :math:`\alpha_j` can
# fall by :math:`\alpha_j-L_j`. Backwards the roles are exchanged. So :math:`\mu` lies between
#
# .. math::
#
#    \text{lo}=\max(L_i-\alpha_i,\ \alpha_j-U_j) \quad\text{and}\quad \text{hi}=\min(U_i-\alpha_i,\ \alpha_j-L_j).
#
# In the package the state of a solve computes this for the pair that is about to move. It also computes the slope and
# the curvature, which are the subject of :doc:`the next chapter <04_one_step>`.
#
# .. shipped:: core/state.py
#    :object: SolverState.measure
#
# Which pairs gain?
# -----------------
#
# Along :math:`e_i-e_j` the objective :math:`f` has the slope :math:`\nabla f\cdot(e_i-e_j)=G_i-G_j`, with the
# gradient :math:`G=y-K\alpha`. A step gains something if it goes uphill and there is room. So collect
#
# .. math:: I_\text{up}=\{i:\alpha_i<U_i\}, \qquad I_\text{down}=\{j:\alpha_j>L_j\},
#
# the variables that may rise and those that may fall. A pair gains exactly if :math:`i\in I_\text{up}`,
# :math:`j\in I_\text{down}` and :math:`G_i>G_j`. To see whether there is such a pair, compare two numbers:
#
# .. math:: \psi = \max_{I_\text{up}} G - \min_{I_\text{down}} G .
#
# This is the *KKT gap*. If :math:`\psi\le0` no pair gains. Otherwise the indices of the maximum and the minimum form a
# pair that gains, the *most violating pair*.
#
# .. shipped:: core/arithmetic.py
#    :object: Arithmetic.most_violating_pair

from refsvm.core.problem import most_violating_pair

for name, at in (("α = 0", np.zeros(3)), ("start", np.append(start, -start.sum())), ("optimum", best)):
    G = problem.gradient(at)
    i, j, psi = most_violating_pair(at, G, problem.lower, problem.upper)
    print(f"{name:8s} G = {G.round(3)}, most violating pair ({i}, {j}), ψ = {psi:.4f}")

# %%
# Here are more examples. The bars of the third picture show :math:`G_i-b` twice: for the variables that may rise and
# for the variables that may fall. Choose "your own" as the pair, then :math:`i` and :math:`j`: the step gains if the
# bar of :math:`i` among the first ends above the bar of :math:`j` among the others.
#
# .. stepper::
#    :selector: mvp
#    :C: 2
#
# Two are enough
# --------------
#
# Could some direction that moves many variables gain although no pair does? It cannot. Let :math:`d` lead from
# :math:`\alpha` to another feasible point. Its entries sum to zero, so the negative entries take away what the positive
# ones add, and the two can be matched:
#
# .. math:: d = \sum_{i:\,d_i>0}\ \sum_{j:\,d_j<0} t_{ij}\,(e_i-e_j), \qquad t_{ij}\ge0 .
#
# (Pour the positive entries one after another into the negative ones, like water into cups.) Each :math:`i` here
# rises and each :math:`j` falls, so they are in :math:`I_\text{up}` and :math:`I_\text{down}`. Hence
#
# .. math:: \nabla f\cdot d = \sum_{i,j} t_{ij}\,(G_i-G_j) \;\le\; \psi\sum_{i,j} t_{ij} .
#
# If :math:`\psi\le0`, no feasible direction leads uphill. Along any direction :math:`d` the function :math:`f` is a
# parabola that bends down, as :math:`d^\top Kd\ge0`: if it does not begin uphill, it never rises. So the point is
# optimal. **A point is optimal exactly if no pair gains.** That is the whole theory behind this kind of solver. It is
# called *sequential minimal optimisation*, SMO, because it always solves the smallest problem that can be solved at
# all.
#
# Here is the matching of an example:


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
#    *Working set* or *subproblem* for the pair; *maximal violating pair* for the most violating one; *decomposition
#    method* for any solver that moves a few variables at a time. LIBSVM writes :math:`I_\text{low}` for
#    :math:`I_\text{down}`. J. Platt published the method with two variables in 1998; E. Osuna, R. Freund and F. Girosi
#    had moved larger sets in 1997.
#
# Exercises
# ---------
#
# 1. ★ Write a function that returns lo and hi of a pair, and call it at the start of the picture for all six ordered
#    pairs. Which number of the pair :math:`(j,i)` belongs to which number of :math:`(i,j)`?
# 2. ★ :math:`n` examples have :math:`n(n-1)/2` pairs. How many numbers have to be compared to find the most violating
#    pair?
# 3. ★★ Without :math:`b` there is no sum (exercise 2 of chapter 2). How does a solver work that moves one variable at a
#    time? Write it in six lines.
#
# .. fold:: Hints
#
# 1. The formulas for lo and hi are two lines of NumPy; for :math:`(j,i)` exchange the indices in them.
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
# 1. Backwards is forwards with the sign turned: lo of :math:`(j,i)` is minus hi of :math:`(i,j)`.
# 2. :math:`2n`, once for the maximum and once for the minimum: the search need not go through all pairs.
# 3. It sets :math:`G_i` to zero, or goes to the bound: Newton's step for one variable, clipped to the box.
#
# .. endfold::
