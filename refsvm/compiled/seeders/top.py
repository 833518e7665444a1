"""Compiled twin of `refsvm.TOP`."""

from __future__ import annotations

from refsvm.compiled.interface.rows import row_or_ask
from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import called, twin
from refsvm.compiled.seeders.spread import complete
from refsvm.compiled.state import moved


@called
def hand_over(seeding, row, weight):  # type: ignore[no-untyped-def]
    """Distribute `weight` over the αₜ in descending order of row[t]; each αₜ takes as much as its bound permits."""
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
    """Compiled twin of `refsvm.TOP`."""
    alpha, solved, lower, upper = seeding.seed, seeding.solved, seeding.lower, seeding.upper
    # α ← clip(α*, L, U); the kernel rows of changed variables must be in memory
    for r in range(len(alpha)):
        alpha[r] = min(max(solved[r], lower[r]), upper[r])
        if alpha[r] != solved[r] and not row_or_ask(seeding, r)[1]:
            return 0
    # αₜ += δ for t in descending order of Kᵣₜ
    for r in range(len(alpha)):
        clipped = min(max(solved[r], lower[r]), upper[r])
        if clipped != solved[r]:
            hand_over(seeding, seeding.kernel[seeding.slots[r]], solved[r] - clipped)
    complete(seeding)
    return 0
