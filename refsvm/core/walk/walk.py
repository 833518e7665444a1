"""The walk: the optimum of a problem whose v, L, U and z are affine in t, followed from event to event.

    v(t) = v⁰ + t v¹,   L(t) = L⁰ + t L¹,   U(t) = U⁰ + t U¹,   z(t) = z⁰ + t z¹

At the optimum Gᵢ = b for the free variables M; Gᵢ ≤ b where αᵢ = Lᵢ, and Gᵢ ≥ b where αᵢ = Uᵢ. Those at a bound travel
with it, d_B = L¹ or U¹. Between two events all is affine in t:

    | 0   1ᵀ  | | db  |     | z¹ − 1ᵀd_B        |
    | 1  K_MM | | d_M |  =  | v¹_M − K_MB d_B   |         dG = v¹ − K d

`refsvm.SVMP` and `refsvm.Hastie` walk along λ = 1/C, and `refsvm.ATO` from one box to another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.problem import total
from refsvm.core.walk.bordered import SPARE, Bordered

BELOW: Final = -1
FREE: Final = 0
ABOVE: Final = 1
TIED: Final = 2
CLOSED: Final = 3
"""Where a variable is: at L; in M; at U; where G = b by itself, as its row depends on those of M; in a box without
width, which asks nothing of G."""


class Line(NamedTuple):
    """The rates v¹, L¹, U¹, arrays of shape (n,), and z¹, each per unit of the way; and whether t rises or falls."""

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    z: float = 0.0
    t: float = 1.0


class Variables(NamedTuple):
    """The state of each variable, arrays of shape (n,): the rows of ``Walk.values``, which the twins are given.

    Attributes
    ----------
    alpha : ndarray
        α.
    excess : ndarray
        G − b.
    lower, upper, lower_rate, upper_rate : ndarrays
        L(t), U(t), L¹ and U¹.
    pace : ndarray
        d outside M: the rate of the bound.
    push : ndarray
        v¹ − K d_B.
    d, speed : ndarrays
        Of the direction at hand: d and dG − db.
    """

    alpha: np.ndarray
    excess: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lower_rate: np.ndarray
    upper_rate: np.ndarray
    pace: np.ndarray
    push: np.ndarray
    d: np.ndarray
    speed: np.ndarray


class Walk:
    """A point of the walk, and the linear system of its free variables.

    Parameters
    ----------
    line : Line
    row : callable
        ``row(i)`` is row i of K, shape (n,).
    alpha, excess : ndarrays of shape (n,)
        α and G − b.
    side : ndarray of shape (n,), int8
        BELOW, FREE, ABOVE, TIED or CLOSED; FREE only for those that `begin` puts into M.
    box : (ndarray, ndarray)
        L and U.

    Attributes
    ----------
    t, b : float
        Where on the line, and the intercept; both from 0.
    values : ndarray of shape (10, n)
        The `Variables`, row by row.
    of : Variables
        Views of its rows.
    members : list of int
        M, in the order of the system.
    rows : ndarray of shape (room, n)
        Their kernel rows; none where K itself is held.
    stored : ndarray or None
        K, where it is held (`refsvm.core.walk.state.PathState`).
    system : Bordered or None
        None where it has not been made, or cannot be.
    total : float
        z¹ − 1ᵀd_B.

    Examples
    --------
    Two boxes open by 1; their variables follow, and join M half way, where G = b:

    >>> import numpy as np
    >>> from refsvm.core.walk.walk import ABOVE, BELOW, Line, Walk
    >>> zero, K, v = np.zeros(2), np.array([[2.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])
    >>> line = Line(zero, lower=np.array([0.0, -1.0]), upper=np.array([1.0, 0.0]))
    >>> walk = Walk(line, K.__getitem__, zero, v, np.array([ABOVE, BELOW], dtype=np.int8), (zero, zero))
    >>> walk.begin([], np.zeros((1, 1)), least=1e-9)
    >>> walk.advance(1.0), walk.t, walk.variables.alpha
    (True, 0.5, array([ 0.5, -0.5]))
    """

    def __init__(
        self,
        line: Line,
        row: Callable[[int], np.ndarray],
        alpha: np.ndarray,
        excess: np.ndarray,
        side: np.ndarray,
        box: tuple[np.ndarray, np.ndarray],
    ) -> None:
        n = len(alpha)
        self.line, self.row, self.side, self.t, self.b = line, row, side, 0.0, 0.0
        # a variable that is not free travels with its bound
        pace = np.where(side == ABOVE, line.upper, np.where(side != FREE, line.lower, 0.0))
        # one array for all of them: the twin gets it as a whole, and `watch` takes its columns in one index
        self.values = np.zeros((len(Variables._fields), n))
        self.variables = Variables(*self.values)
        self.values[:8] = alpha, excess, *box, line.lower, line.upper, pace, line.v
        self.total, self.members, self.rows = line.z, list[int](), np.empty((0, n))
        self.stored: np.ndarray | None = None
        self.system: Bordered | None = None

    def begin(self, members: list[int], inverse: np.ndarray, least: float) -> None:
        """Take M and the inverse of its matrix; those of M that are not FREE leave."""
        pace = self.variables.pace
        moving = np.flatnonzero(pace)
        # summed in the order of the twin, not by NumPy's pairs: the bits are the same
        self.total -= total(pace[moving])
        for i in moving.tolist():
            self.variables.push[:] -= pace[i] * self.row(i)
        self.system, self.members = Bordered(inverse, least), list(members)
        for k in members:
            if self.side[k] != FREE:
                slot = self.members.index(k)
                self.system.delete(slot)
                self.members[slot] = self.members[-1]
                del self.members[-1]
        self.rows = np.array([*map(self.row, self.members), np.zeros(len(self.side))])
        self.system.solve(self.right)

    @property
    def right(self) -> np.ndarray:
        """The right-hand side of the system, shape (m + 1,)."""
        return np.append(self.total, self.variables.push[self.members])

    def watch(self, places: np.ndarray) -> None:
        """Follow these variables only, ascending, M among them; from now on they are numbered from 0."""
        # the rows of all variables stay reachable; only what is watched is copied out of them
        whole = self.row
        self.row = lambda i: whole(int(places[i]))[places]
        self.values, self.rows = (np.ascontiguousarray(each[:, places]) for each in (self.values, self.rows))
        self.variables, self.side = Variables(*self.values), self.side[places]
        self.members = np.searchsorted(places, self.members).tolist()

    # -- one event -------------------------------------------------------------------------------------------------

    def advance(self, room: float) -> bool:
        """Advance to the next event, at most this far; return whether the walk continues from there."""
        if not self.members and self.total != 0.0 and not self.take_first():
            return False
        # --- direction: the bordered system, then dG = v¹ − K d ---
        db = self.direction()
        # --- how far, and the variable whose event is there ---
        i, step = self.reach()
        # --- move ---
        self.move(min(step, room), db)
        if not step < room:
            return False
        # --- a variable that has reached a bound leaves M; one whose G has reached b joins it ---
        if self.side[i] != FREE:
            self.join(i)
            return True
        self.leave(i, self.nearest(i))
        return self.system is not None

    def direction(self, x: np.ndarray | None = None) -> float:
        """Write d and dG − db, where db, d_M are the first m + 1 numbers of x, by default the system's; return db."""
        # trackers with an algebra of their own bring the solution of a singular system
        if x is None:
            assert self.system is not None
            x = self.system.x
        d, speed, m = self.variables.d, self.variables.speed, len(self.members)
        d[:] = self.variables.pace
        d[self.members] = x[1 : m + 1]
        # v¹ − K d_B − db − K_M d_M
        np.subtract(self.variables.push, x[0], out=speed)
        if self.stored is None:
            arithmetic.current.add_rows(speed, -x[1 : m + 1], self.rows, np.arange(m))
        else:
            arithmetic.current.add_rows(
                speed, -x[1 : m + 1], self.stored, np.array(self.members, dtype=np.int64)
            )
        return float(x[0])

    def reach(self, noise: tuple[float, float] = (0.0, 0.0)) -> tuple[int, float]:
        """Return the variable whose event comes first, the lowest index of several, and how far that is.

        A free variable has it at a bound, others where G = b. Rates up to `noise` count as zero: of α, and of G − b.
        """
        rates = self.rates(noise)
        # a rate of 0 never leads to an event: its quotient is thrown away in the next line
        with np.errstate(divide="ignore", invalid="ignore"):
            events = np.maximum(self.distances(), 0.0) / rates
        far = np.where(rates > 0.0, events, np.inf).min(axis=0)
        i = int(far.argmin()) if len(far) else -1
        return i, float(far.min(initial=np.inf))

    def rates(self, noise: tuple[float, float] | None = None) -> np.ndarray:
        """Return how fast free variables near U, and L, and the others G = b, shape (3, n); 0 for all others.

        With `noise` 0 also for variables that move no faster, or away.
        """
        of, side = self.variables, self.side
        rates = np.array([of.d - of.upper_rate, of.lower_rate - of.d, -side * of.speed])
        rates[:2] *= side == FREE
        rates[2] *= np.abs(side) == 1
        if noise is not None:
            rates *= rates > [[noise[0]], [noise[0]], [noise[1]]]
        return rates

    def distances(self) -> np.ndarray:
        """Return how far it is to where these rates lead: to U, to L, and to G = b, shape (3, n)."""
        of = self.variables
        return np.array([of.upper - of.alpha, of.alpha - of.lower, self.side * of.excess])

    def move(self, step: float, db: float) -> None:
        """Move this far along the direction."""
        of, line = self.variables, self.line
        # updates in place: the twin shares these arrays, and goes on in the middle of a path
        of.alpha[:] += step * of.d
        of.excess[:] += step * of.speed
        of.lower[:] += step * of.lower_rate
        of.upper[:] += step * of.upper_rate
        self.b += step * db
        self.t += step * line.t

    def nearest(self, i: int) -> int:
        """Return the side of the bound to which a free variable moves; where both come nearer, of the nearer one."""
        of = self.variables
        if of.d[i] - of.upper_rate[i] > 0.0 and of.lower_rate[i] - of.d[i] > 0.0:
            return ABOVE if of.upper[i] - of.alpha[i] < of.alpha[i] - of.lower[i] else BELOW
        return ABOVE if of.d[i] - of.upper_rate[i] > of.lower_rate[i] - of.d[i] else BELOW

    # -- the sets --------------------------------------------------------------------------------------------------

    def join(self, i: int) -> bool:
        """Add i to M and return True; where its kernel row depends on those of M, note that it is TIED to them."""
        of, row, system = self.variables, self.row(i), self.system
        assert system is not None
        right, pace = float(of.push[i]), float(of.pace[i])
        self.change_pace(i, 0.0)
        if not self.members:
            system.insert_first(float(row[i]), self.total, float(of.push[i]))
        elif not system.insert(np.append(1.0, row[self.members]), float(row[i]), right, pace):
            self.side[i] = TIED
            if pace != 0.0:  # the others move for it
                system.solve(self.right)
            return False
        if self.stored is None:
            if len(self.members) == len(self.rows):
                self.rows = np.concatenate([self.rows, np.empty((SPARE, len(row)))])
            self.rows[len(self.members)] = row
        self.members.append(i)
        self.side[i] = FREE
        return True

    def leave(self, i: int, side: int) -> None:
        """Remove i from M, to the bound that it has reached; a variable that is no longer TIED to M joins."""
        of, slot, system = self.variables, self.members.index(i), self.system
        tied = np.flatnonzero(self.side == TIED).tolist()
        bound, rate = (of.upper, of.upper_rate) if side == ABOVE else (of.lower, of.lower_rate)
        of.alpha[i], pace = bound[i], float(rate[i])
        self.side[i] = side
        if system is not None:
            tied = [k for k in tied if system.frees(slot, np.append(1.0, self.row(k)[self.members]))]
            self.system = system if system.delete(slot, pace) else None
        if self.stored is None:
            self.rows[slot] = self.rows[len(self.members) - 1]
        self.members[slot] = self.members[-1]
        del self.members[-1]
        self.change_pace(i, pace)
        for k in tied if self.system is not None else ():
            self.join(k)

    def change_pace(self, i: int, pace: float) -> None:
        """Set the rate at which i moves in B; 0 if it has left B, or its bound stays."""
        # the difference: most bounds do not move, and then no kernel row is read
        change = pace - float(self.variables.pace[i])
        self.variables.pace[i] = pace
        if change != 0.0:
            self.variables.push[:] -= change * self.row(i)
            self.total -= change

    def take_first(self) -> bool:
        """Where M is empty b may move, to the first variable that may take what the others give; return whether."""
        of = self.variables
        waiting = ((np.abs(self.side) == 1) | (self.side == TIED)) & (of.pace == 0.0)
        if self.total > 0.0:
            key = np.where(waiting & (of.alpha < of.upper), of.excess, -np.inf)
        else:
            key = np.where(waiting & (of.alpha > of.lower), -of.excess, -np.inf)
        if key.max(initial=-np.inf) == -np.inf:
            return False
        i = int(key.argmax())
        self.b += float(of.excess[i])
        of.excess[:] -= float(of.excess[i])
        self.join(i)
        return True
