"""Leave-one-out of many small classes: solves all machines and rounds in few calls (`refsvm.analysis.small.small`).

Preparing the rounds of a pair of classes takes milliseconds before the first step. This module therefore puts the
problems of pairs of small classes, and the rounds that leave out one example of a pair, into stacks: arrays with one
row for each problem. A round that leaves out a support vector starts at α = 0, takes few steps, and ends with an exact
step on its free variables. The inequalities of `refsvm.core.stopping.midpoint` prove the signs of all problems of a
stack in one call. An example is a tie only if b may lie anywhere in an interval at whose two ends h has different
signs. If an example of a pair has neither a proved sign nor tie, `leave_one_out` runs the pair's rounds one by one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import NoneType
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm.analysis.resampling.task import LeftOutMachine, Task
from refsvm.analysis.resampling.task_table import OTHER_CLASS, TaskTable
from refsvm.analysis.resampling.ties import TIE
from refsvm.analysis.small.small import FEW, LARGEST_ALPHA, MOST_STEPS, STEPS, SmallProblems, supports
from refsvm.analysis.small.small_pairs import CHUNK_ENTRIES, Stack, stacks
from refsvm.analysis.small.stacked import SmallBackend, small_backend
from refsvm.core.problem import EPSILON
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.machine import CLASSIFICATION
from refsvm.core.rounds.sufficiency import ZeroAlpha
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import TIGHTEST
from refsvm.core.stopping import BallRule, KKTGap
from refsvm.core.stopping.ball_rule import TINY
from refsvm.core.stopping.midpoint import EXCESS

PLAIN: Final = (NoneType, BallRule, KKTGap)
"""Types of stopping rules for which rounds may end at the KKT gap."""

SLICE_ENTRIES: Final = 2**16
"""Largest number of entries of an array of pairs and examples that `elsewhere` computes at once: 512 KiB."""


class SolvedPair(NamedTuple):
    """The solution on all examples of a pair of classes: α, G, number of steps and seconds."""

    alpha: np.ndarray
    gradient: np.ndarray
    iterations: int
    seconds: float


def have_small_pairs(task: Task, options: RunOptions) -> bool:
    """Return whether this module solves a task's pairs of classes; the task's kernel matrix must be an array."""
    if task.kind != CLASSIFICATION or len(task.classes) < 3 or not supports(options.rules):
        return False
    fewest = np.sort(np.bincount(task.codes))[:2].sum()
    is_plain = options.max_iter is None and not options.trace and task.gram.facts.is_psd
    is_held = task.gram.dense is not None and task.gram.dense.dtype == np.float64
    is_closed = np.isfinite(task.C).all() and (task.C > 0.0).all()
    return bool(
        fewest <= FEW and is_plain and is_held and is_closed and task.gram.facts.data_error <= TIGHTEST
    )


class SmallPairs:
    """Solves the small pairs of a task, and writes the results of their rounds to the table.

    Parameters
    ----------
    task : Task
        A task for which `have_small_pairs` is True.
    options : RunOptions
        Options of the solves on all examples.
    kkt : KKTGap
        The stopping rule of the rounds.
    table : TaskTable
        The table that receives the results.

    Attributes
    ----------
    solved : dict of int to SolvedPair
        The solution on all examples of each pair that `run` has solved, by the number of the pair.
    """

    def __init__(self, task: Task, options: RunOptions, kkt: KKTGap, table: TaskTable) -> None:
        self.task, self.options, self.table = task, options, table
        self.round_rules, self.backend = options.rules._replace(stop=kkt), small_backend(options.engine)
        self.solved = dict[int, SolvedPair]()

    def run(self) -> Iterator[int]:
        """Solve the pairs, stack after stack; after each stack, yield the number of examples in its pairs."""
        task, table, K = self.task, self.table, self.task.gram.dense
        assert K is not None
        for stack in stacks(task.gram, task.codes, task.C, self.options.cache_mb):
            began, rounding = time.perf_counter(), task.gram.facts.rounding
            stands = stack.solve(self.backend, self.options.rules, MOST_STEPS)
            own = left_out(stack, self.backend, self.round_rules, rounding)
            seconds = (time.perf_counter() - began) / len(stands)
            few = max(1, SLICE_ENTRIES // len(K))
            for part in (slice(first, first + few) for first in range(0, len(stands), few)):
                problems, rows, ours = stack.problems.part(part), stack.rows[part], own.part(part)
                others = elsewhere(problems, rows, K, rounding)
                # mark the pair's own examples as decided in `others`, because `ours` contains their predictions
                np.put_along_axis(others.names, rows, TIE, axis=1)
                some = np.flatnonzero(
                    stands[part] & (ours.names != "").all(axis=1) & (others.names != "").all(axis=1)
                )
                numbers = stack.numbers[part][some]
                cells = rows[some], numbers[:, None]
                for name, inside, outside in (
                    ("decided", ours.names, others.names), ("values", ours.values, others.values),
                    ("iterations", ours.steps, others.steps), ("proved", ours.names != TIE, others.names != TIE),
                ):  # fmt: skip
                    column = getattr(table, name)
                    column[:, numbers] = outside[some].T
                    column[cells] = inside[some]
                counts = problems.results[some, STEPS].astype(np.int64).tolist()
                pairs = zip(
                    numbers.tolist(), problems.alpha[some], problems.gradient[some], counts, strict=True
                )
                self.solved |= {number: SolvedPair(a, G, count, seconds) for number, a, G, count in pairs}
            yield stack.rows.size

    def solution(self, part: LeftOutMachine, pair: SolvedPair) -> Solution:
        """Return the solution on all examples of a pair, in the form that `refsvm.solve` returns."""
        problem, stop = part.machine.problem, self.options.rules.stop
        engine = ", ".join(getattr(self.backend, "used", ())) or "numpy"
        ending = 0, 0, Status.CONVERGED, stop.reasons[0], pair.seconds, engine
        return Solution(problem, pair.alpha, pair.gradient, pair.iterations, *ending).of(problem)


class Decided(NamedTuple):
    """The predictions of examples by the machines of P pairs, in arrays of shape (P, examples).

    Attributes
    ----------
    names : ndarray of object
        The check or rule that decided the example; "" if the example is undecided.
    values : ndarray of float64
        h, with the proved sign.
    steps : ndarray of int64
    """

    names: np.ndarray
    values: np.ndarray
    steps: np.ndarray

    def part(self, which: slice) -> Decided:
        """Return the predictions of the pairs in the slice `which`."""
        return Decided(*(each[which] for each in self))


def left_out(stack: Stack, backend: SmallBackend, rules: Any, rounding: float) -> Decided:
    """Predict each example of each pair by the pair's machine trained without the example."""
    problems, m = stack.problems, stack.problems.size
    P = len(problems)
    names = np.full((P, m), "", dtype=object)
    values = np.zeros((P, m))
    steps = np.zeros((P, m), dtype=np.int64)
    # without the only example of a class, the machine is constant and predicts this example wrongly
    positive = problems.v > 0.0
    same = np.where(positive, positive.sum(axis=1)[:, None], (~positive).sum(axis=1)[:, None])
    names[same == 1], values[same == 1] = "kkt", -problems.v[same == 1]
    pairs, left = np.nonzero(same > 1)
    without = np.array([[t for t in range(m) if t != out] for out in range(m)])
    for some in np.array_split(np.arange(len(pairs)), max(1, len(pairs) * m * m // CHUNK_ENTRIES)):
        p, r = pairs[some], left[some]
        at, rest = p[:, None], without[r]
        arrays = [each[at, rest] for each in (problems.v, problems.lower, problems.upper)]
        kernels = problems.kernels[at[:, :, None], rest[:, :, None], rest[:, None, :]]
        rounds = SmallProblems(kernels, *arrays)
        # copy the full solution, which is the optimum of each round that leaves out an example with α = 0
        rounds.alpha[:], rounds.gradient[:] = problems.alpha[at, rest], problems.gradient[at, rest]
        rounds.results[:, [STEPS, LARGEST_ALPHA]] = problems.results[p][:, [STEPS, LARGEST_ALPHA]]
        moves, stands = np.flatnonzero(problems.alpha[p, r] != 0.0), np.ones(len(some), dtype=bool)
        if len(moves):
            solved = SmallProblems(kernels[moves], *(each[moves] for each in arrays))
            backend.small(solved, rules, MOST_STEPS)
            stands[moves] = solved.finish(rules, stack.noise, stack.is_psd)
            rounds.alpha[moves], rounds.gradient[moves] = solved.alpha, solved.gradient
            rounds.results[moves] = solved.results
            steps[p[moves], r[moves]] = solved.results[:, STEPS].astype(np.int64)
        row, own = problems.kernels[at, r[:, None], rest], problems.kernels[p, r, r]
        f = (rounds.alpha * row).sum(axis=1)
        signs, values[p, r] = signs_of_rounds(rounds, row, own, f, rounding)
        named = np.array(["kkt", ZeroAlpha.name], dtype=object)[(problems.alpha[p, r] == 0.0).astype(np.intp)]
        named[signs == 0], named[np.isnan(signs) | ~stands] = TIE, ""
        names[p, r] = named
    return Decided(names, values, steps)


def elsewhere(problems: SmallProblems, rows: np.ndarray, K: np.ndarray, rounding: float) -> Decided:
    """Predict each example by the machines of the pairs that do not contain its class."""
    f = sums(K, rows, problems.alpha)
    bounds = Bounds(problems, rounding)
    sizes = np.sqrt(np.abs(np.diagonal(problems.kernels, axis1=1, axis2=2)))
    rho, ends = np.sqrt(bounds.delta * (1.0 + EXCESS))[:, None], []
    for room, side in ((problems.upper - problems.alpha, -1.0), (problems.alpha - problems.lower, 1.0)):
        over = np.maximum(rho - 0.5 * room * sizes, 0.0) ** 2
        more = np.divide(over, room, np.full(over.shape, np.inf), where=room > 0.0)
        ends.append(problems.gradient + side * (rho * sizes + more))
    size = np.sqrt(np.abs(K.diagonal()))
    off = bounds.at(size)
    reach = rho * size * (1.0 + EXCESS) + off
    error = bounds.at(sizes)
    low, high = (ends[0] - error).max(axis=1)[:, None], (ends[1] + error).min(axis=1)[:, None]
    signs = (f + low > reach) * 1.0 - (f + high < -reach)
    signs[(signs == 0.0) & ~bounds.is_tie(f, off + error.max(axis=1)[:, None])] = np.nan
    names = np.empty(f.shape, dtype=object)
    names[:] = OTHER_CLASS  # unlike `np.full`, this stores one text for all entries
    names[signs == 0.0], names[np.isnan(signs)] = TIE, ""
    return Decided(names, of_signs(f + problems.intercept[:, None], signs), np.zeros(f.shape, dtype=np.int64))


class Bounds:
    """The duality gap of each problem of a stack, and bounds of the rounding errors of G, as in `midpoint`."""

    def __init__(self, problems: SmallProblems, rounding: float) -> None:
        alpha, G, m = problems.alpha, problems.gradient, problems.size
        diagonal = np.abs(np.diagonal(problems.kernels, axis1=1, axis2=2))
        self.share = 2 * m * rounding + EPSILON * (problems.results[:, STEPS] + 2 * m)
        self.size = np.abs(G).max(axis=1)
        largest = np.maximum(problems.results[:, LARGEST_ALPHA], np.abs(alpha).max(axis=1))
        self.term = largest * np.sqrt(diagonal.max(axis=1))
        self.top, self.bottom = problems.extremes()
        error, excess = self.at(np.sqrt(diagonal)), G - (0.5 * (self.top + self.bottom))[:, None]
        above, below = np.maximum(excess + error, 0.0), np.maximum(error - excess, 0.0)
        self.delta = ((problems.upper - alpha) * above + (alpha - problems.lower) * below).sum(axis=1)
        self.error = error.max(axis=1)

    def at(self, sizes: np.ndarray) -> np.ndarray:
        """Return, for each problem, a bound of the error of G at points x; `sizes` contains √k(x, x), shape (P, …)."""
        return np.asarray(self.share[:, None] * (self.size[:, None] + self.term[:, None] * sizes))

    def is_tie(self, f: np.ndarray, off: np.ndarray) -> np.ndarray:
        """Return whether h = f + b has different signs at the ends of b's interval; f is Σ αᵢ k(x, xᵢ), shape (P, …).

        In this case `top` < `bottom`, and α is optimal with every b between `top` and `bottom`.
        """
        off = off + self.error[:, None]
        return np.asarray((f + self.top[:, None] < -off) & (f + self.bottom[:, None] > off))


def signs_of_rounds(
    rounds: SmallProblems, row: np.ndarray, own: np.ndarray, f: np.ndarray, rounding: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each round, return the sign of h at the left-out example (0 for a tie, NaN without a proof), and h.

    Each sign equals the sign that `refsvm.core.stopping.midpoint.certain_sign` returns.

    Parameters
    ----------
    rounds : SmallProblems
        The problems without their left-out examples.
    row : ndarray of shape (P, m)
        Kernel values of the left-out example with the examples of the problem.
    own, f : ndarrays of shape (P,)
        k(x, x) of the left-out example x, and Σ αᵢ k(x, xᵢ).
    rounding : float
        Relative rounding error of each term αⱼKᵢⱼ.
    """
    alpha, lower, upper = rounds.alpha, rounds.lower, rounds.upper
    bounds, diagonal = Bounds(rounds, rounding), np.abs(np.diagonal(rounds.kernels, axis1=1, axis2=2))
    sizes = diagonal + own[:, None]
    D = np.sqrt(np.maximum(sizes - 2.0 * row, 0.0) + rounding * sizes)
    off = bounds.at(np.sqrt(np.abs(own))[:, None])
    error, t = bounds.error[:, None] + off, rounds.gradient + f[:, None]
    rho = np.sqrt(bounds.delta * (1.0 + EXCESS))[:, None]
    proved = []
    for s in (1.0, -1.0):
        # to prove a negative sign, replace t by −t, and exchange the lower and the upper bounds
        rises, falls, room = (upper, -lower, upper - alpha) if s > 0.0 else (-lower, upper, alpha - lower)
        short = s * t - rho * D - error
        rising = np.where(short > 0.0, rises, 0.0).sum(axis=1)
        falling = np.where(short > 0.0, 0.0, falls).sum(axis=1)
        by_room = (short * room > np.maximum(rho - 0.5 * room * D, 0.0) ** 2).any(axis=1)
        proved.append((rising > falling * (1.0 + EXCESS)) | by_room)
    signs = proved[0] * 1.0 - (proved[1] & ~proved[0])
    signs[~(proved[0] | proved[1] | bounds.is_tie(f[:, None], off)[:, 0])] = np.nan
    return signs, of_signs(f + rounds.intercept, signs)


def of_signs(values: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return h; a tiny number with the proved sign replaces each value of the other sign, as in `ball_rule.of_sign`."""
    return np.where(np.abs(signs) == 1.0, signs * np.maximum(signs * values, TINY), values)


def sums(K: np.ndarray, rows: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return Σ αᵢ Kᵢ of each problem, shape (P, n), adding one row Kᵢ after another."""
    total = np.zeros((len(rows), len(K)))
    for j in range(rows.shape[1]):
        total += alpha[:, j, None] * K[rows[:, j]]
    return total
