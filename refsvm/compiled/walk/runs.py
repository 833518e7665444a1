"""Follows runs of ordinary events, at which one example changes its set and A, the matrix of the elbow, is regular.

A call follows many events, and may reach the end of the path, where no example changes its set. On data without
duplicates, almost all events are ordinary. With m points on the elbow and n examples, an event takes O(mn) operations
for the rates of G − b̂, and O(m²) for three passes over A⁻¹. A run ends before an event that is not ordinary.
"""

from __future__ import annotations

import numpy as np

from refsvm.compiled.interface.twin import ready
from refsvm.compiled.walk.walk import EventLog, arrays_of
from refsvm.core.rule import Rule
from refsvm.core.walk.breakpoint import Move, Point
from refsvm.core.walk.state import PathState


def follow_run(walk: PathState, tracker: Rule, end: float, most: int) -> list[Point]:
    """Follow at most `most` ordinary events with the tracker's twin; return the points of the path at these events."""
    m, n = len(walk.members), len(walk.side)
    if most == 0 or m == 0 or walk.system is None or walk.unsettled or walk.status or not walk.has_left():
        return []
    twin = ready(tracker.twin())
    if twin is None:
        return []
    # make space for all examples that may join M in a run, because the twin cannot enlarge the inverse
    walk.system.make_room(m + most + 2)
    arrays = arrays_of(walk)
    log = EventLog(np.empty(most), np.empty(most), np.empty((most, 4), dtype=np.int64), np.empty((most, n)))
    along = walk.along
    limits = [
        end, walk.largest, walk.line.t, along.push, along.pace, *along.unit, along.span, along.least, along.is_c_path,
        walk.stale_below,
    ]  # fmt: skip
    events = twin(np.array(tracker.parameters()), arrays, log, np.array(limits))
    if events:
        m, walk.total = int(log.moved[events - 1, 3]), float(arrays.now["total"][0])
        walk.t, walk.b, walk.factors = float(log.t[events - 1]), float(log.intercept[events - 1]), None
        walk.members, walk.system.size = arrays.members[:m].tolist(), m + 1
    moved = log.moved[:events]
    # the twin records 1 for the bound U; along λ = 1/C, a `Move` must record 1 for the bound that is not 0
    moved[:, 1:3] *= walk.sign[moved[:, :1]].astype(np.int64)
    points = [
        along.point(t, scaled, b, "full rank", (Move(i, before, after, "full rank"),), m)
        for t, scaled, b, (i, before, after, m) in zip(
            log.t.tolist(), log.scaled, log.intercept.tolist(), moved.tolist(), strict=False
        )
    ]
    if points and moved[-1, 0] < 0:  # the run has reached the end of the path
        walk.clip(end)
        log.scaled[events - 1] = walk.variables.alpha
        points[-1] = points[-1]._replace(kind="end", moves=())
    # add to the first point of the run the moves that the tracker recorded before the run
    if points and walk.moves:
        points[0] = points[0]._replace(moves=(*walk.moves, *points[0].moves))
        walk.moves = []
    return points
