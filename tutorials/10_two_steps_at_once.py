r"""
10 · Two steps at once
======================

The Newton step is the best single step on a pair, but it need not be the best first half of two steps. This chapter
shows how steps on a few variables undo each other, and two remedies: a step planned together with the next step
(Glasmachers, 2008), and a step that preserves what the last step achieved (Torres-Barrán, Alaíz and Dorronsoro, 2021).
"""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    RBF,
    ConjugateStep,
    DualProblem,
    KKTGap,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    SecondOrder,
    iterate,
    solve,
)
from refsvm.datasets import load, make_banana, make_chessboard
from refsvm.display import ConvergenceDisplay, WorkingSetDisplay
from refsvm.display.canvas import PALETTE

NEWTON, CONJUGATE, PLANNED, *OTHERS = PALETTE  # planned steps as WorkingSetDisplay marks them
plt.rcParams.update({
    "figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=(NEWTON, PLANNED, CONJUGATE, *OTHERS)),
})  # fmt: skip

# %%
# Three points and many steps
# ---------------------------
#
# A negative example lies between two positive examples. As in chapter 3, :math:`\alpha_0` and :math:`\alpha_1`
# determine :math:`\alpha_2`, so the problem can be drawn in a plane. :math:`C` is so large that no step is clipped.

# fold: The code of this figure
# alt: Three panels show steps to the optimum of three points, over contours of the objective. Newton steps make a
#     staircase of shorter and shorter steps; three steps with planning, or two with conjugate directions, reach the
#     optimum.
X, y = np.array([[-0.5, 0.0], [0.4, 0.0], [0.0, 0.1]]), np.array([1, 1, -1])
kernel = RBF(gamma=0.5)
three = DualProblem.classification(X, y, kernel=kernel, C=1e4)
K = kernel(X, X)


def objective(a0, a1):
    """Return f in the plane of the first two variables."""
    alpha = np.stack([a0, a1, -a0 - a1])
    return np.tensordot(y, alpha, 1) - 0.5 * np.einsum("i...,ij,j...", alpha, K, alpha)


grid = np.meshgrid(np.linspace(-3, 36, 150), np.linspace(-3, 42, 150))
figure, row = plt.subplots(1, 3, figsize=(10, 4), sharex=True, sharey=True)
rules = (NewtonStep(), PlanningAheadStep(), ConjugateStep())
for axes, step, colour in zip(row, rules, (NEWTON, PLANNED, CONJUGATE), strict=True):
    points = [(0.0, 0.0)]
    for state in iterate(three, step=step):
        points.append(tuple(state.alpha[:2]))
    heights = objective(*grid)
    levels = heights.max() - np.ptp(heights) * np.linspace(1, 0, 16)[:-1] ** 4
    axes.contour(*grid, heights, levels=levels, colors="0.75", linewidths=0.7, linestyles="solid")
    axes.plot(*np.transpose(points), ".-", color=colour, lw=1.5, label="α, step by step")
    axes.set(xlabel=r"$\alpha_0$", title=f"{type(step).__name__}: {state.iteration} steps")
    axes.legend(frameon=False, loc="lower right")
row[0].set_ylabel(r"$\alpha_1$")
plt.show()

# %%
# In the left panel every step is best in its direction, but each step after the first changes the slope that the
# previous step made zero. The working sets :math:`(0,2)` and :math:`(1,2)` alternate; their directions are
# :math:`d_1=e_0-e_2` and :math:`d_2=e_1-e_2`. The cosine of the angle between these directions, measured with
# :math:`K`, tells how much the steps undo each other:
#
# .. math::
#
#    \cos\vartheta = \frac{Q_{12}}{\sqrt{Q_{11}Q_{22}}}, \qquad Q_{st} = d_s^\top K d_t ,
#
# (:math:`Q_{11}` and :math:`Q_{22}` are the :math:`q` of chapter 4.) Each step after the first multiplies :math:`f^*-f`
# by :math:`\cos^2\vartheta`:

directions = np.array([[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
(Q11, Q12), (_, Q22) = directions @ K @ directions.T
cosine2 = Q12**2 / (Q11 * Q22)
best = solve(three, stop=KKTGap(1e-12)).objective
trace = solve(three, step=NewtonStep(), shrinking=False, trace=True).trace
lacking = best - trace["objective"][:8]
print(f"cosine squared {cosine2:.6f}")
print("what a step leaves", (lacking[1:] / lacking[:-1]).round(6))

# %%
# The double step
# ---------------
#
# Suppose that a Newton step on :math:`d_2` follows a step on :math:`d_1`. Let the slopes be :math:`\ell_1=d_1^\top G`
# and :math:`\ell_2=d_2^\top G`. The step on :math:`d_1`, of length :math:`\mu`, changes the second slope to
# :math:`\ell_2-Q_{12}\mu`, and both steps together gain
#
# .. math::
#
#    g_2(\mu) = \underbrace{\ell_1\mu-\tfrac12Q_{11}\mu^2}_{\text{this step, }g(\mu)}
#             + \underbrace{\frac{(\ell_2-Q_{12}\mu)^2}{2\,Q_{22}}}_{\text{the next}}, \qquad
#    \text{largest at}\quad \mu_P = \frac{Q_{22}\ell_1-Q_{12}\ell_2}{Q_{11}Q_{22}-Q_{12}^2} .
#
# The step :math:`\mu_P` is the *planned step*. The rule cannot know the next step. It assumes that the selector returns
# to the *previous* working set, whose kernel rows are in memory. Selectors often return to a set if steps undo each
# other. If the previous step was a free Newton step, then :math:`\ell_2=0`, and
#
# .. math:: \mu_P = \frac{\hat\mu}{1-\cos^2\vartheta} .
#
# So the planned step is never shorter than the Newton step, and much longer if the directions nearly coincide. The
# figure shows the second step on three points.

# fold: The code of this figure
# alt: In the box of two variables the planned step goes further than the Newton step. The right panel shows the gain of
#     the planned step, alone and together with the next step.
state = next(iterate(three, step=PlanningAheadStep()))
i, j = SecondOrder().select(state)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.9), width_ratios=(5, 4))
display = WorkingSetDisplay.from_state(state, i, j, step=PlanningAheadStep(), ax=left, window=45)

newton, planned = display.steps["Newton"], display.steps["planned"]
w1 = state.gradient[i] - state.gradient[j]
w2 = directions[0] @ state.gradient  # the previous set was (0, 2); a free step has made this zero
mu = np.linspace(0, 45, 200)
for curve, name, colour in (
    (w1 * mu - Q22 * mu**2 / 2, "this step", NEWTON),
    (w1 * mu - Q22 * mu**2 / 2 + (w2 - Q12 * mu) ** 2 / (2 * Q11), "this step and the next", PLANNED),
):
    top = newton if colour == NEWTON else planned
    right.plot(mu, curve, color=colour, lw=2, label=name)
    right.plot(top, np.interp(top, mu, curve), "o", color=colour, ms=8)
right.axhline(0, color="0.7", lw=0.8)
right.set(xlabel=r"length $\mu$ of this step; dots: the tops", ylabel="gain", ylim=(-8, 68))
right.legend(frameon=False, loc="upper left")
plt.show()
print(f"Newton {newton:.3f}, planned {planned:.3f}, Newton/(1 - cosine squared) {newton / (1 - cosine2):.3f}")

# %%
# Alone, the planned step of the figure gains less than half as much as the Newton step. A planned step longer than
# :math:`2\hat\mu` even lowers the objective. In the function below ``w1`` and ``w2`` stand for :math:`\ell_1` and
# :math:`\ell_2`:


def planned_step(K, G, alpha, lower, upper, pair, before):
    """Return the best first step of two, on `pair` and then on `before`, or None if a step leaves the box."""
    (i, j), (k, m) = pair, before
    Q11, Q22 = (K[a, a] + K[b, b] - 2.0 * K[a, b] for a, b in (pair, before))
    Q12 = K[i, k] - K[i, m] - K[j, k] + K[j, m]
    w1, w2, det = G[i] - G[j], G[k] - G[m], Q11 * Q22 - Q12**2
    if det <= 1e-10 * Q11 * Q22:  # the two directions coincide but for rounding
        return None
    mu = (Q22 * w1 - Q12 * w2) / det
    for (a, b), length in ((pair, mu), (before, (w2 - Q12 * mu) / Q22)):
        alpha = alpha + length * (np.eye(len(G))[a] - np.eye(len(G))[b])
        if not all(lower[t] < alpha[t] < upper[t] for t in (a, b)):
            return None
    return mu


own = planned_step(
    K, state.gradient, state.alpha, three.lower, three.upper, (i, j), state.working_sets[0].tolist()
)
print(f"planned step {own:.3f}")

# %%
# .. shipped:: core/steps/planning_ahead.py
#    :twin:
#    :fold: PlanningAheadStep in the package
#
# .. shipped:: core/steps/eager_planning.py
#    :twin:
#    :fold: EagerPlanningStep in the package
#
# The formula ignores the box, and the selector may not return to the previous pair. Two guards help:
#
# * The rule plans only if the previous step was free and not planned, and if this step and the planned next step both
#   end strictly inside the box. Otherwise the rule takes the clipped Newton step.
#   (:class:`~refsvm.core.steps.eager_planning.EagerPlanningStep` also plans after clipped steps.)
# * After a planned step the selector also considers the pair of the planned next step (the *planned pair*). If the
#   planned step differed from the Newton step :math:`\hat\mu` by more than :math:`0.9\,\hat\mu`, the selector compares
#   exact gains. Then the selected pair gains at least as much as the planned pair.
#
# The package refuses a selector that does not consider the planned pair:

try:
    solve(three, selector=MostViolatingPair(), step=PlanningAheadStep())
except ValueError as error:
    print(error)
print(f"a step within 1 ± 0.9 of the Newton step gains at least {1 - 0.9**2:.2f} of what that gains")

# %%
# Why 0.9? A step of :math:`\omega\hat\mu` gains the share :math:`1-(\omega-1)^2` of what the Newton step gains
# (exercise 2 of chapter 4). If :math:`\omega` differs from 1 by at most 0.9, this share is at least the printed number.
#
# The convergence proof allows the objective to fall in a planned step, but not over this step and the next together. On
# the chessboard, how many planned steps lower :math:`f`, and how many lower :math:`f` even together with the next step?

board = make_chessboard(300, rng=0)
chessboard = DualProblem.classification(board.X, board.y, kernel=kernel, C=1e3)
run = solve(chessboard, step=PlanningAheadStep(), shrinking=False, trace=True)
steps = run.trace.rows
f = np.concatenate([[0.0], steps["objective"]])
planned = np.flatnonzero(steps["planned"][:-1])
sets = np.sort(np.column_stack([steps["i"], steps["j"]]), axis=1)
as_planned = (sets[planned + 1] == sets[planned - 1]).all(axis=1)
print(f"{len(steps)} steps, {len(planned)} of them planned")
print(f"planned steps that lowered the objective:     {(f[planned + 1] < f[planned]).sum():5d}")
print(f"planned steps that did so with the next step: {(f[planned + 2] < f[planned]).sum():5d}")
print(
    f"planned steps followed by the planned set:    {as_planned.sum():5d}, one in {1 / as_planned.mean():.1f}"
)

# %%
# The next step rarely moves the planned pair. Why does planning still pay? As a control, the next run plans nothing,
# but multiplies every second Newton step by the factor :math:`\mu_P/\hat\mu` of a random planned step:


# fold: Lengths of planned steps in random order
class Stretched(NewtonStep):
    """A Newton step; every second step is multiplied by one of the `factors`."""

    def length(self, state, i, j):
        factor = factors[state.iteration // 2 % len(factors)] if state.iteration % 2 else 1.0
        return min(max(factor * state.slope / state.curvature, state.low), state.high)


counts = []
for seed in range(3):
    order = np.random.default_rng(seed).permutation(board.n)
    mixed = DualProblem.classification(board.X[order], board.y[order], kernel=kernel, C=1e3)
    rows = solve(mixed, step=PlanningAheadStep(), shrinking=False, trace=True).trace.rows
    ahead = rows[rows["planned"] == 1]
    factors = np.random.default_rng(seed).permutation(ahead["step"] / ahead["newton"])
    others = (solve(mixed, step=step, shrinking=False).iterations for step in (NewtonStep(), Stretched()))
    counts.append((len(rows), *others))
plan, newton, stretched = np.mean(counts, axis=0)
print(f"steps, mean of three orders: Newton {newton:.0f}, stretched {stretched:.0f}, planned {plan:.0f}")
print(f"share of the saving without a plan: {(newton - stretched) / (newton - plan):.0%}")

# %%
# So here most of the saving comes from longer steps, the rest from the plan. Try planned steps:
#
# .. stepper::
#    :data: chessboard
#    :selector: second-order
#    :step: planning-ahead
#    :C: 100
#
# Conjugate steps
# ---------------
#
# Let the last step have moved :math:`\alpha` by :math:`\Delta`, and store :math:`K\Delta`. If this step was free, the
# slope along :math:`\Delta` is now zero. A step along :math:`d=e_i-e_j` changes this slope by :math:`-\mu\,\Delta^\top
# Kd`. So subtract the part of :math:`d` that changes this slope:
#
# .. math::
#
#    p = d-\frac{\beta}{q_\Delta}\,\Delta, \qquad \beta=\Delta^\top Kd=(K\Delta)_i-(K\Delta)_j,
#    \qquad q_\Delta=\Delta^\top K\Delta .
#
# Now :math:`\Delta^\top Kp=\beta-\tfrac\beta{q_\Delta}\,q_\Delta=0`: the two directions are *conjugate*, and a step
# along :math:`p` leaves the slope along :math:`\Delta` unchanged. The slope along :math:`p` is still :math:`\ell`,
# because after a free step :math:`\Delta^\top G=0`. The curvature along :math:`p` is at most the curvature :math:`q`
# along :math:`d`:
#
# .. math:: q_p = p^\top Kp = q-\frac{\beta^2}{q_\Delta}, \qquad \mu=\frac{\ell}{q_p} .
#
# So if :math:`\beta\ne0`, a conjugate step inside the box is longer than the Newton step and gains more,
# :math:`\ell^2/2q_p`. In a plane, as for the three points, two conjugate steps reach the top. A conjugate step needs
# only the kernel rows of the pair, because :math:`Kp=K_{i\cdot}-K_{j\cdot}-\tfrac\beta{q_\Delta}K\Delta`. But a
# conjugate step can move many variables, and each may meet its bound. If a variable of the pair meets its bound first,
# the step ends, and the next step is a Newton step. If a variable outside the pair meets its bound first, the package
# ends the move along :math:`\Delta` at this bound. The pair moves on along :math:`d` to the maximum or a bound, and
# this move of the pair is the next :math:`\Delta`. Without the box the rule is short:


def conjugate_move(K, G, i, j, last):
    """Return how α moves: to the top along the pair's direction made conjugate to the last displacement."""
    image = K @ last
    share = (image[i] - image[j]) / (last @ image)  # β/q_Δ
    direction = np.eye(len(G))[i] - np.eye(len(G))[j] - share * last
    return (G[i] - G[j]) / (direction @ K @ direction) * direction


first = next(iterate(three, step=NewtonStep())).alpha
G = three.gradient(first)
i, j = int(np.argmax(G)), int(np.argmin(G))
print("slopes after two conjugate steps", three.gradient(first + conjugate_move(K, G, i, j, first)).round(9))

# %%
# All three entries of :math:`G` are now equal, so no pair gains any more. For the :math:`i` of the most violating pair,
# the package selects the :math:`j` with the largest :math:`\tfrac12\ell^2/(q-\beta^2/q_\Delta)`, the gain of the
# conjugate step unless the box cuts it.
#
# Does the loop end with conjugate steps? No step lowers :math:`f`, because a step of length :math:`\mu` gains at least
# :math:`\tfrac12\mu\ell`. Torres-Barrán, Alaíz and Dorronsoro (2021) prove that their rule converges, at a linear rate
# if :math:`K` is positive definite. The package selects pairs and cuts steps differently, and this book has no proof
# for its rule.
#
# .. shipped:: core/steps/conjugate.py
#    :twin:
#    :fold: ConjugateStep in the package
#
# .. shipped:: core/selectors/conjugate_second_order.py
#    :twin:
#    :fold: ConjugateSecondOrder in the package
#
# A conjugate step moves :math:`\alpha` by :math:`\mu d+\kappa\Delta`; inside the box :math:`\kappa=-\mu\beta/q_\Delta`:
#
# .. shipped:: core/state.py
#    :object: SolverState._carry
#    :fold: SolverState._carry
#
# Where planning pays
# -------------------
#
# If pairs tie, the lowest index wins, so the number of steps depends on the order of the examples. The table shows
# means over three such orders: the number of steps of the Newton rule, and for the other rules the ratio of their steps
# to this number. The last rule lengthens Newton steps by a tenth where the box permits.

samples = {
    "chessboard": (board, 1e3, 0.5),
    "banana": (make_banana(400, rng=0), 100.0, 0.25),
    "thyroid": (load("thyroid"), 500.0, 0.05),
    "ionosphere": (load("ionosphere"), 3.0, 0.4),
    "heart": (load("heart"), 1.0, 0.005),
}
named = {
    "Newton": NewtonStep(),
    "planning": PlanningAheadStep(),
    "conjugate": ConjugateStep(),
    "x 1.1": OverrelaxedNewtonStep(1.1),
}


def steps_taken(problems, step):
    """Return the number of steps for each problem."""
    return np.array([solve(problem, step=step, shrinking=False).iterations for problem in problems])


print(f"{'':14s} Newton  " + "".join(f"{name:>10s}" for name in list(named)[1:]) + "    free  cos²")
for name, (sample, C, gamma) in samples.items():
    orders = [np.random.default_rng(seed).permutation(len(sample.y)) for seed in range(3)]
    problems = [DualProblem.classification(sample.X[o], sample.y[o], kernel=RBF(gamma), C=C) for o in orders]
    newton = steps_taken(problems, NewtonStep())
    ratios = [(steps_taken(problems, step) / newton).mean() for step in list(named.values())[1:]]
    rows = solve(problems[0], step=PlanningAheadStep(), shrinking=False, trace=True).trace.rows
    ahead = rows[rows["planned"] == 1]
    related = np.median(1 - ahead["newton"] / ahead["step"])  # from μ_P = Newton/(1 − cosine squared)
    print(
        f"{name:14s}{newton.mean():7.0f}  "
        + "".join(f"{ratio:10.2f}" for ratio in ratios)
        + f"{rows['free'].mean():8.2f}{related:6.2f}"
    )

# %%
# For one run with planning, ``free`` is the share of unclipped steps, and ``cos²`` is the median of
# :math:`\cos^2\vartheta` over the planned steps. If :math:`\cos^2\vartheta` is nearly zero, consecutive steps hardly
# disturb each other, and the planned step is nearly the Newton step. In the table, planning saves most on problems with
# many steps, where consecutive directions are related.
#
# The figure shows one run of each rule on the chessboard. Most losses of :math:`f` in planned steps are too small to
# see: the median loss is below a hundredth of :math:`f^*-f`. The largest loss shows as a thin line above the curve.

# fold: The code of this figure
# alt: The distance of the objective from its maximum is drawn over the steps for four rules. Conjugate steps end first,
#     then planned, over-relaxed and Newton steps. A thin line sticks out of the curve of planned steps.
top = solve(chessboard, stop=KKTGap(1e-8)).objective
lost = (f[planned] - f[planned + 1]) / (top - f[planned])
print(
    f"planned steps that lowered f took back {np.median(lost[lost > 0]):.2%} of what it lacked, in the median"
)
print(f"the largest, after {planned[lost.argmax()]} steps, took back {lost.max():.1f} times what it lacked")
assert np.median(lost[lost > 0]) < 0.01
runs = {name: solve(chessboard, step=step, shrinking=False, trace=True) for name, step in named.items()}
figure, axes = plt.subplots(figsize=(6.4, 3.8))
ConvergenceDisplay.from_solutions(runs, metric="objective", best=top, ax=axes)
plt.show()

# %%
# .. worth:: 10
#
#    If consecutive steps hardly disturb each other, planning and conjugate steps save few or no steps, and each step
#    costs more than a Newton step.
#
# .. admonition:: Known elsewhere as
#
#    Repeating a part of the last step in the next step is *momentum* or the *heavy ball* method. *Conjugate directions*
#    are known from the conjugate gradient method of Hestenes and Stiefel (1952). Planning is a *look-ahead*, and
#    stretching steps by a fixed factor is *over-relaxation*.
#
# Exercises
# ---------
#
# 1. ★ Derive :math:`\mu_P` from :math:`g_2`.
# 2. ★ Try over-relaxed steps with :math:`\omega=1.5` in the stepper above, on the chessboard and on the three points;
#    choose Newton steps as the second run. Then try ``OverrelaxedNewtonStep(1.5)`` on the problems of this chapter.
# 3. ★ ``PlanningAheadStep(N)`` plans with each of the :math:`N` most recent working sets and takes the best plan. How
#    many steps does this rule take for :math:`N` = 1, 2, 3, 5, 10 on the chessboard?
# 4. ★★ Why does ``ConjugateStep`` reach the maximum of :math:`f` for the three points in so few steps?
#
# .. fold:: Hints
#
# 1. Set the derivative of :math:`g_2` to zero and multiply by :math:`Q_{22}`.
# 2. The stepper shows :math:`\omega` beside the over-relaxed step.
# 3. Pass the rule as ``step``, and solve without shrinking.
# 4. How many independent directions does the sum constraint leave to three variables?
#
# .. endfold::
#
# .. fold:: Answers

for name, each in (("three points", three), ("chessboard", chessboard)):
    counts = [
        solve(each, step=step, shrinking=False).iterations
        for step in (NewtonStep(), OverrelaxedNewtonStep(1.5))
    ]
    print(f"2. {name}: Newton {counts[0]}, × 1.5 {counts[1]}")
counts = {
    N: solve(chessboard, step=PlanningAheadStep(N), shrinking=False).iterations for N in (1, 2, 3, 5, 10)
}
for N, count in counts.items():
    print(f"3. N = {N}: {count} steps, {1 - count / counts[1]:.1%} fewer than with N = 1")
assert counts[10] < counts[5] < counts[1]

# %%
# 1. :math:`g_2'(\mu)=\ell_1-Q_{11}\mu-\tfrac{Q_{12}}{Q_{22}}(\ell_2-Q_{12}\mu)=0`; solve for :math:`\mu`.
# 2. Over-relaxation takes more steps than the Newton rule on the three points, and fewer on the chessboard.
# 3. Planning with more sets saves more steps here. But every planned step takes longer, because the rule compares more
#    plans. For the older sets :math:`\ell_2\ne0`, so some planned steps are shorter than the Newton step, or go
#    backwards.
# 4. The sum constraint leaves a plane, in which two conjugate steps reach the optimum.
#
# .. endfold::
