# %% [markdown]
# # Assignment 1: the loop from scratch
#
# You write the solver of chapters 4 and 5: sequential minimal optimisation with the most violating pair. Variables are
# signed: the dual is
#
# $$\max\ f(\alpha)=y^\top\alpha-\tfrac12\alpha^\top K\alpha\quad\text{subject to}\quad\textstyle\sum_i\alpha_i=0,\quad
# L\le\alpha\le U,$$
#
# with $L_i=\min(0,y_iC)$ and $U_i=\max(0,y_iC)$. Its gradient is $G=y-K\alpha$.

# %% answer
import numpy as np


def newton_step(K, G, alpha, lower, upper, i, j):
    """Return the step μ by which alpha[i] rises and alpha[j] falls.

    The pair has a slope ℓ > 0. The Newton step is ℓ/q with ℓ = G[i] − G[j] and q = K[i, i] + K[j, j] −
    2 K[i, j]. If q is less than 1e-12, use q = 1e-12 in its place. Then cut the step so that both variables stay in
    their box. K, G, alpha, lower and upper are arrays; the function must not change them.
    """
    # blank: compute ℓ, q and the limits that the box sets, and cut the Newton step
    slope = G[i] - G[j]
    curvature = K[i, i] + K[j, j] - 2.0 * K[i, j]
    curvature = max(curvature, 1e-12)
    low = max(lower[i] - alpha[i], alpha[j] - upper[j])
    high = min(upper[i] - alpha[i], alpha[j] - lower[j])
    return min(max(slope / curvature, low), high)
    # end


# %% answer
def most_violating_pair(G, alpha, lower, upper):
    """Return (i, j): the largest G[i] with alpha[i] < upper[i], and the smallest G[j] with alpha[j] > lower[j].

    Such an i and such a j always exist. If several are equally good, return any of them.
    """
    # blank: find i among the variables that may rise and j among those that may fall
    i = int(np.where(alpha < upper, G, -np.inf).argmax())
    j = int(np.where(alpha > lower, G, np.inf).argmin())
    return i, j
    # end


# %% [markdown]
# The KKT gap ψ is the difference G[i] − G[j] of the most violating pair. The training starts at α = 0, takes one step
# with the most violating pair after another, and ends as soon as ψ ≤ tol. If a step ends at a bound, assign the bound
# itself: `alpha[i] == upper[i]` must hold, not only up to rounding. Update G in each step, with two rows of K.


# %% answer
def train(K, y, C, tol):
    """Return (alpha, pairs): the α at the end, and the list of all pairs (i, j) in the order of the steps."""
    # blank: write the loop
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    alpha, G, pairs = np.zeros(len(y)), y.astype(float), []
    while True:
        i, j = most_violating_pair(G, alpha, lower, upper)
        if G[i] - G[j] <= tol:
            return alpha, pairs
        mu = newton_step(K, G, alpha, lower, upper, i, j)
        up, down = upper[i] - alpha[i], alpha[j] - lower[j]
        alpha[i] = upper[i] if mu >= up else alpha[i] + mu
        alpha[j] = lower[j] if mu >= down else alpha[j] - mu
        G -= mu * (K[i] - K[j])
        pairs.append((i, j))
    # end


# %%
# Try it: four points on a line. The last line compares with refsvm.
from refsvm import DualProblem, Linear, MostViolatingPair, NewtonStep, solve

X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, 1.0, -1.0, 1.0])
alpha, pairs = train(X @ X.T, y, 1.0, 1e-3)
print(alpha, len(pairs))
problem = DualProblem.classification(X, y.astype(int), kernel=Linear(), C=1.0)
print(solve(problem, selector=MostViolatingPair(), step=NewtonStep()).alpha)

# %% [question]
# * (3) In words, three sentences: why does the loop end, and what does ψ ≤ tol say about the result?

# %% [rubric]
# Full points need the pair as an ascent direction, and one sentence on what ψ does not bound.
