"""ATO: follow the optimum while the removed examples lose their weight and the added ones gain theirs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from refsvm._checks import positive_or_inf, whole
from refsvm.primal import total
from refsvm.seeders.base import Seeder
from refsvm.seeders.bordered import Bordered, independent, inverse_of
from refsvm.seeders.exchange import offset
from refsvm.seeders.spread import complete

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.result import Solution

__all__ = ["ATO"]

IGNORED, FREE, BOUNDED, GROWING, TIED = 0, 1, 2, 3, 4
"""What a variable does: nothing; keep G = b; wait at a bound; move to one; keep G = b with the help of others."""

EVENTS: Final = 2.0
"""Events expected for each variable that moves: measured, 1.1 to 3.6."""

PATIENCE: Final = 4.0
"""A path that has begun is followed until it has taken so many times the work allowed: half a path is worth little."""

SHARED: Final = 30.0
"""The inverse, which all paths from a solution share, may take so many times the work allowed for one."""

BEGIN_COST: Final = 100_000
EVENT_COST: Final = 8000
STEP_COST: Final = 1000
"""What a path, an event, and a step of SMO take beside passes over their arrays, in multiplications: measured."""


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
    tolerance of what was solved.

    To compute all of this again at each event is what made the published algorithm slow. Here the inverse of the matrix
    is computed once for a solved problem, and each event adds a product of two vectors to it. K d_F + K d_T is
    summed once. The gradient is followed only for variables that are near b, measured by the speeds at the beginning.
    The path is not followed, or no further, where that would cost more than the steps of the solver that it saves:
    what F has left is then spread over the free variables.

    Parameters
    ----------
    margin : float, default 1
        A bounded variable is watched if its G would reach b before η = 1 at its first speed plus `margin` times the
        root mean square of all first speeds. One that is missed costs the solver steps.
    max_events : int, default 1000
        Most events.
    max_free : int, default 500
        With more free variables than this the path is not followed.
    budget : float, default 0.3
        Most work that a path may be expected to take, in multiplications, as a part of the work of the longest round so
        far, its steps times n. Infinity: the path is followed whatever it costs.

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

    def seed(self, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return the feasible α."""
        return self.seeds_from(solved)(problem)

    def seeds_from(self, solved: Solution) -> Callable[[DualProblem], np.ndarray]:
        """Return `seed` for one solution and many problems; the first path that pays computes the inverse for all."""
        return partial(self._seed, solved, self.outline(solved), cache(partial(self.prepare, solved)))

    def _seed(
        self, solved: Solution, outline: np.ndarray, prepared: Callable[[], np.ndarray], problem: DualProblem
    ) -> np.ndarray:
        alpha = np.clip(solved.alpha, problem.lower, problem.upper)
        if len(outline):
            walk = Walk(solved, problem)
            if walk.pays(outline):
                walk.begin(self.margin, prepared())
                for _ in range(self.max_events):
                    if not walk.advance():
                        break
                if np.isfinite(walk.alpha).all():
                    alpha[walk.watched] = np.clip(walk.alpha, walk.lower, walk.upper)
        return complete(alpha, problem.z, problem.lower, problem.upper)

    def outline(self, solved: Solution) -> np.ndarray:
        """Return the most work, and the number of free variables; nothing if no path pays."""
        # a step makes two passes over n variables
        most = self.budget * max(solved.longest_round, 1) * 2 * (solved.problem.n + STEP_COST)
        if most < BEGIN_COST:
            return np.zeros(0)
        m = int(np.count_nonzero(_are_free(solved)))
        return np.zeros(0) if m > self.max_free or m**3 > SHARED * most else np.array([most, m])

    def prepare(self, solved: Solution) -> np.ndarray:
        """Return the outline, max |Kᵢᵢ|, M and the inverse of its matrix; nothing if no path pays."""
        outline, gram, free = self.outline(solved), solved.problem.gram, np.flatnonzero(_are_free(solved))
        if not len(outline):
            return outline
        K = gram.block(free, free) if gram.dense is None else gram.dense[np.ix_(free, free)]
        largest = float(np.abs(gram.diagonal()).max())
        kept = independent(K, largest)
        inverse = inverse_of(K[np.ix_(kept, kept)])
        return np.concatenate([outline, [largest, len(kept)], free[kept], inverse.ravel()])

    def parameters(self) -> tuple[float, ...]:
        """Return the margin and the most events."""
        return self.margin, float(self.max_events)

    def twin(self) -> Callable[..., int]:
        """Return `refsvm.fast.following.ato`."""
        from refsvm.fast.following import ato

        return ato


def _are_free(solved: Solution) -> np.ndarray:
    """Which variables are strictly inside their box."""
    return (solved.problem.lower < solved.alpha) & (solved.alpha < solved.problem.upper)


class Walk:
    """The path from a solved problem to the next box; its arrays hold the watched variables only.

    Parameters
    ----------
    solved : Solution
    problem : DualProblem
    """

    free: Bordered

    def __init__(self, solved: Solution, problem: DualProblem) -> None:
        self.problem, self.b, self.done, self.most = problem, offset(solved), 0.0, math.inf
        self.kinds, self.sides, clipped = self._first_kinds(solved)
        self.watched = np.flatnonzero(self.kinds != IGNORED)
        self.alpha, self.gradient = clipped, solved.gradient
        self.lower, self.upper = problem.lower, problem.upper
        growing = self.kinds == GROWING
        target = np.where(self.sides > 0.0, self.upper, self.lower)
        # where there is no bound, as far as the largest weight so far
        far = self.alpha + self.sides * max(1.0, float(np.abs(solved.alpha).max()))
        self.target = np.where(np.isinf(target), far, target)
        self.direction = np.where(growing, self.target - self.alpha, 0.0)
        self.changes = np.where(growing, self.direction, clipped - solved.alpha)
        self.rows: list[np.ndarray] = []
        self._evaluated: dict[int, np.ndarray] = {}
        self.pull, self.push, self.work = 0.0, np.zeros(problem.n), 0.0

    def pays(self, outline: np.ndarray) -> bool:
        """Whether the path is expected to take no more work than is allowed."""
        self.most, m = float(outline[0]), int(outline[1])
        moving, n = int(np.count_nonzero(self.changes)), len(self.kinds)
        self.work = float(n * (moving + m))
        events = EVENTS * moving * (EVENT_COST + m * (2 * m + n / 16))
        return self.work + BEGIN_COST + events <= self.most

    def begin(self, margin: float, memory: np.ndarray) -> None:
        """Take the first direction, and watch what is near b; `memory` is what `ATO.prepare` has returned."""
        m = int(memory[3])
        inverse = memory[4 + m :].reshape(m + 1, m + 1)
        self.free = Bordered(memory[4 : 4 + m].astype(np.int64), inverse, float(memory[2]))
        # --- K d and 1ᵀd over F and T ---
        moving = np.flatnonzero(self.changes)
        self.pull = total(self.changes[moving])
        for i in moving.tolist():
            self.push += self.changes[i] * self._row(i)
        # --- M ---
        self.free.begin(-self.pull, -self.push)
        for k in self.free.members.copy():
            if self.kinds[k] != FREE:
                self.free.leave(k)
        self.kinds[self.kinds == FREE] = TIED
        self.kinds[[k for k, inside in zip(self.free.members, self.free.inside, strict=True) if inside]] = (
            FREE
        )
        # --- how fast G of the others comes nearer to b, and who is near ---
        self.rows = [self._row(k) for k in self.free.members]
        approach = self.sides * (self._slope() - self.free.x[0])
        waiting = self.kinds == BOUNDED
        speed = math.sqrt(total(approach[waiting] ** 2) / max(1, int(waiting.sum())))
        distance = np.maximum(self.sides * (self.gradient - self.b), 0.0)
        near = distance <= np.abs(approach) + (margin * speed if speed > 0.0 else margin)
        self._watch(np.flatnonzero((self.kinds != IGNORED) & ~(waiting & ~near)))
        for tied in np.flatnonzero(self.kinds == TIED).tolist():
            self._enter(tied)

    def _watch(self, watched: np.ndarray) -> None:
        """Keep what is known of these variables only."""
        self.watched = watched
        for name in ("kinds", "sides", "alpha", "gradient", "lower", "upper", "target", "direction", "push"):
            setattr(self, name, getattr(self, name)[watched])
        self.rows = [row[watched] for row in self.rows]

    def _first_kinds(self, solved: Solution) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        kinds[~moves] = IGNORED
        at_upper = np.where(growing, rises, clipped == upper)
        return kinds, np.where(at_upper, 1.0, -1.0), clipped

    def _row(self, i: int) -> np.ndarray:
        """Row i of K, evaluated once."""
        if i not in self._evaluated:
            self._evaluated[i] = self.problem.gram.block(np.array([i]))[0]
        return self._evaluated[i]

    def _enter(self, place: int) -> None:
        """Let a variable join M, unless its kernel row depends on those of M: then its G follows b anyway."""
        i, free = int(self.watched[place]), self.free
        row, moving = self._row(i), 0.0
        right = -float(self.push[place])
        if self.kinds[place] == GROWING:
            moving = float(self.direction[place])
            self.push = self.push - moving * row[self.watched]
            self.pull -= moving
        if not free.count:
            free.enter_empty(i, row, -self.pull, -float(self.push[place]))
            self.rows, self.kinds[place] = [row[self.watched]], FREE
            return
        self.work += free.cost_of_entering
        entered = free.enter(i, row, right, moving)
        self.kinds[place] = FREE if entered else TIED
        if entered:
            self.rows.append(row[self.watched])

    def _slope(self) -> np.ndarray:
        """DG = −(K d_F + K d_T + K_M d_M)."""
        slope = -self.push
        for row, d, inside in zip(self.rows, self.free.x[1:], self.free.inside, strict=True):
            slope = slope - d * row if inside else slope
        return slope

    def advance(self) -> bool:
        """Go on to the next event; return whether there was one and the path goes on."""
        if not self.free.count and self.pull != 0.0 and not self._begin_with_one():
            return False
        # --- direction: the bordered system, then dG = −(K d_F + K d_T + K_M d_M) ---
        slope, change = self._slope(), float(self.free.x[0])
        members = [k for k, inside in zip(self.free.members, self.free.inside, strict=True) if inside]
        d = np.where(self.kinds == GROWING, self.direction, 0.0)
        d[np.searchsorted(self.watched, members)] = self.free.x[1:][self.free.inside]
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
        self.work += len(self.watched) * len(members)
        return event and self.work <= PATIENCE * self.most

    def _reach(self, d: np.ndarray, approach: np.ndarray) -> np.ndarray:
        """Step at which each watched variable has its event, infinity if it has none."""
        reach = np.full(len(d), np.inf)
        for place in np.flatnonzero((self.kinds == FREE) & (d != 0.0)).tolist():
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
            self.free.leave(int(self.watched[place]))
            is_empty = not self.free.count
            self.rows = [] if is_empty else self.rows
            for tied in np.flatnonzero(self.kinds == TIED).tolist():
                if is_empty or self.free.frees(self._row(int(self.watched[tied]))):
                    self._enter(tied)
        else:
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
