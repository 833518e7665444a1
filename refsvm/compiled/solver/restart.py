"""Twin of `refsvm.state.SolverState.restart`, and the steps that follow it."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.extremes import LARGEST, sortable_bits
from refsvm.compiled.interface.layout import FALLS, RISES
from refsvm.compiled.interface.twin import called, merged
from refsvm.compiled.solver.loop import STEP_TAKEN, one_step
from refsvm.compiled.state import forget_displacement, side


@called
def copy_vector(source, target):  # type: ignore[no-untyped-def]
    """Copy all numbers."""
    for t in range(len(source)):
        target[t] = source[t]


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
def restart(v, state, memories):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.state.SolverState.restart`."""
    now = state.now[0]
    for h in range(len(state.working_sets)):
        state.working_sets[h, 0] = state.working_sets[h, 1] = -1
        state.candidates[h, 0] = state.candidates[h, 1] = -1
    now.iteration = now.last_free = now.last_planned = now.n_candidates = now.stalled = now.stage = 0
    now.slope = now.curvature = now.raw_curvature = now.low = now.high = now.last_step = now.last_newton = 0.0
    now.least_curvature = np.inf
    forget_displacement(state)
    at = 0
    for memory in (state.selector_memory, state.step_memory, state.stop_memory):
        for t in range(len(memory)):
            memory[t] = memories[at + t]
        at += len(memory)
    # f = ½ αᵀ(v + G)
    objective = 0.0
    for t in range(len(state.alpha)):
        objective += state.alpha[t] * (v[t] + state.gradient[t])
        now.largest = max(now.largest, abs(state.alpha[t]))
    now.objective = 0.5 * objective
    most_violating_pair(state)


@merged
def take_steps(select, length, check, selector, step, stop, state):  # type: ignore[no-untyped-def]
    """Take steps until one cannot be taken; return why."""
    outcome = STEP_TAKEN
    while outcome == STEP_TAKEN:
        outcome = one_step(select, length, check, selector, step, stop, state)
    return outcome
