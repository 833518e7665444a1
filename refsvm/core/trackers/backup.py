"""Initialisation and backup routines (§IV and §V): points and directions found by SMO instead of by tracking."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.run import solved
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.core.stopping.relative import SMALLEST, rounding_of_gradient
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import ABOVE, BELOW, FREE

ACCEPTED: Final = 1e-6
"""Largest violation of the conditions, in units of the margin, and of Σŝ relative to Σ|ŝ|, at a point of a path."""

MOST_STEPS: Final = 20_000
"""Steps that SMO may take, or 100n if that is more: where it needs so many, rounding hides the optimum."""

WEAK = 1e-8
"""Distance from its bound, and from g = 0, at which an example is between two sets: relative to width and unit."""


def solve_at(walk: PathState, t: float, eps_smo: float, kind: str) -> bool:
    """Move the walk to the optimum for t, or λ, found by SMO from the present α, or ŝ.

    Parameters
    ----------
    walk : PathState
    t : float
    eps_smo : float
        Tolerance on the KKT gap, in units of the decision function; for C < 1 also relative to C, as h is
        then of that size.
    kind : str
        Entry for the examples that change their set.

    Returns
    -------
    bool
        Whether the walk is at an optimum. If not, ``walk.status`` says why: a limit, Ctrl-C, or STALLED.
    """
    walk.counts[kind] += 1
    problem = walk.along.at(t).with_gram(walk.problem.gram)
    stop = KKTGap(walk.along.tolerance(t, eps_smo))
    # a cold start takes the fewest steps from 0, and needs no repair of Σα
    is_cold = problem.zero_is_feasible and not walk.variables.alpha.any()
    solution = solved_on_path(
        walk, problem, stop, None if is_cold else problem.feasible(walk.variables.alpha)
    )
    # where all decision values differ by far less than the unit, as those of one class may, such a gap says nothing
    if solution is not None and solution.kkt_gap > ACCEPTED * solution.decision_range:
        finer = KKTGap(_tolerance_of_range(solution, walk.largest, eps_smo))
        solution = solved_on_path(walk, problem, finer, solution.alpha)
    if solution is None:
        return False
    walk.place(t, solution.alpha, solution.intercept, kind)
    # not `>`: a NaN is no optimum either
    if not max(walk.violation(), walk.unbalanced()) <= ACCEPTED:
        walk.status = Status.STALLED
    return walk.status is None


def _tolerance_of_range(solution: Solution, largest: float, eps: float) -> float:
    """Return the KKT gap that is `eps` of the range of the decision values, or what rounding leaves."""
    rounding = rounding_of_gradient(solution.alpha, solution.gradient, largest)
    return max(eps * solution.decision_range, rounding, SMALLEST)


def solved_on_path(
    walk: PathState, problem: DualProblem, stop: KKTGap, start: np.ndarray | None = None
) -> Solution | None:
    """Solve a problem within the limits of the path; if one of them, or rounding, ends that ``walk.status`` says it."""
    # SMO would take all of its steps in vain where no α satisfies the conditions
    if walk.rounding() > ACCEPTED:
        walk.status = Status.STALLED
        return None
    most = max(MOST_STEPS, 100 * len(walk.side))
    options = RunOptions(stop=stop, engine=walk.engine, max_iter=most, time_limit=walk.deadline)
    solution = solved(problem, options, start)
    if solution.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
        walk.status = solution.status
        return None
    return solution


def choose_sets(walk: PathState) -> bool:
    """Decide which of the examples between two sets belong to the elbow, so that the walk can go on.

    The derivative x of α along the line solves

        max (v¹)ᵀx − ½ xᵀKx   subject to   1ᵀx = z¹,   xᵢ free on 𝓔,   ≥ L¹ᵢ or ≤ U¹ᵢ where αᵢ is there and Gᵢ = b,

    and is that of the bound elsewhere: a dual problem again, solved by SMO in a large box. Along λ = 1/C it is that of
    ŝ, v¹ = −v, and the others are 0. Examples that do not go with a bound form the elbow.

    Returns
    -------
    bool
        Whether a set has changed.
    """
    walk.counts["derivative"] += 1
    of = walk.variables
    near = WEAK * (of.upper - of.lower)
    at_low, at_high = of.alpha - of.lower <= near, of.upper - of.alpha <= near
    weak = (np.abs(of.excess) <= WEAK * walk.unit) & (walk.sign != 0.0)
    inside = (walk.side == FREE) & ~at_low & ~at_high
    B = np.flatnonzero(weak | inside)
    if len(B) < 2:
        return False
    # a bound for the derivative, which SMO needs: far above any that moves α by its box before the end
    box = 1e3 * float((of.upper - of.lower).max()) / walk.scale
    K = np.ascontiguousarray(walk.K[np.ix_(B, B)])
    lower = np.where(at_low, walk.line.lower, -box)[B]
    upper = np.where(at_high, walk.line.upper, box)[B]
    # those that go with their bound whatever x is
    others = of.pace.copy()
    others[B] = 0.0
    v, z = walk.line.v[B] - (others @ walk.K)[B], walk.line.z - float(others.sum())
    if not lower.sum() <= z <= upper.sum():
        return False
    problem = DualProblem(Gram(Precomputed(), K, is_checked=True), v, z, lower, upper)
    derivative = solved_on_path(walk, problem, KKTGap(1e-9 * (walk.along.push or 1.0)))
    if derivative is None:
        return False
    x = derivative.alpha
    # x is known to the tolerance of SMO: a rate below that is one of 0
    tiny = 1e-9 * float(np.abs(x).max())
    low, high = at_low[B] & (x - lower <= tiny), at_high[B] & (upper - x <= tiny)
    side = walk.side.copy()
    side[B] = np.where(high & (~low | (walk.side[B] == ABOVE)), ABOVE, np.where(low, BELOW, FREE))
    # compared before the sets are changed; without a change the walk would stand where it stood
    changed = bool((side != walk.side).any())
    walk.assign(side, "backup")
    if walk.along.pace > 0.0:
        walk.refresh()
    walk.unsettled = True
    return changed
