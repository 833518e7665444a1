"""Special-event routine (Ong et al., §VI): finds the examples that keep λ from falling, and moves them to another set.

Moving all these examples at once is block principal pivoting for the complementarity problem of the direction. Such
pivoting can cycle. If the sets repeat, the tracker moves only the example with the lowest index; if the sets repeat
again, the tracker calls the backup routine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from refsvm.core.walk.walk import ABOVE, BELOW, FREE, Walk


def blocking(walk: Walk, noise: tuple[float, float], shortest: float, regular: bool) -> list[tuple[int, int]]:
    """Return the examples that keep λ from falling by more than `shortest`, and the set to which each should move.

    In cases (S1) and (S2), ŝ is at its bound or at 0 and would leave the box, so the example moves to 𝓛 or 𝓡. In cases
    (S3) and (S4), ξ is 0 and would get the wrong sign, so the example moves to 𝓔.

    S1 and S2 need a unique direction, hence a `regular` A. S3 and S4 need no unique direction, because null vectors do
    not change G − b̂.
    """
    rates = walk.rates(noise)
    up, down, entering = (rates > 0.0) & (walk.distances() <= shortest * rates)
    moved = [(down, BELOW), (up & ~down, ABOVE)] if regular else []
    return [(i, side) for mask, side in [*moved, (entering, FREE)] for i in np.flatnonzero(mask).tolist()]


@dataclass
class SwitchingGuard:
    """Detects sets that have occurred before at the same λ; use a new object for each λ.

    Parameters
    ----------
    ell : int
        The largest number ℓ of special events at one λ.
    """

    ell: int
    visited: set[bytes] = field(default_factory=set)
    one_at_a_time: bool = False
    n_sr: int = 0
    chosen: int = 0

    def looping(self, walk: Walk) -> bool:
        """Count a special event; return True after ℓ events, or if sets repeat although examples move one by one."""
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
        """Return True if SMO may choose the sets from the derivative, which is allowed three times at one λ."""
        self.chosen += 1
        return self.chosen <= 3
