"""Compiled twin of `refsvm.SIR`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.seeders.exchange import ADDED, REMOVED, SHARED, has_rows, mark_sets, spread_over_added

FACTOR, MODULUS = 48271, 2**31 - 1  # refsvm.core.seeders.sir


@called
def most_similar(seeding, r):  # type: ignore[no-untyped-def]
    """Return the unused added variable t of r's class with the largest Kᵣₜ, or −1 if no such t is left."""
    row, nearest = seeding.kernel[seeding.slots[r]], -1
    for t in range(len(row)):
        if seeding.chosen[t] == ADDED:
            same = seeding.upper[t] > 0.0 if seeding.solved[r] > 0.0 else seeding.lower[t] < 0.0
            if same and (nearest < 0 or row[t] > row[nearest]):
                nearest = t
    return nearest


@called
def random_unused(seeding, state):  # type: ignore[no-untyped-def]
    """Return the unused added variable that the random number `state` chooses, or −1 if no such variable is left."""
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
    """Compiled twin of `refsvm.SIR`."""
    mark_sets(seeding)
    if not has_rows(seeding, REMOVED):
        return 0
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
        seeding.chosen[t] = SHARED  # no later example may use t
        seeding.seed[t] = min(max(weight, seeding.lower[t]), seeding.upper[t])
    spread_over_added(seeding)
    return 0
