"""Compiled twin of `refsvm.Cold`."""

from __future__ import annotations

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.seeders.spread import complete


@twin(SEED)
def cold(parameters, seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.Cold`."""
    alpha, lower, upper = seeding.seed, seeding.lower, seeding.upper
    for i in range(len(alpha)):
        alpha[i] = min(max(0.0, lower[i]), upper[i])
    complete(seeding)
    return 0
