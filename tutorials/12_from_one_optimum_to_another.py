r"""
12 · From one optimum to another
================================

Ten folds, twenty values of :math:`C`, one example more or less: related problems have related solutions. This chapter
first guesses one solution from another, which costs little and helps much. Then it asks how the optimum *moves* while a
problem is changed bit by bit. It moves along straight lines, from one corner to the next, and the corners can be
computed. This gives the solution for every :math:`C` at once, and the cross-validation error as an exact function of
:math:`C`. The seeds are those of Z. Wen and others (2017); the path goes back to T. Hastie and others (2004) and, on
any data, to C.-J. Ong, S. Shao and J. Yang (2010)."""

# fold: Imports and settings
import matplotlib.pyplot as plt
import numpy as np

from refsvm import (
    ATO,
    MIR,
    RBF,
    SIR,
    SVCCV,
    SVMP,
    Cold,
    DualProblem,
    Hastie,
    KKTGap,
    Rounds,
    cross_validate,
    parametric_path,
    regularization_path,
    solve,
)
from refsvm.datasets import load, make_banana
from refsvm.display import GridDisplay, LOOPathDisplay, PathDisplay, SeedDisplay, ValidationPathDisplay
from refsvm.paths import cross_validate_path

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

# %%
# A fold is an empty box
# ----------------------
#
# To hold a fold out is :math:`L_i=U_i=0` for its examples, as for one example in
# :doc:`chapter 11 <11_leave_one_out>`. All rounds of cross-validation are one problem with ten boxes. From one round
# to the next a tenth of the examples leaves (*removed*), a tenth joins (*added*), and eight tenths stay (*shared*).
# Most of the shared have nearly the same :math:`\alpha` in both solutions; half of these are zero in both:

# fold: The code of this figure
heart = load("heart")
problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.02), C=10.0)
fold = np.random.default_rng(0).permutation(problem.n) % 10
rounds = Rounds(problem)
first = rounds.solve(problem.without(np.flatnonzero(fold == 0)))
next_box = problem.without(np.flatnonzero(fold == 1))
second = rounds.solve(next_box)
print(f"{first.iterations} and {second.iterations} steps; {rounds.rows.computed} kernel rows for both")

figure, axes = plt.subplots(figsize=(5, 4.2))
shared = (fold != 0) & (fold != 1)
axes.plot(first.alpha[shared], second.alpha[shared], ".", color="0.6", label="shared")
axes.plot(first.alpha[fold == 1], second.alpha[fold == 1], "x", color=POSITIVE, label="removed")
axes.plot(first.alpha[fold == 0], second.alpha[fold == 0], "+", color=NEGATIVE, label="added")
axes.set(xlabel=r"$\alpha_i$ without fold 0", ylabel=r"$\alpha_i$ without fold 1")
axes.legend(frameon=False)
plt.show()
near = shared & (np.abs(first.alpha - second.alpha) <= 0.1)  # a hundredth of C
heavy = shared & ((first.alpha != 0) | (second.alpha != 0))
print(f"within C/100 of each other: {near.sum()} of {shared.sum()} shared examples,")
print(f"and {(near & heavy).sum()} of the {heavy.sum()} that have a weight")

# %%
# A seed has to satisfy the sum and the box; then the solver goes on from there. The seed changes what the solution
# costs. The solution stays the same up to the tolerance: a prediction can differ only where :math:`h` is nearly zero.
# Three ways to fill the gap that the removed examples leave:
#
# * **SIR** gives what a removed example had to the most similar added one of its class.
# * **MIR** computes the :math:`\alpha` of all added examples by least squares, such that :math:`G` stays where it is
#   optimal.
# * **ATO** lets the removed ones go to 0 and the added ones to where they belong in one straight line, and the free
#   support vectors keep :math:`G_i=b` all the way. It is a walk of the kind derived below.

# fold: The code of this figure
figure, row = plt.subplots(1, 3, figsize=(11, 3.8))
for seeder, axes in zip((SIR(), MIR(), ATO()), row, strict=True):
    SeedDisplay.from_seeder(seeder, first, rounds.boxed(next_box.lower, next_box.upper), ax=axes)
    axes.set_title(type(seeder).__name__)
plt.show()

# %%
# On the diagonal a seed is right from the start. What each of them saves in a whole cross-validation depends on the
# problem. With :math:`C=10` a round is short, and ATO mostly expects its path to cost more than it saves; then it
# does not follow it. With :math:`C=1000` rounds are long:

for C in (10.0, 1000.0):
    for seeder in (Cold(), SIR(), MIR(), ATO()):
        result = cross_validate(
            heart.X, heart.y, kernel=RBF(0.02), C=C, folds=fold, seeder=seeder, from_full=False
        )
        print(f"C = {C:6g}  {type(seeder).__name__:5} error {result.error:.3f}  {result.iterations:6} steps")

# %%
# Fewer steps are not always less time: an event of a path costs as much as many steps. What pays everywhere is what
# the rounds share, the kernel rows, and the solution on all examples as the origin of every round
# (``from_full=True``, the default): then nothing joins, and only the removed weight has to be shared out.
#
# .. shipped:: seeders/sir.py
#    :twin:
#
# .. shipped:: seeders/mir.py
#    :twin:
#    :fold: MIR
#
# .. shipped:: seeders/exchange.py
#    :twin:
#    :fold: What the seeders of a fold share
#
# .. shipped:: seeders/active_set.py
#    :twin:
#    :fold: ActiveSet: the same variables stay at their bounds when C changes
#
# .. shipped:: seeders/neighbour.py
#    :fold: What one neighbour's change tells of another's
#
# The loop over the folds:
#
# .. shipped:: rounds/cross_validate.py
#    :object: cross_validate hold_out
#
# .. shipped:: rounds/cross_validate.py
#    :fold: The whole file
#
# ``SVCCV`` puts a grid on top: all folds and all :math:`C` of one γ are boxes over one matrix. The numbers are mean
# steps:

# fold: The code of this figure
model = SVCCV(Cs=[0.1, 1.0, 10.0, 100.0], gammas=[0.001, 0.01, 0.1, 1.0]).fit(heart.X, heart.y)
GridDisplay.from_results(model.cv_results_)
plt.show()
print(
    f"best C = {model.best_params_['C']:g}, gamma = {model.best_params_['gamma']:g}: {model.best_score_:.3f} right"
)

# %%
# The optimum moves along straight lines
# --------------------------------------
#
# Let the matrix stay and let everything else change along a line, with a parameter :math:`t` and constant rates:
#
# .. math:: v(t)=v^0+t\,v^1,\quad L(t)=L^0+t\,L^1,\quad U(t)=U^0+t\,U^1,\quad z(t)=z^0+t\,z^1 .
#
# At the optimum the examples are in three sets (chapter 6): those at a bound with :math:`G_i\le b` or
# :math:`G_i\ge b`, and the free ones :math:`M` with :math:`G_i=b`. As long as no example changes sets, the rates of
# everything follow from this. Let :math:`d` be the rate of :math:`\alpha`. Bounded variables travel with their
# bound: :math:`d_B=L^1_B` or :math:`U^1_B`. The free ones keep :math:`G_i=b`, that is :math:`v_i-(K\alpha)_i=b`, and
# all together keep the sum. Differentiate both:
#
# .. math::
#
#    \begin{pmatrix}0&\mathbf 1^\top\\ \mathbf 1&K_{MM}\end{pmatrix}
#    \begin{pmatrix}db\\ d_M\end{pmatrix}
#    =\begin{pmatrix}z^1-\mathbf 1^\top d_B\\ v^1_M-K_{MB}\,d_B\end{pmatrix},
#    \qquad dG = v^1-Kd .
#
# A linear system with a right-hand side that does not depend on :math:`t`. So all rates are constant, and
# :math:`\alpha`, :math:`b` and :math:`G` move along straight lines, until an example changes sets. That is an *event*:
# a free variable reaches a bound, or a bounded one reaches :math:`G_i=b`. The next event is the nearest. Then the
# sets change, and it goes on. Many things are such a line:
#
# =============================  ======================================================  ==========================
# the line                       what moves                                              known as
# =============================  ======================================================  ==========================
# :math:`C`, one weight          :math:`L^1,U^1`: the box grows                          weighted paths
# :math:`\lambda=1/C`            :math:`v^1=y`, of the scaled :math:`\lambda\alpha`      ``SVMP``, ``Hastie``
# examples leave, others join    :math:`L^1,U^1` of these alone                          ``ATO``
# :math:`\varepsilon` of SVR     :math:`v^1=-1` and :math:`+1` on the two copies         Wang and others (2008)
# :math:`\nu` of one-class       :math:`z^1`                                             Lee and Scott (2007)
# =============================  ======================================================  ==========================
#
# One event of your own
# ---------------------
#
# The direction, how far, and which example changes sets, for any of these lines: thirty lines of NumPy.

BELOW, FREE, ABOVE, CLOSED = -1, 0, 1, 2  # closed: a box without width, which travels


def event(K, now, rates, room):
    """Move α, G, b and the box to the next event, at most so far; return how far that was."""
    alpha, G, lower, upper, side = (now[name] for name in ("alpha", "G", "lower", "upper", "side"))
    M, m = np.flatnonzero(side == FREE), int((side == FREE).sum())
    # --- the direction ---
    d = np.where(side == FREE, 0.0, np.where(side == ABOVE, rates["upper"], rates["lower"]))
    system = np.zeros((m + 1, m + 1))
    system[0, 1:] = system[1:, 0] = 1.0
    system[1:, 1:] = K[np.ix_(M, M)]
    x = np.linalg.solve(system, np.append(rates["z"] - d.sum(), rates["v"][M] - K[M] @ d))
    db, d[M] = x[0], x[1:]
    dG = rates["v"] - K @ d
    # --- how far until a free one meets a bound, or a bounded one G = b ---
    with np.errstate(divide="ignore", invalid="ignore"):
        to_upper = np.where(
            (side == FREE) & (d > rates["upper"]), (upper - alpha) / (d - rates["upper"]), np.inf
        )
        to_lower = np.where(
            (side == FREE) & (d < rates["lower"]), (alpha - lower) / (rates["lower"] - d), np.inf
        )
        closing = side * (db - dG)
        to_b = np.where((np.abs(side) == 1) & (closing > 1e-12), side * (G - now["b"]) / closing, np.inf)
    far = np.maximum(np.stack([to_upper, to_lower, to_b]), 0.0)
    step = min(far.min(), room)
    # --- move, and change sets ---
    for name, rate in (("alpha", d), ("G", dG), ("lower", rates["lower"]), ("upper", rates["upper"])):
        now[name] = now[name] + step * rate
    now["b"] += step * db
    if step < room:
        kind, i = np.unravel_index(far.argmin(), far.shape)
        side[i] = (ABOVE, BELOW, FREE)[kind]
    return step


banana = make_banana(60, rng=1)
kernel = RBF(0.5)
K = kernel(banana.X, banana.X)
y = banana.y.astype(float)
begin = solve(
    DualProblem.classification(banana.X, y, kernel=kernel, C=1.0), stop=KKTGap(1e-12), shrinking=False
)
at = begin.problem
now = {
    "alpha": begin.alpha, "G": begin.gradient, "b": begin.intercept, "lower": at.lower, "upper": at.upper,
    "side": np.where(begin.alpha == at.lower, BELOW, np.where(begin.alpha == at.upper, ABOVE, FREE)),
}  # fmt: skip
line = {"v": np.zeros(60), "lower": np.minimum(y, 0.0), "upper": np.maximum(y, 0.0), "z": 0.0}  # C grows by t

C, corners = 1.0, []
while C < 20.0:
    C += event(K, now, line, 20.0 - C)
    corners.append((C, now["alpha"].copy()))
end = solve(
    DualProblem.classification(banana.X, y, kernel=kernel, C=20.0), stop=KKTGap(1e-12), shrinking=False
)
print(
    f"{len(corners)} events from C = 1 to 20; beside a solution there: {np.abs(now['alpha'] - end.alpha).max():.0e}"
)

# %%
# The package follows any line between two problems, and has doors with a name for some of them: ``epsilon_path``,
# ``nu_path``, ``cost_path``, ``weight_path``. The line of your walk:

small = begin.problem
whole = parametric_path(small, small.boxed(20.0 * small.lower, 20.0 * small.upper), t=(1.0, 20.0))
off = max(np.abs(whole.alpha(C) - alpha).max() for C, alpha in corners)
print(
    f"parametric_path: {len(whole.t) - 1} steps from corner to corner; beside yours at all corners: {off:.0e}"
)

# %%
# The package's walk takes the same three parts: the direction, how far, which example. It keeps the inverse of the
# matrix from event to event instead of solving anew, and it has an answer where the matrix is singular.
#
# .. shipped:: walk/walk.py
#    :object: Walk.advance Walk.direction Walk.reach Walk.rates Walk.distances Walk.move Walk.join Walk.leave
#
# .. shipped:: walk/walk.py
#    :fold: The whole walk
#
# .. shipped:: seeders/ato.py
#    :fold: ATO, the walk from one box to another
#
# .. shipped:: compiled/seeders/ato.py
#    :fold: Its twin
#
# The path of C
# -------------
#
# The usual line for :math:`C` is another one. Divide by :math:`C`: with :math:`\lambda=1/C`,
# :math:`\hat s=\lambda\alpha` and :math:`\hat b=\lambda b` the box no longer moves, bounded variables stand still,
# and :math:`v=\lambda y`. The three sets have names of their own here: *right* (of the margin, :math:`\alpha_i=0`),
# *left* (:math:`\alpha_i=y_iC`), and between them the *elbow*, after the bend of :math:`\max(0,1-yh)`.

# fold: The code of this figure
path = regularization_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0)
side = np.linspace(-3.2, 3.2, 90)
grid = np.stack(np.meshgrid(side, side), axis=-1)
figure, row = plt.subplots(1, 3, figsize=(10, 3.9), sharex=True, sharey=True)
for axes, C in zip(row, (0.2, 2.0, 50.0), strict=True):
    share = np.abs(path.alpha(C)) / C
    h = path.decision_function(grid.reshape(-1, 2), C).reshape(90, 90)
    axes.contour(side, side, h, levels=[-1, 0, 1], colors=INK, linewidths=[0.8, 1.6, 0.8],
                 linestyles=["--", "-", "--"])  # fmt: skip
    for label, colour in ((-1, NEGATIVE), (1, POSITIVE)):
        for name, members, marker, face in (
            ("right", share == 0, "o", "none"),
            ("elbow", (share > 0) & (share < 1), "D", colour),
            ("left", share == 1, "s", "0.75"),
        ):
            chosen = members & (banana.y == label)
            axes.scatter(
                *banana.X[chosen].T,
                marker=marker,
                facecolor=face,
                edgecolor=colour,
                s=28,
                label=f"{name}, {label:+d}",
            )
    axes.plot([], [], color=INK, lw=1.6, label="$h=0$")
    axes.plot([], [], "--", color=INK, lw=0.8, label=r"$h=\pm1$")
    axes.set_title(f"C = {C:g}: {int(((share > 0) & (share < 1)).sum())} on the elbow")
figure.legend(*row[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
plt.show()

# %%
# Move :math:`C` yourself. Between two events the picture is exact, because the path is.
#
# .. path-stepper::
#
# All :math:`\alpha_i/C`, with the size of the elbow in grey and a tick for every event:

# fold: The code of this figure
PathDisplay.from_path(path)
plt.show()
print(path.to_frame().tail(5).to_string(index=False))
for C, alpha in corners[::20]:
    print(f"C = {C:7.3f}: your walk and this path differ by {np.abs(alpha - path.alpha(C)).max():.0e}")

# %%
# .. shipped:: trackers/hastie.py
#    :object: Hastie.follow Hastie._next_step
#
# .. shipped:: trackers/hastie.py
#    :fold: The whole of Hastie's tracker
#
# .. shipped:: trackers/base.py
#    :fold: What a tracker is
#
# α may jump, w cannot
# --------------------
#
# Give every example a twin. The optimum as a function is the same at half the :math:`C`, but :math:`\alpha` is not
# unique any more: a pair may share its weight in many ways. The matrix of the linear system is singular, and the
# rule of 2004 has no answer:

twice = np.repeat(banana.X, 2, axis=0), np.repeat(banana.y, 2)
try:
    regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=Hastie(), merge=False)
except ValueError as error:
    print(error)

# %%
# Let :math:`u=(u_0,u_M)` be a vector that the matrix sends to zero. Its first row says :math:`\mathbf 1^\top u_M=0`;
# the others say :math:`K_{MM}u_M=-u_0\mathbf 1`, so :math:`u_M^\top K_{MM}u_M=0`. That is
# :math:`\lVert\sum u_i\varphi(x_i)\rVert^2`: **along** :math:`u` **the street does not move at all**. :math:`w` is
# unique, and a solution of the system is only unique up to such :math:`u`. Where they exist, one has a choice, and
# the choice that gets furthest is a linear program. With :math:`d_p` any solution of the system, as a rate for
# falling :math:`\lambda`, and the columns of :math:`N` a basis of the :math:`u_M`:
#
# .. math::
#
#    \max_{s,\,\beta}\ s \quad\text{where}\quad
#    L_M \;\le\; \hat s_M + s\,d_p + N\beta \;\le\; U_M, \qquad 0\le s\le s_{\max},
#
# where :math:`s_{\max}` is the fall at which the first bounded variable reaches :math:`G_i=b`, which no :math:`u`
# changes. Its solution is a corner, at which one of each pair goes to a bound and leaves the elbow. For other lines
# than :math:`\lambda` there may be no :math:`d_p`; then :math:`\alpha` has to move along :math:`u` at a fixed
# :math:`t` before it can go on: it jumps, and :math:`w` stays.
#
# .. shipped:: walk/linear_program.py
#    :object: longest_fall
#
# ``SVMP`` does that, and has a way out where several examples stand exactly between two sets:
#
# .. shipped:: trackers/svmp.py
#    :object: SVMP.follow SVMP._next_step SVMP._singular_step
#
# .. shipped:: trackers/backup.py
#    :fold: The way out: points and directions found by SMO
#
# .. shipped:: trackers/svmp.py
#    :twin:
#    :fold: The whole of SVMP

paired = regularization_path(*twice, kernel=kernel, C_min=0.05, C_max=50.0, tracker=SVMP(), merge=False)
kinds, counts = np.unique(paired.record.kind, return_counts=True)
for kind, count in zip(kinds, counts, strict=True):
    print(f"{kind:15s} {count:4d} breakpoints")
change = paired.decision_function(banana.X, 5.0) - path.decision_function(banana.X, 10.0)
print(f"same function at C/2: {np.abs(change).max():.0e}")

# %%
# Exact duplicates need not be tracked one by one: with ``merge=True``, the default, examples of equal features and
# label share one variable with a wider box. The linear program remains for points that are dependent without being
# equal.
#
# Choosing C
# ----------
#
# Since :math:`\lambda h(x)` is linear between breakpoints for *any* :math:`x`, the :math:`C` at which a held-out
# example changes sides is known exactly. So the error of cross-validation is a step function of :math:`C`, with no
# grid in between which a minimum could hide:

# fold: The code of this figure
validated = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=1e3, folds=10)
low, high, error = validated.curve.best()
print(
    f"least error {error:.4f} for C from {low:.4g} to {high:.4g}; {sum(validated.breakpoints)} breakpoints in 10 paths"
)

display = ValidationPathDisplay({"10-fold cross-validation, heart": validated.curve}).plot()
powers = 10.0 ** np.arange(-2, 4)
display.ax_.plot(powers, validated.curve.at(powers), "o", color=INK, ms=5, label="a grid of six values")
display.ax_.legend(frameon=False)
plt.show()

# %%
# The curve is ragged: one example more or less. Differences of that size are chance, and a wide interval is a better
# choice than a deep one. ``curve.best()`` returns the widest of the intervals with the least error.
#
# The C of leave-one-out
# ----------------------
#
# With :math:`n` folds of one example there are no :math:`n` paths to follow: the path of all examples tells most of
# what is asked. While :math:`\alpha_r=0`, the path without :math:`r` is the same path. While :math:`r` is on the wrong
# side although it is trained on, it is wrong without it too. In between a ball like that of chapter 11 moves along
# with :math:`C`. Only where it cannot tell the sign is :math:`r` left out in earnest, and its path branches off:

# fold: The code of this figure
alone = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=10.0, folds="loo")
low, high, error = alone.curve.best()
print(f"least error {error:.4f} for C from {low:.4g} to {high:.4g}")
walked, branched = sum(alone.breakpoints), np.count_nonzero(alone.breakpoints)
print(f"{branched} of {heart.n} examples have a branch; {walked} breakpoints on all branches together")

display = LOOPathDisplay.from_result(alone)
display.ax_.legend(loc="center right", frameon=False)
plt.show()

# %%
# Each row is one patient. It is coloured at those :math:`C` for which the machine trained without that patient
# misclassifies him or her. Those at the bottom are wrong for nearly every :math:`C`: no choice of it helps them. The
# choice is between the short pieces above.
#
# .. admonition:: Known elsewhere as
#
#    *Warm starts* and *alpha seeding*; *parametric quadratic programming*, *homotopy* or *solution paths*; the
#    *regularisation path* of T. Hastie, S. Rosset, R. Tibshirani and J. Zhu (2004). A corner is a *breakpoint* or
#    *kink*; the same idea for the lasso is *LARS*.
#
# Exercises
# ---------
#
# 1. Let ``event`` leave an example out: which vectors of ``line`` change, and what is :math:`t` at the end?
# 2. Why does nothing happen any more once the left set is empty?
# 3. Use ``cross_validate(..., folds=problem.n)``, leave-one-out. Why do most rounds take no step at all?
# 4. Leave-one-out is ``folds=len(y)`` for the path too. Compare its curve on the sixty points with ten folds.
# 5. Let one fold hold all positive examples. What is predicted for them?
#
# .. fold:: Answers

r = int(np.argmax((end.alpha != 0) & (np.abs(end.alpha) < 20.0)))
box = end.problem
now = {
    "alpha": end.alpha.copy(), "G": end.gradient.copy(), "b": end.intercept,
    "lower": box.lower.copy(), "upper": box.upper.copy(),
    "side": np.where(end.alpha == box.lower, BELOW, np.where(end.alpha == box.upper, ABOVE, FREE)),
}  # fmt: skip
now["lower"][r] = now["upper"][r] = end.alpha[r]
now["side"][r] = CLOSED  # nothing is asked of its G
rates = {"v": np.zeros(60), "lower": np.zeros(60), "upper": np.zeros(60), "z": 0.0}
rates["lower"][r] = rates["upper"][r] = -end.alpha[r]
t, events = 0.0, 0
while t < 1.0 and events < 1000:
    t, events = t + event(K, now, rates, 1.0 - t), events + 1
without = solve(box.without(r), stop=KKTGap(1e-12), shrinking=False)
print(
    f"1. example {r} out after {events} events: {np.abs(now['alpha'] - without.alpha).max():.0e} from a solution"
)

separable = banana.X + 2.0 * banana.y[:, None], banana.y
last = regularization_path(*separable, kernel=kernel, C_min=0.05, C_max=1e5)
change = np.abs(last.alpha(1e5) - last.alpha(1e3)).max()
print(f"2. the last event is at C = {last.C[-2]:.4g}; from 1,000 to 100,000 α changes by {change:.0e}")

loo = cross_validate(problem, folds=problem.n, seeder=SIR())
idle = sum(each.iterations == 0 for each in loo.rounds)
print(f"3. {idle} of {problem.n} rounds take no step")
for folds in (10, 60):
    curve = cross_validate_path(banana.X, banana.y, kernel=kernel, C_min=0.05, C_max=100.0, folds=folds).curve
    low, high, error = curve.best()
    print(
        f"4. {folds} folds: {error:.3f} for C from {low:.3g} to {high:.3g}, {len(curve.errors)} steps of the curve"
    )
one_sided = np.where(heart.y > 0, 0, 1 + np.arange(heart.n) % 3)
predicted = cross_validate(problem, folds=one_sided).predictions[heart.y > 0]
print(f"5. {int((predicted < 0).sum())} of {len(predicted)} are predicted to be negative")

# %%
# 1. Only the box of :math:`r`, from :math:`\alpha_r` to 0 while :math:`t` goes from 0 to 1.
# 2. :math:`\alpha` then has no variable at :math:`\pm C`. It satisfies all conditions for every larger :math:`C`.
# 3. Their example has :math:`\alpha_r=0`: leaving it out changes nothing.
# 4. The intervals of least error overlap; leave-one-out has the smaller one.
# 5. The training part has one class, so :math:`\alpha=0`. Every :math:`b\le-1` is right, and the package takes −1.
#
# .. endfold::
