"""ErrorCurve: the number of errors, or their total weight, as a step function of C."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from refsvm.analysis.resampling.weights import given_weights, steps_of
from refsvm.core.engine.unsolved import warn
from refsvm.core.kernels.checked import examples_like
from refsvm.core.paths.path import RegularizationPath
from refsvm.core.result import Status
from refsvm.services.labels import known_codes
from refsvm.services.summary import Card, Shown, counted


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurve(Shown):
    """The error on some examples as a step function of C; its jumps are as exact as the breakpoints of the path.

    Parameters
    ----------
    C : ndarray of shape (k + 1,)
        Ends of the steps, ascending.
    errors : ndarray of shape (k,), int64 or float64
        Number of errors for C between two ends; for weighted examples, the total weight of the wrong predictions.
    count : int or float
        Number of examples, or the sum of their weights.
    status : Status
        CONVERGED if the path reached its end, otherwise the reason why it ended early.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.paths import ErrorCurve
    >>> curve = ErrorCurve(np.array([0.1, 1.0, 10.0]), np.array([4, 3]), 20)
    >>> curve.at(0.5), curve.at(2.0), curve.best()
    (0.2, 0.15, (1.0, 10.0, 0.15))
    """

    C: np.ndarray
    errors: np.ndarray
    count: float
    status: Status = Status.CONVERGED

    def _card(self) -> Card:
        low, high, error = self._best()
        line = f"least error {error:.4f}, for C from {low:.6g} to {high:.6g}; {counted(len(self.errors), 'step')}"
        pairs = {
            "least error": f"{error:.4f}", "for C": f"{low:.6g} to {high:.6g}", "steps": f"{len(self.errors):,}",
            "examples": f"{self.count:,.6g}", "C of the path": f"{self.C[0]:.6g} to {self.C[-1]:.6g}",
        }  # fmt: skip
        ended = "" if self.status is Status.CONVERGED else f", {self.status.name}"
        return Card(line + ended, f"{error:.4f}", f"least error, for C from {low:.6g} to {high:.6g}{ended}",
                       bool(ended), pairs)  # fmt: skip

    @property
    def error(self) -> np.ndarray:
        """Share of errors on each step, shape (k,); NaN if all weights are 0."""
        return self.errors / self.count if self.count else np.full(len(self.errors), np.nan)

    def at(self, C: Any) -> Any:
        """Return the share of errors at C: a float for a number C, or an array of the shape of an array C.

        Raises
        ------
        ValueError
            If a C lies outside the path.
        """
        values = np.asarray(C, dtype=np.float64)
        if not ((values >= self.C[0]) & (values <= self.C[-1])).all():
            raise ValueError(
                f"C={C!r} is outside of the path; give C from {self.C[0]:.6g} to {self.C[-1]:.6g}."
            )
        errors = self.error[self._steps(values)]
        return float(errors) if errors.ndim == 0 else errors

    def _steps(self, C: np.ndarray) -> np.ndarray:
        """Return, for each C, the index of the step of the curve on which C lies."""
        return np.clip(self.C.searchsorted(C, side="right") - 1, 0, len(self.errors) - 1)

    def best(self) -> tuple[float, float, float]:
        """Return the ends of the interval of C with the least error, and the least error.

        If several intervals have the least error, `best` chooses the widest in log C, and among equally wide intervals
        the first.

        Warns
        -----
        ConvergenceWarning
            If the path ended early, because the error may be smaller on the missing part of the path.
        """
        if self.status is not Status.CONVERGED:
            warn(
                f"The path ended early, at C={self.C[-1]:.6g} ({self.status.name}), and the error "
                "may be smaller at larger C. Allow more time or events, or shorten the range."
            )
        return self._best()

    def _best(self) -> tuple[float, float, float]:
        """Return the result of `best` without a warning."""
        least = self.errors == self.errors.min()
        begins = np.flatnonzero(least & ~np.append(False, least[:-1]))
        ends = np.flatnonzero(least & ~np.append(least[1:], False)) + 1
        widths = np.log(self.C[ends]) - np.log(self.C[begins])
        widest = int(widths.argmax())
        return float(self.C[begins[widest]]), float(self.C[ends[widest]]), float(self.error.min())

    @staticmethod
    def total(curves: Sequence[ErrorCurve]) -> ErrorCurve:
        """Return the sum of the errors of several curves, on the range of C that all curves cover.

        Raises
        ------
        ValueError
            If there is no curve, or the curves have no common range of C.

        Examples
        --------
        >>> import numpy as np
        >>> from refsvm.analysis.paths import ErrorCurve
        >>> one = ErrorCurve(np.array([1.0, 3.0]), np.array([1]), 5)
        >>> two = ErrorCurve(np.array([1.0, 2.0, 3.0]), np.array([2, 0]), 5)
        >>> ErrorCurve.total([one, two]).error
        array([0.3, 0.1])
        """
        if not curves:
            raise ValueError("curves is empty; give at least one ErrorCurve.")
        first, last = max(curve.C[0] for curve in curves), min(curve.C[-1] for curve in curves)
        if not first < last:
            raise ValueError(
                f"The curves have no common range of C: one curve begins at {first:.6g}, another curve ends at "
                f"{last:.6g}; track all paths over the same range."
            )
        start = sum(curve.errors[curve._steps(first)].item() for curve in curves)
        at, change = [], []
        for curve in curves:
            inside = (curve.C[1:-1] > first) & (curve.C[1:-1] < last)
            at.append(curve.C[1:-1][inside])
            change.append(np.diff(curve.errors)[inside])
        count = sum(curve.count for curve in curves)
        status = first_unfinished(curve.status for curve in curves)
        return curve_of_changes(
            (first, last), start, np.concatenate(at), np.concatenate(change), count, status
        )


def first_unfinished(ends: Iterable[Status]) -> Status:
    """Return the status of the first path that does not reach its end; CONVERGED if all paths reach their ends."""
    return next((each for each in ends if each is not Status.CONVERGED), Status.CONVERGED)


def curve_of_changes(
    ends: tuple[float, float], errors: float, at: np.ndarray, change: np.ndarray, count: float,
    status: Status = Status.CONVERGED,
) -> ErrorCurve:  # fmt: skip
    """Return the step function that starts with `errors` and changes by `change` at each C in `at`.

    The changes are whole numbers, or weights whose sums have no rounding error
    (`refsvm.analysis.resampling.weights.in_exact_steps`), so that equal errors have exactly equal values.
    """
    order = at.argsort(kind="stable")
    places, where = np.unique(at[order], return_inverse=True)
    kind = np.int64 if isinstance(errors, int) and change.dtype.kind == "i" else np.float64
    jumps = np.bincount(where, weights=change[order], minlength=len(places)).astype(kind)
    changes = (jumps != 0) & (places > ends[0]) & (places < ends[1])
    errors += jumps[places <= ends[0]].sum().item()
    steps = errors + np.append(0, np.cumsum(jumps[changes]))
    return ErrorCurve(np.concatenate([[ends[0]], places[changes], [ends[1]]]), steps, count, status)


class Turns(NamedTuple):
    """The votes of one pair of classes for t examples, as functions of C.

    Attributes
    ----------
    first, second : int
        Class numbers of the pair.
    said : ndarray of shape (t,), bool
        For each example, whether the vote at the smallest C is for the second class.
    at, example, up : ndarrays of shape (e,)
        For each change of a vote: the C at which it changes, the example, and whether the vote is for the second class
        after the change.
    """

    first: int
    second: int
    said: np.ndarray
    at: np.ndarray
    example: np.ndarray
    up: np.ndarray


def voted_curve(
    turns: Sequence[Turns], codes: np.ndarray, k: int, ends: tuple[float, float],
    weights: np.ndarray | None = None, status: Status = Status.CONVERGED,
) -> ErrorCurve:  # fmt: skip
    """Return the error of the pairs' votes as a function of C; on a tie of classes the first class wins.

    Parameters
    ----------
    turns : sequence of Turns
        The pairs that vote.
    codes : ndarray of shape (t,), int
        The true class of each example.
    k : int
        Number of classes.
    ends : (float, float)
        The range of C.
    weights : ndarray of shape (t,), optional
        Weight of each example.
    status : Status
        Status of the pairs' paths.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.paths.error_curve import Turns, voted_curve
    >>> none = np.zeros(0)
    >>> turns = [
    ...     Turns(0, 1, np.array([False]), np.array([2.0]), np.array([0]), np.array([True])),
    ...     Turns(0, 2, np.array([False]), none, none.astype(int), none.astype(bool)),
    ...     Turns(1, 2, np.array([False]), none, none.astype(int), none.astype(bool)),
    ... ]
    >>> curve = voted_curve(turns, np.array([1]), 3, (1.0, 10.0))
    >>> curve.C, curve.error
    (array([ 1.,  2., 10.]), array([1., 0.]))
    """
    start, at, index, change = _changes(turns, codes, k)
    counts = steps_of(weights, len(codes))
    errors, total = counts[start].sum().item(), counts.sum().item()
    return curve_of_changes(ends, errors, at, change * counts[index], total, status)


def _changes(
    turns: Sequence[Turns], codes: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return which predictions are wrong at the least C, and each changed vote's C, example and change of the error."""
    t, every = len(codes), np.arange(len(codes))
    count = np.zeros((t, k), dtype=np.int64)
    for turn in turns:
        count[every, np.where(turn.said, turn.second, turn.first)] += 1
    at, index = (np.concatenate([each[place] for each in turns]) for place in (3, 4))
    # at each change, one class of the pair gains the vote that the other class loses
    gains, loses = (
        np.concatenate([np.where(each.up, each[place], each[1 - place]) for each in turns])
        for place in (1, 0)
    )
    order = np.lexsort((at, index))
    at, index, gains, loses = at[order], index[order].astype(np.int64), gains[order], loses[order]
    change = np.zeros((len(at), k), dtype=np.int64)
    np.add.at(change, (np.arange(len(at)), gains), 1)
    np.add.at(change, (np.arange(len(at)), loses), -1)
    # count the votes for an example after each changed vote
    total = np.vstack([np.zeros((1, k), dtype=np.int64), change.cumsum(axis=0)])
    first = np.searchsorted(index, every)
    after = count[index] + total[1:] - total[first[index]]
    wrong = np.concatenate([count.argmax(axis=1) != codes, after.argmax(axis=1) != codes[index]])
    # if several votes for an example change at the same C, keep the counts after the last change
    is_last = np.append((index[1:] != index[:-1]) | (at[1:] != at[:-1]), True)[: len(at)]
    at, index, wrong_after = at[is_last], index[is_last], wrong[t:][is_last]
    begins = np.append(True, index[1:] != index[:-1])[: len(at)]
    before = np.where(begins, wrong[index], np.append(False, wrong_after[:-1])[: len(at)])
    return wrong[:t], at, index, wrong_after.astype(np.int64) - before


def validation_error(path: RegularizationPath, X: Any, y: Any, sample_weight: Any = None) -> ErrorCurve:
    """Return the error on the examples X, y as a function of C.

    Between breakpoints λh is linear in λ = 1/C, so each C at which a prediction changes is as exact as the breakpoints.

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
        The error on the examples of X.
    """
    if not path.problem.has_labels:
        raise ValueError(
            "An error curve counts wrong labels, but this is the path of a regression; use decision_function."
        )
    X = examples_like(path.problem.gram, X)
    codes, turns = known_codes(y, path.classes, X.shape[0]), [Turns(0, 1, *path.crossings(X))]
    weights, ends = given_weights(sample_weight, len(codes)), (float(path.C[0]), float(path.C[-1]))
    return voted_curve(turns, codes, 2, ends, weights, path.status)


RegularizationPath.validation_error = validation_error
