"""Leave-one-out of many small classes: few calls solve all machines and all rounds (`refsvm.analysis.small.small`).

A family of rounds for each pair of classes costs milliseconds before its first step. The pairs of small classes, and
the rounds that leave out one example of a pair, are stacked instead. A round starts cold here and ends at the KKT gap:
it takes few steps. What is not small after all is left to the rounds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from refsvm.analysis.resampling.task import LeftOutMachine, Task
from refsvm.analysis.resampling.task_table import OTHER_CLASS, TaskTable
from refsvm.analysis.small.small import FEW, MOST_STEPS, STEPS, SmallProblems, supports
from refsvm.analysis.small.small_pairs import CHUNK_ENTRIES, Stack, stacks
from refsvm.analysis.small.stacked import SmallBackend, small_backend
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.leave_one_out import SMALLEST_TOL, SURE
from refsvm.core.rounds.machine import CLASSIFICATION
from refsvm.core.rounds.sufficiency import ZeroAlpha
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import TIGHTEST, Rules
from refsvm.core.stopping import KKTGap


class SolvedPair(NamedTuple):
    """The machine of all examples of a pair of classes: α, G, steps and seconds."""

    alpha: np.ndarray
    gradient: np.ndarray
    iterations: int
    seconds: float


def have_small_pairs(task: Task, options: RunOptions) -> bool:
    """Whether pairs of the classes of a task are solved here, with its kernel matrix held as an array."""
    if task.kind != CLASSIFICATION or len(task.classes) < 3 or not supports(options.rules):
        return False
    fewest = np.sort(np.bincount(task.codes))[:2].sum()
    is_plain = options.max_iter is None and not options.trace and options.cache_dtype == "float64"
    is_held = task.gram.dense is not None and task.gram.dense.dtype == np.float64
    is_closed = np.isfinite(task.C).all() and (task.C > 0.0).all()
    return bool(
        fewest <= FEW and is_plain and is_held and is_closed and task.gram.facts.data_error <= TIGHTEST
    )


class SmallPairs:
    """Solves the small pairs of a task, and writes what the rounds find to its table.

    Parameters
    ----------
    task : Task
        It has `have_small_pairs`.
    options : RunOptions
        Their rule is that of the machines of all examples.
    kkt : KKTGap
        The rule of the rounds.
    table : TaskTable

    Attributes
    ----------
    solved : dict of int to SolvedPair
        The machines of all examples, by the numbers of the pairs; pairs that are missing are left to the rounds.
    """

    def __init__(self, task: Task, options: RunOptions, kkt: KKTGap, table: TaskTable) -> None:
        self.task, self.options, self.kkt, self.table = task, options, kkt, table
        self.backend = small_backend(options.engine)
        self.solved = dict[int, SolvedPair]()

    def run(self) -> Iterator[int]:
        """Solve the pairs, stack after stack; yield how many examples each stack has decided."""
        task, backend, rules = self.task, self.backend, self.options.rules
        assert task.gram.dense is not None
        for stack in stacks(task.gram, task.codes, task.C, self.options.cache_mb):
            began, problems = time.perf_counter(), stack.problems
            stands = stack.solve(backend, rules, MOST_STEPS)
            values, steps, are_solved = left_out(stack, backend, rules, self.kkt)
            some = np.flatnonzero(stands & are_solved)
            numbers, rows, alpha = stack.numbers[some], stack.rows[some], problems.alpha[some]
            # of all other examples:  h(x) = Σ αᵢ k(x, xᵢ) + b
            self.table.decided[:, numbers] = OTHER_CLASS
            self.table.values[:, numbers] = (
                sums(task.gram.dense, rows, alpha) + problems.intercept[some, None]
            ).T
            # of those of the pair, without themselves
            cells = rows, numbers[:, None]
            self.table.decided[cells] = np.where(alpha == 0.0, ZeroAlpha.name, "kkt")
            self.table.values[cells], self.table.iterations[cells] = values[some], steps[some]
            seconds = (time.perf_counter() - began) / max(1, len(some))
            counts, gradients = problems.results[some, STEPS].astype(np.int64), problems.gradient[some]
            for found in zip(numbers.tolist(), alpha, gradients, counts.tolist(), strict=True):
                self.solved[found[0]] = SolvedPair(*found[1:], seconds)
            yield rows.size

    def solution(self, part: LeftOutMachine, pair: SolvedPair) -> Solution:
        """Return the machine of all examples of a pair as `refsvm.solve` does."""
        problem, stop = part.machine.problem, self.options.rules.stop
        engine = ", ".join(getattr(self.backend, "used", ())) or "numpy"
        ending = 0, 0, Status.CONVERGED, stop.reasons[0], pair.seconds, engine
        return Solution(problem, pair.alpha, pair.gradient, pair.iterations, *ending).of(problem)


def left_out(
    stack: Stack, backend: SmallBackend, rules: Rules, kkt: KKTGap
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve the rounds that leave out one example of a pair, for solved pairs.

    Returns
    -------
    values : ndarray of shape (P, m)
        h of each example by the machine of its pair without it.
    steps : ndarray of shape (P, m), int64
    are_solved : ndarray of shape (P,), bool
        Whether the rounds of a pair stand.
    """
    problems, m = stack.problems, stack.problems.size
    # without an example with α = 0 the machine is that of all
    values = problems.v - problems.gradient + problems.intercept[:, None]
    steps, are_solved = np.zeros(values.shape, dtype=np.int64), np.ones(len(values), dtype=bool)
    # without the only example of its class a machine is constant, and wrong
    same = np.where(
        problems.v > 0.0, (problems.v > 0.0).sum(axis=1)[:, None], (problems.v < 0.0).sum(axis=1)[:, None]
    )
    alone = same == 1
    values[alone] = -problems.v[alone]
    p, r = np.nonzero((problems.alpha != 0.0) & ~alone)
    without = np.array([[t for t in range(m) if t != left] for left in range(m)])
    for some in np.array_split(np.arange(len(p)), max(1, len(p) * m * m // CHUNK_ENTRIES)):
        at, rest = p[some, None], without[r[some]]
        kernels = problems.kernels[at[:, :, None], rest[:, :, None], rest[:, None, :]]
        arrays = [each[at, rest] for each in (problems.v, problems.lower, problems.upper)]
        row = problems.kernels[at, r[some, None], rest]
        round_rules, h, unsure = rules._replace(stop=kkt), np.empty(len(some)), np.arange(len(some))
        while len(unsure):
            rounds = SmallProblems(kernels[unsure], *(each[unsure] for each in arrays))
            backend.small(rounds, round_rules, MOST_STEPS)
            are_solved[p[some[unsure[~rounds.finish(round_rules, stack.noise, stack.is_psd)]]]] = False
            h[unsure] = (rounds.alpha * row[unsure]).sum(axis=1) + rounds.intercept
            steps[p[some[unsure]], r[some[unsure]]] += rounds.results[:, STEPS].astype(np.int64)
            # next to h = 0 the sign is certain at a smaller gap alone, as in `settle_signs`
            tol, stop = round_rules.stop.tolerance, round_rules.stop
            if tol <= SMALLEST_TOL:
                break
            ranges = np.ptp(rounds.v - rounds.gradient, axis=1)
            shares = np.minimum(1.0, ranges / stop.relative) if stop.relative else 1.0
            unsure = unsure[np.abs(h[unsure]) <= SURE * tol * shares]
            round_rules = rules._replace(stop=KKTGap(SMALLEST_TOL, kkt.relative))
        values[p[some], r[some]] = h
    return values, steps, are_solved


def sums(K: np.ndarray, rows: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return Σ αᵢ Kᵢ of each problem, shape (P, n), one row of K after another."""
    total = np.zeros((len(rows), len(K)))
    for j in range(rows.shape[1]):
        total += alpha[:, j, None] * K[rows[:, j]]
    return total
