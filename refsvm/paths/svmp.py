"""SVMP: the whole path on any data, duplicates and dependent points included (Ong, Shao & Yang 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from refsvm._checks import positive, whole
from refsvm.paths.algebra import ElbowAlgebra, Factors
from refsvm.paths.backup import choose_sets, solve_at
from refsvm.paths.base import PathTracker
from refsvm.paths.breakpoint import Breakpoint
from refsvm.paths.elbow import (
    TIE,
    Step,
    correct,
    empty_elbow_step,
    move_hits,
    particular_direction,
    take,
)
from refsvm.paths.linear_program import longest_fall
from refsvm.paths.ordinary import Tolerances
from refsvm.paths.runs import follow_run
from refsvm.paths.special_events import SwitchingGuard, blocking
from refsvm.paths.state import ELBOW, PathState
from refsvm.paths.updated_inverse import InverseFactors, UpdatedInverse

__all__ = ["SVMP"]

FIRST_JUMP = 1e-7


@dataclass(frozen=True)
class SVMP(PathTracker):
    """Ong, Shao & Yang's tracker: a linear program where the elbow is singular, and a way out of every tie.

    One event: factorise A and find its rank (25); if it is full, λ falls as far as (47)–(49) allow, otherwise as
    far as the linear program (30)–(34) finds. Where examples between two sets block the way, the special-event
    routine flips them; if that goes round in circles, SMO finds the derivative of the path. The KKT conditions are
    checked at every breakpoint.

    Parameters
    ----------
    algebra : ElbowAlgebra, default UpdatedInverse()
        How A is factorised, with ε_svd: `SVD`, `PivotedQR`, `UpdatedQR` or `UpdatedInverse`.
    eps_kkt : float
        ε_kkt: largest violation of (56) that is not repaired, in units of the margin (ξ). The paper takes 1e-6.
    eps_smo : float
        ε_smo: KKT gap to which SMO solves the start of a repair, in units of the decision function.
    tau : float
        τ: components of d_p below τ times the largest count as zero, and rates pᵢ below what their rounding leaves.
        The paper takes 1e-4 for both, in units of the kernel.
    tau_2 : float
        τ₂: a fall of λ by less than τ₂λ is no progress. The paper takes 1e-8 in units of λ.
    gamma : float
        γ: largest share of λ that the backup routine may jump. It begins with 1e-7, so that the path
        between the two points stays optimal to that order, and takes ten times as much only if it has to.
    ell : int
        ℓ: events without progress until the backup routine takes over.
    refresh : int
        Events from one recomputation of g to the next.

    Raises
    ------
    ValueError
        If a parameter is not positive. From `refsvm.regularization_path`, if the kernel is not positive semi-definite.

    See Also
    --------
    refsvm.Hastie : The rule for regular elbows alone.

    Notes
    -----
    Departures from the paper. Tolerances are relative, so that a path does not change with the units of the kernel. Of
    (32) and (33) the linear program keeps the bound on δλ alone, as null vectors do not move g. The backup
    routine first asks for the derivative at λ, which loses nothing, and jumps to (1 − γ)λ only if that does not help.
    Events of one example each on a regular elbow are followed many in one call, `refsvm.paths.ordinary`.

    References
    ----------
    Ong, Shao & Yang (2010), "An improved algorithm for the solution of the regularization path of support vector
    machine", IEEE Transactions on Neural Networks 21(3). Hastie, Rosset, Tibshirani & Zhu (2004), "The entire
    regularization path for the support vector machine", JMLR 5.

    Examples
    --------
    Every point twice, where Hastie's rule has no answer:

    >>> import numpy as np
    >>> from refsvm import RBF, SVMP, regularization_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.05, C_max=5.0, tracker=SVMP(), merge=False)
    >>> path.C.round(2)
    array([0.05, 0.71, 0.88, 3.07, 5.  ])
    """

    algebra: ElbowAlgebra = field(default_factory=UpdatedInverse)
    eps_kkt: float = 1e-7
    eps_smo: float = 1e-9
    tau: float = 1e-12
    tau_2: float = 1e-10
    gamma: float = 0.01
    ell: int = 50
    refresh: int = 50

    def __post_init__(self) -> None:
        for name in ("eps_kkt", "eps_smo", "tau", "tau_2", "gamma"):
            positive(name, getattr(self, name))
        whole("ell", self.ell, 1)
        whole("refresh", self.refresh, 1)

    def follow(self, state: PathState, lam_min: float) -> Iterator[Breakpoint]:
        """Yield the breakpoints from the present λ down to `lam_min`."""
        guard, steps, jump = SwitchingGuard(self.ell), 0, FIRST_JUMP
        while state.lam > lam_min * (1.0 + 1e-12):
            if not state.has_left():
                yield state.to_the_end(lam_min)
                return
            # --- events of one example each, in one call ---
            several = self._several(state, lam_min, self.refresh - 1 - steps % self.refresh)
            if several:
                guard.moved_on()
                steps, jump = steps + len(several), FIRST_JUMP
                yield from several
                continue
            # --- d_p and the linear program ---
            step = self._next_step(state, state.lam - lam_min)
            # --- update 𝓔, 𝓛, 𝓡, ŝ, λ, g ---
            if step.t > self.tau_2 * state.lam or step.t >= state.lam - lam_min:
                kind = take(state, step, lam_min)
                guard.moved_on()
                steps, jump = steps + 1, FIRST_JUMP
                yield state.breakpoint(self._repaired(state, kind, fresh=steps % self.refresh == 0))
            # --- special events, backup ---
            elif not self._freed(state, step, guard):
                solve_at(state, max((1.0 - jump) * state.lam, lam_min), self.eps_smo, "backup")
                guard.moved_on()
                jump = min(10.0 * jump, self.gamma)
                yield state.breakpoint("backup")

    def _several(self, state: PathState, lam_min: float, most: int) -> list[Breakpoint]:
        """Follow at most so many events that are ordinary, if the linear algebra can."""
        factors = self._factors(state) if state.m and most else None
        if not isinstance(factors, InverseFactors):
            return []
        correct(state, factors)
        limits = Tolerances(lam_min, self.tau, self.tau_2, self.eps_kkt, TIE, state.largest, factors.least)
        points, hits = follow_run(state, factors, limits, most)
        if hits >= 0:
            move_hits(state, hits, "full rank")
            kind = "end" if state.lam == lam_min else "full rank"
            points.append(state.breakpoint(self._repaired(state, kind, fresh=False)))
        return points

    def _next_step(self, state: PathState, room: float) -> Step:
        """Find the largest fall of λ, at most `room`, and the direction that goes with it."""
        if state.m == 0:
            return empty_elbow_step(state, room)
        factors = self._factors(state)
        correct(state, factors)
        d, d_intercept, noise = particular_direction(state, factors, self.tau)
        limit = min(state.search.outside_fall(state.arrays, noise[1]), room)
        null = factors.null
        state.nullity = max(state.nullity, null.shape[1])
        inside = state.search.elbow_fall(state.arrays, state.m, d, noise[0])
        if null.shape[1] == 0:
            # (47): max over 𝓔, 𝓛, 𝓡
            return Step(min(inside, limit), d, d_intercept, noise, "full rank", True)
        if inside >= limit:  # β = 0 solves the linear program
            return Step(limit, d, d_intercept, noise, "linear program", False)
        elbow = state.elbow
        scaled = state.scaled[elbow]
        to_low = np.maximum(scaled - state.low[elbow], 0.0)
        to_high = np.maximum(state.high[elbow] - scaled, 0.0)
        t, beta = longest_fall(d, null[1:], to_low, to_high, limit)
        if t > 0.0:
            # δŝ = d_p δλ + Uβ, as one direction
            d, d_intercept = d - null[1:] @ beta / t, d_intercept - float(null[0] @ beta) / t
        return Step(t, d, d_intercept, noise, "linear program", False)

    def _factors(self, state: PathState) -> Factors:
        """Return the factors of A, made once for each elbow."""
        if state.current is None:
            state.current = self.algebra.factorise(state)
        factors: Factors = state.current
        return factors

    def _freed(self, state: PathState, step: Step, guard: SwitchingGuard) -> bool:
        """Change the sets at this λ so that it can fall; return whether something was changed."""
        flips = blocking(state, step.d, step.noise, self.tau_2 * state.lam, step.regular)
        if not flips or guard.looping(state):
            return guard.may_choose() and choose_sets(state)
        state.counts["special"] += 1
        for i, side in flips[:1] if guard.one_at_a_time else flips:
            if side == ELBOW:
                state.enter(i, "special")
            else:
                state.leave(i, side, "special")
        state.unsettled = True
        return True

    def _repaired(self, state: PathState, kind: str, fresh: bool) -> str:
        """Check the KKT conditions (56), and repair what violates them; return how the breakpoint was reached."""
        if fresh or state.unsettled or state.violation() > self.eps_kkt:
            state.drift = max(state.drift, state.refresh())
            state.unsettled = True
            if state.m:
                correct(state, self._factors(state))
            if state.violation() > self.eps_kkt:
                solve_at(state, state.lam, self.eps_smo, "repair")
                return "repair"
        return kind
