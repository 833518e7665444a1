"""A run of ordinary events, followed in one call and reported one by one."""

from __future__ import annotations

import numpy as np

from refsvm.paths.breakpoint import Breakpoint, Move
from refsvm.paths.ordinary import INACCURATE, EventLog, Tolerances, empty_log
from refsvm.paths.state import PathState
from refsvm.paths.updated_inverse import InverseFactors

__all__ = ["follow_run"]


def follow_run(
    state: PathState, factors: InverseFactors, limits: Tolerances, most: int
) -> tuple[list[Breakpoint], int]:
    """Follow at most so many ordinary events.

    Returns
    -------
    points : list of Breakpoint
    hits : int
        As `refsvm.paths.ordinary.follow` returns it: what `refsvm.paths.elbow.move_hits` has to move yet.
    """
    before = state.scaled.copy()
    factors.grown(state.m + most)
    log = empty_log(most, most * (state.m + most))
    here = np.array([state.lam, state.intercept])
    m, events, hits = state.search.follow(state.arrays, factors.inverse, log, state.m, here, limits)
    state.m, (state.lam, state.intercept) = m, here.tolist()
    if events:
        factors.members, factors.source = state.elbow.copy(), None
    if hits == INACCURATE:
        # made anew; or, if it was new, left to the QR factors that it was made from
        state.factors, state.current = factors.source, None
    return _reported(log, events, before), hits


def _reported(log: EventLog, events: int, scaled: np.ndarray) -> list[Breakpoint]:
    """Return the breakpoints of a log."""
    points = []
    C = (1.0 / log.lam[:events]).tolist()
    intercept, start, moved = log.intercept[:events].tolist(), log.start.tolist(), log.moved[:events].tolist()
    for k in range(events):
        part = slice(start[k], start[k + 1])
        scaled = scaled.copy()
        scaled[log.changed[part]] = log.value[part]
        example, before, after, m = moved[k]
        move = Move(example, before, after, "full rank")
        points.append(Breakpoint(C[k], scaled, intercept[k], "full rank", (move,), m))
    return points
