r"""
An interval for a target
========================

A regression says :math:`h(x)`. How far from it may the target be? **Full conformal prediction** answers without a model
of the noise: try every value :math:`t` for the target, train on all examples and on :math:`(x, t)`, and ask how strange
:math:`(x, t)` is among them,

.. math::

    p(t) = \frac{\#\{i \le n + 1 : R_i(t) \ge R_{n+1}(t)\}}{n + 1}, \qquad R_i(t) = |y_i - h_t(x_i)|.

The interval holds every :math:`t` with :math:`p(t) > 1 - 0.9`. If the examples and the new one are exchangeable, the
rank of the new residual is uniform, so the interval holds the target with a probability of 0.9 at least: for any
distribution, any :math:`n`, and however well :math:`h` fits.

The price seems to be a fit for every :math:`t`. But a target is one of the lines of :doc:`/lines`: it moves
:math:`v` of the two copies of one example, :math:`h_t` is affine in :math:`t` between two events, and a rank changes at
the root of a line. One walk up and one walk down from :math:`h(x)`, where the new example has no weight, give the exact
ends: :meth:`SVR.predict_interval <refsvm.estimators.svr.SVR.predict_interval>`.

The residuals of all examples count, those without weight too, so ``fit`` keeps copies of all of them, unless
``keep_examples=False`` says that support vectors are enough.
"""

# alt: A wave through sixty points, with a shaded interval around it. The interval is about as wide as the noise between
#     the points, and opens like a funnel to the left and to the right of them.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import SVR

rng = np.random.default_rng(0)


def draw(n):
    """Waves whose noise grows to the right."""
    x = rng.uniform(0.0, 6.0, n)
    return x[:, None], np.sin(2.0 * x) + (0.05 + 0.08 * x) * rng.normal(size=n)


X, y = draw(60)
model = SVR(C=5.0, gamma=1.0, epsilon=0.05).fit(X, y)
grid = np.linspace(-0.5, 6.5, 57)[:, None]
low, high = model.predict_interval(grid, confidence=0.9).T

fig, ax = plt.subplots(layout="constrained")
ax.fill_between(grid[:, 0], low, high, color="C0", alpha=0.2, lw=0, label="0.9 interval")
ax.plot(grid[:, 0], model.predict(grid), color="C0", label="h(x)")
ax.plot(X[:, 0], y, "k.", ms=4, label="examples")
ax.set(xlabel="x", ylabel="y", ylim=(-3.5, 3.5))
ax.legend(frameon=False)
plt.show()

# %%
# Where there are no examples the interval is wide: a new example there would pull :math:`h` to its target whatever that
# is. In between it is as wide as the noise *on average*: the probability of 0.9 is that of a new :math:`x` and of new
# examples, and not that at each :math:`x`.
#
# How many of 200 new targets do the intervals of this one training set hold?

X_new, y_new = draw(200)
low, high = model.predict_interval(X_new).T
print("held:", np.mean((low <= y_new) & (y_new <= high)))

# %%
# The share of one training set varies around 0.9.
