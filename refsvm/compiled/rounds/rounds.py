"""Compiled rounds: for each round in turn, sets the box, makes the seed, takes steps and computes decision values.

This module is the twin of the rounds in `refsvm.core.rounds.runner`. All kernel rows must be in memory.
`refsvm.compiled.solver.loop.one_step` takes the steps. This code uses no Python objects, so that several threads may
each run a chunk of rounds.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from refsvm.compiled.interface.dispatch import as_arguments, entry_point, pointer_to
from refsvm.compiled.interface.layout import CHECK, LENGTH, SELECT, STATE, STATE_WITH_SINGLE_ROWS
from refsvm.compiled.interface.seeding import SEED, SEEDING
from refsvm.compiled.interface.twin import cached, called, copied, inlined
from refsvm.compiled.kernels.rows import add_rows
from refsvm.compiled.seeders.spread import complete, total
from refsvm.compiled.solver.loop import MISSING_ROW, take_steps
from refsvm.compiled.state import copy_vector, most_violating_pair, restart
from refsvm.compiled.stopping.midpoint import sign_at
from refsvm.core.guards.rounding import NEAR, TINY

NOT_DONE = -9
"""Outcome of a round that is left to Python, because rounding may have spoiled its G or it has no intercept."""

WHOLE, SEEDS, STEPS = 0, 1, 2
"""Parts of a round to run: the whole round; only its seed, which is written to `starts`; or the rest after the seed."""

OUT, OUT_END, ASKED, ASKED_END, WEIGHTS, ORIGIN, KEEP, BEFORE, AFTER = range(9)
"""Columns of the plan: ranges of `positions`, the row of the weights, and positions of kept solutions; −1 for none."""

LIMIT, LARGEST_DIAGONAL, TOLERANCE, IS_RELATIVE, LEAST_CURVATURE, NAMES_EXAMPLE, PROVES, STAGE = range(8)
"""Positions in `numbers`: the largest number of steps of a round; max |Kᵢᵢ|; the tolerance with which drift is
compared; whether this tolerance is relative (the memory of the stopping rule then ends with the absolute tolerance);
the curvature below which K counts as indefinite; whether the memory of the stopping rule begins with the left-out
example; the highest outcome after which a sign is to be proved; and WHOLE, SEEDS or STEPS."""

EPS = float(np.finfo(np.float64).eps)

_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")
_indices, _table = types.Array(int64, 1, "C"), types.Array(int64, 2, "C")
ROUNDS, ROUNDS_WITH_SINGLE_ROWS = (
    (
        types.FunctionType(SELECT), types.FunctionType(LENGTH), types.FunctionType(CHECK), types.FunctionType(SEED),
        _vector, _vector, _vector, _vector, SEEDING, state, _vector, _vector, _vector, _vector,
        _matrix, _matrix, _matrix, _matrix, _table, _vector, _indices, _matrix, _matrix, _matrix, _vector,
    )
    for state in (STATE, STATE_WITH_SINGLE_ROWS)
)  # fmt: skip
"""Arguments of `compiled_rounds`."""


@called
def set_box(lower, upper, unit_lower, unit_upper, penalty, weights, row):  # type: ignore[no-untyped-def]
    """Set L and U of a round before examples are left out; `row` is the row of `weights` for the round, or −1."""
    for t in range(len(lower)):
        lower[t], upper[t] = unit_lower[t] * penalty, unit_upper[t] * penalty
    if row < 0:
        return
    for t in range(len(lower)):
        size = weights[row, t] * penalty
        lower[t], upper[t] = 0.0, 0.0
        if size != 0.0:  # 0 times ∞ would be NaN
            lower[t], upper[t] = unit_lower[t] * size, unit_upper[t] * size


@inlined
def leave_out(lower, upper, positions, first, end):  # type: ignore[no-untyped-def]
    """Set L = U = 0 for the examples to leave out."""
    for k in range(first, end):
        lower[positions[k]] = upper[positions[k]] = 0.0


@called
def copy_solution(seeding, place, alphas, gradients, lowers, uppers):  # type: ignore[no-untyped-def]
    """Copy a kept solution to `seeding`, where it is the solved problem, and return max |α|."""
    largest = 0.0
    for t in range(len(seeding.solved)):
        seeding.solved[t], seeding.gradient[t] = alphas[place, t], gradients[place, t]
        seeding.solved_lower[t], seeding.solved_upper[t] = lowers[place, t], uppers[place, t]
        largest = max(largest, abs(seeding.solved[t]))
    return largest


@called
def set_unseeded(seeding, state, after):  # type: ignore[no-untyped-def]
    """Set the seed to 0 and its G to v; if `after` ≥ 0, set only the seed, to L + U (L = 0 or U = 0)."""
    for t in range(len(state.alpha)):
        if after >= 0:
            seeding.seed[t] = state.lower[t] + state.upper[t]
        else:
            seeding.seed[t] = seeding.solved[t] = 0.0
            seeding.gradient[t] = seeding.v[t]


@called
def extrapolate(seeding, after, before, source, lower, upper):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.seeders.neighbour.extrapolate`.

    If no solutions `before` and `source` exist, the caller passes `after` in their place.
    """
    seed = seeding.seed
    for t in range(len(seed)):
        if seeding.lower[t] < seeding.upper[t] and lower[t] < upper[t]:
            # guess = after + (source − before), computed without rounding error if `before` equals `source` or `after`
            guess = after[t] + (source[t] - before[t])
            if source[t] == before[t]:
                guess = after[t]
            if after[t] == before[t]:
                guess = source[t]
            seed[t] = min(max(guess, seeding.lower[t]), seeding.upper[t])
    complete(seeding)


@called
def changed(first, second):  # type: ignore[no-untyped-def]
    """Return how many entries of two vectors differ."""
    count = 0
    for t in range(len(first)):
        count += first[t] != second[t]
    return count


@inlined
def move_to_seed(seeding, state):  # type: ignore[no-untyped-def]
    """Set α ← seed and G ← G* − K(α − α*), row by row in the order of the variables; return the number of rows used."""
    alpha, G, solved, slots = state.alpha, state.gradient, seeding.solved, state.slots
    # reuse the seeder's scratch memory for the list of changes of α
    moved, changes, count = state.scratch, seeding.scratch, 0
    for i in range(len(alpha)):
        alpha[i], G[i] = seeding.seed[i], seeding.gradient[i]
        if alpha[i] != solved[i]:
            moved[count], changes[count] = slots[i], solved[i] - alpha[i]
            count += 1
    add_rows(G, changes, state.kernel, moved, count)
    return count


@called
def drifted(state, largest_diagonal, tolerance):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.guards.rounding.drifted`."""
    now, size = state.now[0], 0.0
    for g in state.gradient:
        size = max(size, abs(g))
    size += now.largest * largest_diagonal
    return EPS * (now.updates + now.iteration) * size > 0.01 * max(abs(now.gap), tolerance)


@called
def snap(state, z, largest_diagonal, tolerance):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.guards.rounding.snap`; return True if I_up and I_down are still not empty."""
    if state.now[0].gap > tolerance:
        return True
    alpha, lower, upper, count = state.alpha, state.lower, state.upper, 0
    for t in range(len(alpha)):
        distance = min(alpha[t] - lower[t], upper[t] - alpha[t])
        count += (distance > 0.0) & (distance <= NEAR * (upper[t] - lower[t]))
    if count == 0:
        return True
    size = 0.0
    for value in alpha:
        size += abs(value)
    rounding = abs(z - total(alpha)) + 4.0 * EPS * (size + abs(z))
    allowed = 0.01 * max(abs(state.now[0].gap), tolerance) / max(largest_diagonal, TINY)
    for t in range(len(alpha)):
        above, below = alpha[t] - lower[t], upper[t] - alpha[t]
        distance = min(above, below)
        if distance > 0.0 and distance <= NEAR * (upper[t] - lower[t]) and distance <= min(rounding, allowed):
            alpha[t] = lower[t] if above < below else upper[t]
    most_violating_pair(state)
    return min(state.now[0].top, state.now[0].bottom) >= 0


@inlined
def compared_with(state, numbers):  # type: ignore[no-untyped-def]
    """Return the stopping rule's absolute tolerance, as `refsvm.StoppingRule.with_absolute_tolerance` computes it."""
    if numbers[IS_RELATIVE] == 0.0 or state.now[0].gap > numbers[TOLERANCE]:
        return numbers[TOLERANCE]
    return state.stop_memory[-1]


@called
def follow(seeding, stage, origin, before, after, alphas, lowers, uppers):  # type: ignore[no-untyped-def]
    """Shift the seed by the change of the solution between two neighbouring rounds.

    Return True if computing G of the seed takes fewer kernel rows from the neighbour's solution than from `origin`.
    """
    if stage != STEPS:
        old, new = (before, origin) if min(before, origin) >= 0 else (after, after)
        extrapolate(seeding, alphas[after], alphas[old], alphas[new], lowers[after], uppers[after])
    return origin < 0 or changed(seeding.seed, alphas[after]) < changed(seeding.seed, alphas[origin])


@called
def keep(state, place, alphas, gradients, lowers, uppers):  # type: ignore[no-untyped-def]
    """Copy the solution of a round to position `place` of the tables."""
    for t in range(len(state.alpha)):
        alphas[place, t], gradients[place, t] = state.alpha[t], state.gradient[t]
        lowers[place, t], uppers[place, t] = state.lower[t], state.upper[t]


@inlined
def decision_values(v, state, positions, first, end, values):  # type: ignore[no-untyped-def]
    """Write h(xᵢ) = vᵢ − Gᵢ + b for the requested examples."""
    G, now = state.gradient, state.now[0]
    b = (G[now.top] + G[now.bottom]) / 2.0
    for k in range(first, end):
        values[k] = v[positions[k]] - G[positions[k]] + b


@inlined
def is_valid(seeding, state, numbers, outcome, result):  # type: ignore[no-untyped-def]
    """Move each α near a bound to the bound, write the outcome to `result`, and return whether the result is valid.

    The result is not valid if a kernel row is missing, I_up or I_down is empty, the kernel is indefinite, a number is
    not finite, or rounding errors have moved G too far. Python examines an invalid round, and may run it again.
    """
    now, tolerance = state.now[0], compared_with(state, numbers)
    result[1], result[2] = now.iteration, now.least_curvature
    size = now.objective
    for g in state.gradient:
        size += g
    if not np.isfinite(size):
        return False
    if (
        outcome == MISSING_ROW
        or min(now.top, now.bottom) < 0
        or now.least_curvature < numbers[LEAST_CURVATURE]
    ):
        return False
    if drifted(state, numbers[LARGEST_DIAGONAL], tolerance):
        return False
    if not snap(state, seeding.z, numbers[LARGEST_DIAGONAL], tolerance):
        return False
    result[0] = outcome
    return True


def compiled_rounds(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 (compiled code takes no objects)
    select, length, check, seed, seeder, selector, step, stop, seeding, state, memories, numbers,
    unit_lower, unit_upper, alphas, gradients, lowers, uppers, plan, penalties, positions, weights, starts, results,
    values,
):  # fmt: skip
    """Run one round after another until Python must run a round; return the number of finished rounds.

    `memories` holds the initial memory of the selector, the step rule and the stopping rule. A row of `results` is
    (outcome, steps, least curvature, proved sign); `values` has a number for each entry of `positions`.
    """
    now, stage, present, largest = state.now[0], int(numbers[STAGE]), -1, 0.0
    for number in range(len(plan)):
        turn, results[number, 0] = plan[number], NOT_DONE
        origin, after = turn[ORIGIN], turn[AFTER]
        # --- box ---
        set_box(state.lower, state.upper, unit_lower, unit_upper, penalties[number], weights, turn[WEIGHTS])
        leave_out(state.lower, state.upper, positions, turn[OUT], turn[OUT_END])
        # --- seed ---
        if origin < 0:
            set_unseeded(seeding, state, after)
            present, largest = -1, 0.0
        elif origin != present:  # copy a solution only if the last seed started from another solution
            largest, present = copy_solution(seeding, origin, alphas, gradients, lowers, uppers), origin
        if stage == STEPS:
            copy_vector(starts[number], seeding.seed)
        elif origin >= 0 and seed(seeder, seeding) != 0:
            return number
        if after >= 0 and follow(seeding, stage, origin, turn[BEFORE], after, alphas, lowers, uppers):
            largest, present = copy_solution(seeding, after, alphas, gradients, lowers, uppers), after
        # in the stage SEEDS only compute the seed, so that the caller can measure the seconds that seeds take
        if stage == SEEDS:
            copy_vector(seeding.seed, starts[number])
            continue
        # --- steps ---
        if numbers[NAMES_EXAMPLE] != 0.0:
            memories[len(memories) - len(state.stop_memory)] = positions[turn[OUT]]
        now.largest, now.end = largest, int(numbers[LIMIT])
        now.updates = move_to_seed(seeding, state)
        restart(seeding.v, state, memories)
        outcome = take_steps(select, length, check, selector, step, stop, state)
        # --- result ---
        if not is_valid(seeding, state, numbers, outcome, results[number]) or outcome <= 0:
            return number
        if outcome <= numbers[PROVES]:
            results[number, 3] = sign_at(state, seeding.v, positions[turn[OUT]])
        decision_values(seeding.v, state, positions, turn[ASKED], turn[ASKED_END], values)
        if turn[KEEP] >= 0:
            keep(state, turn[KEEP], alphas, gradients, lowers, uppers)
            present = -1 if turn[KEEP] == present else present
    return len(plan)


def run_rounds(twins, parameters, arrays):  # type: ignore[no-untyped-def]
    """Call `compiled_rounds` in its version for rules passed as pointers, or in its version for the default rules.

    Parameters
    ----------
    twins : (seed, select, length, check)
    parameters : four float64 vectors
    arrays : the other arguments of `compiled_rounds`
    """
    rules, state = as_arguments(*twins[1:]), arrays[1]
    if state.kernel.dtype == np.float32:
        run = entry_point(rounds_with_single_rows, ROUNDS_WITH_SINGLE_ROWS, rules)
    else:
        run = entry_point(rounds, ROUNDS, rules)
    return run(*rules, pointer_to(twins[0]), *parameters, *arrays)


rounds = cached(compiled_rounds, nogil=True)
rounds_with_single_rows = cached(copied(compiled_rounds, "rounds_with_single_rows"), nogil=True)
