"""Initialisation and backup routines (Ong et al., §IV, §V), which find points and directions by SMO."""

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
"""Largest accepted violation of the optimality conditions at a point of a path, in units of the margin; also the
largest accepted |Σŝ|/Σ|ŝ|."""

MOST_STEPS: Final = 20_000
"""SMO may take this many steps, or 100n if 100n is larger; if SMO needs more, rounding errors hide the optimum."""

WEAK = 1e-8
"""An example is between two sets if its α is this close to a bound, relative to the box, and its gᵢ is this close to 0.
"""


def solve_at(walk: PathState, t: float, eps_smo: float, kind: str) -> bool:
    """Compute the optimum at t (or λ) by SMO, from the present α (or ŝ = λα), and move the present point there.

    Parameters
    ----------
    walk : PathState
        The present point of the path; the function moves it.
    t : float
        The position on the line.
    eps_smo : float
        Tolerance for the KKT gap, in units of the decision function; for C < 1 the tolerance is multiplied by C, the
        size of the decision values.
    kind : str
        The cause that is recorded if an example moves to another set, for example "repair".

    Returns
    -------
    bool
        True if SMO has reached the optimum. Otherwise, ``walk.status`` says why: a limit, Ctrl-C, or STALLED.
    """
    walk.counts[kind] += 1
    problem = walk.along.at(t).with_gram(walk.problem.gram)
    stop = KKTGap(walk.along.tolerance(t, eps_smo))
    # a solve from α = 0 takes the fewest steps, and its Σα needs no repair
    is_cold = problem.zero_is_feasible and not walk.variables.alpha.any()
    solution = solved_on_path(
        walk, problem, stop, None if is_cold else problem.feasible(walk.variables.alpha)
    )
    # if the range of decision values is far below 1, as with one class, a KKT gap of `eps_smo` is too large
    if solution is not None and solution.kkt_gap > ACCEPTED * solution.decision_range:
        finer = KKTGap(_tolerance_of_range(solution, walk.largest, eps_smo))
        solution = solved_on_path(walk, problem, finer, solution.alpha)
    if solution is None:
        return False
    walk.place(t, solution.alpha, solution.intercept, kind)
    # test with `not … <=`, so that NaN also counts as a violation
    if not max(walk.violation(), walk.unbalanced()) <= ACCEPTED:
        walk.status = Status.STALLED
    return walk.status is None


def _tolerance_of_range(solution: Solution, largest: float, eps: float) -> float:
    """Return `eps` times the range of the decision values, or the KKT gap that rounding causes if this is larger."""
    rounding = rounding_of_gradient(solution.alpha, solution.gradient, largest)
    return max(eps * solution.decision_range, rounding, SMALLEST)


def solved_on_path(
    walk: PathState, problem: DualProblem, stop: KKTGap, start: np.ndarray | None = None
) -> Solution | None:
    """Solve a problem within the limits of the path; if a limit or rounding ends the solve, set ``walk.status``."""
    # if rounding allows no α to satisfy the conditions, SMO would take all its steps in vain
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
    """Choose, for each example on the border between two sets, the set with which the path can go on.

    The derivative x of α along the line solves

        max (v¹)ᵀx − ½ xᵀKx   subject to   1ᵀx = z¹,   xᵢ free on 𝓔,
                                           xᵢ ≥ L¹ᵢ if αᵢ = Lᵢ and Gᵢ = b,   xᵢ ≤ U¹ᵢ if αᵢ = Uᵢ and Gᵢ = b,

    where, for all other examples, xᵢ is the derivative of the bound at which αᵢ is. The problem for x has the form of
    an SVM dual, so SMO solves it in a large box. Along λ = 1/C, x is the derivative of ŝ, v¹ = −v, and z¹, L¹ and U¹
    are 0. Examples whose x differs from the derivative of their bound form the elbow.

    Returns
    -------
    bool
        True if an example has changed its set.
    """
    walk.counts["derivative"] += 1
    variables = walk.variables
    near = WEAK * (variables.upper - variables.lower)
    at_low, at_high = variables.alpha - variables.lower <= near, variables.upper - variables.alpha <= near
    weak = (np.abs(variables.excess) <= WEAK * walk.unit) & (walk.sign != 0.0)
    inside = (walk.side == FREE) & ~at_low & ~at_high
    B = np.flatnonzero(weak | inside)
    if len(B) < 2:
        return False
    # SMO needs finite bounds for the derivative; these bounds are far above each rate at which an α crosses its box
    box = 1e3 * float((variables.upper - variables.lower).max()) / walk.scale
    K = np.ascontiguousarray(walk.K[np.ix_(B, B)])
    lower = np.where(at_low, walk.line.lower, -box)[B]
    upper = np.where(at_high, walk.line.upper, box)[B]
    # outside B, each α moves with its bound at a known rate
    others = variables.pace.copy()
    others[B] = 0.0
    v, z = walk.line.v[B] - (others @ walk.K)[B], walk.line.z - float(others.sum())
    if not lower.sum() <= z <= upper.sum():
        return False
    problem = DualProblem(Gram(Precomputed(), K, is_checked=True), v, z, lower, upper)
    derivative = solved_on_path(walk, problem, KKTGap(1e-9 * (walk.along.push or 1.0)))
    if derivative is None:
        return False
    x = derivative.alpha
    # SMO computes x only up to its tolerance, so rates below this tolerance count as 0
    tiny = 1e-9 * float(np.abs(x).max())
    low, high = at_low[B] & (x - lower <= tiny), at_high[B] & (upper - x <= tiny)
    side = walk.side.copy()
    side[B] = np.where(high & (~low | (walk.side[B] == ABOVE)), ABOVE, np.where(low, BELOW, FREE))
    # compare before changing the sets: if no set changes, the path cannot continue
    changed = bool((side != walk.side).any())
    walk.assign(side, "backup")
    if walk.along.pace > 0.0:
        walk.refresh()
    walk.unsettled = True
    return changed
