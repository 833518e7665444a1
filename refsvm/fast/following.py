"""Twin of ATO: follow the optimum from one box to the next."""

from __future__ import annotations

import numpy as np

from refsvm.fast.bordered import (
    COUNT,
    SLOTS,
    TERMS,
    cost_of_entering,
    enter,
    enter_empty,
    frees,
    grown,
    has_room,
    leave,
)
from refsvm.fast.replacement import offset
from refsvm.fast.seeders import complete
from refsvm.fast.seeding import MORE, SEED
from refsvm.fast.twin import allocating, called, twin
from refsvm.fast.walk import (
    BOUNDED,
    DONE,
    FREE,
    GROWING,
    HAPPENED,
    JOINING,
    LEFT,
    MOST,
    NEXT,
    NOBODY,
    PULL,
    SEVERAL,
    TIED,
    WORK,
    B,
    Walk,
    first_changes,
    first_free,
    first_kinds,
    leave_out_the_far,
    missing_row,
    pushed,
    slopes,
    watching,
    with_rows,
)  # fmt: skip

__all__ = ["ato"]

EVENTS, PATIENCE, BEGIN_COST, EVENT_COST = 2.0, 4.0, 100_000, 8000  # refsvm.seeders.ato
DONE_WITH, GO_ON = 0, 1


@called
def let_go(seeding, walk, place):  # type: ignore[no-untyped-def]
    """A growing variable that joins M belongs to T no longer; return what it moved by."""
    if walk.kinds[place] != GROWING:
        return 0.0
    row, moving = seeding.kernel[seeding.slots[walk.watched[place]]], walk.direction[place]
    for t in range(len(walk.watched)):
        walk.push[t] -= moving * row[walk.watched[t]]
    walk.now[PULL] -= moving
    return moving


@called
def join(seeding, walk, free, place):  # type: ignore[no-untyped-def]
    """Let a variable join M, which is not empty, if its row does not depend on those of M."""
    i, right = walk.watched[place], -walk.push[place]
    moving = let_go(seeding, walk, place)
    walk.now[WORK] += cost_of_entering(free)
    row = seeding.kernel[seeding.slots[i]]
    entered = enter(free, i, row, walk.watched, right, moving, seeding.memory[2])
    walk.kinds[place] = FREE if entered else TIED


@allocating
def joined_empty(seeding, walk):  # type: ignore[no-untyped-def]
    """Return M with the variable that is to join, and no other."""
    place = walk.marks[NEXT]
    i = walk.watched[place]
    let_go(seeding, walk, place)
    walk.kinds[place] = FREE
    walk.marks[NEXT] += 1
    return enter_empty(i, seeding.kernel[seeding.slots[i]], walk.watched, -walk.now[PULL], -walk.push[place])


@called
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


@called
def directions(walk, free, d):  # type: ignore[no-untyped-def]
    """Write d of the watched variables."""
    for place in range(len(d)):
        d[place] = walk.direction[place] if walk.kinds[place] == GROWING else 0.0
    for s in range(free.size[SLOTS]):
        if free.inside[s] != 0:
            d[walk.place_of[free.members[s]]] = free.x[s + 1]


@called
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


@called
def move(walk, d, slope, change, step):  # type: ignore[no-untyped-def]
    """Go that far."""
    for place in range(len(d)):
        walk.alpha[place] += step * d[place]
        walk.gradient[place] += step * slope[place]
    walk.now[B] += step * change
    walk.now[DONE] += step


@called
def arrive(walk):  # type: ignore[no-untyped-def]
    """Set what has grown to the end exactly to its bound."""
    for place in range(len(walk.kinds)):
        if walk.kinds[place] == GROWING:
            walk.alpha[place] = walk.target[place]


@called
def happen(walk, free, place, rising):  # type: ignore[no-untyped-def]
    """Let the event of a variable happen, but for joining M: that is what the marks say."""
    marks = walk.marks
    marks[HAPPENED] += 1
    walk.now[WORK] += len(walk.kinds) * free.size[COUNT]
    marks[JOINING], marks[LEFT], marks[NEXT] = place, NOBODY, 0
    if walk.kinds[place] == FREE:
        walk.alpha[place] = walk.upper[place] if rising else walk.lower[place]
        walk.kinds[place], walk.sides[place] = BOUNDED, 1.0 if rising else -1.0
        marks[JOINING], marks[LEFT] = -1, free.size[TERMS]
        leave(free, walk.watched[place])
        if free.size[COUNT] == 0:
            marks[LEFT] = SEVERAL  # nobody is left to depend on


@called
def may_join(seeding, walk, free, place):  # type: ignore[no-untyped-def]
    """Whether a variable that depended on M may not do so any more."""
    if walk.marks[LEFT] == NOBODY or free.size[COUNT] == 0 or walk.marks[LEFT] == SEVERAL:
        return walk.marks[LEFT] != NOBODY
    i = walk.watched[place]
    return frees(free, seeding.kernel[seeding.slots[i]], walk.marks[LEFT], seeding.memory[2])


@called
def joins(seeding, walk, free):  # type: ignore[no-untyped-def]
    """Let those join M that are to, and those that could not before another one left; return whether that is done."""
    marks, kinds = walk.marks, walk.kinds
    while marks[NEXT] < len(kinds):
        place = marks[NEXT]
        if place == marks[JOINING] or (kinds[place] == TIED and may_join(seeding, walk, free, place)):
            if free.size[COUNT] == 0 or not has_room(free):
                return False
            join(seeding, walk, free, place)
        marks[NEXT] += 1
    return True


@called
def take_one(seeding, walk):  # type: ignore[no-untyped-def]
    """Name the first variable that is to join the empty M; return GO_ON, DONE_WITH, or −1 − i."""
    place = first_taker(walk)
    if place < 0:
        return DONE_WITH
    if seeding.slots[walk.watched[place]] < 0:
        return -1 - walk.watched[place]
    walk.now[B] = walk.gradient[place]
    walk.marks[JOINING], walk.marks[LEFT], walk.marks[NEXT] = place, NOBODY, 0
    return GO_ON


@called
def follow(seeding, walk, free, max_events, slope, d):  # type: ignore[no-untyped-def]
    """Follow the path; return DONE_WITH, GO_ON where M is empty or has no more room, or −1 − i for kernel row i."""
    now, marks = walk.now, walk.marks
    while joins(seeding, walk, free):
        if marks[HAPPENED] == max_events or (marks[HAPPENED] > 0 and now[WORK] > PATIENCE * now[MOST]):
            return DONE_WITH
        if free.size[COUNT] == 0 and now[PULL] != 0.0:
            code = take_one(seeding, walk)
            if code != GO_ON:
                return code
            continue
        if not has_room(free):
            return GO_ON
        # --- direction, how far ---
        slopes(walk.push, free, free.rows, free.order, slope)
        directions(walk, free, d)
        first, step = first_event(walk, d, slope, free.x[0], 1.0 - now[DONE])
        if first >= 0 and seeding.slots[walk.watched[first]] < 0:
            return -1 - walk.watched[first]
        move(walk, d, slope, free.x[0], step)
        if first < 0:
            arrive(walk)
            return DONE_WITH
        happen(walk, free, first, d[first] > 0.0)
    return GO_ON


@allocating
def follow_to_the_end(seeding, walk, free, max_events):  # type: ignore[no-untyped-def]
    """Follow the path, in larger arrays when they are wanted; return 0, or −1 − i for kernel row i."""
    slope, d = np.empty(len(walk.kinds)), np.empty(len(walk.kinds))
    code = GO_ON
    while code == GO_ON:
        code = follow(seeding, walk, free, max_events, slope, d)
        if code == GO_ON:
            free = joined_empty(seeding, walk) if free.size[COUNT] == 0 else grown(free)
    return code


@called
def clip(seeding):  # type: ignore[no-untyped-def]
    """Write α clipped to the box; return 0."""
    for i in range(len(seeding.seed)):
        seeding.seed[i] = min(max(seeding.solved[i], seeding.lower[i]), seeding.upper[i])
    return 0


@called
def expected(n, m, moving):  # type: ignore[no-untyped-def]
    """Work of a path with m free variables on which so many move."""
    return n * (moving + m) + BEGIN_COST + EVENTS * moving * (EVENT_COST + m * (2 * m + n / 16))


@allocating
def set_out(seeding, b, margin, max_events):  # type: ignore[no-untyped-def]
    """Follow the path if that will pay; return 0, MORE, or −1 − i where kernel row i is missing."""
    n, m, outside = len(seeding.seed), int(seeding.memory[1]), 0
    for i in range(n):
        before = seeding.solved[i]
        outside += before < seeding.lower[i] or before > seeding.upper[i]
    if expected(n, m, outside) > seeding.memory[0]:
        return clip(seeding)  # at once: there are no fewer in F and T
    kinds, sides = first_kinds(seeding, b)
    targets, changes = first_changes(seeding, kinds, sides)
    moving, now = np.flatnonzero(changes), np.zeros(5)
    work = float(n * (len(moving) + m))
    if expected(n, m, len(moving)) > seeding.memory[0]:
        return 0
    if len(seeding.memory) == 2:
        return MORE
    missing = missing_row(seeding, kinds, changes)
    if missing >= 0:
        return -1 - missing
    pull, push = pushed(seeding, moving, changes)
    now[B], now[PULL], now[WORK], now[MOST] = b, pull, work, seeding.memory[0]
    free = first_free(seeding, kinds, pull, push)
    slope = np.empty(n)
    slopes(push, free, seeding.kernel, seeding.slots[free.members[: free.size[SLOTS]]], slope)
    for i in range(n):
        changes[i] = changes[i] if kinds[i] == GROWING else 0.0
    everyone = Walk(
        moving, kinds, sides, seeding.seed, seeding.gradient, seeding.lower, seeding.upper,
        changes, targets, push, np.full(n, -1), now, np.array([0, -1, SEVERAL, 0]),
    )  # fmt: skip
    leave_out_the_far(seeding, everyone, slope, free.x[0], margin)
    walk = watching(everyone)
    code = follow_to_the_end(seeding, walk, with_rows(seeding, free, walk), max_events)
    finite = True
    for value in walk.alpha:
        finite = finite and np.isfinite(value)
    if code == 0 and finite:
        for place in range(len(walk.alpha)):
            seeding.seed[walk.watched[place]] = min(
                max(walk.alpha[place], walk.lower[place]), walk.upper[place]
            )
    return code


@twin(SEED, allocates=True)
def ato(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.ATO`."""
    if len(seeding.memory) == 0:
        clip(seeding)
    else:
        code = set_out(seeding, offset(seeding), parameters[0], np.int64(parameters[1]))
        if code != 0:
            return code
    complete(seeding)
    return 0
