# %% [markdown]
# # Assignment 7: a seeder
#
# A round of leave-one-out starts best from the solution of the full problem. But example r leaves, its α becomes 0, and
# the sum of α must stay 0. A seeder gives the weight of r to others. You write
# AVG and TOP of chapter 11.
#
# The box of the problem without r is min(0, y C) to max(0, y C), with both bounds 0 at r. A variable has room if it may
# move in the direction of the missing sum: up if the missing sum is positive, down if it is negative.
# Variable r never has room, because both its bounds are 0.

# %% answer
import numpy as np


def spread(alpha, among, missing, lower, upper):
    """Change alpha: give equal shares of the missing sum to the variables `among` that have room; return what is left.

    A variable takes at most what its box allows. Repeat with what is still missing, until at most 1e-12 is missing or
    no variable of `among` has room. This function changes its argument alpha.
    """
    # blank: a loop; each round uses the variables that still have room
    while abs(missing) > 1e-12:
        has_room = alpha[among] < upper[among] if missing > 0.0 else alpha[among] > lower[among]
        takers = among[has_room]
        if not len(takers):
            break
        wanted = alpha[takers] + missing / len(takers)
        given = np.clip(wanted, lower[takers], upper[takers])
        missing -= (given - alpha[takers]).sum()
        alpha[takers] = given
        if (given == wanted).all():
            break
    return missing
    # end


def average(K, y, C, alpha, r):
    """Return a feasible α of the problem without r: its weight is spread over the free variables (AVG).

    Free variables are strictly inside their box, in the α of the full problem; r is not among them. If they have too
    little room, the rest is spread over all variables that have room. Do not change the argument alpha.
    """
    # blank: two calls of spread
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    lower[r] = upper[r] = 0.0
    seed = alpha.copy()
    seed[r] = 0.0
    free = np.flatnonzero((seed > lower) & (seed < upper))
    missing = spread(seed, free, -seed.sum(), lower, upper)
    spread(seed, np.arange(len(y)), missing, lower, upper)
    return seed
    # end


# %% answer
def most_similar(K, y, C, alpha, r):
    """Return a feasible α of the problem without r: the most similar example takes what it can of alpha[r] (TOP).

    The most similar example has the largest K[r, t]; no two are equal. It takes as much of the weight as its box
    allows, then the next one takes as much of the rest as it can, and so on. Do not change the argument alpha.
    """
    # blank: go through the examples in descending order of K[r]
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    lower[r] = upper[r] = 0.0
    seed, missing = alpha.copy(), alpha[r]
    seed[r] = 0.0
    for t in np.argsort(-K[r], kind="stable"):
        before = seed[t]
        seed[t] = min(max(before + missing, lower[t]), upper[t])
        missing -= seed[t] - before
        if missing == 0.0:
            break
    return seed
    # end


# %%
# Try it: steps with your seeds and from zero, summed over all rounds.
from refsvm import RBF, DualProblem, solve

rng = np.random.default_rng(0)
y = np.where(np.arange(60) < 30, 1.0, -1.0)
X = rng.normal(size=(60, 2)) + 0.7 * y[:, None]
K = RBF(gamma=0.5)(X, X)
problem = DualProblem.classification(y=y.astype(int), gram=K, C=5.0)
alpha = solve(problem).alpha
for seeder in (average, most_similar, lambda *arguments: np.zeros(60)):
    print(
        sum(
            solve(problem.without(r), start=seeder(K, y, 5.0, alpha, r)).iterations
            for r in np.flatnonzero(alpha)
        )
    )

# %% [question]
# * (3) In words: which seeder saves more steps on your data, and on what data would the other one win?
