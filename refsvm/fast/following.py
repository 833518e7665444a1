"""Twin of ATO: follow the optimum from one box to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.fast.extremes import TILE
from refsvm.fast.replacement import inner, offset
from refsvm.fast.seeders import complete
from refsvm.fast.seeding import SEED
from refsvm.fast.twin import allocating, twin

__all__ = ["ato"]

IGNORED, FREE, BOUNDED, GROWING, TIED = 0, 1, 2, 3, 4  # refsvm.seeders.ato
SINGULAR = 1e-9  # refsvm.seeders.bordered

B, DONE, PULL = 0, 1, 2
"""Places of the numbers of a walk."""


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
    now: np.ndarray


class Free(NamedTuple):
    """The arrays of `refsvm.seeders.bordered.Bordered`, larger than needed; ``size[0]`` variables take part."""

    inverse: np.ndarray
    rows: np.ndarray
    members: np.ndarray
    size: np.ndarray


@allocating
def times(free, vector):  # type: ignore[no-untyped-def]
    """P·vector, column by column."""
    size = free.size[0] + 1
    result = np.zeros(size)
    for j in range(size):
        for i in range(size):
            result[i] += vector[j] * free.inverse[j, i]
    return result


@allocating
def with_room(free):  # type: ignore[no-untyped-def]
    """Return M in arrays with room for one more."""
    m, n = free.size[0], free.rows.shape[1]
    if m < len(free.rows):
        return free
    inverse, rows = np.empty((2 * m + 1, 2 * m + 1)), np.empty((2 * m, n))
    # element by element: to assign arrays to arrays compiles the sentence about shapes that differ, 3 s
    for i in range(m + 1):
        for j in range(m + 1):
            inverse[i, j] = free.inverse[i, j]
    for i in range(m):
        for t in range(n):
            rows[i, t] = free.rows[i, t]
    return Free(inverse, rows, free.members, free.size)


@allocating
def enter(walk, free, place, kernel_row):  # type: ignore[no-untyped-def]
    """Let a variable join M if its row does not depend on those of M; return M."""
    free = with_room(free)
    m, P, w = free.size[0], free.inverse, walk.watched
    own = kernel_row[w[place]]
    if m == 0:
        # the inverse of [[0, 1], [1, Kₖₖ]]
        P[0, 0], P[0, 1], P[1, 0], P[1, 1] = -own, 1.0, 1.0, 0.0
    else:
        c = np.ones(m + 1)
        for j in range(m):
            c[j + 1] = kernel_row[w[free.members[j]]]
        eta = times(free, c)
        kappa = own - inner(c, eta)
        if not kappa > SINGULAR * abs(own):
            walk.kinds[place] = TIED
            return free
        for i in range(m + 1):
            scaled = eta[i] / kappa
            for j in range(m + 1):
                P[i, j] += scaled * eta[j]
            P[m + 1, i] = P[i, m + 1] = -scaled
        P[m + 1, m + 1] = 1.0 / kappa
    free.members[m] = place
    for i in range(len(w)):
        free.rows[m, i] = kernel_row[w[i]]
    free.size[0] = m + 1
    walk.kinds[place] = FREE
    return free


@allocating
def leave(free, k):  # type: ignore[no-untyped-def]
    """Let k leave M; the last member takes its place."""
    last, P = free.size[0] - 1, free.inverse
    place = 0
    while free.members[place] != k:
        place += 1
    for j in range(last + 2):
        P[place + 1, j], P[last + 1, j] = P[last + 1, j], P[place + 1, j]
    for i in range(last + 2):
        P[i, place + 1], P[i, last + 1] = P[i, last + 1], P[i, place + 1]
    free.members[place] = free.members[last]
    for t in range(free.rows.shape[1]):
        free.rows[place, t] = free.rows[last, t]
    free.size[0] = last
    if last == 0:
        return
    corner = P[last + 1, last + 1]
    for i in range(last + 1):
        scaled = P[i, last + 1] / corner
        for j in range(last + 1):
            P[i, j] -= scaled * P[j, last + 1]


@allocating
def first_kinds(seeding, b, margin):  # type: ignore[no-untyped-def]
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
        kinds[i] = IGNORED if not moves or (kind == BOUNDED and abs(away) > margin) else kind
        at_upper = rises if growing else clipped == upper
        sides[i] = 1.0 if at_upper else -1.0
        seeding.seed[i] = clipped
    return kinds, sides


@allocating
def missing_row(seeding, kinds):  # type: ignore[no-untyped-def]
    """Return the first variable whose kernel row is wanted at once and missing, −1 if there is none."""
    for i in range(len(kinds)):
        wanted = kinds[i] == FREE or kinds[i] == GROWING or seeding.seed[i] != seeding.solved[i]
        if wanted and seeding.slots[i] < 0:
            return i
    return -1


@allocating
def begun(seeding, kinds, sides, b):  # type: ignore[no-untyped-def]
    """Return the walk before its first step."""
    w = np.flatnonzero(kinds != IGNORED)
    m, now = len(w), np.zeros(3)
    walk = Walk(
        w, kinds[w], sides[w], seeding.seed[w], seeding.gradient[w], seeding.lower[w], seeding.upper[w],
        np.zeros(m), np.zeros(m), np.zeros(m), now,
    )  # fmt: skip
    pull, largest = 0.0, 1.0
    for i in range(len(kinds)):
        largest = max(largest, abs(seeding.solved[i]))
    for i in range(len(kinds)):
        if seeding.seed[i] != seeding.solved[i]:
            change = seeding.seed[i] - seeding.solved[i]
            pull += change
            row = seeding.kernel[seeding.slots[i]]
            for place in range(m):
                walk.push[place] += change * row[w[place]]
    for k in range(m):
        if walk.kinds[k] == GROWING:
            target = walk.upper[k] if walk.sides[k] > 0.0 else walk.lower[k]
            if np.isinf(target):  # as far as the largest weight so far
                target = walk.alpha[k] + walk.sides[k] * largest
            walk.target[k], walk.direction[k] = target, target - walk.alpha[k]
            pull += walk.direction[k]
            row = seeding.kernel[seeding.slots[w[k]]]
            for place in range(m):
                walk.push[place] += walk.direction[k] * row[w[place]]
    now[B], now[PULL] = b, pull
    return walk


@allocating
def set_out(seeding, walk):  # type: ignore[no-untyped-def]
    """Return M at the beginning."""
    m = len(walk.watched)
    count = 1
    for place in range(m):
        count += walk.kinds[place] == FREE
    room = min(m, count + 32) + 1
    members, none = np.zeros(m + 1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    free = Free(np.empty((room + 1, room + 1)), np.empty((room, m)), members, none)
    for place in range(m):
        if walk.kinds[place] == FREE:
            free = enter(walk, free, place, seeding.kernel[seeding.slots[walk.watched[place]]])
    return free


@allocating
def first_taker(walk):  # type: ignore[no-untyped-def]
    """Return the variable that may take what F and T give or take where M is empty, −1 if there is none."""
    best, key = -1, -np.inf
    for place in range(len(walk.watched)):
        if walk.kinds[place] == BOUNDED or walk.kinds[place] == TIED:
            if walk.now[PULL] < 0.0:
                able, value = walk.alpha[place] < walk.upper[place], walk.gradient[place]
            else:
                able, value = walk.alpha[place] > walk.lower[place], -walk.gradient[place]
            if able and value > key:
                best, key = place, value
    return best


@allocating
def slopes(walk, free, d):  # type: ignore[no-untyped-def]
    """DG = −(K d_F + K d_T + K_M d_M), some variables at a time; db; and d of the free and growing ones."""
    m, count = len(walk.watched), free.size[0]
    slope, change = np.empty(m), 0.0
    for place in range(m):
        slope[place] = -walk.push[place]
        d[place] = walk.direction[place] if walk.kinds[place] == GROWING else 0.0
    if count > 0:
        right = np.empty(count + 1)
        right[0] = -walk.now[PULL]
        for j in range(count):
            right[j + 1] = -walk.push[free.members[j]]
        solution = times(free, right)
        change = solution[0]
        for j in range(count):
            d[free.members[j]] = solution[j + 1]
        for start in range(0, m, TILE):
            tile = slope[start : min(start + TILE, m)]
            for j in range(count):
                row, factor = free.rows[j, start : start + TILE], solution[j + 1]
                for t in range(len(tile)):
                    tile[t] -= factor * row[t]
    return slope, change


@allocating
def first_event(walk, d, slope, change, limit):  # type: ignore[no-untyped-def]
    """Return the variable whose event comes first, −1 if that is beyond `limit`; and how far it is."""
    first, step = -1, limit
    for place in range(len(d)):
        kind, reach = walk.kinds[place], np.inf
        if kind == FREE:
            if d[place] != 0.0:
                bound = walk.upper[place] if d[place] > 0.0 else walk.lower[place]
                reach = max((bound - walk.alpha[place]) / d[place], 0.0)
        elif kind != TIED:
            side = walk.sides[place]
            approach = side * (slope[place] - change)
            if approach < 0.0:
                reach = max(side * (walk.gradient[place] - walk.now[B]), 0.0) / -approach
        if reach < step:
            first, step = place, reach
    return first, step


@allocating
def move(walk, d, slope, change, step):  # type: ignore[no-untyped-def]
    """Go that far."""
    for place in range(len(d)):
        walk.alpha[place] += step * d[place]
        walk.gradient[place] += step * slope[place]
    walk.now[B] += step * change
    walk.now[DONE] += step


@allocating
def arrive(walk):  # type: ignore[no-untyped-def]
    """Set what has grown to the end exactly to its bound."""
    for place in range(len(walk.kinds)):
        if walk.kinds[place] == GROWING:
            walk.alpha[place] = walk.target[place]


@allocating
def switch(seeding, walk, free, place, rising):  # type: ignore[no-untyped-def]
    """Let the event of a variable happen; its kernel row is there. Return M."""
    kernel, slots, w = seeding.kernel, seeding.slots, walk.watched
    if walk.kinds[place] == FREE:
        walk.alpha[place] = walk.upper[place] if rising else walk.lower[place]
        walk.kinds[place], walk.sides[place] = BOUNDED, 1.0 if rising else -1.0
        leave(free, place)
        for tied in range(len(w)):
            if walk.kinds[tied] == TIED and slots[w[tied]] >= 0:
                free = enter(walk, free, tied, kernel[slots[w[tied]]])
        return free
    row = kernel[slots[w[place]]]
    if walk.kinds[place] == GROWING:
        for i in range(len(w)):
            walk.push[i] -= walk.direction[place] * row[w[i]]
        walk.now[PULL] -= walk.direction[place]
    return enter(walk, free, place, row)


@allocating
def follow(seeding, walk, free, max_events, max_free):  # type: ignore[no-untyped-def]
    """Follow the path; return 0, or −1 − i where kernel row i is missing."""
    d = np.empty(len(walk.watched))
    for _ in range(max_events):
        if free.size[0] > max_free:
            return 0
        if free.size[0] == 0 and walk.now[PULL] != 0.0:
            taker = first_taker(walk)
            if taker < 0:
                return 0
            slot = seeding.slots[walk.watched[taker]]
            if slot < 0:
                return -1 - walk.watched[taker]
            walk.now[B] = walk.gradient[taker]
            free = enter(walk, free, taker, seeding.kernel[slot])
        slope, change = slopes(walk, free, d)
        first, step = first_event(walk, d, slope, change, 1.0 - walk.now[DONE])
        if first >= 0 and seeding.slots[walk.watched[first]] < 0:
            return -1 - walk.watched[first]
        move(walk, d, slope, change, step)
        if first < 0:
            arrive(walk)
            return 0
        free = switch(seeding, walk, free, first, d[first] > 0.0)
    return 0


@twin(SEED, allocates=True)
def ato(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.ATO`."""
    b, free_before = offset(seeding), 0
    for i in range(len(seeding.seed)):
        free_before += seeding.solved_lower[i] < seeding.solved[i] < seeding.solved_upper[i]
    if free_before > parameters[2]:
        for i in range(len(seeding.seed)):
            seeding.seed[i] = min(max(seeding.solved[i], seeding.lower[i]), seeding.upper[i])
        complete(seeding)
        return 0
    kinds, sides = first_kinds(seeding, b, parameters[0])
    missing = missing_row(seeding, kinds)
    if missing >= 0:
        return -1 - missing
    walk = begun(seeding, kinds, sides, b)
    free = set_out(seeding, walk)
    code = follow(seeding, walk, free, np.int64(parameters[1]), parameters[2])
    if code < 0:
        return code
    for place, i in enumerate(walk.watched):
        seeding.seed[i] = min(max(walk.alpha[place], walk.lower[place]), walk.upper[place])
    complete(seeding)
    return 0
