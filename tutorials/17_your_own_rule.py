r"""
17 · Your own rule
==================

In this package a rule makes each decision of a loop, and you can write your own rules. This chapter writes a selector
in eight lines, proves that a solve with this selector ends, counts its steps on five sets, and checks this selector and
a faulty one. :doc:`Write your own </write_a_rule>` shows the other kinds of rules.
"""

# fold: Imports and settings
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    RBF,
    DualProblem,
    MostViolatingPair,
    NewtonStep,
    SecondOrder,
    StepRule,
    WorkingSetSelector,
    solve,
)
from refsvm.datasets import load, make_banana, make_chessboard
from refsvm.display import ConvergenceDisplay, Stepper
from refsvm.testing import check_strategy

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=10.0)

# %%
# What a rule is
# --------------
#
# A rule is a frozen dataclass of its hyper-parameters. The base class names the only method that you write. A rule
# serves many solves, so it must not store anything that changes; if a rule needs memory, each solve keeps an array for
# it.
#
# .. shipped:: core/rule.py
#    :object: Rule
#
# Eight lines
# -----------
#
# ``select(state)`` returns the rising :math:`i` and the falling :math:`j`, or (−1, −1) if no pair gains. The selector
# below takes the variables in turn: it selects the next :math:`i` whose violation is at least a share of :math:`\psi`,
# by default half. ``state.bottom`` is the index of the lowest :math:`G` among variables that may fall, ``state.gap`` is
# the violation :math:`\psi`, and ``state.working_sets[0, 0]`` is the :math:`i` of the last step, or −1 before the first
# step.


@dataclass(frozen=True)
class InTurn(WorkingSetSelector):
    share: float = 0.5

    def select(self, state):
        last, slope = int(state.working_sets[0, 0]), state.gradient - state.gradient[state.bottom]
        gains = (state.alpha < state.upper) & (slope >= self.share * state.gap) & (slope > 0.0)
        i = (last + 1 + int(np.roll(gains, -1 - last).argmax())) % len(gains)
        return (i, state.bottom) if state.gap > 0.0 else (-1, -1)


# %%
# ``np.roll`` rotates the array ``gains`` so that it begins behind the last :math:`i`; ``argmax`` finds the first true
# entry.

runs = {}
for selector in (InTurn(), MostViolatingPair(), SecondOrder()):
    run = solve(problem, selector=selector, step=NewtonStep(), shrinking=False, trace=True)
    runs[type(selector).__name__] = run
    print(
        f"{type(selector).__name__:18s} {run.iterations:6d} steps, f = {run.objective:.3f}, engine {run.engine}"
    )

# %%

# fold: The code of this figure
# alt: The KKT gap is drawn over the steps for three selectors. The gap falls fastest with second-order selection. With
#     the new rule the gap falls in jumps, mostly above the curve of the most violating pair, but ends earlier.
ConvergenceDisplay.from_solutions(runs, metric="gap", against="iterations")
plt.show()

# %%
# In a notebook each press of a button takes one step with the rule and one with ``MostViolatingPair``
# (:doc:`/gallery/examples/06_step_through_your_own_rule`); this page shows pictures of the steps.

banana = make_banana(40, rng=1)
Stepper(banana.X, banana.y, kernel=RBF(0.5), C=10.0, selector=InTurn(), against=MostViolatingPair())

# %%
# Does a solve with this rule end? The proof of :doc:`chapter 9 <09_does_it_end>` needs little change. Each pair has
# :math:`\ell\ge\psi/2>\varepsilon/2`, so :math:`\varepsilon/2` replaces :math:`\varepsilon`:
#
# .. math:: \text{free steps} \;<\; \frac{2D^2f^*}{(\varepsilon/2)^2} = \frac{8D^2f^*}{\varepsilon^2},
#    \qquad \sum_t\mu_t \;\le\; \frac{4f^*}{\varepsilon} .
#
# The rest of the proof exchanges :math:`i` and :math:`j`, because here :math:`j` is always extreme: it has the lowest
# :math:`G` of all variables that may fall. Suppose a variable both falls and rises infinitely often. If it falls, rises
# and falls again, some variable :math:`k` with a lower :math:`G` must meanwhile leave its lower bound and return, so
# one such :math:`k` also falls and rises infinitely often. Repeating the argument gives an infinite descending chain
# among finitely many variables, which is impossible. With the share zero, :math:`\ell` would have no positive lower
# bound, and the argument would fail.
#
# The next lines count steps for several shares and two values of :math:`C`:

small = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=1.0)
print(f"{'share of ψ':>12s}{'C = 1':>8s}{'C = 10':>8s}")
for share in (0.0, 0.1, 0.5, 0.9):
    counts = [
        solve(each, selector=InTurn(share), step=NewtonStep(), shrinking=False, max_iter=20_000).iterations
        for each in (small, problem)
    ]
    print(f"{share:12g}{counts[0]:8d}{counts[1]:8d}")

# %%
# The race
# --------
#
# The next lines count the rule's steps on five problems; :doc:`/gallery/examples/07_race_your_rule` races a rule from
# your own file:

races = (
    ("chessboard", make_chessboard(300, rng=0), 0.5, 1000.0),
    ("banana", make_banana(400, rng=0), 0.25, 100.0),
    ("tic_tac_toe", load("tic_tac_toe"), 0.02, 200.0),
    ("ionosphere", load("ionosphere"), 0.4, 3.0),
    ("heart", heart, 0.005, 1.0),
)
print(f"{'':12s}" + "".join(f"{name:>19s}" for name in runs))
for name, sample, gamma, C in races:
    race = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma=gamma), C=C)
    counts = [
        solve(race, selector=rule, step=NewtonStep(), shrinking=False).iterations
        for rule in (InTurn(), MostViolatingPair(), SecondOrder())
    ]
    print(f"{name:12s}" + "".join(f"{count:19d}" for count in counts))

# %%
# On heart with :math:`C=10` the rule takes fewer steps than ``MostViolatingPair``; on these five problems it takes
# more.
#
# The check
# ---------
#
# :func:`~refsvm.testing.strategy.check_strategy` runs a rule of any kind on random and degenerate problems: duplicates,
# singular and indefinite kernels, constant features, two examples, tiny and huge :math:`C`. ``check_strategy`` tests
# what the base class requires, and compares the rule with its compiled *twin*, if any, bit for bit.

report = check_strategy(InTurn())
print(f"{report.rule}: {len(report.problems)} problems, {report.steps} steps. {report.twin}")

# %%
# The next selector has a typical mistake: it ignores the box.


@dataclass(frozen=True)
class Forgetful(WorkingSetSelector):
    """The largest and the smallest G, whatever the box says."""

    def select(self, state):
        """Forget which variables may rise and which may fall."""
        i, j = int(state.gradient.argmax()), int(state.gradient.argmin())
        return (i, j) if state.gradient[i] > state.gradient[j] else (-1, -1)


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# .. worth:: 17
#
#    On every set the rule without a twin takes longer than the compiled rule. Compare steps; compare seconds only if
#    your rule has a twin.
#
# .. admonition:: Known elsewhere as
#
#    Rules are *strategy* objects or *policies*, and your own rule is a *plug-in*. ``check_strategy`` is a *conformance
#    test*.
#
# Exercises
# ---------
#
# 1. ★ Write a selector that returns (0, 0). How does ``check_strategy`` respond?
# 2. ★ What if this selector returns ``None``?
# 3. ★ Write ``ShortStep(share)``, a step rule that moves by a share of the Newton step, clipped to the box. With which
#    share does a solve take the fewest steps on the heart data?
#
# .. fold:: Hints
#
# 1. Give an instance, ``Zero()``, to ``check_strategy``, which inspects the returned value.
# 2. Make the returned value a parameter of the class.
# 3. :doc:`/write_a_rule` shows this rule. The share may be above one.
#
# .. endfold::
#
# .. fold:: Answers


@dataclass(frozen=True)
class Zero(WorkingSetSelector):
    """Not a pair."""

    answer: tuple | None = (0, 0)

    def select(self, state):
        """Return `answer`."""
        return self.answer


for number, answer in ((1, (0, 0)), (2, None)):
    try:
        check_strategy(Zero(answer))
    except (AssertionError, TypeError, ValueError) as error:
        print(f"{number}. {type(error).__name__}: {error}")


@dataclass(frozen=True)
class ShortStep(StepRule):
    """μ = clip(ω ℓ/q)."""

    share: float = 0.9

    def length(self, state, i, j):
        """Clip ω times the Newton step to the box."""
        return min(max(self.share * (state.slope / state.curvature), state.low), state.high)


taken = {}
for share in (0.5, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6):
    taken[share] = solve(problem, step=ShortStep(share), shrinking=False).iterations
    print(f"3. share {share}: {taken[share]} steps")
assert max(steps for share, steps in taken.items() if share > 1.0) < taken[1.0]

# %%
# 1. ``check_strategy`` reports that (0, 0) is not a pair: a step needs two different variables.
# 2. ``check_strategy`` reports that ``None`` is not a pair.
# 3. With a share above one, the over-relaxed step of chapter 4, the solver takes fewer steps than with a share of one.
#
# .. endfold::
