"""Progress of leave-one-out: for the examples of one machine, and for all machines of a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.formulations import votes
from refsvm.result import Status, Trace
from refsvm.rounds.results import LeaveOneOut
from refsvm.rounds.round import Round, RoundResult
from refsvm.rounds.rounds import Rounds
from refsvm.rounds.runner import LATE_FROM, told_if_late
from refsvm.rounds.sufficiency import Check, sufficient
from refsvm.rounds.task import CLASSIFICATION, NOVELTY, Asked, Task
from refsvm.rounds.walked import few_steps, walked
from refsvm.stopping import KKTGap, StoppingRule

ALL_AT_ONCE: Final = 2000
"""Up to this many examples, all kernel rows are computed at once."""

INTERVAL_SECONDS: Final = 0.02
"""The callback is called no more often."""

OTHER_CLASS: Final = "other class"
"""What decides an example in a pair of classes that it is in neither of: the machine of all never used it."""


class LOOProgress:
    """Progress of the examples of one machine; it begins with the solution on all of them.

    Parameters
    ----------
    part : Asked
    rounds : Rounds
    callback : callable, optional
        Called with the number of examples that this machine has decided.
    start : ndarray, optional
        α that the solution on all examples starts from.
    """

    def __init__(
        self, part: Asked, rounds: Rounds, callback: Callable[[int], object] | None, start: np.ndarray | None
    ) -> None:
        self.part, self.rounds, self._callback, self._start = part, rounds, callback, start
        self.status, self.proves = Status.CONVERGED, rounds.problem.has_labels
        self.iterations, self.early = np.zeros(len(part.examples), dtype=np.int64), 0
        self.gap_rule_kept: bool | None = None
        self.unsolved: dict[int, Status] = {}
        self.traces: dict[int, Trace] = {}

    def solve_on_all(self, kkt: KKTGap) -> None:
        """Train on all examples: by a walk, if that takes many steps (`refsvm.rounds.walked`)."""
        rounds, n = self.rounds, len(self.part.examples)
        if rounds.rows.holds_all and n <= ALL_AT_ONCE:
            rounds.rows.fetch(np.arange(rounds.rows.gram.n))
        with told_if_late(
            n, "Leave-one-out of %d examples: the solution on all of them, with which it begins, takes longer than "
            "%.0f s; each of up to %d rounds may take a part of that", n, LATE_FROM, n,
        ):  # fmt: skip
            few = min(rounds.max_iter, few_steps(rounds.problem.n))
            self.given = rounds.solve(
                start=self._start, max_iter=rounds.max_iter if rounds.shrinking else few
            )
            # one exact seed after the other then, and the steps that are left with shrinking
            self.is_hard = self.given.status is Status.MAX_ITER and self.given.iterations < rounds.max_iter
            if self.is_hard:
                rounds, self.given = walked(rounds, self.given, kkt)
                self.rounds = rounds
        self.full = rounds.solutions["all"] = self.given.where_solved(rounds.problem)
        if self.full.status not in {Status.CONVERGED, Status.STALLED}:
            self.status = self.full.status
        self.check(())

    def check(self, checks: tuple[Check, ...]) -> None:
        """Apply the sufficiency checks."""
        self.decided, self.signs, self.values = sufficient(
            self.full, self.rounds.rows, checks, self.part.machine.copies
        )

    def round(self, r: int) -> Round:
        """Return the round that leaves example r out."""
        if self.part.machine.copies == 1:
            return Round(r, "all")
        return Round(self.part.machine.variables(np.array([r])), "all", evaluate=r)

    def undecided(self) -> list[int]:
        """Return the examples that are asked about and that nothing has decided yet."""
        names, asked = self.decided.tolist(), self.part.asked
        return [r for r in (range(len(names)) if asked is None else asked) if not names[r]]

    def by_rounds(self, rounds: Iterator[RoundResult], stop: StoppingRule) -> None:
        """Record the results of rounds, until a limit, the callback or Ctrl-C ends them."""
        if self.status is not Status.CONVERGED:
            return
        count = len(self.decided) - len(self.undecided())
        for out, value, steps, reason, status, _, _, _, trace in rounds:
            r = out if self.part.machine.copies == 1 else int(out[0])
            self.iterations[r], count = self.iterations[r] + steps, count + 1
            if status is not Status.CONVERGED:
                self.unsolved[r] = status
            if status is Status.TIME_LIMIT:
                self.status = status
                break
            name, self.values[r] = stop.outcome(reason, value)
            self.early += name != "kkt"
            self.decided[r] = "limit" if status is Status.MAX_ITER else name
            if trace is not None and r in self.traces:
                self.traces[r].append_later(trace, len(self.traces[r]))
            elif trace is not None:
                self.traces[r] = trace
            if self._callback is not None and self._callback(count):
                self.status = Status.CALLBACK
                break
        if self.rounds.status is not Status.CONVERGED:
            self.status = self.rounds.status

    def near_zero(self, distance: float, relative: bool) -> list[int]:
        """Return the examples whose round has ended at the KKT gap with |h| ≤ distance, or ≤ distance · min(1, s)."""
        return [] if self.status is not Status.CONVERGED else self._next_to_zero(distance, relative)

    def _next_to_zero(self, distance: float, relative: bool) -> list[int]:
        # s of the round without r is about that of all examples
        distance *= min(1.0, self.full.decision_range) if relative else 1.0
        return np.flatnonzero((self.decided == "kkt") & (np.abs(self.values) <= distance)).tolist()

    def doubt(self, distance: float, relative: bool) -> None:
        """Count the examples with h next to zero as undecided, if the rounds end before their signs are settled."""
        if self.status is not Status.CONVERGED and self.proves and hasattr(self, "full"):
            self.decided[self._next_to_zero(distance, relative)] = ""

    def again(self, examples: list[int]) -> list[Round]:
        """Return the rounds of these examples, which count as undecided until they have ended once more."""
        self.decided[examples] = ""
        return [self.round(r) for r in examples]

    def keeps(self, tried: int) -> bool:
        """Whether M_prec/M ≥ 0.5: the rule for left-out examples has decided so many of the first rounds early."""
        if self.status is Status.CONVERGED:
            self.gap_rule_kept = self.early >= tried / 2
        return bool(self.gap_rule_kept)


class TaskProgress:
    """Progress of all examples, by all machines.

    Parameters
    ----------
    task : Task
    callback : callable, optional
        Called with the number of examples decided and their number; of several classes, those of all pairs.
    began : float
        When the call began.
    """

    is_pressed = False
    """Whether Ctrl-C was pressed."""

    def __init__(self, task: Task, callback: Callable[[int, int], object] | None, began: float) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback={callback!r} cannot be called; pass a function of two numbers.")
        self.task, self._callback, self._began, self._told = task, callback, began, -np.inf
        self._parts: list[LOOProgress] = []
        self._total = task.gram.n * max(1, len(task.classes) - 1)  # each example is in k − 1 pairs

    @property
    def status(self) -> Status:
        """CONVERGED, or what ends the call."""
        return self._parts[-1].status if self._parts else Status.CONVERGED

    def begin(self, part: Asked, rounds: Rounds) -> LOOProgress:
        """Return the empty results of another machine."""
        start = None
        if self.task.kind == NOVELTY and self._parts:  # the same machine, but for z
            start = rounds.problem.feasible(self._parts[0].full.alpha)
        before = sum(len(each.decided) - len(each.undecided()) for each in self._parts)
        callback = None if self._callback is None else partial(self._should_end, self._callback, before)
        self._parts.append(LOOProgress(part, rounds, callback, start))
        return self._parts[-1]

    def _should_end(self, callback: Callable[[int, int], object], before: int, count: int) -> bool:
        """Call the callback from time to time with the number decided; return whether it ends the call."""
        now, count = time.perf_counter(), before + count
        if now < self._told + INTERVAL_SECONDS and count < self._total:
            return False
        self._told = now
        return bool(callback(count, self._total))

    def warn(self, result: LeaveOneOut) -> None:
        """Warn of examples whose machines are not solved, or not trained at all after a limit."""
        ends = [status for part in self._parts for status in part.unsolved.values()]
        found = unsolved([*ends, result.status])
        left, n = int((~result.is_known).sum()), len(result.labels)
        rests = (
            f"{left} of {n} examples are not decided" if left else "they predict their examples all the same"
        )
        warn_of_unsolved("machines of leave-one-out", found, self._total, rests)

    def result(self) -> LeaveOneOut:
        """Return the result, in the names of the classes."""
        task, parts, pairs = self.task, self._parts, self.task.pairs
        table = Table.of(task.gram.n, len(pairs))
        for part in parts:
            table.take(part, pairs.index(part.part.machine.pair))
        known = (table.decided != "").all(axis=1)
        fulls = [part.given for part in parts]
        kept = [part.gap_rule_kept for part in parts if part.gap_rule_kept is not None]
        each: Any = slice(None) if len(pairs) > 1 else 0
        return LeaveOneOut(
            kind=task.kind, classes=task.classes, predictions=self._predictions(table, known), labels=task.labels,
            decided_by=table.decided[:, each].astype(str), decision_values=table.values[:, each],
            iterations=sum(full.iterations for full in fulls) + int(table.iterations.sum()),
            round_iterations=table.iterations,
            kernel_rows=task.rows_computed + sum(part.rounds.rows.computed for part in parts),
            seconds=time.perf_counter() - self._began,
            full_solutions=tuple(fulls[:1] if task.kind == NOVELTY else fulls),
            status=Status.CONVERGED if known.all() else self.status,
            engine=next((part.rounds.used for part in parts if part.rounds.used), fulls[0].engine),
            gap_rule_kept=all(kept) if kept else None, traces=table.traces, weights=task.weights,
            is_solved=known & ~table.is_unsolved, machine=task.machine,
            sides=np.where(table.decided == "", np.nan, table.sided),
        )  # fmt: skip

    def _predictions(self, table: Table, known: np.ndarray) -> np.ndarray:
        """Return the predictions; of an example that nothing has decided its own label, or NaN for a target."""
        task = self.task
        if task.kind != CLASSIFICATION:
            return task.predicted(np.where(known, table.values[:, 0], np.nan))
        # sign h(xᵣ), or the votes of all pairs; one rule for h = 0, that of `refsvm.SVC`
        codes = votes(table.sided, len(task.classes))
        return np.asarray(task.classes[np.where(known, codes, task.codes)])


class Table(NamedTuple):
    """Results by example and machine.

    Attributes
    ----------
    decided, signs, values : ndarrays of shape (n, pairs)
        The reason that decided an example, the sign of h if only that is known, and h.
    iterations : ndarray of shape (n,), int64
    is_unsolved : ndarray of shape (n,), bool
        Whether a round of an example has ended before its rule was satisfied.
    traces : dict
        By example, or by example and classes.
    """

    decided: np.ndarray
    signs: np.ndarray
    values: np.ndarray
    iterations: np.ndarray
    is_unsolved: np.ndarray
    traces: dict[Any, Trace]

    @classmethod
    def of(cls, n: int, pairs: int) -> Table:
        """Return one in which nothing is known."""
        decided, iterations = np.full((n, pairs), "", dtype=object), np.zeros(n, dtype=np.int64)
        values = np.full((n, pairs), np.nan)
        return cls(decided, np.zeros((n, pairs)), values, iterations, np.zeros(n, dtype=bool), {})

    @property
    def sided(self) -> np.ndarray:
        """h, or a number of its sign if only that is known."""
        return np.where(np.isnan(self.values), self.signs, self.values)

    def take(self, found: LOOProgress, column: int) -> None:
        """Write the results of one machine."""
        part = found.part
        local = np.arange(len(part.examples)) if part.asked is None else np.array(part.asked, dtype=np.int64)
        rows = part.examples[local]
        self.decided[rows, column], self.signs[rows, column] = found.decided[local], found.signs[local]
        self.values[rows, column] = found.values[local]
        np.add.at(self.iterations, rows, found.iterations[local])
        self.is_unsolved[part.examples[[*found.unsolved]]] = True
        if self.values.shape[1] > 1:
            self.decided[part.others, column] = OTHER_CLASS
            self.values[part.others, column] = part.values_of_others(found.full)
        for r, trace in found.traces.items():
            key = int(part.examples[r])
            self.traces[(key, *part.machine.pair) if self.values.shape[1] > 1 else key] = trace
