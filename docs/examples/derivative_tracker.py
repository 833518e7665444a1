"""A path tracker that asks at every breakpoint which way the optimum moves, and goes there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from refsvm import PathTracker
from refsvm.paths import Breakpoint, PathState
from refsvm.paths.algebra import elbow_matrix
from refsvm.paths.backup import choose_sets
from refsvm.paths.elbow import Step, empty_elbow_step, take


@dataclass(frozen=True)
class DerivativeTracker(PathTracker):
    """Choose the elbow by the derivative of the path, the direction on it by least squares.

    There is no special event and no linear program: `choose_sets` solves a small dual problem whose solution says which
    of the examples between two sets move. It refuses where the direction is not unique and the one it takes is blocked.
    """

    may_refuse: ClassVar[bool] = True

    def follow(self, state: PathState, lam_min: float) -> Iterator[Breakpoint]:
        """Yield the breakpoints down to `lam_min`."""
        while state.lam > lam_min * (1.0 + 1e-12):
            if not state.has_left():
                yield state.to_the_end(lam_min)
                return
            room = state.lam - lam_min
            step = self.step(state, room) if state.m else empty_elbow_step(state, room)
            if step.t <= 1e-10 * state.lam:
                raise ValueError(f"The direction is blocked at C={1.0 / state.lam:.6g}; use SVMP().")
            kind = take(state, step, lam_min)
            state.refresh()
            choose_sets(state)
            yield state.breakpoint(kind)

    def step(self, state: PathState, room: float) -> Step:
        """A d = (0, v) on the elbow; λ falls until an example reaches the end of its set."""
        right = np.append(0.0, state.v[state.elbow])
        x = np.linalg.lstsq(elbow_matrix(state), right, rcond=1e-12)[0]
        d, d_intercept = x[1:].copy(), float(x[0])
        search, arrays, m = state.search, state.arrays, state.m
        search.rates(arrays, m, d, d_intercept, 1.0)
        noise = 1e-10 * float(np.abs(d).max()), 1e-10 * (1.0 + m * state.largest * float(np.abs(d).max()))
        t = min(search.elbow_fall(arrays, m, d, noise[0]), search.outside_fall(arrays, noise[1]), room)
        return Step(t, d, d_intercept, noise, "full rank", True)
