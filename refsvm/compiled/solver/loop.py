"""The compiled loop, the twin of `refsvm.core.solver.loop.steps`: runs a chunk of iterations at a time.

The loop computes and stores a missing row itself if it can (`refsvm.compiled.kernels.cached_rows`). If it cannot, the
loop returns to Python, and continues when `KernelRows` has computed the row. The readable loop is a generator, but
`compiled_steps` is not: a generator would hold the state's arrays twice, and take three seconds longer to compile.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from refsvm.compiled.interface.dispatch import are_pointers, as_arguments, call, entry_point
from refsvm.compiled.interface.layout import STEPS, STEPS_WITH_SINGLE_ROWS
from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import cached, copied, inlined
from refsvm.compiled.kernels.cached_rows import store_row
from refsvm.compiled.state import find_support, measure, move_by, side, write_displacement

BUDGET_SPENT, NO_PAIR, MISSING_ROW, TRACE_FULL, NO_VARIABLE = 0, -1, -2, -3, -4
STEP_TAKEN, PAIR_CHOSEN = -5, -6
CHECKING, SELECTING, FETCHING, ENTERING = 0, 1, 2, 3  # stages at which the loop may continue a step


@inlined
def record(state, i, j):  # type: ignore[no-untyped-def]
    """Write one row of the trace."""
    now, row = state.now[0], state.trace[state.now[0].traced]
    row.iteration, row.i, row.j = now.iteration, i, j
    row.step, row.newton = now.last_step, now.last_newton
    row.planned, row.free, row.moved = now.last_planned, now.last_free, now.last_moved
    row.objective, row.gap, row.rows = now.objective, now.gap, now.computed
    now.traced += 1


@inlined
def wait_for_row(state, stage):  # type: ignore[no-untyped-def]
    """Set the stage at which the step continues when the requested row is in memory, and return MISSING_ROW."""
    state.now[0].stage = stage
    return MISSING_ROW


@inlined
def choose(select, check, selector, stop, state):  # type: ignore[no-untyped-def]
    """Call the stopping rule and the selector; return PAIR_CHOSEN (pair now.i, now.j) or another outcome."""
    now = state.now[0]
    # --- stop, budget ---
    now.missing = -1
    if now.stage == CHECKING:
        code = call(check, stop, state)
        if now.missing >= 0:
            return wait_for_row(state, CHECKING)
        if code != 0:
            return code if code > 0 else NO_VARIABLE
        if now.iteration >= now.end:
            return BUDGET_SPENT
    # --- select ---
    # choose no pair after two successive steps without a change, because the loop would repeat this step for ever
    i, j = call(select, selector, state) if now.stalled < 2 else (-1, -1)
    if now.missing >= 0:
        return wait_for_row(state, SELECTING)
    # refuse invalid indices, with which compiled code would read outside the arrays and might crash the process
    if min(i, j) < 0 or max(i, j) >= len(state.alpha):
        return NO_PAIR if max(i, j) == min(i, j) == -1 else NO_VARIABLE
    now.i, now.j = i, j
    # if a row of the pair is stored, fetch this row first, so that the pair's missing row does not replace it
    now.j_first, now.fetched = 1 if state.slots[i] < 0 else 0, 0
    return PAIR_CHOSEN


@inlined
def fetch(state):  # type: ignore[no-untyped-def]
    """Count the use of both kernel rows of the pair; return STEP_TAKEN, or MISSING_ROW if a row is not in memory."""
    now = state.now[0]
    while now.fetched < 2:
        wanted = now.i if now.fetched == now.j_first else now.j
        now.fetched += 1
        if not row_or_ask(state, wanted)[1]:
            return wait_for_row(state, FETCHING)  # code that computes the row counts this use
        # count the use as `KernelRows.use` does, so that both engines replace the same row next
        now.hits += 1
        now.clock += 1
        state.stamps[state.slots[wanted]] = now.clock
    return STEP_TAKEN


@inlined
def one_step(select, length, check, selector, step, stop, state):  # type: ignore[no-untyped-def]
    """Take one step and return STEP_TAKEN, or return the outcome that says why the step must wait or the loop must end.

    The outcomes are the code of the stopping rule (> 0), BUDGET_SPENT after ``now.end`` steps, NO_PAIR, MISSING_ROW
    (``now.missing`` is the row; call again when it is in memory), TRACE_FULL after a step, and NO_VARIABLE if a twin
    returned an invalid index.

    After MISSING_ROW the step continues at ``now.stage``. A rule that has already returned its result is not called
    again, because the missing row may have replaced a row that the rule read. Code that changes the state between two
    calls must set ``now.stage`` to CHECKING.
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
    mu = call(length, step, state, i, j)
    # --- update ---
    move_by(state, i, j, mu)
    if now.every > 0 and now.iteration % now.every == 0:
        record(state, i, j)
        if now.traced == len(state.trace):
            return TRACE_FULL
    return STEP_TAKEN


def compiled_steps(select, length, check, selector, step, stop, state, source):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.solver.loop.steps`: take steps until Python must act; return why it must act.

    Another call with the same arguments continues the loop. At the beginning, and after Python has changed the state,
    ``now.stage`` must be ENTERING.
    """
    if state.now[0].stage == ENTERING:
        # compute the side of each variable once, so that a step need not compare all α with their bounds
        for t in range(len(state.alpha)):
            state.sides[t] = side(state.alpha[t], state.lower[t], state.upper[t])
        find_support(state)
        state.now[0].stage = CHECKING
    outcome = STEP_TAKEN
    while outcome == STEP_TAKEN:
        outcome = one_step(select, length, check, selector, step, stop, state)
        if outcome == MISSING_ROW and store_row(state, source):
            outcome = STEP_TAKEN
    write_displacement(state)
    return outcome


@inlined
def take_steps(select, length, check, selector, step, stop, state):  # type: ignore[no-untyped-def]
    """Take steps until no step is possible; return the outcome that says why."""
    outcome = STEP_TAKEN
    while outcome == STEP_TAKEN:
        outcome = one_step(select, length, check, selector, step, stop, state)
    return outcome


merged_steps = inlined(compiled_steps)


def resumed_steps(select, length, check, selector, step, stop, state, source):  # type: ignore[no-untyped-def]
    """Run `compiled_steps` as a generator, for rules that are called through pointers.

    Passing three pointers from Python takes 0.3 ms, longer than computing most kernel rows. Python passes the
    pointers to a generator only once.
    """
    while True:
        yield merged_steps(select, length, check, selector, step, stop, state, source)


def begin(select, length, check, parameters, state, source):  # type: ignore[no-untyped-def]
    """Return an iterator over the outcomes with which the compiled loop returns to Python."""
    rules = as_arguments(select, length, check)
    run = run_of(rules, state.kernel.dtype)
    if are_pointers(rules):
        return run(*rules, *parameters, state, source)
    return iter(partial(run, *rules, *parameters, state, source), None)


def run_of(rules, dtype):  # type: ignore[no-untyped-def]
    """Return the loop for these rules and this type of kernel rows, compiled or loaded from disk."""
    if dtype == np.float32:
        return entry_point(loop_with_single_rows, STEPS_WITH_SINGLE_ROWS, rules)
    return entry_point(loop_with_pointers if are_pointers(rules) else loop, STEPS, rules)


loop = cached(compiled_steps, nogil=True)
loop_with_single_rows = cached(copied(compiled_steps, "loop_with_single_rows"), nogil=True)
loop_with_pointers = cached(resumed_steps, nogil=True)
