"""Votes of pairs of classes along C: the error as a step function, from where each pair changes sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from refsvm.analysis.paths.error_curve import ErrorCurve, curve_of_changes
from refsvm.analysis.resampling.weights import steps_of
from refsvm.core.result import Status


class Turns(NamedTuple):
    """Decisions of one pair of classes on t examples along C.

    Attributes
    ----------
    first, second : int
        Numbers of the classes.
    said : ndarray of shape (t,), bool
        Whether the vote is for the second class at the least C.
    at, example, up : ndarrays of shape (e,)
        For each change C, the example, and whether the vote is for the second class from there on.
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
    """Return the error of the class with the most votes as a function of C, the first class on a tie.

    Parameters
    ----------
    turns : sequence of Turns
        Of the pairs that vote.
    codes : ndarray of shape (t,), int
        The true class of each example.
    k : int
        Number of classes.
    ends : (float, float)
        The range of C.
    weights : ndarray of shape (t,), optional
        How often each example counts.
    status : Status
        Of the paths of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.paths.voted import Turns, voted_curve
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


def voted_curves(
    turns: Sequence[Turns], codes: np.ndarray, k: int, ends: tuple[float, float],
    weights: np.ndarray | None = None, status: Status = Status.CONVERGED,
) -> list[ErrorCurve]:  # fmt: skip
    """Return the error on each example, 0 or its weight, as a function of C; arguments as of `voted_curve`."""
    start, at, index, change = _changes(turns, codes, k)
    counts = steps_of(weights, len(codes))
    parts = np.searchsorted(index, np.arange(len(codes) + 1)).tolist()
    return [
        curve_of_changes(ends, wrong * count, at[first:last], change[first:last] * count, count, status)
        for wrong, count, first, last in zip(
            start.tolist(), counts.tolist(), parts[:-1], parts[1:], strict=True
        )
    ]


def _changes(
    turns: Sequence[Turns], codes: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return which examples are wrong at the least C; then each C, the example and the change of its error there."""
    t, every = len(codes), np.arange(len(codes))
    count = np.zeros((t, k), dtype=np.int64)
    for turn in turns:
        count[every, np.where(turn.said, turn.second, turn.first)] += 1
    at, index = (np.concatenate([each[place] for each in turns]) for place in (3, 4))
    # a vote goes from one class of its pair to the other
    gains, loses = (
        np.concatenate([np.where(each.up, each[place], each[1 - place]) for each in turns])
        for place in (1, 0)
    )
    order = np.lexsort((at, index))
    at, index, gains, loses = at[order], index[order].astype(np.int64), gains[order], loses[order]
    change = np.zeros((len(at), k), dtype=np.int64)
    np.add.at(change, (np.arange(len(at)), gains), 1)
    np.add.at(change, (np.arange(len(at)), loses), -1)
    # the votes of an example after each of its changes
    total = np.vstack([np.zeros((1, k), dtype=np.int64), change.cumsum(axis=0)])
    first = np.searchsorted(index, every)
    after = count[index] + total[1:] - total[first[index]]
    wrong = np.concatenate([count.argmax(axis=1) != codes, after.argmax(axis=1) != codes[index]])
    # changes of one example at the same C are one
    is_last = np.append((index[1:] != index[:-1]) | (at[1:] != at[:-1]), True)[: len(at)]
    at, index, wrong_after = at[is_last], index[is_last], wrong[t:][is_last]
    begins = np.append(True, index[1:] != index[:-1])[: len(at)]
    before = np.where(begins, wrong[index], np.append(False, wrong_after[:-1])[: len(at)])
    return wrong[:t], at, index, wrong_after.astype(np.int64) - before
