"""ATO: follow the optimum while the removed examples lose their weight and the added ones gain theirs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from refsvm.core._checks import positive_or_inf, whole
from refsvm.core.problem import DualProblem, total
from refsvm.core.result import Solution
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.exchange import absent, offset
from refsvm.core.seeders.spread import complete
from refsvm.core.walk.bordered import SINGULAR, independent, inverse_of
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE, TIED, Line, Walk

EVENTS: Final = 2.0
"""Events expected for each variable that moves: measured, 1.1 to 3.6."""

PATIENCE: Final = 4.0
"""Stop once the work exceeds so many times what is allowed: the first part of a path alone saves few steps."""

SHARED: Final = 30.0
"""The inverse, which all paths from a solution share, may take so many times the work allowed for one."""

ROUNDING: Final = 1e-12
"""Distance from the end of the line at which the walk counts as there."""

BEGIN_COST: Final = 100_000
EVENT_COST: Final = 8000
STEP_COST: Final = 1000
"""Cost of a path, an event, and a step of SMO in addition to passes over their arrays, in multiplications: measured."""


@dataclass(frozen=True)
class ATO(Seeder):
    """Adjust α towards the optimum: move along the piecewise linear path on which the others stay optimal.

    The variables F that the new box forces to move, such as removed examples, go to it in a straight line, d_F; those
    T it lets go, such as added examples that violate their condition, go to their other bound, d_T; the free ones M
    keep Gᵢ = b:

        ⎡ 0   1ᵀ  ⎤ ⎡ db  ⎤     ⎡ 1ᵀd_F + 1ᵀd_T          ⎤
        ⎣ 1  K_MM ⎦ ⎣ d_M ⎦ = − ⎣ K_MF d_F + K_MT d_T    ⎦         dG = −K d

    as far as η ≤ 1 or the first event: a free variable reaches a bound and leaves M; G of a bounded variable or of one
    of T reaches b, and it joins M. Where F has arrived, so has the path: the end is the optimum up to the
    tolerance of what was solved. This is the walk of `refsvm.core.walk.walk` along a line that moves the boxes of F and
    T.

    To compute all of this again at each event is what made the published algorithm slow. Here the inverse of the matrix
    is computed once for a solved problem, and each event adds a product of two vectors to it. K d_F + K d_T is
    summed once. The gradient is followed only for variables that are near b, measured by the speeds at the beginning.
    The path is not followed, or no further, where that would cost more than the steps of the solver that it saves:
    what F has left is then spread over the free variables.

    Parameters
    ----------
    margin : float, default 1
        A bounded variable is watched if its G would reach b before η = 1 at its first speed plus `margin` times the
        root mean square of all first speeds; if all of these are 0, if it is no further from b than `margin`. A
        missed event only adds steps of the solver.
    max_events : int, default 1000
        Most events.
    max_free : int, default 500
        With more free variables than this the path is not followed.
    budget : float, default 0.3
        Most work that a path may be expected to take, in multiplications, as a part of the work of the longest round so
        far, its steps times n. Infinity: the path is followed at any cost. With an infinite `margin` as well the seed
        without some examples is the new optimum, where `max_events` and `max_free` allow it and the matrix of the free
        variables is regular: `leave_one_out` by ``ATO(margin=np.inf, budget=np.inf)`` takes no step after the path
        there. Where C shrinks the seed is a start only, from which the solver takes steps to the optimum.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Z. Wen et al., AAAI 2017, section 3 (Adjusting Alpha Towards Optimum), equations 7 to 11 and Algorithm 1, after
    M. Karasuyama and I. Takeuchi, "Multiple incremental decremental learning of support vector machines", NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import ATO, DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [3.1]]), np.array([-1, 1, 1, -1, -1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(1.0), C=10.0)
    >>> ATO(budget=np.inf).seed(solve(problem.without(4)), problem.without(3)).round(3)
    array([-1.277,  1.299,  1.101,  0.   , -1.123])
    """

    margin: float = 1.0
    max_events: int = 1000
    max_free: int = 500
    budget: float = 0.3

    def __post_init__(self) -> None:
        positive_or_inf("margin", self.margin)
        whole("max_events", self.max_events, 0)
        whole("max_free", self.max_free, 0)
        positive_or_inf("budget", self.budget)

    @property
    def is_exact(self) -> bool:
        """Whether each path is followed to its end: `margin` and `budget` are infinite."""
        return self.margin == self.budget == math.inf

    def seed(self, solved: Solution, problem: DualProblem, memory: np.ndarray | None = None) -> np.ndarray:
        """Return the feasible α."""
        memory = self.memory(solved, solved.longest_round) if memory is None else memory
        alpha = np.clip(solved.alpha, problem.lower, problem.upper)
        if len(memory):
            # --- F goes to its box in a straight line, T to its far bound, where that is expected to pay ---
            walk, allowed = exchange(solved, problem), float(memory[0])
            n, m, moving = problem.n, int(memory[1]), int(np.count_nonzero(walk.variables.pace))
            work = float(n * (moving + m))
            if expected(n, m, moving) <= allowed:
                watched = self.begin(walk, memory)
                # --- direction, reach, move, leave or join ---
                for _ in range(self.max_events):
                    work += len(walk.members) * (len(watched) + 2 * len(walk.members))
                    if not walk.advance(1.0 - walk.t) or work > PATIENCE * allowed:
                        break
                alpha[watched] = arrived(walk, problem.lower[watched], problem.upper[watched], alpha[watched])
        return complete(alpha, problem.z, problem.lower, problem.upper)

    def begin(self, walk: Walk, memory: np.ndarray) -> np.ndarray:
        """Set M and the first direction; return the variables to watch: those that move, and those with G near b."""
        m, side = int(memory[3]), walk.side
        inverse = memory[4 + m :].reshape(m + 1, m + 1)
        walk.begin(memory[4 : 4 + m].astype(np.int64).tolist(), inverse, SINGULAR * float(memory[2]))
        # the free variables outside M depend on it
        side[side == FREE] = TIED
        side[walk.members] = FREE
        # --- how fast G of the others comes nearer to b, and which are near ---
        walk.direction()
        approach, distance = side * walk.variables.speed, np.maximum(side * walk.variables.excess, 0.0)
        waiting = (np.abs(side) == 1) & (walk.variables.pace == 0.0)
        typical = math.sqrt(total(approach[waiting] ** 2) / max(1, int(waiting.sum())))
        near = distance <= np.abs(approach) + (self.margin * typical if typical > 0.0 else self.margin)
        watched = np.flatnonzero((side != CLOSED) & (near | ~waiting))
        walk.watch(watched)
        for tied in np.flatnonzero(walk.side == TIED).tolist():
            walk.join(tied)
        return watched

    def memory(self, solved: Solution, steps: int = 0) -> np.ndarray:
        """Return the most work, the number of free variables, max |Kᵢᵢ|, M and its inverse; nothing if no path pays."""
        if not self.pays(solved, steps, ()):
            return np.zeros(0)
        gram, free = solved.problem.gram, np.flatnonzero(_are_free(solved))
        K, largest = gram.block(free, free), float(np.abs(gram.diagonal()).max())
        kept = independent(K, largest)
        inverse = inverse_of(K[np.ix_(kept, kept)])
        head = [self._most(solved, steps), len(free), largest, len(kept)]
        return np.concatenate([head, free[kept], inverse.ravel()])

    def pays(self, solved: Solution, steps: int, left_out: Sequence[Any]) -> bool:
        """Whether the shortest of these paths may pay, by the variables that go and come back, and the inverse."""
        n, most = solved.problem.n, self._most(solved, steps)
        if expected(n, 0, 0) > most:  # nothing needs to be counted
            return False
        m = int(np.count_nonzero(_are_free(solved)))
        going = min((int(np.count_nonzero(solved.alpha[out])) for out in left_out), default=0)
        # those that will violate their condition when they come back move, at least
        violate = solved.problem.v * (solved.gradient - offset(solved)) > 0.0
        returning = int(np.count_nonzero(violate & absent(solved.problem)))
        is_short = expected(n, m, max(going, returning)) <= most
        return is_short and m <= self.max_free and m**3 <= SHARED * most

    def _most(self, solved: Solution, steps: int) -> float:
        """The most work that a path may take: a step makes two passes over n variables."""
        return self.budget * max(steps, 1) * 2 * (solved.problem.n + STEP_COST)


def expected(n: int, m: int, moving: int) -> float:
    """Return the work expected of a path on which so many of n variables move, m of them free at first."""
    return n * (moving + m) + BEGIN_COST + EVENTS * moving * (EVENT_COST + m * (2 * m + n / 16))


def exchange(solved: Solution, problem: DualProblem) -> Walk:
    """Return the walk from the solved problem to the next box: t from 0 to 1, on which the boxes of F and T move."""
    old, alpha, excess = solved.problem, solved.alpha, solved.gradient - offset(solved)
    lower, upper, zero = problem.lower, problem.upper, np.zeros(problem.n)
    clipped = np.clip(alpha, lower, upper)
    # F: outside the new box, or in one without width
    forced = (clipped != alpha) | (lower == upper)
    free = ~forced & (old.lower < alpha) & (alpha < old.upper) & (lower < clipped) & (clipped < upper)
    # T: the box is another, and lets it go where its condition drives it
    other = ~forced & ~free & ((lower != old.lower) | (upper != old.upper))
    rises, falls = other & (excess > 0.0) & (clipped < upper), other & (excess < 0.0) & (clipped > lower)
    # where there is no bound, as far as the largest weight so far
    far = max(1.0, float(np.abs(alpha).max()))
    to = np.where(rises, np.where(np.isinf(upper), alpha + far, upper), clipped)
    to = np.where(falls, np.where(np.isinf(lower), alpha - far, lower), to)
    way = to - alpha
    line = Line(zero, np.where(forced | falls, way, 0.0), np.where(forced | rises, way, 0.0))
    side = np.where(rises | (~falls & (clipped == upper)), ABOVE, BELOW)
    side[free], side[forced] = FREE, CLOSED
    box = np.where(forced | falls, alpha, lower), np.where(forced | rises, alpha, upper)
    row = cache(lambda i: problem.gram.block(np.array([i]))[0])
    return Walk(line, row, alpha, excess, side.astype(np.int8), box)


def arrived(walk: Walk, lower: np.ndarray, upper: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Return α where the walk has ended, exactly at the bounds that it has reached; `otherwise` if it went astray."""
    alpha = np.clip(walk.variables.alpha, lower, upper)
    if walk.t >= 1.0 - ROUNDING:
        for side, bound in ((ABOVE, upper), (BELOW, lower)):
            there = (walk.side == side) & np.isfinite(bound)
            alpha[there] = bound[there]
    return alpha if np.isfinite(alpha).all() else otherwise


def _are_free(solved: Solution) -> np.ndarray:
    """Return a mask of the variables strictly inside their box."""
    return (solved.problem.lower < solved.alpha) & (solved.alpha < solved.problem.upper)
