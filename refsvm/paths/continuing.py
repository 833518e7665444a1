"""continued: from one solved problem to another over the same kernel matrix, by the walk and no solver."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import numpy as np

from refsvm.engine.limits import interruptible
from refsvm.kernels.matrix import View
from refsvm.paths.limits import PathLimits
from refsvm.paths.parametric_path import line_tracker, refuse_unlike
from refsvm.paths.regularization_path import largest, semidefinite_matrix
from refsvm.result import Ending, Solution, Status
from refsvm.solver.solve import solve
from refsvm.stopping.kkt_gap import KKTGap
from refsvm.walk.backup import solve_at
from refsvm.walk.line import ProblemLine
from refsvm.walk.state import PathState

if TYPE_CHECKING:
    from refsvm.problem import DualProblem
    from refsvm.trackers.base import PathTracker

__all__ = ["before_growth", "continued"]

POLISHED: Final = 1e-9
"""KKT gap, in the unit of the line, to which the beginning is solved, and above which the end is."""


def continued(
    start: DualProblem,
    alpha: np.ndarray,
    end: DualProblem,
    *,
    tracker: PathTracker | None = None,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    time_limit: float | None = None,
    max_events: int | None = None,
) -> Solution:
    """Return the solution of `end`, reached from one of `start`.

    Parameters
    ----------
    start, end : DualProblem
        Over the same kernel matrix.
    alpha : ndarray of shape (n,)
        A solution of `start`, at any tolerance: it is solved more exactly first, since it is no point of a path else.
    tracker, engine, cache_mb, time_limit, max_events
        As in `refsvm.parametric_path`.

    Returns
    -------
    Solution
        Its `iterations` are the events on the way. Where a limit ends the walk, `alpha` is that of the last event, made
        feasible, and `status` says why.
    """
    refuse_unlike(start, end)
    limits = PathLimits(start.n, max_events, time_limit)
    K = semidefinite_matrix(start, cache_mb)
    line = ProblemLine(start, end, (0.0, 1.0), largest(K))
    walk = PathState(start, K, engine, line)
    walk.of.alpha[:] = alpha
    status, tracker = Status.CONVERGED, line_tracker(tracker)
    with interruptible() as limits.interrupt:
        walk.deadline = limits.deadline
        solve_at(walk, 0.0, POLISHED, "start")
        for point in tracker.follow(walk, 1.0):
            reached = limits.reached(point)
            if reached is not None and walk.room(1.0) > 0.0:
                status = reached
                break
    if walk.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
        status = walk.status
    problem = end.with_gram(walk.problem.gram)
    found, gradient = problem.feasible(walk.of.alpha), None
    if status is Status.CONVERGED:
        gradient = problem.gradient(found)
        if problem.kkt_gap(found, gradient) > line.tolerance(1.0, 10.0 * POLISHED):
            ended = solve(problem, start=found, stop=KKTGap(line.tolerance(1.0, POLISHED)), engine=engine)
            found, gradient, status = ended.alpha, ended.gradient, ended.status
    gradient = problem.gradient(found) if gradient is None else gradient
    ending = Ending(
        len(K), 0, status, "The walk has arrived.", time.perf_counter() - limits.began, engine, None
    )
    return Solution(end, found, gradient, limits.events, *ending)


def before_growth(solved: DualProblem, problem: DualProblem) -> tuple[DualProblem, np.ndarray]:
    """Return a problem of more examples as it was without them, and the places of the old variables.

    The first examples of both are the same; the box of the others is empty. Of a regression each copy of the examples
    grows for itself.
    """
    kept = np.arange(solved.n)
    if isinstance(problem.gram, View) and problem.gram.repeats:
        old, new = solved.n // 2, problem.n // 2
        kept = np.concatenate([np.arange(old), new + np.arange(old)])
    v, lower, upper = problem.v.copy(), np.zeros(problem.n), np.zeros(problem.n)
    v[kept], lower[kept], upper[kept] = solved.v, solved.lower, solved.upper
    return type(problem)(problem.gram, v, solved.z, lower, upper), kept
