"""Twin of the steps of `refsvm.analysis.small.small`: solves many small problems of equal size in turn."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from refsvm.compiled.interface.dispatch import as_arguments, entry_point
from refsvm.compiled.interface.layout import CHECK, LENGTH, SELECT, STATE, fresh_state
from refsvm.compiled.interface.twin import cached, called
from refsvm.compiled.solver.loop import take_steps
from refsvm.compiled.state import copy_vector, restart
from refsvm.compiled.twins import parameters_of
from refsvm.core.kernels import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.rows import KernelRows

_vector, _matrix, _tensor = (types.Array(float64, dimensions, "C") for dimensions in (1, 2, 3))
SMALL = (
    types.FunctionType(SELECT), types.FunctionType(LENGTH), types.FunctionType(CHECK), _vector, _vector, _vector,
    STATE, _matrix, _tensor, _matrix, _matrix, _matrix, _matrix, _matrix, _matrix, _matrix, int64,
)  # fmt: skip
"""Arguments of `compiled_small`."""


@called
def load(state, block, kernel, alpha, gradient, lower, upper):  # type: ignore[no-untyped-def]
    """Copy a problem, its α and its kernel rows to the state (the rows into `block`), and return max |α|."""
    largest = 0.0
    for i in range(len(alpha)):
        state.alpha[i], state.gradient[i] = alpha[i], gradient[i]
        state.lower[i], state.upper[i], state.diagonal[i] = lower[i], upper[i], kernel[i, i]
        largest = max(largest, abs(alpha[i]))
        for j in range(len(alpha)):
            block[i, j] = kernel[i, j]
    return largest


def compiled_small(  # type: ignore[no-untyped-def]  # noqa: PLR0913, PLR0917 (compiled code takes no objects)
    select, length, check, selector, step, stop, state, block, kernels, alphas, gradients, linear, lowers, uppers,
    memories, results, limit,
):  # fmt: skip
    """Take up to `limit` steps in each problem; `refsvm.analysis.small.small.SmallProblems` describes `results`."""
    now = state.now[0]
    for p in range(len(alphas)):
        now.largest = load(state, block, kernels[p], alphas[p], gradients[p], lowers[p], uppers[p])
        now.end = limit
        restart(linear[p], state, memories[p])
        outcome = take_steps(select, length, check, selector, step, stop, state)
        copy_vector(state.alpha, alphas[p])
        copy_vector(state.gradient, gradients[p])
        results[p, 0], results[p, 1] = outcome, now.iteration
        results[p, 2], results[p, 3] = now.least_curvature, now.largest
        results[p, 4] = state.stop_memory[-1] if len(state.stop_memory) > 0 else np.nan


def take_small_steps(twins, problems, rules, limit):  # type: ignore[no-untyped-def]
    """Take up to `limit` steps in each problem of a `SmallProblems` with the twins of the rules."""
    m = problems.size
    block = np.zeros((m, m))
    rows = KernelRows(Gram(Precomputed(), block, is_checked=True))
    depth, momentum = 2 + rules.step.history, rules.step.uses_momentum
    state = fresh_state(rows, depth, rules.memories(problems.problem(0)), np.empty(m), np.empty(m), momentum)
    arguments = as_arguments(*twins)
    run = entry_point(small, SMALL, arguments)
    run(
        *arguments, *map(parameters_of, rules), state, block, problems.kernels, problems.alpha, problems.gradient,
        problems.v, problems.lower, problems.upper, problems.memories(rules), problems.results, limit,
    )  # fmt: skip


small = cached(compiled_small, nogil=True)
