r"""
12 · A sign is enough
=====================

In :doc:`chapter 11 <11_leave_one_out>` three proofs decide most examples. Each remaining example needs a round of
training, which has to find only the example's side of the boundary. Often this side is certain long before the optimum.
This chapter presents two proofs that can end a round early: a bound that rises above the primal objective (Franc,
Laskov and Müller, 2008), and this package's own proof, a ball that contains the machine without the example.
"""

# fold: Imports, the data, and the code of this figure
# alt: Over the steps of a round, the primal objective jumps up and down while it falls, the dual objective rises, and
#     the bound H ends above both. A vertical line marks where the primal objective first falls below H.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    RBF,
    TOP,
    BallRule,
    DualProblem,
    KKTGap,
    Linear,
    LOODualityGap,
    iterate,
    leave_one_out,
    solve,
)
from refsvm.datasets import load, make_banana
from refsvm.display import LOOGapDisplay

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

heart = load("heart")
kernel, C = RBF(gamma=0.005), 1.0
problem = DualProblem.classification(heart.X, heart.y, kernel=kernel, C=C)

straight = DualProblem.classification(heart.X, heart.y, kernel=Linear(), C=C)
full = solve(straight)
chosen = int(np.argmax((np.abs(full.alpha) > 0.1) & (heart.y * full.decision_values > 0.5)))
display = LOOGapDisplay.from_problem(straight, chosen)
last = display.dual[-1]
window = last + np.array([-3.0, 8.0]) * (display.bound[-1] - last)  # H ends above the optimum
display.ax_.set(ylim=window, xlim=(np.flatnonzero(display.bound > window[0])[0] - 50, len(display.dual) + 50))
plt.show()
decided, whole = display.decided_after, len(display.primal)
print(
    f"sign certain after {decided} steps, {decided / whole:.0%} of the {whole} after which the KKT gap is small"
)

# %%
# When is a sign certain?
# -----------------------
#
# Let :math:`F` be the primal objective without example :math:`r`, and let :math:`H` be a lower bound on :math:`F` for
# all machines with :math:`h(x_r)=0`. If the current machine has :math:`F<H`, its :math:`h(x_r)` has the same sign as at
# the optimum. If the signs differed, the segment from the current machine to the optimum would contain a machine with
# :math:`h(x_r)=0`. Since :math:`F` is convex, this machine would cost at most as much as the current machine, hence
# less than :math:`H`: a contradiction.
#
# Weak duality provides :math:`H`, as in chapter 2. The condition :math:`h(x_r)=0` fixes the intercept,
# :math:`b=-w\cdot\varphi(x_r)`, so :math:`h(x)=w\cdot(\varphi(x)-\varphi(x_r))` is a machine without intercept, with
# the kernel
#
# .. math:: K'_{ij} = \bigl(\varphi(x_i)-\varphi(x_r)\bigr)\cdot\bigl(\varphi(x_j)-\varphi(x_r)\bigr)
#           = K_{ij}-K_{ri}-K_{rj}+K_{rr} .
#
# Without :math:`b` the dual has no sum constraint, and every feasible :math:`\eta` gives a bound:
#
# .. math:: H(\eta) = y^\top\eta-\tfrac12\,\eta^\top K'\eta, \qquad L\le\eta\le U,\quad \eta_r=0 .
#
# :class:`~refsvm.core.stopping.loo_duality_gap.LOODualityGap` raises :math:`H` alongside :math:`f` and stops when
# :math:`F<H`. In the first picture, training may end where the falling primal objective first crosses the rising bound.
#
# .. shipped:: core/stopping/loo_duality_gap.py
#    :object: _begin _ascend _decided
#    :fold: How H is begun and raised, and when the sign is certain
#
# .. shipped:: core/stopping/loo_duality_gap.py
#    :twin:
#    :fold: The whole file
#
# A ball that holds the machine
# -----------------------------
#
# Before training without :math:`r`, we know only a region in which the machine lies. Okumura and others (2015) and
# Hanada and others (2023) derived balls that contain the machine after a change of the data; Ndiaye and others (2017)
# used balls that contain the optimum and shrink with the duality gap. Let :math:`(w_r,b_r)` be the machine without
# :math:`r`, :math:`(w,b)` *any* machine, and :math:`\tilde w` the weights of any feasible :math:`\tilde\alpha`. Let
# :math:`P_r` and :math:`D_r` be the primal and the dual objective without :math:`r`, and :math:`P_r^*=D_r^*` the
# optimum.
#
# * The primal contains :math:`\tfrac12\lVert w\rVert^2`, so it curves upwards at least as much as this term:
#   :math:`P_r(w,b)\ge P_r^*+\tfrac12\lVert w-w_r\rVert^2`.
# * Multiplied out, the difference of primal and dual is :math:`P_r(w,b)-D_r(\tilde\alpha)= \tfrac12\lVert w-\tilde
#   w\rVert^2+T(w,b)`. With :math:`\varphi_i=\varphi(x_i)` and :math:`e_i=y_i-w\cdot\varphi_i-b`, no term of the sum
#   :math:`T` is negative:
#
#   .. math:: T(w,b)=\sum_{i\ne r}(U_i-\tilde\alpha_i)\max(0,e_i)+(\tilde\alpha_i-L_i)\max(0,-e_i) .
#
# Write the second statement of this list at :math:`(w,b)` and at :math:`(w_r,b_r)`, subtract, and use the first
# statement:
#
# .. math:: \tfrac12\lVert w-w_r\rVert^2+\tfrac12\lVert\tilde w-w_r\rVert^2+T(w_r,b_r)
#           \;\le\; \tfrac12\lVert w-\tilde w\rVert^2+T(w,b) .
#
# The parallelogram law replaces the distances of :math:`w_r` from :math:`w` and :math:`\tilde w` by the distance from
# their midpoint:
#
# .. math:: \tfrac12\lVert w-w_r\rVert^2+\tfrac12\lVert\tilde w-w_r\rVert^2
#           = \bigl\lVert w_r-\tfrac12(w+\tilde w)\bigr\rVert^2+\tfrac14\lVert w-\tilde w\rVert^2 .
#
# So
#
# .. math::
#
#    \bigl\lVert\tfrac12(w+\tilde w)-w_r\bigr\rVert^2 + T(w_r,b_r)
#    \;\le\; \tfrac14\lVert w-\tilde w\rVert^2 + T(w,b) \;=:\; \rho^2 .
#
# Hence :math:`w_r` lies in a ball of radius :math:`\rho` around the midpoint. If :math:`w=\tilde w`, then
# :math:`\rho^2` is the duality gap. In general :math:`\rho^2=P_r-D_r-\tfrac14\lVert w-\tilde w\rVert^2`. The package
# computes :math:`\rho` from :math:`T`, because a difference of large numbers loses digits near the optimum.
#
# With the linear kernel and two features :math:`w` is a point of a plane, and the ball is a disc:

two = make_banana(40, rng=1)
in_plane = DualProblem.classification(two.X, two.y, kernel=Linear(), C=0.3)
machine = solve(in_plane, stop=KKTGap(1e-9))
left = int(np.argmax((np.abs(machine.alpha) > 0.05) * two.y * machine.decision_values))
rest = in_plane.without(left)
start = TOP().seed(machine, rest)
w, w_start, w_left = (
    two.X.T @ alpha for alpha in (machine.alpha, start, solve(rest, stop=KKTGap(1e-9)).alpha)
)
primal, dual = rest.primal_objective(machine.alpha), rest.objective(start)
radius = np.sqrt(primal - dual - np.sum((w - w_start) ** 2) / 4)
centre = (w + w_start) / 2
distance = np.linalg.norm(centre - w_left)
print(f"example {left}: radius {radius:.4f}, distance of the machine without it {distance:.4f}")
x_r, b = two.X[left], machine.intercept
to_line = (centre @ x_r + b) / np.linalg.norm(x_r)
print(f"its y = {two.y[left]:+.0f}; the line w·x + b = 0 is {to_line:+.4f} from the centre")
assert distance <= radius < abs(to_line)

# %%

# fold: The code of this figure
# alt: In the plane of the two weights, a disc contains the seed and the machines with and without one example. A dashed
#     line, where the decision value of this example is zero, passes outside the disc.
figure, axes = plt.subplots(figsize=(5.6, 4.6))
axes.add_patch(
    plt.Circle((w + w_start) / 2, radius, fc="0.93", ec=INK, lw=1, label=r"the ball, of radius $\rho$")
)
axes.plot(*np.transpose([w, w_start]), ":", color="0.5", zorder=1)
for point, marker, colour, name in (
    (w, "o", NEGATIVE, "$w$, with the example"),
    (w_start, "^", POSITIVE, r"$\tilde w$, the seed"),
    (w_left, "*", INK, "$w_r$, without it"),
):
    axes.plot(*point, marker, color=colour, ms=10, ls="none", label=name)
normal = x_r / np.linalg.norm(x_r)
foot, along = centre - to_line * normal, np.array([-normal[1], normal[0]])
reach = np.array([-1.5, 1.5])[:, None] * max(radius, abs(to_line) / 2)
axes.plot(*(foot + reach * along).T, "--", color=INK, lw=1, label="$h(x_r)=0$, with this $b$")
axes.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal")
axes.autoscale_view()
figure.legend(loc="outside lower center", ncols=2, frameon=False)
plt.show()

# %%
# If all machines had the same intercept, the picture would prove the sign, because the whole disc is on one side of the
# dashed line. But the intercept changes with :math:`w`.
#
# Before the first step of a round, let :math:`w` be the machine trained on all examples, and :math:`\tilde\alpha` a
# seed. Write :math:`c_i=w_r\cdot(\varphi_i-\varphi_r)`. The value :math:`h_r(x_r)` is the :math:`\zeta` that minimises
# :math:`\sum_{i\ne r}C_i\max(0,1-y_i(c_i+\zeta))`, so :math:`h_r(x_r)` is positive if this convex function falls at
# :math:`\zeta=0`. The slope at 0 never falls when a :math:`c_i` rises, and in the ball :math:`c_i` is at most its value
# at the centre plus :math:`\rho\lVert\varphi_i-\varphi_r\rVert`. If the slope is negative for these largest values, it
# is negative for :math:`w_r`, and the sign is proved. In the same way, a positive slope for the smallest :math:`c_i`
# proves a negative sign. The figure shows this sum of losses without the example of the disc, and without another
# example:

# fold: The code of this figure
# alt: Two panels show three convex curves each, sums of losses over the value at the left-out example. In the left
#     panel all curves rise at zero. In the right panel the curve of the smallest values falls at zero.


def of_losses(c, left, zeta):
    """Return Σ C max(0, 1 − y(c + ζ)) over all but one example, for each ζ, and its slope behind ζ = 0."""
    price = np.where(np.arange(two.n) == left, 0.0, 0.3)
    losses = np.maximum(0.0, 1.0 - two.y * (c + zeta[:, None])) @ price
    return losses, price[(two.y < 0) & (c >= -1)].sum() - price[(two.y > 0) & (c < 1)].sum()


figure, row = plt.subplots(1, 2, figsize=(8.6, 3.6))
zeta = np.linspace(-2.0, 1.0, 601)
for axes, each in zip(row, (left, 22), strict=True):
    rest = in_plane.without(each)
    start = TOP().seed(machine, rest)
    ends = [two.X.T @ alpha for alpha in (machine.alpha, start)]
    gap = rest.primal_objective(machine.alpha) - rest.objective(start)
    reach = np.sqrt(gap - np.sum((ends[0] - ends[1]) ** 2) / 4) * np.linalg.norm(two.X - two.X[each], axis=1)
    at_centre = (two.X - two.X[each]) @ (ends[0] + ends[1]) / 2
    apart = (two.X - two.X[each]) @ (two.X.T @ solve(rest, stop=KKTGap(1e-9)).alpha)
    slopes = []
    for c, name, colour in (
        (at_centre - reach, "smallest $c_i$", NEGATIVE),
        (apart, "$c_i$ of $w_r$", INK),
        (at_centre + reach, "largest $c_i$", POSITIVE),
    ):
        losses, slope = of_losses(c, each, zeta)
        axes.plot(zeta, losses, color=colour, label=name)
        axes.plot(zeta[losses.argmin()], losses.min(), "o", color=colour)
        slopes.append(slope)
    print(f"example {each}, y = {two.y[each]:+.0f}: slopes at 0 from {slopes[0]:+.1f} to {slopes[2]:+.1f}")
    assert slopes[0] <= slopes[1] <= slopes[2]
    axes.axvline(0.0, color="0.8", lw=1, zorder=0)
    axes.set(xlabel=r"$\zeta$, the value at $x_r$", title=f"example {each}")
row[0].set_ylabel("losses of the others")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# Dots mark the lowest points of the curves; the middle curve is lowest at :math:`\zeta=h_r(x_r)`. In the left panel
# even the curve with the smallest :math:`c_i` rises at 0, so the sign is negative. In the right panel the curve with
# the smallest :math:`c_i` falls at 0, so this test does not prove the sign.
#
# A second test uses a single variable, and the term :math:`T(w_r,b_r)`, which the ball ignores. Let :math:`x` be the
# distance of :math:`w_r` from the midpoint, so :math:`x^2+T(w_r,b_r)\le\rho^2`. Take an example :math:`i` whose
# :math:`\tilde\alpha_i` can still rise, :math:`a=U_i-\tilde\alpha_i>0`. The term of :math:`i` in :math:`T` is then at
# most :math:`\rho^2-x^2`, so :math:`a\max(0,e_i)\le\rho^2-x^2`. The bound on :math:`e_i` bounds :math:`h_r(x_r)` from
# below:
#
# .. math:: h_r(x_r)\;\ge\; t_i - x\lVert\varphi_i-\varphi_r\rVert-\frac{\rho^2-x^2}{a}, \qquad
#           t_i = y_i-\tfrac12(w+\tilde w)\cdot(\varphi_i-\varphi_r) ,
#
# If this bound is positive for every :math:`x` between 0 and :math:`\rho`, the sign is proved.
#
# During a round the duality gap closes, and the ball shrinks around :math:`w_r`:

# fold: The ball during a round
full = solve(problem, stop=KKTGap(1e-9))
r = int(np.argmax(np.abs(full.alpha) * (heart.y * full.decision_values > 0)))
without = problem.without(r)
goal, K = solve(without, stop=KKTGap(1e-9)).alpha, problem.gram.block(np.arange(heart.n))
for state in iterate(without, start=TOP().seed(full, without), stop=KKTGap(1e-5)):
    if state.iteration in (1, 10, 20, 40, 80):
        apart = state.alpha - goal
        print(
            f"after {state.iteration:2d} steps: radius {np.sqrt(without.duality_gap(state.alpha)):.3f}, "
            f"distance of the machine {np.sqrt(apart @ K @ apart):.3f}"
        )

# %%
# ``BallRule`` tries both tests at the seed and during the round. With any stopping rule, the package tries both tests
# with :math:`w=\tilde w` when a round reaches its tolerance. If both fail, the package solves the round again to a
# smaller tolerance; ``BallRule`` uses the smaller tolerance from the start. If the sign stays unproved at every
# tolerance, the example is a *tie*.
#
# .. shipped:: core/stopping/midpoint.py
#    :object: gap distances certain_sign sign_at
#    :fold: The radius, the distances, and the sign
#
# .. shipped:: core/stopping/ball_rule.py
#    :twin:
#    :fold: The stopping rule that uses the ball
#
# .. shipped:: core/stopping/midpoint.py
#    :fold: The whole file, with allowances for rounding
#
# The next lines compare three stopping rules on the same rounds:

for stop in (KKTGap(), LOODualityGap(), BallRule()):
    result = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, stop=stop)
    rounds = {name: count for name, count in result.counts.items() if name in ("kkt", "duality gap", "ball")}
    early = ", ".join(f"{count} by {name}" for name, count in rounds.items())
    print(
        f"{type(stop).__name__:14s} {result.round_iterations.sum():5d} steps in the rounds; decided: {early}"
    )

# %%
# .. worth:: 12
#
#    The bound H saves steps, but raising H takes more time than these steps. If the decision value of the left-out
#    example is nearly zero, both proofs succeed late or never.
#
# .. admonition:: Known elsewhere as
#
#    *Safe screening rules* use such balls to prove which variables can be left out. The first statement of the proof is
#    *strong convexity*.
#
# Exercises
# ---------
#
# 1. ★ Leave out one of two equal examples, and compute :math:`K'_{ii}` of the remaining example.
# 2. ★★ Leave out the correctly predicted example of heart with the largest weight. Compute :math:`\rho` and the
#    distance of :math:`w_r` from the midpoint.
# 3. ★★★ Without the sum constraint a variable may move alone (exercise 3 of chapter 3). For the linear machine of the
#    disc, write six lines that maximise :math:`H` one variable at a time, and show that the maximum is the :math:`F` of
#    a machine with :math:`h(x_r)=0`.
#
# .. fold:: Hints
#
# 1. Compare :math:`K_{ii}`, :math:`K_{rr}` and :math:`K_{ri}`.
# 2. Call ``primal_objective`` of the problem without the example. A squared distance is
#    :math:`\lVert\sum_i\delta_i\varphi(x_i)\rVert^2=\delta^\top K\delta`.
# 3. For a linear kernel, subtract :math:`x_r` from all examples to get :math:`K'`.
#
# .. endfold::
#
# .. fold:: Answers

full = solve(problem, stop=KKTGap(1e-6))
r = int(np.argmax(np.abs(full.alpha) * (heart.y * full.decision_values > 0)))
left_out = problem.without(r)
seed = TOP().seed(full, left_out)
w_r = solve(left_out, stop=KKTGap(1e-9)).alpha
K = problem.gram.block(np.arange(heart.n))
apart = full.alpha - seed
middle = (full.alpha + seed) / 2 - w_r
primal = left_out.primal_objective(full.alpha)  # of the machine w, losses of the others only
square = primal - left_out.objective(seed) - apart @ K @ apart / 4
print(f"2. example {r}: ρ² = {square:.4f}, true squared distance {middle @ K @ middle:.4f}")

moved = two.X - two.X[left]  # φ(x) − φ(x_r) of the linear kernel
eta = np.zeros(two.n)
for i in np.tile(np.delete(np.arange(two.n), left), 500):
    G_i = two.y[i] - moved[i] @ (moved.T @ eta)
    eta[i] = np.clip(eta[i] + G_i / (moved[i] @ moved[i]), in_plane.lower[i], in_plane.upper[i])
bound = two.y @ eta - np.sum((moved.T @ eta) ** 2) / 2
w_flat = moved.T @ eta
slack = np.maximum(0.0, 1.0 - two.y * (moved @ w_flat))
slack[left] = 0.0
print(f"3. H = {bound:.6f}, F of its machine {w_flat @ w_flat / 2 + 0.3 * slack.sum():.6f}")

# %%
# 1. Equal examples have :math:`K'_{ii}=K_{ii}-2K_{ri}+K_{rr}=\lVert\varphi(x_i)-\varphi(x_r)\rVert^2=0`.
# 2. The squared distance is less than :math:`\rho^2`, so :math:`w_r` lies inside the ball.
# 3. The machine :math:`w=\sum_i\eta_i(\varphi(x_i)-\varphi(x_r))` has :math:`h(x_r)=0` and :math:`F=H`. By the
#    definition of :math:`H`, no such machine has a smaller :math:`F`.
#
# .. endfold::
