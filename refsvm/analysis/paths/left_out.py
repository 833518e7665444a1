"""LeftOutPaths: the sign of each left-out decision value along the path, read off the path of all or walked to.

In scaled variables s = λα, f = λ(h − b) and ŵ = λw. While the box without r holds s, both paths are one. While r is
predicted wrongly although it is trained on, it is wrong without it. Elsewhere a ball holds ŵ_R, the machine without r:

    s + δ is feasible without r:  δᵣ takes away what r has too much, and the free variables j ∈ M share it
    P_R(ŵ, b̂) − D_R(s + δ) = ½‖δŵ‖²,  as G = b on M,  so  ½‖ŵ − ŵ_R‖² + ½‖ŵ + δŵ − ŵ_R‖² ≤ ½‖δŵ‖²

A computed breakpoint is near the optimum: its duality gap and |G − b| on M are added (`refsvm.core.stopping.midpoint`).

ŵ_R lies in the ball over the diameter from ŵ to ŵ + δŵ, and for every j

    |f_R(xⱼ) − f_R(xᵣ) − (fⱼ − fᵣ + ½ δŵ·(φⱼ − φᵣ))| ≤ ½ ‖δŵ‖ ‖φⱼ − φᵣ‖.

ĥ_R(xᵣ) minimises Σ wⱼ max(0, λ − yⱼ(f_R(xⱼ) − f_R(xᵣ) + η)) over η. It is positive if this falls at η = 0: if the
negative examples that may have a loss there weigh less than the positive ones that must have one. On a segment between
two breakpoints s, f and δ are affine in λ and ‖δŵ‖ is convex, so what holds at both ends holds between them.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.kernels.gram import Gram
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.paths.recorder import Timeline
from refsvm.core.paths.tracking import EPS_START, chosen_tracker
from refsvm.core.trackers.backup import solve_at
from refsvm.core.trackers.base import PathTracker, points_of
from refsvm.core.walk.line import RegularizationLine
from refsvm.core.walk.state import PathState

MARGIN: Final = 1e-6
"""Distance of a loss from its limit, relative to λ, from which on it is certain: points of a path are that exact."""

APART: Final = 40
"""Two walks of one example with fewer known segments between them are one: to begin a walk takes as long."""


class LeftOutPaths:
    """The sign of ĥ_R(xᵣ) for each r, on the whole path.

    Parameters
    ----------
    path : RegularizationPath
        Of some examples, in which equal examples of equal weights may be one variable. Without r its box is narrower by
        the weight of one of them.
    rows : ndarray of shape (m,), int64
        Their numbers among all, ascending.
    gram : Gram
        Of all examples; the path never used the others.
    tracker : PathTracker, optional
        Follows the paths.
    engine : str

    Attributes
    ----------
    lam : ndarray of shape (m,)
        λ of the breakpoints.
    before, after : ndarrays of shape (m − 1, g)
        For each segment and variable ĥ_R(xᵣ) at its two ends, or a number of the same sign; NaN if the path does not
        tell it.
    walked : ndarray of shape (g,), int64
        Breakpoints of the walks for each variable.
    """

    def __init__(
        self, path: RegularizationPath, rows: np.ndarray, gram: Gram, tracker: PathTracker | None = None,
        engine: str = "auto",
    ) -> None:  # fmt: skip
        path.check_not_empty()
        points, problem, K = Timeline(path.record, path.problem.n), path.problem, path.kernel_matrix
        self.path, self._tracker, self._engine = path, chosen_tracker(tracker), engine
        self.lam, self._s = 1.0 / path.C, np.array([points.at(k) for k in range(len(path.C))])
        # ĥ = Ks + b̂
        self._values = self._s @ K + path.record.intercept[:, None]
        self._y, self._weight = problem.v, np.abs(problem.lower + problem.upper)
        # the weight of one example of each variable, all of which leaves
        self._own = np.abs(path.merged.weight[path.merged.first])
        # what r has too much, with its sign
        self._excess = self._y * np.maximum(np.abs(self._s) - (self._weight - self._own), 0.0)
        diagonal = K.diagonal()
        # rounding may put a distance of equal examples below 0
        self._distances = np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2.0 * K, 0.0))
        self.before, self.after = np.empty((2, len(path.C) - 1, problem.n))
        self.walked = np.zeros(problem.n, dtype=np.int64)
        self._variable = dict(zip(rows.tolist(), path.merged.group.tolist(), strict=True))
        self._known: dict[int, tuple[bool, np.ndarray, np.ndarray]] = {}
        self._with_all = path.crossings(gram.block(np.arange(gram.n), rows))
        # all at once: one product for all examples of a segment costs less than a walk for one of them
        for k in range(len(path.C) - 1):
            self._decide(k)

    # -- what the path tells -----------------------------------------------------------------------------------------

    def _decide(self, k: int) -> None:
        """Write what is known of segment k."""
        y, both = self._y, slice(k, k + 2)
        middle = np.abs(self._s[both].mean(axis=0))
        free = (middle > 0.0) & (middle < self._weight)
        delta, off = self._gap(both)
        values, limit = self._values[both], -MARGIN * self.lam[both, None] - delta / self._own
        # 1. the box without r holds s, and b is that of another free variable
        same = (self._excess[both] == 0.0).all(axis=0) & (int(free.sum()) - free > 0)
        # 2. yᵣh(xᵣ) < 0: without r it is no larger
        wrong = (y * values < limit).all(axis=0)
        known = np.where(same, values, np.where(wrong, -y, np.nan))
        # 3. the ball
        for label in (1.0, -1.0):
            rest = np.flatnonzero(np.isnan(known[0]) & (y == label))
            if len(rest):
                known[:, rest] = self._by_the_ball(
                    k, rest, free, label, (delta, float(off[free].max(initial=0.0)))
                )
        self.before[k], self.after[k] = known

    def _gap(self, both: slice) -> tuple[float, np.ndarray]:
        """Return the largest duality gap between two breakpoints, and the largest |Ĝ − b̂| of each variable there."""
        s, excess = self._s[both], self.lam[both, None] * self._y - self._values[both]
        lower, upper = np.minimum(0.0, self._y * self._weight), np.maximum(0.0, self._y * self._weight)
        # s and Ĝ − b̂ are affine in λ: no factor of a term is larger in between than at both ends
        above = (upper - s).max(axis=0) * np.maximum(excess, 0.0).max(axis=0)
        below = (s - lower).max(axis=0) * np.maximum(-excess, 0.0).max(axis=0)
        return float((above + below).sum()), np.abs(excess).max(axis=0)

    def _by_the_ball(
        self, k: int, rest: np.ndarray, free: np.ndarray, label: float, error: tuple[float, float]
    ) -> np.ndarray:
        """Return the signs of ĥ_R(xᵣ), or NaN, for some r of one class on segment k."""
        y, ends = self._y, (k, k + 1)
        (delta, off), (takers, loss) = error, self._takers(k, rest, free, label)
        loss = max(loss, off)
        moved = [self._moved(end, rest, takers, label) for end in ends]
        # the squared radius: δ + ¼‖δŵ‖² + Σ|δⱼ||Gⱼ − b̂|, at most
        square = np.max([length**2 for _, length, _ in moved], axis=0)
        reach = np.sqrt(delta + 0.25 * square + loss * np.max([most for *_, most in moved], axis=0))
        # where nothing bounds it, 0 of an example's own distance is still 0
        reach = np.where(self._distances[rest] > 0.0, reach[:, None], 0.0) * self._distances[rest]
        must, cannot = np.ones((2, len(rest), len(y)), dtype=bool)
        for end, (change, *_) in zip(ends, moved, strict=True):
            centre = self._values[end] + 0.5 * change
            centre = y * (centre - centre[np.arange(len(rest)), rest][:, None])
            must &= centre + reach < (1.0 - MARGIN) * self.lam[end]
            cannot &= centre - reach > (1.0 + MARGIN) * self.lam[end]
        # the weights of both classes with a loss at η = 0, without r: its own is one of them
        of_class = self._weight * (y == np.array([[label], [-label]]))
        certain, possible = of_class @ must.T, of_class @ ~cannot.T
        certain[0] -= self._own[rest]
        possible[0] -= self._own[rest]
        return np.where(possible[1] < certain[0], label, np.where(possible[0] < certain[1], -label, np.nan))

    def _takers(self, k: int, rest: np.ndarray, free: np.ndarray, label: float) -> tuple[np.ndarray, float]:
        """Return the examples that take over, and their largest |G − b̂|: the free ones, and a bounded one if needed."""
        both = slice(k, k + 2)
        room = np.where(self._y == label, self._weight - np.abs(self._s[both]), np.abs(self._s[both]))
        left = (room * free).sum(axis=1, keepdims=True) - (room * free)[:, rest]
        if (left > self._own[rest]).all():
            return free, 0.0
        # |G − b̂| = |λy − ĥ| of those at a bound, which have all of their box to take from
        loss = np.abs(self.lam[both, None] * self._y - self._values[both]).max(axis=0)
        loss[room.min(axis=0) < self._weight] = np.inf
        takers, nearest = free.copy(), int(loss.argmin())
        if loss[nearest] == np.inf:
            return free, 0.0
        takers[nearest] = True
        return takers, float(loss[nearest])

    def _moved(
        self, end: int, rest: np.ndarray, takers: np.ndarray, label: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return δŵ·φⱼ for all j, ‖δŵ‖, and the most that one of them takes, for each r at a breakpoint."""
        K, a, s = self.path.kernel_matrix, np.abs(self._excess[end, rest]), np.abs(self._s[end])
        # δⱼ = aᵣ uⱼ/Σu for j ∈ M but r, where u is their room, and δᵣ = −aᵣ, up to the sign
        u = np.where(takers, np.where(self._y == label, self._weight - s, s), 0.0)
        own, Ku, diagonal = u[rest], K @ u, K[rest, rest]
        room = u.sum() - own
        # if the takers have no room for it, s + δ is not feasible and nothing bounds ŵ_R
        fits = a <= room
        a, room = np.where(fits, a, 0.0), np.where(room > 0.0, room, 1.0)
        change = (a / room)[:, None] * Ku - (a / room * own + a)[:, None] * K[rest]
        # ‖δŵ‖² = aᵣ² (uᵀKu/(Σu)² − 2 (Ku)ᵣ/Σu + Kᵣᵣ), u without r
        square = (u @ Ku - 2.0 * own * Ku[rest] + own**2 * diagonal) / room**2
        square += diagonal - 2.0 * (Ku[rest] - own * diagonal) / room
        return label * change, np.where(fits, a * np.sqrt(np.maximum(square, 0.0)), np.inf), a

    # -- walks for the rest ------------------------------------------------------------------------------------------

    def walked_for(self, r: int) -> int:
        """Return the breakpoints of the walks for an example."""
        return int(self.walked[self._variable[r]]) if r in self._variable else 0

    def turns(self, r: int) -> tuple[np.ndarray, ...]:
        """Return whether h(xᵣ) ≥ 0 at the least C, without r, and where that changes, as `Turns` has it.

        Equal examples share their walks: without either of them the same machine is left.
        """
        variable = self._variable.get(r)
        if variable is None:  # the path never used it
            begin, at, index, up = self._with_all
            found = begin[r], at[index == r], up[index == r]
        else:
            found = self._known[variable] = self._known.get(variable) or self._crossings(variable)
        return np.array([found[0]]), found[1], np.zeros(len(found[1]), dtype=np.int64), found[2]

    def _crossings(self, r: int) -> tuple[bool, np.ndarray, np.ndarray]:
        """Return whether ĥ_R(xᵣ) ≥ 0 at the least C, each C where that changes, and whether it is so from there."""
        at, values = self._along(r)
        said = values >= 0.0
        # ĥ is linear between two breakpoints, so its sign turns where the chord meets 0
        turns = np.flatnonzero(said[1:] != said[:-1])
        a, b = values[turns], values[turns + 1]
        C = 1.0 / (at[turns] + (at[turns + 1] - at[turns]) * (a / (a - b)))
        return bool(said[0]), C, said[turns + 1]

    def _along(self, r: int) -> tuple[np.ndarray, np.ndarray]:
        """Return λ, which falls, and ĥ_R(xᵣ), linear between them, or numbers of the same sign."""
        at, values, done = [], [], 0
        known = np.column_stack([self.before[:, r], self.after[:, r]])
        ends = np.column_stack([self.lam[:-1], self.lam[1:]])
        for first, last in [*self._unknown(r), (len(known), len(known))]:
            at.append(ends[done:first].ravel())
            values.append(known[done:first].ravel())
            if first < last:
                walk = self._walk(r, first, last)
                self.walked[r] += len(walk)
                at.append(walk[:, 0])
                values.append(walk[:, 1])
            done = last
        return np.concatenate(at), np.concatenate(values)

    def _unknown(self, r: int) -> list[tuple[int, int]]:
        """Return the first segment of each walk of r, and the one after its last."""
        segments = np.flatnonzero(np.isnan(self.before[:, r]))
        if not len(segments):
            return []
        # segments that are near each other share a walk: its start costs more than some events
        parts = np.split(segments, np.flatnonzero(np.diff(segments) > APART) + 1)
        return [(int(part[0]), int(part[-1]) + 1) for part in parts]

    def _walk(self, r: int, first: int, last: int) -> np.ndarray:
        """Follow the optimum without r from one breakpoint to another; return λ and ĥ_R(xᵣ), shape (t, 2)."""
        path, K = self.path, self.path.kernel_matrix
        # a variable of several equal examples loses one of them, and keeps the weight of the others
        less = np.where(np.arange(len(self._y)) == r, (self._weight - self._own) / self._weight, 1.0)
        problem = path.problem.boxed(path.problem.lower * less, path.problem.upper * less)
        line = RegularizationLine(problem, float(path.C[first]), float(path.C[last]))
        walk = PathState(problem, K, self._engine, line)
        walk.variables.alpha[:] = self._s[first]
        points = []
        if solve_at(walk, float(self.lam[first]), EPS_START, "start"):
            points = [(walk.t, float(K[r] @ walk.variables.alpha) + walk.b)]
            for point in points_of(self._tracker, walk, float(self.lam[last])):
                points.append((1.0 / point[0], float(K[r] @ point[1]) + point.intercept))
        if walk.status is not None:
            raise ValueError(
                f"The path without example {int(path.merged.first[r])} ends near C={1.0 / walk.t:.6g} "
                f"({walk.status.name}); scale the features (StandardScaler), or choose a smaller C_max."
            )
        return np.array(points)
