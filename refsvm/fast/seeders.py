"""Twins of the seeders, and of what they share."""

from __future__ import annotations

import numpy as np

from refsvm.fast.seeding import SEED
from refsvm.fast.state import moved
from refsvm.fast.twin import called, twin

__all__ = ["avg", "cold", "complete", "spread", "top"]

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # refsvm.seeders.spread


@called
def total(values):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.spread.total`."""
    result = 0.0
    for value in values:
        result += value
    return result


@called
def spread(alpha, among, missing, lower, upper):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.spread.spread`; the variables that take part are those marked in `among`."""
    for _ in range(len(alpha) + 1):
        rising, count = missing > 0.0, 0
        for i in range(len(alpha)):
            if among[i] != 0 and (alpha[i] < upper[i] if rising else alpha[i] > lower[i]):
                count += 1
        if missing == 0.0 or count == 0:
            break
        share, reached = missing / count, False
        for i in range(len(alpha)):
            if among[i] != 0 and (alpha[i] < upper[i] if rising else alpha[i] > lower[i]):
                before = alpha[i]
                alpha[i] = moved(before, share, lower[i], upper[i])
                missing += before - alpha[i]
                reached = reached or alpha[i] == (upper[i] if share > 0.0 else lower[i])
        if not reached:
            break
    return missing


@called
def complete(seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.seeders.spread.complete`, on ``seeding.seed``."""
    alpha, lower, upper, chosen = seeding.seed, seeding.lower, seeding.upper, seeding.chosen
    for i in range(len(alpha)):
        chosen[i] = 1 if lower[i] < alpha[i] < upper[i] else 0
    spread(alpha, chosen, seeding.z - total(alpha), lower, upper)
    for i in range(len(alpha)):
        chosen[i] = 1
    for _ in range(2):
        missing, size = seeding.z - total(alpha), 0.0
        for value in alpha:
            size += abs(value)
        if abs(missing) <= ROUNDING * (size + abs(seeding.z)):
            return
        spread(alpha, chosen, missing, lower, upper)


@twin(SEED)
def cold(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.Cold`."""
    alpha, lower, upper = seeding.seed, seeding.lower, seeding.upper
    for i in range(len(alpha)):
        alpha[i] = min(max(0.0, lower[i]), upper[i])
    complete(seeding)
    return 0


@twin(SEED)
def avg(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.AVG`."""
    alpha, lower, upper = seeding.seed, seeding.lower, seeding.upper
    # α ← clip(α*, L, U)
    for i in range(len(alpha)):
        alpha[i] = min(max(seeding.solved[i], lower[i]), upper[i])
    complete(seeding)
    return 0


@called
def hand_over(seeding, row, weight):  # type: ignore[no-untyped-def]
    """αₜ += weight, clipped, for t in descending order of the row, until all is given."""
    alpha, chosen = seeding.seed, seeding.chosen
    for t in range(len(alpha)):
        chosen[t] = 0
    for _ in range(len(alpha)):
        if weight == 0.0:
            return
        nearest = -1
        for t in range(len(alpha)):
            if chosen[t] == 0 and (nearest < 0 or row[t] > row[nearest]):
                nearest = t
        chosen[nearest] = 1
        before = alpha[nearest]
        alpha[nearest] = moved(before, weight, seeding.lower[nearest], seeding.upper[nearest])
        weight -= alpha[nearest] - before


@twin(SEED)
def top(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.TOP`."""
    alpha, solved, lower, upper = seeding.seed, seeding.solved, seeding.lower, seeding.upper
    # α ← clip(α*, L, U); the rows of what changes have to be there
    for r in range(len(alpha)):
        alpha[r] = min(max(solved[r], lower[r]), upper[r])
        if alpha[r] != solved[r] and seeding.slots[r] < 0:
            return -1 - r
    # αₜ += δ for t in descending order of Kᵣₜ
    for r in range(len(alpha)):
        clipped = min(max(solved[r], lower[r]), upper[r])
        if clipped != solved[r]:
            hand_over(seeding, seeding.kernel[seeding.slots[r]], solved[r] - clipped)
    complete(seeding)
    return 0
