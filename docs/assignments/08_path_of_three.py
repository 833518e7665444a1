# %% [markdown]
# # Assignment 8: a path of three points
#
# How does the solution move when C grows? Between events, α and b are linear functions of C (chapters 14 and 15). With
# three examples you can follow the whole path on paper. This assignment lets you write it as a program.
#
# The dual is $\max\ y^\top\alpha-\tfrac12\alpha^\top K\alpha$ with sum 0 and the box min(0, y C) to max(0, y C). Both
# labels occur.

# %% answer
from itertools import product

import numpy as np


def optimum(K, y, C):
    """Return the optimal α of three examples; its duality gap may be at most 1e-9.

    Each variable is at 0, free, or at its bound y C. With three examples there are 27 cases. In each case the free
    variables and b solve a linear system: G = b for all free variables, and the sum of α is 0. The feasible result with
    the largest f is the optimum. A result is feasible if it lies in the box and its sum is 0 up to 1e-12 C.
    """
    # blank: try all cases; for no free variable only the sum has to be 0
    best, value = np.zeros(3), -np.inf
    for case in product(("zero", "free", "bound"), repeat=3):
        alpha = np.where([each == "bound" for each in case], y * C, 0.0)
        free = np.flatnonzero([each == "free" for each in case])
        if len(free):
            m = len(free)
            system = np.ones((m + 1, m + 1))
            system[:m, :m], system[m, m] = K[np.ix_(free, free)], 0.0
            alpha[free] = np.linalg.solve(system, np.append((y - K @ alpha)[free], -alpha.sum()))[:m]
        inside = (y * alpha >= 0.0).all() and (y * alpha <= C).all() and abs(alpha.sum()) <= 1e-12 * C
        f = y @ alpha - 0.5 * alpha @ K @ alpha
        if inside and f > value:
            best, value = alpha, f
    return best
    # end


# %% answer
def slopes(K, y, free):
    """Return an array of four numbers: dα/dC of the three variables, and db/dC as the last number.

    `free` holds the indices of the free variables. All other variables are at their bound y C, so their dα/dC is y. For
    the free variables G = y − Kα = b holds at all C, and the sum of α stays 0.
    """
    # blank: differentiate both conditions with respect to C, and solve the linear system
    bound = np.setdiff1d(np.arange(3), free)
    m = len(free)
    system = np.ones((m + 1, m + 1))
    system[:m, :m], system[m, m] = K[np.ix_(free, free)], 0.0
    right = np.append(-K[np.ix_(free, bound)] @ y[bound], -y[bound].sum())
    solution, rates = np.linalg.solve(system, right), y.astype(float)
    rates[free] = solution[:m]
    return np.append(rates, solution[m])
    # end


# %% [markdown]
# Now the path. Return rows (C, α₀, α₁, α₂): the first at `C_min`, the last at `C_max`, and between them the
# breakpoints, at which the linear function changes. The grader interpolates between your rows. At every C, α may miss
# its box and the sum 0 by at most $10^{-6}C$, and its KKT gap may be at most $10^{-5}$. Use at most 12 rows. A
# breakpoint is the largest C up to which the present line agrees with `optimum`; you can compute it from the slopes or
# find it by bisection.


# %% answer
def path(K, y, C_min, C_max):
    """Return a list of rows (C, α₀, α₁, α₂), from C_min to C_max."""
    # blank: from each C follow the straight line as far as it is optimal
    rows, C = [[C_min, *optimum(K, y, C_min)]], C_min
    while C < C_max and len(rows) < 12:
        alpha, ahead = optimum(K, y, C), C * (1.0 + 1e-5)
        rate = (optimum(K, y, ahead) - alpha) / (ahead - C)
        # the longest step along the line on which it is optimal; points are compared with optimum()
        good, bad = C, C_max
        if np.abs(alpha + rate * (bad - C) - optimum(K, y, bad)).max() <= 1e-7 * bad:
            good = bad
        while bad - good > 1e-11 * bad:
            middle = 0.5 * (good + bad)
            is_line = np.abs(alpha + rate * (middle - C) - optimum(K, y, middle)).max() <= 1e-8 * middle
            good, bad = (middle, bad) if is_line else (good, middle)
        C = C_max if good == C_max else bad
        rows.append([C, *optimum(K, y, C)])
    return rows
    # end


# %%
# Try it: the breakpoints of refsvm for the same examples.
from refsvm import RBF, regularization_path

X, y = np.array([[-1.0, 0.0], [1.0, 0.3], [0.1, 0.5]]), np.array([1.0, 1.0, -1.0])
for row in path(RBF(gamma=0.5)(X, X), y, 0.05, 50.0):
    print(np.round(row, 6))
print(regularization_path(X, y.astype(int), kernel=RBF(gamma=0.5), C_min=0.05, C_max=50.0))

# %% [question]
# * (3) In words: which events occur on your path, and how does b move between them if no variable is free?
