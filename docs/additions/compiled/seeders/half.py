"""Twin of `refsvm.Half`."""

from __future__ import annotations

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.seeders.spread import complete


@twin(SEED)
def half(parameters, seeding):  # type: ignore[no-untyped-def]
    """Twin of `refsvm.Half`."""
    alpha, lower, upper = seeding.seed, seeding.lower, seeding.upper
    # α ← clip(½α*, L, U)
    for i in range(len(alpha)):
        alpha[i] = min(max(0.5 * seeding.solved[i], lower[i]), upper[i])
    complete(seeding)
    return 0
