# %% [markdown]
# # Assignment 2: kernel and gradient
#
# A solver reads its data through two objects: the kernel matrix $K$ and the gradient $G=y-K\alpha$ of the dual
# objective. You write both, the update that makes a step cheap (chapter 4), and the decision (chapter 1). Variables are
# signed, as in the book.

# %% answer
import numpy as np


def gaussian(A, B, gamma):
    """Return the matrix of exp(−gamma ‖a − b‖²) for all rows a of A and b of B.

    The result must be right for data far from the origin, such as 1,000,000 ± 1. There ‖a‖² + ‖b‖² − 2ab loses all
    digits.
    """
    # blank: compute squared distances from differences, and then the kernel
    return np.exp(-gamma * ((A[:, None] - B) ** 2).sum(axis=2))
    # end


# %% answer
def gradient(K, y, alpha):
    """Return G = y − Kα."""
    # blank: one line
    return y - K @ alpha
    # end


def after_step(G, row_i, row_j, mu):
    """Return G after alpha[i] has risen by mu and alpha[j] has fallen by mu; row_i and row_j are rows of K."""
    # blank: one line, without a product of a matrix and a vector
    return G - mu * (row_i - row_j)
    # end


def objective(y, G, alpha):
    """Return f(α) = yᵀα − ½ αᵀKα, computed from G instead of K."""
    # blank: replace Kα by y − G
    return 0.5 * alpha @ (y + G)
    # end


# %% answer
def decide(K, alpha, b):
    """Return the labels of new examples: 1 where h = Kα + b is at least 0, and −1 elsewhere.

    K has one row for each new example and one column for each training example.
    """
    # blank: one line
    return np.where(K @ alpha + b >= 0.0, 1, -1)
    # end


# %%
# Try it: refsvm computes the same kernel matrix.
from refsvm import RBF

X = np.random.default_rng(0).normal(size=(5, 2)) + 1e6
print(np.abs(gaussian(X, X, 0.5) - RBF(gamma=0.5)(X, X)).max())

# %% [question]
# * (3) In words: how many multiplications does `after_step` need, how many does `gradient`? Why does a solver that uses
#   `after_step` for millions of steps have to watch rounding errors?
