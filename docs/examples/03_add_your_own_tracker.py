r"""
Add your own tracker
====================

A path tracker follows the optimum from breakpoint to breakpoint while :math:`\lambda=1/C` falls. It is one class with
one method. This page adds a tracker that is not in the package, checks it, and finds out where it gives up.

What a tracker is given
-----------------------

In the scaled variables :math:`\hat s=\lambda\alpha`, :math:`\hat b=\lambda b` the box does not depend on :math:`C`, and
the optimum is piecewise linear in :math:`\lambda`. A :class:`~refsvm.core.walk.state.PathState` walks along this line.
It holds one point, :math:`\lambda` as ``t``, :math:`\hat s` as ``of.alpha``, and the three sets that it defines:
*right* (:math:`\hat s_i=0`), *left* (:math:`\hat s_i` at its other bound), and the *elbow* between them, where
:math:`\lambda y_i-(K\hat s)_i-\hat b`, which is ``of.excess``, is zero. As long as no example changes its set,

.. math::

   \begin{pmatrix}0&\mathbf 1^\top\\ \mathbf 1&K_{\mathcal E\mathcal E}\end{pmatrix}
   \frac{d}{d\lambda}\begin{pmatrix}\hat b\\ \hat s_{\mathcal E}\end{pmatrix}
   =\begin{pmatrix}0\\ y_{\mathcal E}\end{pmatrix}.

The method ``follow`` moves the walk along and yields a :class:`~refsvm.core.walk.breakpoint.Breakpoint` after every
event. Its caller, :func:`~refsvm.analysis.paths.regularization_path.regularization_path`, stores them and looks after
Ctrl-C and the time limit in between.

The tracker
-----------

``Hastie`` solves this system and stops where it is singular; ``SVMP`` has a linear program and a routine for
ties. There is a third way. Where several examples stand exactly between two sets, the derivative
:math:`x=d\hat s/dt` for falling :math:`\lambda` is itself the solution of a small dual problem, in which they may only
move inwards. Examples with :math:`x_i\ne0` belong to the elbow. The package has this as
:func:`refsvm.core.trackers.backup.choose_sets`, which ``SVMP`` asks only when all else fails. Our tracker asks always.

.. literalinclude:: ../../examples/derivative_tracker.py
   :caption: derivative_tracker.py
"""

from derivative_tracker import DerivativeTracker

from refsvm import RBF, SVMP, Hastie, Linear, regularization_path
from refsvm.datasets import load

heart = load("heart")
for tracker in (Hastie(), SVMP(), DerivativeTracker()):
    path = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.1, C_max=10.0, tracker=tracker)
    print(f"{type(tracker).__name__:18s} {len(path.C)} breakpoints, audit {path.kkt_audit().worst < 1e-6}")

# %%
# The audit recomputes the optimality conditions at every breakpoint and at points between them.
#
# The check
# ---------
#
# ``check_strategy`` runs a tracker on degenerate problems: duplicates, a singular kernel, constant features, one
# example against many, weights of zero. The path has to cover the range of :math:`C`, to be optimal to
# :math:`10^{-6}` at breakpoints and between them, and to come out the same in both engines bit for bit. A tracker
# that says ``may_refuse = True`` may leave problems out, if it raises a ``ValueError``.

from refsvm.testing import check_strategy

for tracker in (SVMP(), DerivativeTracker()):
    report = check_strategy(tracker)
    print(f"{type(tracker).__name__}: {len(report.problems)} problems, {report.steps} breakpoints.")
    print(report.twin)

# %%
# A check is worth something only if it can fail. This tracker forgets every third breakpoint: what it reports is right,
# what lies between is not.

from dataclasses import dataclass

from refsvm import PathTracker


@dataclass(frozen=True)
class Forgetful(PathTracker):
    """SVMP with gaps."""

    def follow(self, walk, end):
        """Leave out every third breakpoint."""
        for number, point in enumerate(SVMP().follow(walk, end)):
            if number % 3 or end >= 1.0 / point.C:
                yield point


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# Is it any good?
# ---------------
#
# :class:`~refsvm.experiment.track_path.TrackPath` makes a tracker a strategy of an experiment. Here without a store, on
# four sets; for each tracker the breakpoints, or why there are none.

from refsvm.experiment import Problem, TrackPath

for name, kernel in (("heart", RBF(0.005)), ("thyroid", RBF(0.05)), ("monks1", Linear()), ("wbc", Linear())):
    instance = Problem(name, lambda name=name: load(name), kernel=kernel).instance()
    for tracker in (Hastie(), SVMP(), DerivativeTracker()):
        strategy = TrackPath(type(tracker).__name__, tracker=tracker, C_min=0.01, C_max=10.0)
        try:
            outcome = f"{strategy.run(instance)['breakpoints']} breakpoints"
        except ValueError as error:
            outcome = str(error)
        print(f"{name:8s} {strategy.name:18s} {outcome}")
