"""All values of C and all folds of one kernel matrix."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsvm.kernels.gram import KernelMatrix
from refsvm.multiclass.prediction import votes
from refsvm.problem import DualProblem
from refsvm.resampling.family import pair_problems, seeded
from refsvm.result import Solution, Status
from refsvm.seeders.active_set import ActiveSet
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold
from refsvm.solver.rounds import Rounds

__all__ = ["Cell", "Split", "solve_cells"]


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
    seeder : Seeder, default ActiveSet()
        From one value of C to the next.
    **options
        Of `refsvm.Rounds`.

    Yields
    ------
    Cell
        Split after split, C rising.

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
    seeder = ActiveSet() if seeder is None else seeder
    k = int(codes.max()) + 1
    families = [Rounds(problem, **options) for problem in pair_problems(gram, codes, np.ones(len(codes)))]
    for split, places in zip(splits, wanted, strict=True):
        sources: list[Solution | None] = [None] * len(families)
        for place in places:
            began = time.perf_counter()
            values, iterations, converged = np.empty((len(split.test), len(families))), 0, True
            for number, rounds in enumerate(families):
                solution = next_round(rounds, split.factors * Cs[place], sources[number], seeder)
                if solution.status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
                sources[number] = solution
                values[:, number] = solution.decision_values[split.test]
                iterations += solution.iterations
                converged = converged and solution.status is Status.CONVERGED
            solved = time.perf_counter()
            right = votes(values, k) == codes[split.test]
            score = float(right @ split.test_weights) / float(split.test_weights.sum())
            scored = time.perf_counter()
            yield Cell(split.number, place, score, iterations, solved - began, scored - solved, converged)
    for rounds in families:
        rounds.close()


def next_round(rounds: Rounds, penalties: np.ndarray, source: Solution | None, seeder: Seeder) -> Solution:
    """Solve with these penalties, from the solution of other ones."""
    unit: DualProblem = rounds.problem
    lower, upper = unit.lower * penalties, unit.upper * penalties
    start = None
    if source is not None and not isinstance(seeder, Cold):
        start = seeded(seeder, source, rounds, rounds.boxed(lower, upper))
    return rounds.solve(lower=lower, upper=upper, start=start)
