"""ATO: follow the optimum while the removed examples lose their weight and the added ones gain theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from refsvm._checks import positive_or_inf, whole
from refsvm.primal import total
from refsvm.seeders.base import Seeder
from refsvm.seeders.bordered import Bordered
from refsvm.seeders.exchange import offset
from refsvm.seeders.spread import complete

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.result import Solution

__all__ = ["ATO"]

IGNORED, FREE, BOUNDED, GROWING, TIED = 0, 1, 2, 3, 4
"""What a variable does: nothing; keep G = b; wait at a bound; move to one; keep G = b with the help of others."""


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
    tolerance of what was solved. Each event changes M by one variable, and the inverse of the matrix by the product of
    two vectors. The gradient is followed only for variables that may have an event, and K d_F + K d_T is summed
    once; computing all of K d again at each event is what made the published algorithm slow.

    Parameters
    ----------
    margin : float, default infinity
        Bounded variables farther than this from G = b are not watched, which makes an event cheaper; one that is
        missed costs the solver steps, the more the larger C is.
    max_events : int, default 1000
        Most events; what F has left then is spread over the free variables.
    max_free : int, default 500
        With more free variables than this the path is not followed, or no further: each event takes the square of
        their number. What F has left is spread over the free variables.

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
    >>> ATO().seed(solve(problem.without(4)), problem.without(3)).round(3)
    array([-1.277,  1.299,  1.101,  0.   , -1.123])
    """

    margin: float = float("inf")
    max_events: int = 1000
    max_free: int = 500

    def __post_init__(self) -> None:
        positive_or_inf("margin", self.margin)
        whole("max_events", self.max_events, 0)
        whole("max_free", self.max_free, 0)

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        alpha = np.clip(solved.alpha, problem.lower, problem.upper)
        old = solved.problem
        if ((old.lower < solved.alpha) & (solved.alpha < old.upper)).sum() <= self.max_free:
            walk = Walk(solved, problem, self.margin)
            for _ in range(self.max_events):
                if walk.free.count > self.max_free or not walk.advance():
                    break
            alpha[walk.watched] = np.clip(walk.alpha, walk.lower, walk.upper)
        return complete(alpha, problem.z, problem.lower, problem.upper)

    def parameters(self) -> tuple[float, ...]:
        """Return the three limits."""
        return self.margin, float(self.max_events), float(self.max_free)

    def twin(self) -> Callable[..., int]:
        """Return `refsvm.fast.following.ato`."""
        from refsvm.fast.following import ato

        return ato


class Walk:
    """The path from a solved problem to the next box; its arrays hold the m watched variables only.

    Parameters
    ----------
    solved : Solution
    problem : DualProblem
    margin : float
    """

    def __init__(self, solved: Solution, problem: DualProblem, margin: float) -> None:
        self.problem, self.b, self.done = problem, offset(solved), 0.0
        kinds, sides, clipped = self._first_kinds(solved, margin)
        self.watched = w = np.flatnonzero(kinds != IGNORED)
        self.kinds, self.sides = kinds[w], sides[w]
        self.alpha, self.gradient = clipped[w], solved.gradient[w]
        self.lower, self.upper = problem.lower[w], problem.upper[w]
        growing = self.kinds == GROWING
        target = np.where(self.sides > 0.0, self.upper, self.lower)
        # where there is no bound, as far as the largest weight so far
        far = self.alpha + self.sides * max(1.0, float(np.abs(solved.alpha).max()))
        self.target = np.where(np.isinf(target), far, target)
        self.direction = np.where(growing, self.target - self.alpha, 0.0)
        forced = np.flatnonzero(clipped != solved.alpha)
        changes = clipped[forced] - solved.alpha[forced]
        # K d and 1ᵀd over F and T
        self.pull = total(np.append(changes, self.direction[growing]))
        self.push = np.zeros(len(w))
        for i, change in zip(forced, changes, strict=True):
            self.push += change * problem.gram.block(np.array([i]))[0, w]
        for place in np.flatnonzero(growing).tolist():
            self.push += self.direction[place] * self._row(place)
        self.free = Bordered(len(w))
        for place in np.flatnonzero(self.kinds == FREE).tolist():
            self._enter(place)

    def _first_kinds(self, solved: Solution, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return what each of all n variables does, on which side of b its G is optimal, and α clipped to the box."""
        old, problem = solved.problem, self.problem
        lower, upper, away = problem.lower, problem.upper, solved.gradient - self.b
        clipped = np.clip(solved.alpha, lower, upper)
        moves = (clipped == solved.alpha) & (lower < upper)
        free = (solved.alpha > old.lower) & (solved.alpha < old.upper) & (clipped > lower) & (clipped < upper)
        other_box = (lower != old.lower) | (upper != old.upper)
        rises, falls = (away > 0.0) & (clipped < upper), (away < 0.0) & (clipped > lower)
        growing = other_box & ~free & (rises | falls)
        kinds = np.where(free, FREE, np.where(growing, GROWING, BOUNDED))
        kinds[~moves | ((kinds == BOUNDED) & (np.abs(away) > margin))] = IGNORED
        at_upper = np.where(growing, rises, clipped == upper)
        return kinds, np.where(at_upper, 1.0, -1.0), clipped

    def _row(self, place: int) -> np.ndarray:
        """K of a watched variable with all watched ones."""
        w = self.watched
        return self.problem.gram.block(w[place : place + 1])[0, w]

    def _enter(self, place: int) -> None:
        """Let a variable join M, unless its kernel row depends on those of M: then its G follows b anyway."""
        entered = self.free.enter(place, self._row(place))
        self.kinds[place] = FREE if entered else TIED

    def advance(self) -> bool:
        """Go on to the next event; return whether there was one."""
        if not self.free.count and self.pull != 0.0 and not self._begin_with_one():
            return False
        # --- direction: the bordered system, then dG = −(K d_F + K d_T + K_M d_M) ---
        members = self.free.members[: self.free.count]
        change, d_free = self.free.solve(-self.pull, -self.push[members])
        slope = -self.push
        for row, d in zip(self.free.rows, d_free, strict=False):
            slope = slope - d * row
        d = np.where(self.kinds == GROWING, self.direction, 0.0)
        d[members] = d_free
        # --- how far ---
        reach = self._reach(d, slope - change)
        first = int(reach.argmin()) if len(reach) else -1
        step = 1.0 - self.done
        event = first >= 0 and reach[first] < step
        if event:
            step = float(reach[first])
        self.alpha = self.alpha + step * d
        self.gradient = self.gradient + step * slope
        self.b += step * change
        self.done += step
        if event:
            self._switch(first, d[first] > 0.0)
        else:
            growing = self.kinds == GROWING
            self.alpha[growing] = self.target[growing]
        return event

    def _reach(self, d: np.ndarray, approach: np.ndarray) -> np.ndarray:
        """Step at which each watched variable has its event, infinity if it has none."""
        reach = np.full(len(d), np.inf)
        for place in self.free.members[: self.free.count]:
            if d[place] != 0.0:
                bound = self.upper[place] if d[place] > 0.0 else self.lower[place]
                reach[place] = max((bound - self.alpha[place]) / d[place], 0.0)
        waiting = (self.kinds == BOUNDED) | (self.kinds == GROWING)
        nearing = waiting & (self.sides * approach < 0.0)
        distance = np.maximum(self.sides * (self.gradient - self.b), 0.0)
        reach[nearing] = distance[nearing] / -(self.sides * approach)[nearing]
        return reach

    def _switch(self, place: int, rising: bool) -> None:
        """Let the event of a variable happen."""
        if self.kinds[place] == FREE:
            self.alpha[place] = self.upper[place] if rising else self.lower[place]
            self.kinds[place], self.sides[place] = BOUNDED, 1.0 if rising else -1.0
            self.free.leave(place)
            for tied in np.flatnonzero(self.kinds == TIED).tolist():
                self._enter(tied)
            return
        if self.kinds[place] == GROWING:
            self.push = self.push - self.direction[place] * self._row(place)
            self.pull -= self.direction[place]
        self._enter(place)

    def _begin_with_one(self) -> bool:
        """Where M is empty b may move, up to the first variable that may take what F and T give or take."""
        waiting = (self.kinds == BOUNDED) | (self.kinds == TIED)
        if self.pull < 0.0:
            key = np.where(waiting & (self.alpha < self.upper), self.gradient, -np.inf)
        else:
            key = np.where(waiting & (self.alpha > self.lower), -self.gradient, -np.inf)
        if not len(key) or key.max() == -np.inf:
            return False
        place = int(key.argmax())
        self.b = float(self.gradient[place])
        self._enter(place)
        return True
