"""Optimum: a solution, its free and bounded variables, and the bordered system of the free variables.

The free variables M (Lᵢ < αᵢ < Uᵢ, Gᵢ = b) move so that Ġᵢ = ḃ. The bounded variables B (αᵢ at a bound, Gᵢ ≠ b) move
with their bounds. Variables at an event (αᵢ at a bound, Gᵢ = b) behave like free variables when the parameter rises and
like bounded variables when it falls, or the reverse.

        | 0   1ᵀ  |
    A = | 1  K_MM |       regular where no free example is affinely dependent on the others in feature space

If no variable is free or at an event, b may lie in an interval. The interval begins at the largest G of the variables
that may rise, and ends at the smallest G of the variables that may fall; b is the midpoint. Instead of free variables,
the system then contains the variables whose G are the ends of this interval.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from refsvm.analysis.derivatives.parameters import examples_of
from refsvm.analysis.derivatives.system import System
from refsvm.analysis.solve import solve
from refsvm.core.kernels.memory import reused
from refsvm.core.kernels.origin import around
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.core.stopping.relative import rounding_of_gradient
from refsvm.core.walk.bordered import SINGULAR, independent_factor, inverse_of
from refsvm.core.walk.walk import ABOVE, BELOW, FREE, TIED, Line, Walk

if TYPE_CHECKING:
    from refsvm.core.result import Solution

TIE: Final = 1e-8
"""At an event, |α − bound|, relative to α, and |G − b|, relative to the range of h, are at most this."""

POLISHED: Final = 1e-9
"""`Optimum` first refines a solution whose KKT gap, relative to the range of h, is larger than this."""

DEPENDENT: Final = 1e-8
"""Entries of a null vector of A below this count as zero."""

HELD: Final = 2**24
"""Largest number of stored kernel values: 128 MiB."""

ENTRIES: Final = 2**21
"""Number of kernel values computed at a time: 16 MiB."""


class Optimum:
    """A solution with the quantities that all its derivatives share.

    Parameters
    ----------
    solution : Solution
        A solution at any tolerance; if its KKT gap exceeds about 1e-9, `Optimum` first refines the solution.

    Raises
    ------
    ValueError
        If the solution cannot be refined to a KKT gap of about 1e-9.

    Attributes
    ----------
    problem : DualProblem
        The problem; if the solver shifts the data by their mean, the shifted problem.
    alpha : ndarray of shape (n,)
        α; exact up to rounding if `Optimum` found the right free variables.
    places : ndarray of shape (p,), int64
        The variables of the system: first the independent free variables, then the free variables that depend on them,
        then the variables at an event or at the ends of the interval of b.
    side : ndarray of shape (p,), int8
        For each variable of `places`: FREE, TIED (free, but dependent on others), BELOW (α at L) or ABOVE (α at U).
    upper : ndarray of shape (n,), bool
        Whether α is at its upper bound.
    K : ndarray of shape (p, p)
        Kernel values between the variables of `places`.
    size : int
        Number of independent free variables.
    system : System
        The system with the matrix A.
    columns : ndarray of shape (c,), int64
        The examples of `places`, and the examples with α ≠ 0.
    held : ndarray of shape (p, c), or None
        Kernel values of `places` with `columns`; None if they are more than `HELD`.
    has_ends : bool
        Whether no variable is free, so that b is the midpoint of an interval.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, DualProblem, solve
    >>> from refsvm.analysis.derivatives.optimum import Optimum
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> optimum = Optimum(solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=3.0)))
    >>> optimum.places, optimum.size, len(optimum.events)
    (array([0, 2, 3]), 3, 0)
    """

    def __init__(self, solution: Solution) -> None:
        there = solved_exactly(solution.in_solver_coordinates())
        self.problem, self.alpha, self.b = there.problem, there.alpha.copy(), there.intercept
        self._classify(there.gradient)
        self.matrix, self.example = examples_of(self.problem.gram)
        used = np.zeros(self.matrix.n, dtype=bool)
        used[self.example[self.alpha != 0.0]] = used[self.example[self.places]] = True
        self.columns = np.flatnonzero(used)
        self.held: np.ndarray | None = None
        self._evaluate()
        self.largest = float(np.abs(self.K.diagonal()).max(initial=0.0)) or 1.0
        self._factorise(there.gradient)

    def _classify(self, G: np.ndarray) -> None:
        """Determine the free variables, the variables at an event, and the ends of the interval of b."""
        lower, upper, alpha = self.problem.lower, self.problem.upper, self.alpha
        unit = range_of(self.problem, alpha, G)
        size = np.minimum(upper - lower, float(np.abs(alpha).max()) or np.inf)
        below, above = alpha - lower <= TIE * size, upper - alpha <= TIE * size
        self.upper = above & ~below
        inside, open_ = ~(below | above), lower < upper
        near = ~inside & open_ & (np.abs(G - self.b) <= TIE * unit)
        self.has_ends = not (inside.any() or near.any())
        if self.has_ends:
            rising, falling = open_ & ~self.upper, open_ & self.upper
            top, bottom = G[rising].max(initial=-np.inf), G[falling].min(initial=np.inf)
            near = (rising & (top - TIE * unit <= G)) | (falling & (bottom + TIE * unit >= G))
        free = np.flatnonzero(inside)
        self.places = np.append(free, np.flatnonzero(near))
        self.side = np.where(self.upper[self.places], ABOVE, BELOW).astype(np.int8)
        self.side[: len(free)] = FREE
        self.fixed = np.ones(len(alpha), dtype=bool)
        self.fixed[self.places] = False

    def _evaluate(self) -> None:
        """Compute the kernel values between `places` and `columns`, and the matrix K of `places`."""
        p, among = len(self.places), self.column_of[self.example[self.places]]
        held = reused((p, len(self.columns))) if p * len(self.columns) <= HELD else None
        self.K = reused((p, p))
        for part in pieces(p, len(self.columns)):
            rows, out = self.example[self.places[part]], None if held is None else held[part]
            self.K[part] = self.matrix.block(rows, self.columns, out)[:, among]
        self.held = held

    def values(self, part: slice) -> np.ndarray:
        """Return the kernel values between some `places` and `columns`; compute them again if they are not stored."""
        if self.held is not None:
            return np.asarray(self.held[part])
        return np.asarray(self.matrix.block(self.example[self.places[part]], self.columns))

    @cached_property
    def column_of(self) -> np.ndarray:
        """Position of each example in `columns`, shape (n,); a meaningless number for examples that `columns` lacks."""
        return np.searchsorted(self.columns, np.arange(self.matrix.n)).clip(max=max(0, len(self.columns) - 1))

    @cached_property
    def sums(self) -> np.ndarray:
        """Sum of α for each example of `columns`."""
        return np.bincount(self.example, self.alpha, self.matrix.n)[self.columns]

    def _factorise(self, G: np.ndarray) -> None:
        """Factorise A for a maximal independent set of free variables, and correct their α so that their G equals b."""
        m = int((self.side == FREE).sum())
        independent, L = independent_factor(self.K[:m, :m], self.largest)
        self.size, self.free = len(independent), m
        if self.size < m:
            tied = np.setdiff1d(np.arange(m), independent)
            order = np.concatenate([independent, tied, np.arange(m, len(self.places))])
            self.places, self.side = self.places[order], self.side[order]
            self.K = self.K[np.ix_(order, order)]
            self.held = None if self.held is None else self.held[order]
        self.side[self.size : m] = TIED
        K = self.K[: self.size, : self.size]
        c = float(np.abs(self.K[:m, :m].diagonal()).max(initial=0.0))
        self.system = System(K, np.linalg.cholesky(K + c) if L is None else L, c)
        M = self.places[: self.size]
        if self.size:
            change = self.system.solve_once(np.append(self.problem.z - self.alpha.sum(), G[M] - self.b))
            self.alpha[M], self.b = self.alpha[M] + change[1:], self.b + float(change[0])

    @cached_property
    def inverse(self) -> np.ndarray:
        """A⁻¹, shape (size + 1, size + 1)."""
        return inverse_of(self.system.K)

    @cached_property
    def null(self) -> np.ndarray:
        """Orthonormal changes of the free variables that leave h and b constant, shape (free, free − size)."""
        size, k = self.size, self.free - self.size
        u = np.concatenate([np.ones((1, k)), self.K[:size, size : self.free]])
        vectors = np.concatenate([-(self.inverse @ u)[1:], np.eye(k)])
        return np.asarray(np.linalg.qr(vectors)[0])

    @cached_property
    def condition(self) -> float:
        """Condition number of A in the 1-norm, with kernel values divided by their maximum; ∞ if A is singular."""
        if self.free > self.size:
            return np.inf
        scale = np.append(np.sqrt(self.largest), np.full(self.size, 1.0 / np.sqrt(self.largest)))
        A = np.ones((self.size + 1, self.size + 1))
        A[0, 0], A[1:, 1:] = 0.0, self.K[: self.size, : self.size]
        scaled, inverse = A * np.outer(scale, scale), self.inverse / np.outer(scale, scale)
        return float(np.abs(scaled).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max())

    @cached_property
    def _dependent_at_event(self) -> np.ndarray:
        """Return for each variable at an event whether its example depends on the free examples, shape (p − free,)."""
        size = self.size
        if self.has_ends or not size or self.free == len(self.places):
            return np.zeros(len(self.places) - self.free, dtype=bool)
        u = np.concatenate([np.ones((1, len(self.places) - self.free)), self.K[:size, self.free :]])
        s = self.K.diagonal()[self.free :] - (u * (self.inverse @ u)).sum(axis=0)
        return np.asarray(s <= 10.0 * SINGULAR * self.largest)

    @property
    def events(self) -> np.ndarray:
        """The examples at an event, ascending, without examples that depend on the free examples in feature space."""
        if self.has_ends:
            many = [np.flatnonzero(self.side == side) for side in (BELOW, ABOVE)]
            chosen = np.concatenate([each for each in many if len(each) > 1] or [np.zeros(0, dtype=np.int64)])
            return self.examples(self.places[chosen])
        return self.examples(self.places[self.free :][~self._dependent_at_event])

    @property
    def dependent(self) -> np.ndarray:
        """The examples whose α may change while h stays constant, ascending; their dα is not unique."""
        moved = self.places[: self.free][(np.abs(self.null) > DEPENDENT).any(axis=1)]
        return self.examples(np.append(moved, self.places[self.free :][self._dependent_at_event]))

    def examples(self, variables: np.ndarray) -> np.ndarray:
        """Return the examples of these variables, ascending."""
        return np.unique(examples_of(self.problem.gram)[1][variables])

    def walk(self, line: Line) -> Walk:
        """Return the `Walk` that starts at this optimum and moves the variables in `places` along `line`."""
        there, side = self.places, self.side
        lower, upper = self.problem.lower[there], self.problem.upper[there]
        at_bound = np.where(side == ABOVE, upper, lower)
        alpha = np.where((side == BELOW) | (side == ABOVE), at_bound, self.alpha[there])
        walk = Walk(line, self.K.__getitem__, alpha, np.zeros(len(there)), side.copy(), (lower, upper))
        walk.stored = self.K
        walk.begin(list(range(self.size)), self.inverse, 10.0 * SINGULAR * self.largest)
        return walk

    @property
    def offsets(self) -> np.ndarray | float:
        """Numbers o, shape (n,): b of the original data is b of the shifted data − oᵀα; 0 if no data are shifted."""
        if self.problem.gram.origin is None:
            return 0.0
        gram, places = examples_of(self.problem.gram)
        return np.asarray(around(gram.origin, gram.X) @ gram.origin)[places]


def range_of(problem: Any, alpha: np.ndarray, G: np.ndarray) -> float:
    """Return the unit in which G − b is measured: half the range of v, or the range of h if v is constant."""
    v = problem.v[problem.lower < problem.upper]
    unit = 0.5 * float(np.ptp(v)) if len(v) and np.ptp(v) else problem.decision_range(alpha, G)
    # bound the unit from below by the rounding error, because the range of h is about 0 if all h are equal
    rounding = rounding_of_gradient(alpha, G, float(np.abs(problem.gram.diagonal()).max()))
    return max(unit, rounding / POLISHED) or 1.0


def solved_exactly(solution: Solution) -> Solution:
    """Return the solution, refined to a KKT gap of at most `POLISHED` relative to the range of h."""
    problem = solution.problem
    most = POLISHED * range_of(problem, solution.alpha, solution.gradient)
    if solution.kkt_gap <= most and not solution.rounding:
        return solution
    solved = solve(
        problem, start=solution.alpha, stop=KKTGap(0.1 * most), polish=True
    ).in_solver_coordinates()
    if not solved.kkt_gap <= 10.0 * most:
        raise ValueError(
            f"The solution has a KKT gap of {solved.kkt_gap:.2g} and cannot be solved more exactly, so the sets of "
            "its variables are unknown; scale the data, or choose a smaller C."
        )
    return solved


def pieces(rows: int, columns: int) -> list[slice]:
    """Return slices of rows with at most `ENTRIES` kernel values each."""
    height = max(1, ENTRIES // max(1, columns))
    return [slice(first, min(first + height, rows)) for first in range(0, rows, height)]
