"""k-fold cross-validation whose rounds share kernel rows and start from each other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from refsvm._checks import examples, penalties, positive_or_inf, refuse_targets, whole
from refsvm.kernels import Kernel, Precomputed
from refsvm.multiclass.prediction import votes
from refsvm.problem import DualProblem
from refsvm.resampling.family import in_parts, pair_problems, shared_gram
from refsvm.resampling.fold_rounds import FoldRounds
from refsvm.resampling.folds import fold_numbers
from refsvm.result import Status
from refsvm.seeders.base import Seeder
from refsvm.seeders.sir import SIR
from refsvm.solver.handover import prepare_for_threads
from refsvm.solver.limits import Interrupt, interruptible

__all__ = ["CrossValidation", "Round", "cross_validate", "thread_count"]


@dataclass(frozen=True)
class Round:
    """One round: a fold held out, for one pair of classes.

    Attributes
    ----------
    fold : int
        The fold held out.
    pair : (int, int)
        Numbers of the two classes.
    iterations, kernel_rows : int
        Steps; kernel rows computed in this round.
    seed_seconds, solve_seconds : float
        Time to make the start, and to solve from there. Rounds that are made and run in one go share both alike.
    status : Status
    """

    fold: int
    pair: tuple[int, int]
    iterations: int
    kernel_rows: int
    seed_seconds: float
    solve_seconds: float
    status: Status


@dataclass(frozen=True)
class CrossValidation:
    """What cross-validation found, and what it cost.

    Attributes
    ----------
    classes : ndarray of shape (k,)
        The labels, sorted.
    predictions : ndarray of shape (n,)
        Label predicted for each example by the round that held it out; its own label if that round is missing, which
        only happens in an incomplete result.
    decision_values : ndarray of shape (n, k(k − 1)/2), float64
        h of each pair in that round, signs and order as in `refsvm.SVC`; NaN if it is missing.
    fold : ndarray of shape (n,), int64
        Fold of each example.
    errors : ndarray of shape (folds,), float64
        Part of each fold that is predicted wrongly; NaN if a round of it is missing.
    error : float
        Part of all examples that is, those of missing rounds left out.
    rounds : tuple of Round
        One for each fold and pair, pair after pair.
    status : Status
        CONVERGED; INTERRUPTED after Ctrl-C; or that of the first round that was not solved to the tolerance.
    iterations, kernel_rows : int
        Of all rounds, and of the full solution where one was the origin.
    seconds : float
        Wall time.
    """

    classes: np.ndarray
    predictions: np.ndarray = field(repr=False)
    decision_values: np.ndarray = field(repr=False)
    fold: np.ndarray = field(repr=False)
    errors: np.ndarray = field(repr=False)
    error: float
    rounds: tuple[Round, ...] = field(repr=False)
    status: Status
    iterations: int
    kernel_rows: int
    seconds: float

    @property
    def is_complete(self) -> bool:
        """Whether every round was run."""
        return not np.isnan(self.decision_values).any()

    @property
    def seed_seconds(self) -> float:
        """Time all seeds took."""
        return sum(each.seed_seconds for each in self.rounds)

    @property
    def solve_seconds(self) -> float:
        """Time all rounds took from their seeds on."""
        return sum(each.solve_seconds for each in self.rounds)


def cross_validate(
    X: Any,
    y: Any,
    *,
    kernel: Kernel | Precomputed | Callable[..., np.ndarray] | None = None,
    C: float | np.ndarray = 1.0,
    folds: Any = 10,
    seeder: Seeder | None = None,
    from_full: bool = True,
    stratified: bool = False,
    rng: Any = None,
    n_jobs: int | None = None,
    cache_mb: float = 200.0,
    **options: Any,
) -> CrossValidation:
    """Predict every example by a classifier that was trained without its fold.

    The rounds are one family: a fold held out is L = U = 0. Kernel rows are computed once for all of them, each starts
    where `seeder` says, and the decision values of the fold are read off the gradient, h(xᵢ) = vᵢ − Gᵢ + b. Whatever
    the seeder, each round is solved to the tolerance, so only the cost depends on it.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix.
    y : array-like of shape (n,)
        Labels, two or more classes; more are solved one-vs-one, with the votes of `refsvm.SVC`.
    kernel : kernel object or callable, default Linear()
    C : float or array-like of shape (n,)
        Penalty.
    folds : int, array-like of int of shape (n,), or splitter
        See `refsvm.resampling.folds.fold_numbers`; n folds are leave-one-out.
    seeder : Seeder, default SIR()
        Where a round starts, given an earlier solution.
    from_full : bool, default True
        Solve on all examples first and start every round from there: rounds are then independent, nothing joins, and
        what a fold had is spread over the others. Otherwise the first round is cold and each other one
        starts from the round before it, as in the paper.
    stratified : bool
        Share each class equally among the folds.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are shared among folds; None leaves them in order.
    n_jobs : int, optional
        Threads, which share the kernel matrix if the budget holds it; each takes neighbouring folds. −1: one for each
        core.
    cache_mb : float
        Budget for kernel rows in MiB. Where it holds the whole matrix, that is computed in one product.
    **options
        Further arguments of `refsvm.Rounds`: selector, step, stop, engine, shrinking, cache_dtype, max_iter,
        time_limit, callback.

    Returns
    -------
    CrossValidation
        After Ctrl-C, of the rounds that are done; its ``status`` says so.

    Raises
    ------
    ValueError
        On bad input, with a sentence; see `DualProblem.classification` and `fold_numbers`.

    Examples
    --------
    >>> from refsvm import RBF, SIR, cross_validate
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> result = cross_validate(heart.X, heart.y, kernel=RBF(0.005), C=10.0, folds=10, seeder=SIR(), rng=0)
    >>> round(result.error, 2), len(result.rounds), result.kernel_rows
    (0.17, 10, 270)
    """
    began = time.perf_counter()
    X = examples(X)
    classes, codes = numbered(y, X.shape[0])
    C = penalties(C, len(codes))
    fold = fold_numbers(folds, codes, stratified=stratified, rng=rng)
    binary = np.where(codes == 0, -1, 1)
    positive_or_inf("cache_mb", cache_mb)
    gram = shared_gram(DualProblem.classification(X, binary, kernel=kernel, C=C).gram, cache_mb)
    pairs, workers = list(combinations(range(len(classes)), 2)), thread_count(n_jobs)
    parts = in_parts(list(range(int(fold.max()) + 1)), -(-workers // len(pairs)))
    problems = pair_problems(gram, codes, C)
    tasks = [(pair, problem, part) for pair, problem in zip(pairs, problems, strict=True) for part in parts]
    seeder = SIR() if seeder is None else seeder

    with interruptible() as interrupt:

        def work(task: tuple[tuple[int, int], DualProblem, list[int]]) -> Part:
            return run(*task, fold, seeder, from_full, interrupt, {"cache_mb": cache_mb, **options})

        done = in_threads(work, tasks, workers)
    rows = gram.n if gram.dense is not None and not isinstance(kernel, Precomputed) else 0
    result = gathered(done, pairs, classes, codes, fold, rows, began)
    return replace(result, status=Status.INTERRUPTED) if interrupt.pressed else result


@dataclass(frozen=True)
class Part:
    """What one thread did: some folds of one pair."""

    pair: tuple[int, int]
    rounds: list[Round]
    held_out: np.ndarray
    values: np.ndarray
    iterations: int
    kernel_rows: int


def run(
    pair: tuple[int, int],
    problem: DualProblem,
    numbers: list[int],
    fold: np.ndarray,
    seeder: Seeder,
    from_full: bool,
    interrupt: Interrupt,
    options: dict[str, Any],
) -> Part:
    """Solve some rounds of one pair, one after the other, until done or Ctrl-C."""
    folds = FoldRounds(problem, fold, seeder, from_full, **options)
    values, reports = np.full(len(fold), np.nan), []
    try:
        for done in folds.run(numbers):
            held_out, ended = fold == done.fold, done.ended
            values[held_out] = ended.decision_values[held_out]
            cost = ended.iterations, done.kernel_rows, done.seed_seconds, ended.seconds
            reports.append(Round(done.fold, pair, *cost, ended.status))
    except KeyboardInterrupt:
        if not interrupt.pressed:
            raise
    folds.close()
    held_out = np.isin(fold, [each.fold for each in reports])
    return Part(pair, reports, held_out, values, folds.iterations, folds.kernel_rows)


def gathered(
    done: list[Part],
    pairs: list[tuple[int, int]],
    classes: np.ndarray,
    codes: np.ndarray,
    fold: np.ndarray,
    rows: int,
    began: float,
) -> CrossValidation:
    """Return the result of all parts; `rows` kernel rows were computed for all of them."""
    values = np.full((len(codes), len(pairs)), np.nan)
    for part in done:
        values[part.held_out, pairs.index(part.pair)] = part.values[part.held_out]
    known = ~np.isnan(values).any(axis=1)
    predicted = codes.copy()
    predicted[known] = votes(values[known], len(classes))
    wrong = np.where(known, predicted != codes, np.nan)
    rounds = tuple(each for part in done for each in part.rounds)
    statuses = [each.status for each in rounds if each.status is not Status.CONVERGED] + [Status.CONVERGED]
    return CrossValidation(
        classes=classes,
        predictions=classes[predicted],
        decision_values=values,
        fold=fold,
        errors=np.bincount(fold, wrong) / np.bincount(fold),
        error=float(wrong[known].mean()) if known.any() else float("nan"),
        rounds=rounds,
        status=statuses[0],
        iterations=sum(part.iterations for part in done),
        kernel_rows=rows + sum(part.kernel_rows for part in done),
        seconds=time.perf_counter() - began,
    )


def numbered(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels, sorted, and the number of each example's label among them.

    Raises
    ------
    ValueError
        If there are not n labels, or they are all the same.
    """
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y has shape {labels.shape}; expected {n} labels, one for each row of X.")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y contains NaN or infinity; drop those examples first.")
    refuse_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds a single class, {classes.tolist()[0]!r}; two classes are needed to train.")
    return classes, np.asarray(codes, dtype=np.int64)


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads are asked for: −1 is one for each core this process may use.

    Examples
    --------
    >>> from refsvm.resampling.cross_validation import thread_count
    >>> thread_count(None), thread_count(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole("n_jobs", n_jobs, 1)


def in_threads(work: Callable[[Any], Any], tasks: list[Any], count: int) -> list[Any]:
    """Return ``[work(task) for task in tasks]``, by several threads if wanted."""
    if count == 1 or len(tasks) == 1:
        return [work(task) for task in tasks]
    prepare_for_threads()
    with ThreadPoolExecutor(count, "refsvm-folds") as pool:
        return list(pool.map(work, tasks))
