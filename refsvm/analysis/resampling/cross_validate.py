"""k-fold cross-validation: the rounds share kernel rows, and each round starts from an earlier solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.folds import fold_numbers
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.results import CrossValidation, FoldReport
from refsvm.analysis.resampling.small_folds import TAKEN, are_many_and_small, small_folds
from refsvm.analysis.resampling.task import Task, task_given
from refsvm.core._checks import known_options, refuses
from refsvm.core.engine.limits import interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.core.kernels import Kernel, Precomputed
from refsvm.core.kernels.rows import megabytes
from refsvm.core.result import Status
from refsvm.core.rounds.chain import planned
from refsvm.core.rounds.machine import CLASSIFICATION, Machine
from refsvm.core.rounds.round import RoundResult
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.rounds.walked import WALK, folds_walked_to
from refsvm.core.seeders import AVG, SIR, Seeder
from refsvm.core.solver.options import OPTIONS, RunOptions
from refsvm.services.line import line_of
from refsvm.services.names import chosen_kernel
from refsvm.services.pool import share_memory
from refsvm.services.types import ArrayLike, FoldsLike, RandomLike


@takes_model()
@refuses(
    cv="give folds={}", n_splits="give folds={}", tol="give stop=KKTGap({}, relative=True)", random_state="give rng={}",
    scoring="the result has every score of its task; refsvm.SVCCV takes scoring={}",
)  # fmt: skip
def cross_validate(
    X: ArrayLike = None, y: ArrayLike = None, *,
    kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf", gamma: str | float = "scale",
    degree: int = 3, coef0: float = 0.0, gram: ArrayLike = None, C: float | np.ndarray = 1.0,
    epsilon: float | None = None, nu: float | None = None,
    folds: FoldsLike = 10, seeder: Seeder | None = None, from_full: bool = True,
    stratified: bool = False, rng: RandomLike = None, groups: ArrayLike = None,
    n_jobs: int | None = None, cache_mb: float = 200.0, progress: bool | str = "auto",
    **options: Any,
) -> CrossValidation:  # fmt: skip
    """Predict every example by a model that was trained without the example's fold.

    All rounds share one kernel matrix. Each round is solved to the tolerance,
    so `seeder` changes predictions only within the tolerance.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix.
        Instead of X, y and the parameters you can pass a `DualProblem`. An
        estimator can come first: ``cross_validate(SVC(C=10), X, y)``.
    y : array-like of shape (n,)
        Labels of two or more classes, or targets if `epsilon` is given. With
        more than two classes, the models of all pairs vote as in `refsvm.SVC`.
        Omit y if `nu` is given.
    kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`, with the defaults of `refsvm.SVC`.
        γ is computed from all examples.
    C : float or array-like of shape (n,)
        Penalty, 1 by default. An array gives each example its own penalty,
        which is also its weight in the scores; examples of penalty 0 are
        ignored. If `nu` is given, C contains the weights of the examples.
    epsilon : float, optional
        If given, the task is a regression with this ε, as in
        `DualProblem.regression`.
    nu : float, optional
        If given, the task is novelty detection with this ν, as in
        `DualProblem.one_class`.
    folds : int, array-like of int of shape (n,), splitter, or iterable of pairs (train, test)
        Number of folds, 10 by default, or the fold of each example; see
        `refsvm.analysis.resampling.folds.fold_numbers`. With n folds,
        `cross_validate` is leave-one-out.
    seeder : Seeder, optional
        Rule that makes the starting point of a round from an earlier solution.
        By default `AVG` with ``from_full=True`` and `SIR` with
        ``from_full=False``; the notes name two exceptions.
    from_full : bool, default True
        Whether to solve on all examples first and start every round from this
        solution. If `from_full` is False, the first round starts from zero and
        each later round from the solution of the round before, as in the
        paper that proposes `SIR`.
    stratified : bool, default False
        Whether to share the examples of each class equally among the folds.
        Only classification supports `stratified`.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are assigned to folds; None leaves
        them in order.
    groups : array-like of shape (n,), optional
        Group of each example, for a splitter that uses groups, such as
        scikit-learn's ``GroupKFold``.
    n_jobs : int, optional
        Number of threads; −1 means one for each core. If joblib is set up for
        processes (``joblib.parallel_config``), `n_jobs` is the number of
        processes. The results are bit for bit the same as with one thread.
    cache_mb : float, default 200
        Budget for kernel rows in MiB. A kernel matrix that fits into the
        budget is computed in one product.
    progress : bool or "auto", default "auto"
        Whether to show the progress on a line on stderr. "auto" shows the line
        in a terminal or a notebook after two seconds (`refsvm.services.line`).
    **options
        Further arguments of `refsvm.Rounds`: selector, step, stop, engine,
        shrinking, cache_dtype, max_iter, time_limit, callback, trace. The
        notes describe the default tolerance and the callback.

    Returns
    -------
    CrossValidation
        The predictions and scores. If a limit or the callback ended the call,
        `status` names the cause, the scores are NaN, and `bounds` contains the
        lowest and highest possible value of each score.

    Raises
    ------
    ValueError
        If an argument is invalid; see `DualProblem.classification` and
        `fold_numbers`.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` contains the rounds finished so far.

    Warns
    -----
    ConvergenceWarning
        If some rounds are not solved; without scikit-learn a
        `refsvm.core.engine.unsolved.UnsolvedWarning`.

    Notes
    -----
    All rounds solve the same problem, except that the examples of the held-out
    fold have L = U = 0. Kernel rows are computed once for all rounds, and the
    decision values of a fold are read off the gradient, h(xᵢ) = vᵢ − Gᵢ + b.

    With ``from_full=True`` the rounds are independent, and `AVG` spreads the α
    of a fold over the other examples. The default seeder has two exceptions.
    If the full solution takes many steps, for instance with a large C and a
    linear kernel, a path in C leads to the full solution, and from there `ATO`
    follows a path to the optimum of each round (`refsvm.core.rounds.walked`).
    With ten classes or more, and at most 64 examples in each pair of classes,
    `cross_validate` trains the models of all pairs in a fold together, from
    α = 0.

    The default tolerance is 1e-3 times the range of the decision values, but
    at most 1e-3; for a regression, at most 1e-3 times the standard deviation
    of the targets. After each fold, and within long folds, the callback gets a
    `refsvm.core.engine.progress.Progress`. It contains the number of finished
    folds, and its ``state`` is the solver's state in the current round. If the
    callback returns True, all rounds end.

    For ``gamma="scale"``, scikit-learn computes γ from each training set;
    `cross_validate` computes γ once, from all examples.

    Examples
    --------
    >>> from refsvm import RBF, SIR, cross_validate
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> result = cross_validate(heart.X, heart.y, kernel=RBF(0.005), C=10.0, folds=10, seeder=SIR(), rng=0)
    >>> round(result.error, 2), len(result.rounds), result.kernel_rows
    (0.17, 10, 270)

    A regression, here of the first feature on the others:

    >>> result = cross_validate(heart.X[:, 1:], heart.X[:, 0], kernel=RBF(0.005), C=10.0, epsilon=1.0, folds=5)
    >>> round(result.rmse, 1), round(result.r2, 2), len(result.fold_rmse)
    (0.8, 0.28, 5)
    """
    known_options("cross_validate", options, OPTIONS)
    fold_progress = Progress("cross_validate", "folds", "these")
    kernel = chosen_kernel(kernel, gamma, degree, coef0)
    line, task = line_of(fold_progress, progress), task_given(X, y, kernel, gram, C, epsilon=epsilon, nu=nu)
    fold = folds_of(task, folds, stratified=stratified, rng=rng, groups=groups)
    # check `folds` before computing the kernel matrix, and start the time limit before the first machine
    is_plain, stop = options.keys() <= TAKEN, options.pop("stop", None)
    run_options = RunOptions(
        stop=task.gap() if stop is None else stop, cache_mb=cache_mb, n_jobs=n_jobs, **options
    )
    default = AVG() if from_full else SIR()
    walk = WALK if seeder is None and from_full else None
    is_small = walk is not None and is_plain and are_many_and_small(task, fold, run_options)
    seeder = Seeder.checked("seeder", default if seeder is None else seeder)
    with line:
        # share the kernel matrix among threads; processes cannot share it, so each process computes its own rows
        if share_memory(n_jobs) or is_small:
            task = task.with_shared_matrix(cache_mb, single=run_options.cache_dtype == "float32")
        if megabytes(task.gram.n, task.gram.n) <= cache_mb and run_options.cache_dtype == "auto":
            run_options = replace(run_options, cache_dtype="float64")
        held_out = [(fold == h).nonzero()[0] for h in range(fold.max() + 1)]
        table = FoldTable(task, fold, fold_progress)
        with interruptible() as interrupt, np.errstate(under="ignore"):
            if is_small and task.gram.dense is not None:
                table.take_small(small_folds(task, fold, run_options, interrupt))
            for machine, numbers in table.missing(held_out):
                # --- for each fold, `Runner` sets the boxes of the fold's examples to 0, and solves from the seed ---
                rounds = Rounds.of(machine.problem, run_options)
                plan = planned(machine, [held_out[h] for h in numbers], seeder, from_full)
                table.take(machine, folds_walked_to(rounds, plan, seeder, walk, time_seeds=True), rounds)
        fold_progress.close()
        result = table.result()
    if hasattr(X, "iloc"):
        result = replace(result, index=X.index)
    warn_of_rounds(result)
    result = replace(result, status=Status.INTERRUPTED) if interrupt.pressed else result
    return unless_interrupted("cross_validate", result)


def folds_of(task: Task, folds: Any, *, stratified: bool, rng: Any, groups: Any) -> np.ndarray:
    """Return the fold number of each example."""
    if stratified and task.kind != CLASSIFICATION:
        raise ValueError(
            f"stratified=True shares classes among the folds, but {task.kind} has no classes; omit it."
        )
    marks = task.codes if task.kind == CLASSIFICATION else task.labels
    return fold_numbers(folds, marks, stratified=stratified, rng=rng, groups=groups)


def warn_of_rounds(result: CrossValidation) -> None:
    """Warn if rounds were not solved to the tolerance, or if a limit ended the call before all rounds were run."""
    endings, left = unsolved(each.status for each in result.rounds), int((~result.is_known).sum())
    if left and not endings:
        endings = unsolved([result.status])
    n, total = len(result.labels), int(result.fold.max() + 1) * result.decision_values.shape[1]
    rests = f"{left} of {n} examples are not predicted" if left else "still predict their folds"
    warn_of_unsolved("rounds of cross-validation", endings, total, rests)


CUT_SHORT: Final = (Status.TIME_LIMIT, Status.CALLBACK, Status.INTERRUPTED)
"""Statuses of rounds that could continue if the limit were raised."""


class FoldTable:
    """The decision values of each example, predicted by each machine in the round that holds the example out.

    Parameters
    ----------
    task : Task
        The task.
    fold : ndarray of shape (n,), int
        Fold number of each example.
    progress : Progress
        Counts the finished folds of each machine.
    """

    def __init__(self, task: Task, fold: np.ndarray, progress: Progress) -> None:
        self.task, self.fold, self.progress = task, fold, progress
        self.values = np.full((len(fold), len(task.pairs)), np.nan)  # decision values h
        self.reports, self.endings = list[FoldReport](), list[Status]()
        self.iterations, self.kernel_rows = 0, task.rows_computed
        total = int(fold.max() + 1) * len(task.pairs)
        if len(task.classes) > 2:
            progress.unit = "folds and pairs"
        progress.begin("first round", total=total, look=self._tell)

    def missing(self, held_out: Sequence[np.ndarray]) -> Iterator[tuple[Machine, list[int]]]:
        """Yield each machine that has no results, and the numbers of its folds; end once a limit has ended a round."""
        for machine in self.task.machines() if not self.reports else ():
            for family, numbers in self.task.families(machine, held_out):
                if set(self.endings) <= {Status.CONVERGED}:
                    yield family, numbers

    def take(self, machine: Machine, ended: Iterator[RoundResult], rounds: Rounds) -> None:
        """Store the results that the iterator `ended` yields for the rounds of one machine."""
        column, rounds.limits.progress = self.task.pairs.index(machine.pair), self.progress
        for each in ended:
            if self.progress.under_way:
                self.progress.begin("")
            self.iterations += each.iterations
            if each.left_out is not None:
                # compute h(xᵢ) = vᵢ − Gᵢ + b of the held-out examples from the gradient
                examples = each.left_out[: len(each.left_out) // machine.copies]
                # if a limit ended a round early, the round's machine makes no predictions
                if each.status not in CUT_SHORT:
                    self.values[examples, column] = each.values
                cost = each.iterations, each.kernel_rows, each.seed_seconds, each.solve_seconds
                h = int(self.fold[examples[0]])
                self.reports.append(FoldReport(h, machine.pair, *cost, each.status, each.trace))
        self.kernel_rows += rounds.rows.computed
        self.endings.append(rounds.status)

    def _tell(self) -> None:
        """Pass the numbers of finished folds and of wrong predictions to the progress line."""
        task, known, wrong = self.task, ~np.isnan(self.values).any(axis=1), None
        if task.kind == CLASSIFICATION and known.any():
            wrong = int((task.predicted(self.values, known) != task.labels).sum())
        self.progress.tell(len(self.reports), wrong)

    def take_small(self, solved: tuple[np.ndarray, list[FoldReport]] | None) -> None:
        """Store the results of `small_folds`, unless they are None, which means that the folds were not solved."""
        if solved is not None:
            self.values, self.reports = solved
            self.iterations = sum(each.iterations for each in self.reports)

    def result(self) -> CrossValidation:
        """Return the `CrossValidation` that the table contains, with the names of the classes."""
        task, known = self.task, ~np.isnan(self.values).any(axis=1)
        # sort the reports, because workers finish rounds in any order
        self.reports.sort(key=lambda each: (each.pair, each.fold))
        ends = [each.status for each in self.reports] + self.endings
        return CrossValidation(
            kind=task.kind, classes=task.classes, predictions=task.predicted(self.values, known), labels=task.labels,
            decision_values=self.values, fold=self.fold, rounds=tuple(self.reports),
            status=next((each for each in ends if each is not Status.CONVERGED), Status.CONVERGED),
            iterations=self.iterations, kernel_rows=self.kernel_rows, seconds=self.progress.seconds,
            weights=task.weights, machine=task.machine,
        )  # fmt: skip
