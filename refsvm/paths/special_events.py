"""Special-event routine (§VI): examples that stand exactly between two sets and block the way change their set.

Flipping all blocking examples at once is block principal pivoting, applied to the complementarity problem of the
direction; it can cycle. So the guard falls back on the lowest index alone, and from that on the backup routine.
"""

from __future__ import annotations

import numpy as np

from refsvm.paths.state import ELBOW, LEFT, RIGHT, PathState

__all__ = ["SwitchingGuard", "blocking"]


def blocking(
    state: PathState, d: np.ndarray, noise: tuple[float, float], shortest: float, regular: bool
) -> list[tuple[int, int]]:
    """Return the examples that let λ fall by no more than `shortest`, each with the set that it should join.

    (S1) ŝ at its bound and moving out: to 𝓛;  (S2) ŝ at 0 and moving out: to 𝓡;
    (S3), (S4) g at 0 and moving out of 𝓡, 𝓛: to 𝓔.

    S1 and S2 need a unique direction, that is a `regular` A. S3 and S4 do not: no null vector moves g.
    """
    elbow, slack, p = state.elbow, state.slack, state.rates
    found: list[tuple[int, int]] = []
    if regular:
        scaled = state.scaled[elbow]
        reach = shortest * np.abs(d)
        to_low = (d > noise[0]) & (scaled - state.low[elbow] <= reach)
        to_high = (d < -noise[0]) & (state.high[elbow] - scaled <= reach)
        for out, bound in ((to_low, state.low), (to_high, state.high)):
            leaving = elbow[out]
            sides = np.where(bound[leaving] == 0.0, RIGHT, LEFT)
            found += list(zip(leaving.tolist(), sides.tolist(), strict=True))
    reach = shortest * np.abs(p)
    entering = ((state.side == RIGHT) & (p > noise[1]) & (-slack <= reach)) | (
        (state.side == LEFT) & (p < -noise[1]) & (slack <= reach)
    )
    return found + [(i, ELBOW) for i in np.flatnonzero(entering).tolist()]


class SwitchingGuard:
    """Notices when the sets return to where they have been at the same λ.

    Parameters
    ----------
    ell : int
        ℓ: most special events at one λ.
    """

    def __init__(self, ell: int) -> None:
        self.ell = ell
        self.moved_on()

    def moved_on(self) -> None:
        """Forget what happened at the λ before."""
        self.visited: set[bytes] = set()
        self.one_at_a_time = False
        self.n_sr = self.chosen = 0

    def looping(self, state: PathState) -> bool:
        """Count a special event; return whether the flips lead nowhere, so that the backup routine is needed."""
        self.n_sr += 1
        key = state.side.tobytes()
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
