"""k-fold cross-validation whose rounds share kernel rows and start from each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm._checks import positive, positive_or_inf, refuses
from refsvm.engine.limits import interruptible, unless_interrupted
from refsvm.engine.pool import in_workers, is_worth_workers, joblib_is_set_up, worker_count
from refsvm.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.formulations import votes
from refsvm.kernels import Kernel, Precomputed
from refsvm.kernels.matrix import KernelMatrix
from refsvm.kernels.names import asked
from refsvm.kernels.precision import SHARE, share_held
from refsvm.result import Solution, Status
from refsvm.rounds.folds import fold_numbers
from refsvm.rounds.of_model import takes_model
from refsvm.rounds.results import CrossValidation, FoldReport
from refsvm.rounds.round import Round
from refsvm.rounds.rounds import Rounds
from refsvm.rounds.small_folds import are_many_and_small, small_folds
from refsvm.rounds.task import CLASSIFICATION, Machine, Task, shared_gram, task_given
from refsvm.rounds.walked import ORIGIN, WALK, folds_walked_to
from refsvm.seeders import AVG, SIR, Cold, Seeder
from refsvm.selectors.base import WorkingSetSelector
from refsvm.solver.rules import chosen_rules
from refsvm.solver.run import CoarseError
from refsvm.steps.base import StepRule
from refsvm.stopping.base import StoppingRule


@takes_model
@refuses(cv="give folds={}", n_splits="give folds={}", tol="give stop=KKTGap({}, relative=True)")
def cross_validate(
    X: Any = None, y: Any = None, *,
    kernel: str | Kernel | Precomputed | Callable[..., np.ndarray] | None = "rbf", gamma: str | float = "scale",
    degree: int = 3, coef0: float = 0.0, gram: Any = None, C: float | np.ndarray = 1.0,
    epsilon: float | None = None, nu: float | None = None,
    folds: Any = 10, seeder: Seeder | None = None, from_full: bool = True, stratified: bool = False, rng: Any = None,
    groups: Any = None, n_jobs: int | None = None, cache_mb: float = 200.0, **options: Any,
) -> CrossValidation:  # fmt: skip
    """Predict every example by a machine that was trained without its fold.

    The rounds are one family: a fold held out is L = U = 0. Kernel rows are computed once for all of them, each starts
    where `seeder` says, and the decision values of the fold are read off the gradient, h(xᵢ) = vᵢ − Gᵢ + b. Each
    round is solved to the tolerance, so only the cost depends on the seeder.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix. Or a `DualProblem` of classification,
        regression or novelty detection; y, kernel, gram, C, epsilon and nu are then left out. Or a `refsvm.SVC`, `SVR`
        or `OneClassSVM` with its parameters, before the examples: ``cross_validate(SVC(C=10), X, y)``. γ is then
        that of all examples, where scikit-learn's computes "scale" anew for each training part.
    y : array-like of shape (n,)
        Labels, two or more classes; more are solved one-vs-one, with the votes of `refsvm.SVC`. With `epsilon` the
        targets of a regression. With `nu` there is no y.
    kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`: the defaults of `refsvm.SVC`.
    C : float or array-like of shape (n,)
        Penalty. One for each example is its weight, too: how often it counts in the scores, compared with others; of
        weight 0 it is not there. With `nu`, the weights of the examples.
    epsilon : float, optional
        Asks for a regression: ε, as in `DualProblem.regression`.
    nu : float, optional
        Asks for novelty detection: ν, as in `DualProblem.one_class`.
    folds : int, array-like of int of shape (n,), splitter, or iterable of pairs (train, test)
        See `refsvm.rounds.folds.fold_numbers`; n folds are leave-one-out.
    seeder : Seeder, default AVG() from the full solution, SIR() in a chain
        Where a round starts, given an earlier solution; ATO, to the end, by default where the full solution takes many
        steps, as at a large C with a linear kernel (`refsvm.rounds.walked`). Of ten classes and more, whose pairs have
        at most 64 examples, all rounds of a fold are solved in few calls and without a seed, unless one is named here.
    from_full : bool, default True
        Solve on all examples first and start every round from there: rounds are then independent, nothing joins, and
        the weight of a fold is spread over the others. Otherwise the first round is cold and each other one starts from
        the round before it, as in the paper.
    stratified : bool
        Share each class equally among the folds; of classification only.
    rng : int, numpy.random.Generator or None
        Shuffles the examples before they are shared among folds; None leaves them in order.
    groups : array-like of shape (n,), optional
        For a splitter that uses groups, such as scikit-learn's ``GroupKFold``: the group of each example.
    n_jobs : int, optional
        Threads, which share the kernel matrix if the budget holds it; each takes neighbouring folds. −1: one for each
        core. If joblib is set up for processes (``joblib.parallel_config``), processes. Results are those of one thread
        to the last bit.
    cache_mb : float
        Budget for kernel rows in MiB. If it holds all of the matrix, the matrix is computed in one product.
    **options
        Further arguments of `refsvm.Rounds`: selector, step, stop, engine, shrinking, cache_dtype, max_iter,
        time_limit, callback, trace. ``cache_dtype="auto"`` holds kernel values as float32 from 1,500 examples on, with
        a kernel of k(x, x) = 1, the default rules, a tolerance of at least 1e-4, a seeder that reads no kernel rows
        (AVG, Cold), and a C with 2.4e-7 √ΣC² ≤ a tenth of the tolerance, where C of equal examples is summed before it
        is squared. Where the budget holds the matrix as float32 only, 2.4e-7 √Σα² may be as large as the tolerance.
        The callback sees the state of the round under way, as in `refsvm.solve`; a true result ends all rounds.

    Returns
    -------
    CrossValidation
        After a limit or a callback's true result, of the rounds until then: its ``status`` says so, the scores are NaN,
        and their `bounds` hold whatever the other rounds say.

    Raises
    ------
    ValueError
        On bad input, with a sentence; see `DualProblem.classification` and `fold_numbers`.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.engine.limits.Interrupted`, whose ``result`` has the rounds until then.

    Warns
    -----
    ConvergenceWarning
        If rounds are not solved, as `refsvm.SVC` warns; `refsvm.engine.unsolved.UnsolvedWarning` if scikit-learn
        is not loaded.

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
    kernel = asked(kernel, gamma, degree, coef0)
    began, task = time.perf_counter(), task_given(X, y, kernel, gram, C, epsilon=epsilon, nu=nu)
    if stratified and task.kind != CLASSIFICATION:
        raise ValueError(
            f"stratified=True shares classes among the folds, and {task.kind} has none; leave it out."
        )
    marks = task.codes if task.kind == CLASSIFICATION else task.labels
    fold = fold_numbers(folds, marks, stratified=stratified, rng=rng, groups=groups)
    positive_or_inf("cache_mb", cache_mb)
    default, has_seeder = AVG() if from_full else SIR(), seeder is not None
    seeder = Seeder.checked("seeder", default if seeder is None else seeder)
    # before the kernel matrix: a wrong n_jobs should not cost its computation
    workers, options = worker_count(n_jobs), {"cache_mb": cache_mb, **options}
    share = float32_share(task.gram, task.C, seeder, **options) if task.kind == CLASSIFICATION else 0.0
    single, chosen = share > 0.0, options.get("cache_dtype", "auto") == "auto"
    if single:
        options["cache_dtype"] = "float32"
    refused = share if chosen else 0.0
    walk = None if has_seeder or not from_full else WALK
    work = partial(
        held_out, fold=fold, seeder=seeder, walk=walk, from_full=from_full, workers=workers, refused=refused
    )
    result = None
    with interruptible() as interrupt:
        if not has_seeder and from_full and are_many_and_small(task, fold, options):
            held = task.held(cache_mb)
            if held.gram.dense is not None and (found := small_folds(held, fold, options, interrupt)):
                result = made(*found, held, fold, began)  # all of them are solved
        try:
            result = result or work(task, options, single=single, began=began)
        except CoarseError:  # the decision values vary by so little
            result = work(task, {**options, "cache_dtype": "float64"}, single=False, began=began)
    warn_of_rounds(result)
    return finished(result, interrupt.pressed)


def finished(result: CrossValidation, pressed: bool) -> CrossValidation:
    """Return a result; after Ctrl-C raise KeyboardInterrupt with it, unless a block around this call decides."""
    result = replace(result, status=Status.INTERRUPTED) if pressed else result
    return unless_interrupted("cross_validate", result)


def warn_of_rounds(result: CrossValidation) -> None:
    """Warn of rounds that are not solved, or not run at all after a limit."""
    found, left = unsolved(each.status for each in result.rounds), int((~result.is_known).sum())
    if left and not found:
        found = unsolved([result.status])
    rests = (
        f"{left} of {len(result.labels)} examples are not predicted"
        if left
        else "predict their folds all the same"
    )
    total = int(result.fold.max() + 1) * result.decision_values.shape[1]
    warn_of_unsolved("rounds of cross-validation", found, total, rests)


def held_out(
    task: Task, options: dict[str, Any], *, fold: np.ndarray, seeder: Seeder, walk: Seeder | None, from_full: bool,
    workers: int, refused: float, single: bool, began: float,
) -> CrossValidation:  # fmt: skip
    """Hold out all folds, by several workers if there are any; `refused` is that of `Rounds.refuse_float32`."""
    # threads share one kernel matrix; each process computes its own
    task = task if joblib_is_set_up() else task.held(options["cache_mb"], single)
    work = partial(
        hold_out, fold=fold, seeder=seeder, walk=walk, from_full=from_full, refused=refused, options=options
    )
    numbers = [(fold == h).nonzero()[0] for h in range(fold.max() + 1)]
    left = [
        (family, np.array(some))
        for machine in task.machines()
        for family, some in task.families(machine, numbers)
    ]
    done, origins = list[Part](), dict[int, Origin | None]()
    # this thread begins: many problems are over sooner than other threads are started
    while workers > 1 and left and not joblib_is_set_up():
        machine, some = left.pop(0)
        part = work(machine, some, time.perf_counter() - began, machines=1 + len(left))
        done.append(part)
        if part.is_long or part.status is not Status.CONVERGED:
            rest, origins[id(machine)] = some[len(part.reports) :], part.origin
            left = [(machine, rest), *left] if part.is_long and len(rest) else left
            break
    if left and (from_full or isinstance(seeder, Cold)):  # a chain of folds has no parts
        parts = -(-workers // len(left))
        left = [(each, share) for each, some in left for share in np.array_split(some, parts) if len(share)]
    # one after the other: what is spent of the time limit is known when a worker takes its part
    given = ((*each, time.perf_counter() - began, origins.get(id(each[0]))) for each in left)
    done.extend(in_workers(work, given, workers))
    # workers finish in any order, and results do not depend on it
    return gathered(sorted(done, key=lambda part: (part.pair, part.first)), task, fold, began)


def float32_share(
    gram: KernelMatrix, C: np.ndarray, seeder: Seeder, *, selector: WorkingSetSelector | None = None,
    step: StepRule | None = None, stop: StoppingRule | None = None, cache_dtype: str = "auto",
    cache_mb: float, **_: Any,
) -> float:  # fmt: skip
    """Return how far kernel values kept as float32 may move decision values, as a share of the tolerance; 0: float64.

    Parameters
    ----------
    gram : KernelMatrix
    C : ndarray of shape (n,), float64
        Penalties.
    seeder : Seeder
    selector, step, stop, cache_dtype, cache_mb
        As in `refsvm.Rounds`, whose other arguments do not matter.
    """
    rules = chosen_rules(selector, step, stop)
    # one that does not would have copies made of every row it reads
    if seeder.reads_rows or not rules.reads_float32 or cache_dtype == "float64":
        return 0.0
    if cache_dtype == "float32":
        return SHARE
    return share_held(gram, C, rules.stop.tolerance, cache_mb)


CUT_SHORT: Final = (Status.TIME_LIMIT, Status.CALLBACK, Status.INTERRUPTED)
"""Ends of rounds that would go on if they were let."""

MOST_KEPT: Final = 64
"""Folds whose solutions are all in memory until what float32 values do to them has been looked at."""


class Origin(NamedTuple):
    """The solution on all examples of a machine, for its folds in other threads, and the steps that it took."""

    solution: Solution
    steps: int


class Part(NamedTuple):
    """The folds of one pair of classes that one thread held out."""

    pair: tuple[int, int]
    first: int  # the first of these folds
    reports: list[FoldReport]
    values: np.ndarray  # h, shape (n,); NaN where it is not known
    iterations: int
    kernel_rows: int
    status: Status  # CONVERGED, or what ended all rounds
    is_long: bool  # whether several workers are over sooner with what is left
    origin: Origin | None  # where it is, what they start from


def hold_out(
    machine: Machine,
    numbers: np.ndarray,
    spent: float = 0.0,
    origin: Origin | None = None,
    *,
    fold: np.ndarray,
    seeder: Seeder,
    from_full: bool,
    refused: float,
    options: dict[str, Any],
    machines: int = 0,
    walk: Seeder | None = None,
) -> Part:
    """Hold out one fold after another, for one machine: the loop of Wen et al., Algorithm 1 to 3.

    Where the origin takes many steps, `walk` makes the seeds, if it is given (`refsvm.rounds.walked`).
    Told how many `machines` are to come, this one included, it leaves folds to workers once those are over sooner.
    Other machines have `spent` some seconds of the time limit. If `origin` is given, the folds start from it.
    """
    if options.get("time_limit") is not None:
        options = {**options, "time_limit": max(positive("time_limit", options["time_limit"]) - spent, 1e-9)}
    values, reports, steps = np.full(len(fold), np.nan), list[FoldReport](), 0
    single = options.get("cache_dtype") == "float32"  # in a process of its own
    problem, pair, copies = machine
    problem = problem.with_gram(shared_gram(problem.gram, options["cache_mb"], single, problem.z == 0.0))
    rounds = Rounds(problem, **options)
    if refused and single:
        rounds.refuse_float32(refused)
    held_out = [(fold == h).nonzero()[0] for h in numbers]
    plan = planned(machine, held_out, seeder, from_full, named=bool(refused and single))
    if origin is not None:
        rounds.solutions[ORIGIN], rounds.first_iterations = origin
        rounds.most_iterations, plan = max(origin.steps, origin.solution.iterations), plan[1:]

    def is_worthwhile(left: int, seconds: float) -> bool:
        return is_worth_workers(left + (machines - 1) * len(numbers), seconds, rounds.backend.name == "numba")

    is_chain = not from_full and not isinstance(seeder, Cold)
    leaves = None if is_chain or machines == 0 else is_worthwhile
    with interruptible():
        # --- for h = 1 … k: empty the boxes of fold h, start at the seed, solve ---
        for ended in folds_walked_to(rounds, plan, seeder, walk, time_seeds=True, leaves=leaves):
            steps += ended.iterations
            if ended.left_out is not None:
                # h(xᵢ) = vᵢ − Gᵢ + b of the fold, read off the gradient
                examples = ended.left_out[: len(ended.left_out) // copies]
                # a machine that a limit has cut short is not the one that the example is asked of
                if ended.status not in CUT_SHORT:
                    values[examples] = ended.values
                cost = ended.iterations, ended.kernel_rows, ended.seed_seconds, ended.solve_seconds
                reports.append(FoldReport(int(fold[examples[0]]), pair, *cost, ended.status, ended.trace))
    seconds = sum(each.seed_seconds + each.solve_seconds for each in reports) / max(1, len(reports))
    is_long = machines > 0 and is_worthwhile(len(numbers) - len(reports), seconds)
    solved = rounds.solutions.get(ORIGIN) if is_long and from_full else None
    found = None if solved is None else Origin(solved, rounds.first_iterations)
    return Part(
        pair, int(numbers[0]), reports, values, steps, rounds.rows.computed, rounds.status, is_long, found
    )


def planned(
    machine: Machine, held_out: list[np.ndarray], seeder: Seeder, from_full: bool, *, named: bool
) -> list[Round]:
    """Return the rounds of some folds, after that of all examples if they start from it.

    Where they are `named`, their solutions are kept: compiled rounds look at the rounding of those.
    """
    # --- the origin: the solution on all examples, or, in a chain, that of the round before ---
    origin = None if isinstance(seeder, Cold) else ORIGIN
    first = [Round(keep=origin)] if origin and from_full else []
    origins, kept = [origin] * len(held_out), [None if from_full else origin] * len(held_out)
    if named and len(held_out) <= MOST_KEPT:
        kept = [f"fold {k}" for k in range(len(held_out))]
        origins = origins if from_full or origin is None else [origin, *kept[:-1]]
    asked = held_out if machine.copies > 1 else [None] * len(held_out)
    return first + [
        Round(machine.variables(out), start, keep, evaluate=each)
        for out, start, keep, each in zip(held_out, origins, kept, asked, strict=True)
    ]


def gathered(done: list[Part], task: Task, fold: np.ndarray, began: float) -> CrossValidation:
    """Return the result of all parts."""
    values = np.full((len(fold), len(task.pairs)), np.nan)
    place = {pair: number for number, pair in enumerate(task.pairs)}
    for part in done:
        np.copyto(values[:, place[part.pair]], part.values, where=~np.isnan(part.values))
    steps, rows = sum(part.iterations for part in done), sum(part.kernel_rows for part in done)
    reports = [each for part in done for each in part.reports]
    return made(values, reports, task, fold, began, [part.status for part in done], steps, rows)


def made(
    values: np.ndarray, reports: list[FoldReport], task: Task, fold: np.ndarray, began: float,
    endings: Sequence[Status] = (), iterations: int | None = None, kernel_rows: int = 0,
) -> CrossValidation:  # fmt: skip
    """Return the result of these decision values and reports; the steps are theirs if no others are named."""
    known = ~np.isnan(values).any(axis=1)
    if task.kind == CLASSIFICATION:
        codes = task.codes.copy()
        codes[known] = votes(values[known], len(task.classes))
        predictions = task.classes[codes]
    else:
        predictions = task.predicted(values[:, 0])
    ends = [each.status for each in reports] + [*endings]
    return CrossValidation(
        kind=task.kind, classes=task.classes, predictions=predictions, labels=task.labels, decision_values=values,
        fold=fold, rounds=tuple(reports),
        status=next((each for each in ends if each is not Status.CONVERGED), Status.CONVERGED),
        iterations=sum(each.iterations for each in reports) if iterations is None else iterations,
        kernel_rows=task.rows_computed + kernel_rows,
        seconds=time.perf_counter() - began, weights=task.weights, machine=task.machine,
    )  # fmt: skip
