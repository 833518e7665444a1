"""Compiled leave-one-out rounds: seed, solve, read off the decision value, for one left-out example after another.

Twin of `refsvm.resampling.leave_one_out`'s readable rounds, which are `Rounds.solve` from the full solution. All kernel
rows have to be in memory. The steps are those of `refsvm.fast.loop.one_step`; nothing here needs Python, so that
several threads may each run a chunk of rounds.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from refsvm.fast.dispatch import as_arguments, entry_point, pointer_to
from refsvm.fast.extremes import LARGEST, sortable_bits
from refsvm.fast.layout import CHECK, FALLS, LENGTH, RISES, SELECT, STATE
from refsvm.fast.loop import MISSING_ROW, STEP_TAKEN, one_step
from refsvm.fast.seeding import SEED, SEEDING
from refsvm.fast.state import side
from refsvm.fast.twin import cached, called, inlined

__all__ = ["NOT_DONE", "run_rounds"]

NOT_DONE = -9
"""Outcome of a round that is left to Python: rounding may have spoiled its gradient, or it has no intercept."""

EPS = float(np.finfo(np.float64).eps)

_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")
_indices = types.Array(int64, 1, "C")
ROUNDS = (
    types.FunctionType(SELECT), types.FunctionType(LENGTH), types.FunctionType(CHECK), types.FunctionType(SEED),
    _vector, _vector, _vector, _vector, SEEDING, STATE, _vector, _vector, _indices, _matrix,
)  # fmt: skip
"""Arguments of `compiled_rounds`."""


@inlined
def move_to_seed(seeding, state):  # type: ignore[no-untyped-def]
    """α ← seed, G ← G* − K(α − α*), row by row in the order of the variables; return how many rows that took."""
    alpha, G, solved, kernel, slots = state.alpha, state.gradient, seeding.solved, state.kernel, state.slots
    moved, count = state.scratch, 0
    for i in range(len(alpha)):
        alpha[i], G[i] = seeding.seed[i], seeding.gradient[i]
        if alpha[i] != solved[i]:
            moved[count] = i
            count += 1
    full = count - count % 4
    for k in range(0, full, 4):
        w, x, y, z = int(moved[k]), int(moved[k + 1]), int(moved[k + 2]), int(moved[k + 3])
        first, second, third, fourth = kernel[slots[w]], kernel[slots[x]], kernel[slots[y]], kernel[slots[z]]
        a, b, c, d = alpha[w] - solved[w], alpha[x] - solved[x], alpha[y] - solved[y], alpha[z] - solved[z]
        for t in range(len(G)):
            G[t] = (((G[t] - a * first[t]) - b * second[t]) - c * third[t]) - d * fourth[t]
    for k in range(full, count):
        w = int(moved[k])
        row, a = kernel[slots[w]], alpha[w] - solved[w]
        for t in range(len(G)):
            G[t] -= a * row[t]
    return count


@called
def most_violating_pair(state):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.problem.most_violating_pair`; sets the sides too."""
    now, alpha, G, lower, upper = state.now[0], state.alpha, state.gradient, state.lower, state.upper
    top = bottom = -1
    highest, lowest = -LARGEST, LARGEST
    for t in range(len(alpha)):
        state.sides[t] = side(alpha[t], lower[t], upper[t])
        key = sortable_bits(G[t])
        if (state.sides[t] & RISES) != 0 and key > highest:
            highest, top = key, t
        if (state.sides[t] & FALLS) != 0 and key < lowest:
            lowest, bottom = key, t
    now.top, now.bottom = top, bottom
    now.gap = G[top] - G[bottom] if min(top, bottom) >= 0 else -np.inf


@called
def restart(seeding, state, memories):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.restart`."""
    now = state.now[0]
    for h in range(len(state.working_sets)):
        state.working_sets[h, 0] = state.working_sets[h, 1] = state.candidates[h, 0] = state.candidates[
            h, 1
        ] = -1
    now.iteration = now.last_free = now.last_planned = now.n_candidates = now.stalled = now.stage = 0
    now.slope = now.curvature = now.raw_curvature = now.low = now.high = now.last_step = now.last_newton = 0.0
    now.least_curvature = np.inf
    at = 0
    for memory in (state.selector_memory, state.step_memory, state.stop_memory):
        for t in range(len(memory)):
            memory[t] = memories[at + t]
        at += len(memory)
    # f = ½ αᵀ(v + G)
    objective = 0.0
    for t in range(len(state.alpha)):
        objective += state.alpha[t] * (seeding.v[t] + state.gradient[t])
        now.largest = max(now.largest, abs(state.alpha[t]))
    now.objective = 0.5 * objective
    most_violating_pair(state)


@called
def drifted(state, updates, largest_diagonal, tolerance):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.drifted`."""
    now, size = state.now[0], 0.0
    for g in state.gradient:
        size = max(size, abs(g))
    size += now.largest * largest_diagonal
    return EPS * (updates + now.iteration) * size > 0.01 * max(abs(now.gap), tolerance)


@called
def decision_value(seeding, state, r):  # type: ignore[no-untyped-def]
    """h(xᵣ) = vᵣ − Gᵣ + b."""
    now, G = state.now[0], state.gradient
    return seeding.v[r] - G[r] + (G[now.top] + G[now.bottom]) / 2.0


def compiled_rounds(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 (compiled code takes no objects)
    select,
    length,
    check,
    seed,
    seeder,
    selector,
    step,
    stop,
    seeding,
    state,
    memories,
    numbers,
    examples,
    results,
):
    """Leave out one example after another.

    `memories` are those that the selector, the step and the stopping rule begin with; `numbers` is (whether the first
    number of the stopping rule's is the example, the limit on steps, max |α*|, max |Kᵢᵢ|, the tolerance for drift).
    A row of `results` is (outcome, decision value, steps, least curvature met).
    """
    now, n = state.now[0], len(state.alpha)
    at = len(memories) - len(state.stop_memory)
    for place in range(len(examples)):
        r = examples[place]
        low, high = state.lower[r], state.upper[r]
        state.lower[r] = state.upper[r] = 0.0
        outcome = NOT_DONE
        if seed(seeder, seeding) == 0:
            if numbers[0] != 0.0:
                memories[at] = r
            now.largest, now.end = numbers[2], int(numbers[1])
            updates = move_to_seed(seeding, state)
            restart(seeding, state, memories)
            outcome = STEP_TAKEN
            while outcome == STEP_TAKEN:
                outcome = one_step(select, length, check, selector, step, stop, state)
            bad = now.top < 0 or now.bottom < 0 or outcome == MISSING_ROW
            if bad or drifted(state, updates, numbers[3], numbers[4]):
                outcome = NOT_DONE
            else:
                results[place, 1] = decision_value(seeding, state, r)
            results[place, 2], results[place, 3] = now.iteration, now.least_curvature
        results[place, 0] = outcome
        state.lower[r], state.upper[r] = low, high
    return n


def run_rounds(twins, parameters, arrays):  # type: ignore[no-untyped-def]
    """Run `compiled_rounds`, compiled once for all pointers and once for the default rules.

    Parameters
    ----------
    twins : (seed, select, length, check)
    parameters : four float64 vectors
    arrays : the other arguments of `compiled_rounds`
    """
    rules = as_arguments(*twins[1:])
    return entry_point(rounds, ROUNDS, rules)(*rules, pointer_to(twins[0]), *parameters, *arrays)


rounds = cached(compiled_rounds, nogil=True)
