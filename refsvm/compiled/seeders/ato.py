"""Compiled twin of `refsvm.ATO`: follows the optimum from one box to the next; a `Walk` is a point of this path."""

from __future__ import annotations

import math

import numpy as np

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import allocating, called, inlined, twin
from refsvm.compiled.kernels.rows import add_rows
from refsvm.compiled.seeders.exchange import offset
from refsvm.compiled.seeders.spread import complete
from refsvm.compiled.walk.bordered import delete, system_of
from refsvm.compiled.walk.walk import (
    AT,
    FREED,
    MORE,
    NOW,
    Walk,
    direction,
    first_taker,
    grown,
    join,
    leave,
    move,
    reach,
    solve,
    take,
)
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE, TIED, Variables

EVENTS, PATIENCE, BEGIN_COST, EVENT_COST, ROUNDING, SINGULAR = 2.0, 4.0, 100_000, 8000, 1e-12, 1e-9
"""The constants of `refsvm.core.seeders.ato` and `refsvm.core.walk.bordered`."""

ROWS = len(Variables._fields)
GO_ON, THE_END = 0, 1


@called
def clip(seeding):  # type: ignore[no-untyped-def]
    """Write α*, clipped to the box, to the seed; return max(1, max |α*|)."""
    far = 1.0
    for i in range(len(seeding.seed)):
        far = max(far, abs(seeding.solved[i]))
        seeding.seed[i] = min(max(seeding.solved[i], seeding.lower[i]), seeding.upper[i])
    return far


@called
def expected(n, m, moving):  # type: ignore[no-untyped-def]
    """Return the expected work of following a path on which m variables are free and `moving` variables move."""
    return n * (moving + m) + BEGIN_COST + EVENTS * moving * (EVENT_COST + m * (2 * m + n / 16))


@called
def exchange(seeding, b, far, values, side):  # type: ignore[no-untyped-def]
    """Write the state in which the path to the new box starts; return the number of variables that must move."""
    moving = 0
    for i in range(len(side)):
        alpha, lower, upper, clipped = seeding.solved[i], seeding.lower[i], seeding.upper[i], seeding.seed[i]
        was_lower, was_upper, excess = (
            seeding.solved_lower[i],
            seeding.solved_upper[i],
            seeding.gradient[i] - b,
        )
        forced = clipped != alpha or lower == upper
        free = not forced and was_lower < alpha < was_upper and lower < clipped < upper
        other = not forced and not free and (lower != was_lower or upper != was_upper)
        rises, falls = other and excess > 0.0 and clipped < upper, other and excess < 0.0 and clipped > lower
        to = clipped
        if rises:
            to = alpha + far if np.isinf(upper) else upper
        elif falls:
            to = alpha - far if np.isinf(lower) else lower
        way = to - alpha
        moving += way != 0.0
        side[i] = FREE if free else (ABOVE if rises or (not falls and clipped == upper) else BELOW)
        side[i] = CLOSED if forced else side[i]
        values[AT.alpha, i], values[AT.excess, i], values[AT.pace, i] = alpha, excess, way
        values[AT.lower, i], values[AT.lower_rate, i] = (alpha, way) if forced or falls else (lower, 0.0)
        values[AT.upper, i], values[AT.upper_rate, i] = (alpha, way) if forced or rises else (upper, 0.0)
    return moving


@called
def missing_row(seeding, values, side):  # type: ignore[no-untyped-def]
    """Return the first variable whose kernel row is needed at the start of the path but is not in memory, or −1."""
    for i in range(len(side)):
        if (side[i] == FREE or values[AT.pace, i] != 0.0) and seeding.slots[i] < 0:
            return i
    for s in range(int(seeding.memory[3])):
        i = int(seeding.memory[4 + s])
        if seeding.slots[i] < 0:
            return i
    return -1


@allocating
def first_members(seeding, side, members):  # type: ignore[no-untyped-def]
    """Write the FREE variables to `members`; return the bordered system of these variables, and their number."""
    m, room = int(seeding.memory[3]), len(members)
    inverse = seeding.memory[4 + m : 4 + m + (m + 1) * (m + 1)].reshape((m + 1, m + 1))
    system, count = system_of(inverse, np.zeros(m + 1), m + 1, room), m
    for s in range(m):
        members[s] = int(seeding.memory[4 + s])
    for s in range(m):
        k, slot = int(seeding.memory[4 + s]), 0
        if side[k] != FREE:
            while members[slot] != k:
                slot += 1
            delete(system, count + 1, slot, 0.0)
            count -= 1
            members[slot] = members[count]
    for i in range(len(side)):
        side[i] = TIED if side[i] == FREE else side[i]
    for s in range(count):
        side[members[s]] = FREE
    return system, count


@called
def row_sums(target, seeding, indices, factors, count):  # type: ignore[no-untyped-def]
    """Add `count` rows of K times their factors to `target`; replace each row's index in `indices` by its slot."""
    for s in range(count):
        indices[s] = seeding.slots[indices[s]]
    add_rows(target, factors, seeding.kernel, indices, count)


@called
def near(values, side, margin):  # type: ignore[no-untyped-def]
    """Mark bounded variables whose G is far from b as CLOSED; return the number of variables that are not CLOSED."""
    squares, count, left = 0.0, 0, 0
    for i in range(len(side)):
        if (side[i] == ABOVE or side[i] == BELOW) and values[AT.pace, i] == 0.0:
            approach = side[i] * values[AT.speed, i]
            squares += approach * approach
            count += 1
    typical = math.sqrt(squares / max(1, count))
    more = margin * typical if typical > 0.0 else margin
    for i in range(len(side)):
        if (side[i] == ABOVE or side[i] == BELOW) and values[AT.pace, i] == 0.0:
            distance = max(side[i] * values[AT.excess, i], 0.0)
            if not distance <= abs(side[i] * values[AT.speed, i]) + more:
                side[i] = CLOSED
        left += side[i] != CLOSED
    return left


@allocating
def watched(walk, width):  # type: ignore[no-untyped-def]
    """Return a `Walk` with only the `width` variables that are not CLOSED; its `places` are their indices."""
    places, side = np.empty(width, dtype=np.int64), np.empty(width, dtype=np.int8)
    values, rows, place = np.empty((ROWS, width)), np.empty((len(walk.members), width)), 0
    place_of = np.empty(len(walk.side), dtype=np.int64)
    for i in range(len(walk.side)):
        if walk.side[i] != CLOSED:
            places[place], side[place], place_of[i] = i, walk.side[i], place
            for row in range(ROWS):
                values[row, place] = walk.values[row, i]
            place += 1
    for s in range(walk.now[0].m):
        row = walk.kernel[walk.slots[walk.members[s]]]
        walk.members[s] = place_of[walk.members[s]]
        for place in range(width):
            rows[s, place] = row[places[place]]
    return Walk(values, side, rows, walk.members, walk.system, walk.kernel, walk.slots, places, walk.now)


@allocating
def first_walk(seeding, values, side, margin):  # type: ignore[no-untyped-def]
    """Return the first `Walk`, over the variables that `watched` keeps, with its free set M and its direction."""
    n, room, pull, count = len(side), int(seeding.memory[3]) + 1 + MORE, 0.0, 0
    members, chosen, factors = np.empty(room, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty(n)
    now, speed = np.zeros(1, dtype=NOW), values[AT.speed]
    # --- −1ᵀd_B and −K d_B ---
    for i in range(n):
        if values[AT.pace, i] != 0.0:
            pull += values[AT.pace, i]
            chosen[count], factors[count] = i, -values[AT.pace, i]
            count += 1
    row_sums(values[AT.push], seeding, chosen, factors, count)
    now[0].least, now[0].total = SINGULAR * seeding.memory[2], 0.0 - pull
    # --- M ---
    system, now[0].m = first_members(seeding, side, members)
    places, none = np.arange(n), np.empty((0, 0))
    everyone = Walk(values, side, none, members, system, seeding.kernel, seeding.slots, places, now)
    solve(everyone)
    # --- compute how fast each G of a variable outside M approaches b; keep only variables whose G is near b ---
    for t in range(n):
        speed[t] = values[AT.push, t] - system.x[0]
    for s in range(now[0].m):
        chosen[s], factors[s] = members[s], -system.x[s + 1]
    row_sums(speed, seeding, chosen, factors, now[0].m)
    width = near(values, side, margin)
    return watched(everyone, width)


@allocating
def with_room(walk):  # type: ignore[no-untyped-def]
    """Return the walk, with space in M for all variables that are TIED and for the variable of the next event."""
    more = 1
    for i in range(len(walk.side)):
        more += walk.side[i] == TIED
    while walk.now[0].m + 1 + more > len(walk.members):
        walk = grown(walk)
    return walk


@called
def rejoin(walk, kind):  # type: ignore[no-untyped-def]
    """Let every variable marked `kind` join the free set M if it can."""
    for i in range(len(walk.side)):
        if walk.side[i] == kind:
            join(walk, i)


@inlined
def advance(seeding, walk):  # type: ignore[no-untyped-def]
    """Advance to the next event; return GO_ON, THE_END, or −1 − i if kernel row i is missing."""
    now, room = walk.now, 1.0 - walk.now[0].t
    if now[0].m == 0 and now[0].total != 0.0:
        i = first_taker(walk)
        if i < 0:
            return THE_END
        if seeding.slots[walk.places[i]] < 0:
            return -1 - walk.places[i]
        take(walk, i)
    # --- compute the direction, the distance to the next event, and the variable of this event ---
    direction(walk)
    i, step = reach(walk, 0.0, 0.0)
    if step < room and seeding.slots[walk.places[i]] < 0:
        return -1 - walk.places[i]
    # --- move, then leave or join M ---
    move(walk, min(step, room), 1.0)
    if not step < room:
        return THE_END
    if walk.side[i] != FREE:
        join(walk, i)
    elif not leave(walk, i):
        return THE_END
    else:
        rejoin(walk, FREED)
    return GO_ON


@inlined
def arrived(seeding, walk):  # type: ignore[no-untyped-def]
    """Copy the walk's last α, clipped to the box, to the seed if all numbers are finite."""
    alpha, at_the_end = walk.values[AT.alpha], walk.now[0].t >= 1.0 - ROUNDING
    for t in range(len(alpha)):
        i = walk.places[t]
        lower, upper = seeding.lower[i], seeding.upper[i]
        alpha[t] = min(max(alpha[t], lower), upper)
        if at_the_end and walk.side[t] == ABOVE and np.isfinite(upper):
            alpha[t] = upper
        elif at_the_end and walk.side[t] == BELOW and np.isfinite(lower):
            alpha[t] = lower
        if not np.isfinite(alpha[t]):
            return
    for t in range(len(alpha)):
        seeding.seed[walk.places[t]] = alpha[t]


@allocating
def follow(seeding, b, margin, max_events):  # type: ignore[no-untyped-def]
    """Follow the path if following it is expected to save time; return 0, or −1 − i if kernel row i is missing."""
    n, m, allowed, outside, far = (
        len(seeding.seed),
        int(seeding.memory[1]),
        seeding.memory[0],
        0,
        clip(seeding),
    )
    for i in range(n):
        outside += seeding.seed[i] != seeding.solved[i]
    if expected(n, m, outside) > allowed:  # the path must move at least `outside` variables
        return 0
    values, side = np.zeros((ROWS, n)), np.empty(n, dtype=np.int8)
    moving = exchange(seeding, b, far, values, side)
    work = float(n * (moving + m))
    if expected(n, m, moving) > allowed:
        return 0
    missing = missing_row(seeding, values, side)
    if missing >= 0:
        return -1 - missing
    walk = with_room(first_walk(seeding, values, side, margin))
    rejoin(walk, TIED)
    for _ in range(max_events):
        walk = with_room(walk)
        work += walk.now[0].m * (len(walk.side) + 2 * walk.now[0].m)
        code = advance(seeding, walk)
        if code < 0:
            return code
        if code == THE_END or work > PATIENCE * allowed:
            break
    arrived(seeding, walk)
    return 0


@twin(SEED, allocates=True)
def ato(parameters, seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ATO`."""
    if len(seeding.memory) == 0:
        clip(seeding)
    else:
        code = follow(seeding, offset(seeding), parameters[0], np.int64(parameters[1]))
        if code != 0:
            seeding.now[0].missing = -1 - code
            return 0
    complete(seeding)
    return 0
