"""PathRecorder: stores each breakpoint of a path as its changes from the previous breakpoint."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from refsvm.core.walk.breakpoint import Point

EVENT = np.dtype(
    [
        ("breakpoint", np.int64),  # number of the breakpoint at which the event happens
        ("index", np.int64),  # index of the example (the first of merged duplicates)
        ("before", np.int8),  # side before the event: −1 right side, 0 elbow, 1 left side (as in `Move`)
        ("after", np.int8),
        ("kind", "U16"),  # cause: full rank, linear program, empty elbow, special, backup, repair, start, end
    ]
)

POINT: Final = [("t", np.float64), ("intercept", np.float64), ("kind", "U16"), ("elbow", np.int64)]

POINTS: Final = 64
"""Number of points that are compared at once; comparing them one by one took longer than computing the events."""


class PathRecord(NamedTuple):
    """The arrays of a path with m breakpoints and c changes of entries of ŝ = α/C.

    Attributes
    ----------
    t : ndarray of shape (m,)
        The parameter of the line at each breakpoint; on the line λ = 1/C, this array holds C, ascending. A value of `t`
        occurs twice if α, ŝ or b jumps at this value from one optimal point to another.
    intercept : ndarray of shape (m,)
        b̂ = b/C. If the path does not follow C, the record holds b and α in place of b̂ and ŝ.
    elbow : ndarray of shape (m,), int64
        Number of free variables (the elbow) after each breakpoint.
    kind : ndarray of shape (m,), str
        The event or routine that led to each breakpoint, as in `refsvm.core.walk.breakpoint.Breakpoint`.
    start : ndarray of shape (m + 1,), int64
        The changes at breakpoint k are the entries of `changed` and `value` from start[k] to start[k + 1].
    changed, value : ndarrays of shape (c,), int64 and float64
        For each change, the index of the variable and the new value of its ŝ.
    events : structured ndarray of dtype `EVENT`
        One entry for each move of a variable between the right side, the elbow and the left side (see `EVENT`).
    """

    t: np.ndarray
    intercept: np.ndarray
    elbow: np.ndarray
    kind: np.ndarray
    start: np.ndarray
    changed: np.ndarray
    value: np.ndarray
    events: np.ndarray

    @property
    def C(self) -> np.ndarray:  # noqa: N802
        """The C of all breakpoints: another name for `t` on the line λ = 1/C."""
        return self.t

    def __repr__(self) -> str:
        return f"PathRecord({len(self.t)} breakpoints, {len(self.events)} events)"

    def until(self, m: int) -> PathRecord:
        """Return the first m breakpoints."""
        c = int(self.start[m])
        return PathRecord(
            self.t[:m], self.intercept[:m], self.elbow[:m], self.kind[:m], self.start[: m + 1],
            self.changed[:c], self.value[:c], self.events[self.events["breakpoint"] < m],
        )  # fmt: skip


class PathRecorder:
    """Collects breakpoints and stores only the values that differ from the previous breakpoint.

    Parameters
    ----------
    n : int
        Number of variables.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.walk.breakpoint import Breakpoint
    >>> from refsvm.core.paths.recorder import PathRecorder
    >>> recorder = PathRecorder(2)
    >>> recorder.add(Breakpoint(1.0, np.array([0.5, -0.5]), 0.0, "start", (), 2))
    >>> recorder.add(Breakpoint(2.0, np.array([0.5, -0.2]), 0.1, "end", (), 1))
    >>> recorder.record().start
    array([0, 2, 3])
    """

    def __init__(self, n: int) -> None:
        # row 0 holds zeros, with which the first point is compared
        self._rows, self._filled = np.zeros((POINTS + 1, n)), 1
        self._points: list[tuple[float, float, str, int]] = []
        self._count: list[np.ndarray] = []
        self._index: list[np.ndarray] = []
        self._value: list[np.ndarray] = []
        self._events: list[tuple[int, int, int, int, str]] = []

    def add(self, point: Point) -> None:
        """Append one breakpoint."""
        at, self._rows[self._filled], intercept, kind, moves, elbow = point
        self._filled += 1
        if self._filled > POINTS:
            self._compress()
        self._events += [(len(self._points), *move) for move in moves]
        self._points.append((at, intercept, kind, elbow))

    def _compress(self) -> None:
        """Store the differences between successive points; keep the last point, to compare it with the next point."""
        rows = self._rows[: self._filled]
        new = rows[1:].ravel()
        changed = np.flatnonzero(new != rows[:-1].ravel())
        point, index = np.divmod(changed, rows.shape[1])
        self._count.append(np.bincount(point, minlength=len(rows) - 1))
        self._index.append(index)
        self._value.append(new[changed])
        self._rows[0], self._filled = rows[-1], 1

    def record(self) -> PathRecord:
        """Return the breakpoints collected so far."""
        self._compress()
        points = np.array(self._points, dtype=POINT)
        return PathRecord(
            **{name: points[name].copy() for name, _ in POINT},
            start=np.append(0, np.cumsum(np.concatenate(self._count))),
            changed=np.concatenate(self._index),
            value=np.concatenate(self._value),
            events=np.array(self._events, dtype=EVENT),
        )


class Timeline:
    """Gives ŝ (or α) of all variables at any breakpoint of a record.

    Parameters
    ----------
    record : PathRecord
    n : int
        Number of variables.
    """

    def __init__(self, record: PathRecord, n: int) -> None:
        # sort all changes by variable, then by breakpoint: the keys are variable·m + breakpoint
        self._m, self._n = len(record.t), n
        keys = record.changed * self._m + np.repeat(np.arange(self._m), np.diff(record.start))
        order = keys.argsort(kind="stable")
        self._keys, self._values = keys[order], record.value[order]

    def at(self, k: int) -> np.ndarray:
        """Return ŝ (or α) at breakpoint k, shape (n,)."""
        keys, first = self._keys, np.arange(self._n) * self._m
        if not len(keys):
            return np.zeros(self._n)
        last = keys.searchsorted(first + k, side="right") - 1
        known = (last >= 0) & (keys[np.maximum(last, 0)] >= first)
        return np.where(known, self._values[np.maximum(last, 0)], 0.0)
