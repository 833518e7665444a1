"""Compiled twins of `refsvm.core.seeders.exchange`, and the common part of SIR and MIR."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.twin import called
from refsvm.compiled.seeders.spread import complete, spread, total

ABSENT, SHARED, REMOVED, ADDED = 0, 1, 2, 3


@called
def mark_sets(seeding):  # type: ignore[no-untyped-def]
    """Write to ``seeding.chosen`` whether each variable is absent, shared, removed or added; set the seed to clip(α*).

    `mark_sets` is the twin of the functions in `refsvm.core.seeders.exchange`.
    """
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
    """Spread the missing part of Σα over the added variables T, and any rest over all variables."""
    chosen = seeding.chosen
    for i in range(len(chosen)):
        was = seeding.solved_lower[i] != 0.0 or seeding.solved_upper[i] != 0.0
        now = seeding.lower[i] != 0.0 or seeding.upper[i] != 0.0
        chosen[i] = 1 if now and not was else 0
    spread(seeding.seed, chosen, seeding.z - total(seeding.seed), seeding.lower, seeding.upper)
    complete(seeding)


@called
def has_rows(seeding, kind):  # type: ignore[no-untyped-def]
    """Return True if the kernel rows of all variables marked `kind` are in memory; otherwise request a missing row.

    Among removed variables, only variables with α* ≠ 0 need their kernel rows.
    """
    for i in range(len(seeding.seed)):
        wanted = seeding.chosen[i] == kind and (kind != REMOVED or seeding.solved[i] != 0.0)
        if wanted and not row_or_ask(seeding, i)[1]:
            return False
    return True


@called
def offset(seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.seeders.exchange.offset`."""
    top, bottom = -np.inf, np.inf
    for i in range(len(seeding.solved)):
        if seeding.solved[i] < seeding.solved_upper[i] and seeding.gradient[i] > top:
            top = seeding.gradient[i]
        if seeding.solved[i] > seeding.solved_lower[i] and seeding.gradient[i] < bottom:
            bottom = seeding.gradient[i]
    if top == -np.inf:
        return bottom if bottom < np.inf else 0.0
    return (top + bottom) / 2 if bottom < np.inf else top
