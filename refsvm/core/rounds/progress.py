"""The table of leave-one-out: what is known of each example, by the machines of a task, one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from refsvm.core.engine.progress import Progress, of_progress
from refsvm.core.result import Solution, Status, Trace
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, LeftOutMachine, Task
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.runner import LATE_FROM, told_if_late
from refsvm.core.rounds.sufficiency import Check, sufficient
from refsvm.core.rounds.walked import few_steps, walked
from refsvm.core.stopping import KKTGap, StoppingRule

ALL_AT_ONCE: Final = 2000
"""Up to this many examples, all kernel rows are computed at once."""

INTERVAL_SECONDS: Final = 0.02
"""The callback is called no more often."""

UNDER_WAY: Final = "solution on all examples"
"""With this leave-one-out begins."""

OTHER_CLASS: Final = "other class"
"""What decides an example in a pair of classes that it is in neither of: the machine of all never used it."""


class LeftOutTable:
    """The state of leave-one-out for each example, filled in by one machine after the other.

    Parameters
    ----------
    task : Task
    progress : Progress
        Counts the examples decided; of several classes, those of all pairs.
    callback : callable, optional
        Called with the progress.

    Attributes
    ----------
    decided, signs, values : ndarrays of shape (n, pairs)
        The reason that decided an example, "" if none has, the sign of h if only that is known, and h.
    iterations : ndarray of shape (n, pairs), int64
    unsolved : dict of (int, int) to Status
        By example and column: how rounds ended whose rule was not satisfied.
    traces : dict
        By example, or by example and classes.
    status : Status
        CONVERGED, or what ends the call.
    part, rounds, full, given, proves, is_hard
        Of the machine under way: which examples it is asked about; its rounds; the solution on all examples, as it was
        found and as it is returned; whether it has labels, so that signs can be proved; whether SMO takes many steps.
    """

    is_pressed = False
    """Whether Ctrl-C was pressed."""

    def __init__(self, task: Task, progress: Progress, callback: Any = None) -> None:
        self._callback = None if callback is None else of_progress(callback)
        n, pairs = task.gram.n, len(task.pairs)
        self.task, self.progress, self._told = task, progress, -np.inf
        self.decided, self.signs = np.full((n, pairs), "", dtype=object), np.zeros((n, pairs))
        self.values, self.iterations = np.full((n, pairs), np.nan), np.zeros((n, pairs), dtype=np.int64)
        self.unsolved: dict[tuple[int, int], Status] = {}
        self.traces: dict[Any, Trace] = {}
        self.status = Status.CONVERGED
        self.fulls, self.families, self.rule_kept = list[Solution](), list[Rounds](), list[bool]()
        self.total = n * max(1, len(task.classes) - 1)  # each example is in k − 1 pairs
        self._here: tuple[Any, int] = (
            ([], []),
            0,
        )  # the cells of the machine under way, and what others have decided
        progress.begin(UNDER_WAY, total=self.total, look=self._tell)

    def begin(self, part: LeftOutMachine, rounds: Rounds) -> None:
        """Begin with the next machine."""
        before = self._here[1] + self._count()
        self.part, self.rounds, self.proves, self._early = part, rounds, rounds.problem.has_labels, 0
        self._asked = (
            np.arange(len(part.examples)) if part.asked is None else np.array(part.asked, dtype=np.int64)
        )
        self._column = self.task.pairs.index(part.machine.pair)
        self._cells = part.examples[self._asked], self._column
        self._here = self._cells, before

    def solve_on_all(self, kkt: KKTGap) -> None:
        """Train on all examples: by a walk, if that takes many steps (`refsvm.core.rounds.walked`)."""
        rounds, n, start = self.rounds, len(self.part.examples), None
        if self.task.kind == NOVELTY and self.fulls:  # the same machine, but for z
            start = rounds.problem.feasible(self.fulls[0].alpha)
        if rounds.rows.holds_all and n <= ALL_AT_ONCE:
            rounds.rows.fetch(np.arange(rounds.rows.gram.n))
        with told_if_late(
            n, "Leave-one-out of %d examples: the solution on all of them, with which it begins, takes longer than "
            "%.0f s; each of up to %d rounds may take a part of that", n, LATE_FROM, n,
        ):  # fmt: skip
            few = min(rounds.max_iter, few_steps(rounds.problem.n))
            rounds.limits.progress = self.progress
            self.given = rounds.solve(
                start=start, max_iter=rounds.max_iter if rounds.options.shrinking else few
            )
            # one exact seed after the other then, and the steps that are left with shrinking
            self.is_hard = self.given.status is Status.MAX_ITER and self.given.iterations < rounds.max_iter
            if self.is_hard:
                self.rounds, self.given = walked(rounds, self.given, kkt)
            rounds.limits.progress = self.rounds.limits.progress = None  # a round has a gap of its own
        self.full = self.rounds.solutions["all"] = self.given.in_solver_coordinates(self.rounds.problem)
        self.fulls.append(self.given)
        self.families.append(self.rounds)
        if self.full.status not in {Status.CONVERGED, Status.STALLED}:
            self.status = self.full.status
        if self.values.shape[1] > 1:
            self.decided[self.part.others, self._column] = OTHER_CLASS
            self.values[self.part.others, self._column] = self.part.values_of_others(self.full)
        self.check(())

    def check(self, checks: tuple[Check, ...]) -> None:
        """Apply the sufficiency checks."""
        found = sufficient(self.full, self.rounds.rows, checks, self.part.machine.copies)
        for table, each in zip((self.decided, self.signs, self.values), found, strict=True):
            table[self._cells] = each[self._asked]

    def round(self, r: int) -> Round:
        """Return the round that leaves example r of the machine out."""
        if self.part.machine.copies == 1:
            return Round(r, "all")
        return Round(self.part.machine.variables(np.array([r])), "all", evaluate=r)

    def undecided(self) -> list[int]:
        """Return the examples of the machine that are asked about and that nothing has decided yet."""
        names = self.decided[self._cells].tolist()
        return [r for r, name in zip(self._asked.tolist(), names, strict=True) if not name]

    def _count(self) -> int:
        """Return how many examples this machine has decided."""
        return int(np.count_nonzero(self.decided[self._here[0]] != ""))

    def _tell(self) -> None:
        """Count what is decided, and what is wrong of it."""
        task, known, wrong = self.task, (self.decided != "").all(axis=1), None
        if task.kind == CLASSIFICATION and known.any():
            values = np.where(np.isnan(self.values), self.signs, self.values)
            wrong = int((task.predicted(values, known) != task.labels).sum())
        self.progress.tell(self._here[1] + self._count(), wrong)

    def by_rounds(self, rounds: Iterator[RoundResult], stop: StoppingRule) -> None:
        """Record the results of rounds, until a limit, the callback or Ctrl-C ends them."""
        if self.status is not Status.CONVERGED:
            return
        self.progress.begin("")
        count, copies, pair = self._here[1] + self._count(), self.part.machine.copies, self.part.machine.pair
        for out, value, steps, reason, status, _, _, _, trace in rounds:
            r = int(self.part.examples[out if copies == 1 else out[0]])
            cell, count = (r, self._column), count + 1
            self.iterations[cell] += steps
            if status is not Status.CONVERGED:
                self.unsolved[cell] = status
            if status is Status.TIME_LIMIT:
                self.status = status
                break
            name, self.values[cell] = stop.outcome(reason, value)
            self._early += name != "kkt"
            self.decided[cell] = "limit" if status is Status.MAX_ITER else name
            key: Any = (r, *pair) if self.values.shape[1] > 1 else r
            if trace is not None and key in self.traces:
                self.traces[key].append_later(trace, len(self.traces[key]))
            elif trace is not None:
                self.traces[key] = trace
            if self._callback is not None and self._should_end(count):
                self.status = Status.CALLBACK
                break
        if self.rounds.status is not Status.CONVERGED:
            self.status = self.rounds.status

    def _should_end(self, count: int) -> bool:
        """Call the callback from time to time; return whether it ends the call."""
        now = time.perf_counter()
        if now < self._told + INTERVAL_SECONDS and count < self.total:
            return False
        self._told = now
        self.progress.look()
        return bool(self._callback and self._callback(self.progress))

    def by_walk(self) -> None:
        """Say of rounds without a step after an exact seed that the walk has led them to the optimum."""
        rows, column = self._cells
        there = (self.decided[self._cells] == "kkt") & (self.iterations[self._cells] == 0)
        self.decided[rows[there], column] = "path"

    def near_zero(self, distance: float, relative: bool) -> list[int]:
        """Return the examples whose round has ended at the KKT gap with |h| ≤ distance, or ≤ distance · min(1, s)."""
        return [] if self.status is not Status.CONVERGED else self._next_to_zero(distance, relative)

    def _next_to_zero(self, distance: float, relative: bool) -> list[int]:
        # s of the round without r is about that of all examples
        distance *= min(1.0, self.full.decision_range) if relative else 1.0
        near = (self.decided[self._cells] == "kkt") & (np.abs(self.values[self._cells]) <= distance)
        return self._asked[near].tolist()

    def doubt(self, distance: float, relative: bool) -> None:
        """Count the examples with h next to zero as undecided, if the rounds end before their signs are settled."""
        if self.status is not Status.CONVERGED and self.proves:
            self.decided[self.part.examples[self._next_to_zero(distance, relative)], self._column] = ""

    def again(self, examples: list[int]) -> list[Round]:
        """Return the rounds of these examples, which count as undecided until they have ended once more."""
        self.decided[self.part.examples[examples], self._column] = ""
        return [self.round(r) for r in examples]

    def keeps(self, tried: int) -> bool:
        """Whether M_prec/M ≥ 0.5: the rule for left-out examples has decided so many of the first rounds early."""
        is_kept = self.status is Status.CONVERGED and self._early >= tried / 2
        if self.status is Status.CONVERGED:
            self.rule_kept.append(is_kept)
        return is_kept
