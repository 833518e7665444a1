"""SVMP: follows the whole path on any data, including duplicates and dependent points (Ong, Shao & Yang 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from refsvm.core._checks import positive, whole
from refsvm.core.result import Status
from refsvm.core.trackers.backup import ACCEPTED, choose_sets, solve_at
from refsvm.core.trackers.base import PathTracker
from refsvm.core.walk.algebra import ElbowAlgebra, UpdatedInverse
from refsvm.core.walk.breakpoint import Point
from refsvm.core.walk.elbow import (
    Step,
    correct,
    empty_elbow_step,
    jump_of_alpha,
    jump_of_b,
    particular_direction,
    take,
)  # fmt: skip
from refsvm.core.walk.linear_program import longest_fall
from refsvm.core.walk.special_events import SwitchingGuard, blocking
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import FREE

FIRST_JUMP = 1e-7

MOST_REPAIRS = 3
"""Largest number of successive repairs by SMO at one λ."""


@dataclass(frozen=True)
class SVMP(PathTracker):
    """Ong, Shao & Yang's tracker: uses a linear program on singular elbows, and handles several events at one λ.

    For each event, the tracker factorises the matrix A of the elbow and finds the rank of A (25). If the rank is full,
    λ falls as far as (47)–(49) allow; if not, λ falls as far as the linear program (30)–(34) allows. Examples on the
    border of two sets may prevent λ from falling; the special-event routine then moves each such example from its
    present set to the set across the border. If the sets keep repeating at one λ, SMO computes the derivative of the
    path, which determines the sets. The tracker checks the KKT conditions at every breakpoint.

    Parameters
    ----------
    algebra : ElbowAlgebra, default UpdatedInverse()
        The object that factorises A and holds the paper's ε_svd: `SVD`, `PivotedQR`, `UpdatedQR` or `UpdatedInverse`.
    eps_kkt : float
        The paper's ε_kkt: largest violation of (56), in units of the margin (ξ), that the tracker does not repair. The
        paper uses 1e-6.
    eps_smo : float
        The paper's ε_smo: KKT gap to which SMO solves at the start and for repairs, in units of the decision function.
    tau : float
        The paper's τ: components of d_p below τ times the largest component count as zero. Rates pᵢ below their
        rounding error also count as zero. The paper uses 1e-4 for d_p and for pᵢ, in units of the kernel.
    tau_2 : float
        The paper's τ₂: a fall of λ by less than τ₂λ does not count as progress. The paper uses 1e-8 in units of λ.
    gamma : float
        The paper's γ: largest relative decrease of λ by which the backup routine may jump. The first jump lowers λ by
        the fraction 1e-7 and violates optimality by about 1e-7. Each further jump is ten times larger.
    ell : int
        The paper's ℓ: number of events without progress after which the backup routine takes over.
    refresh : int
        Number of events between two recomputations of g.
    starts_at_bound : bool
        If True, SMO finds the first point of a path in C from the ŝ of eq. (55) in the paper: every ŝᵢ is at its
        non-zero bound, except in the first examples of the larger class. SMO then solves to the KKT gap ε_smo. By
        default SMO starts at ŝ = 0 and reaches the KKT gap 1e-9.

    Raises
    ------
    ValueError
        If a parameter is not positive; while tracking, if the kernel is not positive semi-definite.

    See Also
    --------
    refsvm.Hastie : A tracker for regular elbows only.

    Notes
    -----
    There are three differences from the paper. Tolerances are relative, so that a path does not depend on the unit of
    the kernel. In the linear program, (32) and (33) reduce to one bound on δλ, because null vectors do not change g.
    The backup routine first chooses the sets by the derivative at λ, which keeps the path exact; the routine jumps only
    if no set changes.

    Compiled code (`refsvm.core.backend`) follows many events in one call, as long as the elbow is regular and each
    event moves one example to another set. NumPy and SciPy handle empty elbows, jumps, events of several examples,
    singular elbows, the linear program and the backup routine, because compiled code could not reproduce their results
    bit for bit.

    References
    ----------
    Ong, Shao & Yang (2010), "An improved algorithm for the solution of the regularization path of support vector
    machine", IEEE Transactions on Neural Networks 21(3). Hastie, Rosset, Tibshirani & Zhu (2004), "The entire
    regularization path for the support vector machine", JMLR 5.

    Examples
    --------
    Every point occurs twice in these data, which `refsvm.Hastie` cannot handle:

    >>> import numpy as np
    >>> from refsvm import RBF, SVMP, regularization_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.05, C_max=5.0, tracker=SVMP(), merge=False)
    >>> [round(path.objective(C), 3) for C in (0.1, 1.0, 5.0)]  # α is not unique, f is
    [0.768, 4.98, 7.95]
    >>> [round(path.intercept(C), 3) for C in (0.1, 1.0, 5.0)]
    [-0.035, -0.307, -0.329]
    """

    any_line: ClassVar[bool] = True

    algebra: ElbowAlgebra = field(default_factory=UpdatedInverse)
    eps_kkt: float = 1e-7
    eps_smo: float = 1e-9
    tau: float = 1e-12
    tau_2: float = 1e-10
    gamma: float = 0.01
    ell: int = 50
    refresh: int = 50
    starts_at_bound: bool = False

    def __post_init__(self) -> None:
        for name in ("eps_kkt", "eps_smo", "tau", "tau_2", "gamma"):
            positive(name, getattr(self, name))
        whole("ell", self.ell, 1)
        whole("refresh", self.refresh, 1)

    def first_estimate(self, walk: PathState) -> tuple[np.ndarray, float] | None:
        """Return ŝ of (55) and ε_smo if `starts_at_bound` is True, otherwise None."""
        if not self.starts_at_bound:
            return None
        # one bound of each box is 0, so the sum of both bounds is the other bound
        return balanced_bounds(walk.problem.lower + walk.problem.upper), self.eps_smo

    def follow(self, walk: PathState, end: float) -> Iterator[Point]:
        """Yield the breakpoints from the present λ down to `end`."""
        guard, steps, jump = SwitchingGuard(self.ell), 0, FIRST_JUMP
        while walk.status is None and (room := walk.room(end)) > 0.0:
            # --- check the KKT conditions (56) if the sets have changed at this λ, and after every `refresh` events ---
            if walk.unsettled or steps == self.refresh:
                yield from self._checked(walk)
                steps %= self.refresh
            # --- 𝓛 is empty: α stays ---
            elif not walk.has_left():
                yield walk.to_the_end(end)
                return
            # --- α or b must first jump at fixed t; such a jump never happens along λ ---
            elif not walk.along.is_c_path and self._jumped(walk):
                yield walk.breakpoint("jump")
            # --- find the direction (23) and the length of the step: (47)–(49), or the linear program (30)–(34) ---
            elif (step := self._next_step(walk, room)) is None:
                continue  # try again with new factors
            # --- update ŝ, λ, ξ and 𝓔, 𝓛, 𝓡: (36)–(46); check the conditions (56) ---
            elif step.length > self.tau_2 * walk.scale or step.length >= room:
                kind = take(walk, step, end)
                guard, steps, jump = SwitchingGuard(self.ell), steps + 1, FIRST_JUMP
                yield from self._checked(walk, kind)
            # --- λ makes no progress, because an example is in a wrong set: repair the point ---
            elif walk.violation() > self.eps_kkt and walk.placed != (walk.t, MOST_REPAIRS):
                walk.unsettled = True
            # --- λ makes no progress: try the special events (S1)–(S4), then the backup routine ---
            elif not self._freed(walk, step, guard) and solve_at(
                walk, walk.t + walk.line.t * min(jump * walk.scale, room), self.eps_smo, "backup"
            ):
                guard, jump = SwitchingGuard(self.ell), min(10.0 * jump, self.gamma)
                yield walk.breakpoint("backup")
            # --- shortcut: compiled code follows several ordinary events in one call, with the same result ---
            if points := walk.backend.events(walk, self, end, self.refresh - steps):
                guard, steps, jump = SwitchingGuard(self.ell), steps + len(points), FIRST_JUMP
                yield from points

    def _next_step(self, walk: PathState, room: float) -> Step | None:
        """Return the step with the largest decrease of λ (at most `room`); store its direction in `walk`.

        Return None if the inverse of A has lost its precision; the caller then computes new factors of A, which may
        show that α must jump first.
        """
        if not walk.members:
            return empty_elbow_step(walk, room)
        # `particular_direction` replaces `walk.factors` if the updated inverse has lost its precision
        factors = self._factors(walk)
        db, noise = particular_direction(walk, factors.solve, self.tau)
        if walk.factors is not factors:
            return None
        if factors.null.shape[1]:
            return self._singular_step(walk, factors.null, room, db, noise)
        # (47): the step to the next event of any example in 𝓔, 𝓛 or 𝓡
        return Step(min(walk.reach(noise)[1], room), db, noise, "full rank", True)

    def _singular_step(
        self, walk: PathState, null: np.ndarray, room: float, db: float, noise: tuple[float, float]
    ) -> Step:
        """Return the step along d_p and null vectors that lowers λ as far as the linear program (30)–(34) allows."""
        walk.nullity = max(walk.nullity, null.shape[1])
        limit = min(walk.reach((np.inf, noise[1]))[1], room)
        # skip the linear program if its trivial solution is optimal
        if walk.reach((noise[0], np.inf))[1] >= limit:  # β = 0 solves the linear program
            return Step(limit, db, noise, "linear program", False)
        variables, elbow = walk.variables, walk.elbow
        rate, gap = (each[:2, elbow].ravel() for each in (walk.rates(), walk.distances()))
        length, beta = longest_fall(rate, gap.clip(0.0), np.concatenate([null[1:], -null[1:]]), limit)
        if length > 0.0:
            # combine δŝ = d_p δλ + Uβ into one direction
            variables.d[elbow] += null[1:] @ beta / length
            db += float(null[0] @ beta) / length
        return Step(length, db, noise, "linear program", False)

    def _jumped(self, walk: PathState) -> bool:
        """Move b at fixed t if no variable is free; move α if the system has no solution; return True after a move."""
        moved = not walk.members and jump_of_b(walk)
        while walk.members and jump_of_alpha(walk, self._factors(walk).null):
            moved = True
        return moved

    def _factors(self, walk: PathState) -> Any:
        """Return the `refsvm.core.walk.algebra.Factors` of A, which are computed once for each elbow."""
        if walk.factors is None:
            walk.factors = self.algebra.factorise(walk)
        return walk.factors

    def _freed(self, walk: PathState, step: Step, guard: SwitchingGuard) -> bool:
        """Change the sets at this λ so that λ can fall; return True if a set changed."""
        # ignore rates below their rounding error: with such a rate,
        # an example would be released and blocked again and again
        flips = blocking(walk, step.noise, self.tau_2 * walk.scale, step.regular)
        if not flips or guard.looping(walk):
            return guard.may_choose() and choose_sets(walk)
        walk.counts["special"] += 1
        for i, side in flips[:1] if guard.one_at_a_time else flips:
            if side == FREE:
                walk.enter(i, "special")
            else:
                walk.drop(i, side, "special")
        walk.unsettled = True
        return True

    def _checked(self, walk: PathState, kind: str = "") -> Iterator[Point]:
        """Check the KKT conditions (56) and Σŝ = 0, and repair violations.

        Yield the point if an event of this `kind` or a repair has moved it. If no repair helps, the path ends.
        """
        is_c_path = walk.along.is_c_path  # on other lines, a wrong Σα alone is no reason to compute G again
        # do not compute G from scratch after each event, because computing it takes as long as many events
        fresh = not kind or walk.unsettled or walk.t < walk.stale_below
        if fresh or max(walk.violation(), is_c_path and walk.unbalanced()) > self.eps_kkt:
            walk.drift, walk.unsettled = max(walk.drift, walk.refresh()), False
            if walk.members:
                correct(walk, self._factors(walk).solve)
            worst = max(walk.violation(), walk.unbalanced())
            # another repair at the same λ would find the same point
            if worst > self.eps_kkt and walk.placed != (walk.t, MOST_REPAIRS):
                if solve_at(walk, walk.t, self.eps_smo, "repair"):
                    yield walk.breakpoint("repair")
                return
            if worst > max(self.eps_kkt, ACCEPTED):
                walk.status = Status.STALLED
                return
        if kind:
            yield walk.breakpoint(kind)


def balanced_bounds(bounds: np.ndarray) -> np.ndarray:
    """Return ŝ of (55): every ŝᵢ at its non-zero bound, except in the first examples of one class, so that Σŝ = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.trackers.svmp import balanced_bounds
    >>> balanced_bounds(np.array([1.0, 1.0, 1.0, -1.0, 1.0]))
    array([ 0.,  0.,  0., -1.,  1.])
    """
    surplus = float(bounds.sum())
    larger = np.where(bounds * surplus > 0.0, np.abs(bounds), 0.0)
    # reduce ŝ in the first examples of the heavier class to 0 until the excess is gone; the last ŝ falls only in part
    before = np.cumsum(larger) - larger
    return bounds - np.sign(surplus) * (abs(surplus) - before).clip(0.0, larger)
