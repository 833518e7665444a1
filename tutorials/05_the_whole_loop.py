r"""
5 · The whole loop
==================

This chapter puts the dual (:doc:`chapter 2 <02_prices>`), the pair (:doc:`chapter 3 <03_why_two>`) and the step
(:doc:`chapter 4 <04_one_step>`) together twice: in a short function, and in the loop of the package.
"""

# fold: Imports, the data, and the code of this figure
# alt: Five panels show two interleaved kinds of points and the boundary of the machine after more and more steps. At
#     first the boundary cuts through both kinds; the last panels look alike.
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
# The picture shows how the boundary :math:`h(x)=0` develops while the loop runs on two hundred points that no line
# separates, with a Gaussian kernel, :math:`\gamma=0.5` and :math:`C=10`.
#
# Your own
# --------
#
# Start at :math:`\alpha=0`, where :math:`G=y`. Then repeat four actions: take the most violating pair; stop if its
# violation is within the tolerance; go to the top of the parabola of the pair, or as far as the box allows; update
# :math:`G`. The intercept :math:`b` is the mean of :math:`G_i` and :math:`G_j` of the last pair; :doc:`chapter 6
# <06_when_it_is_over>` shows why.


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
# The certificate of chapter 2 shows how near the machine is to the optimum. With the same matrix and rules, the package
# takes the same steps as ``smo``.

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
# In :func:`~refsvm.core.solver.loop.steps` three objects make the decisions of ``smo``. A
# :class:`~refsvm.core.selectors.base.WorkingSetSelector` chooses the pair, a :class:`~refsvm.core.steps.base.StepRule`
# decides how far the pair moves, and a :class:`~refsvm.core.stopping.base.StoppingRule` decides when to stop. The
# :class:`~refsvm.core.state.SolverState` holds everything that changes during a solve.
#
# .. shipped:: core/solver/loop.py
#    :object: Steps steps
#
# This is what the lines do:
#
# ``while not (code := stop.check(state))``
#     The loop calls the stopping rule before every step. The stopping rule returns 0 to go on; other numbers stand for
#     reasons to stop.
# ``i, j = selector.select(state) if state.stalled < 2 else (-1, -1)``
#     The selector returns two indices, or ``(-1, -1)`` if it knows no pair that gains. If two steps in a row have not
#     changed even the last digit of any variable, floating point can do no better, and the loop ends.
# ``state.rows.use(i, j)``
#     ``state.rows`` computes the kernel rows of both variables, if they are not in memory (:doc:`chapter 8
#     <08_rows_cache_shrinking>`).
# ``state.measure(i, j)``
#     The state computes :math:`\ell`, :math:`q`, lo and hi of the pair (chapters 3 and 4).
# ``state.n_candidates = 0`` and ``mu = step.length(state, i, j)``
#     The step rule says how far the pair moves. A rule that plans ahead may leave *candidates*, pairs that the next
#     selection should consider; ``n_candidates = 0`` clears old candidates.
# ``state.move(i, j, mu)``
#     The state updates :math:`\alpha` and :math:`G` as in chapter 4. The state then finds the most violating pair of
#     the new point and its :math:`\psi`, which the next ``check`` compares with its tolerance. A rule with *momentum*
#     (``step.uses_momentum``, chapter 10) also moves variables outside the pair.
# ``yield state``
#     The caller may look at the state after every step. The state is a single object that changes: copy
#     what you want to keep.
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
# Control the loop in the stepper: choose the pair, or let a selector choose; change :math:`C`; drag a point. Until you
# move or add an example or change :math:`\gamma`, stepper and package take the same steps, bit for bit.
#
# .. stepper::
#    :selector: mvp
#
# The default selector, ``SecondOrder``, also considers the curvature (:doc:`chapter 7 <07_which_pair>`).
#
# The two engines
# ---------------
#
# The loop above is plain NumPy. A second loop is compiled with Numba; it calls a *twin* of each rule, a function that
# decides as the rule does. The argument ``engine`` says which loop runs. Both return the same :math:`\alpha`, bit for
# bit.

*_, state = iterate(problem, step=NewtonStep())  # the state after the last step
for engine in ("numpy", "numba"):
    solution = solve(problem, step=NewtonStep(), shrinking=False, engine=engine)
    same = np.array_equal(solution.alpha, state.alpha)
    print(f"{engine}: {solution.iterations} steps, every bit of α as in the loop above: {same}")

# %%
# The solution says why the solver ended, and how near it came to the optimum:

print(solution.status.value)
print(f"ψ = {solution.kkt_gap:.1e}, F − f = {solution.duality_gap:.1e}, b = {solution.intercept:.3f}")

# %%
# :class:`~refsvm.estimators.svc.SVC` is the same solver as a scikit-learn estimator. The circles in the figure are free
# support vectors; they stand on the margins, as chapter 2 says. The crosses are bounded support vectors.

from sklearn.inspection import DecisionBoundaryDisplay

from refsvm import SVC

model = SVC(C=C, kernel="rbf", gamma=kernel.gamma).fit(X, y)
size = np.abs(model.alpha_)
free, bounded = (size > 0) & (size < C), size == C
print(f"{free.sum()} free and {bounded.sum()} bounded support vectors of {len(y)} examples")

# %%

# fold: The code of this figure
# alt: Shading shows the decision value of the trained machine, a solid line its boundary, and dashed lines its margins.
#     Circles mark free support vectors on the margins; crosses mark bounded support vectors.
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
# The parameter :math:`\gamma` says how near two examples have to be to count as alike, and :math:`C` how much a unit of
# slack costs. The panels show the boundary for three values of each parameter, with the share of errors on the training
# examples and two thousand new examples. With the smallest :math:`\gamma` and :math:`C` the machine *underfits*: it
# misclassifies many training and new examples. With the largest :math:`\gamma` and :math:`C` the machine overfits: it
# classifies every training example correctly, but not every new example. The machine that generalises best is in
# between, and neither the training errors nor the objective say where. From the training examples alone, :doc:`chapter
# 11 <11_leave_one_out>` estimates the error on new examples; :doc:`chapter 15 <15_the_path_of_c>` does so for all
# :math:`C`.

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
# alt: Nine panels, for three values of gamma and of C, shade the regions of two classes. With the smallest values one
#     region covers everything; with the largest the boundary winds around small groups of points.
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
#    The method is *sequential minimal optimization*, SMO (Platt, 1998), the smallest *decomposition method*. Many texts
#    write the Gaussian kernel with :math:`\gamma=1/(2\sigma^2)`; :math:`\sigma` is its *length scale* or *bandwidth*.
#
# Exercises
# ---------
#
# 1. ★★ Let your ``smo`` choose :math:`j` as ``SecondOrder`` does, with the largest :math:`\tfrac12\ell^2/q` among the
#    :math:`j` that may fall and have :math:`G_j<G_i`. How many steps does ``smo`` take now, and on which pairs?
# 2. ★★ Let ``smo`` choose a random pair that gains. How many steps does ``smo`` take on the first forty examples?
# 3. ★ Run ``smo`` with :math:`C` = 0.1, 10 and 100, and count steps, free and bounded support vectors. What changes?
# 4. ★ Which lines of ``smo`` would you change for a problem without the sum constraint?
#
# .. fold:: Hints
#
# 1. Keep :math:`i`. Compute slope and curvature of its pairs with all :math:`j` as arrays, and take the ``argmax``
#    where both conditions hold.
# 2. Find the smallest :math:`G_j` of the variables that may fall. Draw :math:`i` with :math:`G_i` above this value
#    among the variables that may rise, then :math:`j` with :math:`G_j<G_i` among the variables that may fall.
# 3. A free variable is strictly inside the box; a bounded support vector has :math:`\alpha_i=\pm C`.
# 4. See the solver of exercise 3 of chapter 3.
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
# 1. With this choice ``smo`` takes fewer steps, on the same pairs as the package.
# 2. Each step raises :math:`f`. Here random pairs also reach the optimum, in more steps than the most violating pairs.
# 3. Here a larger :math:`C` leads to more steps, fewer bounded support vectors, and a street that fits the examples
#    more closely.
# 4. A single variable could move, so all lines that use :math:`j` would disappear, and with them :math:`b`.
#
# .. endfold::
