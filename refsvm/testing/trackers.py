"""The contract of a path tracker, checked on the practice problems that have a path."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from refsvm import DualProblem, PathTracker, Status
from refsvm.analysis.paths import ParametricPath, RegularizationPath, parametric_path, track
from refsvm.core.engine.limits import PathLimits
from refsvm.testing import engines
from refsvm.testing.engines import NOT_COMPARED
from refsvm.testing.failures import MOST_SECONDS, require, within

C_MIN, C_MAX = 1e-3, 1e2
MOST_EVENTS = 20_000
REACHED_BY: Final = {
    "start", "full rank", "linear program", "empty elbow", "special", "backup", "repair", "jump", "end",
}  # fmt: skip
"""Names of the moves at a breakpoint."""

KINDS: Final = ("C", "costs", "others")
"""Kinds of lines on which a tracker is checked: along C, and the lines of `line_of` if the tracker follows other
lines."""

AnyPath = RegularizationPath | ParametricPath


def path_problems(problems: dict[str, DualProblem]) -> dict[str, DualProblem]:
    """Return the problems that have a path along C and no indefinite kernel, with the box that belongs to C = 1.

    Examples
    --------
    >>> from refsvm.testing import practice_problems
    >>> from refsvm.testing.trackers import path_problems
    >>> "indefinite kernel" in path_problems(practice_problems()), len(path_problems(practice_problems())) > 9
    (False, True)
    """
    chosen = {}
    for name, problem in problems.items():
        width = float((problem.upper - problem.lower).max())
        is_c_path = problem.z == 0.0 and not (problem.lower * problem.upper).any()
        if is_c_path and "indefinite" not in name and width > 0.0:
            chosen[name] = problem.boxed(problem.lower / width, problem.upper / width)
    return chosen


def check_tracker(tracker: PathTracker, problems: dict[str, DualProblem]) -> tuple[tuple[str, ...], int, str]:
    """For each problem that has a path, check up to three paths, and compare each with a second run in both engines.

    Parameters
    ----------
    tracker : PathTracker
        The tracker to check.
    problems : dict of str to DualProblem
        Problems by name.

    Returns
    -------
    names : tuple of str
        The problems that were tracked; a tracker with ``may_refuse`` may refuse some problems.
    breakpoints : int
        Number of breakpoints.
    twin : str
        A sentence that says whether the engines agreed on all paths, or why they were not compared.

    Raises
    ------
    AssertionError
        At the first check that fails.
    """
    names, breakpoints, compared, refusal = [], 0, 0, ""
    both = ["numpy"] + ["numba"] * engines.can_compare()
    kinds = KINDS if tracker.any_line else KINDS[:1]
    for name, problem in path_problems(problems).items():
        try:
            paths = [_checked(tracker, kind, name, problem, both) for kind in kinds]
        # a tracker with `may_refuse` may refuse a degenerate problem by raising a ValueError
        except AssertionError as error:
            if tracker.may_refuse and isinstance(error.__cause__, ValueError):
                refusal = str(error.__cause__)
                continue
            raise
        names.append(name)
        breakpoints += sum(points for points, _ in paths)
        compared += sum(twins for _, twins in paths)
    last = refusal.rstrip(".") or "no reason given"
    require(names, f"Problem 'all' with {tracker!r}: it refused every problem, the last with: {last}.")
    subject = "Both engines agree" if tracker.twin() is None else "The twin agrees"
    sentence = f"{subject} bit for bit on {compared} paths."
    return tuple(names), breakpoints, sentence if compared else NOT_COMPARED


def line_of(kind: str, problem: DualProblem) -> tuple[DualProblem, DualProblem]:
    """Return the problems at the two ends of a line, along which v, L, U and z change.

    Along the line "costs", bounds L < 0 rise to 0, and bounds U > 0 rise from 0. Along the line "others", both bounds
    of every third variable move to 0, v changes, and z moves to a quarter of the sum of the remaining upper bounds.
    """
    zero = np.zeros(problem.n)
    if kind == "costs":
        return problem.boxed(problem.lower, zero), problem.boxed(zero, problem.upper)
    away = problem.without(np.arange(0, problem.n, 3))
    v = 0.5 * (problem.v + np.roll(problem.v, 1))
    return problem, DualProblem(problem.gram, v, 0.25 * float(away.upper.sum()), away.lower, away.upper)


def _checked(
    tracker: PathTracker, kind: str, name: str, problem: DualProblem, names: list[str]
) -> tuple[int, int]:
    """Check one path of one problem; return the number of breakpoints, and how often the engines were compared."""
    name = name if kind == "C" else f"{name} ({kind})"
    path = _tracked(tracker, kind, name, problem, "numpy")
    subject = f"Problem {name!r} with {tracker!r}"
    # check that K is unchanged: trackers get K itself, not a copy, which may take gigabytes
    same = np.array_equal(np.asarray(path.matrix), problem.gram.block(np.arange(problem.n)))
    require(same, f"{subject}: follow() wrote to the kernel matrix; it must only read it.")
    _check_path(tracker.accuracy, subject, path)
    for engine in names:
        again = _tracked(tracker, kind, name, problem, engine)
        same = all(np.array_equal(a, b) for a, b in zip(path.record, again.record, strict=True))
        again_by = "A second call" if engine == "numpy" else "The compiled engine"
        advice = "keep no memory on the tracker, and search with the state's methods"
        require(same, f"{subject}: {again_by} returns another path; {advice}.")
    return len(path.record.t), names.count("numba")


def _tracked(tracker: PathTracker, kind: str, name: str, problem: DualProblem, engine: str) -> AnyPath:
    """Track one path; raise an error after `MOST_SECONDS`."""
    limits = PathLimits(problem.n, MOST_EVENTS)
    options: dict[str, Any] = {"tracker": tracker, "engine": engine}

    def run() -> AnyPath:
        if kind == "C":
            return track(problem, C_min=C_MIN, C_max=C_MAX, limits=limits, **options)
        return parametric_path(*line_of(kind, problem), merge=False, max_events=MOST_EVENTS, **options)

    return within(MOST_SECONDS, name, (tracker,), run)


def _check_path(accuracy: float, subject: str, path: AnyPath) -> None:
    """Check the ends and the order of one path, and that the path is optimal at and between breakpoints."""
    require(path.status is Status.CONVERGED, f"{subject}: the path ends with {path.status.name}: {path!r}.")
    at, letter, first, last = path.record.t, "t", 0.0, 1.0
    if isinstance(path, RegularizationPath):
        letter, first, last = "C", C_MIN, C_MAX
    reaches = np.allclose(at[[0, -1]], [first, last], rtol=1e-9, atol=0.0)
    message = f"the path goes from {at[0]:.6g} to {at[-1]:.6g} instead of from {first} to {last}."
    require(reaches, f"{subject}: {message}")
    require((np.diff(at) >= 0.0).all(), f"{subject}: {letter} falls from one breakpoint to the next.")
    unknown = sorted({*path.record.kind.tolist()} - REACHED_BY)
    message = f"there are breakpoints of kind {unknown}; `Breakpoint` lists the kinds that may occur."
    require(not unknown, f"{subject}: {message}")
    least = path.record.elbow.min()
    require(least >= 0, f"{subject}: a breakpoint has an elbow of {least}.")
    # also check between breakpoints, because a path may be wrong between two correct breakpoints
    audit = path.kkt_audit(between=3)
    message = (
        f"the optimality conditions are violated by {audit.worst:.2e} at {letter}={audit.C:.6g} "
        f"({audit.at:.2e} at breakpoints, {audit.between:.2e} between them)."
    )
    require(audit.worst <= accuracy, f"{subject}: {message}")
