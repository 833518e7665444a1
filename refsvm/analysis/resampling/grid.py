"""Solves all values of C on all splits of a grid search, over one kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.resampling.leave_one_out import result_of, run_leave_one_out
from refsvm.analysis.resampling.scores import r_squared, variance
from refsvm.analysis.resampling.task import Task, task_given
from refsvm.core.engine.limits import interruptible
from refsvm.core.result import Status
from refsvm.core.rounds.machine import COPIES, REGRESSION
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.sufficiency import CHECKS
from refsvm.core.seeders import ActiveSet, Cold, Seeder
from refsvm.core.solver.options import RunOptions

FOLDS_AT_ONCE: Final = 16
"""Number of splits that advance from one C to the next together; each keeps two solutions in memory."""


@dataclass(frozen=True)
class Split:
    """The training and the test examples of one split.

    Attributes
    ----------
    number : int
        Index of the split.
    train, test : ndarrays of int64
        Indices of the examples.
    factors : ndarray of shape (n,), float64
        Factor of C for each example (or variable); 0 for examples that the split does not train on.
    test_weights : ndarray, float64
        Weight of each test example in the score.
    weight : float
        Weight of the split in the mean over all splits: 1, or the weight of its test example if every split tests a
        single example.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    factors: np.ndarray
    test_weights: np.ndarray
    weight: float = 1.0

    @cached_property
    def total(self) -> float:
        """Sum of the test weights."""
        return float(self.test_weights.sum())


class Cell(NamedTuple):
    """The result for one value of C on one split.

    Attributes
    ----------
    split, place : int
        Index of the split, and index of the value of C.
    score : float, or dict of str to float
        Share of correct predictions, R² of a regression, or the user's score; with several scores a dictionary by
        name.
    iterations : int
        Number of steps, over all machines.
    fit_seconds, score_seconds : float
        Time to make the starting points and run the rounds, and time to compute predictions and scores.
    converged : bool
        Whether all machines were solved to the tolerance.
    """

    split: int
    place: int
    score: float | dict[str, float]
    iterations: int
    fit_seconds: float
    score_seconds: float
    converged: bool


Score = Callable[[Split, int, np.ndarray], float | dict[str, float]]
"""Computes a score from a split, an index of `Cs` and the test examples' decision values (t, machines)."""


def usual_score(task: Task, split: Split, place: int, values: np.ndarray) -> float:
    """Return the weighted share of correct predictions; for a regression R² as in scikit-learn, NaN for one example."""
    labels, weights = task.labels[split.test], split.test_weights
    if task.kind != REGRESSION:
        return float((task.scheme.votes(values) == task.codes[split.test]) @ weights) / split.total
    counts = weights > 0.0
    labels, weights, predicted = labels[counts], weights[counts], values[counts, 0]
    if len(labels) < 2:
        return float("nan")
    score = r_squared(labels, predicted, weights)
    # if all targets are equal, R² is 1 if all predictions are exact, and 0 otherwise
    return score if np.isfinite(score) else float((labels == predicted).all())


def left_out_score(
    task: Task, split: Split, place: int, values: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return one example's share of the R² of a regression; R² is the weighted mean of the shares."""
    spread = variance(task.labels, weights)
    residual = float(task.labels[split.test[0]] - values[0, 0])
    return 1.0 - residual**2 / spread if spread > 0.0 else float(residual == 0.0)


def solve_cells(
    task: Task,
    Cs: np.ndarray,
    splits: Sequence[Split],
    wanted: Sequence[Sequence[int]],
    seeder: Seeder | None = None,
    score: Score | None = None,
    **options: Any,
) -> Iterator[Cell]:
    """Solve every wanted C on every split, starting from the solution for the previous C on the same split.

    By default, `ActiveSet` makes the starting points of the first split. On each later split,
    `refsvm.core.seeders.neighbour.extrapolate` adds to the solution for the previous C the change of α from the
    previous C to this C on the previous split.

    Parameters
    ----------
    task : Task
        Classification or regression with C = 1, and a kernel matrix of all n examples that all cells share.
    Cs : ndarray of float64, ascending
        Values of C.
    splits : sequence of Split
        The splits.
    wanted : sequence of sequences of int
        For each split, the indices in `Cs` of the values of C to solve.
    seeder : Seeder, optional
        Rule that makes the starting point for one C from the solution for the previous C on the same split.
    score : callable, optional
        Function that scores a cell, by default `usual_score`.
    **options
        Options of `refsvm.Rounds`.

    Yields
    ------
    Cell
        Cells ordered by C and then by split; many splits are divided into groups, which are solved one after another.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; all cells yielded before are complete.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF
    >>> from refsvm.datasets import load
    >>> from refsvm.analysis.resampling.grid import Split, solve_cells
    >>> from refsvm.analysis.resampling.task import task_given
    >>> heart = load("heart")
    >>> i = np.arange(heart.n)
    >>> split = Split(0, i[i % 5 > 0], i[i % 5 == 0], (i % 5 > 0) * 1.0, np.ones(54))
    >>> task = task_given(heart.X, heart.y, RBF(0.005), None)
    >>> cells = solve_cells(task, np.array([1.0, 10.0]), [split], [[0, 1]])
    >>> [round(cell.score, 1) for cell in cells]
    [0.8, 0.8]
    """
    seeder = None if seeder is None else Seeder.checked("seeder", seeder)
    rule, gram = ActiveSet() if seeder is None else seeder, task.gram
    score = partial(usual_score, task) if score is None else score
    is_float32 = gram.dense is not None and gram.dense.dtype == np.float32
    if is_float32 and not rule.reads_rows:
        options.setdefault("cache_dtype", "float32")  # keep kernel rows in float32, without float64 copies
    machines = [Rounds(each.problem, **options) for each in task.machines()]
    if COPIES[task.kind] > 1:  # in a regression, each example has two variables
        splits = [replace(split, factors=np.tile(split.factors, COPIES[task.kind])) for split in splits]
    with interruptible(), np.errstate(under="ignore"):
        # solve a few splits at a time, because the solutions of all splits would fill the memory
        for first in range(0, len(splits), FOLDS_AT_ONCE):
            group = splits[first : first + FOLDS_AT_ONCE]
            turns = planned(group, wanted[first:], Cs, rule, neighbours=seeder is None)
            runs = rounds_of(machines, [turn for *_, turn in turns], rule)
            for ended, (split, place, _) in zip(runs, turns, strict=False):
                yield scored(split, place, ended, score)
            if any(each.status is Status.INTERRUPTED for each in machines):
                raise KeyboardInterrupt
            # drop the solutions of this group of splits, because the next group does not start from them
            for each in machines:
                each.solutions.clear()


def rounds_of(
    pairs: Sequence[Rounds], plan: Sequence[Round], seeder: Seeder
) -> Iterator[tuple[RoundResult, ...]]:
    """For each round, yield the results of all pairs of classes; then check all pairs for rounding errors."""
    runs = [pair.run(plan, seeder) for pair in pairs]
    yield from zip(*runs, strict=False)
    # run every iterator to its end, because `zip` stops when the first iterator ends
    if all(pair.status is Status.CONVERGED for pair in pairs):
        for each in runs:
            next(each, None)


def left_out_cells(
    task: Task,
    Cs: np.ndarray,
    splits: Sequence[Split],
    wanted: Sequence[Sequence[int]],
    score: Score | None = None,
    epsilon: float | None = None,
    checks: Any = CHECKS,
    **options: Any,
) -> Iterator[Cell]:
    """Score every wanted value of C on splits that leave out one example each, using `refsvm.leave_one_out`.

    Parameters
    ----------
    task, Cs, wanted
        As in `solve_cells`.
    splits : sequence of Split
        Splits with one test example each; an example has the same factor in all splits that train on it.
    score : callable, optional
        Function that scores a cell. In classification, `score` may use only the sign of the decision values.
    epsilon, checks
        As in `refsvm.leave_one_out`.
    **options
        Options of `refsvm.Rounds`.

    Yields
    ------
    Cell
        Cells in ascending order of C, and at each C in the order of the splits. The seconds for one C are divided
        equally among its cells; the steps of the full solution are counted in the first cell.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; all cells yielded before are complete.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.resampling.grid import Split, left_out_cells
    >>> from refsvm.analysis.resampling.task import task_given
    >>> task, i = task_given([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1], None, None), np.arange(4)
    >>> splits = [Split(k, i[i != k], i[i == k], (i != k) * 1.0, np.ones(1)) for k in range(4)]
    >>> cells = left_out_cells(task, np.array([10.0]), splits, [[0]] * 4)
    >>> [cell.score for cell in cells]
    [1.0, 1.0, 1.0, 1.0]
    """
    test = np.concatenate([split.test for split in splits])
    factors = np.maximum(splits[0].factors, splits[1].factors)
    for place in sorted({place for places in wanted for place in places}):
        weighted = task_given(None, task.labels, None, task.gram, Cs[place] * factors, epsilon=epsilon)
        loo = result_of(run_leave_one_out(weighted, RunOptions(**options), checks=checks))
        if loo.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        right, values = loo.predictions == task.labels, loo.decision_values.reshape(len(task.labels), -1)
        steps = loo.round_iterations[test]
        # count the steps of the full solution in one cell, because all cells of this C use the same full solution
        steps[0] += sum(each.iterations for each in loo.full_solutions)
        converged = loo.is_solved[test].tolist()
        seconds = loo.seconds / len(splits)
        results = zip(splits, wanted, steps.tolist(), converged, strict=True)
        for split, places, count, is_solved in results:
            if place in places:
                r = split.test
                result = float(right[r[0]]) if score is None else score(split, place, values[r])
                yield Cell(split.number, place, result, count, seconds, 0.0, is_solved)


def planned(
    splits: Sequence[Split], wanted: Sequence[Sequence[int]], Cs: np.ndarray, seeder: Seeder, neighbours: bool
) -> list[tuple[Split, int, Round]]:
    """Return the cells with their rounds in the order of solving: all splits at one C, then all splits at the next C.

    A cell starts from the solution for the previous C on the same split, shifted by the change that the previous split
    showed between the two values of C. Each split keeps its solutions for the two values of C that were solved last.
    A solution's key is the number of its split, and the parity of the number of earlier solutions on this split.

    Parameters
    ----------
    splits : sequence of Split
    wanted, Cs, seeder
        As in `solve_cells`.
    neighbours : bool
        Whether to shift the starting point by the change on the previous split.

    Returns
    -------
    list of (Split, place in Cs, Round)

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import ActiveSet
    >>> from refsvm.analysis.resampling.grid import Split, planned
    >>> i = np.arange(4)
    >>> splits = [Split(k, i[i % 2 != k], i[i % 2 == k], (i % 2 != k) * 1.0, np.ones(2)) for k in (0, 1)]
    >>> turns = planned(splits, [[0, 1], [0, 1]], np.array([1.0, 10.0]), ActiveSet(), neighbours=True)
    >>> [(split.number, place, each.origin, each.neighbour) for split, place, each in turns[1:]]
    [(1, 0, None, (None, (0, 0))), (0, 1, (0, 0), None), (1, 1, (1, 0), ((0, 0), (0, 1)))]
    """
    turns: list[tuple[Split, int, Round]] = []
    solved: dict[int, list[int]] = {split.number: [] for split in splits}  # indices of Cs

    def name(number: int, back: int) -> tuple[int, int]:
        """Return the key of a split's next solution (back=0), last solution (−1) or second last solution (−2)."""
        return number, (len(solved[number]) + back) % 2

    for place in sorted({place for _, places in zip(splits, wanted, strict=False) for place in places}):
        neighbour: int | None = None
        for split, places in zip(splits, wanted, strict=False):
            if place not in places:
                continue
            number, mine = split.number, solved[split.number]
            # name no earlier round for a cold start, so that workers may run rounds with cold starts in any order
            origin = name(number, -1) if mine and not isinstance(seeder, Cold) else None
            beside = None
            if neighbour is not None and neighbours:
                before = mine and solved[neighbour][-2:-1] == mine[-1:]
                beside = name(neighbour, -2) if before else None, name(neighbour, -1)
            each = Round(None, origin, name(number, 0), Cs[place], split.factors, beside, split.test)
            turns.append((split, place, each))
            mine.append(place)
            neighbour = number
    return turns


def scored(split: Split, place: int, ended: Sequence[RoundResult], score: Score) -> Cell:
    """Return the cell of one C and one split from the results of the rounds of all machines."""
    began = time.perf_counter()
    result = score(split, place, np.array([each.values for each in ended]).T)
    steps = sum(each.iterations for each in ended)
    seconds = sum(each.seed_seconds + each.solve_seconds for each in ended)
    converged = all(each.status is Status.CONVERGED for each in ended)
    return Cell(split.number, place, result, steps, seconds, time.perf_counter() - began, converged)
