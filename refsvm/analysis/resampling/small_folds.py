"""Cross-validation of many small classes: solves all problems of a fold in few calls (`refsvm.analysis.small.small`).

Preparing the rounds of a pair of classes takes a millisecond before the first step, and hundreds of classes have tens
of thousands of pairs. This module therefore puts the problems of many pairs into one array, and solves each problem
from α = 0 in few steps.
"""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from refsvm.analysis.resampling.results import FoldReport
from refsvm.analysis.resampling.task import Task
from refsvm.analysis.small.small import FEW, MOST_STEPS, STEPS, supports
from refsvm.analysis.small.small_pairs import stacks
from refsvm.analysis.small.stacked import small_backend
from refsvm.core.engine.limits import interruptible
from refsvm.core.result import Status
from refsvm.core.rounds.machine import CLASSIFICATION
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import TIGHTEST

STACKED_FROM_CLASSES: Final = 10
"""With at least this many classes the pairs are stacked; with fewer classes, rounds that share seeds are faster."""

TAKEN: Final = {"selector", "step", "stop", "engine", "shrinking", "cache_mb", "cache_dtype"}
"""Options of `refsvm.Rounds` that this module respects, or that cannot change its results."""


def are_many_and_small(task: Task, fold: np.ndarray, options: RunOptions) -> bool:
    """Return whether this module can solve a task: it needs many small classes, each with examples in several folds."""
    if task.kind != CLASSIFICATION or len(task.classes) < STACKED_FROM_CLASSES or not supports(options.rules):
        return False
    sizes = np.sort(np.bincount(task.codes))
    left = np.zeros((int(fold.max()) + 1, len(task.classes)), dtype=np.int64)
    np.add.at(left, (fold, task.codes), 1)
    is_left = (np.bincount(task.codes) > left).all()
    held_as_float64 = options.cache_dtype != "float32" and task.gram.facts.data_error <= TIGHTEST
    is_open = not np.isfinite(task.C).all() or not (task.C > 0.0).all()
    return bool(sizes[-1] + sizes[-2] <= FEW and is_left and held_as_float64 and not is_open)


def small_folds(
    task: Task, fold: np.ndarray, options: RunOptions, interrupt: interruptible
) -> tuple[np.ndarray, list[FoldReport]] | None:
    """Return the decision values of all pairs for the held-out examples, and a report for each pair and fold.

    Returns None if a problem needs too many steps, its kernel is indefinite, or rounding errors are too large.

    Parameters
    ----------
    task : Task
        A task for which `are_many_and_small` is true, with its kernel matrix as an array.
    fold : ndarray of shape (n,), int
        Fold number of each example.
    options : RunOptions
        Options of the solves.
    interrupt : interruptible
        Handler of Ctrl-C; after Ctrl-C the decision values of later folds are NaN.
    """
    rules, backend = options.rules, small_backend(options.engine)
    values, reports = np.full((len(fold), len(task.pairs)), np.nan), list[tuple[int, FoldReport]]()
    for h in range(int(fold.max()) + 1):
        if interrupt.pressed:
            break
        rest, out, began = np.flatnonzero(fold != h), np.flatnonzero(fold == h), time.perf_counter()
        cross, steps = task.gram.block(out, rest), np.zeros(len(task.pairs), dtype=np.int64)
        for stack in stacks(task.gram.restrict(rest), task.codes[rest], task.C[rest], options.cache_mb):
            if not stack.solve(backend, rules, MOST_STEPS).all():
                return None
            # h(x) = Σ αᵢ k(x, xᵢ) + b
            sums = (cross[:, stack.rows] * stack.problems.alpha).sum(axis=2)
            values[np.ix_(out, stack.numbers)] = sums + stack.problems.intercept
            steps[stack.numbers] = stack.problems.results[:, STEPS]
        seconds = (time.perf_counter() - began) / len(task.pairs)
        for number, (pair, count) in enumerate(zip(task.pairs, steps.tolist(), strict=True)):
            reports.append((number, FoldReport(h, pair, count, 0, 0.0, seconds, Status.CONVERGED, None)))
    return values, [report for _, report in sorted(reports, key=lambda each: each[0])]
