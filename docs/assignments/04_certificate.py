# %% [markdown]
# # Assignment 4: stopping and the certificate
#
# When may a solver stop? Chapter 6 gives two answers: the KKT gap ψ is small, or the duality gap is. The duality gap is
# a certificate: it bounds the distance of f to the optimum, whoever found α, and however.
#
# The variables that may rise are those with alpha < upper; the variables that may fall are those with alpha > lower.
# The primal objective of α and an intercept b is
#
# $$F(\alpha,b)=\tfrac12\alpha^\top K\alpha+C\sum_i\max\bigl(0,\ 1-y_ih_i\bigr),\qquad h=K\alpha+b.$$

# %% answer
import numpy as np


def kkt_gap(G, alpha, lower, upper):
    """Return ψ: the largest G of the variables that may rise minus the smallest G of those that may fall."""
    # blank: one line
    return G[alpha < upper].max() - G[alpha > lower].min()
    # end


def intercept(G, alpha, lower, upper):
    """Return the midpoint of the two numbers whose difference is ψ."""
    # blank: one line
    return 0.5 * (G[alpha < upper].max() + G[alpha > lower].min())
    # end


# %% answer
def primal(K, y, C, alpha, b):
    """Return F(α, b)."""
    # blank: use the formula above
    h = K @ alpha + b
    return 0.5 * alpha @ K @ alpha + C * np.maximum(0.0, 1.0 - y * h).sum()
    # end


def best_intercept(K, y, C, alpha):
    """Return a b that minimises F(α, b) for this α; F is convex in b and piecewise linear."""
    # blank: where are the kinks of F, and why is one of them a minimum?
    kinks = y - K @ alpha
    return kinks[np.argmin([primal(K, y, C, alpha, b) for b in kinks])]
    # end


def duality_gap(K, y, C, alpha):
    """Return F(α, b) − f(α) with the best b, where f(α) = yᵀα − ½ αᵀKα."""
    # blank: combine the functions above
    dual = y @ alpha - 0.5 * alpha @ K @ alpha
    return primal(K, y, C, alpha, best_intercept(K, y, C, alpha)) - dual
    # end


# %% [markdown]
# Now use the certificate to stop. Any method will do that returns a feasible α (inside its box and with sum 0) whose
# duality gap is at most `largest_gap`. Your loop of assignment 1 is a good start.


# %% answer
def train_to_gap(K, y, C, largest_gap):
    """Return a feasible α whose duality gap is at most `largest_gap`."""
    # blank: take steps, and look at the duality gap from time to time
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    alpha, G, steps = np.zeros(len(y)), y.astype(float), 0
    while steps % 20 or duality_gap(K, y, C, alpha) > largest_gap:
        i = int(np.where(alpha < upper, G, -np.inf).argmax())
        j = int(np.where(alpha > lower, G, np.inf).argmin())
        up, down = upper[i] - alpha[i], alpha[j] - lower[j]
        mu = min((G[i] - G[j]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12), up, down)
        alpha[i] = upper[i] if mu >= up else alpha[i] + mu
        alpha[j] = lower[j] if mu >= down else alpha[j] - mu
        G -= mu * (K[i] - K[j])
        steps += 1
    return alpha
    # end


# %%
# Try it: the certificate of a solution of refsvm.
from refsvm import RBF, DualProblem, solve

X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
y = np.array([-1.0, 1.0, -1.0, 1.0, 1.0])
problem = DualProblem.classification(X, y.astype(int), kernel=RBF(gamma=1.0), C=2.0)
alpha = solve(problem).alpha
print(duality_gap(RBF(gamma=1.0)(X, X), y, 2.0, alpha), problem.duality_gap(alpha))

# %% [question]
# * (3) In words: a friend sends you α and claims that it is optimal up to 1 %. Which three numbers do you compute, and
#   what do you not have to know about the program that found α?

# %% [rubric]
# Full points: α is feasible; the three numbers are f(α), the smallest F(α, b), and their difference, which must be at
# most 1 % of f(α). Nothing about the program has to be known.
