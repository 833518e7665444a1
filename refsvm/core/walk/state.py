"""PathState: the current point of a path, by default along λ = 1/C in the scaled variables of the papers.

    λ = 1/C,   ŝ = λα,   b̂ = λb,   Gᵢ − b̂ = λvᵢ − (Kŝ)ᵢ − b̂ = yᵢλξᵢ.

In the scaled variables only v = λ v⁰ changes with C; the box does not. The variables form three sets. (On other lines
the three sets are the variables at the lower bound, the free variables, and the variables at the upper bound.)

    right 𝓡: ŝᵢ = 0, ξᵢ ≤ 0;       elbow 𝓔: ŝᵢ between its bounds, ξᵢ = 0;       left 𝓛: ŝᵢ = wᵢ, ξᵢ ≥ 0.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from typing import Any, Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.backend import chosen_backend
from refsvm.core.engine.limits import Deadline
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Status
from refsvm.core.walk.breakpoint import Move, Point
from refsvm.core.walk.line import ProblemLine, RegularizationLine
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE, Walk

LONG_FALL: Final = 1e-3
"""G is recomputed from scratch when λ has fallen to this fraction of its value at the last recomputation."""

LOADING: Final = 5.0
"""Seconds that importing Numba may take."""


class PathState(Walk):
    """A point of the path with its three sets and the linear algebra of its elbow.

    Parameters
    ----------
    problem : DualProblem
        The problem at C = 1, with z = 0 and boxes [0, Cwᵢ] or [−Cwᵢ, 0]; if `along` is given, the first problem of
        `along`.
    K : ndarray of shape (n, n)
        The kernel matrix, which may be a view of the first rows and columns of a larger array
        (`refsvm.analysis.growing`).
    engine : str
        The engine that takes the steps, as in `refsvm.solve`.
    along : ProblemLine, optional
        The line; λ = 1/C by default.

    Raises
    ------
    ValueError
        If the engine is unknown, or needs Numba, which is not installed.

    Attributes
    ----------
    t : float
        λ = 1/C, which falls; if the path does not follow C, the parameter of the line.
    along : ProblemLine
        The line, whose methods return the problem at any t and the scales of tolerances.
    variables : Variables
        The state of all variables: ``alpha`` is ŝ, ``excess`` is Gᵢ − b̂, ``lower`` and ``upper`` are the box at C = 1.
        If the path does not follow C, these arrays hold α, Gᵢ − b and the box at t.
    b : float
        b̂ = λb, or b if the path does not follow C.
    side : ndarray of shape (n,), int8
        The set of each variable; CLOSED for examples of weight 0.
    sign : ndarray of shape (n,)
        1 if the box is [0, wᵢ], −1 if it is [−wᵢ, 0], 0 if it has no width. If the path does not follow C, the sign is
        1 if the box has a width.
    stored : ndarray of shape (at least n, at least n)
        The array that holds K; its row i begins with row i of K.
    moves : list of Move
        Changes of the sets since the last breakpoint.
    factors : object or None
        The factors of the present elbow, if they were computed.
    kept : object or None
        Factors that an algebra other than `UpdatedInverse` keeps for the next elbow.
    began : float
        Time at the start, from `time.perf_counter`.
    backend : Backend
        The backend, which may follow many ordinary events in one call.
    problem : DualProblem
        The parameter `problem` with K as its kernel matrix, from which the backup routine takes kernel values.
    unsettled : bool
        True if `refsvm.core.walk.elbow.correct` must correct rounding errors on the elbow.
    placed : (float, int)
        The λ at which SMO last found a point, and the number of successive points that SMO has found at this λ.
    stale_below : float
        The λ below which accumulated rounding errors of G may be too large; 0 if the path does not follow C.
    deadline : Deadline
        Time at which the path must end.
    status : Status or None
        The reason why no further point can be found; the tracker then returns.
    drift : float
        Largest error of ξ that recomputing G has found.
    nullity : int
        Largest dimension of the null space of A so far.
    counts : Counter
        Number of calls of each routine: "start", "special", "derivative", "backup", "repair".
    """

    stored: np.ndarray

    def __init__(
        self, problem: DualProblem, K: np.ndarray, engine: str = "auto", along: ProblemLine | None = None
    ) -> None:
        zero = np.zeros(problem.n)
        self.problem = problem.with_gram(Gram(Precomputed(), K, is_checked=True))
        self.along = RegularizationLine(self.problem) if along is None else along
        self.K, self._engine, self.sign = K, engine, self.along.sign
        side = np.array([CLOSED, BELOW, ABOVE], dtype=np.int8)[self.sign.astype(np.int64)]
        super().__init__(
            self.along.line, K.__getitem__, zero, zero, side, (self.problem.lower, self.problem.upper)
        )
        whole = whole_rows(K)
        self.stored = np.ascontiguousarray(K) if whole is None else whole
        self.began = time.perf_counter()
        self.largest, self.t = float(np.abs(K.diagonal()).max()), np.inf
        self.backend = chosen_backend(engine)
        self.moves: list[Move] = []
        self.factors: Any = None
        self.kept: Any = None
        self.unsettled, self.drift, self.nullity = True, 0.0, 0
        self.placed, self.deadline, self.stale_below = (np.inf, 0), Deadline(), 0.0
        self.status: Status | None = None
        self.counts: Counter[str] = Counter()

    @property
    def engine(self) -> str:
        """The engine that takes the steps; "auto" means NumPy if importing Numba would exceed the time left."""
        late = self.deadline.left() < LOADING and "numba" not in sys.modules
        return "numpy" if late and self._engine == "auto" else self._engine

    @property
    def elbow(self) -> np.ndarray:
        """The examples of 𝓔, in the order of the rows of A."""
        return np.array(self.members, dtype=np.int64)

    @property
    def unit(self) -> float:
        """The scale of G − b, which along 1/C is λ."""
        one, rate = self.along.unit
        return one + rate * self.t

    @property
    def scale(self) -> float:
        """The scale of steps of t, which along 1/C is λ."""
        return max(min(abs(self.t), self.along.span), self.along.least)

    def room(self, end: float) -> float:
        """Return the distance from t to the end of the line, or 0 if only rounding errors separate the two."""
        way = (end - self.t) * self.line.t
        return way if way > max(1e-12 * self.scale, 1e-10 * self.along.least) else 0.0

    # -- the point -------------------------------------------------------------------------------------------------

    def place(
        self, t: float, alpha: np.ndarray, b: float, kind: str, gradient: np.ndarray | None = None
    ) -> None:
        """Move to a given point; each αᵢ, exactly at a bound or inside the box, determines the set of i."""
        var, (v, lower, upper) = self.variables, self.along.arrays(t)
        var.lower[:], var.upper[:] = lower, upper
        side = np.where(alpha == lower, BELOW, np.where(alpha == upper, ABOVE, FREE))
        # if a box without width is about to open, the sign of G − b decides which bound α follows
        opening = (lower == upper) & (self.sign != 0.0)
        if opening.any():
            G = self.gradient(v, alpha) if gradient is None else gradient
            side[opening] = np.where(G[opening] > b, ABOVE, BELOW)
        side[self.sign == 0.0] = CLOSED
        self.t, self.b, self.placed = t, b, (t, self.placed[1] + 1 if t == self.placed[0] else 1)
        self.assign(side, kind)
        var.alpha[:] = alpha
        if gradient is None:
            self.refresh()
        else:
            var.excess[:] = gradient - b
        self.unsettled = True

    def clip(self, end: float) -> None:
        """Remove rounding errors: clip ŝ on the elbow to the box, set ξ = 0 (38), and move t to a nearby `end`."""
        var, elbow = self.variables, self.members
        if self.room(end) == 0.0:
            self.t, (_, var.lower[:], var.upper[:]) = end, self.along.arrays(end)
            bound = np.where(self.side == ABOVE, var.upper, var.lower)
            var.alpha[:] = np.where(self.side == FREE, var.alpha, bound)
        # a step ends when a variable meets a bound up to rounding, and the next step must start exactly at this bound
        var.alpha[elbow] = np.clip(var.alpha[elbow], var.lower[elbow], var.upper[elbow])
        var.excess[elbow] = 0.0

    def has_left(self) -> bool:
        """Return True if an αᵢ is at a bound that grows with C; if not, α does not change for larger C."""
        return not self.along.is_c_path or bool((self.side == self.sign).any())

    def to_the_end(self, end: float) -> Point:
        """Return the point at λ = `end` if 𝓛 is empty: α stays the same, so ŝ, b̂ and G are multiplied by one factor."""
        # no events follow: multiplying by `share` replaces all further steps
        share = end / self.t
        self.t, self.b = end, share * self.b
        self.variables.alpha[:] *= share
        self.variables.excess[:] *= share
        return self.breakpoint("end")

    def refresh(self) -> float:
        """Recompute G − b̂ = λv − Kŝ − b̂ and the direction from scratch; return the error of the previous ξ."""
        var = self.variables
        v, var.lower[:], var.upper[:] = self.along.arrays(self.t)
        self.stale_below = LONG_FALL * self.t * self.along.is_c_path
        # if bounds move, the sums of their speeds also accumulate rounding errors at every event
        if self.along.pace > 0.0:
            self.recompute_pace()
        if self.system is not None:
            self.system.solve(self.right)
        exact = self.gradient(v, var.alpha) - self.b
        # an example of weight 0 has no influence, so its ξ is arbitrary
        wrong = float(np.abs(np.where(self.sign == 0.0, 0.0, exact - var.excess)).max()) / self.unit
        var.excess[:] = exact
        return wrong

    def gradient(self, v: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Return G = v − Kα, computed from scratch without copying rows."""
        G, support = v.copy(), np.flatnonzero(alpha)
        arithmetic.current.add_rows(G, -alpha[support], self.stored, support)
        return G

    def recompute_pace(self) -> None:
        """Recompute v¹ − K d_B and z¹ − 1ᵀd_B, where d_B are the rates of the bounds that variables are at."""
        var, line, side = self.variables, self.line, self.side
        var.pace[:] = np.where(side == ABOVE, line.upper, np.where(side != FREE, line.lower, 0.0))
        var.alpha[:] = np.where(side == ABOVE, var.upper, np.where(side != FREE, var.lower, var.alpha))
        var.push[:] = self.gradient(line.v, var.pace)
        self.total = line.z - total(var.pace)

    def is_finite(self) -> bool:
        """Return True if all α, all G and b are finite; NaN would look like the end of a path."""
        return math.isfinite(self.values[:2].sum() + self.b)

    def violation(self) -> float:
        """Return the largest violation of the signs of ξ on 𝓡, 𝓔 and 𝓛, eq. (56)."""
        outside = np.where(np.abs(self.side) == 1, -self.side * self.variables.excess, 0.0)
        worst = np.where(self.side == FREE, np.abs(self.variables.excess), outside)
        return float(worst.max(initial=0.0)) / self.unit

    def unbalanced(self) -> float:
        """Return |Σŝ| relative to Σ|ŝ|; on other lines, |Σα − z| relative to the widths of all boxes."""
        var = self.variables
        whole = np.abs(var.alpha) if self.along.is_c_path else var.upper - var.lower
        return abs(float(var.alpha.sum()) - self.along.z(self.t)) / max(float(whole.sum()), 1e-300)

    def rounding(self) -> float:
        """Estimate the error of ξ from rounding of Kŝ: ε max|K| ‖ŝ‖/λ."""
        return float(2.0**-52 * self.largest * np.linalg.norm(self.variables.alpha) / self.unit)

    def breakpoint(self, kind: str) -> Point:
        """Return the present point, with the changes of the sets since the last breakpoint."""
        # start a new list of moves, because the returned point keeps the old list
        moves, self.moves = self.moves, []
        return self.along.point(self.t, self.variables.alpha, self.b, kind, tuple(moves), len(self.members))

    # -- the sets --------------------------------------------------------------------------------------------------

    def enter(self, i: int, kind: str) -> None:
        """Move i from 𝓛 or 𝓡 to the elbow, as its last member; drop the linear system if it would become singular."""
        self.note([i], FREE, kind)
        if self.system is None or not self.join(i):
            self.system = None
            self.change_pace(i, 0.0)
            self.members.append(i)
            self.side[i] = FREE

    def drop(self, i: int, side: int, kind: str) -> None:
        """Move i, whose ŝᵢ is exactly at a bound, from the elbow to 𝓛 or 𝓡."""
        self.note([i], side, kind)
        self.leave(i, side)

    def assign(self, side: np.ndarray, kind: str) -> None:
        """Put each variable into the set that `side` names, in ascending order of the variables."""
        var, across = self.variables, (self.side != FREE) & (side != FREE) & (self.side != side)
        self.note(np.flatnonzero(across), side[across], kind)
        var.alpha[across] = np.where(side == ABOVE, var.upper, var.lower)[across]
        self.side[across] = side[across]
        if self.system is None and not self.members:  # M is empty: add all its new members at once
            entering = np.flatnonzero(side != self.side)
            self.note(entering, np.zeros_like(entering), kind)
            for i in entering[var.pace[entering] != 0.0].tolist():
                self.change_pace(i, 0.0)
            self.members, self.side[entering] = entering.tolist(), FREE
        for i in np.flatnonzero(side != self.side).tolist():
            if self.side[i] == FREE:
                self.drop(i, int(side[i]), kind)
            else:
                self.enter(i, kind)

    def note(self, indices: Any, side: Any, kind: str) -> None:
        """Record a `Move` for each example; in a `Move`, −1 stands for 𝓡, 0 for 𝓔, and 1 for 𝓛."""
        self.factors, sign = None, self.sign[indices].astype(np.int64)
        sets = zip(indices, (sign * self.side[indices]).tolist(), (sign * side).tolist(), strict=True)
        self.moves += [Move(int(i), before, after, kind) for i, before, after in sets]


def whole_rows(K: np.ndarray) -> np.ndarray | None:
    """Return K if it is C-ordered float64, or a base array of this kind whose row i begins with row i of K, or None."""
    base = K if K.flags.c_contiguous else K.base
    if not isinstance(base, np.ndarray) or base.dtype != np.float64 or base.ndim != 2:
        return None
    # compiled code reads rows by the stride of the base array, so K must begin where the base begins
    same = base.ctypes.data == K.ctypes.data and base.strides == K.strides
    return base if same and base.flags.c_contiguous and base.flags.aligned else None
