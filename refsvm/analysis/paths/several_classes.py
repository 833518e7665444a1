"""Paths of several classes: a path for each pair of classes, over one kernel matrix, and the votes of all pairs.

On the path of a pair, the second class is the positive class, so that a pair with h = 0 votes for the same class as in
`refsvm.SVC`. `OneVsOnePath` returns α, b and h as `SVC` does: with the same signs, and for the pairs in the same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from refsvm.analysis.paths.error_curve import ErrorCurve, Turns, first_unfinished, voted_curve
from refsvm.analysis.paths.merging import merge_variables, merged_problem, source_of
from refsvm.analysis.resampling.weights import given_weights, refuse_absent_class
from refsvm.analysis.scheme import OneVsOne
from refsvm.core._checks import pandas_for
from refsvm.core.engine.limits import PathLimits, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.kernels.checked import cross_values
from refsvm.core.kernels.functions import Precomputed
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.matrix import KernelMatrix
from refsvm.core.paths.audit import PathAudit
from refsvm.core.paths.duplicates import no_merging
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.paths.tracking import kernel_matrix, track
from refsvm.core.problem import DualProblem
from refsvm.core.result import Status
from refsvm.services.labels import known_codes, numbered
from refsvm.services.summary import Card, Shown, Table, counted, ended


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OneVsOnePath(Shown):
    """The models of all pairs of classes for every C of a range, as `refsvm.regularization_path` returns them.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The sorted labels.
    rows : tuple of ndarrays of int64
        The examples of each pair, ascending, in the order (0, 1), (0, 2), …, (k − 2, k − 1).
    paths : tuple of RegularizationPath
        The path of each pair, in which the second class is +1. The kernel of each path is the user's kernel, so that
        `refsvm.display.PathDisplay` can draw the path and `refsvm.analysis.paths.save_path` can store it.
    gram : KernelMatrix
        The kernel matrix of all examples.
    seconds : float
        Wall time of the whole call.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, regularization_path
    >>> X, y = np.array([[0.0], [1.1], [2.3], [3.2], [5.5], [6.1]]), np.array(["a", "b", "a", "b", "c", "c"])
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0)
    >>> path
    OneVsOnePath(3 pairs of classes, 11 breakpoints, C from 0.1 to 10, CONVERGED)
    >>> path.predict([[0.1], [5.5]], C=5.0), path.decision_function([[0.1], [5.5]], C=5.0).shape
    (array(['a', 'c'], dtype='<U1'), (2, 3))
    """

    classes: np.ndarray
    rows: tuple[np.ndarray, ...]
    paths: tuple[RegularizationPath, ...]
    gram: KernelMatrix = field(repr=False)
    seconds: float

    def _card(self) -> Card:
        is_there = all(len(path.C) for path in self.paths)
        ends = ["C from {:.6g} to {:.6g}".format(*common_range(self.paths))] if is_there else []
        parts = [
            f"{len(self.paths)} pairs of classes",
            counted(len(self.C), "breakpoint"),
            *ends,
            self.status.name,
        ]
        names = [" / ".join(map(str, pair)) for pair in OneVsOne(len(self.classes)).named(self.classes)]
        rows = [
            (name, f"{len(path.C):,}", path.status.name) for name, path in zip(names, self.paths, strict=True)
        ]
        is_partial = self.status is not Status.CONVERGED
        tables = (Table(("pair", "breakpoints", "status"), rows[:20]),)
        return Card(
            ", ".join(parts),
            sentence=ended(ends, self.status),
            is_partial=is_partial,
            tables=tables,
        )

    @property
    def n(self) -> int:
        """Number of examples."""
        return self.gram.n

    @property
    def status(self) -> Status:
        """CONVERGED, or the status of the first pair whose path does not reach C_max."""
        return first_unfinished(path.status for path in self.paths)

    @cached_property
    def C(self) -> np.ndarray:  # noqa: N802
        """Breakpoints of all pairs, ascending and without repetitions."""
        return np.unique(np.concatenate([path.C for path in self.paths]))

    # -- values at any C ---------------------------------------------------------------------------------------------

    def alpha(self, C: float) -> np.ndarray:
        """Return the signed α of each pair at C, shape (k(k − 1)/2, n), with 0 for examples of other classes.

        Raises
        ------
        ValueError
            If C is outside the path of a pair; all methods with an argument C raise this error.
        """
        alpha = np.zeros((len(self.paths), self.n))
        for number, (rows, path) in enumerate(zip(self.rows, self.paths, strict=True)):
            alpha[number, rows] = 0.0 - path.alpha(C)
        return alpha

    def intercept(self, C: float) -> np.ndarray:
        """Return b of each pair at C, shape (k(k − 1)/2,)."""
        moved = [self.gram.offset(alpha) if alpha.any() else 0.0 for alpha in self.alpha(C)]
        return 0.0 - np.array([path.intercept(C) for path in self.paths]) - np.array(moved)

    def n_support(self, C: float) -> int:
        """Return the number of examples with α ≠ 0 in some pair."""
        return int(np.count_nonzero(self.alpha(C).any(axis=0)))

    def decision_function(self, X: Any, C: float) -> np.ndarray:
        """Return h(x) of each pair at C, shape (t, k(k − 1)/2), positive for the pair's first class.

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
            With a precomputed kernel or ``gram=``: shape (t, n), the kernel values with the n training examples.
        C : float
        """
        cross = self._cross(X)
        pairs = zip(self.rows, self.paths, strict=True)
        return np.column_stack([0.0 - path.decision_function(cross[:, rows], C) for rows, path in pairs])

    def predict(self, X: Any, C: float) -> np.ndarray:
        """Return the class with most votes at C, shape (t,); on a tie, the first class of the tie in `classes`."""
        return np.asarray(self.classes[OneVsOne(len(self.classes)).votes(self.decision_function(X, C))])

    def _cross(self, X: Any) -> np.ndarray:
        """Return the kernel values of rows of X with all examples, shape (t, n)."""
        return cross_values(self.gram, np.arange(self.n), X)

    # -- along the whole path ----------------------------------------------------------------------------------------

    def validation_error(self, X: Any, y: Any, sample_weight: Any = None) -> ErrorCurve:
        """Return the error on other examples as a function of C.

        The vote of a pair for an example changes where λh = 0, at a C that is as exact as the breakpoints. At each C
        where a vote changes, the method counts the votes for the example again.

        Parameters
        ----------
        X : array-like or CSR of shape (t, d)
        y : array-like of shape (t,)
            Labels, which must occur in `classes`.
        sample_weight : array-like of shape (t,), optional
            Weight of each example.

        Returns
        -------
        ErrorCurve
            The error on these examples.
        """
        cross = self._cross(X)
        codes = known_codes(y, self.classes, len(cross))
        weights = given_weights(sample_weight, len(cross))
        pairs = zip(OneVsOne(len(self.classes)).pairs, self.rows, self.paths, strict=True)
        turns = [Turns(*pair, *path.crossings(cross[:, rows])) for pair, rows, path in pairs]
        return voted_curve(turns, codes, len(self.classes), common_range(self.paths), weights, self.status)

    def kkt_audit(self, between: int = 2) -> PathAudit:
        """Return the audit of the pair whose path is farthest from optimal (`RegularizationPath.kkt_audit`)."""
        return max((path.kkt_audit(between) for path in self.paths), key=lambda audit: audit.worst)

    def to_frame(self) -> Any:
        """Return the events of all pairs as a pandas DataFrame, sorted by C; "first" and "second" name the pair."""
        pd = pandas_for("to_frame()")

        frames = []
        pairs = OneVsOne(len(self.classes)).named(self.classes)
        for (first, second), rows, path in zip(pairs, self.rows, self.paths, strict=True):
            frame = path.to_frame()
            frames.append(frame.assign(index=rows[frame["index"]], first=first, second=second))
        return pd.concat(frames).sort_values("C", kind="stable", ignore_index=True)


def common_range(paths: Sequence[RegularizationPath]) -> tuple[float, float]:
    """Return the range of C that all paths cover."""
    for path in paths:
        path.check_not_empty()
    return max(float(path.C[0]) for path in paths), min(float(path.C[-1]) for path in paths)


def has_several_classes(y: Any) -> bool:
    """Return whether y contains more than two classes, without checking y for errors."""
    try:
        labels = np.asarray(y)
    except ValueError:
        return False
    if labels.ndim != 1 or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        return False
    try:
        return len({*labels.tolist()}) > 2
    except TypeError:
        return False


def held_gram(gram: KernelMatrix, cache_mb: float) -> Gram:
    """Return the kernel matrix as an array, from which the matrices of the pairs are taken."""
    held = Gram(Precomputed(), kernel_matrix(gram, cache_mb), is_checked=True)
    held.facts = replace(held.facts, is_psd=True, kernel_error=gram.facts.kernel_error)
    return held


def one_vs_one_path(
    gram: KernelMatrix, y: Any, sample_weight: Any, cache_mb: float, *, merge: bool, time_limit: float | None,
    max_events: int | None, callback: Callable[..., object] | None, progress: Progress | None = None, **options: Any,
) -> OneVsOnePath:  # fmt: skip
    """Return the path of several classes; the arguments are as in `refsvm.regularization_path`."""
    began, limits = time.perf_counter(), PathLimits(gram.n, max_events, time_limit, callback)
    limits.progress = progress or limits.progress
    classes, codes = numbered(y, gram.n)
    weights = given_weights(sample_weight, gram.n)
    refuse_absent_class(classes, codes, weights)
    weights = np.ones(gram.n) if weights is None else weights
    gram = gram.centred
    X = getattr(source_of(gram)[0], "X", None) if merge else None
    pairs = pair_paths(
        held_gram(gram, cache_mb), X, codes, weights, limits, merge=merge, cache_mb=cache_mb, **options
    )
    with interruptible(), np.errstate(under="ignore"):
        rows, paths = zip(*pairs, strict=True)
    return OneVsOnePath(
        classes=classes, rows=rows, paths=paths, gram=gram, seconds=time.perf_counter() - began
    )


def pair_paths(
    gram: Gram,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    limits: PathLimits,
    *,
    merge: bool = True,
    alike: bool = False,
    **options: Any,
) -> Iterator[tuple[np.ndarray, RegularizationPath]]:
    """Yield the examples of each pair of classes, and the pair's path.

    Parameters
    ----------
    gram : Gram
        Result of `held_gram` for n examples.
    X : ndarray or CSR of shape (n, d), or None
        Examples, whose rows are compared to find duplicates; if X is None, kernel values are compared.
    codes, weights : ndarrays of shape (n,)
        Class numbers (−1 for examples to leave out), and factors of C.
    alike : bool
        Whether only examples of equal weights are merged.
    limits : PathLimits
        Limits on all pairs together. After a limit, or if the callback returned True, the paths of the remaining pairs
        end at once. After Ctrl-C the remaining pairs share an empty path.
    merge, **options
        As in `refsvm.regularization_path`.
    """
    ended = False

    def watch(point: Any) -> bool:
        nonlocal ended
        ended = ended or bool(limits.callback is not None and limits.callback(point))
        return ended

    pairs, empty = OneVsOne(int(codes.max()) + 1).pairs, None
    for number, (p, q) in enumerate(pairs):
        rows = np.flatnonzero((codes == p) | (codes == q))
        if empty is not None:  # after Ctrl-C, yield empty paths, because starting a path takes long
            yield rows, empty
            continue
        labels = np.where(codes[rows] == q, 1.0, -1.0)  # the second class is the positive class
        problem = DualProblem._of_labels(gram.restrict(rows), labels, weights[rows])
        merged = (
            merge_variables(problem, problem, None if X is None else X[rows], alike=alike)
            if merge
            else no_merging(problem)
        )
        problem = merged_problem(problem, merged)
        own = PathLimits(problem.n, None, limits.deadline, limits.callback and watch)
        own.most, own.part = limits.most, (number, len(pairs))
        own.progress = limits.progress or own.progress
        path = track(problem, merged=merged, limits=own, **options)
        if path.status is Status.INTERRUPTED:
            empty = replace(path, record=path.record.until(0))
        yield rows, path
