"""Twins of the seeders that replace removed examples by added ones, and of the active set."""

from __future__ import annotations

import numpy as np

from refsvm.fast.seeders import complete, spread, total
from refsvm.fast.seeding import SEED
from refsvm.fast.twin import allocating, called, twin

__all__ = ["active_set", "mir", "sir"]

FACTOR, MODULUS = 48271, 2**31 - 1  # refsvm.seeders.sir

ABSENT, SHARED, REMOVED, ADDED = 0, 1, 2, 3


@called
def mark_sets(seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.exchange`: write to ``chosen`` what becomes of each variable, and α ← clip(α*)."""
    for i in range(len(seeding.seed)):
        was = seeding.solved_lower[i] != 0.0 or seeding.solved_upper[i] != 0.0
        now = seeding.lower[i] != 0.0 or seeding.upper[i] != 0.0
        kind = ADDED if now else ABSENT
        if was:
            kind = SHARED if now else REMOVED
        seeding.chosen[i] = kind
        seeding.seed[i] = min(max(seeding.solved[i], seeding.lower[i]), seeding.upper[i])


@called
def spread_over_added(seeding):  # type: ignore[no-untyped-def]
    """Spread what the sum lacks over T, then over all."""
    chosen = seeding.chosen
    for i in range(len(chosen)):
        was = seeding.solved_lower[i] != 0.0 or seeding.solved_upper[i] != 0.0
        now = seeding.lower[i] != 0.0 or seeding.upper[i] != 0.0
        chosen[i] = 1 if now and not was else 0
    spread(seeding.seed, chosen, seeding.z - total(seeding.seed), seeding.lower, seeding.upper)
    complete(seeding)


@called
def missing_row(seeding, kind):  # type: ignore[no-untyped-def]
    """Return the first variable of that kind whose kernel row is wanted and missing, −1 if there is none.

    Of the removed, only those with α* ≠ 0 are wanted.
    """
    for i in range(len(seeding.seed)):
        wanted = seeding.chosen[i] == kind and (kind != REMOVED or seeding.solved[i] != 0.0)
        if wanted and seeding.slots[i] < 0:
            return i
    return -1


@twin(SEED)
def active_set(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.ActiveSet`."""
    alpha, solved = seeding.seed, seeding.solved
    for i in range(len(alpha)):
        alpha[i] = min(max(solved[i], seeding.lower[i]), seeding.upper[i])
        if seeding.solved_lower[i] < seeding.solved_upper[i]:
            if solved[i] == seeding.solved_upper[i] and np.isfinite(seeding.upper[i]):
                alpha[i] = seeding.upper[i]
            if solved[i] == seeding.solved_lower[i] and np.isfinite(seeding.lower[i]):
                alpha[i] = seeding.lower[i]
    complete(seeding)
    return 0


@called
def most_similar(seeding, r):  # type: ignore[no-untyped-def]
    """argmax{Kᵣₜ : t ∈ T unused, of r's class}, −1 if there is none."""
    row, nearest = seeding.kernel[seeding.slots[r]], -1
    for t in range(len(row)):
        if seeding.chosen[t] == ADDED:
            same = seeding.upper[t] > 0.0 if seeding.solved[r] > 0.0 else seeding.lower[t] < 0.0
            if same and (nearest < 0 or row[t] > row[nearest]):
                nearest = t
    return nearest


@called
def random_unused(seeding, state):  # type: ignore[no-untyped-def]
    """Return the t ∈ T that the random number names, −1 if all are used."""
    count = 0
    for t in range(len(seeding.chosen)):
        count += seeding.chosen[t] == ADDED
    if count == 0:
        return -1
    place = state % count
    for t in range(len(seeding.chosen)):
        if seeding.chosen[t] == ADDED:
            if place == 0:
                return t
            place -= 1
    return -1


@twin(SEED)
def sir(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.SIR`."""
    mark_sets(seeding)
    missing = missing_row(seeding, REMOVED)
    if missing >= 0:
        return -1 - missing
    state = np.int64(parameters[0])
    for r in range(len(seeding.seed)):
        if seeding.chosen[r] != REMOVED or seeding.solved[r] == 0.0:
            continue
        weight, t = seeding.solved[r], most_similar(seeding, r)
        if t < 0:
            following = FACTOR * state % MODULUS
            t, weight = random_unused(seeding, following), -weight
            if t < 0:
                break
            state = following
        seeding.chosen[t] = SHARED  # used
        seeding.seed[t] = min(max(weight, seeding.lower[t]), seeding.upper[t])
    spread_over_added(seeding)
    return 0


@called
def offset(seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.exchange.offset`."""
    top, bottom = -np.inf, np.inf
    for i in range(len(seeding.solved)):
        if seeding.solved[i] < seeding.solved_upper[i] and seeding.gradient[i] > top:
            top = seeding.gradient[i]
        if seeding.solved[i] > seeding.solved_lower[i] and seeding.gradient[i] < bottom:
            bottom = seeding.gradient[i]
    if top == -np.inf:
        return bottom if bottom < np.inf else 0.0
    return (top + bottom) / 2 if bottom < np.inf else top


@allocating
def inner(first, second):  # type: ignore[no-untyped-def]
    """Σ first·second from left to right."""
    result = 0.0
    for i in range(len(first)):
        result += first[i] * second[i]
    return result


@allocating
def least_squares(rows, right, max_iter, tol):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.mir.least_squares`; `right` becomes the residual."""
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
    """Return the rows of A and the right side, T and X in ascending order."""
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
    for t, row in zip(T, rows):  # noqa: B905  (compiled code knows no strict)
        for place, i in enumerate(X):
            row[place] = seeding.kernel[seeding.slots[t], i]
    return T, rows, right


@twin(SEED, allocates=True)
def mir(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.MIR`."""
    mark_sets(seeding)
    for kind in (REMOVED, ADDED):
        missing = missing_row(seeding, kind)
        if missing >= 0:
            return -1 - missing
    T, rows, right = equations(seeding, offset(seeding))
    if len(T) > 0:
        x = least_squares(rows, right, np.int64(parameters[0]), parameters[1])
        for place, t in enumerate(T):
            seeding.seed[t] = min(max(x[place], seeding.lower[t]), seeding.upper[t])
    spread_over_added(seeding)
    return 0
