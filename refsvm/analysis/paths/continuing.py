"""`continued` walks from the solution of one problem to the solution of another problem over the same kernel matrix."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.paths.parametric_path import refuse_unlike, tracker_of_lines
from refsvm.analysis.solve import solve
from refsvm.core.engine.limits import PathLimits, interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels.matrix import View
from refsvm.core.paths.tracking import kernel_matrix, largest, look_at_line
from refsvm.core.result import Ending, Solution, Status
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.core.stopping.relative import rounding_of_gradient
from refsvm.core.trackers.backup import MOST_STEPS, solve_at
from refsvm.core.trackers.base import points_of
from refsvm.core.walk.bordered import Bordered
from refsvm.core.walk.line import ProblemLine, solved_gram
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import FREE
from refsvm.services.line import line_of

if TYPE_CHECKING:
    from refsvm.core.problem import DualProblem
    from refsvm.core.trackers.base import PathTracker

POLISHED: Final = 1e-9
"""Largest KKT gap at both ends of a walk, in the unit of the line."""


class Reached(NamedTuple):
    """The state at the end of a walk, from which the next walk starts.

    Attributes
    ----------
    gradient : ndarray of shape (n,)
        G; NaN for variables that did not exist in the walk.
    members : ndarray of shape (m,), int64
        The free variables, in the order of the rows of `system`.
    system : Bordered or None
        The inverse of the matrix of the free variables; None if no inverse is known.
    """

    gradient: np.ndarray
    members: np.ndarray
    system: Bordered | None

    def placed(self, places: np.ndarray, n: int) -> Reached:
        """Return the state renumbered for n variables: variable i becomes ``places[i]``; −1 drops the variable."""
        gradient, there = np.full(n, np.nan), places >= 0
        gradient[places[there]] = self.gradient[there]
        members = places[self.members]
        return Reached(gradient, members, self.system if (members >= 0).all() else None)


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
    reached: Reached | None = None,
    progress: Progress | None = None,
    part: tuple[int, int] = (0, 1),
) -> tuple[Solution, Reached]:
    """Return the solution of `end`, reached from a solution of `start`, and the state for the next walk.

    Parameters
    ----------
    start, end : DualProblem
        Problems over the same kernel matrix.
    alpha : ndarray of shape (n,)
        A solution of `start`, at any tolerance; `continued` first refines α so that α is a point of the path.
    tracker, engine, cache_mb, time_limit, max_events
        As in `refsvm.parametric_path`.
    reached : Reached, optional
        State at the end of the walk that found `alpha`. If `alpha` is still optimal, `continued` neither refines it nor
        factorises the matrix again.
    progress : Progress, optional
        Progress line, which shows the finished share of the call in percent.
    part : (int, int)
        If a call makes several walks: the index of this walk, and how many walks the call makes.

    Returns
    -------
    Solution
        The solution; its `iterations` count the events of the walk. If a limit ends the walk, `alpha` is the feasible
        point nearest to the α of the last event, and `status` names the limit.
    Reached
        The state at the end of the walk.
    """
    refuse_unlike(start, end)
    limits = PathLimits(start.n, max_events, time_limit)
    limits.progress, limits.part = progress, part
    look_at_line(limits, 0.0, 1.0, "")
    K = kernel_matrix(solved_gram(start, end), cache_mb)
    line = ProblemLine(start, end, (0.0, 1.0), largest(K), K)
    walk = PathState(start, K, engine, line)
    walk.variables.alpha[:] = alpha
    status, events, tracker = Status.CONVERGED, 0, tracker_of_lines(tracker)
    with interruptible() as limits.interrupt, np.errstate(under="ignore"):
        walk.deadline = limits.deadline
        if reached is None or not _resumed(walk, alpha, reached):
            solve_at(walk, 0.0, POLISHED, "start")
        for events, point in enumerate(points_of(tracker, walk, 1.0), 1):
            limit = limits.reached(point, events)
            if limit is not None and point[0] != 1.0:
                status, walk.variables.alpha[:] = limit, point[1]  # discard all later steps
                break
    if walk.status in (Status.INTERRUPTED, Status.TIME_LIMIT):
        status = walk.status
    alpha_at_end, gradient, status = _arrived(walk, line, end, status, engine)
    problem = end.with_gram(walk.problem.gram)
    ending = Ending(
        len(K), 0, status, "The walk has reached its end.", time.perf_counter() - limits.began, engine, None
    )
    solution = Solution(problem, alpha_at_end, gradient, events, *ending)
    solution = (
        solution.of(end) if end.centred is not end and start.z == 0.0 else replace(solution, problem=end)
    )
    return solution, Reached(gradient, np.array(walk.members, dtype=np.int64), walk.system)


def _arrived(
    walk: PathState, line: ProblemLine, end: DualProblem, status: Status, engine: str
) -> tuple[np.ndarray, np.ndarray, Status]:
    """Return α, G and the status at the end of a walk, after steps of SMO have removed the walk's rounding errors."""
    problem = end.with_gram(walk.problem.gram)
    # after thousands of events Σα contains rounding errors, so move α to the nearest feasible point
    alpha = problem.feasible(walk.variables.alpha)
    gradient = walk.gradient(problem.v, alpha)
    # if the decision values have a range below 1, multiply the tolerance by this range
    share = min(1.0, problem.decision_range(alpha, gradient))
    tolerance, rounding = POLISHED * line.unit[0], rounding_of_gradient(alpha, gradient, walk.largest)
    allowed = max(10.0 * tolerance * share, rounding)
    if status is Status.CONVERGED and problem.kkt_gap(alpha, gradient) > allowed:
        stop = KKTGap(max(tolerance, rounding), relative=True)
        # limit the steps: if rounding errors hide the optimum, no number of steps finds it
        most = max(MOST_STEPS, 100 * problem.n)
        ended = solve(problem, start=alpha, stop=stop, engine=engine, max_iter=most, time_limit=walk.deadline)
        return ended.alpha, ended.gradient, ended.status
    return alpha, gradient, status


def _resumed(walk: PathState, alpha: np.ndarray, reached: Reached) -> bool:
    """Return whether the end of an earlier walk is optimal for the new walk's first problem; if so, start there."""
    problem, G = walk.along.at(0.0), reached.gradient.copy()
    new = np.flatnonzero(np.isnan(G))
    G[new] = problem.v[new] - walk.K[new] @ alpha
    allowed = max(walk.along.tolerance(0.0, 10.0 * POLISHED), rounding_of_gradient(alpha, G, walk.largest))
    if not problem.kkt_gap(alpha, G) <= allowed:
        return False
    if reached.system is not None:
        walk.system = Bordered(reached.system.inverse, reached.system.least)
        walk.members, walk.side[reached.members] = reached.members.tolist(), FREE
    walk.place(0.0, alpha, problem.intercept(alpha, G), "start", G)
    return True


def before_growth(solved: DualProblem, problem: DualProblem) -> tuple[DualProblem, np.ndarray]:
    """Return the larger problem with empty boxes for the added examples, and the positions of the old variables.

    The smaller and the larger problem begin with the same examples. In a regression, each half of the variables ends
    with variables of the added examples.
    """
    old_places = np.arange(solved.n)
    if isinstance(problem.gram, View) and problem.gram.repeats:
        old, new = solved.n // 2, problem.n // 2
        old_places = np.concatenate([np.arange(old), new + np.arange(old)])
    v, lower, upper = problem.v.copy(), np.zeros(problem.n), np.zeros(problem.n)
    v[old_places], lower[old_places], upper[old_places] = solved.v, solved.lower, solved.upper
    return type(problem)(problem.gram, v, solved.z, lower, upper), old_places


def continue_to(
    solution: Solution, problem: DualProblem, *, progress: bool | str = "auto", **options: Any
) -> Solution:
    """Return the exact solution of another problem, after a walk from this solution; v, L, U and z may differ.

    Call `continue_to` if ``problem.without(r)`` has removed examples, if ``problem.extended(X, y)`` has added examples,
    or if weights or targets have changed. `continue_to` first refines this solution to a KKT gap of 1e-9.

    Parameters
    ----------
    problem : DualProblem
        The new problem, over the same kernel matrix, or over a matrix in which new examples follow the same examples.
    progress : bool or "auto"
        Progress line on stderr, as in `refsvm.regularization_path`.
    **options
        tracker, engine, cache_mb, time_limit, max_events, as in `refsvm.parametric_path`. `continue_to` computes the
        whole kernel matrix.

    Returns
    -------
    Solution
        The solution; its `iterations` count the events of the walk.

    Raises
    ------
    ValueError
        As in `refsvm.parametric_path`.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` is the solution at the last event.

    References
    ----------
    G. Cauwenberghs and T. Poggio, "Incremental and decremental support vector machine learning", NIPS 2000 (one example
    at a time); M. Karasuyama and I. Takeuchi, "Multiple incremental decremental learning of support vector machines",
    NIPS 2009 (several examples at a time). `continue_to` also handles singular systems, and any change of v, L, U and
    z.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> solution = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=10.0))
    >>> solution.continue_to(solution.problem.without(1)).alpha.round(3)
    array([-0.594,  0.   , -0.813,  1.407])
    >>> more = solution.problem.extended(np.array([[3.0]]), np.array([1]))
    >>> solution.continue_to(more).alpha.round(3)
    array([-5.175,  8.739, -8.739,  0.   ,  5.175])
    """
    start, alpha = solution.problem, solution.alpha
    if problem.n > start.n:
        start, places = before_growth(start, problem)
        alpha = np.zeros(problem.n)
        alpha[places] = solution.alpha
    walk_progress = Progress("continue_to", "percent", "the last point")
    with line_of(walk_progress, progress) as shown:
        result, _ = continued(start, alpha, problem, progress=shown, **options)
    return unless_interrupted("continue_to", result)


Solution.continue_to = continue_to
