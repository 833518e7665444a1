"""All values of C and all folds of one kernel matrix."""

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
"""Splits that go from one C to the next together, two solutions of each in memory."""


@dataclass(frozen=True)
class Split:
    """Training and test examples.

    Attributes
    ----------
    number : int
    train, test : ndarrays of int64
        Numbers of the examples.
    factors : ndarray of shape (n,), float64
        Factor of C for each example, or variable; 0 for those that are not trained on.
    test_weights : ndarray, float64
        Weight of each example of the test set in the score.
    weight : float
        Weight of the split in the mean over all splits: 1, or that of its example, where each of them tests one.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    factors: np.ndarray
    test_weights: np.ndarray
    weight: float = 1.0

    @cached_property
    def total(self) -> float:
        """Sum of these weights."""
        return float(self.test_weights.sum())


class Cell(NamedTuple):
    """One value of C on one split.

    Attributes
    ----------
    split, place : int
        Number of the split, and of the value of C.
    score : float, or dict of str to float
        Part of the test set that is predicted rightly, R² of a regression, or the score asked for; several by name.
    iterations : int
        Steps of all machines.
    fit_seconds, score_seconds : float
        Time to seed and solve; time to read off the predictions and compare them.
    converged : bool
        Whether all machines are solved to the tolerance.
    """

    split: int
    place: int
    score: float | dict[str, float]
    iterations: int
    fit_seconds: float
    score_seconds: float
    converged: bool


Score = Callable[[Split, int, np.ndarray], float | dict[str, float]]
"""A score of a split, a place in `Cs` and the decision values of the test examples, shape (t, machines)."""


def usual_score(task: Task, split: Split, place: int, values: np.ndarray) -> float:
    """Return the weighted share of right predictions; of a regression R² as scikit-learn has it, NaN of one example."""
    labels, weights = task.labels[split.test], split.test_weights
    if task.kind != REGRESSION:
        return float((task.scheme.votes(values) == task.codes[split.test]) @ weights) / split.total
    counts = weights > 0.0
    labels, weights, predicted = labels[counts], weights[counts], values[counts, 0]
    if len(labels) < 2:
        return float("nan")
    score = r_squared(labels, predicted, weights)
    # of equal targets there is nothing to explain: all is right, or nothing
    return score if np.isfinite(score) else float((labels == predicted).all())


def left_out_score(
    task: Task, split: Split, place: int, values: np.ndarray, weights: np.ndarray | None = None
) -> float:
    """Return the part of one example of a regression in R², so that the weighted mean over all of them is R²."""
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
    """Solve every wanted value of C on every split, each from the one before it in the same split.

    Where no seeder is named, a cell is seeded by `ActiveSet`, and moved on as the split before it has moved
    (`refsvm.core.seeders.neighbour.extrapolate`).

    Parameters
    ----------
    task : Task
        Classification or regression, with C = 1 and a kernel matrix of all n examples, computed once for all cells.
    Cs : ndarray of float64, ascending
    splits : sequence of Split
    wanted : sequence of sequences of int
        For each split the places in `Cs` to be solved.
    seeder : Seeder, optional
        From one value of C to the next, and nothing else.
    score : callable, optional
        `usual_score` by default.
    **options
        Of `refsvm.Rounds`.

    Yields
    ------
    Cell
        C rising, at each C split after split; many splits in groups.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; what was yielded before that is complete.

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
        options.setdefault("cache_dtype", "float32")  # no copies in double precision
    machines = [Rounds(each.problem, **options) for each in task.machines()]
    if COPIES[task.kind] > 1:  # one factor for each variable
        splits = [replace(split, factors=np.tile(split.factors, COPIES[task.kind])) for split in splits]
    with interruptible():
        # each split keeps two solutions, α and G: of thousands of splits they would not fit into memory
        for first in range(0, len(splits), FOLDS_AT_ONCE):
            group = splits[first : first + FOLDS_AT_ONCE]
            turns = planned(group, wanted[first:], Cs, rule, neighbours=seeder is None)
            runs = rounds_of(machines, [turn for *_, turn in turns], rule)
            for ended, (split, place, _) in zip(runs, turns, strict=False):
                yield scored(split, place, ended, score)
            if any(each.status is Status.INTERRUPTED for each in machines):
                raise KeyboardInterrupt
            # the next group starts from none of these
            for each in machines:
                each.solutions.clear()


def rounds_of(
    pairs: Sequence[Rounds], plan: Sequence[Round], seeder: Seeder
) -> Iterator[tuple[RoundResult, ...]]:
    """Yield the results of each round, of all pairs of classes; at the end all of them look at what rounding does."""
    runs = [pair.run(plan, seeder) for pair in pairs]
    yield from zip(*runs, strict=False)
    # the end of the first has ended this; the others have yet to reach theirs
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
    """Score every wanted value of C on splits that leave out one example each: `refsvm.leave_one_out`.

    Parameters
    ----------
    task, Cs, wanted
        As in `solve_cells`.
    splits : sequence of Split
        Of one test example each, all with the same factors of the examples that they train on.
    score : callable, optional
        Of classes only whether the prediction is right, by default: decision values are known by their sign.
    epsilon, checks
        As of `refsvm.leave_one_out`.
    **options
        Of `refsvm.Rounds`.

    Yields
    ------
    Cell
        C rising, at each C split after split. The seconds of one C are shared among its cells; the steps of its full
        solutions stand with the first.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; what was yielded before that is complete.

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
        # counted once: the steps on all examples serve all of these cells
        steps[0] += sum(each.iterations for each in loo.full_solutions)
        converged = loo.is_solved[test].tolist()
        seconds = loo.seconds / len(splits)
        found = zip(splits, wanted, steps.tolist(), converged, strict=True)
        for split, places, count, is_solved in found:
            if place in places:
                r = split.test
                result = float(right[r[0]]) if score is None else score(split, place, values[r])
                yield Cell(split.number, place, result, count, seconds, 0.0, is_solved)


def planned(
    splits: Sequence[Split], wanted: Sequence[Sequence[int]], Cs: np.ndarray, seeder: Seeder, neighbours: bool
) -> list[tuple[Split, int, Round]]:
    """Return which cells are solved, in order, and their rounds: all splits at one C, then at the next.

    Each starts from the last C of the same split, and from what happened since in the split before it. A split keeps
    its solutions at the last two C that were wanted there, by its number and the parity of their count.

    Parameters
    ----------
    splits : sequence of Split
    wanted, Cs, seeder
        As in `solve_cells`.
    neighbours : bool
        Whether other splits are looked at.

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
    solved: dict[int, list[int]] = {split.number: [] for split in splits}  # places in Cs

    def name(number: int, back: int) -> tuple[int, int]:
        """Return the name of the next solution of a split, of its latest (−1) or of that before (−2)."""
        return number, (len(solved[number]) + back) % 2

    for place in sorted({place for _, places in zip(splits, wanted, strict=False) for place in places}):
        neighbour: int | None = None
        for split, places in zip(splits, wanted, strict=False):
            if place not in places:
                continue
            number, mine = split.number, solved[split.number]
            # a cold start has no origin, so that its rounds may run in any order
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
    """Return a cell from the rounds of all machines."""
    began = time.perf_counter()
    result = score(split, place, np.array([each.values for each in ended]).T)
    steps = sum(each.iterations for each in ended)
    seconds = sum(each.seed_seconds + each.solve_seconds for each in ended)
    converged = all(each.status is Status.CONVERGED for each in ended)
    return Cell(split.number, place, result, steps, seconds, time.perf_counter() - began, converged)
