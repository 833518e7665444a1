"""Compiled twin of `refsvm.core.walk.walk`: follows one event, for `ATO` and for runs of ordinary events on a path."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba import float64, int8, int64, types

from refsvm.compiled.interface.by_address import Block, by_address
from refsvm.compiled.interface.twin import allocating, called
from refsvm.compiled.kernels.rows import add_rows
from refsvm.compiled.walk.bordered import (
    System,
    delete,
    distance,
    frees,
    insert,
    insert_first,
    system_of,
    times,
)
from refsvm.core._checks import read_only
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE, TIED, Variables

AT = Variables(*range(len(Variables._fields)))
"""Indices of the rows of ``values``."""

FREED = CLOSED + 1
"""Mark of a variable that was TIED and may now join M."""

MORE = 64
"""Number of members by which the arrays grow at once."""

FIELDS = [
    ("t", np.float64),
    ("b", np.float64),
    ("total", np.float64),
    ("least", np.float64),  # a variable joins M if its squared distance from M's affine hull is larger
    ("m", np.int64),
]
# np.record lets twins read the fields as attributes even if Python interprets the twins
NOW = np.dtype((np.record, FIELDS))


@by_address()
class Walk(NamedTuple):
    """The arrays of `refsvm.core.walk.walk.Walk`, and its numbers in ``now[0]``."""

    values: np.ndarray
    side: np.ndarray
    rows: np.ndarray  # kernel rows of M; empty if all of K is used (slots and places are then 0, 1, 2 …)
    members: np.ndarray
    system: System
    # read-only: row i of K contains the entries `places` of kernel[slots[places[i]]]
    kernel: np.ndarray
    slots: np.ndarray
    places: np.ndarray
    now: np.ndarray


@by_address()
class EventLog(NamedTuple):
    """The events of a run.

    Attributes
    ----------
    t, intercept : ndarrays of shape (e,)
        λ and b̂ (or t and b) after each event.
    moved : ndarray of shape (e, 4), int64
        For each event: the example (−1 at the end of the path), its old and its new set, and the new size of the elbow.
    scaled : ndarray of shape (e, n)
        ŝ (or α) after each event.
    """

    t: np.ndarray
    intercept: np.ndarray
    moved: np.ndarray
    scaled: np.ndarray


_vector, _matrix, _indices = float64[::1], float64[:, ::1], int64[::1]
_rows = types.Array(float64, 2, "C", readonly=True)
SYSTEM = Block(System, (_matrix, _vector, _matrix, _indices))
WALK = Block(
    Walk,
    (
        _matrix, int8[::1], _matrix, _indices, SYSTEM, _rows, _indices, _indices,
        types.Array(numba.from_dtype(NOW), 1, "C"),
    ),
)  # fmt: skip


def arrays_of(walk):  # type: ignore[no-untyped-def]
    """Return the arrays of a `refsvm.core.walk.state.PathState` as a `Walk` with space for more members."""
    # share the state's arrays, because most events change only a few entries; copy the state's numbers
    n, m, x, now = len(walk.side), len(walk.members), walk.system.x, np.zeros(1, dtype=NOW)
    now[0] = walk.t, walk.b, walk.total, walk.system.least, m
    members = np.empty(len(x) - 1, dtype=np.int64)
    members[:m] = walk.members
    system = System(walk.system.values, x, np.empty((4, len(x))), np.arange(len(x)))
    return Walk(
        walk.values,
        walk.side,
        walk.rows,
        members,
        system,
        read_only(walk.stored),
        np.arange(n),
        np.arange(n),
        now,
    )


@allocating
def grown(walk):  # type: ignore[no-untyped-def]
    """Return the walk with space for `MORE` more members."""
    # make space for many members at once, because enlarging copies the inverse and all rows
    m, n, room = walk.now[0].m, len(walk.side), len(walk.members) + MORE
    rows, members = np.empty((room, n)), np.empty(room, dtype=np.int64)
    for s in range(m):
        members[s] = walk.members[s]
        for i in range(n):
            rows[s, i] = walk.rows[s, i]
    system = system_of(walk.system.values, walk.system.x, m + 1, room)
    return Walk(walk.values, walk.side, rows, members, system, walk.kernel, walk.slots, walk.places, walk.now)


@called
def direction(walk):  # type: ignore[no-untyped-def]
    """Compute the walk's direction: d and dG − db."""
    values, x, m, minus = walk.values, walk.system.x, walk.now[0].m, walk.system.vectors[0]
    d, pace, push, speed = values[AT.d], values[AT.pace], values[AT.push], values[AT.speed]
    for i in range(len(d)):
        d[i], speed[i] = pace[i], push[i] - x[0]
    for s in range(m):
        d[walk.members[s]], minus[s] = x[s + 1], -x[s + 1]
    # dG − db = v¹ − K d_B − db − K_M d_M;
    # if K is not in memory as a whole, read the rows of M from their own array
    copied = len(walk.rows) > 0
    rows, order = walk.rows if copied else walk.kernel, walk.system.order if copied else walk.members
    add_rows(speed, minus, rows, order, m)


@called
def reach(walk, noise_of_alpha, noise_of_excess):  # type: ignore[no-untyped-def]
    """Return the variable with the next event, or −1 if no variable has an event, and the distance to the event."""
    values, side, first, step = walk.values, walk.side, -1, np.inf
    alpha, excess, d, speed = values[AT.alpha], values[AT.excess], values[AT.d], values[AT.speed]
    for i in range(len(side)):
        if side[i] == FREE:
            to_upper, to_lower = d[i] - values[AT.upper_rate, i], values[AT.lower_rate, i] - d[i]
            if to_upper > noise_of_alpha:
                way = max(values[AT.upper, i] - alpha[i], 0.0) / to_upper
                if way < step:
                    first, step = i, way
            if to_lower > noise_of_alpha:
                way = max(alpha[i] - values[AT.lower, i], 0.0) / to_lower
                if way < step:
                    first, step = i, way
        elif side[i] == BELOW or side[i] == ABOVE:
            closing = -side[i] * speed[i]
            if closing > noise_of_excess:
                way = max(side[i] * excess[i], 0.0) / closing
                if way < step:
                    first, step = i, way
    return first, step


@called
def move(walk, step, rate):  # type: ignore[no-untyped-def]
    """Move the walk by `step` along its direction, and increase t by `step` times `rate`."""
    values, now = walk.values, walk.now
    alpha, excess, d, speed = values[AT.alpha], values[AT.excess], values[AT.d], values[AT.speed]
    for i in range(len(alpha)):
        alpha[i] += step * d[i]
        excess[i] += step * speed[i]
    for i in range(len(alpha)):
        values[AT.lower, i] += step * values[AT.lower_rate, i]
        values[AT.upper, i] += step * values[AT.upper_rate, i]
    now[0].b += step * walk.system.x[0]
    now[0].t += step * rate


@called
def of_members(walk, row, u):  # type: ignore[no-untyped-def]
    """Write (1, K_Mk) to `u` for the variable k with the kernel row `row`."""
    u[0] = 1.0
    for s in range(walk.now[0].m):
        u[s + 1] = row[walk.places[walk.members[s]]]


@called
def change_pace(walk, i, pace):  # type: ignore[no-untyped-def]
    """Set the rate at which variable i moves while it is outside M; the rate is 0 once i joins M."""
    push, change = walk.values[AT.push], pace - walk.values[AT.pace, i]
    walk.values[AT.pace, i] = pace
    if change != 0.0:
        row = walk.kernel[walk.slots[walk.places[i]]]
        for t in range(len(push)):
            push[t] -= change * row[walk.places[t]]
        walk.now[0].total -= change


@called
def distance_of(walk, i):  # type: ignore[no-untyped-def]
    """Return s of i, its squared distance from the affine hull of a non-empty set M."""
    row = walk.kernel[walk.slots[walk.places[i]]]
    of_members(walk, row, walk.system.vectors[1])
    return distance(walk.system, walk.now[0].m + 1, row[walk.places[i]])


@called
def add_member(walk, i, s):  # type: ignore[no-untyped-def]
    """Add variable i to the free set M, which must have space; call ``s = distance_of(walk, i)`` just before."""
    row, right, pace = (
        walk.kernel[walk.slots[walk.places[i]]],
        walk.values[AT.push, i],
        walk.values[AT.pace, i],
    )
    m = walk.now[0].m
    change_pace(walk, i, 0.0)
    if m == 0:
        insert_first(walk.system, row[walk.places[i]], walk.now[0].total, walk.values[AT.push, i])
    else:
        insert(walk.system, m + 1, s, right, pace)
    if len(walk.rows) > 0:
        for t in range(len(walk.side)):
            walk.rows[m, t] = row[walk.places[t]]
    walk.members[m], walk.side[i] = i, FREE
    walk.now[0].m = m + 1


@called
def join(walk, i):  # type: ignore[no-untyped-def]
    """Add i to the free set M, which must have space; if i's kernel row depends on rows of M, mark i as TIED."""
    # the first member of M cannot depend on other members
    s = distance_of(walk, i) if walk.now[0].m > 0 else np.inf
    if s > walk.now[0].least:
        add_member(walk, i, s)
        return
    walk.side[i] = TIED
    if walk.values[AT.pace, i] != 0.0:
        change_pace(walk, i, 0.0)
        solve(walk)


@called
def leave(walk, i):  # type: ignore[no-untyped-def]
    """Move variable i from M to its bound, and mark TIED variables that may join M; return False if A⁻¹ is spoiled."""
    values, side, members, m, slot, u = (
        walk.values,
        walk.side,
        walk.members,
        walk.now[0].m,
        0,
        walk.system.vectors[1],
    )
    while members[slot] != i:
        slot += 1
    to_upper, to_lower = (
        values[AT.d, i] - values[AT.upper_rate, i],
        values[AT.lower_rate, i] - values[AT.d, i],
    )
    above = to_upper > to_lower
    if to_upper > 0.0 and to_lower > 0.0:
        above = values[AT.upper, i] - values[AT.alpha, i] < values[AT.alpha, i] - values[AT.lower, i]
    side[i], bound, rate = (ABOVE, AT.upper, AT.upper_rate) if above else (BELOW, AT.lower, AT.lower_rate)
    values[AT.alpha, i], pace = values[bound, i], values[rate, i]
    # only mark variables as FREED; they join M after this loop, because joining changes the system that the loop reads
    for k in range(len(side)):
        if side[k] == TIED:
            of_members(walk, walk.kernel[walk.slots[walk.places[k]]], u)
            if m == 1 or frees(walk.system, m + 1, slot, walk.now[0].least):
                side[k] = FREED
    if not delete(walk.system, m + 1, slot, pace):
        return False
    members[slot] = members[m - 1]
    if len(walk.rows) > 0:
        for t in range(len(side)):
            walk.rows[slot, t] = walk.rows[m - 1, t]
    walk.now[0].m = m - 1
    change_pace(walk, i, pace)
    return True


@called
def solve(walk):  # type: ignore[no-untyped-def]
    """Solve the bordered system of M for its right-hand side."""
    m, right = walk.now[0].m, walk.system.vectors[1]
    right[0] = walk.now[0].total
    for s in range(m):
        right[s + 1] = walk.values[AT.push, walk.members[s]]
    times(walk.system, m + 1, right, walk.system.x)


@called
def first_taker(walk):  # type: ignore[no-untyped-def]
    """Return the variable that can balance Σα if M is empty, or −1 if no variable can."""
    values, best, key = walk.values, -1, -np.inf
    for i in range(len(walk.side)):
        if walk.side[i] != CLOSED and values[AT.pace, i] == 0.0:
            if walk.now[0].total > 0.0:
                able, value = values[AT.alpha, i] < values[AT.upper, i], values[AT.excess, i]
            else:
                able, value = values[AT.alpha, i] > values[AT.lower, i], -values[AT.excess, i]
            if able and value > key:
                best, key = i, value
    return best


@called
def take(walk, i):  # type: ignore[no-untyped-def]
    """Set b to the G of i, so that i can join the empty set M."""
    excess = walk.values[AT.excess]
    change = excess[i]
    walk.now[0].b += change
    for t in range(len(excess)):
        excess[t] -= change
    join(walk, i)
