r"""
17 · Your own rule
==================

The loops of this package leave seven kinds of decisions to objects that you pass in: which pair to move, how far to
move it, when to stop, where to begin, how to follow a path, which variables to leave out, and which signs are known
without training. You can write your own objects. This chapter writes one of each kind in some ten lines, gives a step
rule a compiled twin, checks all rules, and breaks a rule on purpose.
"""

# fold: Imports and settings
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    AVG,
    RBF,
    TOP,
    Check,
    Cold,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    PathTracker,
    Restriction,
    SecondOrder,
    Seeder,
    Shrinking,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.core.rounds.sufficiency import CHECKS
from refsvm.datasets import load, make_banana
from refsvm.display import ConvergenceDisplay, Stepper
from refsvm.testing import check_strategy

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)

heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=10.0)

# %%
# What all of them share
# ----------------------
#
# A rule is a frozen dataclass of its hyper-parameters. You have to write only one method; the base class of the rule
# says which. A rule serves many solves, so it must not store anything that changes; each solve keeps an array as the
# memory of the rule.
# The page :doc:`/write_a_rule` lists the optional methods.
#
# .. shipped:: core/rule.py
#    :object: Rule
#
# A selector
# ----------
#
# ``select(state)`` returns :math:`i`, which rises, and :math:`j`, which falls; or (−1, −1) if no pair gains. The
# selector below goes round: it takes the next :math:`i` in turn that violates by at least half of :math:`\psi`.
# (Without the half it may spend its steps on pairs that gain next to nothing.)


@dataclass(frozen=True)
class InTurn(WorkingSetSelector):
    """The next i with Gᵢ − Gⱼ ≥ ψ/2, j = argmin of G over I_down."""

    def select(self, state):
        """Return the first such i behind the last one."""
        if state.gap <= 0.0:
            return -1, -1
        slope = state.gradient - state.gradient[state.bottom]
        gains = (state.alpha < state.upper) & (slope >= 0.5 * state.gap)
        behind = np.arange(len(gains)) > state.working_sets[0, 0]
        return int((gains & behind if (gains & behind).any() else gains).argmax()), state.bottom


runs = {}
for selector in (InTurn(), MostViolatingPair(), SecondOrder()):
    run = solve(problem, selector=selector, step=NewtonStep(), shrinking=False, trace=True)
    runs[type(selector).__name__] = run
    print(
        f"{type(selector).__name__:18s} {run.iterations:6d} steps, f = {run.objective:.3f}, engine {run.engine}"
    )

# %%

# fold: The code of this figure
# alt: The KKT gap is drawn over the steps for three selectors. The gap falls fastest with second order. With the new
#     rule it falls in jumps, mostly above the curve of the most violating pair, but ends before it.
ConvergenceDisplay.from_solutions(runs, metric="gap", against="iterations")
plt.show()

# %%
# In a notebook each press of a button takes a step of the rule and a step of ``MostViolatingPair``
# (:doc:`/gallery/examples/06_step_through_your_own_rule`). A web page cannot run Python, so it shows a strip of
# pictures.

banana = make_banana(40, rng=1)
Stepper(banana.X, banana.y, kernel=RBF(0.5), C=10.0, selector=InTurn(), against=MostViolatingPair())

# %%
# Does a solve with this rule end? The proof of :doc:`chapter 9 <09_does_it_end>` needs little change. Each pair has
# :math:`\ell\ge\psi/2>\varepsilon/2`, so :math:`\varepsilon/2` replaces :math:`\varepsilon`:
#
# .. math:: \text{free steps} \;<\; \frac{2D^2f^*}{(\varepsilon/2)^2} = \frac{8D^2f^*}{\varepsilon^2},
#    \qquad \sum_t\mu_t \;\le\; \frac{4f^*}{\varepsilon} .
#
# The rest of the proof is mirrored, because :math:`j`, not :math:`i`, is always extreme: it is the lowest variable that
# may fall. Suppose a variable both falls and rises infinitely often. Between two of its falls some lower variable must
# leave its lower bound and return to it. So this lower variable also falls and rises infinitely often. Repeating the
# argument gives an infinite descending chain among finitely many variables, which is impossible. Without the factor ½,
# :math:`\ell` would have no positive lower bound, and the argument would fail.
#
# The next lines count the steps for several shares of :math:`\psi` and two values of :math:`C`:


@dataclass(frozen=True)
class InTurnAbove(InTurn):
    """The same with any share of ψ in place of the half."""

    share: float = 0.5

    def select(self, state):
        """Return the first such i behind the last one."""
        if state.gap <= 0.0:
            return -1, -1
        slope = state.gradient - state.gradient[state.bottom]
        gains = (state.alpha < state.upper) & (slope >= self.share * state.gap) & (slope > 0.0)
        behind = np.arange(len(gains)) > state.working_sets[0, 0]
        return int((gains & behind if (gains & behind).any() else gains).argmax()), state.bottom


small = DualProblem.classification(heart.X, heart.y, kernel=RBF(gamma=0.005), C=1.0)
print(f"{'share of ψ':>12s}{'C = 1':>8s}{'C = 10':>8s}")
for share in (0.0, 0.1, 0.5, 0.9):
    counts = [
        solve(
            each, selector=InTurnAbove(share), step=NewtonStep(), shrinking=False, max_iter=20_000
        ).iterations
        for each in (small, problem)
    ]
    print(f"{share:12g}{counts[0]:8d}{counts[1]:8d}")

# %%
# On other sets the rules take these steps:

# fold: A race on four sets
races = (
    ("banana", make_banana(200, rng=0), 0.5, 10.0), ("thyroid", load("thyroid"), 0.05, 500.0),
    ("ionosphere", load("ionosphere"), 0.4, 3.0), ("sonar", load("sonar"), 0.1, 100.0),
)  # fmt: skip
print(f"{'':10s}" + "".join(f"{name:>19s}" for name in runs))
for name, sample, gamma, C in races:
    race = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma=gamma), C=C)
    counts = [
        solve(race, selector=rule, step=NewtonStep(), shrinking=False).iterations
        for rule in (InTurn(), MostViolatingPair(), SecondOrder())
    ]
    print(f"{name:10s}" + "".join(f"{count:19d}" for count in counts))

# %%
# The rule beats the most violating pair on heart and banana only. The other six kinds of rules follow, more briefly.
#
# A step, and its twin
# --------------------
#
# ``length(state, i, j)`` returns :math:`\mu` between ``state.low`` and ``state.high``. The rule below stops a little
# before the top of the parabola.


@dataclass(frozen=True)
class ShortStep(StepRule):
    """μ = clip(ω ℓ/q) with ω < 1."""

    share: float = 0.9

    def length(self, state, i, j):
        """Clip ω times the Newton step to the box."""
        return min(max(self.share * (state.slope / state.curvature), state.low), state.high)

    def twin(self):
        """Return the compiled version."""
        return short_step


# %%
# The *twin* is the same rule as a Numba function. The twin receives the hyper-parameters as an array and the state as a
# record. The record holds numbers in ``state.now[0]`` and arrays by their names. The same operations in the same order
# give the same bits. A rule without a twin runs in the NumPy loop.

from refsvm.compiled.interface.layout import LENGTH
from refsvm.compiled.interface.twin import twin


@twin(LENGTH)
def short_step(parameters, state, i, j):
    """Twin of ShortStep."""
    now = state.now[0]
    return min(max(parameters[0] * (now.slope / now.curvature), now.low), now.high)


for engine in ("numpy", "numba"):
    run = solve(problem, step=ShortStep(), engine=engine, shrinking=False)
    print(f"{engine}: {run.iterations} steps, f = {run.objective!r}")

# %%
# A twin that reads a kernel row calls ``row_or_ask``. :doc:`/gallery/examples/01_add_your_own_rule` writes such a twin,
# and shows what can go wrong.
#
# A stopping rule
# ---------------
#
# ``check(state)`` returns 0 to go on, or the number of its reason to stop. The rule below stops when the certificate of
# chapter 2 proves that the error of the objective is below a given share. The best intercept requires sorting :math:`n`
# numbers, which costs more than a step, so the rule tests the certificate only at every fiftieth call.


@dataclass(frozen=True)
class RightTo(StoppingRule):
    """Stop when F − f ≤ share · |f|."""

    share: float = 1e-3
    period = 50
    reasons = ("The objective is right to the share asked for.", "No pair gains.")

    def check(self, state):
        """Ask for the duality gap, now and then."""
        if state.gap <= 0.0:
            return 2
        if state.iteration % self.period:
            return 0
        return int(state.duality_gap() <= self.share * abs(state.objective))


run = solve(problem, stop=RightTo(1e-2), shrinking=False)
print(f"{run.iterations} steps. {run.reason} {run.duality_gap / run.objective:.1e}")

# %%
# A seeder
# --------
#
# ``seed(solved, problem)`` returns a feasible α for the next problem. The seeder below hands the weight of the left-out
# example to the free support vectors, in proportion to their similarity; ``complete`` repairs the sum.

from refsvm.core.seeders.spread import complete


@dataclass(frozen=True)
class InProportion(Seeder):
    """αᵢ += αᵣ k(xᵣ, xᵢ)/Σ k over the free ones."""

    def seed(self, solved, problem):
        """Return the feasible α."""
        lower, upper = problem.lower, problem.upper
        alpha = np.clip(solved.alpha, lower, upper)
        free = (alpha > lower) & (alpha < upper)
        for r in np.flatnonzero(alpha != solved.alpha):
            similar = np.where(free, np.maximum(problem.gram.block(np.array([r]))[0], 0.0), 0.0)
            if similar.sum() > 0.0:
                alpha += (solved.alpha[r] - alpha[r]) * similar / similar.sum()
        return complete(np.clip(alpha, lower, upper), problem.z, lower, upper)


for seeder in (Cold(), AVG(), TOP(), InProportion()):
    loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0, seeder=seeder, stop=KKTGap(1e-3))
    print(
        f"{type(seeder).__name__:13s} {loo.round_iterations.sum():6d} steps in the rounds, error {loo.error:.4f}"
    )

# %%
# A check
# -------
#
# ``decide(full, rows)`` receives the solution on all examples. For each example it returns the sign that the machine
# without this example predicts, or 0 if a round has to decide. The check below is a weaker form of the check on
# training errors: it decides examples that are far on the wrong side.


@dataclass(frozen=True)
class FarWrong(Check):
    """yᵣh(xᵣ) < −depth: wrong with r, and so without."""

    depth: float = 0.5
    name = "far wrong"

    def decide(self, full, rows):
        """Return the sign without r, or 0."""
        y = full.problem.v
        return np.where(y * full.decision_values < -self.depth, -y, 0)


loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0, checks=(*CHECKS[:1], FarWrong()))
print({name: count for name, count in loo.counts.items() if count}, f"error {loo.error:.4f}")

# %%
# Shrinking
# ---------
#
# ``steps(backend, limits, state, …)`` takes steps on the variables that it chooses. The package provides the restricted
# problem, so the class below only decides whether to shrink.


@dataclass(frozen=True)
class LargeOnly(Shrinking):
    """Restrict problems of more than so many variables, and leave small ones alone."""

    least: int = 500

    def steps(self, backend, limits, state, rules, budget, trace):
        """Take steps on all variables, or on those that matter."""
        if len(state.alpha) <= self.least:
            return backend.steps(state, rules, budget, trace)
        return Restriction(period=300).steps(backend, limits, state, rules, budget, trace)


print(f"{solve(problem, shrinking=LargeOnly()).iterations} steps")

# %%
# A tracker
# ---------
#
# ``follow(walk, end)`` yields a breakpoint after every event of the path of :math:`C` (:doc:`chapter 15
# <15_the_path_of_c>`). The tracker below is SVMP with a counter. :doc:`/gallery/examples/01_add_your_own_rule` writes a
# tracker from the ground up.

from refsvm import SVMP


@dataclass(frozen=True)
class Counted(PathTracker):
    """SVMP with a limit on the events."""

    most: int = 10_000

    def follow(self, walk, end):
        """Yield the breakpoints of SVMP."""
        for number, point in enumerate(SVMP().follow(walk, end)):
            if number == self.most:
                raise ValueError(f"more than {self.most} events; give a smaller C_max.")
            yield point


path = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.1, C_max=1.0, tracker=Counted())
print(f"{len(path.C)} breakpoints")

# %%
# Checking all of them
# --------------------
#
# :func:`~refsvm.testing.strategy.check_strategy` runs a rule of any kind on random and degenerate problems: duplicates,
# singular and indefinite kernels, constant features, two examples, tiny and huge :math:`C`. The function tests what the
# base class of the rule requires, and compares rule and twin bit for bit.

for rule in (InTurn(), ShortStep(), InProportion()):
    report = check_strategy(rule)
    print(f"{report.rule}: {len(report.problems)} problems, {report.steps} steps. {report.twin}")

# %%
# A check is worth something only if it can fail. The next step rule has a typical mistake: it forgets the box.


@dataclass(frozen=True)
class Forgetful(StepRule):
    """The Newton step, whatever the box says."""

    def length(self, state, i, j):
        """Forget lo and hi."""
        return state.slope / state.curvature


try:
    check_strategy(Forgetful())
except AssertionError as error:
    print(error)

# %%
# .. admonition:: Known elsewhere as
#
#    Rules are *strategy* objects or *policies*, and your own rule is a *plug-in*. ``check_strategy`` is a *conformance
#    test*. A record of numbers that a compiled function reads is a *struct*.
#
# Exercises
# ---------
#
# 1. ★ Write a selector that returns (0, 0). How does ``check_strategy`` respond?
# 2. ★ Let this selector return ``None``. How does ``check_strategy`` respond?
# 3. ★ Which share of ``ShortStep`` takes the fewest steps on the heart data?
#
# .. fold:: Hints
#
# 1. Give an instance, ``Zero()``, to ``check_strategy``, which inspects the returned value.
# 2. Make the returned value a parameter of the class.
# 3. ``ShortStep(share)`` takes any share, also above one.
#
# .. endfold::
#
# .. fold:: Answers


@dataclass(frozen=True)
class Zero(WorkingSetSelector):
    """Not a pair."""

    answer: tuple | None = (0, 0)

    def select(self, state):
        """Return what is none."""
        return self.answer


for number, answer in ((1, (0, 0)), (2, None)):
    try:
        check_strategy(Zero(answer))
    except (AssertionError, TypeError, ValueError) as error:
        print(f"{number}. {type(error).__name__}: {error}")
taken = {}
for share in (0.5, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6):
    taken[share] = solve(problem, step=ShortStep(share), shrinking=False).iterations
    print(f"3. share {share}: {taken[share]} steps")
assert max(steps for share, steps in taken.items() if share > 1.0) < taken[1.0]

# %%
# 1. ``check_strategy`` reports that (0, 0) is not a pair: a step needs two different variables.
# 2. ``check_strategy`` reports that the returned value is not a pair.
# 3. With a share above one the solver takes fewer steps than with a share of one: this is the over-relaxed step of
#    chapter 4. The best share differs from problem to problem.
#
# .. endfold::
