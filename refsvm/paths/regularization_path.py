"""regularization_path: the front door to the trackers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from refsvm._checks import examples, positive, positive_or_inf, signs, vector
from refsvm.kernels.functions import RBF, Kernel, Linear, Polynomial, Precomputed
from refsvm.kernels.gram import Gram, KernelMatrix
from refsvm.kernels.rows import megabytes
from refsvm.paths.backup import solve_at
from refsvm.paths.base import PathTracker
from refsvm.paths.breakpoint import Breakpoint
from refsvm.paths.duplicates import Merged, merge_duplicates, no_merging
from refsvm.paths.limits import PathLimits
from refsvm.paths.path import RegularizationPath
from refsvm.paths.recorder import PathRecorder
from refsvm.paths.search import search_called
from refsvm.paths.state import PathState
from refsvm.paths.svmp import SVMP
from refsvm.problem import DualProblem
from refsvm.result import Status
from refsvm.solver.limits import interruptible

__all__ = ["kernel_matrix", "regularization_path", "track"]


def regularization_path(
    X: Any,
    y: Any,
    *,
    kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None = None,
    C_min: float = 1e-4,
    C_max: float = 1e3,
    sample_weight: Any = None,
    tracker: PathTracker | None = None,
    merge: bool = True,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    time_limit: float | None = None,
    max_events: int | None = None,
    callback: Callable[[Breakpoint], object] | None = None,
) -> RegularizationPath:
    """Train a C-SVM for every C from C_min to C_max at once.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix.
    y : array-like of shape (n,)
        Labels −1 and +1, both present, in any proportion.
    kernel : kernel object or callable, default Linear()
        Positive semi-definite.
    C_min, C_max : float
        The range of C; 0 < C_min < C_max.
    sample_weight : array-like of shape (n,), optional
        wᵢ ≥ 0: example i has the penalty C wᵢ.
    tracker : PathTracker, default SVMP()
    merge : bool
        Whether examples with the same features and label share one variable, which changes no value of the
        path and makes sets with many duplicates much faster. False leaves duplicates to the tracker.
    engine : {"auto", "numba", "numpy"}
        The event search compiled, or readable; both give the same path bit for bit.
    cache_mb : float
        Budget for the kernel matrix, in MiB: all of it is needed.
    time_limit : float, optional
        Limit in seconds.
    max_events : int, optional
        Limit on the breakpoints; max(10⁵, 100n) by default.
    callback : callable, optional
        Called with every `Breakpoint`; a true result ends the path there.

    Returns
    -------
    RegularizationPath
        Also after a limit or Ctrl-C: then it ends at the last breakpoint found, and ``path.status`` says so.

    Raises
    ------
    ValueError
        On NaN, wrong shapes, one class, C_min ≥ C_max, a kernel that is not positive semi-definite, or
        a kernel matrix larger than the budget.

    Examples
    --------
    >>> from refsvm import RBF, regularization_path
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> path = regularization_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=100.0)
    >>> path.kkt_audit().worst <= 1e-6
    True
    """
    X = examples(X)
    problem = DualProblem.classification(X, y, kernel=kernel, C=1.0)
    labels = signs(y, problem.n)
    weight = labels * (1.0 if sample_weight is None else _weights(sample_weight, labels))
    gram: Any = problem.gram
    merged = merge_duplicates(gram.X, weight) if merge else no_merging(weight)
    if len(merged.first) < problem.n:
        gram, weight = gram.restrict(merged.first), np.bincount(merged.group, weights=weight)
        labels = labels[merged.first]
    problem = DualProblem(gram, labels, 0.0, np.minimum(weight, 0.0), np.maximum(weight, 0.0))
    return track(
        problem, C_min=C_min, C_max=C_max, tracker=tracker, merged=merged, engine=engine,
        cache_mb=cache_mb, limits=PathLimits(problem.n, max_events, time_limit, callback),
    )  # fmt: skip


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
    """Track a dual problem whose box is multiplied by C.

    Parameters
    ----------
    problem : DualProblem
        At C = 1: z = 0, and each box has a bound at 0, as those of classification and of ε-regression have.
    merged : Merged, optional
        For the path, which of the examples share a variable of `problem`.
    limits : PathLimits, optional
    C_min, C_max, tracker, engine, cache_mb
        As in `regularization_path`.

    Raises
    ------
    ValueError
        As `regularization_path`, and for a box without a bound at 0 or a z that is not 0.
    """
    C_min, C_max = positive("C_min", C_min), positive("C_max", C_max)
    if not C_min < C_max:
        raise ValueError(f"C_min={C_min!r} is not below C_max={C_max!r}; give C_min < C_max.")
    tracker = SVMP() if tracker is None else tracker
    if not isinstance(tracker, PathTracker):
        raise ValueError(
            f"tracker={tracker!r} is not a PathTracker; pass an instance of one, such as SVMP()."
        )
    limits = PathLimits(problem.n) if limits is None else limits
    state = _state(problem, engine, cache_mb)
    recorder = PathRecorder(problem.n)
    status: Status | None = None
    with interruptible() as limits.interrupt:
        solve_at(state, 1.0 / C_min, 1e-9, "start")
        recorder.add(state.breakpoint("start")._replace(C=C_min))
        started = time.perf_counter()
        follower = tracker.follow(state, 1.0 / C_max)
        for point in follower:
            if abs(point.C / C_max - 1.0) <= 1e-12:
                point = point._replace(C=C_max)  # not 1/(1/C_max)
            recorder.add(point)
            status = limits.reached(point)
            if status is not None:
                break
    path = RegularizationPath(
        problem=problem,
        record=recorder.record(),
        merged=no_merging(problem.lower + problem.upper) if merged is None else merged,
        status=Status.CONVERGED if status is None else status,
        seconds=time.perf_counter() - limits.began,
        start_seconds=started - limits.began,
        nullity=state.nullity,
        drift=state.drift,
        tracker=repr(tracker),
        counts=dict(state.counts),
    )
    path.__dict__["kernel_matrix"] = state.K
    return path


def _weights(sample_weight: Any, labels: np.ndarray) -> np.ndarray:
    """Check the weights of the examples."""
    weights = vector("sample_weight", sample_weight, len(labels))
    if (weights < 0.0).any():
        raise ValueError(f"sample_weight contains {weights.min():.6g}; weights must not be negative.")
    for label in (-1, 1):
        if not (weights[labels == label] > 0.0).any():
            raise ValueError(f"All examples of class {label} have weight 0; two classes are needed.")
    return weights


def _state(problem: DualProblem, engine: str, cache_mb: float) -> PathState:
    """Check a problem, compute its kernel matrix, and set up the state."""
    if problem.z != 0.0 or (problem.lower * problem.upper != 0.0).any():
        raise ValueError(
            "The box of a path grows with C from α = 0: give a problem with z = 0 and a bound at 0 in each box."
        )
    K = kernel_matrix(problem, cache_mb)
    if not _known_psd(problem.gram):
        _refuse_indefinite(K)
    return PathState(problem, K, problem.lower + problem.upper, search_called(engine), engine)


def kernel_matrix(problem: DualProblem, cache_mb: float) -> np.ndarray:
    """Return K of shape (n, n), if the budget holds it."""
    n = problem.n
    needed = megabytes(n, n)
    if problem.gram.dense is None and needed > positive_or_inf("cache_mb", cache_mb):
        raise ValueError(
            f"cache_mb={cache_mb!r} does not hold the kernel matrix of {n} examples, {needed:.0f} MiB, which a path "
            f"needs as a whole; give cache_mb={needed + 1:.0f} if there is memory for it, or fewer examples."
        )
    return np.ascontiguousarray(problem.gram.block(np.arange(n)))


def _known_psd(gram: KernelMatrix) -> bool:
    """Whether the kernel is positive semi-definite whatever the data."""
    kernel = gram.kernel if isinstance(gram, Gram) else None
    return isinstance(kernel, Linear | RBF) or (isinstance(kernel, Polynomial) and kernel.coef0 >= 0.0)


def _refuse_indefinite(K: np.ndarray) -> None:
    """Refuse a matrix with a clearly negative eigenvalue: K + shift·I has no Cholesky factor then."""
    shift = 1e-10 * max(float(np.abs(K).max()), 1e-300) * len(K)
    try:
        np.linalg.cholesky(K + shift * np.eye(len(K)))
    except np.linalg.LinAlgError:
        raise ValueError(
            "The kernel matrix is not positive semi-definite, so the optimum is not a path in C; use a kernel that "
            "is, such as RBF or Linear, or solve(…) for single values of C."
        ) from None
