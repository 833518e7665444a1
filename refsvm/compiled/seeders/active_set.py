"""Compiled twin of `refsvm.ActiveSet`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.seeding import SEED
from refsvm.compiled.interface.twin import twin
from refsvm.compiled.seeders.spread import complete


@twin(SEED)
def active_set(parameters, seeding):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.ActiveSet`."""
    alpha, solved = seeding.seed, seeding.solved
    for i in range(len(alpha)):
        alpha[i] = min(max(solved[i], seeding.lower[i]), seeding.upper[i])
        if seeding.solved_lower[i] < seeding.solved_upper[i]:
            if solved[i] == seeding.solved_upper[i] and np.isfinite(seeding.upper[i]):
                alpha[i] = seeding.upper[i]
            if solved[i] == seeding.solved_lower[i] and np.isfinite(seeding.lower[i]):
                alpha[i] = seeding.lower[i]
    complete(seeding)
    return 0
