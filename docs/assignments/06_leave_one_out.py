# %% [markdown]
# # Assignment 6: leave-one-out by hand
#
# Leave-one-out trains a model without example r and asks it for the label of r, for every r. Chapter 11 shows that many
# rounds need no training. You write the method for small problems.
#
# Leaving out r sets both bounds of its variable to 0. The problem keeps its n variables, and its kernel matrix. Each
# class has at least two examples.

# %% answer
import numpy as np


def box_without(y, C, r):
    """Return an array of two rows, lower and upper bounds of the problem without example r."""
    # blank: the box is min(0, y C) to max(0, y C), but for r
    box = np.stack([np.minimum(0.0, y * C), np.maximum(0.0, y * C)])
    box[:, r] = 0.0
    return box
    # end


def verdicts(y, alpha, h):
    """Return what the solution of the full problem decides: 1 (right), −1 (error) or 0 (not decided) for each example.

    First, an example with α = 0 is right, whatever its h: its label stays right without it. Second, any other example
    that the full model labels wrongly is an error. A decision value h of at least 0 stands for the label 1. All other
    examples are not decided.
    """
    # blank: two conditions, the first one first
    wrong = np.where(h >= 0.0, 1, -1) != y
    return np.where(alpha == 0.0, 1, np.where(wrong, -1, 0))
    # end


# %% [markdown]
# For the other examples you need a solver: the loop of chapter 5, which assignment 1 also asks for. Use the box without
# r. Start at α = 0 and stop at a KKT gap of at most $10^{-6}$, which is accurate enough for the grader. The decision
# value of example r is $h_r=(K\alpha)_r+b$. For b take the midpoint between the largest G of the variables that may
# rise and the smallest G of the variables that may fall.


# %% answer
def left_out_value(K, y, C, r):
    """Return the decision value of example r by the model that is trained without it; an error of 0.01 is allowed."""
    # blank: solve the problem without r
    lower, upper = box_without(y, C, r)
    alpha, G = np.zeros(len(y)), y.astype(float)
    while True:
        i = int(np.where(alpha < upper, G, -np.inf).argmax())
        j = int(np.where(alpha > lower, G, np.inf).argmin())
        if G[i] - G[j] <= 1e-6:
            return K[r] @ alpha + 0.5 * (G[i] + G[j])
        up, down = upper[i] - alpha[i], alpha[j] - lower[j]
        mu = min((G[i] - G[j]) / max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12), up, down)
        alpha[i] = upper[i] if mu >= up else alpha[i] + mu
        alpha[j] = lower[j] if mu >= down else alpha[j] - mu
        G -= mu * (K[i] - K[j])
    # end


def leave_one_out(K, y, C):
    """Return the labels that the models without r give to r, for all r: 1 or −1."""
    # blank: one round for each example
    return np.array([1 if left_out_value(K, y, C, r) >= 0.0 else -1 for r in range(len(y))])
    # end


# %%
# Try it: refsvm counts the same errors.
import refsvm

rng = np.random.default_rng(0)
y = np.where(np.arange(30) < 15, 1.0, -1.0)
X = rng.normal(size=(30, 2)) + 0.7 * y[:, None]
K = refsvm.RBF(gamma=0.5)(X, X)
expected = refsvm.leave_one_out(X, y.astype(int), kernel=refsvm.RBF(gamma=0.5), C=1.0)
print((leave_one_out(K, y, 1.0) != y).sum(), round(30 * expected.error))

# %% [question]
# * (3) In words: prove that the model without an example of α = 0 labels this example rightly, and say where the proof
#   uses the optimality of α. You may assume that a variable is free.

# %% [rubric]
# Full points: α stays optimal without the example, the free variable fixes b, so h stays the same; by the optimality of
# the full problem y h ≥ 1. If no variable is free, α stays optimal, but b may change.
