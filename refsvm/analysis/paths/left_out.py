"""LeftOutPaths: proves or computes, for each example r and each C, the sign of h(xᵣ) of the machine trained without r.

The variables are scaled: s = λα, f = λ(h − b) and ŵ = λw. If s is feasible without example r, s is also optimal without
r. If the machine trained with r predicts r wrongly, the machine trained without r also predicts r wrongly. In all other
cases, a ball contains ŵ_R, the weights of the machine trained without r:

    s + δ is feasible without r: δᵣ moves sᵣ into the box that remains without r, by an amount called the excess,
    and the δⱼ divide this amount among the free variables j ∈ M.
    P_R(ŵ, b̂) − D_R(s + δ) = ½‖δŵ‖², as G = b on M, so ½‖ŵ − ŵ_R‖² + ½‖ŵ + δŵ − ŵ_R‖² ≤ ½‖δŵ‖²

A computed breakpoint is only near the optimum, so `LeftOutPaths` adds the breakpoint's duality gap and |G − b| on M to
the radius (`refsvm.core.stopping.midpoint`).

ŵ_R lies in the ball over the diameter from ŵ to ŵ + δŵ, and for every j

    |f_R(xⱼ) − f_R(xᵣ) − (fⱼ − fᵣ + ½ δŵ·(φⱼ − φᵣ))| ≤ ½ ‖δŵ‖ ‖φⱼ − φᵣ‖.

ĥ_R(xᵣ) is the η that minimises Σ wⱼ max(0, λ − yⱼ(f_R(xⱼ) − f_R(xᵣ) + η)). This η is positive if the sum falls as η
rises from 0. The sum falls if the negative examples that may have a loss at η = 0 weigh less than the positive examples
that must have a loss. Between two breakpoints, the vectors s, f and δ are affine in λ and ‖δŵ‖ is convex, so a
condition that holds at both breakpoints also holds between them.
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
"""Whether an example has a loss is certain if yf is farther from λ than this, relative to λ; paths are that exact."""

APART: Final = 40
"""Unknown segments with at most this many known segments between them share a walk, to save the time of a start."""


class LeftOutPaths:
    """The sign of the left-out decision value ĥ_R(xᵣ) of each example r, on the whole path.

    Parameters
    ----------
    path : RegularizationPath
        The path of some examples. Equal examples of equal weights may share a variable. If example r shares its
        variable with equal examples, leaving out r narrows the box of this variable by the weight of r.
    rows : ndarray of shape (m,), int64
        The indices of the path's examples among all examples, ascending.
    gram : Gram
        The kernel matrix of all examples; the path uses only the examples in `rows`.
    tracker : PathTracker, optional
        Algorithm that follows the path without example r where the sign of ĥ_R(xᵣ) is unknown.
    engine : str
        As in `refsvm.regularization_path`.

    Attributes
    ----------
    lam : ndarray of shape (m,)
        λ of the breakpoints.
    before, after : ndarrays of shape (m − 1, g)
        For each segment and variable, ĥ_R(xᵣ) at the beginning and at the end of the segment, or a number that only
        has the sign of ĥ_R(xᵣ); NaN if the path does not determine the sign.
    walked : ndarray of shape (g,), int64
        For each variable, number of breakpoints on the paths that were followed without an example of this variable.
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
        # for each variable the weight of one example: leaving out this example shrinks the box by this weight
        self._own = np.abs(path.merged.weight[path.merged.first])
        # the signed amount by which a variable exceeds its box after one of its examples is left out
        self._excess = self._y * np.maximum(np.abs(self._s) - (self._weight - self._own), 0.0)
        diagonal = K.diagonal()
        # rounding errors may make the squared distance of equal examples negative
        self._distances = np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2.0 * K, 0.0))
        self.before, self.after = np.empty((2, len(path.C) - 1, problem.n))
        self.walked = np.zeros(problem.n, dtype=np.int64)
        self._variable = dict(zip(rows.tolist(), path.merged.group.tolist(), strict=True))
        self._known: dict[int, tuple[bool, np.ndarray, np.ndarray]] = {}
        self._with_all = path.crossings(gram.block(np.arange(gram.n), rows))
        # decide all examples of a segment together: one matrix product costs less than a walk for one example
        for k in range(len(path.C) - 1):
            self._decide(k)

    # -- signs from the path of all examples -----------------------------------------------------------------------

    def _decide(self, k: int) -> None:
        """Determine and store the signs of ĥ_R(xᵣ) on segment k, as far as the path of all examples proves them."""
        y, both = self._y, slice(k, k + 2)
        middle = np.abs(self._s[both].mean(axis=0))
        free = (middle > 0.0) & (middle < self._weight)
        delta, off = self._gap(both)
        values, limit = self._values[both], -MARGIN * self.lam[both, None] - delta / self._own
        # 1. s is feasible without r, and another free variable determines b
        same = (self._excess[both] == 0.0).all(axis=0) & (int(free.sum()) - free > 0)
        # 2. r is predicted wrongly, and leaving out r does not make yᵣh(xᵣ) larger
        wrong = (y * values < limit).all(axis=0)
        known = np.where(same, values, np.where(wrong, -y, np.nan))
        # 3. the ball that contains ŵ_R proves the sign
        for label in (1.0, -1.0):
            rest = np.flatnonzero(np.isnan(known[0]) & (y == label))
            if len(rest):
                known[:, rest] = self._by_the_ball(
                    k, rest, free, label, (delta, float(off[free].max(initial=0.0)))
                )
        self.before[k], self.after[k] = known

    def _gap(self, both: slice) -> tuple[float, np.ndarray]:
        """Return an upper bound of the duality gap on a segment, and the largest |Ĝ − b̂| of each variable."""
        s, excess = self._s[both], self.lam[both, None] * self._y - self._values[both]
        lower, upper = np.minimum(0.0, self._y * self._weight), np.maximum(0.0, self._y * self._weight)
        # s and Ĝ − b̂ are affine in λ, so each factor of the products below is largest at an end of the segment
        above = (upper - s).max(axis=0) * np.maximum(excess, 0.0).max(axis=0)
        below = (s - lower).max(axis=0) * np.maximum(-excess, 0.0).max(axis=0)
        return float((above + below).sum()), np.abs(excess).max(axis=0)

    def _by_the_ball(
        self, k: int, rest: np.ndarray, free: np.ndarray, label: float, error: tuple[float, float]
    ) -> np.ndarray:
        """Return the sign of ĥ_R(xᵣ) on segment k for some r of one class; NaN for an unproved sign."""
        y, ends = self._y, (k, k + 1)
        (delta, off), (takers, loss) = error, self._takers(k, rest, free, label)
        loss = max(loss, off)
        moved = [self._moved(end, rest, takers, label) for end in ends]
        # an upper bound of the squared radius: the duality gap + ¼‖δŵ‖² + Σ|δⱼ||Gⱼ − b̂|
        square = np.max([length**2 for _, length, _ in moved], axis=0)
        reach = np.sqrt(delta + 0.25 * square + loss * np.max([most for *_, most in moved], axis=0))
        # where the distance is 0, set `reach` to 0, because 0 times an infinite radius would give NaN
        reach = np.where(self._distances[rest] > 0.0, reach[:, None], 0.0) * self._distances[rest]
        must, cannot = np.ones((2, len(rest), len(y)), dtype=bool)
        for end, (change, *_) in zip(ends, moved, strict=True):
            centre = self._values[end] + 0.5 * change
            centre = y * (centre - centre[np.arange(len(rest)), rest][:, None])
            must &= centre + reach < (1.0 - MARGIN) * self.lam[end]
            cannot &= centre - reach > (1.0 + MARGIN) * self.lam[end]
        # for each class, the total weight of the examples except r that certainly have, or may have, a loss at η = 0
        of_class = self._weight * (y == np.array([[label], [-label]]))
        certain, possible = of_class @ must.T, of_class @ ~cannot.T
        certain[0] -= self._own[rest]
        possible[0] -= self._own[rest]
        return np.where(possible[1] < certain[0], label, np.where(possible[0] < certain[1], -label, np.nan))

    def _takers(self, k: int, rest: np.ndarray, free: np.ndarray, label: float) -> tuple[np.ndarray, float]:
        """Return which variables balance the change of sᵣ (free, perhaps one bounded), and the largest |G − b̂|."""
        both = slice(k, k + 2)
        room = np.where(self._y == label, self._weight - np.abs(self._s[both]), np.abs(self._s[both]))
        left = (room * free).sum(axis=1, keepdims=True) - (room * free)[:, rest]
        if (left > self._own[rest]).all():
            return free, 0.0
        # compute |G − b̂| = |λy − ĥ|; set it to ∞ for variables that cannot move from one bound to the other
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
        """Return, for each r at a breakpoint: δŵ·φⱼ for all j; ‖δŵ‖; and the excess of r, which bounds every |δⱼ|."""
        K, a, s = self.path.kernel_matrix, np.abs(self._excess[end, rest]), np.abs(self._s[end])
        # up to a common sign, δᵣ = −aᵣ, and δⱼ = aᵣ uⱼ/Σu for each other j ∈ M; uⱼ is the distance of sⱼ from a bound
        u = np.where(takers, np.where(self._y == label, self._weight - s, s), 0.0)
        own, Ku, diagonal = u[rest], K @ u, K[rest, rest]
        room = u.sum() - own
        # if r's excess would move the other variables beyond their bounds, s + δ is infeasible, and the radius is ∞
        fits = a <= room
        a, room = np.where(fits, a, 0.0), np.where(room > 0.0, room, 1.0)
        change = (a / room)[:, None] * Ku - (a / room * own + a)[:, None] * K[rest]
        # with uᵣ set to 0, ‖δŵ‖² = aᵣ² (uᵀKu/(Σu)² − 2 (Ku)ᵣ/Σu + Kᵣᵣ)
        square = (u @ Ku - 2.0 * own * Ku[rest] + own**2 * diagonal) / room**2
        square += diagonal - 2.0 * (Ku[rest] - own * diagonal) / room
        return label * change, np.where(fits, a * np.sqrt(np.maximum(square, 0.0)), np.inf), a

    # -- walks for the remaining signs -----------------------------------------------------------------------------

    def walked_for(self, r: int) -> int:
        """Return the number of breakpoints on the paths that were followed without example r."""
        return int(self.walked[self._variable[r]]) if r in self._variable else 0

    def turns(self, r: int) -> tuple[np.ndarray, ...]:
        """Return how the machine trained without r votes on example r, as the last four fields of `Turns`.

        Equal examples share the result, because leaving out either of two equal examples gives the same machine.
        """
        variable = self._variable.get(r)
        if variable is None:  # r is not among the examples of the path
            begin, at, index, up = self._with_all
            crossings = begin[r], at[index == r], up[index == r]
        else:
            crossings = self._known[variable] = self._known.get(variable) or self._crossings(variable)
        return (
            np.array([crossings[0]]),
            crossings[1],
            np.zeros(len(crossings[1]), dtype=np.int64),
            crossings[2],
        )

    def _crossings(self, r: int) -> tuple[bool, np.ndarray, np.ndarray]:
        """Return whether ĥ_R(xᵣ) ≥ 0 at the least C, each C where ĥ_R(xᵣ) changes sign, and the new sign."""
        at, values = self._along(r)
        positive = values >= 0.0
        # between two breakpoints ĥ is linear in λ, so its sign changes where the line through its values is 0
        turns = np.flatnonzero(positive[1:] != positive[:-1])
        a, b = values[turns], values[turns + 1]
        C = 1.0 / (at[turns] + (at[turns + 1] - at[turns]) * (a / (a - b)))
        return bool(positive[0]), C, positive[turns + 1]

    def _along(self, r: int) -> tuple[np.ndarray, np.ndarray]:
        """Return descending values of λ, and at each λ the value ĥ_R(xᵣ) or a number with the sign of ĥ_R(xᵣ)."""
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
        """Return, for each path to follow without r, its first segment and the segment after its last segment."""
        segments = np.flatnonzero(np.isnan(self.before[:, r]))
        if not len(segments):
            return []
        # segments near each other share a walk, because starting another walk takes longer than following some events
        parts = np.split(segments, np.flatnonzero(np.diff(segments) > APART) + 1)
        return [(int(part[0]), int(part[-1]) + 1) for part in parts]

    def _walk(self, r: int, first: int, last: int) -> np.ndarray:
        """Follow the optimum without r between two breakpoints; return λ and ĥ_R(xᵣ) at each event, shape (t, 2)."""
        path, K = self.path, self.path.kernel_matrix
        # narrow the box of r's variable by the weight of one example; other examples that share the variable stay
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
