"""Special-event routine (§VI): examples that stand exactly between two sets and block the way change their set.

Flipping all blocking examples at once is block principal pivoting, applied to the complementarity problem of the
direction; it can cycle. So the guard falls back on the lowest index alone, and from that on the backup routine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refsvm.core.walk.walk import ABOVE, BELOW, FREE, Walk


def blocking(walk: Walk, noise: tuple[float, float], shortest: float, regular: bool) -> list[tuple[int, int]]:
    """Return the examples that let λ fall by no more than `shortest`, each with where it should be.

    (S1) ŝ at its bound and moving out: to 𝓛;  (S2) ŝ at 0 and moving out: to 𝓡;
    (S3), (S4) ξ at 0 and moving out of 𝓡, 𝓛: to 𝓔.

    S1 and S2 need a unique direction, that is a `regular` A. S3 and S4 do not: no null vector moves G − b̂.
    """
    rates = walk.rates(noise)
    up, down, entering = (rates > 0.0) & (walk.distances() <= shortest * rates)
    moved = [(down, BELOW), (up & ~down, ABOVE)] if regular else []
    return [(i, side) for mask, side in [*moved, (entering, FREE)] for i in np.flatnonzero(mask).tolist()]


@dataclass
class SwitchingGuard:
    """Notices when the sets return to where they have been at the same λ; a new λ has a new guard.

    Parameters
    ----------
    ell : int
        ℓ: most special events at one λ.
    """

    ell: int
    visited: set[bytes] = field(default_factory=set)
    one_at_a_time: bool = False
    n_sr: int = 0
    chosen: int = 0

    def looping(self, walk: Walk) -> bool:
        """Count a special event; return whether the flips lead nowhere, so that the backup routine is needed."""
        self.n_sr += 1
        key = walk.side.tobytes()
        if key in self.visited:
            if self.one_at_a_time:
                return True
            self.one_at_a_time = True
            self.visited.clear()
        self.visited.add(key)
        return self.n_sr > self.ell

    def may_choose(self) -> bool:
        """Whether the derivative may be asked for the sets once more; three times at one λ."""
        self.chosen += 1
        return self.chosen <= 3
