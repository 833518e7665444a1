r"""
18 · What if
============

Between two events the optimum is a smooth function of every number in the problem, if the linear system of
:doc:`chapter 14 <14_straight_lines>` is not singular. This system gives the derivative without following a path, even
for parameters of the kernel, along which the optimum does not move in straight lines. So gradient descent can find the
features that matter.
"""

# fold: Imports, the data, and the code of this figure
# alt: The left panel shows the decision value of a point over C, with a tangent. The right panel shows the curve near
#     an event, where two half tangents with different slopes meet.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import RBF, DualProblem, KKTGap, regularization_path, solve
from refsvm.datasets import make_banana

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
BLUE, ORANGE, INK = "#0072B2", "#D55E00", "#222222"

banana, kernel = make_banana(60, rng=1), RBF(0.5)
X, y, point = banana.X, banana.y, np.array([[0.0, 0.3]])
path = regularization_path(X, y, kernel=kernel, C_min=0.2, C_max=20.0)


def optimum(C, kernel=kernel):
    """Return the machine of the sixty points, exact enough to know its sets."""
    problem = DualProblem.classification(X, y, kernel=kernel, C=C)
    return solve(problem, stop=KKTGap(1e-12), polish=True, start=problem.feasible(path.alpha(C)))


def value(C):
    """Return h of the point, from the path."""
    return path.decision_function(point, C)[0]


def bend(k):
    """Return the jump of the slope at an event."""
    found = optimum(path.C[k]).derivative("C")
    return abs(float((found.right.decision_function(point) - found.left.decision_function(point))[0]))


inner = [k for k in range(1, len(path.C) - 1) if 0.5 < path.C[k] < 8.0]
event = max(inner, key=bend)
longest = max(inner, key=lambda k: path.C[k + 1] / path.C[k])
smooth = float(np.sqrt(path.C[longest] * path.C[longest + 1]))

figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6))
some = np.geomspace(0.2, 20.0, 600)
left.plot(some, [value(C) for C in some], color=BLUE, label="$h(x)$ of one point")
slope = optimum(smooth).derivative("C").decision_function(point)[0]
near = np.array([0.6, 1.6]) * smooth
left.plot(near, value(smooth) + slope * (near - smooth), color=ORANGE, label="its derivative")
left.plot(smooth, value(smooth), "o", color=ORANGE)
left.set(xscale="log", xlabel="$C$", ylabel="$h(x)$", title="a slope")
left.legend(frameon=False)
C, both = path.C[event], optimum(path.C[event]).derivative("C")
some = C * np.linspace(0.97, 1.03, 200)
right.plot(some, [value(each) for each in some], color=BLUE, label="$h(x)$")
for side, ends, style in ((both.left, (0.97, 1.0), "--"), (both.right, (1.0, 1.03), ":")):
    name = "left" if side is both.left else "right"
    ends = C * np.array(ends)
    rate = side.decision_function(point)[0]
    right.plot(ends, value(C) + rate * (ends - C), style, color=ORANGE, lw=2.5, label=f"derivative, {name}")
right.plot(C, value(C), "o", color=ORANGE)
right.set(xlabel="$C$", title="a kink")
right.legend(frameon=False)
plt.show()

# %%
# A slope without a path
# ----------------------
#
# At the optimum the free examples :math:`M` keep :math:`G_i=b`, bounded examples keep their bound, and the sum stays
# :math:`z`. Let any number :math:`\theta` of the problem change, and write a dot for the derivative with respect to
# :math:`\theta`. Differentiate :math:`G_i=v_i-(K\alpha)_i=b` and the sum:
#
# .. math::
#
#    \underbrace{\begin{pmatrix}0&\mathbf 1^\top\\ \mathbf 1&K_{MM}\end{pmatrix}}_A
#    \begin{pmatrix}\dot b\\ \dot\alpha_M\end{pmatrix}
#    =\begin{pmatrix}\dot z-\mathbf 1^\top\dot\alpha_B\\ \dot v_M-(\dot K\alpha)_M-K_{MB}\,\dot\alpha_B\end{pmatrix},
#    \qquad \dot h(x)=\sum_i k(x,x_i)\,\dot\alpha_i+\dot b+\sum_i\alpha_i\,\dot k(x,x_i) .
#
# For :math:`C` this is the system of chapter 14: :math:`\dot K=0`, and the bounds move. For :math:`\gamma` of a
# Gaussian kernel the bounds stand still and :math:`\dot k(x,z)=-\lVert x-z\rVert^2\,k(x,z)`. The next lines print
# derivatives of :math:`b` and of a decision value. Solves with slightly different :math:`\gamma` and the path of
# :math:`C` confirm the derivatives of :math:`b`:

machine = optimum(smooth)
step = 1e-5
ahead, behind = (optimum(smooth, RBF(0.5 + each)) for each in (step, -step))
for name in machine.pullback(intercept=1.0):
    if name != "weights":
        by = machine.derivative(name)
        print(
            f"{name:6}: b changes by {by.intercept:+.6f}, h of the point by {by.decision_function(point)[0]:+.6f}"
        )
print(f"two machines with other γ: b changes by {(ahead.intercept - behind.intercept) / (2 * step):+.6f}")
corner = np.searchsorted(path.C, smooth)
low, high = path.C[corner - 1], path.C[corner]
print(
    f"the piece of the path:     b changes by {(path.intercept(high) - path.intercept(low)) / (high - low):+.6f}"
)

# %%
# .. shipped:: analysis/derivatives/direction.py
#    :object: direction
#    :fold: The right side and the direction in the package
#
# The system of three points
# --------------------------
#
# Three points lie on a line; the middle point is in the other class. At :math:`C=0.8` the middle point is at its bound,
# and the outer points are free, so the system has three rows.

line, labels, C = np.array([[0.0], [1.0], [2.5]]), np.array([-1, 1, -1]), 0.8
three = solve(DualProblem.classification(line, labels, kernel=RBF(0.5), C=C), stop=KKTGap(1e-12))
K, M, B = RBF(0.5)(line, line), [0, 2], [1]
A = np.ones((3, 3))
A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(M, M)]
K_dot = -((line - line.T) ** 2) * K
sides = {"C": np.append(-1.0, -K[M, B]), "gamma": np.append(0.0, -(K_dot @ three.alpha)[M])}
for name, right_side in sides.items():
    print(f"{name:6}", np.linalg.solve(A, right_side).round(6), "by hand: b, and the α of both ends")
    ours = three.derivative(name)
    print(f"{'':6}", np.append(ours.intercept, ours.alpha[M]).round(6), "in the package")

# %%
# Events are kinks
# ----------------
#
# At an event an example is between two sets: it is at its bound, and :math:`G_i=b`. Usually the example enters one set
# if :math:`C` rises and the other set if :math:`C` falls. Then each direction has its own derivative, and the package
# raises an error if you choose no direction:

kink = optimum(path.C[event]).derivative("C")
for name, side, (one, other) in (
    ("left", kink.left, (event - 1, event)),
    ("right", kink.right, (event, event + 1)),
):
    change = (value(path.C[other]) - value(path.C[one])) / (path.C[other] - path.C[one])
    print(
        f"{name:5}: {side.decision_function(point)[0]:+.5f}; the piece of the path on this side {change:+.5f}"
    )
try:
    kink.decision_function(point)
except ValueError as error:
    print(error)

# %%
# If several examples are between two sets, choosing a set for one of them changes all rates, so the package cannot
# choose the sets one by one. For each such example, either :math:`\alpha_i` stays at its bound and :math:`G_i-b` gets a
# sign that this bound permits, or :math:`\alpha_i` leaves its bound and :math:`\dot G_i=\dot b`. As chapter 6 shows,
# rates :math:`d` with these properties maximise :math:`(\dot v-\dot K\alpha)^\top d-\tfrac12d^\top Kd` among all rates
# that the box and the sum permit. The package solves this dual problem by moving examples between the sets:
#
# .. shipped:: analysis/derivatives/direction.py
#    :object: settle
#    :fold: Choosing the sets at an event
#
# Equal examples may share a change of :math:`\alpha` in many ways, but :math:`h` has a unique derivative. Then
# ``derivative`` returns the derivative of :math:`h`; by default, reading the derivative of :math:`\alpha` raises an
# error.
#
# Backwards
# ---------
#
# Let the loss :math:`\ell` depend on decision values :math:`h(x_s)`. Its gradient is :math:`g` with respect to
# :math:`(b,\alpha_M)`, and :math:`g_B` with respect to :math:`\alpha_B`. Each parameter :math:`\theta` has its own
# right-hand side :math:`r_\theta` of the system above. In the derivative
#
# .. math:: \dot\ell = (A^{-1} g)^\top r_\theta + g_B^\top\dot\alpha_B
#           + \sum_s\frac{\partial\ell}{\partial h(x_s)}\sum_i\alpha_i\,\dot k(x_s,x_i)
#
# the vector :math:`A^{-1}g` does not depend on :math:`\theta`, so ``pullback`` solves a single system for all
# parameters. The second term is zero unless bounds move (with :math:`C`), and the third term is zero unless the kernel
# changes (with :math:`\gamma`).
#
# .. shipped:: analysis/derivatives/pullback.py
#    :object: Gradients
#    :fold: All gradients from one system
#
# Features that count
# -------------------
#
# Train on 200 points of the banana and validate on 200. Each point has the two coordinates of the plane and eight
# features of noise. A kernel with the same :math:`\gamma` for all features measures distances that are mostly noise:

rng = np.random.default_rng(0)
data = make_banana(1400, rng=3)
wide = np.hstack([data.X, rng.normal(size=(1400, 8))])
train, judge, test = np.split(np.arange(1400), [200, 400])


def fit(kernel, points):
    """Return the machine of the first 200 points, and its decision values for the others."""
    found = solve(DualProblem.classification(points[train], data.y[train], kernel=kernel), stop=KKTGap(1e-8))
    return found, lambda rows: kernel(points[rows], points[train]) @ found.alpha + found.intercept


def error(kernel, points):
    """Return the share of the test points on the wrong side."""
    return np.mean(fit(kernel, points)[1](test) * data.y[test] < 0.0)


for gamma in (0.03, 0.1, 0.3, 1.0, 3.0):
    print(f"γ = {gamma:4}: error {error(RBF(gamma), data.X[:, :2]):.3f} in the plane, "
          f"{error(RBF(gamma), wide):.3f} with the noise")  # fmt: skip

# %%
# Give each feature its own :math:`\gamma_j`, with :math:`k(x,z)=\exp(-\sum_j\gamma_j(x_j-z_j)^2)`, and follow the
# gradient of the logistic loss on the 200 validation points downhill:

gammas, history = np.full(10, 0.1), []
for step in range(40):
    machine, h = fit(RBF(gammas), wide)
    margin = data.y[judge] * h(judge)
    history.append((gammas, np.log1p(np.exp(-margin)).mean()))
    by_h = -data.y[judge] / (1.0 + np.exp(margin)) / 200.0
    gradient = machine.pullback(X=wide[judge], decision_function=by_h)["gamma"]
    slope = gammas * gradient  # in log γ
    gammas = gammas * np.exp(-0.5 / (1.0 + 0.1 * step) * slope / np.abs(slope).max())
h = fit(RBF(gammas), wide)[1]
last, fair = (np.log1p(np.exp(-data.y[rows] * h(rows))).mean() for rows in (judge, test))
print(f"loss {history[0][1]:.3f} at first, {last:.3f} at last, {fair:.3f} on the test points")
print(f"error {error(RBF(gammas), wide):.3f} on the test points")
print("γ of the plane:", gammas[:2].round(2), " of the noise: at most", gammas[2:].max().round(3))
print(f"error {error(RBF(gammas[:2]), data.X[:, :2]):.3f} with these two γ and without the noise")

# %%
# The loop finds the features that form the plane. How good is a random search with as many fits as the loop, each with
# ten :math:`\gamma_j` drawn between 0.01 and 3?

# fold: The code of this figure
# alt: Over forty steps, on a logarithmic axis, the gammas of two features rise from a tenth to above one, and eight
#     noise features fall to about a hundredth. In a second panel the validation loss falls; the best loss of a random
#     search ends higher.
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.4))
track = np.array([each for each, _ in history])
left.plot(track[:, 2:], color="0.7", lw=1.0)
left.plot([], [], color="0.7", label="noise")
left.plot(track[:, :2], color=ORANGE)
left.plot([], [], color=ORANGE, label="the plane")
left.set(yscale="log", xlabel="step", ylabel=r"$\gamma_j$")
left.legend(frameon=False)
right.plot([loss for _, loss in history], color=BLUE, label="downhill")
tries = np.exp(np.random.default_rng(1).uniform(np.log(0.01), np.log(3.0), (40, 10)))
losses = [np.log1p(np.exp(-data.y[judge] * fit(RBF(tried), wide)[1](judge))).mean() for tried in tries]
right.plot(np.minimum.accumulate(losses), color=INK, label="random search, the best so far")
right.set(xlabel="step", ylabel="logistic loss on the points to judge by")
right.legend(frameon=False)
plt.show()
lucky = tries[np.argmin(losses)]
print(f"random search: loss {min(losses):.3f}, error {error(RBF(lucky), wide):.3f} on the test points")

# %%
# The descent used the validation points to choose ten parameters, so the loss on these points is optimistic; only the
# test points give an honest estimate. The test error of the descent is larger than the test error of the best single
# :math:`\gamma` without the noise. The two :math:`\gamma_j` of the descent for the plane, without the noise, give an
# error between these two: the noise causes a part of the difference, and these :math:`\gamma_j` cause the rest.
#
# .. worth:: 18
#
#    If many variables are free, one system may take longer than two more machines, because its cost grows like the cube
#    of their number. At an event the derivatives on the two sides usually differ.
#
# .. admonition:: Known elsewhere as
#
#    These derivatives are *hypergradients*, found by *implicit differentiation*; descending along them is *bilevel
#    optimisation*. The backward system is the *adjoint method*. One :math:`\gamma` for each feature is *automatic
#    relevance determination*. Chapelle and others (2002) and Keerthi, Sindhwani and Chapelle (2006) introduced these
#    methods to support vector machines.
#
# Exercises
# ---------
#
# 1. ★ In the system of the three points the derivative of :math:`\alpha` with respect to :math:`C` sums to zero. Which
#    row says this? Check the sum.
# 2. ★ For the machine of sixty points, divide the derivative with respect to :math:`\log\gamma` by the derivative with
#    respect to :math:`\gamma`.
# 3. ★★ If an example is free or has :math:`\alpha_i=0`, why is the gradient of a loss with respect to its weight zero?
# 4. ★★ Give all ten features the same :math:`\gamma`. Interpret the sum of the gradients with respect to the ten
#    :math:`\gamma_j`.
#
# .. fold:: Hints
#
# 1. The :math:`\alpha` of the middle point moves with its bound.
# 2. Use the chain rule.
# 3. Which bound depends on this weight, and does the optimum depend on this bound?
# 4. Move all ten :math:`\gamma_j` by the same amount.
#
# .. endfold::
#
# .. fold:: Answers

total = three.derivative("C").alpha.sum()
print(f"1. the first row; the sum is {total:.0e}")
by = optimum(smooth).derivative("gamma").intercept
log_step = 1e-5
up, down = (optimum(smooth, RBF(0.5 * np.exp(each))).intercept for each in (log_step, -log_step))
print(f"2. {(up - down) / (2.0 * log_step) / by:.4f}, which is γ")
sixty = optimum(smooth)
weights = sixty.pullback(X=point, decision_function=[1.0])["weights"]
share = np.abs(sixty.alpha) / smooth
print(f"3. largest gradient: {np.abs(weights[share == 0.0]).max()} of those at 0, "
      f"{np.abs(weights[(share > 0.0) & (share < 1.0)]).max()} of free ones, "
      f"{np.abs(weights[share == 1.0]).max():.2f} of those at C")  # fmt: skip
same, h = fit(RBF(np.full(10, 0.1)), wide)
one, _ = fit(RBF(0.1), wide)
by_h = np.full(200, 1.0 / 200.0)
each = same.pullback(X=wide[judge], decision_function=by_h)["gamma"]
alone = one.pullback(X=wide[judge], decision_function=by_h)["gamma"]
print(f"4. the sum is {each.sum():.6f}, the gradient by the one γ of all {alone:.6f}")

# %%
# 1. The first row says that :math:`\mathbf 1^\top\dot\alpha_M=\dot z-\mathbf 1^\top\dot\alpha_B`, and :math:`\dot z=0`.
# 2. The quotient is :math:`\gamma`, because :math:`d/d\log\gamma=\gamma\,d/d\gamma`.
# 3. A weight moves the bound :math:`\pm C` of its example. If the example is not at this bound, a small move of the
#    bound changes nothing.
# 4. The sum is the gradient with respect to one :math:`\gamma` for all features.
#
# .. endfold::
