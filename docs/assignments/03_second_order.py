# %% [markdown]
# # Assignment 3: second-order selection
#
# The most violating pair looks at the slope alone. Second-order selection (chapter 7) also looks at the curvature. It
# takes i with the largest G among the variables that may rise, as before. Then it takes the j whose Newton step with i
# would gain most: the gain of the full Newton step is $\tfrac12\ell^2/q$ with $\ell=G_i-G_j$ and
# $q=K_{ii}+K_{jj}-2K_{ij}$. If q is less than $10^{-12}$, use $10^{-12}$ in its place,
# as chapter 7 does with `np.maximum(q, 1e-12)`. This happens for an example identical to example i.

# %% answer
import numpy as np


def newton_gain(slope, curvature):
    """Return ½ ℓ²/q of a pair with the slope ℓ and the positive curvature q."""
    # blank: one line
    return 0.5 * slope * slope / curvature
    # end


def partner(G, alpha, lower, row, diagonal, i):
    """Return the j of the largest Newton gain with i, or −1 if no j qualifies.

    A j qualifies if alpha[j] > lower[j] and G[j] < G[i]. If several j are equally good, return any of them.
    `row` is row i of K, `diagonal` is the diagonal of K.
    """
    # blank: compute all gains at once with `row` and `diagonal`, and exclude what does not qualify
    curvature = np.maximum(diagonal + diagonal[i] - 2.0 * row, 1e-12)
    gain = np.where((alpha > lower) & (G < G[i]), newton_gain(G[i] - G, curvature), -np.inf)
    j = int(gain.argmax())
    return j if gain[j] > -np.inf else -1
    # end


# %% [markdown]
# Now train with this selection. As in assignment 1, start at α = 0, take clipped Newton steps, assign bounds exactly,
# and end as soon as ψ ≤ tol, where ψ is the KKT gap of the most violating pair.


# %% answer
def train(K, y, C, tol):
    """Return (alpha, pairs): the α at the end, and the list of all pairs (i, j) in the order of the steps."""
    # blank: write the loop
    lower, upper = np.minimum(0.0, y * C), np.maximum(0.0, y * C)
    alpha, G, pairs, diagonal = np.zeros(len(y)), y.astype(float), [], np.diag(K)
    while True:
        i = int(np.where(alpha < upper, G, -np.inf).argmax())
        if G[i] - G[alpha > lower].min() <= tol:
            return alpha, pairs
        j = partner(G, alpha, lower, K[i], diagonal, i)
        slope, curvature = G[i] - G[j], max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12)
        up, down = upper[i] - alpha[i], alpha[j] - lower[j]
        mu = min(slope / curvature, up, down)
        alpha[i] = upper[i] if mu >= up else alpha[i] + mu
        alpha[j] = lower[j] if mu >= down else alpha[j] - mu
        G -= mu * (K[i] - K[j])
        pairs.append((i, j))
    # end


# %%
# Try it: count the steps, and compare with refsvm.
from refsvm import RBF, DualProblem, NewtonStep, SecondOrder, solve

rng = np.random.default_rng(0)
y = np.where(np.arange(60) < 30, 1.0, -1.0)
X = rng.normal(size=(60, 2)) + 0.7 * y[:, None]
alpha, pairs = train(RBF(gamma=0.5)(X, X), y, 10.0, 1e-3)
problem = DualProblem.classification(X, y.astype(int), kernel=RBF(gamma=0.5), C=10.0)
solution = solve(problem, selector=SecondOrder(), step=NewtonStep(), shrinking=False)
print(len(pairs), solution.iterations, np.abs(alpha - solution.alpha).max())

# %% [question]
# * (3) In words: why does the rule fix i and search only j, and when does the Newton gain mislead?

# %% [rubric]
# Full points name the number of kernel rows, and the box, which cuts the step.
