"""ATO: follows the optimum while the α of removed examples goes to 0 and the α of added examples grows."""

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
"""Number of events expected for each variable that moves; measurements gave 1.1 to 3.6."""

PATIENCE: Final = 4.0
"""The seeder stops following a path when its work exceeds this multiple of the allowed work. A smaller multiple would
gain little, because an incomplete path saves the solver only few steps."""

SHARED: Final = 30.0
"""The inverse matrix, which all paths from a solution share, may take this multiple of one path's allowed work."""

ROUNDING: Final = 1e-12
"""Distance from t = 1 at which the path counts as finished."""

BEGIN_COST: Final = 100_000
EVENT_COST: Final = 8000
STEP_COST: Final = 1000
"""Measured cost of a path, an event and an SMO step, in multiplications, apart from passes over their arrays."""


@dataclass(frozen=True)
class ATO(Seeder):
    """Follow the optimum along a piecewise linear path from the solution to the new box.

    F are the variables outside the new box, such as removed examples; they move straight to the new box, in the
    direction d_F. T are the variables that can raise f because their box has changed, such as added examples; they move
    towards a bound, in the direction d_T. M are the free variables, which keep Gᵢ = b:

        ⎡ 0   1ᵀ  ⎤ ⎡ db  ⎤     ⎡ 1ᵀd_F + 1ᵀd_T          ⎤
        ⎣ 1  K_MM ⎦ ⎣ d_M ⎦ = − ⎣ K_MF d_F + K_MT d_T    ⎦         dG = −K d.

    The variables move in the direction d until the next event, or until the path ends at η = 1. At an event, either a
    free variable reaches a bound and leaves M, or Gᵢ reaches b for a variable i at a bound or in T, and i joins M. At η
    = 1, α is the new optimum, up to the tolerance of the solution at which the path starts. `refsvm.core.walk.walk`
    follows this path.

    The published algorithm is slow because it computes the inverse of this matrix and all products again at each event.
    This implementation computes the inverse once for each solved problem, and K d_F + K d_T once for each path. At an
    event it updates the inverse by one product of two vectors. It updates Gᵢ only if the initial speed of Gᵢ suggests
    that Gᵢ may reach b on the path (see `margin`). If a path takes several times the work allowed by `budget`, the
    seeder leaves the path and spreads the remaining α of F over the free variables.

    Parameters
    ----------
    margin : float, default 1
        The seeder watches a bounded variable if its Gᵢ would reach b before η = 1 at a speed that exceeds the initial
        speed of Gᵢ by `margin` times the root mean square of all initial speeds. If all initial speeds are 0, the
        seeder watches variables with G within `margin` of b. A missed event only costs the solver more steps.
    max_events : int, default 1000
        Largest number of events on a path; after this number of events, the seeder leaves the path.
    max_free : int, default 500
        Largest number of free variables; with more free variables, the seeder does not follow the path.
    budget : float, default 0.3
        Largest expected work of a path, in multiplications, as a fraction of the work of all SMO steps of the longest
        round so far. If `budget` is infinite, the seeder follows the path at any cost.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    With ``ATO(margin=np.inf, budget=np.inf)``, the seed for a problem that leaves out examples is the new optimum
    itself, so that `leave_one_out` takes no step after the path. The seed is the optimum only if `max_events` and
    `max_free` are not exceeded and the matrix of the free variables is regular. If C becomes smaller, the seed need not
    be the optimum.

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
        """True if each path is followed to its end, because `margin` and `budget` are infinite."""
        return self.margin == self.budget == math.inf

    def seed(self, solved: Solution, problem: DualProblem, memory: np.ndarray | None = None) -> np.ndarray:
        """Return a feasible α for `problem`: the end of the path, or the point at which the seeder left the path."""
        memory = self.memory(solved, solved.longest_round) if memory is None else memory
        alpha = np.clip(solved.alpha, problem.lower, problem.upper)
        if len(memory):
            # --- follow the path if it is expected to save time ---
            walk, allowed = exchange(solved, problem), float(memory[0])
            n, m, moving = problem.n, int(memory[1]), int(np.count_nonzero(walk.variables.pace))
            work = float(n * (moving + m))
            if expected(n, m, moving) <= allowed:
                watched = self.begin(walk, memory)
                # --- at each event: find the direction and the distance, move, and remove or add a member of M ---
                for _ in range(self.max_events):
                    work += len(walk.members) * (len(watched) + 2 * len(walk.members))
                    if not walk.advance(1.0 - walk.t) or work > PATIENCE * allowed:
                        break
                alpha[watched] = arrived(walk, problem.lower[watched], problem.upper[watched], alpha[watched])
        return complete(alpha, problem.z, problem.lower, problem.upper)

    def begin(self, walk: Walk, memory: np.ndarray) -> np.ndarray:
        """Set the free variables M and the first direction; return the variables that move or have G near b."""
        m, side = int(memory[3]), walk.side
        inverse = memory[4 + m :].reshape(m + 1, m + 1)
        walk.begin(memory[4 : 4 + m].astype(np.int64).tolist(), inverse, SINGULAR * float(memory[2]))
        # rows of free variables outside M are linear combinations of the rows of M
        side[side == FREE] = TIED
        side[walk.members] = FREE
        # --- find how fast each G of a variable outside M approaches b, and which of these G are near b ---
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
        """Return one array: allowed work, number of free variables, max |Kᵢᵢ|, size of M, M, inverse of `ATO`'s matrix.

        The array is empty if no path is expected to save time.
        """
        if not self.pays(solved, steps, ()):
            return np.zeros(0)
        gram, free = solved.problem.gram, np.flatnonzero(_are_free(solved))
        K, largest = gram.block(free, free), float(np.abs(gram.diagonal()).max())
        chosen = independent(K, largest)
        inverse = inverse_of(K[np.ix_(chosen, chosen)])
        head = [self._most(solved, steps), len(free), largest, len(chosen)]
        return np.concatenate([head, free[chosen], inverse.ravel()])

    def pays(self, solved: Solution, steps: int, left_out: Sequence[Any]) -> bool:
        """Return True if computing the inverse and following the cheapest path may take less work than they save."""
        n, most = solved.problem.n, self._most(solved, steps)
        if expected(n, 0, 0) > most:  # even the cheapest path would take too long
            return False
        m = int(np.count_nonzero(_are_free(solved)))
        going = min((int(np.count_nonzero(solved.alpha[out])) for out in left_out), default=0)
        # added variables that violate their optimality condition will certainly move
        violate = solved.problem.v * (solved.gradient - offset(solved)) > 0.0
        returning = int(np.count_nonzero(violate & absent(solved.problem)))
        is_short = expected(n, m, max(going, returning)) <= most
        return is_short and m <= self.max_free and m**3 <= SHARED * most

    def _most(self, solved: Solution, steps: int) -> float:
        """Return the allowed work of a path in multiplications; an SMO step counts as 2(n + STEP_COST)."""
        return self.budget * max(steps, 1) * 2 * (solved.problem.n + STEP_COST)


def expected(n: int, m: int, moving: int) -> float:
    """Return the expected work of a path on which `moving` of n variables move, with m free variables at the start."""
    return n * (moving + m) + BEGIN_COST + EVENTS * moving * (EVENT_COST + m * (2 * m + n / 16))


def exchange(solved: Solution, problem: DualProblem) -> Walk:
    """Return a `Walk` that starts at the solution (t = 0) and ends in the new box (t = 1); F and T are as in `ATO`."""
    old, alpha, excess = solved.problem, solved.alpha, solved.gradient - offset(solved)
    lower, upper, zero = problem.lower, problem.upper, np.zeros(problem.n)
    clipped = np.clip(alpha, lower, upper)
    # F: variables that lie outside the new box, or whose new box has no width
    forced = (clipped != alpha) | (lower == upper)
    free = ~forced & (old.lower < alpha) & (alpha < old.upper) & (lower < clipped) & (clipped < upper)
    # T: variables whose box has changed, and which may now move so that f rises
    other = ~forced & ~free & ((lower != old.lower) | (upper != old.upper))
    rises, falls = other & (excess > 0.0) & (clipped < upper), other & (excess < 0.0) & (clipped > lower)
    # without a bound in its direction, a variable moves by at most `far`
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
    """Return α after the walk, set exactly to the bounds that it reached, or `otherwise` if this α is not finite."""
    alpha = np.clip(walk.variables.alpha, lower, upper)
    if walk.t >= 1.0 - ROUNDING:
        for side, bound in ((ABOVE, upper), (BELOW, lower)):
            reached = (walk.side == side) & np.isfinite(bound)
            alpha[reached] = bound[reached]
    return alpha if np.isfinite(alpha).all() else otherwise


def _are_free(solved: Solution) -> np.ndarray:
    """Return a mask of the variables strictly inside their box."""
    return (solved.problem.lower < solved.alpha) & (solved.alpha < solved.problem.upper)
