"""The compiled loop: `refsvm.solver.steps` for the twins, a chunk of iterations at a time.

A generator like its readable twin: between two yields it runs compiled, and going on costs no more than a function
call. It never evaluates a kernel. Where a row is missing it yields, and goes on once `KernelRows` has the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, typeof
from numba.core.dispatcher import Dispatcher

from refsvm.fast.dispatch import as_argument, check_with, length_with, select_with, stamp
from refsvm.fast.layout import STEPS

__all__ = ["BUDGET_SPENT", "MISSING_ROW", "NO_PAIR", "NO_VARIABLE", "TRACE_FULL", "begin", "compiled_steps"]

BUDGET_SPENT, NO_PAIR, MISSING_ROW, TRACE_FULL, NO_VARIABLE, STEP_TAKEN, PAIR_CHOSEN = (
    0,
    -1,
    -2,
    -3,
    -4,
    -5,
    -6,
)
CHECKING, SELECTING, FETCHING = 0, 1, 2  # where the step in progress goes on
TAU = 1e-12  # refsvm.state.TAU, repeated because a constant of another file would go stale in the disk cache

LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)
RISES, FALLS = 1, 2  # refsvm.fast.layout, for the same reason
TILE = 512
"""Variables looked at before the running extremes are compared: few enough to stay in the innermost cache."""


@njit(forceinline=True, error_model="numpy", _nrt=False)
def order(x):  # type: ignore[no-untyped-def]
    """Return an integer that compares like the float x.

    The processor looks for the largest of several integers at once; for floats the compiler must go one by one, because
    of NaN. Adding 0 makes −0 and 0 one number.
    """
    bits = np.float64(x + 0.0).view(np.int64)
    return bits ^ ((bits >> np.int64(63)) & LARGEST)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def measure(state, i, j):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.measure`."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    # ℓ = Gᵢ − Gⱼ
    now.slope = state.gradient[i] - state.gradient[j]
    # q = Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ
    raw = state.diagonal[i] + state.diagonal[j] - 2.0 * state.kernel[state.slots[i], j]
    now.raw_curvature = raw
    now.least_curvature = min(now.least_curvature, raw)
    now.curvature = raw if raw > 0.0 else TAU
    # lo = max(Lᵢ − αᵢ, αⱼ − Uⱼ),  hi = min(Uᵢ − αᵢ, αⱼ − Lⱼ)
    now.low = max(lower[i] - alpha[i], alpha[j] - upper[j])
    now.high = min(upper[i] - alpha[i], alpha[j] - lower[j])


@njit(forceinline=True, error_model="numpy", _nrt=False)
def moved(value, change, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.moved`."""
    if change >= upper - value:
        return upper
    if change <= lower - value:
        return lower
    return min(max(value + change, lower), upper)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def side(value, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.fast.layout.sides_of` for one variable."""
    return np.int8((RISES if value < upper else 0) + (FALLS if value > lower else 0))


@njit(forceinline=True, error_model="numpy", _nrt=False)
def first_on(side, key, state, start, stop):  # type: ignore[no-untyped-def]
    """Return the lowest index from `start` on that is on this side and whose gradient has this order."""
    G, sides = state.gradient[start:stop], state.sides[start:stop]
    place = len(G)
    for t in range(len(G)):
        found = (order(G[t]) == key) & ((sides[t] & side) != 0)
        place = min(place, t if found else len(G))
    return start + place


@njit(forceinline=True, error_model="numpy", _nrt=False)
def update_gradient(state, i, j, mu):  # type: ignore[no-untyped-def]
    """G −= μ (K[i] − K[j]), and its extremes over I_up and I_down: twin of `refsvm.problem.most_violating_pair`."""
    now = state.now[0]
    top = bottom = -1
    highest, lowest = -LARGEST, LARGEST
    # a tile at a time: where an extreme stands is looked up in its tile alone, lowest index first
    for start in range(0, len(state.gradient), TILE):
        stop = min(start + TILE, len(state.gradient))
        G, sides = state.gradient[start:stop], state.sides[start:stop]
        row_i, row_j = state.kernel[state.slots[i], start:stop], state.kernel[state.slots[j], start:stop]
        high, low = -LARGEST, LARGEST
        for t in range(len(G)):
            g = G[t] - mu * (row_i[t] - row_j[t])
            G[t] = g
            key = order(g)
            rising = key if (sides[t] & RISES) != 0 else -LARGEST
            falling = key if (sides[t] & FALLS) != 0 else LARGEST
            high = rising if rising > high else high
            low = falling if falling < low else low
        if high > highest:
            highest, top = high, first_on(RISES, high, state, start, stop)
        if low < lowest:
            lowest, bottom = low, first_on(FALLS, low, state, start, stop)
    now.top, now.bottom = top, bottom
    now.gap = state.gradient[top] - state.gradient[bottom] if min(top, bottom) >= 0 else -np.inf


@njit(forceinline=True, error_model="numpy", _nrt=False)
def move(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.move`, with the most violating pair tracked in the same pass."""
    now, alpha, lower, upper = state.now[0], state.alpha, state.lower, state.upper
    before_i, before_j = alpha[i], alpha[j]
    # αᵢ += μ,  αⱼ −= μ; a variable that reaches its bound is set to it exactly
    alpha[i] = moved(before_i, mu, lower[i], upper[i])
    alpha[j] = moved(before_j, -mu, lower[j], upper[j])
    state.sides[i] = side(alpha[i], lower[i], upper[i])
    state.sides[j] = side(alpha[j], lower[j], upper[j])
    now.largest = max(now.largest, max(abs(alpha[i]), abs(alpha[j])))
    now.stalled = now.stalled + 1 if alpha[i] == before_i and alpha[j] == before_j else 0
    # G −= μ (K[i] − K[j])
    update_gradient(state, i, j, mu)
    # f += μℓ − ½μ²q
    now.objective += mu * now.slope - 0.5 * mu * mu * now.raw_curvature
    remember(state, i, j, mu)


@njit(forceinline=True, error_model="numpy", _nrt=False)
def remember(state, i, j, mu):  # type: ignore[no-untyped-def]
    """Push the finished step onto the history."""
    now = state.now[0]
    now.last_step, now.last_newton = mu, now.slope / now.curvature
    now.last_free = 1 if now.low < mu < now.high else 0
    now.last_planned = 1 if now.n_candidates > 0 else 0
    for h in range(len(state.curvatures) - 1, 0, -1):
        state.working_sets[h, 0] = state.working_sets[h - 1, 0]
        state.working_sets[h, 1] = state.working_sets[h - 1, 1]
        state.curvatures[h] = state.curvatures[h - 1]
    state.working_sets[0, 0], state.working_sets[0, 1] = i, j
    state.curvatures[0] = now.curvature
    now.iteration += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def record(state, i, j):  # type: ignore[no-untyped-def]
    """Write one row of the trace."""
    now, row = state.now[0], state.trace[state.now[0].traced]
    row.iteration, row.i, row.j = now.iteration, i, j
    row.step, row.newton = now.last_step, now.last_newton
    row.planned, row.free = now.last_planned, now.last_free
    row.objective, row.gap, row.rows = now.objective, now.gap, now.computed
    now.traced += 1


@njit(forceinline=True, error_model="numpy", _nrt=False)
def ask_for_row(state, i, stage):  # type: ignore[no-untyped-def]
    """Name the kernel row that has to be computed before the step can go on, at this stage."""
    now = state.now[0]
    if i >= len(state.alpha):
        return NO_VARIABLE
    now.missing, now.stage = i, stage
    return MISSING_ROW


@njit(forceinline=True, error_model="numpy", _nrt=False)
def choose(select, check, selector, stop, state):  # type: ignore[no-untyped-def]
    """Ask the stopping rule and the selector; return PAIR_CHOSEN (now.i, now.j), or the outcome that prevents it."""
    now = state.now[0]
    # --- stop, budget ---
    if now.stage == CHECKING:
        code = check_with(check, stop, state)
        if code != 0:
            return code if code > 0 else ask_for_row(state, -1 - code, CHECKING)
        if now.iteration >= now.end:
            return BUDGET_SPENT
    # --- select ---
    i, j = select_with(select, selector, state) if now.stalled < 2 else (-1, -1)
    if i < 0:
        return NO_PAIR
    if max(i, j) >= len(state.alpha):
        return NO_VARIABLE
    if j < 0:
        return ask_for_row(state, i, SELECTING)
    now.i, now.j = i, j
    # a stored row first, so that the other one does not take its place
    now.j_first, now.fetched = 1 if state.slots[i] < 0 else 0, 0
    return PAIR_CHOSEN


@njit(forceinline=True, error_model="numpy", _nrt=False)
def fetch(state):  # type: ignore[no-untyped-def]
    """Count the use of both kernel rows of the pair; return STEP_TAKEN, or MISSING_ROW. Called again, it goes on."""
    now = state.now[0]
    while now.fetched < 2:
        wanted = now.i if now.fetched == now.j_first else now.j
        now.fetched += 1
        if state.slots[wanted] < 0:
            return ask_for_row(state, wanted, FETCHING)  # whoever computes it counts it
        now.hits += 1
        now.clock += 1
        state.stamps[state.slots[wanted]] = now.clock
    return STEP_TAKEN


@njit(forceinline=True, error_model="numpy", _nrt=False)
def one_step(select, length, check, selector, step, stop, state):  # type: ignore[no-untyped-def]
    """Take one step and return STEP_TAKEN, or return the outcome for which it must wait or end.

    The outcomes are the code of the stopping rule (> 0), BUDGET_SPENT once ``now.end`` steps are taken, NO_PAIR,
    MISSING_ROW (``now.missing`` names it; call again once it is there), TRACE_FULL after a step, and NO_VARIABLE if a
    twin is wrong.

    After MISSING_ROW the step goes on at its stage. A rule that has answered is not asked again: the missing row may
    have replaced the one that it read. Whoever changes the state in between sets ``now.stage`` to CHECKING.
    """
    now = state.now[0]
    if now.stage != FETCHING:
        outcome = choose(select, check, selector, stop, state)
        now.stage = now.stage if outcome == MISSING_ROW else CHECKING
        if outcome != PAIR_CHOSEN:
            return outcome
    # --- step ---
    if fetch(state) == MISSING_ROW:
        return MISSING_ROW
    i, j, now.stage = now.i, now.j, CHECKING
    measure(state, i, j)
    now.n_candidates = 0
    mu = length_with(length, step, state, i, j)
    # --- update ---
    move(state, i, j, mu)
    if now.every > 0 and now.iteration % now.every == 0:
        record(state, i, j)
        if now.traced == len(state.trace):
            return TRACE_FULL
    return STEP_TAKEN


def compiled_steps(select, length, check, selector, step, stop, state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.solver.steps`: yield an outcome of `one_step` whenever Python is wanted.

    It returns once ``now.end`` is negative: a generator left unfinished would never release its arrays.
    """
    while state.now[0].end >= 0:
        outcome = one_step(select, length, check, selector, step, stop, state)
        if outcome != STEP_TAKEN:
            yield outcome


def begin(select, length, check, parameters, state):  # type: ignore[no-untyped-def]
    """Return a generator of `compiled_steps`, compiled once for all pointers and once for each built-in set.

    The entry point is called directly: finding it by the types of the arguments would take longer than many a solve.
    """
    arguments = (*as_argument((select, length, check)), *parameters, state)
    if not isinstance(loop, Dispatcher):  # NUMBA_DISABLE_JIT interprets the loop
        return loop(*arguments)
    key = tuple(type(rule) for rule in arguments[:3])
    if key not in entry_points:
        built_in = issubclass(key[0], tuple)
        signature = (*(typeof(rule) for rule in arguments[:3]), *STEPS[3:]) if built_in else STEPS
        loop.compile(signature)
        entry_points[key] = loop.overloads[signature].entry_point
    return entry_points[key](*arguments)


compiled_steps.__qualname__ = f"compiled_steps_{stamp()}"  # the name of its files in the disk cache
loop = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)(compiled_steps)
entry_points: dict[tuple[type, ...], Callable[..., Any]] = {}
