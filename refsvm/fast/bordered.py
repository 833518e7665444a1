"""Twin of `refsvm.seeders.bordered`: the system of the free variables, kept solved while they join and leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.fast.twin import allocating, called, inlined

__all__ = [
    "COUNT", "SLOTS", "TERMS", "Free", "add_rows", "cost_of_entering", "enter", "enter_empty", "free_of", "frees",
    "grown", "has_room", "leave", "times",
]  # fmt: skip

SINGULAR = 1e-9  # refsvm.seeders.bordered
COUNT, SLOTS, TERMS = 0, 1, 2
"""Places of the sizes of M: variables in it, slots, products added to P₀."""

MORE = 64
"""Slots that are added at once."""


class Free(NamedTuple):
    """The arrays of `refsvm.seeders.bordered.Bordered`, larger than needed, and the kernel rows of its slots.

    ``terms[t]`` is w of one product, ``columns`` the same transposed: both are read along their rows. The last five
    are for intermediate results: ``column`` and ``image`` for c and P c, the others for sums of rows.
    """

    inverse: np.ndarray
    terms: np.ndarray
    columns: np.ndarray
    scales: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray
    members: np.ndarray
    inside: np.ndarray
    x: np.ndarray
    size: np.ndarray
    column: np.ndarray
    image: np.ndarray
    factors: np.ndarray
    order: np.ndarray
    chosen: np.ndarray


@allocating
def free_of(inverse, members, width):  # type: ignore[no-untyped-def]
    """Return M with these members; its kernel rows, for `width` variables each, are to be filled in."""
    m = len(members)
    room = m + MORE
    free = Free(
        inverse, np.empty((MORE, room + 1)), np.empty((room + 1, MORE)), np.empty(MORE),
        np.empty(MORE, dtype=np.int64), np.empty((room, width)), np.empty(room, dtype=np.int64),
        np.zeros(room, dtype=np.int8), np.zeros(room + 1), np.array([m, m, 0]),
        np.empty(room + 1), np.empty(room + 1), np.empty(room + 1), np.arange(room + 1), np.empty(room, dtype=np.int64),
    )  # fmt: skip
    for s in range(m):
        free.members[s], free.inside[s] = members[s], 1
    return free


@allocating
def grown(free):  # type: ignore[no-untyped-def]
    """Return the same in larger arrays."""
    slots, terms, width = free.size[SLOTS], free.size[TERMS], free.rows.shape[1]
    room, more = slots + MORE, terms + MORE
    longest = max(room + 1, more)
    new = Free(
        free.inverse, np.zeros((more, room + 1)), np.zeros((room + 1, more)), np.empty(more),
        np.empty(more, dtype=np.int64), np.empty((room, width)), np.empty(room, dtype=np.int64),
        np.zeros(room, dtype=np.int8), np.zeros(room + 1), free.size,
        np.empty(room + 1), np.empty(room + 1), np.empty(longest), np.arange(longest), np.empty(room, dtype=np.int64),
    )  # fmt: skip
    # element by element: to assign arrays to arrays compiles the sentence about shapes that differ, 3 s
    for t in range(terms):
        new.scales[t], new.lengths[t] = free.scales[t], free.lengths[t]
        for s in range(slots + 1):
            new.terms[t, s] = new.columns[s, t] = free.terms[t, s]
    for s in range(slots):
        new.members[s], new.inside[s], new.x[s] = free.members[s], free.inside[s], free.x[s]
        for i in range(width):
            new.rows[s, i] = free.rows[s, i]
    new.x[slots] = free.x[slots]
    return new


@inlined
def inner(first, second, length):  # type: ignore[no-untyped-def]
    """Σ first·second from left to right."""
    result = 0.0
    for i in range(length):
        result += first[i] * second[i]
    return result


@called
def add_rows(result, factors, rows, chosen, count):  # type: ignore[no-untyped-def]
    """Result += factors · the chosen rows, one after the other, four in one pass."""
    length, whole = len(result), count - count % 4
    for k in range(0, whole, 4):
        a, b, c, d = factors[k], factors[k + 1], factors[k + 2], factors[k + 3]
        one, two = rows[chosen[k]][:length], rows[chosen[k + 1]][:length]
        three, four = rows[chosen[k + 2]][:length], rows[chosen[k + 3]][:length]
        for t in range(length):
            result[t] = (((result[t] + a * one[t]) + b * two[t]) + c * three[t]) + d * four[t]
    for k in range(whole, count):
        a, one = factors[k], rows[chosen[k]][:length]
        for t in range(length):
            result[t] += a * one[t]


@called
def times(free, vector, length):  # type: ignore[no-untyped-def]
    """P·vector = P₀·vector + Σ (σ·wᵀvector) w, column by column; the result is in ``image``."""
    first, terms, result, factors = len(free.inverse), free.size[TERMS], free.image[:length], free.factors
    for s in range(length):
        result[s] = 0.0
    for t in range(terms):
        factors[t] = 0.0
    add_rows(result[:first], vector, free.inverse, free.order, first)
    add_rows(factors[:terms], vector, free.columns, free.order, length)
    for t in range(terms):
        factors[t] *= free.scales[t]
    add_rows(result, factors, free.terms, free.order, terms)


@called
def add(free, term, length, scale):  # type: ignore[no-untyped-def]
    """P ← P + scale·term·termᵀ."""
    t = free.size[TERMS]
    for s in range(length):
        free.terms[t, s] = free.columns[s, t] = term[s]
    # a slot that comes later has no part in it
    for s in range(length, free.terms.shape[1]):
        free.terms[t, s] = free.columns[s, t] = 0.0
    free.scales[t], free.lengths[t] = scale, length
    free.size[TERMS] = t + 1


@called
def cost_of_entering(free):  # type: ignore[no-untyped-def]
    """Multiplications to let a variable join."""
    return len(free.inverse) ** 2 + 2 * free.size[TERMS] * (free.size[SLOTS] + 1)


@called
def append(free, k, kernel_row, watched, value):  # type: ignore[no-untyped-def]
    """Take a slot."""
    slot = free.size[SLOTS]
    free.members[slot], free.inside[slot], free.x[slot + 1] = k, 1, value
    for place in range(len(watched)):
        free.rows[slot, place] = kernel_row[watched[place]]
    free.size[SLOTS] += 1
    free.size[COUNT] += 1


@inlined
def has_room(free):  # type: ignore[no-untyped-def]
    """Whether there is room for another change."""
    return free.size[SLOTS] < len(free.members) and free.size[TERMS] < len(free.terms)


@called
def enter(free, k, kernel_row, watched, right, moving, largest):  # type: ignore[no-untyped-def]
    """Let k join; return whether that is possible. There is room. `largest` is max |Kᵢᵢ|."""
    length, c, eta = free.size[SLOTS] + 1, free.column, free.image
    c[0] = 1.0
    for s in range(length - 1):
        c[s + 1] = kernel_row[free.members[s]] if free.inside[s] != 0 else 0.0
    times(free, c, length)
    kappa = kernel_row[k] - inner(c, eta, length)
    if not kappa > SINGULAR * largest:
        return False
    change = (right - inner(c, free.x, length)) / kappa
    for s in range(length):
        free.x[s] -= eta[s] * change
    eta[length] = -1.0
    append(free, k, kernel_row, watched, moving + change)
    add(free, eta, length + 1, 1.0 / kappa)
    return True


@allocating
def enter_empty(k, kernel_row, watched, top, right):  # type: ignore[no-untyped-def]
    """Return M with k alone: the inverse of [[0, 1], [1, Kₖₖ]] is [[−Kₖₖ, 1], [1, 0]]."""
    inverse = np.zeros((2, 2))
    inverse[0, 0], inverse[0, 1], inverse[1, 0] = -kernel_row[k], 1.0, 1.0
    free = free_of(inverse, np.zeros(0, dtype=np.int64), len(watched))
    append(free, k, kernel_row, watched, top)
    free.x[0] = right - kernel_row[k] * top
    return free


@called
def leave(free, k):  # type: ignore[no-untyped-def]
    """Let k leave. There is room. An empty M has neither slots nor products."""
    slots = free.size[SLOTS]
    slot = slots - 1
    while free.members[slot] != k or free.inside[slot] == 0:
        slot -= 1
    if free.size[COUNT] == 1:
        for place in range(3):
            free.size[place] = 0
        free.x[0] = 0.0
        return
    length, terms, p, factors = slots + 1, free.size[TERMS], free.image, free.factors
    for s in range(length):
        p[s] = free.inverse[slot + 1, s] if max(s, slot + 1) < len(free.inverse) else 0.0
    for t in range(terms):
        factors[t] = free.scales[t] * free.columns[slot + 1, t]
    add_rows(p[:length], factors, free.terms, free.order, terms)
    for s in range(slots):
        if free.inside[s] == 0:
            p[s + 1] = 0.0
    change = free.x[slot + 1] / p[slot + 1]
    for s in range(length):
        free.x[s] -= p[s] * change
    free.inside[slot], free.x[slot + 1] = 0, 0.0
    free.size[COUNT] -= 1
    add(free, p, length, -1.0 / p[slot + 1])


@called
def frees(free, kernel_row, term, largest):  # type: ignore[no-untyped-def]
    """Whether the variable of this row, which depended on M before `term` took one out, does not any more."""
    p, length = free.terms[term], free.lengths[term]
    part = p[0]
    for s in range(length - 1):
        part += kernel_row[free.members[s]] * p[s + 1]
    return part * part > SINGULAR * largest * (-1.0 / free.scales[term])
