"""The rounds of a cross-validation: one fold held out after another, from the full solution or the round before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.problem import DualProblem
from refsvm.resampling.sequence import PLAN, Ended, RoundSequence
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold

__all__ = ["FoldRounds", "HeldOut"]

NOWHERE, FULL, LATEST = -1, 0, 1
"""Where a round starts: at α = 0, at the solution on all examples, at that of the round before."""

AT_ONCE: Final = 64
"""Folds that are seeded before the first of them is solved."""


@dataclass(frozen=True)
class HeldOut:
    """How the round went that held out one fold.

    Attributes
    ----------
    fold : int
    ended : Ended
    seed_seconds : float
        Those of a group share its time.
    kernel_rows : int
        Kernel rows it computed, and the seeds made together with its own.
    """

    fold: int
    ended: Ended
    seed_seconds: float
    kernel_rows: int


class FoldRounds:
    """Solve one round for each fold: L = U = 0 for its examples.

    Rounds that do not wait for each other are seeded and solved in groups, in compiled code if all kernel rows are in
    memory (`refsvm.resampling.sequence`).

    Parameters
    ----------
    problem : DualProblem
        On all examples.
    fold : ndarray of shape (n,), int64
        Fold of each example.
    seeder : Seeder
    from_full : bool
        Every round starts from the solution on all examples; else the first is cold, and each other one starts from
        the round before.
    **options
        Of `refsvm.Rounds`.

    Attributes
    ----------
    iterations : int
        Steps so far, those on all examples included.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, SIR, DualProblem
    >>> from refsvm.datasets import load
    >>> from refsvm.resampling.fold_rounds import FoldRounds
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005), C=10.0)
    >>> rounds = FoldRounds(problem, np.arange(heart.n) % 5, SIR(), from_full=True)
    >>> [round(float(each.ended.decision_values[each.fold]), 2) for each in rounds.run([0, 3])]
    [2.07, 1.53]
    """

    def __init__(
        self, problem: DualProblem, fold: np.ndarray, seeder: Seeder, from_full: bool, **options: Any
    ) -> None:
        room = min(AT_ONCE, int(fold.max()) + 1)
        self._fold, self._seeder, self.iterations = fold, seeder, 0
        # box 0 holds all examples
        self._factors, self._starts = np.ones((room + 1, problem.n)), np.empty((room, problem.n))
        self._sequence = RoundSequence(problem, self._factors, Cold(), 2, self._starts, **options)
        self._origin = NOWHERE if isinstance(seeder, Cold) else FULL if from_full else LATEST
        self._seeds: Callable[[int], None] | None = None
        self._seeds_are_compiled = False

    def close(self) -> None:
        """Release the engine."""
        self._sequence.close()

    @property
    def kernel_rows(self) -> int:
        """Kernel rows computed so far."""
        return self._sequence.kernel_rows

    def run(self, numbers: list[int]) -> Iterator[HeldOut]:
        """Yield how the round without each of these folds ended.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; rounds that were yielded before that are complete.
        """
        if self._origin == FULL:
            full = list(self._sequence.run(_plan([0], FULL, NOWHERE)))
            self.iterations += full[0].iterations
        done = 0
        while done < len(numbers):
            source = NOWHERE if self._origin == LATEST and done == 0 else self._origin
            group = numbers[done : done + self._size(source)]
            yield from self._held_out(group, source)
            done += len(group)

    def _size(self, source: int) -> int:
        """Return how many rounds follow that do not wait for each other, or for the time when code is compiled."""
        if self._origin == LATEST or (source == FULL and not self._sequence.compiles):
            return 1
        return len(self._starts)

    def _held_out(self, group: list[int], source: int) -> Iterator[HeldOut]:
        """Seed and solve the rounds of some folds."""
        rows = self.kernel_rows
        for place, h in enumerate(group):
            self._factors[place + 1] = self._fold != h
        seconds = self._seed(len(group), source)
        plan = _plan(range(1, len(group) + 1), LATEST, source)
        for h, ended in zip(group, self._sequence.run(plan), strict=True):
            self.iterations += ended.iterations
            yield HeldOut(h, ended, seconds, self.kernel_rows - rows)
            rows = self.kernel_rows

    def _seed(self, count: int, source: int) -> float:
        """Write the seeds of a group; return the seconds of one."""
        if source == NOWHERE:
            return 0.0
        began = time.perf_counter()
        self._seeds_from(source)(count)
        return (time.perf_counter() - began) / count

    def _seeds_from(self, source: int) -> Callable[[int], None]:
        """Return what writes seeds, anew where the solution is another, or compiled code has taken over."""
        is_compiled = self._sequence.compiles
        if self._seeds is None or source == LATEST or is_compiled != self._seeds_are_compiled:
            self._seeds = self._sequence.seeds(self._seeder, source)
            self._seeds_are_compiled = is_compiled
        return self._seeds


def _plan(boxes: Any, place: int, source: int) -> np.ndarray:
    """Return the plan of rounds in these boxes; the seed of box h is the one before it in the order."""
    starts = [box - 1 if source != NOWHERE else -1 for box in boxes]
    turns = [(box, place, source, -1, -1, start, 1.0) for box, start in zip(boxes, starts, strict=True)]
    return np.array(turns, dtype=PLAN)
