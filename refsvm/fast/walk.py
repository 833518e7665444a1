"""The beginning of the path that ATO follows: who moves, who is free, who is watched."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from refsvm.fast.bordered import SLOTS, Free, add_rows, free_of, grown, has_room, leave, times
from refsvm.fast.twin import allocating, called

__all__ = [
    "BOUNDED", "DONE", "FREE", "GROWING", "HAPPENED", "IGNORED", "JOINING", "LEFT", "MOST", "NEXT", "NOBODY", "PULL",
    "SEVERAL", "TIED", "WORK", "B", "Walk", "first_changes", "first_free", "first_kinds", "leave_out_the_far",
    "missing_row", "pushed", "slopes", "watching", "with_rows",
]  # fmt: skip

IGNORED, FREE, BOUNDED, GROWING, TIED = 0, 1, 2, 3, 4  # refsvm.seeders.ato

B, DONE, PULL, WORK, MOST = 0, 1, 2, 3, 4
"""Places of the numbers of a walk."""

HAPPENED, JOINING, LEFT, NEXT = 0, 1, 2, 3
"""Places of its marks: events so far, who joins, the product that took the last one out of M, who is asked next."""

NOBODY, SEVERAL = -1, -2
"""Marks in place of a product."""


class Walk(NamedTuple):
    """The arrays of `refsvm.seeders.ato.Walk`, and its numbers in ``now``."""

    watched: np.ndarray
    kinds: np.ndarray
    sides: np.ndarray
    alpha: np.ndarray
    gradient: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    direction: np.ndarray
    target: np.ndarray
    push: np.ndarray
    place_of: np.ndarray
    now: np.ndarray
    marks: np.ndarray


@allocating
def first_kinds(seeding, b):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.ato.Walk._first_kinds`; α clipped to the box goes to ``seeding.seed``."""
    n = len(seeding.seed)
    kinds, sides = np.empty(n, dtype=np.int8), np.empty(n)
    for i in range(n):
        before, lower, upper = seeding.solved[i], seeding.lower[i], seeding.upper[i]
        old_lower, old_upper = seeding.solved_lower[i], seeding.solved_upper[i]
        clipped, away = min(max(before, lower), upper), seeding.gradient[i] - b
        moves = clipped == before and lower < upper
        free = old_lower < before < old_upper and lower < clipped < upper
        rises, falls = away > 0.0 and clipped < upper, away < 0.0 and clipped > lower
        growing = (lower != old_lower or upper != old_upper) and not free and (rises or falls)
        kind = FREE if free else (GROWING if growing else BOUNDED)
        kinds[i] = kind if moves else IGNORED
        at_upper = rises if growing else clipped == upper
        sides[i] = 1.0 if at_upper else -1.0
        seeding.seed[i] = clipped
    return kinds, sides


@allocating
def first_changes(seeding, kinds, sides):  # type: ignore[no-untyped-def]
    """Return where the growing variables go, and d of F and T."""
    n, largest = len(kinds), 1.0
    targets, changes = np.zeros(n), np.empty(n)
    for i in range(n):
        largest = max(largest, abs(seeding.solved[i]))
    for i in range(n):
        if kinds[i] == GROWING:
            target = seeding.upper[i] if sides[i] > 0.0 else seeding.lower[i]
            if np.isinf(target):  # as far as the largest weight so far
                target = seeding.seed[i] + sides[i] * largest
            targets[i], changes[i] = target, target - seeding.seed[i]
        else:
            changes[i] = seeding.seed[i] - seeding.solved[i]
    return targets, changes


@allocating
def first_members(seeding):  # type: ignore[no-untyped-def]
    """Return the free variables of the solved problem."""
    m = int(seeding.memory[3])
    members = np.empty(m, dtype=np.int64)
    for s in range(m):
        members[s] = int(seeding.memory[4 + s])
    return members


@called
def missing_row(seeding, kinds, changes):  # type: ignore[no-untyped-def]
    """Return the first variable whose kernel row is wanted at once and missing, −1 if there is none."""
    for i in range(len(kinds)):
        if (kinds[i] == FREE or changes[i] != 0.0) and seeding.slots[i] < 0:
            return i
    for s in range(int(seeding.memory[3])):
        i = int(seeding.memory[4 + s])
        if seeding.slots[i] < 0:
            return i
    return -1


@allocating
def pushed(seeding, moving, changes):  # type: ignore[no-untyped-def]
    """Return 1ᵀd and K d over F and T."""
    pull, push = 0.0, np.zeros(len(changes))
    for i in moving:
        pull += changes[i]
    add_rows(push, changes[moving], seeding.kernel, seeding.slots[moving], len(moving))
    return pull, push


@allocating
def first_free(seeding, kinds, pull, push):  # type: ignore[no-untyped-def]
    """Return M, those left out that are not free in the new box, and set the kinds that follow."""
    members = first_members(seeding)
    m = len(members)
    inverse = seeding.memory[4 + m : 4 + m + (m + 1) * (m + 1)].reshape((m + 1, m + 1))
    free, right = free_of(inverse, members, 0), np.empty(m + 1)
    right[0] = -pull
    for s in range(m):
        right[s + 1] = -push[members[s]]
    times(free, right, m + 1)
    for s in range(m + 1):
        free.x[s] = free.image[s]
    for s in range(m):
        if kinds[members[s]] != FREE:
            free = free if has_room(free) else grown(free)
            leave(free, members[s])
    for i in range(len(kinds)):
        kinds[i] = TIED if kinds[i] == FREE else kinds[i]
    for s in range(free.size[SLOTS]):
        if free.inside[s] != 0:
            kinds[free.members[s]] = FREE
    return free


@called
def leave_out_the_far(seeding, walk, slope, change, margin):  # type: ignore[no-untyped-def]
    """Watch no longer what is bounded and far from b; `walk` is over all variables."""
    kinds, sides, squares, count = walk.kinds, walk.sides, 0.0, 0
    for i in range(len(kinds)):
        if kinds[i] == BOUNDED:
            approach = sides[i] * (slope[i] - change)
            squares += approach * approach
            count += 1
    speed = math.sqrt(squares / max(1, count))
    more = margin * speed if speed > 0.0 else margin
    for i in range(len(kinds)):
        distance = max(sides[i] * (seeding.gradient[i] - walk.now[B]), 0.0)
        if kinds[i] == BOUNDED and not distance <= abs(sides[i] * (slope[i] - change)) + more:
            kinds[i] = IGNORED


@allocating
def watching(walk):  # type: ignore[no-untyped-def]
    """Return the walk over the variables that are not ignored."""
    w = np.flatnonzero(walk.kinds != IGNORED)
    for place in range(len(w)):
        walk.place_of[w[place]] = place
    return Walk(
        w, walk.kinds[w], walk.sides[w], walk.alpha[w], walk.gradient[w], walk.lower[w], walk.upper[w],
        walk.direction[w], walk.target[w], walk.push[w], walk.place_of, walk.now, walk.marks,
    )  # fmt: skip


@allocating
def with_rows(seeding, free, walk):  # type: ignore[no-untyped-def]
    """Return M with the kernel rows of its variables, for those watched."""
    width = len(walk.watched)
    rows = np.empty((len(free.members), width))
    for s in range(free.size[SLOTS]):
        if free.inside[s] != 0:
            row = seeding.kernel[seeding.slots[free.members[s]]]
            for place in range(width):
                rows[s, place] = row[walk.watched[place]]
    return Free(
        free.inverse, free.terms, free.columns, free.scales, free.lengths, rows, free.members,
        free.inside, free.x, free.size, free.column, free.image, free.factors, free.order, free.chosen,
    )  # fmt: skip


@called
def slopes(push, free, rows, slots, slope):  # type: ignore[no-untyped-def]
    """DG = −(K d_F + K d_T + K_M d_M); row ``slots[s]`` of `rows` is that of slot s."""
    count = 0
    for s in range(free.size[SLOTS]):
        if free.inside[s] != 0:
            free.column[count], free.chosen[count] = -free.x[s + 1], slots[s]
            count += 1
    for t in range(len(push)):
        slope[t] = -push[t]
    add_rows(slope, free.column, rows, free.chosen, count)
