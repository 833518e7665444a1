r"""
5 · The whole loop
==================

Everything is ready: the dual (:doc:`chapter 2 <02_prices>`), the pair (:doc:`chapter 3 <03_why_two>`), the step
(:doc:`chapter 4 <04_one_step>`). This chapter puts it together twice: first as your own function of a dozen lines, then
as the loop of the package, which is not much longer and is read here line by line. Both take the same steps.
"""

# fold: Imports, the data, and the code of this figure
# alt: Two interleaved kinds of points and the boundary of the machine after more and more steps, with the
#     objective above each panel. At first it cuts through both kinds; the last panels look alike near the points.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, MostViolatingPair, NewtonStep, Precomputed, SecondOrder, iterate, solve
from refsvm.datasets import make_banana

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

data = make_banana(200, rng=0)
X, y = data.X, data.y
kernel, C = RBF(gamma=0.5), 10.0
K = kernel(X, X)
K = (K + K.T) / 2  # symmetric to the last digit, which rounding is not
problem = DualProblem.classification(K, y, kernel=Precomputed(), C=C)

moments, kept = (1, 10, 50, 200), {}
for state in iterate(problem, step=NewtonStep()):
    if state.iteration in moments:
        kept[state.iteration] = state.alpha.copy()
kept[state.iteration] = state.alpha.copy()
side = np.linspace(-4, 4, 100)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
to_grid = kernel(grid, X)
figure, panels = plt.subplots(2, 3, figsize=(9, 6.2))
for axes, (steps, at) in zip(panels.flat, kept.items(), strict=False):
    axes.scatter(*X[y < 0].T, s=7, c=NEGATIVE, marker="o", label="$y=-1$")
    axes.scatter(*X[y > 0].T, s=9, c=POSITIVE, marker="^", label="$y=+1$")
    values = (to_grid @ at + problem.intercept(at)).reshape(100, 100)
    axes.contour(side, side, values, levels=[0], colors=INK, linewidths=1.5)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.set_title(f"{steps} step{'s' * (steps > 1)}, $f={problem.objective(at):.1f}$", fontsize=10)
last = panels.flat[5]
last.plot([], [], color=INK, label="$h=0$")
points, line = axes.get_legend_handles_labels(), last.get_legend_handles_labels()
last.legend(points[0] + line[0], points[1] + line[1], frameon=False, loc="center")
last.axis("off")
plt.show()

# %%
# This chapter uses two hundred points that no line separates, a Gaussian kernel with :math:`\gamma=0.5`, and the price
# of slack :math:`C=10`. The picture shows how the boundary :math:`h(x)=0` develops while the loop of this chapter runs.
#
# Your own
# --------
#
# Start at :math:`\alpha=0`, where :math:`G=y`. Then repeat: take the most violating pair, stop if it violates nothing,
# go up its parabola as far as the box allows, update :math:`G`. The intercept :math:`b` is the middle of the last two
# values of :math:`G` that were compared; :doc:`chapter 6 <06_when_it_is_over>` shows why.


def smo(K, y, C, tol=1e-3):
    """Return α, b and the pairs that moved."""
    lower, upper = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    alpha, G, pairs = np.zeros(len(y)), y.astype(float), []
    while True:
        i = np.argmax(np.where(alpha < upper, G, -np.inf))  # of those that may rise
        j = np.argmin(np.where(alpha > lower, G, np.inf))  # of those that may fall
        if G[i] - G[j] <= tol:
            return alpha, (G[i] + G[j]) / 2, pairs
        q = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        mu = min((G[i] - G[j]) / q, upper[i] - alpha[i], alpha[j] - lower[j])
        alpha[i] = upper[i] if mu == upper[i] - alpha[i] else alpha[i] + mu
        alpha[j] = lower[j] if mu == alpha[j] - lower[j] else alpha[j] - mu
        G -= mu * (K[i] - K[j])
        pairs.append((int(i), int(j)))


alpha, b, pairs = smo(K, y, C)
h = K @ alpha + b
print(f"{len(pairs)} steps, {np.mean(np.sign(h) == y):.1%} of the examples right, Σα = {alpha.sum():.1e}")

# %%
# This is a support vector machine, trained. The rest of this book makes it faster, safer, or asks more of it.
#
# Is it right? Chapter 2 provides the certificate, and the package takes the same steps. It gets the same matrix here,
# so that not even the last digit of a kernel value differs.

print(f"dual {problem.objective(alpha):.4f} <= optimum <= primal {problem.primal_objective(alpha):.4f}")

package = [
    tuple(state.working_sets[0].tolist())
    for state in iterate(problem, selector=MostViolatingPair(), step=NewtonStep())
]
print("the package moved the same pairs, in the same order:", package == pairs)

# %%
# The loop of the package
# -----------------------
#
# :func:`~refsvm.core.solver.loop.steps` is the same loop, but it receives its three decisions as objects: *which pair*
# is a :class:`~refsvm.core.selectors.base.WorkingSetSelector`, *how far* a :class:`~refsvm.core.steps.base.StepRule`,
# *when to stop* a :class:`~refsvm.core.stopping.base.StoppingRule`. One object holds everything that changes while a
# problem is solved, the :class:`~refsvm.core.state.SolverState`.
#
# .. shipped:: core/solver/loop.py
#    :object: Steps steps
#
# Line by line:
#
# ``while not (code := stop.check(state))``
#     The loop calls the stopping rule before every step. It returns 0 to go on, or the number of its reason.
# ``i, j = selector.select(state) if state.stalled < 2 else (-1, -1)``
#     The selector returns two indices, or (−1, −1) if it knows no pair that gains. If two steps in a row have changed
#     nothing, not even the last digit, floating point can do no better, and the loop ends.
# ``state.rows.use(i, j)``
#     The kernel rows of both variables are computed, if they are not in memory. :doc:`Chapter 8
#     <08_rows_cache_shrinking>` is about this line.
# ``state.measure(i, j)``
#     :math:`\ell`, :math:`q`, lo and hi of the pair: chapters 3 and 4.
# ``state.n_candidates = 0`` and ``mu = step.length(state, i, j)``
#     The step rule says how far. A rule that plans ahead leaves *candidates*, pairs that the next selection should
#     consider; each step starts with none. :doc:`Chapter 10 <10_two_steps_at_once>` presents two rules that look
#     further than one step.
# ``state.move(i, j, mu)``
#     Updates :math:`\alpha` and :math:`G` as in chapter 4. It then finds the most violating pair of the new point and
#     its :math:`\psi`, which the next ``check`` compares with its tolerance. Only a step with *momentum*
#     (``step.uses_momentum``) moves more than the pair; chapter 10 introduces it, and until then you can skip the first
#     branch.
# ``yield state``
#     The caller of the loop may look at the state after every step. It is one object that changes: copy what you keep.
#
# :func:`~refsvm.core.solver.loop.iterate` sets the loop up, and :func:`~refsvm.analysis.solve.solve` runs it to its
# end:
#
# .. shipped:: core/solver/loop.py
#    :object: iterate
#    :fold: iterate
#
# .. shipped:: analysis/solve.py
#    :object: solve
#    :fold: solve
#
# Watch it
# --------
#
# Here you can control the loop: choose the pair, or let a selector choose; change :math:`C`; drag a point. It takes the
# steps of the package, to the last bit, as long as no example is moved.
#
# .. stepper::
#    :selector: mvp
#
# For your own rule, use :doc:`the stepper in a notebook </gallery/examples/06_step_through_your_own_rule>`.
#
# The table shows ten steps. Its selector is the package's default, ``SecondOrder``, which also takes the curvature into
# account (:doc:`chapter 7 <07_which_pair>`).

# fold: The code of this table
print(" step    i    j       mu    l/q  ends at       gap  objective")
for state in iterate(problem, selector=SecondOrder(), step=NewtonStep()):
    i, j = state.working_sets[0]
    end = "the top" if state.last_free else "the box"
    print(
        f"{state.iteration:5d} {i:4d} {j:4d} {state.last_step:8.4f} {state.last_newton:6.2f}"
        f"  {end} {state.gap:9.4f} {state.objective:10.4f}"
    )
    if state.iteration == 10:
        break

# %%
# The two engines
# ---------------
#
# The loop above is plain NumPy. A second loop is compiled with Numba, and each of these rules has a *twin* there: a
# function of the same name that makes the same decisions. ``engine=`` says which loop runs. The results are equal to
# the last bit.

*_, state = iterate(problem, step=NewtonStep())  # the state after the last step
for engine in ("numpy", "numba"):
    solution = solve(problem, step=NewtonStep(), shrinking=False, engine=engine)
    same = np.array_equal(solution.alpha, state.alpha)
    print(f"{engine}: {solution.iterations} steps, every bit of α as in the loop above: {same}")

# %%
# The solution knows why it ended, and how good it is:

print(solution.status.value)
print(f"ψ = {solution.kkt_gap:.1e}, F − f = {solution.duality_gap:.1e}, b = {solution.intercept:.3f}")

# %%
# :class:`~refsvm.estimators.svc.SVC` is the same solver as a scikit-learn estimator. The circles are free support
# vectors; they stand on the margins, as chapter 2 says. The crosses are bounded ones.

from sklearn.inspection import DecisionBoundaryDisplay

from refsvm import SVC

model = SVC(C=C, kernel="rbf", gamma=kernel.gamma).fit(X, y)
size = np.abs(model.alpha_)
free, bounded = (size > 0) & (size < C), size == C
print(f"{free.sum()} free and {bounded.sum()} bounded support vectors of {len(y)} examples")

# %%

# fold: The code of this figure
# alt: The trained machine: shading for the decision value, a solid boundary between the two kinds of points,
#     dashed margins. Circles mark free support vectors, which lie on the margins; crosses mark bounded ones, between
#     the margins or on the wrong side.
figure, axes = plt.subplots(figsize=(5.6, 6))
display = DecisionBoundaryDisplay.from_estimator(
    model, X, response_method="decision_function", grid_resolution=150, eps=0.4, ax=axes,
    levels=np.linspace(-4, 4, 17), extend="both", cmap="RdBu_r", alpha=0.35,
)  # fmt: skip
lines = {"levels": [-1, 0, 1], "colors": INK, "linestyles": ["--", "-", "--"], "linewidths": [1, 2, 1]}
axes.contour(display.xx0, display.xx1, display.response, **lines)
axes.scatter(*X[y < 0].T, s=18, c=NEGATIVE, marker="o", label="$y=-1$")
axes.scatter(*X[y > 0].T, s=22, c=POSITIVE, marker="^", label="$y=+1$")
axes.scatter(*X[free].T, s=110, facecolors="none", edgecolors=INK, lw=1.3, label="free")
axes.scatter(*X[bounded].T, s=45, c=INK, marker="x", lw=0.9, label="bounded")
axes.plot([], [], color=INK, lw=2, label="$h=0$")
axes.plot([], [], "--", color=INK, label=r"$h=\pm1$")
axes.set(xticks=[], yticks=[], aspect="equal")
figure.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# Two knobs
# ---------
#
# :math:`\gamma` says how near two examples have to be to count as alike, :math:`C` how much an error costs. The panels
# show the boundary for three values of each, with the share of errors on these examples and on two thousand new ones of
# the same kind. With the smallest :math:`\gamma` and :math:`C` the machine *underfits*: it errs on both. With the
# largest it overfits: it is right on every example that it was trained on, and errs on the new ones. A machine that
# generalises is in between, and neither the training errors nor the objective say where. :doc:`Chapter 11
# <11_leave_one_out>` measures it without new examples, :doc:`chapter 15 <15_the_path_of_c>` for all :math:`C` at once.

new = make_banana(2000, rng=1)
gammas, prices = (0.02, 0.5, 20.0), (0.1, 10.0, 1000.0)
trained = {(g, c): SVC(C=c, kernel="rbf", gamma=g).fit(X, y) for g in gammas for c in prices}
errors = {each: (1 - model.score(X, y), 1 - model.score(new.X, new.y)) for each, model in trained.items()}
for (g, c), (seen, unseen) in errors.items():
    print(
        f"gamma = {g:5g}, C = {c:6g}: {seen:6.1%} errors on the training examples, {unseen:6.1%} on new ones"
    )

# %%

# fold: The code of this figure
# alt: Nine panels, three values of gamma with three of C each, with the regions of the two classes shaded. With the
#     smallest of both one region covers everything; with the largest the boundary winds around small groups of points.
figure, panels = plt.subplots(3, 3, figsize=(9, 9), sharex=True, sharey=True)
for axes, ((g, c), model) in zip(panels.flat, trained.items(), strict=True):
    values = model.decision_function(grid).reshape(100, 100)
    axes.contourf(side, side, values, levels=[-1e9, 0, 1e9], colors=["#dbe9f4", "#f9e3d4"])
    axes.contour(side, side, values, levels=[0], colors=INK, linewidths=1.4)
    axes.scatter(*X[y < 0].T, s=6, c=NEGATIVE, marker="o")
    axes.scatter(*X[y > 0].T, s=8, c=POSITIVE, marker="^")
    seen, unseen = errors[g, c]
    axes.set_title(rf"$\gamma={g:g}$, $C={c:g}$: {seen:.1%}, new {unseen:.1%}", fontsize=9)
    axes.set(xticks=[], yticks=[], aspect="equal", xlim=(-3.3, 3.3), ylim=(-3.3, 3.3))
plt.show()

# %%
# .. admonition:: Known elsewhere as
#
#    *Sequential minimal optimization*, SMO (Platt, 1998); the smallest case of a *decomposition method*. LIBSVM's
#    ``rho`` is :math:`-b`. The Gaussian kernel is often written with :math:`\gamma=1/(2\sigma^2)`; :math:`\sigma` is
#    its *length scale* or *bandwidth*.
#
# Exercises
# ---------
#
# 1. ★★ Let your ``smo`` choose :math:`j` as ``SecondOrder`` does, with the largest :math:`\tfrac12\ell^2/q` among the
#    :math:`j` that may fall and have :math:`G_j<G_i`. How many steps does it take now, and does it move the pairs of
#    the package?
# 2. ★★ Let it choose any pair that gains, at random. How many steps does it take on the first forty examples?
# 3. ★ Run it with :math:`C` = 0.1, 10 and 100. How do the steps and the free and bounded support vectors change?
# 4. ★ Which line would you have to change for a problem without the sum?
#
# .. fold:: Hints
#
# 1. Keep :math:`i`. Compute slope and curvature against all :math:`j` as arrays, and take the ``argmax`` where both
#    conditions hold.
# 2. Draw twice: first among the variables that may rise and lie above the lowest that may fall, then among the
#    variables that may fall and lie below the first.
# 3. Free means strictly inside the box, bounded exactly at :math:`\pm C`.
# 4. Exercise 3 of chapter 3 has a solver for it.
#
# .. endfold::
#
# .. fold:: Answers


def smo_with(choose, K, y, C, tol=1e-3):
    """The same with another choice of the pair; return α and the pairs."""
    lower, upper = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
    alpha, G, pairs = np.zeros(len(y)), y.astype(float), []
    while True:
        rise, fall = alpha < upper, alpha > lower
        if G[rise].max() - G[fall].min() <= tol:
            return alpha, pairs
        i, j = choose(G, rise, fall)
        q = max(K[i, i] + K[j, j] - 2 * K[i, j], 1e-12)
        mu = min((G[i] - G[j]) / q, upper[i] - alpha[i], alpha[j] - lower[j])
        alpha[i] = upper[i] if mu == upper[i] - alpha[i] else alpha[i] + mu
        alpha[j] = lower[j] if mu == alpha[j] - lower[j] else alpha[j] - mu
        G -= mu * (K[i] - K[j])
        pairs.append((int(i), int(j)))


def second_order(G, rise, fall):
    i = np.argmax(np.where(rise, G, -np.inf))
    slope, q = G[i] - G, np.maximum(K[i, i] + K.diagonal() - 2 * K[i], 1e-12)
    return i, np.argmax(np.where(fall & (slope > 0), slope**2 / q, -np.inf))


rng = np.random.default_rng(0)


def at_random(G, rise, fall):
    i = rng.choice(np.flatnonzero(rise & (G > G[fall].min())))
    return i, rng.choice(np.flatnonzero(fall & (G < G[i])))


better, by_second_order = smo_with(second_order, K, y, C)
package = [
    tuple(s.working_sets[0].tolist()) for s in iterate(problem, selector=SecondOrder(), step=NewtonStep())
]
print(f"1. {len(by_second_order)} steps; the pairs of the package: {by_second_order == package}")
few = np.arange(40)
K_few, y_few = K[np.ix_(few, few)], y[few]
worse, by_chance = smo_with(at_random, K_few, y_few, C)
print(
    f"2. on the first 40 examples {len(by_chance)} steps, most violating pairs {len(smo(K_few, y_few, C)[2])}"
)
for price in (0.1, 10.0, 100.0):
    at, _, moved = smo(K, y, price)
    free, bounded = (at != 0) & (np.abs(at) < price), np.abs(at) == price
    print(f"3. C = {price:6g}: {len(moved):5d} steps, {free.sum():3d} free, {bounded.sum():3d} bounded")

# %%
# 1. It takes fewer steps, and the same pairs as the package.
# 2. Any pair that gains leads uphill, so chance also reaches the top. It takes its time.
# 3. A larger :math:`C` leads to more steps, fewer bounded support vectors, and a street that fits the examples more
#    closely.
# 4. The choice, since one variable would do, and with it every line about :math:`j`. And :math:`b`, which would not
#    exist.
#
# .. endfold::
