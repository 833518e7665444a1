"""The walk: follows the optimum, event by event, of a problem whose v, L, U and z are affine in t.

    v(t) = v⁰ + t v¹,   L(t) = L⁰ + t L¹,   U(t) = U⁰ + t U¹,   z(t) = z⁰ + t z¹.

At the optimum Gᵢ = b for the free variables M, Gᵢ ≤ b if αᵢ = Lᵢ, and Gᵢ ≥ b if αᵢ = Uᵢ. Variables at a bound move with
this bound: d_B = L¹ or U¹. Between two events, α, b and G are affine in t:

    | 0   1ᵀ  | | db  |     | z¹ − 1ᵀd_B        |
    | 1  K_MM | | d_M |  =  | v¹_M − K_MB d_B   |         dG = v¹ − K d

`refsvm.SVMP` and `refsvm.Hastie` follow the optimum along λ = 1/C, and `refsvm.ATO` follows it from an old box to a new
box.
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
"""The sets of variables: BELOW at L; FREE in M; ABOVE at U; TIED has G = b automatically, because its kernel row
depends on rows of M; CLOSED has a box without width, which imposes no condition on G."""


class Line(NamedTuple):
    """The rates of change v¹, L¹, U¹ (arrays of shape (n,)) and z¹ along the line, and whether t rises or falls."""

    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    z: float = 0.0
    t: float = 1.0


class Variables(NamedTuple):
    """The state of all variables, in arrays of shape (n,): the rows of ``Walk.values``, which compiled code shares.

    Attributes
    ----------
    alpha : ndarray
        α.
    excess : ndarray
        G − b.
    lower, upper, lower_rate, upper_rate : ndarrays
        L(t), U(t), L¹ and U¹.
    pace : ndarray
        For variables outside M, the rate d of their α, equal to the rate of
        their bound.
    push : ndarray
        v¹ − K d_B.
    d, speed : ndarrays
        d and dG − db of the present direction.
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
    """A point of the path of optima, and the linear system of its free variables.

    Parameters
    ----------
    line : Line
        The rates of change along the line.
    row : callable
        ``row(i)`` returns row i of K, shape (n,).
    alpha, excess : ndarrays of shape (n,)
        α and G − b at the start.
    side : ndarray of shape (n,), int8
        Set of each variable: BELOW, FREE, ABOVE, TIED or CLOSED. Call `begin` to put the FREE variables into M.
    box : (ndarray, ndarray)
        L and U at the start.

    Attributes
    ----------
    t, b : float
        The parameter t and the intercept b, both 0 at the start.
    values : ndarray of shape (10, n)
        The array whose rows are the `Variables`.
    variables : Variables
        The rows of `values`, by name.
    members : list of int
        The variables of M, in the order of the rows of `system`.
    rows : ndarray of shape (room, n)
        The kernel rows of the members; empty if `stored` holds K.
    stored : ndarray or None
        The whole of K, if the walk keeps it (`refsvm.core.walk.state.PathState`).
    system : Bordered or None
        The linear system of M; None if it has not been set up, or is singular.
    total : float
        z¹ − 1ᵀd_B.

    Examples
    --------
    An upper and a lower bound move away from 0 with their variables; half way, G = b, and the variables join M:

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
        # a variable that is not free moves with its bound
        pace = np.where(side == ABOVE, line.upper, np.where(side != FREE, line.lower, 0.0))
        # store all fields in one array, so that it can be passed to compiled code, and `watch` can select its columns
        self.values = np.zeros((len(Variables._fields), n))
        self.variables = Variables(*self.values)
        self.values[:8] = alpha, excess, *box, line.lower, line.upper, pace, line.v
        self.total, self.members, self.rows = line.z, list[int](), np.empty((0, n))
        self.stored: np.ndarray | None = None
        self.system: Bordered | None = None

    def begin(self, members: list[int], inverse: np.ndarray, least: float) -> None:
        """Set M and the inverse of its matrix, and remove the members that are not FREE."""
        pace = self.variables.pace
        moving = np.flatnonzero(pace)
        # sum in the order of compiled code, not pairwise as NumPy does, to get the same bits
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
        """Follow only the given variables (ascending, including M); index k then means the k-th given variable."""
        # `row` still returns rows of all variables; only the watched entries are copied from them
        whole = self.row
        self.row = lambda i: whole(int(places[i]))[places]
        self.values, self.rows = (np.ascontiguousarray(each[:, places]) for each in (self.values, self.rows))
        self.variables, self.side = Variables(*self.values), self.side[places]
        self.members = np.searchsorted(places, self.members).tolist()

    # -- one event -------------------------------------------------------------------------------------------------

    def advance(self, room: float) -> bool:
        """Advance to the next event, but at most by `room`; return True if the walk can continue after the event."""
        if not self.members and self.total != 0.0 and not self.take_first():
            return False
        # --- direction: solve the bordered system, then compute dG = v¹ − K d ---
        db = self.direction()
        # --- find the distance to the next event, and the variable of this event ---
        i, step = self.reach()
        # --- move ---
        self.move(min(step, room), db)
        if not step < room:
            return False
        # --- a variable that has reached a bound leaves M; a variable whose G has reached b joins M ---
        if self.side[i] != FREE:
            self.join(i)
            return True
        self.leave(i, self.nearest(i))
        return self.system is not None

    def direction(self, x: np.ndarray | None = None) -> float:
        """Set d and dG − db from a solution x = (db, d_M), by default the system's solution; return db."""
        # trackers that solve the system by other factors pass their own solution
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
        """Return the variable with the next event and the distance to this event; ties go to the lowest index.

        A free variable has an event when α reaches a bound, and a bounded variable when G reaches b. Rates of α and of
        G − b up to `noise` count as zero.
        """
        rates = self.rates(noise)
        # divide by rates of 0 without a warning, because `far` ignores these quotients
        with np.errstate(divide="ignore", invalid="ignore"):
            events = np.maximum(self.distances(), 0.0) / rates
        far = np.where(rates > 0.0, events, np.inf).min(axis=0)
        i = int(far.argmin()) if len(far) else -1
        return i, float(far.min(initial=np.inf))

    def rates(self, noise: tuple[float, float] | None = None) -> np.ndarray:
        """Return the rates at which free variables approach U and L, and other variables approach G = b, shape (3, n).

        A rate that does not apply to a variable is 0. With `noise`, rates up to `noise` and negative rates are also 0.
        """
        var, side = self.variables, self.side
        rates = np.array([var.d - var.upper_rate, var.lower_rate - var.d, -side * var.speed])
        rates[:2] *= side == FREE
        rates[2] *= np.abs(side) == 1
        if noise is not None:
            rates *= rates > [[noise[0]], [noise[0]], [noise[1]]]
        return rates

    def distances(self) -> np.ndarray:
        """Return the distances of α to U, of α to L, and of G to b, shape (3, n), in the order of `rates`."""
        var = self.variables
        return np.array([var.upper - var.alpha, var.alpha - var.lower, self.side * var.excess])

    def move(self, step: float, db: float) -> None:
        """Move by `step` along the direction."""
        var, line = self.variables, self.line
        # update in place, because compiled code shares these arrays and may continue in the middle of a path
        var.alpha[:] += step * var.d
        var.excess[:] += step * var.speed
        var.lower[:] += step * var.lower_rate
        var.upper[:] += step * var.upper_rate
        self.b += step * db
        self.t += step * line.t

    def nearest(self, i: int) -> int:
        """Return the side of the bound that αᵢ approaches, for a free i; the nearer bound if αᵢ approaches both."""
        var = self.variables
        if var.d[i] - var.upper_rate[i] > 0.0 and var.lower_rate[i] - var.d[i] > 0.0:
            return ABOVE if var.upper[i] - var.alpha[i] < var.alpha[i] - var.lower[i] else BELOW
        return ABOVE if var.d[i] - var.upper_rate[i] > var.lower_rate[i] - var.d[i] else BELOW

    # -- the sets --------------------------------------------------------------------------------------------------

    def join(self, i: int) -> bool:
        """Add i to M and return True; if its kernel row depends on rows of M, mark i as TIED and return False."""
        var, row, system = self.variables, self.row(i), self.system
        assert system is not None
        right, pace = float(var.push[i]), float(var.pace[i])
        self.change_pace(i, 0.0)
        if not self.members:
            system.insert_first(float(row[i]), self.total, float(var.push[i]))
        elif not system.insert(np.append(1.0, row[self.members]), float(row[i]), right, pace):
            self.side[i] = TIED
            if pace != 0.0:  # the variables in M must compensate for the changed pace of the other variables
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
        """Move i from M to the bound that αᵢ has reached; add to M a TIED variable that no longer depends on M."""
        var, slot, system = self.variables, self.members.index(i), self.system
        tied = np.flatnonzero(self.side == TIED).tolist()
        bound, rate = (var.upper, var.upper_rate) if side == ABOVE else (var.lower, var.lower_rate)
        var.alpha[i], pace = bound[i], float(rate[i])
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
        """Set the rate at which αᵢ moves while i is outside M; `pace` is 0 if i joins M or its bound does not move."""
        # most bounds do not move; then the change is 0 and no kernel row is read
        change = pace - float(self.variables.pace[i])
        self.variables.pace[i] = pace
        if change != 0.0:
            self.variables.push[:] -= change * self.row(i)
            self.total -= change

    def take_first(self) -> bool:
        """If M is empty, move b to the nearest G of a variable that can keep Σα = z; return True if one exists."""
        var = self.variables
        waiting = ((np.abs(self.side) == 1) | (self.side == TIED)) & (var.pace == 0.0)
        if self.total > 0.0:
            key = np.where(waiting & (var.alpha < var.upper), var.excess, -np.inf)
        else:
            key = np.where(waiting & (var.alpha > var.lower), -var.excess, -np.inf)
        if key.max(initial=-np.inf) == -np.inf:
            return False
        i = int(key.argmax())
        self.b += float(var.excess[i])
        var.excess[:] -= float(var.excess[i])
        self.join(i)
        return True
