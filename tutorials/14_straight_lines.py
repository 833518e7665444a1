r"""
14 · The optimum moves along straight lines
===========================================

Let :math:`C` grow, or let the box of an example close. The optimum then moves along straight lines, from corner to
corner, and a linear system, not a new solve, gives each corner. This chapter derives the direction and the length of
such a line and follows the optimum with thirty lines of NumPy.
"""

# fold: Imports, the data, and the code of this figure
# alt: While C grows, the weights of all examples run along straight lines, with a dot at each corner. Many lines follow
#     the edge of the box, plus or minus C, or stay at zero.
import matplotlib.pyplot as plt
import numpy as np

from refsvm import ATO, RBF, DualProblem, KKTGap, parametric_path, solve
from refsvm.datasets import make_banana

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

banana = make_banana(60, rng=1)
kernel = RBF(0.5)
K = kernel(banana.X, banana.X)
y = banana.y.astype(float)
begin = solve(
    DualProblem.classification(banana.X, y, kernel=kernel, C=1.0), stop=KKTGap(1e-12), shrinking=False
)
small = begin.problem
whole = parametric_path(small, small.boxed(20.0 * small.lower, 20.0 * small.upper), t=(1.0, 20.0))
weights = np.array([whole.alpha(C) for C in whole.t])
figure, axes = plt.subplots(figsize=(6.4, 3.6))
for line, label in zip(weights.T, y, strict=True):
    axes.plot(whole.t, line, ".-", color=NEGATIVE if label < 0 else POSITIVE, lw=0.8, ms=2.5)
for label, colour in ((-1, NEGATIVE), (1, POSITIVE)):
    axes.plot([], [], ".-", color=colour, lw=0.8, ms=2.5, label=f"$y={label:+d}$")
axes.plot(whole.t, whole.t, "--", color=INK, lw=0.8, label=r"the box, $\pm C$")
axes.plot(whole.t, -whole.t, "--", color=INK, lw=0.8)
axes.set(xlabel="$C$; dots: the corners", ylabel=r"$\alpha_i$ at the optimum", xlim=(1.0, 20.0))
axes.legend(frameon=False, loc="upper left")
plt.show()

# %%
# Constant rates
# --------------
#
# Keep the matrix fixed, and let the linear term, the box and the sum change at constant rates with a parameter
# :math:`t`:
#
# .. math:: v(t)=v^0+t\,v^1,\quad L(t)=L^0+t\,L^1,\quad U(t)=U^0+t\,U^1,\quad z(t)=z^0+t\,z^1 .
#
# At the optimum the examples form three sets (chapter 6): examples at the lower bound have :math:`G_i\le b`, examples
# at the upper bound have :math:`G_i\ge b`, and free examples :math:`M` have :math:`G_i=b`. As long as no example
# changes its set, these conditions determine all rates, unless the matrix below is singular. Let :math:`d` be the rate
# of :math:`\alpha`. Bounded variables :math:`B` travel with their bound: :math:`d_B=L^1_B` or :math:`U^1_B`. Free
# variables keep :math:`v_i-(K\alpha)_i=b`, and the sum of all variables equals :math:`z`. Differentiating both
# equations gives
#
# .. math::
#
#    \begin{pmatrix}0&\mathbf 1^\top\\ \mathbf 1&K_{MM}\end{pmatrix}
#    \begin{pmatrix}db\\ d_M\end{pmatrix}
#    =\begin{pmatrix}z^1-\mathbf 1^\top d_B\\ v^1_M-K_{MB}\,d_B\end{pmatrix},
#    \qquad dG = v^1-Kd .
#
# This linear system does not depend on :math:`t`. So :math:`\alpha`, :math:`b` and :math:`G` move along straight lines
# until an *event*: a free variable reaches a bound, or a bounded variable reaches :math:`G_i=b`. After the event the
# walk continues with the new sets. The table lists problems that change like this:
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
# For any row of the table, the next lines find the direction of :math:`\alpha`, the distance to the event, and the
# example that changes sets.

BELOW, FREE, ABOVE, CLOSED = -1, 0, 1, 2  # closed: a box of no width that moves


def event(K, now, rates, room):
    """Move α, G, b and the box to the next event, at most by `room`; return the distance."""
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
    # --- how far until a free variable meets a bound, or a bounded variable meets G = b ---
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


def sets(alpha, problem):
    """Return the side of each variable: at its lower bound, free, or at its upper bound."""
    return np.where(alpha == problem.lower, BELOW, np.where(alpha == problem.upper, ABOVE, FREE))


now = {
    "alpha": begin.alpha, "G": begin.gradient, "b": begin.intercept,
    "lower": small.lower, "upper": small.upper, "side": sets(begin.alpha, small),
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
    f"{len(corners)} events from C = 1 to 20; distance from a solution: {np.abs(now['alpha'] - end.alpha).max():.0e}"
)

# %%
# Examples leave, others join
# ---------------------------
#
# A walk can also exchange folds: the bounds of :math:`\alpha` change at constant rates. For a
# *removed* example both bounds move linearly from :math:`\alpha_r` to 0, and its variable moves with these bounds. For
# an *added* example :math:`i`, :math:`\alpha_i` starts at 0. If :math:`\alpha_i=0` violates the condition of :math:`i`,
# both bounds start at 0, and one bound moves linearly to :math:`\pm C`. The variable moves with this bound until
# :math:`G_i=b`, and then becomes free. At :math:`t=1` every box is the box of the new problem, so the walk ends at the
# new optimum. The end of this walk is the seed ATO of :doc:`chapter 13 <13_seeds_and_folds>`.


def exchange(K, solved, target, removed, added):
    """Return α after the walk from one solution to the optimum of another box, and the number of events."""
    alpha, G, b, zero = solved.alpha, solved.gradient, solved.intercept, np.zeros(target.n)
    lower, upper, side = target.lower.copy(), target.upper.copy(), sets(alpha, target)
    rates = {"v": zero, "lower": zero.copy(), "upper": zero.copy(), "z": 0.0}
    lower[removed] = upper[removed] = alpha[removed]
    rates["lower"][removed] = rates["upper"][removed] = -alpha[removed]
    side[removed] = CLOSED
    rises = added[(G > b)[added] & (upper > 0.0)[added]]
    falls = added[(G < b)[added] & (lower < 0.0)[added]]
    upper[rises], rates["upper"][rises], side[rises] = 0.0, target.upper[rises], ABOVE
    lower[falls], rates["lower"][falls], side[falls] = 0.0, target.lower[falls], BELOW
    now = {"alpha": alpha, "G": G, "b": b, "lower": lower, "upper": upper, "side": side}
    t, events = 0.0, 0
    while t < 1.0 and events < 1000:
        t, events = t + event(K, now, rates, 1.0 - t), events + 1
    return now["alpha"], events


# %%

# fold: The same walk by the package, and a solution to compare with
fold = np.random.default_rng(0).permutation(60) % 10
leave, join = np.flatnonzero(fold == 1), np.flatnonzero(fold == 0)
first, target = end.problem.without(join), end.problem.without(leave)
solved = solve(first, stop=KKTGap(1e-12), shrinking=False)
own, events = exchange(K, solved, target, leave, join)
best = solve(target, stop=KKTGap(1e-12), shrinking=False)
package = ATO(margin=np.inf, budget=np.inf).seed(solved, target)
print(f"{events} events; distance from a solution of the new problem: {np.abs(own - best.alpha).max():.0e}")
print("the seed of the package:", np.allclose(own, package))

# %%
# By default ``margin`` and ``budget`` are finite: ``ATO`` watches only examples whose :math:`G` is likely to reach
# :math:`b`, and does not finish a walk that seems to cost more than it saves.
#
# Any line
# --------
#
# ``parametric_path`` follows any line between two problems with the same matrix. Four special cases have their own
# functions: ``epsilon_path``, ``nu_path``, ``cost_path``, ``weight_path``. For the first figure, ``parametric_path``
# gives the same :math:`\alpha` at all corners as ``event``:

off = max(np.abs(whole.alpha(C) - alpha).max() for C, alpha in corners)
print(
    f"parametric_path: {len(whole.t) - 1} steps from corner to corner; distance from yours at all corners: {off:.0e}"
)

# %%
# The walk of the package
# -----------------------
#
# At each event the package updates the inverse of the matrix.
#
# How does an inverse change when example :math:`k` joins the free set :math:`M`? Let :math:`A` be the matrix of the
# system for :math:`M`, :math:`P` its inverse, and :math:`u=(1,K_{Mk})` the new column. Eliminating the old variables
# from the last equation leaves the pivot :math:`s=K_{kk}-u^\top Pu`. With :math:`z=(Pu,-1)`
#
# .. math::
#
#    \begin{pmatrix}A&u\\u^\top&K_{kk}\end{pmatrix}^{-1}
#    = \begin{pmatrix}P&0\\0&0\end{pmatrix}+\frac{zz^\top}{s} .
#
# To check the formula, multiply the large matrix by its right side, and use :math:`APu-u=0` and
# :math:`u^\top Pu-K_{kk}=-s`. To remove an example, read the formula backwards. Column :math:`k` of the large inverse
# is :math:`p=-z/s`, with the diagonal entry :math:`p_k=1/s`; subtracting :math:`pp^\top/p_k` from this inverse leaves
# :math:`P`. For :math:`m` free examples an update of the inverse takes about :math:`m^2` operations, and solving anew
# about :math:`m^3`.


def joined(P, u, corner):
    """Return the inverse with one more row and column."""
    z = np.append(P @ u, -1.0)
    return np.pad(P, (0, 1)) + np.outer(z, z) / (corner - u @ P @ u)


def parted(P, k):
    """Return the inverse without row and column k."""
    return np.delete(np.delete(P - np.outer(P[k], P[k]) / P[k, k], k, 0), k, 1)


M = np.random.default_rng(0).normal(size=(6, 3))
A = np.pad(np.exp(-np.sum((M[:, None] - M) ** 2, axis=2)), (1, 0), constant_values=1.0)
A[0, 0] = 0.0
more, less = joined(np.linalg.inv(A[:-1, :-1]), A[:-1, -1], A[-1, -1]), parted(np.linalg.inv(A), 6)
print("one more", np.allclose(more @ A, np.eye(7)), "one less", np.allclose(less @ A[:-1, :-1], np.eye(6)))

# %%
# The pivot :math:`s` is the squared distance, in the space of :math:`\varphi`, of the new example from the plane
# through the free examples. If the pivot is zero, the matrix becomes singular; :doc:`chapter 15 <15_the_path_of_c>`
# shows how the walk continues.
#
# .. shipped:: core/walk/walk.py
#    :object: Walk.advance Walk.direction Walk.reach Walk.rates Walk.distances Walk.move Walk.join Walk.leave
#
# .. shipped:: core/walk/walk.py
#    :fold: The whole walk
#
# .. shipped:: core/seeders/ato.py
#    :fold: ATO, the walk from one box to another
#
# .. shipped:: compiled/seeders/ato.py
#    :fold: The compiled twin of ATO
#
# .. worth:: 14
#
#    If only one :math:`C` is needed, a solve is faster than the walk.
#
# .. admonition:: Known elsewhere as
#
#    Following the optimum is *parametric quadratic programming*, a *homotopy* or a *solution path*. A method that
#    tracks the sets of bounded and free variables is an *active set method*. A corner is a *breakpoint* or *kink*; the
#    walk for the lasso is *LARS*. The weight of an example grows from 0 in *incremental* learning and shrinks in
#    *decremental* learning (Cauwenberghs and Poggio, 2000).
#
# Exercises
# ---------
#
# 1. ★★ Why does no event lie between two corners, and why is :math:`f` not a straight line between them?
# 2. ★★ Leave one example out with ``event``, not with ``exchange``. Which vectors of ``line`` change, and what is
#    :math:`t` at the end?
# 3. ★★★ Let ``event`` follow :math:`\nu` of novelty detection on the sixty points, from 0.2 to 0.5. Which numbers
#    change?
#
# .. fold:: Hints
#
# 1. What changes at an event? Which powers of :math:`t` does :math:`\alpha^\top G` contain?
# 2. The box of one variable closes while all other boxes stay. Set the side of this variable to ``CLOSED``.
# 3. ``DualProblem.one_class`` shows whether the box or the sum depends on :math:`\nu`.
#
# .. endfold::
#
# .. fold:: Answers

box, r = end.problem, int(np.argmax((end.alpha != 0) & (np.abs(end.alpha) < 20.0)))
now = {
    "alpha": end.alpha.copy(), "G": end.gradient.copy(), "b": end.intercept,
    "lower": box.lower.copy(), "upper": box.upper.copy(), "side": sets(end.alpha, box),
}  # fmt: skip
now["lower"][r] = now["upper"][r] = end.alpha[r]
now["side"][r] = CLOSED  # its G may have any value
rates = {"v": np.zeros(60), "lower": np.zeros(60), "upper": np.zeros(60), "z": 0.0}
rates["lower"][r] = rates["upper"][r] = -end.alpha[r]
t, events = 0.0, 0
while t < 1.0 and events < 1000:
    t, events = t + event(K, now, rates, 1.0 - t), events + 1
without = solve(box.without(r), stop=KKTGap(1e-12), shrinking=False)
print(
    f"2. example {r} out after {events} events: {np.abs(now['alpha'] - without.alpha).max():.0e} from a solution"
)

few, many = (
    solve(DualProblem.one_class(banana.X, kernel=kernel, nu=nu), stop=KKTGap(1e-12), shrinking=False)
    for nu in (0.2, 0.5)
)
now = {
    "alpha": few.alpha.copy(), "G": few.gradient.copy(), "b": few.intercept,
    "lower": few.problem.lower, "upper": few.problem.upper, "side": sets(few.alpha, few.problem),
}  # fmt: skip
rates = {"v": np.zeros(60), "lower": np.zeros(60), "upper": np.zeros(60), "z": 60.0}
nu, events = 0.2, 0
while nu < 0.5 and events < 1000:
    nu, events = nu + event(K, now, rates, 0.5 - nu), events + 1
print(f"3. {events} events: {np.abs(now['alpha'] - many.alpha).max():.0e} from a solution")

# %%
# 1. Each event is a corner, because an example changes sets there. With constant rates, :math:`\alpha` and :math:`G`
#    are linear in :math:`t`, and :math:`f=\tfrac12\alpha^\top(v+G)` is a product of two linear functions: a parabola.
# 2. Only the bounds of :math:`r` change: both go from :math:`\alpha_r` to 0 while :math:`t` goes from 0 to 1.
# 3. Only the sum :math:`z=\nu n` depends on :math:`\nu`; its rate is :math:`n`.
#
# .. endfold::
