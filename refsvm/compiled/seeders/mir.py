"""Compiled twin of `refsvm.MIR`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import allocating, twin
from refsvm.compiled.seeders.exchange import (
    ADDED,
    REMOVED,
    SHARED,
    has_rows,
    mark_sets,
    offset,
    spread_over_added,
)


@allocating
def inner(first, second):  # type: ignore[no-untyped-def]
    """Return Σ first·second, summed from left to right."""
    result = 0.0
    for i in range(len(first)):
        result += first[i] * second[i]
    return result


@allocating
def least_squares(rows, right, max_iter, tol):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.seeders.mir.least_squares`; `right` becomes the residual."""
    m = len(rows)
    x, slope, image = np.zeros(m), np.empty(m), np.empty(len(right))
    for t in range(m):
        slope[t] = inner(rows[t], right)
    direction = slope.copy()
    size = first = inner(slope, slope)
    for _ in range(min(m, max_iter)):
        if size <= tol * tol * first:
            break
        # q = Aᵀp,  a = ‖s‖²/‖q‖²
        image[:] = 0.0
        for t in range(m):
            for i in range(len(image)):
                image[i] += direction[t] * rows[t, i]
        length = inner(image, image)
        if length <= 0.0:
            break
        a = size / length
        # x += a p,  r −= a q,  s = Ar
        for t in range(m):
            x[t] += a * direction[t]
        for i in range(len(image)):
            right[i] -= a * image[i]
        for t in range(m):
            slope[t] = inner(rows[t], right)
        before, size = size, inner(slope, slope)
        for t in range(m):
            direction[t] = slope[t] + (size / before) * direction[t]
    return x


@allocating
def equations(seeding, b):  # type: ignore[no-untyped-def]
    """Return the matrix and the right side of MIR's equations, with examples in ascending order."""
    chosen, before, G = seeding.chosen, seeding.solved, seeding.gradient
    T, X = np.flatnonzero(chosen == ADDED), np.flatnonzero((chosen == ADDED) | (chosen == SHARED))
    rows, right = np.ones((len(T), len(X) + 1)), np.zeros(len(X) + 1)
    for place, i in enumerate(X):
        if chosen[i] == ADDED:
            moving = seeding.upper[i] > 0.0 if G[i] > b else seeding.lower[i] < 0.0
        else:
            moving = seeding.solved_lower[i] < before[i] < seeding.solved_upper[i]
        right[place] = -(b - G[i]) if moving else -0.0
    for r in range(len(chosen)):
        if chosen[r] == REMOVED and before[r] != 0.0:
            right[-1] += before[r]
            for place, i in enumerate(X):
                right[place] += before[r] * seeding.kernel[seeding.slots[r], i]
    for t, row in zip(T, rows):  # noqa: B905  (Numba does not support `strict`)
        for place, i in enumerate(X):
            row[place] = seeding.kernel[seeding.slots[t], i]
    return T, rows, right


@twin(SEED, allocates=True)
def mir(parameters, seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.MIR`."""
    mark_sets(seeding)
    if not (has_rows(seeding, REMOVED) and has_rows(seeding, ADDED)):
        return 0
    T, rows, right = equations(seeding, offset(seeding))
    if len(T) > 0:
        x = least_squares(rows, right, np.int64(parameters[0]), parameters[1])
        for place, t in enumerate(T):
            seeding.seed[t] = min(max(x[place], seeding.lower[t]), seeding.upper[t])
    spread_over_added(seeding)
    return 0
