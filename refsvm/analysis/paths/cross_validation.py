"""cross_validate_path: computes the error of cross-validation as a function of C, with one path for each fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.analysis.paths.error_curve import ErrorCurve, Turns, first_unfinished, voted_curve
from refsvm.analysis.paths.left_out import LeftOutPaths
from refsvm.analysis.paths.several_classes import common_range, held_gram, pair_paths
from refsvm.analysis.resampling.folds import fold_numbers
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.weights import given_weights, in_exact_steps, refuse_absent_class
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import examples
from refsvm.core.engine.limits import Interrupted, PathLimits, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import warn
from refsvm.core.kernels.checked import matrix_given
from refsvm.core.kernels.functions import Kernel, Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.trackers.base import PathTracker
from refsvm.services.labels import numbered
from refsvm.services.line import line_of
from refsvm.services.names import chosen_kernel
from refsvm.services.summary import Card, Shown
from refsvm.services.types import ArrayLike, FoldsLike, RandomLike

ROUNDING: Final = 1e-9
"""Largest relative difference between 1/(1/C_max) and C_max."""

SINGLE_CLASS: Final = "Fold {} leaves a single class to train on; give other or fewer folds."


@dataclass(frozen=True, eq=False, repr=False)
class PathCrossValidation(Shown):
    """The result of `cross_validate_path`.

    Attributes
    ----------
    curve : ErrorCurve
        Held-out errors of all folds together.
    curves : tuple of ErrorCurve
        Held-out errors of each fold.
    fold : ndarray of shape (n,), int64
        Number of the fold that holds out each example.
    breakpoints : tuple of int
        For each fold, the number of breakpoints on its path. With leave-one-out, for each example, the number of
        breakpoints on the paths that `cross_validate_path` followed without the example.
    seconds : float
        Wall time of the call.
    """

    curve: ErrorCurve
    curves: tuple[ErrorCurve, ...]
    fold: np.ndarray
    breakpoints: tuple[int, ...]
    seconds: float

    def _card(self) -> Card:
        low, high, error = self.curve._best()
        range_and_folds = f"for C from {low:.6g} to {high:.6g}, {len(self.curves)} folds"
        pairs = {"breakpoints": f"{sum(self.breakpoints):,}", "seconds": f"{self.seconds:.3f}"}
        return Card(
            f"least error {error:.4f}, {range_and_folds}",
            f"{error:.4f}",
            f"least error, {range_and_folds}",
            pairs=pairs,
        )


@takes_model(("SVC",), moves=("C",))
def cross_validate_path(
    X: ArrayLike,
    y: ArrayLike,
    *,
    kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf",
    gamma: str | float = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    C_min: float = 1e-4,
    C_max: float = 1e3,
    folds: FoldsLike = 10,
    stratified: bool = True,
    rng: RandomLike = 0,
    groups: ArrayLike = None,
    sample_weight: ArrayLike = None,
    tracker: PathTracker | None = None,
    engine: str = "auto",
    cache_mb: float = 1000.0,
    progress: bool | str = "auto",
) -> PathCrossValidation:
    """Cross-validate a C-SVM for every C of a range at once.

    For each fold, `cross_validate_path` follows the path of the examples outside the fold; all paths share one kernel
    matrix. The values of C at which predictions change are as exact as the breakpoints of the path. With several
    classes, each pair of classes has its own paths. At each C at which a pair changes its vote, `cross_validate_path`
    counts the votes again.

    Parameters
    ----------
    X, y, kernel, gamma, degree, coef0, C_min, C_max, tracker, engine, cache_mb
        As in `refsvm.regularization_path`.
    folds : int, "loo", array-like of int of shape (n,), splitter, or iterable of pairs (train, test)
        Number of folds, "loo" for leave-one-out, the fold of each example, or an object with scikit-learn's
        ``split(X, y)``.
    stratified : bool
        Whether to share the examples of each class equally among the folds. `stratified` applies only if `folds` is a
        number.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are assigned to folds; None leaves them in order. `rng` applies only if
        `folds` is a number.
    groups : array-like of shape (n,), optional
        Group of each example, for a splitter that uses groups.
    sample_weight : array-like of shape (n,), optional
        wᵢ ≥ 0: example i has the penalty C wᵢ and counts wᵢ times among the errors, and its copies are left out
        together. Each class needs a positive weight.
    progress : bool or "auto"
        Progress line on stderr, as in `refsvm.regularization_path`.

    Returns
    -------
    PathCrossValidation
        The error curves.

    Raises
    ------
    ValueError
        As in `refsvm.regularization_path`, and if only one class has positive weights outside a fold.
    KeyboardInterrupt
        After Ctrl-C and the end of the current path: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` is a
        tuple of the finished folds' curves.

    Notes
    -----
        Leave-one-out does not require n paths. From the path of all examples, `cross_validate_path` derives the signs
        of most left-out decision values. For each other sign, it follows the path without the left-out example
        (`refsvm.analysis.paths.left_out`). For folds of several examples the path of all examples determines few signs,
        because nearly everywhere on this path some example of the fold has α ≠ 0. Therefore each fold has its own path.

    Examples
    --------
    >>> from refsvm import RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.analysis.paths import cross_validate_path
    >>> heart = load("heart")
    >>> found = cross_validate_path(heart.X, heart.y, kernel=RBF(0.005), C_min=0.01, C_max=100.0, folds=5)
    >>> low, high, error = found.curve.best()
    >>> found.curve.at((low * high) ** 0.5) == error < 0.2
    True
    """
    began, fold_progress = time.perf_counter(), Progress("cross_validate_path", "folds", "these")
    line = line_of(fold_progress, progress)
    matrix = matrix_given(X, chosen_kernel(kernel, gamma, degree, coef0), None).centred
    X = examples(X)
    n = matrix.n
    classes, codes = numbered(y, n)
    if isinstance(folds, str) and folds == "loo":
        folds = np.arange(n)
    # `stratified` applies only if `folds` is a number
    stratified = bool(stratified and np.ndim(folds) == 0 and not hasattr(folds, "split"))
    weights = given_weights(sample_weight, n)
    refuse_absent_class(classes, codes, weights)
    weights = None if weights is None else in_exact_steps(weights)
    fold = fold_numbers(folds, codes, stratified=stratified, rng=rng, groups=groups)
    # compute the kernel matrix of all examples once, because it contains the kernel matrix of each fold
    gram = held_gram(matrix, cache_mb)
    options = {"C_min": C_min, "C_max": C_max, "tracker": tracker, "engine": engine, "cache_mb": cache_mb}
    fold_progress.begin("", total=int(fold.max()) + 1)
    with line, interruptible() as interrupt, np.errstate(under="ignore"):
        each = left_out if fold.max() + 1 == n else held_out
        curves, breakpoints = list[ErrorCurve](), list[int]()
        for curve, count in each(X, codes, gram, fold, weights, interrupt, options):
            curves.append(curve)
            breakpoints.append(count)
            fold_progress.tell(len(curves))
        # raise an error, because the curves of some folds are not a cross-validation
        if interrupt.pressed:
            raise Interrupted(
                f"cross_validate_path was interrupted; error.result holds the curves of {len(curves)} folds.",
                tuple(curves),
            )
    total = ErrorCurve.total(curves)
    if (last := float(total.C[-1])) < (1.0 - ROUNDING) * C_max:
        short = sum(curve.C[-1] < (1.0 - ROUNDING) * C_max for curve in curves)
        warn(
            f"{short} of {len(curves)} paths ended before C_max={C_max:.6g}, so the error curve ends at "
            f"C={last:.6g}; scale the features (StandardScaler), or choose a smaller C_max."
        )
    return PathCrossValidation(total, tuple(curves), fold, tuple(breakpoints), time.perf_counter() - began)


def held_out(
    X: Any, codes: np.ndarray, gram: Gram, fold: np.ndarray, weights: np.ndarray | None, interrupt: interruptible,
    options: dict[str, Any],
) -> Iterator[tuple[ErrorCurve, int]]:  # fmt: skip
    """Yield each fold's error curve, and the number of breakpoints on the paths of all class pairs without the fold.

    A class without examples outside a fold gets no vote for the examples of this fold.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d)
    codes, fold : ndarrays of shape (n,), int
        Class number of each example, and its fold number.
    gram : Gram
        Result of `held_gram` for all examples.
    weights : ndarray of shape (n,), optional
        Factors of C that also weight the errors, rounded by `in_exact_steps` so that their sums are exact.
    interrupt : interruptible
        Handler of Ctrl-C.
    options : dict
        Options of `pair_paths`.
    """
    factors = np.ones(len(codes)) if weights is None else weights
    for number in range(int(fold.max()) + 1):
        held, rest = np.flatnonzero(fold == number), np.flatnonzero((fold != number) & (factors > 0.0))
        present, known = np.unique(codes[rest], return_inverse=True)
        if len(present) < 2:
            raise ValueError(SINGLE_CLASS.format(number))
        limits, cross = PathLimits(len(rest)), gram.block(held, rest)
        paths_of_pairs = [*pair_paths(gram.restrict(rest), X[rest], known, factors[rest], limits, **options)]
        if interrupt.pressed:
            return
        turns = [
            Turns(*pair, *path.crossings(cross[:, rows]))
            for pair, (rows, path) in zip(OneVsOne(len(present)).named(present), paths_of_pairs, strict=True)
        ]
        paths, own = [path for _, path in paths_of_pairs], None if weights is None else weights[held]
        status = first_unfinished(path.status for path in paths)
        curve = voted_curve(turns, codes[held], int(codes.max()) + 1, common_range(paths), own, status)
        yield curve, sum(len(path.C) for _, path in paths_of_pairs)


def left_out(
    X: Any, codes: np.ndarray, gram: Gram, fold: np.ndarray, weights: np.ndarray | None, interrupt: interruptible,
    options: dict[str, Any],
) -> Iterator[tuple[ErrorCurve, int]]:  # fmt: skip
    """Yield each example's error curve, and the number of breakpoints on the paths followed without the example.

    Leaving out an example changes only the paths of class pairs that contain its class. The path of a pair determines
    the sign of h at most left-out examples of the pair's two classes, and at every example of a third class. `left_out`
    takes the arguments of `held_out`.
    """
    k, factors = int(codes.max()) + 1, np.ones(len(codes)) if weights is None else weights
    alone = (factors > 0.0) & (np.bincount(codes, factors > 0.0)[codes] == 1.0)
    if k == 2 and alone.any():
        raise ValueError(SINGLE_CLASS.format(fold[alone.argmax()]))
    counting = np.where(factors > 0.0, codes, -1)  # train without examples of weight 0
    of_pairs = list[LeftOutPaths]()
    for rows, path in pair_paths(gram, X, counting, factors, PathLimits(len(codes)), alike=True, **options):
        if interrupt.pressed:
            return
        of_pairs.append(LeftOutPaths(path, rows, gram, options["tracker"], options["engine"]))
    paths = [each.path for each in of_pairs]
    ends, status = common_range(paths), first_unfinished(path.status for path in paths)
    for r in fold.argsort().tolist():
        turns = [Turns(*pair, *each.turns(r)) for pair, each in zip(OneVsOne(k).pairs, of_pairs, strict=True)]
        if interrupt.pressed:
            return
        own = None if weights is None else weights[r : r + 1]
        yield (
            voted_curve(turns, codes[r : r + 1], k, ends, own, status),
            sum(each.walked_for(r) for each in of_pairs),
        )
