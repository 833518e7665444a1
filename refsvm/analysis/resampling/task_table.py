"""TaskTable: the table of leave-one-out for a task, which joins the tables of the task's machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.task import LeftOutMachine, Task
from refsvm.analysis.resampling.ties import TIE, signs_elsewhere
from refsvm.core.engine.limits import Deadline, interruptible
from refsvm.core.engine.progress import Progress
from refsvm.core.result import Solution, Status, Trace
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.solver.options import RunOptions
from refsvm.core.stopping.ball_rule import of_sign
from refsvm.services.line import checked_callback

INTERVAL_SECONDS: Final = 0.02
"""Shortest time between two calls of the callback, in seconds."""

UNDER_WAY: Final = "solution on all examples"
"""The first phase of leave-one-out, as the progress line names it."""

OTHER_CLASS: Final = "other class"
"""Entry of `TaskTable.decided` for an example of neither class of a pair; the pair's machine does not train on it."""


class TaskTable:
    """The state of leave-one-out for each example of a task; one machine after another fills its column.

    Parameters
    ----------
    task : Task
        The task.
    progress : Progress
        Counts the decided examples; with several classes, an example counts once for each pair that contains its class.
    callback : callable, optional
        Called with `progress`.

    Attributes
    ----------
    decided, signs, values, iterations, proved : ndarrays of shape (n, pairs)
        The arrays of `LeftOutTable`, with a column for each machine.
    unsolved : dict of (int, int) to Status
        Status of rounds that ended before their stopping rule was satisfied, by example and column.
    traces : dict
        Recorded steps of each round; the key is the example, or the example and two classes.
    status : Status
        CONVERGED, or the limit that ended the call.
    fulls, families, rule_kept : lists
        For each machine: solution on all examples, rounds, and whether the stopping rule ended enough rounds early.
    total : int
        The number of examples to decide, summed over the machines.
    """

    is_pressed = False
    """Whether Ctrl-C was pressed."""

    status = Status.CONVERGED
    _place: tuple[int, Any] = 0, None
    """The number of examples that earlier machines decided, and the present machine with its table."""

    _last_report = -np.inf

    def __init__(self, task: Task, progress: Progress, callback: Any = None) -> None:
        n, pairs = task.gram.n, len(task.pairs)
        self.task, self.progress, self._callback = task, progress, checked_callback(callback)
        self.decided, self.signs = np.full((n, pairs), "", dtype=object), np.zeros((n, pairs))
        self.values, self.iterations = np.full((n, pairs), np.nan), np.zeros((n, pairs), dtype=np.int64)
        self.proved = np.zeros((n, pairs), dtype=bool)
        self.unsolved, self.traces = dict[tuple[int, int], Status](), dict[Any, Trace]()
        self.fulls, self.families, self.rule_kept = list[Solution](), list[Rounds](), list[bool]()
        self._lock = threading.Lock()
        self.total = n * max(1, len(task.classes) - 1)  # each class is in k − 1 pairs
        if len(task.classes) > 2:
            progress.unit = "examples and pairs"
        progress.begin(UNDER_WAY, total=self.total, look=self._count)

    def begin(self, part: LeftOutMachine, options: RunOptions) -> LeftOutTable:
        """Make and return the `LeftOutTable` of the next machine."""
        rounds, start = Rounds.of(part.machine.problem, options), None
        if self.task.kind == NOVELTY and self.fulls:  # all machines share one kernel matrix
            start = rounds.problem.feasible(self.fulls[0].alpha)
        should_end = self._should_end if self._callback else None
        table = LeftOutTable(part.machine, rounds, part.asked, start, self.progress, should_end)
        self._place = self._place[0], (part, table)
        return table

    def end(self, part: LeftOutMachine, table: LeftOutTable) -> None:
        """Store the results of a machine whose rounds have ended."""
        with self._lock:
            column, self._place = self._copy(part, table), (self._place[0] + table.count(), None)
        self._prove_others(part, table, column)
        self.status = table.status
        self.fulls.append(table.given)
        self.families.append(table.rounds)
        self.rule_kept += [] if table.rule_kept is None else [table.rule_kept]
        examples, pair = part.examples.tolist(), part.machine.pair if self.values.shape[1] > 1 else ()
        self.unsolved |= {(examples[r], column): status for r, status in table.unsolved.items()}
        self.traces |= {(examples[r], *pair) if pair else examples[r]: t for r, t in table.traces.items()}

    def take_small(self, counts: Iterator[int], deadline: Deadline, interrupt: interruptible) -> None:
        """Let `SmallPairs` write its results to the table; a limit, Ctrl-C or the callback ends the writing."""
        for count in counts:
            self._place = self._place[0] + count, None
            if interrupt.pressed:
                self.status = Status.INTERRUPTED
            elif deadline.left() <= 0.0:
                self.status = Status.TIME_LIMIT
            elif self._callback is not None and self._should_end(0):
                self.status = Status.CALLBACK
            if self.status is not Status.CONVERGED:
                return

    def _copy(self, part: LeftOutMachine, table: LeftOutTable) -> int:
        """Copy the results that a machine has so far into its column, and return the column's index."""
        column, others = self.task.pairs.index(part.machine.pair), part.others
        cells = part.examples[table.asked], column
        for name in ("decided", "signs", "values", "iterations", "proved"):
            getattr(self, name)[cells] = getattr(table, name)[table.asked]
        if len(others) and hasattr(table, "full") and not self.decided[others[0], column]:
            self.decided[others, column] = OTHER_CLASS
            self.values[others, column] = part.values_of_others(table.given)
        return column

    def _prove_others(self, part: LeftOutMachine, table: LeftOutTable, column: int) -> None:
        """Prove the signs of h for examples of other classes, and mark examples without a proof as ties."""
        others = part.others
        if not len(others) or table.status is not Status.CONVERGED or not table.proves:
            return
        signs = signs_elsewhere(table, part.gram, part.examples, others)
        self.proved[others, column] = signs != 0
        self.decided[others[signs == 0], column] = TIE
        for r, sign in zip(others[signs != 0].tolist(), signs[signs != 0].tolist(), strict=True):
            self.values[r, column] = of_sign(float(self.values[r, column]), sign)

    def _count(self) -> None:
        """Pass the numbers of decided and of wrongly predicted examples to the progress line."""
        # `end` waits for the lock: otherwise the progress line's thread could replace final results by older ones
        with self._lock:
            (count, under_way), wrong = self._place, None
            if under_way:
                self._copy(*under_way)
                count += under_way[1].count()
        # until the last machine runs, no example has a prediction
        is_last = len(self.fulls) + 1 >= self.values.shape[1]
        if is_last and self.task.kind == CLASSIFICATION and (known := (self.decided != "").all(axis=1)).any():
            values = np.where(np.isnan(self.values), self.signs, self.values)
            wrong = int((self.task.predicted(values, known) != self.task.labels).sum())
        self.progress.tell(count, wrong)

    def _should_end(self, decided: int) -> bool:
        """Call the callback if enough time has passed since its last call; return True if the callback asks to stop."""
        now = time.perf_counter()
        if now < self._last_report + INTERVAL_SECONDS and self._place[0] + decided < self.total:
            return False
        self._last_report = now
        self.progress.look()
        return bool(self._callback and self._callback(self.progress))
