r"""
12 · A sign is enough
=====================

Three proofs have decided most examples of :doc:`chapter 11 <11_leave_one_out>`; the rest is trained. Each round has to
find one bit: on which side of the boundary the left-out example lies. Often the side is certain long before the
optimum is reached. This chapter presents two proofs that are tried while a round is trained: a bound that meets the
objective, due to V. Franc, P. Laskov and K.-R. Müller (2008), and a ball that contains the machine, which is the
package's own.
"""

# fold: Imports, the data, and the code of this figure
# alt: Three curves over the steps of one round, near the optimum. The primal objective falls from above in jumps, to
#     the dual objective, which rises from below. The bound H ends above both: a vertical line marks where the primal
#     objective first falls below it, long before the last step.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, TOP, BallRule, DualProblem, KKTGap, Linear, LOODualityGap, leave_one_out, solve
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
# Let :math:`F` be the primal objective without example :math:`r`. Suppose :math:`H` is a lower bound on :math:`F` over
# all models with :math:`h(x_r)=0`. If the current model has :math:`F<H`, the optimum lies on the same side of
# :math:`h(x_r)=0` as the current model. Otherwise the segment from the current model to the optimum would contain a
# model with :math:`h(x_r)=0`, and by convexity its :math:`F` would be at most that of the current model, hence below
# :math:`H`: a contradiction.
#
# Weak duality provides :math:`H`, as in chapter 2. :math:`h(x_r)=0` fixes the intercept, :math:`b=-w\cdot\varphi(x_r)`,
# so :math:`h(x)=w\cdot(\varphi(x)-\varphi(x_r))`. This is a machine without intercept, with the kernel
#
# .. math:: K'_{ij} = \bigl(\varphi(x_i)-\varphi(x_r)\bigr)\cdot\bigl(\varphi(x_j)-\varphi(x_r)\bigr)
#           = K_{ij}-K_{ri}-K_{rj}+K_{rr} .
#
# Without :math:`b`, its dual has no sum constraint, and any of its points :math:`\eta` gives a bound:
#
# .. math:: H(\eta) = y^\top\eta-\tfrac12\,\eta^\top K'\eta, \qquad L\le\eta\le U,\quad \eta_r=0 .
#
# :class:`~refsvm.core.stopping.loo_duality_gap.LOODualityGap` raises :math:`H` alongside :math:`f` and stops at
# :math:`F<H`. With a linear kernel, where SMO takes long to converge, this happens long before the end. In the picture
# at the head of the chapter, the primal objective falls, the bound rises above the optimum, and training may end where
# they cross.
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
# Before we train without :math:`r` we do not know the machine, but we can say in which region it must lie. Let
# :math:`(w_r,b_r)` be the machine without :math:`r`, :math:`(w,b)` *any* machine, :math:`\tilde w` the weights of any
# feasible :math:`\tilde\alpha`, :math:`P_r` and :math:`D_r` the primal and the dual without :math:`r`, and
# :math:`P_r^*=D_r^*` the optimum.
#
# * The primal contains :math:`\tfrac12\lVert w\rVert^2`, so it curves upwards at least as much: :math:`P_r(w,b)\ge
#   P_r^*+\tfrac12\lVert w-w_r\rVert^2`.
# * The difference of primal and dual, multiplied out, is :math:`P_r(w,b)-D_r(\tilde\alpha)= \tfrac12\lVert w-\tilde
#   w\rVert^2+T(w,b)`, where no term of the sum :math:`T` is negative: for :math:`e_i=y_i-w\cdot\varphi_i-b`,
#
#   .. math:: T(w,b)=\sum_{i\ne r}(U_i-\tilde\alpha_i)\max(0,e_i)+(\tilde\alpha_i-L_i)\max(0,-e_i) .
#
# Use the second line at :math:`(w,b)` and at :math:`(w_r,b_r)`, where :math:`P_r` is :math:`P_r^*`, and the first line.
# Two squared distances from :math:`w_r` appear, of :math:`w` and of :math:`\tilde w`. By the parallelogram law, their
# sum is twice the squared distance of the midpoint plus half the squared distance between :math:`w` and :math:`\tilde
# w`:
#
# .. math::
#
#    \bigl\lVert\tfrac12(w+\tilde w)-w_r\bigr\rVert^2 + T(w_r,b_r)
#    \;\le\; \tfrac14\lVert w-\tilde w\rVert^2 + T(w,b) \;=:\; \rho^2 .
#
# Neither machine needs to be optimal. If :math:`w` is :math:`\tilde w`, then :math:`\rho^2` is the duality gap. It
# could also be computed as :math:`P_r-D_r-\tfrac14\lVert w-\tilde w\rVert^2`, as below. Near the optimum this
# difference of two large numbers loses ten digits, whereas the sum loses none.
#
# With the linear kernel and two features :math:`w` is a point of a plane, and the ball a disc:

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
# alt: A disc in the plane of the two weights. The machine with the example and the seed lie inside it, joined by a
#     dotted line whose middle is its centre. The machine without the example also lies inside. A dashed line, on which
#     machines cannot decide the example, passes outside of the disc.
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
# If the intercept were known, the sign could be seen here: all machines on one side of the dashed line predict the same
# for :math:`x_r`, and the whole disc is on that side. But the intercept changes with :math:`w`, so the argument needs
# one more step.
#
# Use the full model as :math:`w` and a seed as :math:`\tilde\alpha`; both are available before any step is taken. If
# every model in the ball predicts the same sign at :math:`x_r`, so does :math:`w_r`. To check this, write
# :math:`\varphi_i` for :math:`\varphi(x_i)` and :math:`c_i=w_r\cdot(\varphi_i-\varphi_r)`. The value :math:`h_r(x_r)`
# is the :math:`\zeta` that minimises :math:`\sum_{i\ne r}C_i\max(0,1-y_i(c_i+\zeta))`, so it is positive if this convex
# function is decreasing at :math:`\zeta=0`. Its slope at 0 increases with every :math:`c_i`, and in the ball
# :math:`c_i` is at most its value at the centre plus :math:`\rho\lVert\varphi_i-\varphi_r\rVert`. If the slope is
# negative for these largest values, it is negative for every model in the ball. The negative sign is certified in the
# same way with the smallest values. For the example of the disc, and for another one:

# fold: The code of this figure
# alt: Two panels with the sum of the losses of the other examples over the value at the example left out, each with
#     three convex curves of straight pieces: for the smallest values that the ball allows, for the machine without the
#     example, and for the largest. Left: all three rise at zero, and their least points lie left of it. Right: one of
#     them falls at zero, and its least point lies to the right.


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
# The dots are the least points: there :math:`\zeta=h_r(x_r)`. In the left panel even the curve with the smallest
# :math:`c_i` rises at 0. So the curve of :math:`w_r` also rises there, wherever :math:`w_r` lies in the ball, and the
# sign is negative. In the right panel one end falls at 0 and the other rises: the ball may contain machines of both
# signs, and the round is trained.
#
# There is a second test, for which a single variable is enough. The bound on :math:`\rho^2` still contains
# :math:`T(w_r,b_r)`, which the ball has dropped. Take an example :math:`i` with :math:`a=U_i-\tilde\alpha_i>0`, and let
# :math:`x` be the distance of :math:`w_r` from the midpoint. The share of :math:`i` in :math:`T` is at most what
# :math:`x` leaves of the bound: :math:`a\max(0,e_i)\le\rho^2-x^2`. So a variable that can still rise has no large loss
# in the machine without :math:`r`, which keeps :math:`h_r(x_r)` up:
#
# .. math:: h_r(x_r)\;\ge\; t_i - x\lVert\varphi_i-\varphi_r\rVert-\frac{\rho^2-x^2}{a}, \qquad
#           t_i = y_i-\tfrac12(w+\tilde w)\cdot(\varphi_i-\varphi_r) ,
#
# for the worst :math:`x\le\rho`. A single near neighbour that is free can prove a sign that the balance of all slopes
# leaves open. On german, this test proves 333 of the 620 support vectors before any step, the slopes 204.
#
# Both tests need only :math:`\rho`. They are tried at the seed, while a round is trained, and once more where the round
# ends at the tolerance, then with :math:`w=\tilde w`. If they prove nothing even there, the round goes on. A sign that
# no tolerance proves is called a tie.
#
# .. shipped:: core/stopping/midpoint.py
#    :object: gap distances certain_sign sign_at
#    :fold: The radius, the distances, and the sign
#
# .. shipped:: core/stopping/ball_rule.py
#    :twin:
#    :fold: The rule that asks the ball
#
# .. shipped:: core/stopping/midpoint.py
#    :fold: The whole file: what rounding is allowed for, and the constants
#
# The three ways to stop, on the same rounds:

for stop in (KKTGap(), LOODualityGap(), BallRule()):
    result = leave_one_out(heart.X, heart.y, kernel=kernel, C=C, stop=stop)
    rounds = {name: count for name, count in result.counts.items() if name in ("kkt", "duality gap", "ball")}
    early = ", ".join(f"{count} by {name}" for name, count in rounds.items())
    print(
        f"{type(stop).__name__:14s} {result.round_iterations.sum():5d} steps in the rounds; decided: {early}"
    )

# %%
# .. admonition:: Known elsewhere as
#
#    *Early stopping with a guarantee*; *weak duality* for the bound. *Safe screening rules* also use balls that prove
#    what a solution must be, but to leave out variables; the distance bounds follow from *strong convexity*.
#
# Exercises
# ---------
#
# 1. ★ Leave out one of two equal examples. Compute :math:`K'_{ii}` of the other.
# 2. ★★ Check the ball: compute :math:`\rho` and the true distance for the example of heart that has the largest weight
#    and is not wrong.
# 3. ★★★ Without a sum a variable may move alone (exercise 3 of chapter 3). Write the ascent of :math:`H` in six lines
#    for the linear machine of the disc, and show that it ends at the :math:`F` of a machine with :math:`h(x_r)=0`.
#
# .. fold:: Hints
#
# 1. For equal examples :math:`K_{ii}=K_{rr}=K_{ri}`.
# 2. ``primal_objective`` of the problem without the example takes the :math:`\alpha` with it: only :math:`w` matters,
#    at its best :math:`b`. Distances are :math:`\lVert\sum_i\delta_i\varphi(x_i)\rVert^2=\delta^\top K\delta`.
# 3. The kernel is :math:`K'`; for a linear kernel subtract :math:`x_r` from all examples. Then use the solver of
#    exercise 3 of chapter 3.
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
# 1. Zero: :math:`K'_{ii}=K_{ii}-2K_{ri}+K_{rr}=\lVert\varphi(x_i)-\varphi(x_r)\rVert^2=0`.
# 2. The machine is inside.
# 3. They are equal at the end, by strong duality: the machine :math:`w=\sum_i\eta_i(\varphi(x_i)-\varphi(x_r))` with
#    :math:`h(x_r)=0` has the objective :math:`H`, so no other such machine has a smaller objective.
#
# .. endfold::
