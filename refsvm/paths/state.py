"""PathState: everything that changes while a path is tracked, in the scaled variables of the papers.

    λ = 1/C,   ŝ = λα,   b̂ = λb,   gᵢ = yᵢ(λvᵢ − (Kŝ)ᵢ − b̂) = λξᵢ

In these variables the box does not move with C, and the optimal ŝ, b̂ and g are piecewise linear in λ. The three sets:

    right 𝓡: ŝᵢ = 0, gᵢ ≤ 0        elbow 𝓔: ŝᵢ between its bounds, gᵢ = 0        left 𝓛: ŝᵢ = wᵢ, gᵢ ≥ 0
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np

from refsvm.paths.breakpoint import Breakpoint, Move
from refsvm.paths.events import PathArrays
from refsvm.paths.search import READABLE, Search
from refsvm.problem import DualProblem

__all__ = ["ELBOW", "LEFT", "RIGHT", "PathState"]

RIGHT: Final = -1
ELBOW: Final = 0
LEFT: Final = 1


class PathState:
    """A point of the path, the sets that it defines, and the linear algebra that goes with its elbow.

    Parameters
    ----------
    problem : DualProblem
        With z = 0, where each box has a bound at 0: [0, Cwᵢ] or [−Cwᵢ, 0].
    K : ndarray of shape (n, n)
        Its kernel matrix.
    weight : ndarray of shape (n,)
        wᵢ, the bound that is not 0, at C = 1; 0 for an example that is left out.
    search : Search
        The event search, readable or compiled.

    Attributes
    ----------
    lam : float
        λ = 1/C.
    scaled : ndarray of shape (n,)
        ŝ = λα.
    intercept : float
        b̂ = λb.
    slack : ndarray of shape (n,)
        g = λξ.
    side : ndarray of shape (n,), int8
        RIGHT, ELBOW or LEFT.
    rates : ndarray of shape (n,)
        pᵢ of the step at hand: gᵢ rises by pᵢ for each unit by which λ falls.
    moves : list of Move
        Changes of the sets since the last breakpoint.
    factors : object
        What `ElbowAlgebra` keeps from one elbow to the next.
    changes : list of (int, int)
        What became of the elbow since `factors` were made: (position, index) appended, (position, −1) removed.
    current : object or None
        The factors of the present elbow, if they were made.
    rounds : Rounds or None
        For the backup routine: solves over one store of kernel rows.
    unsettled : bool
        Whether rounding may have left something on the elbow for `refsvm.paths.elbow.correct`.
    drift : float
        Largest error of g/λ that a recomputation has found.
    nullity : int
        Largest dimension of the null space of A so far.
    counts : Counter
        How often each routine was called: "start", "special", "derivative", "backup", "repair".
    """

    def __init__(
        self,
        problem: DualProblem,
        K: np.ndarray,
        weight: np.ndarray,
        search: Search = READABLE,
        engine: str = "auto",
    ):
        self.problem, self.K, self.v, self.weight, self.search = problem, K, problem.v.copy(), weight, search
        n = self.n = len(weight)
        self.sign = np.sign(weight)
        self.low, self.high = np.minimum(weight, 0.0), np.maximum(weight, 0.0)
        self.largest = float(np.abs(K).max())
        self.lam, self.intercept, self.drift = np.inf, 0.0, 0.0
        self.scaled, self.slack, self.rates = np.zeros(n), np.zeros(n), np.zeros(n)
        self.side = np.full(n, RIGHT, dtype=np.int8)
        self._elbow = np.empty(n, dtype=np.int64)
        self.arrays = PathArrays(
            K,
            self.v,
            self.sign,
            self.low,
            self.high,
            self.scaled,
            self.slack,
            self.rates,
            self.side,
            self._elbow,
            np.empty(n, dtype=np.int64),
        )
        self.m = 0
        self.moves: list[Move] = []
        self.factors: Any = None
        self.changes: list[tuple[int, int]] = []
        self.current: Any = None
        self.rounds: Any = None
        self.unsettled = True
        self.engine = engine
        self.counts: Counter[str] = Counter()
        self.nullity = 0

    @property
    def elbow(self) -> np.ndarray:
        """𝓔, in the order of the rows of A."""
        return self._elbow[: self.m]

    # -- the point -------------------------------------------------------------------------------------------------

    def place(self, lam: float, scaled: np.ndarray, intercept: float, kind: str) -> None:
        """Go to a point that was computed elsewhere; the sets follow from ŝ, exactly at a bound or inside."""
        self.lam, self.intercept = lam, intercept
        self.scaled[:] = scaled
        side = np.where(scaled == 0.0, RIGHT, np.where(scaled == self.weight, LEFT, ELBOW)).astype(np.int8)
        self.assign(side, kind)
        self.scaled[:] = scaled
        self.refresh()
        self.unsettled = True

    def has_left(self) -> bool:
        """Whether an example is at a bound that grows with C; if not, α has reached its final value."""
        return bool((self.side == LEFT).any())

    def to_the_end(self, lam_min: float) -> Breakpoint:
        """Return the point at `lam_min` where no example is left: α stays as it is, so ŝ, b̂ and g shrink with λ."""
        share = lam_min / self.lam
        self.lam, self.intercept = lam_min, share * self.intercept
        self.scaled *= share
        self.slack *= share
        return self.breakpoint("end")

    def refresh(self) -> float:
        """Compute g = y(λv − Kŝ − b̂) afresh; return by how much g/λ was wrong."""
        support = np.flatnonzero(self.scaled)
        raw = self.lam * self.v - self.scaled[support] @ self.K[support] - self.intercept
        exact = self.sign * raw
        wrong = float(np.abs(exact - self.slack).max()) / self.lam
        self.slack[:] = exact
        return wrong

    def violation(self) -> float:
        """Largest violation of (13)–(15), in ξ = g/λ."""
        return float(self.search.violation(self.arrays)) / self.lam

    def breakpoint(self, kind: str) -> Breakpoint:
        """Return the present point and the moves that led to it."""
        moves, self.moves = self.moves, []
        return Breakpoint(1.0 / self.lam, self.scaled, self.intercept, kind, tuple(moves), self.m)

    def shift(self, d: np.ndarray, d_intercept: float) -> None:
        """Move ŝ on the elbow by d and b̂ by d_intercept, at constant λ."""
        self.search.rates(self.arrays, self.m, d, d_intercept, 0.0)
        self.slack -= self.rates
        self.scaled[self.elbow] += d
        self.intercept += d_intercept

    # -- the sets --------------------------------------------------------------------------------------------------

    def enter(self, i: int, kind: str) -> None:
        """Move i from 𝓛 or 𝓡 to the end of the elbow."""
        self.moves.append(Move(i, int(self.side[i]), ELBOW, kind))
        self.side[i] = ELBOW
        self._elbow[self.m] = i
        self.changes.append((self.m, i))
        self.current = None
        self.m += 1

    def leave(self, i: int, side: int, kind: str) -> None:
        """Move i from the elbow to 𝓛 or 𝓡, where ŝᵢ is exactly at its bound."""
        position = int((self.elbow == i).argmax())
        self.moves.append(Move(i, ELBOW, side, kind))
        self.side[i] = side
        self.scaled[i] = self.weight[i] if side == LEFT else 0.0
        self._elbow[position : self.m - 1] = self._elbow[position + 1 : self.m]
        self.changes.append((position, -1))
        self.current = None
        self.m -= 1

    def assign(self, side: np.ndarray, kind: str) -> None:
        """Change the sets to `side`, in ascending order of the indices."""
        for i in np.flatnonzero(side != self.side).tolist():
            if self.side[i] == ELBOW:
                self.leave(i, int(side[i]), kind)
            elif side[i] == ELBOW:
                self.enter(i, kind)
            else:
                self.moves.append(Move(i, int(self.side[i]), int(side[i]), kind))
                self.side[i] = side[i]
                self.scaled[i] = self.weight[i] if side[i] == LEFT else 0.0
