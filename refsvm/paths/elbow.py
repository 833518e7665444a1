"""One step along the path: the direction on the elbow, the correction of rounding, and the step itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.paths.algebra import Factors
from refsvm.paths.linear_program import most_before_crossing
from refsvm.paths.state import ELBOW, LEFT, RIGHT, PathState

__all__ = ["TIE", "Step", "correct", "empty_elbow_step", "move_hits", "particular_direction", "take"]

TIE = 1e-10
"""How near to the end of its set an example is at the end, relative to the width of the box, and to λ for g."""


class Step(NamedTuple):
    """A fall of λ by t, with ŝ −= t d on the elbow and b̂ −= t d_intercept."""

    t: float
    d: np.ndarray
    d_intercept: float
    noise: tuple[float, float]  # what counts as zero in d, and in the rates p
    kind: str
    regular: bool


def particular_direction(
    state: PathState, factors: Factors, tau: float
) -> tuple[np.ndarray, float, tuple[float, float]]:
    """d_p = A⁺(0, v_𝓔), eq. (23), and the rates pᵢ of all examples that follow from it."""
    right = np.empty(state.m + 1)
    right[0], right[1:] = 0.0, state.v[state.elbow]
    x = factors.solve(right)
    d, d_intercept = x[1:], float(x[0])
    state.search.rates(state.arrays, state.m, d, d_intercept, 1.0)
    largest = float(np.abs(d).max())
    return d, d_intercept, (tau * largest, tau * (1.0 + state.m * state.largest * largest))


def correct(state: PathState, factors: Factors) -> None:
    """Remove what rounding left of g on the elbow and of the sum of ŝ, if the sets have changed hands."""
    if not state.unsettled:
        return
    state.unsettled = False
    elbow = state.elbow
    right = np.empty(state.m + 1)
    right[0], right[1:] = -state.scaled.sum(), (state.sign * state.slack)[elbow]
    if np.abs(right).max() <= 1e-14 * (1.0 + state.lam):
        return
    x = factors.solve(right)
    low, high, moved = state.low[elbow], state.high[elbow], state.scaled[elbow] + x[1:]
    slip = 1e-11 * (high - low)
    if ((moved >= low - slip) & (moved <= high + slip)).all():
        state.shift(moved.clip(low, high) - state.scaled[elbow], float(x[0]))


def empty_elbow_step(state: PathState, room: float) -> Step:
    """Remark 4: with no point on the elbow b̂ alone is free; the program (30)–(34) in t and b̂, solved in closed form."""
    # λv − Kŝ − b̂ ≤ 0 where ŝ may rise, ≥ 0 where it may fall
    total = state.sign * state.slack + state.intercept
    rises = (state.sign != 0.0) & (state.scaled < state.high)
    falls = (state.sign != 0.0) & (state.scaled > state.low)
    t, lowest, highest = most_before_crossing(
        total[rises], -state.v[rises], total[falls], -state.v[falls], room, 0.1 * TIE * state.lam
    )
    level = 0.5 * (lowest + highest)
    state.rates[:] = (
        state.sign * ((state.intercept - level) / t - state.v) if t > 0.0 else -state.sign * state.v
    )
    noise = 1e-12 * (1.0 + float(np.abs(state.v).max()))
    return Step(
        t, np.empty(0), (state.intercept - level) / t if t > 0 else 0.0, (0.0, noise), "empty elbow", True
    )


def take(state: PathState, step: Step, lam_min: float) -> str:
    """Let λ fall by t and move the examples that reach the end of their set, (36)–(46); return the kind of event."""
    lam = state.lam - step.t
    state.lam = lam = lam_min if lam <= lam_min * (1.0 + 1e-12) else lam
    state.intercept -= step.t * step.d_intercept
    count = state.search.advance(state.arrays, state.m, step.d, step.t, step.noise, (TIE, TIE * lam))
    move_hits(state, count, step.kind)
    if not step.regular:
        state.unsettled = True
    return "end" if lam == lam_min else step.kind


def move_hits(state: PathState, count: int, kind: str) -> None:
    """Change the sets of the first `count` examples in ``state.arrays.hits``, (40)–(46)."""
    for i in state.arrays.hits[:count].tolist():
        if state.side[i] != ELBOW:
            state.enter(i, kind)
            continue
        at_zero = abs(state.scaled[i]) < abs(state.weight[i] - state.scaled[i])
        state.leave(i, RIGHT if at_zero else LEFT, kind)
    if count > 1:
        state.unsettled = True
