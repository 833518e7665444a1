"""Compiled twin of `refsvm.AVG`."""

from __future__ import annotations

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.seeders.spread import complete


@twin(SEED)
def avg(parameters, seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.AVG`."""
    alpha, lower, upper = seeding.seed, seeding.lower, seeding.upper
    # α ← clip(α*, L, U)
    for i in range(len(alpha)):
        alpha[i] = min(max(seeding.solved[i], lower[i]), upper[i])
    complete(seeding)
    return 0
