"""Compiled twins of `refsvm.core.seeders.spread`."""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.twin import called
from refsvm.compiled.state import moved

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)  # refsvm.core.seeders.spread


@called
def total(values):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.seeders.spread.total`."""
    result = 0.0
    for value in values:
        result += value
    return result


@called
def spread(alpha, among, missing, lower, upper):  # type: ignore[no-untyped-def]
    """Compiled twin of `refsvm.core.seeders.spread.spread`; `among` marks the variables that may change."""
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
    """Compiled twin of `refsvm.core.seeders.spread.complete`, on ``seeding.seed``."""
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
