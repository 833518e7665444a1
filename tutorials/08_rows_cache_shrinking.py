r"""
8 · Rows, cache, shrinking
==========================

Three ideas make the loop fast: keep the kernel rows that are needed again, compute many rows at once, and leave out
variables that will not move. Keeping rows changes no step. With *shrinking*, the solver takes different steps but
reaches the same optimum: it solves smaller problems, each for some of the variables.
"""

# fold: Imports, the data, and the code of this figure
# alt: The left panel shows in how many steps each example took part: few examples in hundreds, most in a handful or
#     none. In the right panel the hit rate rises steeply with the rows that fit into memory, then stays flat.
import time

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from refsvm import RBF, DualProblem, KKTGap, NewtonStep, Precomputed, iterate, solve
from refsvm.datasets import load, make_banana, make_waveform

plt.rcParams.update(
    {"figure.constrained_layout.use": True, "axes.spines.top": False, "axes.spines.right": False}
)
NEGATIVE, POSITIVE, INK = "#0072B2", "#D55E00", "#222222"

data = make_banana(400, rng=0)
problem = DualProblem.classification(data.X, data.y, kernel=RBF(gamma=0.25), C=100.0)
trace = solve(problem, step=NewtonStep(), shrinking=False, trace=True).trace
moves = np.sort(np.bincount(np.concatenate([trace["i"], trace["j"]]), minlength=400))[::-1]
room = np.array([4, 8, 16, 32, 64, 128, 400])
computed = np.array([
    solve(problem, step=NewtonStep(), shrinking=False, cache_mb=(r + 0.5) * 8 * 400 / 2**20).kernel_rows
    for r in room
])  # fmt: skip
hits = 1.0 - computed / moves.sum()  # a step asks for two rows
busiest = (np.cumsum(moves) < moves.sum() / 2).sum() + 1
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
left.semilogy(moves[moves > 0], color=NEGATIVE, label="steps that an example took part in")
left.set(xlabel="examples, the busiest first", ylabel="steps")
left.legend(frameon=False)
right.semilogx(room, hits, "o-", color=POSITIVE, label="hit rate")
right.set_xticks(room, [str(r) for r in room])
right.minorticks_off()
right.set(xlabel="rows that fit into memory, of 400", ylabel="share of the rows found there", ylim=(0, 1))
right.legend(frameon=False, loc="lower right")
plt.show()
print(f"{(moves > 0).sum()} of 400 examples ever moved; half of all moves are those of {busiest}")
print("room    rows computed    hit rate")
for r, rows, share in zip(room, computed, hits, strict=True):
    print(f"{r:4d} {rows:16d} {share:11.1%}")

# %%
# The left panel shows how often each example moved in a solve. The right panel shows the *hit rate*, the share of the
# requested kernel rows that are already in memory, for memories of different sizes. A memory for 32 of the 400 rows
# saves nearly as much work as a memory for all rows.
#
# A row is the cost
# -----------------
#
# A step needs two rows of :math:`K`. A row of the Gaussian kernel takes :math:`n` inner products of :math:`d` numbers
# and :math:`n` exponentials; the rest of a step is a few passes over :math:`n` numbers. One product of two matrices
# computes a block of rows, and reads each example once. So a block is usually cheaper than its rows computed one by
# one. The next lines print the shortest time on one thread, for a row alone and in a block:

wave = make_waveform(2000, rng=0)
waves = DualProblem.classification(wave.X, wave.y, kernel=RBF(gamma=0.05), C=1.0)


def fastest(*works, turns=20):
    """Return the fewest seconds of each of the `works`."""
    clock = []
    for work in works * turns:
        began = time.perf_counter()
        work()
        clock.append(time.perf_counter() - began)
    return np.reshape(clock, (turns, -1)).min(axis=0)


row = waves.gram.block(np.array([0]))[0]
with threadpool_limits(1):
    one, many, update = 1e4 * fastest(  # µs for one of a hundred
        lambda: [waves.gram.block(np.array([i])) for i in range(100)],
        lambda: waves.gram.block(np.arange(100)),
        lambda: [np.subtract(row, row) for _ in range(100)],
    )
print(f"n = {wave.n}, d = {wave.d}: a row {one:.0f} µs alone, {many:.0f} µs in a block of 100;")
print(f"a pass over n numbers {update:.1f} µs")

# %%
# The next lines time one solve, and then the same steps when all kernel rows are known:

K = waves.gram.block(np.arange(wave.n))
known = DualProblem.classification(K, wave.y, kernel=Precomputed(), C=1.0)
run = solve(waves, step=NewtonStep(), shrinking=False, engine="numba")
with threadpool_limits(1):
    whole, steps_alone = 1e3 * fastest(
        lambda: solve(waves, step=NewtonStep(), shrinking=False, engine="numba"),
        lambda: solve(known, step=NewtonStep(), shrinking=False, engine="numba"),
        turns=5,
    )
print(
    f"{run.iterations} steps, {run.kernel_rows} rows: {whole:.0f} ms, of which {steps_alone:.0f} ms for the steps alone"
)

# %%
# A store keeps computed rows, up to a budget (``cache_mb``). When the store is full, it drops the least recently used
# row. This function finds the rows that have to be computed for a sequence of pairs:


def lru(pairs, room):
    """Yield for each pair the rows to compute and the rows in the store, least recently used first."""
    kept = []
    for pair in pairs:
        computed = []
        for t in pair:
            if t in kept:
                kept.remove(t)
            else:
                computed.append(t)
                kept = kept[1:] if len(kept) == room else kept
            kept.append(t)
        yield computed, kept.copy()


pairs = list(zip(trace["i"].tolist(), trace["j"].tolist(), strict=True))
for room in (4, 16):
    own = sum(len(computed) for computed, _ in lru(pairs, room))
    small = solve(problem, step=NewtonStep(), shrinking=False, cache_mb=(room + 0.5) * 8 * 400 / 2**20)
    print(f"room for {room:2d} rows: {own} computed; by the package {small.kernel_rows}")

# %%

# fold: The code of this figure
# alt: Over sixty steps with a store for eight rows, a line shows each row while it is kept, a cross where it is
#     computed, a dot where it is used again. Some dropped rows are computed anew.
begin, many, room = 300, 60, 8
window = list(lru(pairs, room))[begin : begin + many]
shown = sorted({t for _, kept in window for t in kept})
place = {t: k for k, t in enumerate(shown)}
figure, axes = plt.subplots(figsize=(6.4, 4.2))
for step, (computed, kept) in enumerate(window):
    axes.hlines([place[t] for t in kept], step - 0.5, step + 0.5, color="0.8", lw=3)
    again = [t for t in pairs[begin + step] if t not in computed]
    axes.plot([step] * len(again), [place[t] for t in again], ".", color=NEGATIVE, ms=6)
    axes.plot([step] * len(computed), [place[t] for t in computed], "x", color=POSITIVE, ms=6)
axes.plot([], [], color="0.8", lw=3, label="in the store")
axes.plot([], [], ".", color=NEGATIVE, label="used again")
axes.plot([], [], "x", color=POSITIVE, label="computed")
axes.set(xlabel=f"step, from {begin} on", ylabel="kernel row of an example", yticks=[])
figure.legend(loc="outside upper right", ncols=3, frameon=False)
plt.show()

# %%
# Variables that stay put
# -----------------------
#
# Many examples never move, and most other examples move early and then sit at a bound. A variable at its lower bound
# may only rise, and is in no violating pair while :math:`G_i<\min_{I_\text{down}}G`. A variable at its upper bound may
# only fall, and is in no violating pair while :math:`G_i>\max_{I_\text{up}}G`. The gradient thus shows which variables
# can be left out:
#
# .. shipped:: core/solver/active_sets.py
#    :object: distance_to_violation active_set
#
# In the third picture of the stepper, a variable that may only rise can be left out while its bar ends below the bars
# of all variables that may fall. With a small :math:`C`, most variables can soon be left out.
#
# .. stepper::
#    :selector: second-order
#    :C: 1
#
# The figure shows how the *active set*, the remaining variables, shrinks during a solve:

# fold: The code of this figure
# alt: Over the steps, the number of active variables falls fast in the left panel. In the right panel the number of
#     variables left out by mistake is small, and zero towards the end.
from refsvm.core.solver.active_sets import active_set

final, active, wrong = solve(problem, step=NewtonStep(), shrinking=False).alpha, [], []
for state in iterate(problem, step=NewtonStep()):
    out = np.ones(400, dtype=bool)
    out[active_set(state, 1)] = False
    active.append(400 - out.sum())
    wrong.append((out & (state.alpha != final)).sum())
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
left.plot(active, color=NEGATIVE, lw=1)
left.set(xlabel="steps", ylabel="active variables, of 400", ylim=(0, 410))
right.plot(np.convolve(wrong, np.ones(50) / 50, "valid"), color=POSITIVE, lw=1)
right.set(xlabel="steps", ylabel="left out, though they end elsewhere", title="mean of 50 steps")
plt.show()
last = np.flatnonzero(wrong)[-1] + 1
print(
    f"{len(active)} steps; after step {last} no variable is left out wrongly; at most {max(wrong)} are at once"
)

# %%
# A problem within the problem
# ----------------------------
#
# If all variables outside a set :math:`A` stay fixed, the best change :math:`\delta` of :math:`\alpha_A` solves the
# problem
#
# .. math::
#
#    \max_\delta\ G_A^\top\delta-\tfrac12\,\delta^\top K_{AA}\,\delta
#    \quad\text{where}\quad \mathbf 1^\top\delta=0,\quad L_A-\alpha_A\le\delta\le U_A-\alpha_A .
#
# The *restricted problem* is again a dual problem: it has a box and a sum constraint, :math:`G_A` is its linear term,
# and its kernel matrix is small. The same loop solves it. Afterwards the solver updates the whole gradient with the
# rows of the variables that moved,
#
# .. math:: G \leftarrow G-K_{\cdot A}\,\delta ,
#
# and looks for violating variables in the next *round*. This function shrinks:


def shrunk(problem, tol=1e-3, part=0.3):
    """Return α, and the size, steps, gain and number of moved variables of each restricted problem."""
    alpha, G = np.zeros(problem.n), problem.v.copy()
    sizes, steps, gains, moved = [], [], [], []
    K = problem.gram.block(np.arange(problem.n))
    while (gap := problem.kkt_gap(alpha, G)) > tol:
        up, down = alpha < problem.upper, alpha > problem.lower
        highest, lowest = G[up].max(), G[down].min()
        # the variables of violating pairs, and all free variables
        A = np.flatnonzero((up & (G > lowest)) | (down & (G < highest)) | (up & down))
        inner = DualProblem(
            problem.restrict(A).gram, G[A], 0.0, problem.lower[A] - alpha[A], problem.upper[A] - alpha[A]
        )
        run = solve(inner, step=NewtonStep(), stop=KKTGap(max(tol, part * gap)), shrinking=False)
        for bound, whole in ((inner.lower, problem.lower), (inner.upper, problem.upper)):
            run.alpha[run.alpha == bound] = (whole[A] - alpha[A])[run.alpha == bound]
        alpha[A] = np.clip(alpha[A] + run.alpha, problem.lower[A], problem.upper[A])
        G -= run.alpha @ K[A]
        sizes.append(len(A))
        steps.append(run.iterations)
        gains.append(run.objective)
        moved.append(np.count_nonzero(run.alpha))
    return alpha, sizes, steps, gains, moved


alpha, sizes, steps, gains, moved = shrunk(problem)
print("sizes of the restricted problems", sizes)
print("steps in each                   ", steps)
print("what each gains                 ", np.round(gains, 4))
assert min(gains) > 0.0
print(
    f"objective {problem.objective(alpha):.3f}, without shrinking {solve(problem, shrinking=False).objective:.3f}"
)

# %%
# LIBSVM shrinks in place: now and then it drops variables, and from then on updates only the gradient of the others.
# When the gap is within ten times its tolerance, and at the end, LIBSVM completes the gradient and checks all
# variables. LIBSVM stores what variables at :math:`C` contribute to the gradient, and updates this sum with the row of
# each variable that reaches or leaves :math:`C`. So completing the gradient needs only kernel values of the free
# variables. The table counts the entries of :math:`G` that steps update, and the kernel values from which the solver
# computes whole gradients:

# fold: Shrinking in place, as LIBSVM does it


def in_place(problem, tol=1e-3):
    """Return α, the number of active variables in each step, and the number of rows for whole gradients."""
    n, lower, upper = problem.n, problem.lower, problem.upper
    K, alpha, G, A = problem.gram.block(np.arange(n)), np.zeros(n), problem.v.copy(), np.arange(n)
    far, active, rows, restored = np.where(problem.v > 0.0, upper, lower), [], 0, False
    while True:
        up, down = alpha < upper, alpha > lower
        highest, lowest = G[A][up[A]].max(), G[A][down[A]].min()
        ends, due = highest - lowest <= tol, active and len(active) % min(n, 1000) == 0
        if ends and len(A) == n:
            return alpha, active, rows
        if ends or (due and not restored and highest - lowest <= 10 * tol):
            rows += np.count_nonzero(up & down)  # the kept part lacks only the free variables
            A, G, restored = np.arange(n), problem.v - K @ alpha, restored or not ends
        if ends:
            continue
        if due:
            A = A[(up & down | up & (G >= lowest) | down & (G <= highest))[A]]
        up, down = A[up[A]], A[down[A]]
        i = up[G[up].argmax()]
        slope, q = G[i] - G[down], np.maximum(K[i, i] + K.diagonal()[down] - 2.0 * K[i, down], 1e-12)
        j = down[np.where(slope > 0.0, slope**2 / q, -np.inf).argmax()]
        q = max(K[i, i] + K[j, j] - 2.0 * K[i, j], 1e-12)
        mu = min((G[i] - G[j]) / q, upper[i] - alpha[i], alpha[j] - lower[j])
        at_C = alpha == far
        alpha[i] = upper[i] if mu == upper[i] - alpha[i] else alpha[i] + mu
        alpha[j] = lower[j] if mu == alpha[j] - lower[j] else alpha[j] - mu
        G[A] -= mu * (K[i, A] - K[j, A])
        rows += np.count_nonzero(at_C != (alpha == far))  # for the kept part
        active.append(len(A))


plain = solve(problem, step=NewtonStep(), shrinking=False)
_, dropped, rebuilt = in_place(problem)
rounds = np.repeat(sizes, steps)
print("                steps   numbers in steps   in whole gradients      all")
for name, active, rows in (
    ("all variables", np.full(plain.iterations, problem.n), 0), ("in place", dropped, rebuilt),
    ("restricted", rounds, sum(moved)),
):  # fmt: skip
    whole = rows * problem.n
    print(f"{name:14s} {len(active):6d} {sum(active):18d} {whole:20d} {sum(active) + whole:8d}")

# %%

# fold: The code of this figure
# alt: The number of active variables over the steps is a flat line without shrinking, and falls in stairs with
#     shrinking in place and with restricted problems.
figure, axes = plt.subplots(figsize=(6.4, 3.4))
axes.axhline(problem.n, color="0.7", lw=1, ls=":", label="all variables")
axes.plot(dropped, color=NEGATIVE, label="in place, as LIBSVM")
axes.plot(rounds, color=POSITIVE, label="restricted problems")
axes.set(xlabel="steps", ylabel="active variables, of 400", ylim=(0, 420))
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()

# %%
# With shrinking in place, whole gradients take about a fifth of all these numbers; with restricted problems, about a
# third.
#
# Why is a restriction safe? The stopping rule checks all variables, with their exact gradient. If a variable was left
# out wrongly, a later round includes it: the most violating pair of the whole problem is always in :math:`A`, so every
# round takes a step, and :math:`f` rises. :doc:`Chapter 9 <09_does_it_end>` proves that the rounds end.
#
# Shrinking in the package
# ------------------------
#
# By default, the package shrinks with restricted problems, which may be restricted again. The solver begins with steps
# on all variables, because the early gradient does not show which variables can be left out. If the kernel computes
# rows much faster in batches than one by one, the solver begins with *blocks*: a block holds the free variables and the
# most violating bounded variables, and large matrix products compute its kernel rows.
#
# .. shipped:: core/solver/shrinking.py
#    :object: Restriction restricted displaced
#    :fold: Restriction, and how a problem is restricted
#
# ``solve`` calls ``steps`` until the solve ends. While blocks save time, each call of ``steps`` solves a block to a
# loose tolerance. Later calls solve the problem restricted to the active set, or take a number of steps on all
# variables.
#
# A restriction pays (``_pays``) if the active set is small and its steps save more work than copying its kernel rows
# costs; ``_pays`` assumes as many steps as the last call took. ``displaced`` returns the problem whose variable is
# :math:`\delta` and whose linear term is ``G``.
#
# .. shipped:: core/solver/active_sets.py
#    :object: block
#    :fold: Which variables make a block
#
# .. shipped:: core/solver/shrinking.py
#    :fold: The whole file
#
# .. shipped:: core/state.py
#    :object: SolverState.shift SolverState.refresh
#    :fold: How the state moves by any δ
#
# .. shipped:: core/guards/rounding.py
#    :object: drifted
#    :fold: When G is computed from scratch
#
# With shrinking, a solve reaches the same objective as without, within the tolerance:

print(f"{'':14s}{'steps':>8s}{'with shrinking':>16s}   objectives")
for name, sample, gamma, C in (
    ("banana", data, 0.25, 100.0),
    ("tic_tac_toe", load("tic_tac_toe"), 0.02, 200.0),
    ("waveform", wave, 0.05, 1.0),
):
    each = DualProblem.classification(sample.X, sample.y, kernel=RBF(gamma), C=C)
    plain, shrinking = (solve(each, shrinking=option) for option in (False, True))
    print(
        f"{name:14s}{plain.iterations:8d}{shrinking.iterations:16d}   {plain.objective:.4f}, {shrinking.objective:.4f}"
    )

# %%
# .. worth:: 8
#
#    A small store loses time if it drops rows before they are needed again, as on ionosphere. On most sets of this size
#    shrinking gains little: it computes rows that no step needs.
#
# .. admonition:: Known elsewhere as
#
#    The store is a *kernel cache* with *least recently used* replacement, LRU. *Shrinking* (Joachims, 1999) is also
#    called the *active set heuristic*. Solving for some variables while all others stay fixed is *decomposition* or
#    *block coordinate ascent*; *chunking* is the oldest such method.
#
# Exercises
# ---------
#
# 1. ★ Solve the restricted problems of ``shrunk`` roughly (``part=0.9``), then exactly (``part=0``). How do the numbers
#    of rounds and steps change?
# 2. ★ Show that the gradient of the restricted problem at :math:`\delta=0` is :math:`G_A`.
# 3. ★★ Why would it be wrong to leave out *free* variables?
#
# .. fold:: Hints
#
# 1. With ``part=0``, at which gap does ``shrunk`` stop solving the first problem?
# 2. Differentiate the objective of the restricted problem, then set :math:`\delta=0`.
# 3. In which directions may a free variable move, and with which partners?
#
# .. endfold::
#
# .. fold:: Answers

for part in (0.9, 0.3, 0.0):
    _, sizes, steps, *_ = shrunk(problem, part=part)
    print(
        f"1. part={part}: {len(sizes)} rounds, {sum(steps)} steps, {sum(np.multiply(sizes, steps))} variables touched"
    )

# %%
# 1. Rough solving takes many rounds, and each round updates the whole gradient. With ``part=0``, ``shrunk`` solves the
#    first problem, which contains all variables, to the end, so it leaves no variable out.
# 2. The gradient is :math:`G_A-K_{AA}\delta`, and :math:`K_{AA}\delta=0` at :math:`\delta=0`.
# 3. A free variable may rise and fall, so it can make a pair with any other variable. At the optimum the free variables
#    determine :math:`b`.
#
# .. endfold::
