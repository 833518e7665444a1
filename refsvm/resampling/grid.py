"""All values of C and all folds of one kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.kernels.gram import KernelMatrix
from refsvm.multiclass.prediction import votes
from refsvm.resampling.family import pair_problems
from refsvm.resampling.sequence import PLAN, Ended, RoundSequence
from refsvm.result import Status
from refsvm.seeders.active_set import ActiveSet
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold

__all__ = ["Cell", "Split", "planned", "solve_cells"]

FOLDS_AT_ONCE: Final = 16
"""Splits that go from one C to the next together, two solutions of each in memory."""


@dataclass(frozen=True)
class Split:
    """Who is trained on and who is tested.

    Attributes
    ----------
    number : int
    train, test : ndarrays of int64
        Numbers of the examples.
    factors : ndarray of shape (n,), float64
        What C is multiplied by for each example; 0 for those that are not trained on.
    test_weights : ndarray, float64
        What each example of the test set counts in the score.
    """

    number: int
    train: np.ndarray
    test: np.ndarray
    factors: np.ndarray
    test_weights: np.ndarray


@dataclass(frozen=True)
class Cell:
    """One value of C on one split.

    Attributes
    ----------
    split, place : int
        Number of the split, and of the value of C.
    score : float
        Part of the test set that is predicted rightly.
    iterations : int
        Steps of all pairs of classes.
    fit_seconds, score_seconds : float
        Time to seed and solve; time to read off the predictions and compare them.
    converged : bool
        Whether all pairs are solved to the tolerance.
    """

    split: int
    place: int
    score: float
    iterations: int
    fit_seconds: float
    score_seconds: float
    converged: bool


def solve_cells(
    gram: KernelMatrix,
    codes: np.ndarray,
    Cs: np.ndarray,
    splits: Sequence[Split],
    wanted: Sequence[Sequence[int]],
    seeder: Seeder | None = None,
    **options: Any,
) -> Iterator[Cell]:
    """Solve every wanted value of C on every split, each from the one before it in the same split.

    Where no seeder is named, a cell is seeded by `ActiveSet`, and moved on as the split before it has moved
    (`refsvm.seeders.neighbour.as_the_neighbour`).

    Parameters
    ----------
    gram : KernelMatrix
        Of all n examples; computed once for all cells.
    codes : ndarray of shape (n,), int
        Class numbers.
    Cs : ndarray of float64, ascending
    splits : sequence of Split
    wanted : sequence of sequences of int
        For each split the places in `Cs` to be solved.
    seeder : Seeder, optional
        From one value of C to the next, and nothing else.
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
    >>> from refsvm import RBF, DualProblem
    >>> from refsvm.datasets import load
    >>> from refsvm.resampling.grid import Split, solve_cells
    >>> heart = load("heart")
    >>> gram = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005)).gram
    >>> i = np.arange(heart.n)
    >>> split = Split(0, i[i % 5 > 0], i[i % 5 == 0], (i % 5 > 0) * 1.0, np.ones(54))
    >>> cells = solve_cells(gram, (heart.y > 0).astype(int), np.array([1.0, 10.0]), [split], [[0, 1]])
    >>> [round(cell.score, 1) for cell in cells]
    [0.8, 0.8]
    """
    rule = ActiveSet() if seeder is None else seeder
    k = int(codes.max()) + 1
    factors = np.array([split.factors for split in splits])
    width = min(len(splits), FOLDS_AT_ONCE)
    pairs = [
        RoundSequence(problem, factors, rule, 2 * width, **options)
        for problem in pair_problems(gram, codes, np.ones(len(codes)))
    ]
    for first in range(0, len(splits), width):
        chosen = range(first, min(first + width, len(splits)))
        turns, plan = planned(chosen, wanted, Cs, rule, neighbours=seeder is None)
        runs = zip(*(pair.run(plan) for pair in pairs), strict=True)
        for (number, place), ended in zip(turns, runs, strict=True):
            yield scored(splits[number], place, ended, codes, k)
    for pair in pairs:
        pair.close()


def planned(
    chosen: Sequence[int],
    wanted: Sequence[Sequence[int]],
    Cs: np.ndarray,
    seeder: Seeder,
    neighbours: bool,
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return which cells are solved, in order, and the plan of their rounds: all splits at one C, then at the next.

    Each starts from the last C of the same split, and from what happened since in the split before it.

    Parameters
    ----------
    chosen : sequence of int
        The splits.
    wanted, Cs, seeder
        As in `solve_cells`.
    neighbours : bool
        Whether other splits are looked at.

    Returns
    -------
    list of (split, place in Cs)
    ndarray of dtype `PLAN`

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import ActiveSet
    >>> from refsvm.resampling.grid import planned
    >>> planned(range(2), [[0, 1], [0, 1]], np.array([1.0, 10.0]), ActiveSet(), neighbours=True)[0]
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    turns, plan = [], []
    solved: dict[int, list[int]] = {split: [] for split in chosen}  # places in Cs
    slots = {split: 2 * number for number, split in enumerate(chosen)}
    for place in sorted({place for split in chosen for place in wanted[split]}):
        beside: int | None = None
        for split in chosen:
            if place not in wanted[split]:
                continue
            mine, source, before, after = solved[split], -1, -1, -1
            if mine and not isinstance(seeder, Cold):
                source = slots[split] + (len(mine) - 1) % 2
            if beside is not None and neighbours:
                theirs = solved[beside]
                after = slots[beside] + (len(theirs) - 1) % 2
                if mine and theirs[-2:-1] == mine[-1:]:
                    before = slots[beside] + len(theirs) % 2
            turns.append((split, place))
            plan.append((split, slots[split] + len(mine) % 2, source, before, after, -1, Cs[place]))
            mine.append(place)
            beside = split
    return turns, np.array(plan, dtype=PLAN)


def scored(split: Split, place: int, ended: Sequence[Ended], codes: np.ndarray, k: int) -> Cell:
    """Return a cell from the rounds of all pairs of classes."""
    began = time.perf_counter()
    values = np.array([each.decision_values[split.test] for each in ended]).T
    right = votes(values, k) == codes[split.test]
    score = float(right @ split.test_weights) / float(split.test_weights.sum())
    return Cell(
        split.number,
        place,
        score,
        sum(each.iterations for each in ended),
        sum(each.seconds for each in ended),
        time.perf_counter() - began,
        all(each.status is Status.CONVERGED for each in ended),
    )
