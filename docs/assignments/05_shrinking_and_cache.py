# %% [markdown]
# # Assignment 5: shrinking and the cache
#
# Most variables end at a bound, and most kernel rows are used again and again. Chapter 8 makes two things of this:
# shrinking leaves out variables that will hardly move again, and a cache keeps rows. You write the four parts that a
# solver needs for them.
#
# Let $M$ be the largest G of the variables with alpha < upper, and $m$ the smallest G of the variables with
# alpha > lower. Shrinking leaves out a variable at its upper bound if its G is larger than $M$, and a variable at its
# lower bound if its G is smaller than $m$.

# %% answer
import numpy as np


def removable(G, alpha, lower, upper):
    """Return a boolean array: True for the variables that shrinking leaves out."""
    # blank: two conditions
    largest, smallest = G[alpha < upper].max(), G[alpha > lower].min()
    return ((alpha == upper) & (G > largest)) | ((alpha == lower) & (G < smallest))
    # end


# %% [markdown]
# Let $B$ be the active variables and $N$ the others, which keep their values. The problem of $\alpha_B$ alone has the
# same form as the whole problem: maximise $v^\top\beta-\tfrac12\beta^\top K_{BB}\beta$ subject to
# $\sum_i\beta_i=z$ and the same box. Find $v$ and $z$.


# %% answer
def restricted(K, y, alpha, active):
    """Return one array: v of the problem of the active variables, followed by z as its last number.

    `active` holds the indices of the active variables in ascending order. The sum of alpha is 0.
    """
    # blank: v contains the part of Kα that comes from the fixed variables
    fixed = np.setdiff1d(np.arange(len(y)), active)
    v = y[active] - K[np.ix_(active, fixed)] @ alpha[fixed]
    return np.append(v, -alpha[fixed].sum())
    # end


def rebuilt(K, G, active, change):
    """Return the gradient of all variables after the active α have changed by `change`; G is the gradient before."""
    # blank: one line
    return G - K[:, active] @ change
    # end


# %% [markdown]
# A cache holds at most `capacity` rows, at least one. If a requested row is not in the cache, this is a miss: the
# solver computes the row, and the cache keeps it. A full cache first drops the row whose last use is the longest ago.


# %% answer
def misses(rows, capacity):
    """Return the number of misses of an empty cache for these requests, an array of row numbers in their order."""
    # blank: keep the rows of the cache in the order of their last use
    held, missed = [], 0
    for row in rows.tolist():
        if row in held:
            held.remove(row)
        else:
            missed += 1
            if len(held) == capacity:
                held.pop(0)
        held.append(row)
    return missed
    # end


# %%
# Try it: how many rows can be left out at the optimum of a problem with a small C?
from refsvm import RBF, DualProblem, solve

rng = np.random.default_rng(0)
y = np.where(np.arange(200) < 100, 1, -1)
X = rng.normal(size=(200, 2)) + 0.5 * y[:, None]
problem = DualProblem.classification(X, y, kernel=RBF(gamma=0.5), C=0.1)
solution = solve(problem)
print(removable(solution.gradient, solution.alpha, problem.lower, problem.upper).sum(), "of 200")
print(misses(np.array([0, 1, 0, 2, 1]), 2), "misses; it must be 4")

# %% [question]
# * (3) In words: can shrinking leave out a variable that is free at the optimum, and what does a solver do about it?
