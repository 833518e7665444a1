"""Compiled rounds in a given order: box, seed, steps and decision values of one round after another.

Twin of the readable rounds of `refsvm.resampling.sequence`. All kernel rows have to be in memory. The steps are those
of `refsvm.fast.loop.one_step`; nothing here needs Python, so that several threads may each run a sequence.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from refsvm.fast.dispatch import as_arguments, entry_point, pointer_to
from refsvm.fast.layout import CHECK, LENGTH, SELECT, STATE, STATE_WITH_SINGLE_ROWS
from refsvm.fast.loop import MISSING_ROW, STEP_TAKEN, one_step
from refsvm.fast.rounds import NOT_DONE, drifted, move_to_seed, restart
from refsvm.fast.seeders import complete
from refsvm.fast.seeding import SEED, SEEDING
from refsvm.fast.twin import cached, called, copied

__all__ = ["run_sequence"]

BOX, PLACE, SOURCE, BEFORE, AFTER, START = 0, 1, 2, 3, 4, 5
"""Columns of the plan."""

_vector, _matrix = types.Array(float64, 1, "C"), types.Array(float64, 2, "C")
_plan = types.Array(int64, 2, "C")
SEQUENCE, SEQUENCE_WITH_SINGLE_ROWS = (
    (
        types.FunctionType(SELECT), types.FunctionType(LENGTH), types.FunctionType(CHECK), types.FunctionType(SEED),
        _vector, _vector, _vector, _vector, SEEDING, state, _vector, _vector, _vector, _vector, _matrix, _matrix,
        _plan, _vector, _matrix, _matrix, _matrix, _matrix, _matrix, _matrix,
    )
    for state in (STATE, STATE_WITH_SINGLE_ROWS)
)  # fmt: skip
"""Arguments of `compiled_sequence`."""


@called
def as_the_neighbour(seeding, after, before, source, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.neighbour.as_the_neighbour`; without a source, `before` and `source` are `after`."""
    seed = seeding.seed
    for t in range(len(seed)):
        if seeding.lower[t] < seeding.upper[t] and lower[t] < upper[t]:
            # after + (source − before), without rounding where two of them are equal
            guess = after[t] + (source[t] - before[t])
            if source[t] == before[t]:
                guess = after[t]
            if after[t] == before[t]:
                guess = source[t]
            seed[t] = min(max(guess, seeding.lower[t]), seeding.upper[t])
    complete(seeding)


@called
def copy_solution(seeding, place, alphas, gradients, lowers, uppers):  # type: ignore[no-untyped-def]
    """Let a kept solution be the solved one."""
    for t in range(len(seeding.solved)):
        seeding.solved[t], seeding.gradient[t] = alphas[place, t], gradients[place, t]
        seeding.solved_lower[t], seeding.solved_upper[t] = lowers[place, t], uppers[place, t]


@called
def changed(first, second):  # type: ignore[no-untyped-def]
    """How many entries differ."""
    count = 0
    for t in range(len(first)):
        count += first[t] != second[t]
    return count


@called
def set_box(state, unit_lower, unit_upper, factors, penalty):  # type: ignore[no-untyped-def]
    """L and U of a round."""
    for t in range(len(factors)):
        size = factors[t] * penalty
        state.lower[t], state.upper[t] = 0.0, 0.0
        if size != 0.0:
            state.lower[t], state.upper[t] = unit_lower[t] * size, unit_upper[t] * size


@called
def set_unseeded(seeding, state, after):  # type: ignore[no-untyped-def]
    """Every α at its bound if there is a neighbour to follow; without one α = 0, G = v."""
    for t in range(len(state.alpha)):
        if after >= 0:
            seeding.seed[t] = state.lower[t] + state.upper[t]
        else:
            seeding.seed[t] = seeding.solved[t] = 0.0
            seeding.gradient[t] = seeding.v[t]


@called
def keep(state, place, alphas, gradients, lowers, uppers):  # type: ignore[no-untyped-def]
    """Keep the solution of a round."""
    for t in range(len(state.alpha)):
        alphas[place, t], gradients[place, t] = state.alpha[t], state.gradient[t]
        lowers[place, t], uppers[place, t] = state.lower[t], state.upper[t]


@called
def largest_size(values):  # type: ignore[no-untyped-def]
    """max |value|."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    return largest


@called
def decision_values(seeding, state, values):  # type: ignore[no-untyped-def]
    """h(xᵢ) = vᵢ − Gᵢ + b."""
    now, G = state.now[0], state.gradient
    b = (G[now.top] + G[now.bottom]) / 2.0
    for t in range(len(values)):
        values[t] = seeding.v[t] - G[t] + b


def compiled_sequence(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 (compiled code takes no objects)
    select, length, check, seed, seeder, selector, step, stop, seeding, state, memories, numbers,
    unit_lower, unit_upper, factors, starts, plan, penalties, alphas, gradients, lowers, uppers, results, values,
):  # fmt: skip
    """Run one round after another; return how many have converged before one that is left to Python.

    `numbers` is (the limit on steps, max |Kᵢᵢ|, the tolerance for drift, the curvature below which K is not convex). A
    row of `results` is (outcome, steps, least curvature met).
    """
    now = state.now[0]
    for turn in range(len(plan)):
        source, before, after = plan[turn, SOURCE], plan[turn, BEFORE], plan[turn, AFTER]
        set_box(state, unit_lower, unit_upper, factors[plan[turn, BOX]], penalties[turn])
        # --- seed ---
        results[turn, 0] = NOT_DONE
        if source >= 0:
            copy_solution(seeding, source, alphas, gradients, lowers, uppers)
            if plan[turn, START] >= 0:
                for t in range(len(seeding.seed)):
                    seeding.seed[t] = starts[plan[turn, START], t]
            elif seed(seeder, seeding) != 0:
                return turn
        else:
            set_unseeded(seeding, state, after)
        if after >= 0:
            old, new = (before, source) if min(before, source) >= 0 else (after, after)
            as_the_neighbour(seeding, alphas[after], alphas[old], alphas[new], lowers[after], uppers[after])
            if source < 0 or changed(seeding.seed, alphas[after]) < changed(seeding.seed, alphas[source]):
                copy_solution(seeding, after, alphas, gradients, lowers, uppers)
        # --- steps ---
        now.largest, now.end = largest_size(seeding.solved), int(numbers[0])
        updates = move_to_seed(seeding, state)
        restart(seeding, state, memories)
        outcome = STEP_TAKEN
        while outcome == STEP_TAKEN:
            outcome = one_step(select, length, check, selector, step, stop, state)
        # --- result ---
        results[turn, 1], results[turn, 2] = now.iteration, now.least_curvature
        bad = now.top < 0 or now.bottom < 0 or outcome == MISSING_ROW or now.least_curvature < numbers[3]
        if bad or drifted(state, updates, numbers[1], numbers[2]):
            return turn
        results[turn, 0] = outcome
        if outcome <= 0:
            return turn
        decision_values(seeding, state, values[turn])
        keep(state, plan[turn, PLACE], alphas, gradients, lowers, uppers)
    return len(plan)


def run_sequence(twins, parameters, arrays):  # type: ignore[no-untyped-def]
    """Run `compiled_sequence`, compiled once for all pointers and once for the default rules.

    Parameters
    ----------
    twins : (seed, select, length, check)
    parameters : four float64 vectors
    arrays : the other arguments of `compiled_sequence`
    """
    rules, state = as_arguments(*twins[1:]), arrays[1]
    if state.kernel.dtype == np.float32:
        run = entry_point(sequence_with_single_rows, SEQUENCE_WITH_SINGLE_ROWS, rules)
    else:
        run = entry_point(sequence, SEQUENCE, rules)
    return run(*rules, pointer_to(twins[0]), *parameters, *arrays)


sequence = cached(compiled_sequence, nogil=True)
sequence_with_single_rows = cached(copied(compiled_sequence, "sequence_with_single_rows"), nogil=True)
