r"""
Every price of an error
=======================

To miss a disease costs more than to call a healthy patient back. With the penalty :math:`C_+` for
errors on class +1 and :math:`C - C_+` for those on class −1, each :math:`C_+` trains a classifier of its own. Its share
of false positives and its share of true positives are one point of the figure. How many points are there?
:func:`~refsvm.analysis.paths.lines.cost.cost_path` finds all of them: it follows the optimum from :math:`C_+ = 0` to
:math:`C`.
"""

import numpy as np

from refsvm import RBF, KKTGap, cost_path, solve
from refsvm.datasets import load
from refsvm.display import CostPathDisplay

heart = load("heart")
X, y, others, labels = heart.X[::2], heart.y[::2], heart.X[1::2], heart.y[1::2]
kernel = RBF(0.005)
path = cost_path(X, y, kernel=kernel, C=2.0)
curve = path.roc(others, labels)
print(f"{len(path.t)} breakpoints, {len(curve.fpr)} operating points on {len(labels)} other patients")

# %%
# The usual way is a grid
# -----------------------
#
# Here are 200 values of :math:`C_+`, each with a machine trained from the beginning, to a gap of 1e-10.

refits = []
for t in np.linspace(0.0, 2.0, 202)[1:-1]:
    machine = solve(path.problem(t), stop=KKTGap(1e-10))
    values = kernel(others, X) @ machine.alpha + machine.intercept
    said = values >= 0.0
    refits.append((t, said[labels < 0].mean(), said[labels > 0].mean()))

same = [np.allclose(curve.at(t), (false, true), atol=1e-12) for t, false, true in refits]
seen = {(false, true) for _, false, true in refits}
print(
    f"{sum(same)} of {len(same)} grid points lie on the curve; the grid has seen {len(seen)} operating points"
)

# %%
# The path and the grid agree wherever the grid looks, and between its values the path knows where an example changes
# sides: :math:`h(x)` is a straight line there.

# alt: True positives against false positives: a staircase with a dot at each operating point, well above the diagonal
#     of chance. The crosses of 200 refits all lie on it.
display = CostPathDisplay({"path": curve}).plot()
display.ax_.plot(*np.array(refits).T[1:], "x", color="black", label="200 refits")
_ = display.ax_.legend(frameon=False)

# %%
# What cannot rise
# ----------------
#
# The least value of :math:`\tfrac12 w^2 + C_+ S_+ + (C - C_+) S_-`, with the sums of slacks :math:`S_+` and :math:`S_-`
# of both classes, is a minimum of functions that are linear in :math:`C_+`: it is concave, and its slope
# :math:`S_+ - S_-` never rises. The shares of errors follow the slacks only roughly.

slopes = []
for t in path.t[1:-1]:
    slack = np.maximum(0.0, 1.0 - y * path.decision_function(X, t))
    slopes.append(slack[y > 0].sum() - slack[y < 0].sum())
print(f"S+ - S- from {slopes[0]:.1f} down to {slopes[-1]:.1f}; largest rise: {np.diff(slopes).max():.0e}")
