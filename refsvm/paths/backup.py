"""Initialisation and backup routines (§IV and §V): points and directions found by SMO instead of by tracking."""

from __future__ import annotations

import numpy as np

from refsvm.kernels.functions import Precomputed
from refsvm.kernels.gram import Gram
from refsvm.paths.state import ELBOW, LEFT, RIGHT, PathState
from refsvm.problem import DualProblem
from refsvm.solver.rounds import Rounds
from refsvm.solver.solve import solve
from refsvm.stopping.kkt_gap import KKTGap

__all__ = ["choose_sets", "solve_at"]

WEAK = 1e-8
"""How near to its bound, and to g = 0, an example is between two sets: relative to the width of the box, and to λ."""


def solve_at(state: PathState, lam: float, eps_smo: float, kind: str) -> None:
    """Put the state at the optimum for `lam`, found by SMO from the present ŝ.

    Parameters
    ----------
    state : PathState
    lam : float
    eps_smo : float
        Tolerance on the KKT gap, in units of the decision function; for C < 1 also relative to C, as h is
        then of that size.
    kind : str
        What is noted with the examples that change their set.
    """
    C = 1.0 / lam
    state.counts[kind] += 1
    if state.rounds is None:
        problem = DualProblem(Gram(Precomputed(), state.K), state.v, 0.0, state.low, state.high)
        state.rounds = Rounds(problem, engine=state.engine)
    box = state.rounds.boxed(C * state.low, C * state.high)
    stop = KKTGap(max(eps_smo * min(1.0, C), 1e-14))
    solution = state.rounds.solve(box, start=box.feasible(C * state.scaled), stop=stop)
    alpha = solution.alpha
    scaled = np.where(alpha == box.upper, state.high, alpha * lam)
    scaled = np.where(alpha == box.lower, state.low, scaled)
    state.place(lam, scaled, lam * solution.intercept, kind)


def choose_sets(state: PathState) -> bool:
    """Decide which of the examples between two sets belong to the elbow, so that λ can fall.

    For t = λᵗ − λ just above 0 the derivative x = dŝ/dt solves

        max −vᵀx − ½ xᵀKx   subject to   1ᵀx = 0,   xᵢ free on 𝓔,   ≥ 0 or ≤ 0 where ŝᵢ is at a bound and gᵢ = 0,

    and is 0 elsewhere: a dual problem again, solved by SMO in a large box. Examples with xᵢ ≠ 0 form the elbow.

    Returns
    -------
    bool
        Whether a set has changed.
    """
    state.counts["derivative"] += 1
    near = WEAK * (state.high - state.low)
    at_low, at_high = state.scaled - state.low <= near, state.high - state.scaled <= near
    weak = (np.abs(state.slack) <= WEAK * state.lam) & (state.sign != 0.0)
    inside = (state.side == ELBOW) & ~at_low & ~at_high
    B = np.flatnonzero(weak | inside)
    if len(B) < 2:
        return False
    box = 1e3 * float((state.high - state.low).max()) / state.lam
    K = np.ascontiguousarray(state.K[np.ix_(B, B)])
    lower, upper = np.where(at_low[B], 0.0, -box), np.where(at_high[B], 0.0, box)
    problem = DualProblem(Gram(Precomputed(), K), -state.v[B], 0.0, lower, upper)
    x = solve(problem, stop=KKTGap(1e-9), engine=state.engine).alpha
    moving = np.abs(x) > 1e-9 * float(np.abs(x).max())
    at_zero = np.where(state.high[B] == 0.0, at_high[B], at_low[B])
    side = state.side.copy()
    side[B] = np.where(inside[B] | moving, ELBOW, np.where(at_zero, RIGHT, LEFT))
    changed = bool((side != state.side).any())
    state.assign(side, "backup")
    state.unsettled = True
    return changed
