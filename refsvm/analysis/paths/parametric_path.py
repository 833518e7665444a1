"""`parametric_path` walks from the optimum of one problem to the optimum of another over the same kernel matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from refsvm.analysis.paths.merging import merge_variables, merged_problem, source_of
from refsvm.analysis.paths.parametric import ParametricPath
from refsvm.core._checks import is_sparse, real
from refsvm.core.engine.limits import PathLimits, interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.paths.duplicates import no_merging
from refsvm.core.paths.tracking import chosen_tracker, followed, kernel_matrix, largest
from refsvm.core.problem import DualProblem
from refsvm.core.trackers.base import PathTracker
from refsvm.core.walk.breakpoint import LinePoint
from refsvm.core.walk.line import ProblemLine, solved_gram
from refsvm.core.walk.state import PathState
from refsvm.services.line import line_of

Path = TypeVar("Path")


def parametric_path(
    start: DualProblem,
    end: DualProblem,
    *,
    t: tuple[float, float] = (0.0, 1.0),
    tracker: PathTracker | None = None,
    merge: bool = True,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    time_limit: float | None = None,
    max_events: int | None = None,
    callback: Callable[[LinePoint], object] | None = None,
    progress: bool | str = "auto",
) -> ParametricPath:
    """Solve every problem between two problems: v, L, U and z move along straight lines, K is fixed.

        v(t) = (1 − s) v(start) + s v(end),    s = (t − t₀)/(t₁ − t₀),    L, U, z alike

    α and b are affine in t between breakpoints. ½ w², the decision function up to b, and the objective are continuous
    in t. α may jump where the optimum is not unique, and b may jump where no variable is free; the path lists the
    breakpoint of a jump twice, once for each side.

    Parameters
    ----------
    start, end : DualProblem
        Problems over the same positive semi-definite kernel matrix, with finite bounds. ``problem.boxed(…)``,
        ``problem.without(r)`` and problems made with ``gram=problem.gram`` share their kernel matrix. A problem has at
        most two classes; with more classes, follow a path for each pair of classes.
    t : (float, float)
        The values of t at `start` and at `end`, by default (0, 1); t may rise or fall.
    tracker : PathTracker, optional
        Algorithm that follows the path, by default ``SVMP()``.
    merge : bool, default True
        Whether variables with the same kernel row and the same v on the whole line are merged into one variable, whose
        box is the sum of their boxes. Merging changes no decision function. Without merging, the tracker must handle
        duplicates.
    engine, cache_mb, time_limit, max_events
        As in `refsvm.regularization_path`.
    callback : callable, optional
        Called with every `LinePoint`. If the callback returns True, the path ends at this point.
    progress : bool or "auto"
        Progress line on stderr, as in `refsvm.regularization_path`.

    Returns
    -------
    ParametricPath
        The path. If a limit ends the call, the path ends at the last breakpoint found, and ``path.status`` names the
        limit.

    Raises
    ------
    ValueError
        If the problems have different kernel matrices or infinite bounds, t has equal ends, the kernel is not
        positive semi-definite, or its matrix exceeds the budget.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` is the path so far.

    Warns
    -----
    ConvergenceWarning
        If rounding errors or a limit end the path early; without scikit-learn a
        `refsvm.core.engine.unsolved.UnsolvedWarning`.

    References
    ----------
    M. J. Best, "An algorithm for the solution of the parametric quadratic programming problem", in Applied Mathematics
    and Parallel Computing, 1996 (general quadratic programs). The functions of `refsvm.analysis.paths.lines` cite
    further papers.

    Examples
    --------
    Example 1 is removed along the path:

    >>> import numpy as np
    >>> from refsvm import DualProblem, RBF, parametric_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=10.0)
    >>> path = parametric_path(problem, problem.without(1))
    >>> path
    ParametricPath(3 breakpoints, t from 0 to 1, CONVERGED)
    >>> path.alpha(0.0).round(3), path.alpha(1.0).round(3)
    (array([-3.833,  6.13 , -4.117,  1.819]), array([-0.594,  0.   , -0.813,  1.407]))
    """
    return line_between(
        "parametric_path", start, end, lambda path: path, t=t, tracker=tracker, merge=merge, engine=engine,
        cache_mb=cache_mb, time_limit=time_limit, max_events=max_events, callback=callback, progress=progress,
    )  # fmt: skip


def line_between(
    call: str, start: DualProblem, end: DualProblem, made: Callable[[ParametricPath], Path], *, name: str = "t",
    t: tuple[float, float] = (0.0, 1.0), tracker: PathTracker | None = None, merge: bool = True,
    engine: str = "auto", cache_mb: float = 1000.0, time_limit: float | None = None,
    max_events: int | None = None, callback: Callable[[LinePoint], object] | None = None,
    progress: bool | str = "auto",
) -> Path:  # fmt: skip
    """Return the path between two problems; `call` is the public function's name, `name` the name of the parameter t.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem
    >>> from refsvm.analysis.paths.parametric_path import line_between
    >>> problem = DualProblem.classification(np.array([[0.0], [1.0], [2.0]]), [-1, 1, 1])
    >>> line_between("mine", problem, problem.without(1), lambda path: path)
    ParametricPath(3 breakpoints, t from 0 to 1, CONVERGED)
    """
    refuse_unlike(start, end)
    tracker, counter = tracker_of_lines(tracker), Progress(call, "percent", "the path so far")
    with line_of(counter, progress) as shown, interruptible() as interrupt, np.errstate(under="ignore"):
        limits = PathLimits(start.n, max_events, time_limit, callback)
        limits.progress = shown or limits.progress
        merged = merge_variables(start, end) if merge else no_merging(start)
        one, other = (merged_problem(each, merged) for each in (start, end))
        K = kernel_matrix(solved_gram(one, other), cache_mb)
        line = ProblemLine(one, other, _ends(t), largest(K), K)
        line.name = name
        walk = PathState(one, K, engine, line)
        fields = followed(walk, tracker, *line.t, limits)
    path = made(ParametricPath(start=start, end=end, line=line, merged=merged, **fields))
    return unless_interrupted(call, path, interrupt.pressed)


def tracker_of_lines(tracker: PathTracker | None) -> PathTracker:
    """Return the tracker, by default `SVMP`; raise an error for a tracker that follows only lines of 1/C."""
    tracker = chosen_tracker(tracker)
    if not tracker.any_line:
        raise ValueError(
            f"tracker={tracker!r} follows only a path along C; use SVMP() or Hastie(), or set any_line = True on its "
            "class if it handles moving boxes and sums."
        )
    return tracker


def _ends(t: Any) -> tuple[float, float]:
    """Check and return the values of t at both ends."""
    try:
        first, last = t
    except (TypeError, ValueError):
        raise ValueError(
            f"t={t!r} is not a pair; give the parameter at start and at end, such as (0.0, 1.0)."
        ) from None
    ends = real("t[0]", first), real("t[1]", last)
    if ends[0] == ends[1]:
        raise ValueError(
            f"t={t!r} contains the same value twice; give two different values of the parameter."
        )
    return ends


def refuse_unlike(start: DualProblem, end: DualProblem) -> None:
    """Raise an error if `start` or `end` is not a problem or has an infinite bound, or their kernel matrices differ."""
    for name, problem in (("start", start), ("end", end)):
        if not isinstance(problem, DualProblem):
            raise ValueError(
                f"{name}={problem!r} is not a DualProblem; give the problems at both ends of the line."
            )
        if problem.is_open:
            raise ValueError(
                f"{name} has an infinite bound (C = inf); give a finite C, because a path needs finite bounds."
            )
    if start.n != end.n or not same_matrix(start.gram, end.gram):
        raise ValueError(
            f"start and end have different kernel matrices ({start.n} and {end.n} variables), but a path moves "
            "only v, the box "
            "and z; make both with the same examples and kernel, or pass gram=start.gram when you make end."
        )


def same_matrix(one: KernelMatrix, other: KernelMatrix) -> bool:
    """Return whether two kernel matrices are the same object, or have the same kernel and equal examples."""
    if one is other:
        return True
    (first, rows), (second, others) = source_of(one), source_of(other)
    if not np.array_equal(rows, others):
        return False
    if first is second:
        return True
    X: Any = getattr(first, "X", None)
    Z: Any = getattr(second, "X", None)
    if X is None or type(first) is not type(second) or first.kernel != second.kernel:
        return False
    if is_sparse(X) and is_sparse(Z):
        return X.shape == Z.shape and (X != Z).nnz == 0
    return X is Z or np.array_equal(X, Z)
