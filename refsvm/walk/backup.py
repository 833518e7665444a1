"""Initialisation and backup routines (§IV and §V): points and directions found by SMO instead of by tracking."""

from __future__ import annotations

import numpy as np

from refsvm.kernels.functions import Precomputed
from refsvm.kernels.gram import Gram
from refsvm.problem import DualProblem
from refsvm.solver.solve import solve
from refsvm.stopping.kkt_gap import KKTGap
from refsvm.walk.state import PathState
from refsvm.walk.walk import ABOVE, BELOW, FREE

__all__ = ["choose_sets", "solve_at"]

WEAK = 1e-8
"""How near to its bound, and to g = 0, an example is between two sets: relative to the width of the box, and to λ."""


def solve_at(walk: PathState, lam: float, eps_smo: float, kind: str) -> None:
    """Put the walk at the optimum for `lam`, found by SMO from the present ŝ.

    Parameters
    ----------
    walk : PathState
    lam : float
    eps_smo : float
        Tolerance on the KKT gap, in units of the decision function; for C < 1 also relative to C, as h is
        then of that size.
    kind : str
        What is noted with the examples that change their set.
    """
    C, of = 1.0 / lam, walk.of
    walk.counts[kind] += 1
    box = walk.problem.boxed(C * of.lower, C * of.upper)
    stop = KKTGap(max(eps_smo * min(1.0, C), 1e-14))
    solution = solve(box, start=box.feasible(C * of.alpha), stop=stop, engine=walk.engine)
    alpha = solution.alpha
    scaled = np.where(alpha == box.upper, of.upper, alpha * lam)
    scaled = np.where(alpha == box.lower, of.lower, scaled)
    walk.place(lam, scaled, lam * solution.intercept, kind)


def choose_sets(walk: PathState) -> bool:
    """Decide which of the examples between two sets belong to the elbow, so that λ can fall.

    For t = λᵗ − λ just above 0 the derivative x = dŝ/dt solves

        max −vᵀx − ½ xᵀKx   subject to   1ᵀx = 0,   xᵢ free on 𝓔,   ≥ 0 or ≤ 0 where ŝᵢ is at a bound and ξᵢ = 0,

    and is 0 elsewhere: a dual problem again, solved by SMO in a large box. Examples with xᵢ ≠ 0 form the elbow.

    Returns
    -------
    bool
        Whether a set has changed.
    """
    walk.counts["derivative"] += 1
    of = walk.of
    near = WEAK * (of.upper - of.lower)
    at_low, at_high = of.alpha - of.lower <= near, of.upper - of.alpha <= near
    weak = (np.abs(of.excess) <= WEAK * walk.t) & (walk.sign != 0.0)
    inside = (walk.side == FREE) & ~at_low & ~at_high
    B = np.flatnonzero(weak | inside)
    if len(B) < 2:
        return False
    box = 1e3 * float((of.upper - of.lower).max()) / walk.t
    K = np.ascontiguousarray(walk.K[np.ix_(B, B)])
    lower, upper = np.where(at_low[B], 0.0, -box), np.where(at_high[B], 0.0, box)
    problem = DualProblem(Gram(Precomputed(), K), -walk.v[B], 0.0, lower, upper)
    x = solve(problem, stop=KKTGap(1e-9), engine=walk.engine).alpha
    moving = np.abs(x) > 1e-9 * float(np.abs(x).max())
    side = walk.side.copy()
    side[B] = np.where(inside[B] | moving, FREE, np.where(at_high[B] & ~at_low[B], ABOVE, BELOW))
    changed = bool((side != walk.side).any())
    walk.assign(side, "backup")
    walk.unsettled = True
    return changed
