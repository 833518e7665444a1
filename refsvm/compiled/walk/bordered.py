"""Compiled twin of `refsvm.core.walk.bordered`: the system of free variables, updated when variables join or leave."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from refsvm.compiled.interface.by_address import by_address
from refsvm.compiled.interface.twin import allocating, called, inlined
from refsvm.compiled.kernels.rows import add_rows


@by_address()
class System(NamedTuple):
    """The arrays of `refsvm.core.walk.bordered.Bordered`, with space for more members."""

    values: np.ndarray
    x: np.ndarray
    vectors: np.ndarray  # vectors as long as x, for intermediate results: −x, u, w and a copy of x
    order: np.ndarray  # 0, 1, …


@allocating
def system_of(inverse, solution, size, room):  # type: ignore[no-untyped-def]
    """Return a system with this inverse and solution, and space for `room` rows."""
    system = System(np.zeros((room, room)), np.zeros(room), np.empty((4, room)), np.arange(room))
    # copy single elements: to assign arrays, Numba would also compile code for unequal shapes, which takes 3 s
    for s in range(size):
        system.x[s] = solution[s]
        for t in range(size):
            system.values[s, t] = inverse[s, t]
    return system


@inlined
def inner(first, second, length):  # type: ignore[no-untyped-def]
    """Return Σ first·second, summed from left to right."""
    result = 0.0
    for i in range(length):
        result += first[i] * second[i]
    return result


@called
def times(system, size, vector, result):  # type: ignore[no-untyped-def]
    """Write P·vector to `result`, summed column by column; P is symmetric."""
    for s in range(size):
        result[s] = 0.0
    add_rows(result[:size], vector, system.values, system.order, size)


@called
def add(values, size, z, sign):  # type: ignore[no-untyped-def]
    """Do P ← P ± zzᵀ."""
    for s in range(size):
        row, factor = values[s], sign * z[s]
        for t in range(size):
            row[t] += factor * z[t]


@called
def distance(system, size, corner):  # type: ignore[no-untyped-def]
    """Return k's squared distance from M's affine hull; ``vectors[1]`` is u = (1, K_Mk). Write w to ``vectors[2]``."""
    times(system, size, system.vectors[1], system.vectors[2])
    return corner - inner(system.vectors[1], system.vectors[2], size)


@called
def insert(system, size, s, right, pace):  # type: ignore[no-untyped-def]
    """Add variable k to a non-empty set M, whose arrays must have space; call `distance` for k first."""
    x, u, w = system.x, system.vectors[1], system.vectors[2]
    change, root = (right - inner(u, x, size)) / s, 1.0 / math.sqrt(s)
    for t in range(size):
        x[t] -= w[t] * change
        w[t] *= root
    x[size], w[size] = pace + change, -root
    add(system.values, size + 1, w, 1.0)


@inlined
def insert_first(system, corner, top, right):  # type: ignore[no-untyped-def]
    """Add variable k to an empty M: the inverse of [[0, 1], [1, Kₖₖ]] is [[−Kₖₖ, 1], [1, 0]]."""
    values, x = system.values, system.x
    values[0, 0], values[0, 1], values[1, 0], values[1, 1] = -corner, 1.0, 1.0, 0.0
    x[0], x[1] = right - corner * top, top


@called
def delete(system, size, j, pace):  # type: ignore[no-untyped-def]
    """Remove variable j from the set M; return False if rounding errors have spoiled the inverse P."""
    values, x, z, last = system.values, system.x, system.vectors[2], size - 1
    p = values[j + 1]
    if last == 1:
        values[0, 0] = values[0, 1] = values[1, 0] = values[1, 1] = x[0] = x[1] = 0.0
        return True
    if not p[j + 1] > 0.0:
        return False
    change, root = (x[j + 1] - pace) / p[j + 1], 1.0 / math.sqrt(p[j + 1])
    for s in range(size):
        x[s] -= p[s] * change
        z[s] = p[s] * root
    add(values, size, z, -1.0)
    # move the last member of M to the position of j
    x[j + 1] = x[last]
    for s in range(size):
        values[j + 1, s] = values[last, s]
    for s in range(size):
        values[s, j + 1] = values[s, last]
    x[last] = 0.0
    for s in range(size):
        values[last, s] = values[s, last] = 0.0
    return True


@inlined
def frees(system, size, j, least):  # type: ignore[no-untyped-def]
    """Return True if variable k, which depends on M, is independent of M without j; ``vectors[1]`` is u = (1, K_Mk)."""
    p = system.values[j + 1]
    part = inner(system.vectors[1], p, size)
    return part * part > least * p[j + 1]
