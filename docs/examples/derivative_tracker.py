"""A path tracker that asks at every breakpoint which way the optimum moves, and goes there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm import PathTracker
from refsvm.analysis.paths import Breakpoint, PathState
from refsvm.core.trackers.backup import choose_sets
from refsvm.core.walk.algebra import elbow_matrix
from refsvm.core.walk.elbow import Step, empty_elbow_step, noise_of, take


@dataclass(frozen=True)
class DerivativeTracker(PathTracker):
    """Choose the elbow by the derivative of the path, the direction on it by least squares.

    There is no special event and no linear program: `choose_sets` solves a small dual problem whose solution says which
    of the examples between two sets move. It refuses where the direction is not unique and the one it takes is blocked.
    """

    may_refuse: ClassVar[bool] = True

    def follow(self, walk: PathState, end: float) -> Iterator[Breakpoint]:
        """Yield the breakpoints down to λ = `end`."""
        while walk.t > end * (1.0 + 1e-12):
            if not walk.has_left():
                yield walk.to_the_end(end)
                return
            room = walk.t - end
            step = self.step(walk, room) if walk.members else empty_elbow_step(walk, room)
            if step.length <= 1e-10 * walk.t:
                raise ValueError(f"The direction is blocked at C={1.0 / walk.t:.6g}; use SVMP().")
            kind = take(walk, step, end)
            walk.refresh()
            choose_sets(walk)
            yield walk.breakpoint(kind)

    def step(self, walk: PathState, room: float) -> Step:
        """A (db, d) = (0, −v) on the elbow; λ falls until an example reaches the end of its set."""
        right = np.append(0.0, walk.line.v[walk.elbow])  # the rate of v while λ falls is −v
        x = np.linalg.lstsq(elbow_matrix(walk), right, rcond=1e-12)[0]
        db, noise = walk.direction(x), noise_of(walk, 1e-10)
        _, length = walk.reach(noise)
        return Step(min(length, room), db, noise, "full rank", True)
