r"""
How results look
================

A notebook shows a card for each result, ``repr`` one line, and ``print`` a table. This page runs six calls; the cards
are made by the build. They have no script and load nothing, take their colours from the page, and have text for a
screen reader.

A problem
---------
"""

from refsvm import DualProblem, cross_validate, leave_one_out, regularization_path, solve
from refsvm.datasets import load

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, gamma=0.005, C=10.0)
problem

# %%
# A solution
# ----------
# The bar says how many α are at 0, free, and at a bound.

solution = solve(problem)
solution

# %%
# Leave-one-out
# -------------
# The error comes first, with its standard error; the bar says what decided how many examples.

loo = leave_one_out(heart.X, heart.y, gamma=0.005, C=10.0)
loo

# %%
# ``print`` has the same numbers as text:

print(loo)

# %%
# A partial result
# ----------------
# A callback ends this one early. Its error is not known, and an interval holds it, whatever the rest would be. Ctrl-C
# raises ``KeyboardInterrupt``, with the same partial result as ``error.result``.

part = leave_one_out(
    heart.X,
    heart.y,
    gamma=0.005,
    C=10.0,
    checks=(),
    engine="numpy",
    callback=lambda at: at.done > at.total // 2,
)
part

# %%
# Its score is NaN, so that a cell below cannot go on with it unnoticed:

print(part.error, part.error_bounds[0] < loo.error < part.error_bounds[1])

# %%
# Cross-validation
# ----------------
# One column for each fold.

cross_validate(heart.X, heart.y, gamma=0.005, C=10.0, folds=10, rng=0)

# %%
# A path
# ------

path = regularization_path(heart.X, heart.y, gamma=0.005, C_min=0.1, C_max=100.0)
path

# %%
# Pictures
# --------
# ``plot`` draws a result that has a picture, and returns the display (:mod:`refsvm.display`).
# :doc:`08_every_picture` has all of them.

path.plot()
