"""Tracks one path: finds its first point, follows its breakpoints to its end, and checks its rounding errors."""

from __future__ import annotations

import math
import time
import warnings
from functools import partial
from typing import Any, Final

import numpy as np

from refsvm.core._checks import frames_within, positive, positive_or_inf
from refsvm.core.engine.limits import PathLimits, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import REMEDY, unsolved, warn
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.kernels.precision import EPSILON, decision_noise, noise_of_values, noisy
from refsvm.core.kernels.rows import megabytes
from refsvm.core.paths.audit import violations
from refsvm.core.paths.duplicates import Merged, no_merging
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.paths.recorder import PathRecord, PathRecorder, Timeline
from refsvm.core.problem import DualProblem
from refsvm.core.result import Status
from refsvm.core.trackers.backup import ACCEPTED, solve_at
from refsvm.core.trackers.base import PathTracker, points_of
from refsvm.core.trackers.svmp import SVMP
from refsvm.core.walk.line import ProblemLine, RegularizationLine, solved_gram
from refsvm.core.walk.state import PathState, whole_rows

DEFAULT_TRACKER: Final = SVMP()

EPS_START: Final = 1e-9
"""KKT gap to which SMO solves the first point, in units of the decision function."""

HARD: Final = 1e6
"""SMO is not tried at the first C if this C exceeds the C at which SMO is fast by more than this factor.
"""

TENTH: Final = 0.1 * ACCEPTED
"""Rounding error of the targets, in the unit of G − b, above which a path cannot find the optimum."""

LOOK: Final = 16
"""Number of events between two checks that all numbers of a path are finite."""

SPOILED: Final = 10.0 * ACCEPTED
"""A point is removed from the path if its KKT violation, computed from scratch, exceeds this number."""


def track(
    problem: DualProblem,
    *,
    C_min: float = 1e-4,
    C_max: float = 1e3,
    tracker: PathTracker | None = None,
    merged: Merged | None = None,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    limits: PathLimits | None = None,
) -> RegularizationPath:
    """Return the path of a dual problem whose box is multiplied by C.

    Parameters
    ----------
    problem : DualProblem
        The problem at C = 1, with z = 0 and a bound at 0 in each box, as in classification and ε-regression.
    merged : Merged, optional
        The assignment of examples to the variables of `problem`; the path stores this assignment.
    limits : PathLimits, optional
        The limits of the path.
    C_min, C_max, tracker, engine, cache_mb
        As in `regularization_path`.

    Raises
    ------
    ValueError
        In the cases that `regularization_path` names, and if a box has no bound at 0, or z is not 0.
    """
    C_min, C_max = positive("C_min", C_min), positive("C_max", C_max)
    if not C_min < C_max:
        raise ValueError(f"C_min={C_min!r} is not below C_max={C_max!r}; give C_min < C_max.")
    tracker = chosen_tracker(tracker)
    limits = PathLimits(problem.n) if limits is None else limits
    if problem.z != 0.0 or (problem.lower * problem.upper != 0.0).any():
        raise ValueError(
            "A path in C begins at α = 0, which this problem does not allow; give z = 0 and a bound at 0 in each box."
        )
    K = kernel_matrix(problem.centred.gram, cache_mb)
    walk = PathState(problem, K, engine, RegularizationLine(problem, C_min, C_max))
    merged = no_merging(problem) if merged is None else merged
    return RegularizationPath(
        problem=problem, merged=merged, **followed(walk, tracker, 1.0 / C_min, 1.0 / C_max, limits)
    )


def chosen_tracker(tracker: PathTracker | None) -> PathTracker:
    """Return the tracker, `SVMP` by default."""
    return DEFAULT_TRACKER if tracker is None else PathTracker.checked("tracker", tracker)


def followed(
    walk: PathState, tracker: PathTracker, begin: float, end: float, limits: PathLimits
) -> dict[str, Any]:
    """Follow the line from `begin` to `end`; return the fields of a `TrackedPath` except `merged`."""
    recorder = PathRecorder(walk.problem.n)
    look_at_line(limits, begin, end, walk.along.name, by_log=walk.along.is_c_path)
    with interruptible() as limits.interrupt, np.errstate(under="ignore"):
        walk.deadline = limits.deadline
        _begin(walk, begin, limits, tracker)
        started = time.perf_counter()
        if walk.status is None:
            recorder.add(walk.breakpoint("start"))
            for events, point in enumerate(points_of(tracker, walk, end), 1):
                recorder.add(point)
                if events % LOOK == 0 and not walk.is_finite():
                    break
                walk.status = limits.reached(point, events)
                if walk.status is not None:
                    # ignore a limit that was reached together with the end of the path
                    at = 1.0 / point[0] if walk.along.is_c_path else point[0]
                    if unsolved([walk.status]) and math.isclose(at, end, rel_tol=1e-12):
                        walk.status = None
                    break
        # make the record even after Ctrl-C, to keep the part of the path that has been tracked
        record = recorder.record()
        if walk.status is None and limits.interrupt.pressed:
            walk.status = Status.INTERRUPTED
        record = _sound(record, walk)
    seconds = time.perf_counter() - limits.began
    if walk.status is Status.STALLED:
        warn(_why_it_stalled(record, walk, begin))
    elif unsolved([walk.status or Status.CONVERGED]):
        warn(_what_ended_it(record, walk, begin))
    elif words := _what_is_noisy(record, walk):
        warnings.warn(words, stacklevel=frames_within() + 1)
    return {
        "record": record, "status": walk.status or Status.CONVERGED, "seconds": seconds,
        "start_seconds": started - limits.began, "nullity": walk.nullity, "drift": walk.drift,
        "tracker": repr(tracker), "counts": dict(walk.counts), "matrix": walk.K,
    }  # fmt: skip


def _sound(record: PathRecord, walk: PathState) -> PathRecord:
    """Return the points before the first point that NaN or rounding errors have spoiled."""
    if not walk.is_finite():
        walk.status = Status.NOT_FINITE
        # a variable whose G is NaN has no events, so all points after the last check for NaN may be wrong
        return record.until(max(0, LOOK * ((len(record.t) - 2) // LOOK) + 1))
    if walk.rounding() > ACCEPTED and len(record.t):
        spoiled = violations(walk.along, walk.K, record, 0)[0][:, -1] > SPOILED
        if spoiled.any():
            walk.status = walk.status or Status.STALLED
            return record.until(int(spoiled.argmax()))
    return record


def look_at_line(limits: PathLimits, begin: float, end: float, name: str, *, by_log: bool = False) -> None:
    """If `limits` has a progress report, let the report count how much of the path has been followed."""
    if limits.progress is not None:
        look = partial(_look, limits.progress, limits.part, (begin, end), name, by_log)
        limits.progress.begin("start", total=100, look=look)


def _look(
    progress: Progress, part: tuple[int, int], ends: tuple[float, float], name: str, by_log: bool
) -> None:
    """Report how much of the path has been followed, measured in log C, or in t if the path does not follow C."""
    if progress.state is None or progress.steps is None:
        return
    value, steps, (begin, end) = float(progress.state[0]), progress.steps, ends
    share = math.log(value * begin) / math.log(begin / end) if by_log else (value - begin) / (end - begin)
    progress.under_way = f"{name} = {value:.4g}, " * bool(name) + f"{steps:,} breakpoint{'s' * (steps != 1)}"
    progress.tell(int(100.0 * (part[0] + min(max(share, 0.0), 1.0)) / part[1]))


def _begin(walk: PathState, t: float, limits: PathLimits, tracker: PathTracker) -> None:
    """Find the optimum at t by SMO; if SMO takes too long or stalls, follow another path that ends at this optimum."""
    eps, estimate = EPS_START, tracker.first_estimate(walk) if walk.along.is_c_path else None
    if estimate is not None:
        walk.variables.alpha[:], eps = estimate
    # at this λ, |Kŝ|/λ ≤ 1: nearly all examples are at their bounds, and SMO takes few steps
    easy = walk.largest * float((walk.variables.upper - walk.variables.lower).sum())
    # SMO from scratch is fast only if nearly all α are at a bound
    if easy <= HARD * t or not walk.along.is_c_path:
        solve_at(walk, t, eps, "start")
        if walk.status is not Status.STALLED:
            return
    _walk_from_where_it_is_easy(walk, t, easy, limits)


def _walk_from_where_it_is_easy(walk: PathState, t: float, easy: float, limits: PathLimits) -> None:
    """Reach the optimum at t by following a path from a smaller C, or from a smaller box that grows to full size."""
    along = walk.along
    first, last, eps = easy, t, EPS_START * max(easy, 1.0)  # SMO solves the first problem to the KKT gap eps
    if not along.is_c_path:  # start in a smaller box, which grows to full size
        whole, first, last, eps = along.at(t), along.unit[0] / max(easy, along.unit[0]), 1.0, EPS_START
        small = DualProblem(whole.gram, whole.v, first * whole.z, first * whole.lower, first * whole.upper)
        along = ProblemLine(small, whole, (first, last), walk.largest, walk.K) if first < last else along
    other = PathState(walk.problem, walk.K, walk.engine, along)
    other.deadline = walk.deadline
    if (first - last) * along.line.t < 0.0 and solve_at(other, first, eps, "start"):
        for _ in DEFAULT_TRACKER.follow(other, last):
            if limits.interrupt.pressed or limits.deadline.left() <= 0.0:
                other.status = Status.INTERRUPTED if limits.interrupt.pressed else Status.TIME_LIMIT
                break
        if other.status is None:
            walk.counts["start"] += 1
            walk.place(t, other.variables.alpha, other.b, "start")
    walk.status = other.status


def _why_it_stalled(record: PathRecord, walk: PathState, begin: float) -> str:
    """Return the warning that rounding errors of the kernel values or of the targets have ended the path."""
    along, where = walk.along, _where(record, walk, begin)
    what = f"kernel values up to {walk.largest:.1g}"
    remedy = "subtract the mean of each feature and scale it (StandardScaler), or choose smaller C"
    # rounding changes a target by up to EPSILON·max |v|; compare this error with the accuracy of G − b on a path
    if EPSILON * np.abs(along.arrays(begin)[0]).max() > TENTH * (along.unit[0] + along.unit[1] * begin):
        what, remedy = f"targets up to {np.abs(along.start.v).max():.1g}", "subtract the mean of the targets"
    return (
        f"The path {where}: {what} are rounded so much that no optimum can be found to the accuracy of a path; "
        f"{remedy}."
    )


def _where(record: PathRecord, walk: PathState, begin: float) -> str:
    """Return a phrase that says where the path ends, or that the path has no first point."""
    name, at = walk.along.name, 1.0 / begin if walk.along.is_c_path else begin
    return f"ends at {name}={record.t[-1]:.6g}" if len(record.t) else f"has no start at {name}={at:.6g}"


def _what_ended_it(record: PathRecord, walk: PathState, begin: float) -> str:
    """Return the warning that a limit, or numbers that are not finite, have ended the path."""
    if walk.status is Status.NOT_FINITE:
        return f"The path {_where(record, walk, begin)}, before its end. {walk.status.value} {REMEDY[walk.status]}"
    limit = "max_events" if walk.status is Status.MAX_ITER else "time_limit"
    where = _where(record, walk, begin)
    return f"The path {where}, before its end: {limit} was reached. Raise {limit}, or scale the features."


def _what_is_noisy(record: PathRecord, walk: PathState) -> str:
    """Return a warning if rounding errors of kernel values are too large at some breakpoint; otherwise return ""."""
    along, diagonal = walk.along, walk.K.diagonal()
    gram = solved_gram(along.start, along.end)
    if noise_of_values(gram, walk.largest) == 0.0:
        return ""
    points = Timeline(record, walk.problem.n)
    for k, t in enumerate(record.t):
        at, unit = (1.0 / t, 1.0 / t) if along.is_c_path else (t, 1.0)
        allowed = along.tolerance(at, ACCEPTED)
        if noise := decision_noise(gram, points.at(k), diagonal, allowed):
            return noisy(noise / unit, allowed / unit)
    return ""


def largest(K: np.ndarray) -> float:
    """Return max |Kᵢⱼ|, which is on the diagonal, because K is positive semi-definite."""
    return float(np.abs(K.diagonal()).max())


def kernel_matrix(gram: KernelMatrix, cache_mb: float) -> np.ndarray:
    """Return K, shape (n, n); raise ValueError if it does not fit in `cache_mb` or is not positive semi-definite."""
    n = gram.n
    needed = megabytes(n, n)
    if gram.dense is None and needed > positive_or_inf("cache_mb", cache_mb):
        raise ValueError(
            f"cache_mb={cache_mb!r} does not hold the kernel matrix of {n} examples, {needed:.0f} MiB, which a path "
            f"needs as a whole; give cache_mb={needed + 1:.0f} if there is memory for it, or fewer examples."
        )
    K = gram.dense
    # compiled code reads whole rows of float64, so copy a matrix that is stored in another form
    if K is None or whole_rows(K) is None:
        K = np.ascontiguousarray(gram.block(np.arange(n)))
    if not gram.facts.is_psd:
        _refuse_indefinite(K)
    return K


def _refuse_indefinite(K: np.ndarray) -> None:
    """Raise ValueError if K has a clearly negative eigenvalue, so that K + shift·I has no Cholesky factor."""
    # the shift allows for eigenvalues that are negative only because of rounding
    shift = 1e-10 * max(float(np.abs(K).max()), 1e-300) * len(K)
    try:
        np.linalg.cholesky(K + shift * np.eye(len(K)))
    except np.linalg.LinAlgError:
        raise ValueError(
            "The kernel matrix is not positive semi-definite, so the optimum is not a path in C; use a positive "
            "semi-definite kernel, such as RBF or Linear, or call solve(…) for single values of C."
        ) from None
