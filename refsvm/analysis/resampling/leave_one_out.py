"""leave_one_out: the exact leave-one-out error.

Algorithm 1 of Franc, Laskov & Müller (2008):

    Solve the problem on all examples.
    Decide the examples that the sufficiency checks can decide.
    For each undecided example, empty its box, start at the seeder's α, and take steps until the stopping rule holds.
    If the sign of h is still uncertain, take steps to smaller KKT gaps.
    The error is the share of wrong predictions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.results import LeaveOneOut
from refsvm.analysis.resampling.small_left_out import PLAIN, SmallPairs, have_small_pairs
from refsvm.analysis.resampling.task import Task, task_given
from refsvm.analysis.resampling.task_table import TaskTable
from refsvm.analysis.resampling.ties import settle_ties
from refsvm.core._checks import positive, refuses
from refsvm.core.engine.limits import interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.core.kernels.rows import megabytes
from refsvm.core.result import Status
from refsvm.core.rounds.leave_one_out import algorithm_1
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY
from refsvm.core.rounds.sufficiency import CHECKS, Check, chosen_checks
from refsvm.core.rounds.walked import WALK
from refsvm.core.seeders import TOP, Seeder
from refsvm.core.selectors.base import WorkingSetSelector
from refsvm.core.solver.options import RunOptions
from refsvm.core.steps.base import StepRule
from refsvm.core.stopping import BallRule, KKTGap, StoppingRule
from refsvm.services.line import line_of
from refsvm.services.names import chosen_kernel
from refsvm.services.types import ArrayLike, KernelLike

FULL_TOL: Final = 0.1, 1e-3
"""The tolerance of the full solution is the tolerance of the rounds times one of these factors. The first is used for
rounds to a KKT gap, because checks and seeds depend on the full solution. The second is used for rounds that prove
signs, because the checks prove more signs if the duality gap is smaller."""

BALL: Final = BallRule(relative=True)

PATH_TOL: Final = 1e-8
"""Tolerance of rounds with exact seeds; a walk alone does not finish a round with a larger KKT gap."""


@takes_model()
@refuses(
    tol="give stop=BallRule({}, relative=True)", cv="leave it out, or call cross_validate(X, y, folds={})"
)
def leave_one_out(
    X: ArrayLike = None, y: ArrayLike = None, *, kernel: KernelLike = "rbf", gamma: str | float = "scale",
    degree: int = 3, coef0: float = 0.0, gram: ArrayLike = None, C: float | np.ndarray = 1.0,
    epsilon: float | None = None, nu: float | None = None, seeder: Seeder | None = None,
    stop: StoppingRule | None = None, selector: WorkingSetSelector | None = None, step: StepRule | None = None,
    checks: Iterable[str | Check] = CHECKS, efficiency_test: bool = True, n_jobs: int | None = None,
    engine: str = "auto", cache_mb: float = 200.0, max_iter: int | None = None, time_limit: float | None = None,
    callback: Callable[[Progress], object] | None = None, trace: bool | int = False, progress: bool | str = "auto",
) -> LeaveOneOut:  # fmt: skip
    """Predict each example by a model trained on all other examples.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) kernel matrix.
        Instead of X, y and the parameters you can pass a `DualProblem`. An
        estimator can come first: ``leave_one_out(SVC(C=10), X, y)``.
    y : array-like of shape (n,)
        Labels of two or more classes, or targets if `epsilon` is given. With
        two classes the larger label is the positive class; with more classes
        the models of all pairs of classes vote. Omit y if `nu` is given.
    kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`, with the defaults of `refsvm.SVC`.
        γ is computed from all examples.
    C : float or array-like of shape (n,)
        Penalty, 1 by default. An array gives each example its own penalty,
        which is also its weight: an example of weight w counts w times in the
        scores, and all its copies are left out together. Examples of weight 0
        are ignored; with `nu`, C holds the weights.
    epsilon : float, optional
        If given, the task is a regression with this ε, as in
        `DualProblem.regression`.
    nu : float, optional
        If given, the task is novelty detection with this ν, as in
        `DualProblem.one_class`. In the round without example r, the sum of α
        is ν times the total weight of the other n − 1 examples.
    seeder : Seeder, optional
        Rule that makes the starting point of a round, by default ``TOP()``,
        which needs the fewest steps. ``ATO(margin=inf, budget=inf)`` follows a
        path to the optimum of the round, and is the default if the full
        solution takes many steps (`refsvm.core.rounds.walked`).
    stop : StoppingRule, optional
        Rule that ends a round, by default ``BallRule(relative=True)``.
        `BallRule` proves the sign of the decision value, mostly without a
        step; use ``KKTGap(1e-3)`` if you need the value. The notes list the
        defaults of other tasks and seeders.
    selector, step
        As in `refsvm.solve`.
    checks : iterable of Check or str
        Checks that may decide an example without training: "zero alpha",
        "training error", "xi-alpha bound", "ball", or your own
        (`refsvm.core.rounds.sufficiency.Check`). By default the first three
        are used. For regression and novelty detection only "zero alpha"
        applies.
    efficiency_test : bool, default True
        If True and `stop` proves signs, the first ten rounds test this rule:
        if it ends fewer than half of these rounds early, the KKT gap replaces
        it. `BallRule` is never replaced: the solver evaluates it rarely.
    n_jobs : int, optional
        Number of threads; −1 means one for each core. If joblib is set up for
        processes (``joblib.parallel_config``), `n_jobs` is the number of
        processes. The workers share the rounds; the pairs of classes are
        processed one after another.
    engine : {"auto", "numba", "numpy"}, default "auto"
        Whether the rounds run in compiled or in readable code, with the same
        predictions and α. "auto" starts with readable code, and changes to
        compiled code once compiled code saves time.
    cache_mb : float, default 200
        Budget for kernel rows in MiB. Compiled rounds need a budget for n²
        values, for a regression 5n²; with a smaller budget, kernel rows are
        computed on demand.
    max_iter : int, optional
        Limit on the steps of each round.
    time_limit : float, optional
        Limit on the whole call in seconds.
    callback : callable, optional
        Called repeatedly with a `refsvm.core.engine.progress.Progress`, whose
        ``done`` and ``total`` count the decided examples and all examples.
        If the callback returns True, the call ends. With k > 2 classes
        ``done`` and ``total`` count an example k − 1 times, once for each of
        its pairs. With a callback, the rounds of pairs of small classes are
        run one after another instead of in one call.
    trace : bool or int, default False
        Record every step, or every k-th step, of each round.
    progress : bool or "auto", default "auto"
        Whether to show the progress on a line on stderr. "auto" shows the line
        in a terminal or a notebook after two seconds (`refsvm.services.line`).

    Returns
    -------
    LeaveOneOut
        The predictions and scores. If a limit or the callback ended the call,
        ``is_complete`` is False, `status` says why, the scores are NaN, and
        `bounds` contains the lowest and highest possible value of each score.

    Raises
    ------
    ValueError
        If arguments are out of range or contradict each other.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` contains the examples decided so far.

    Warns
    -----
    ConvergenceWarning
        If some models are not solved; without scikit-learn a
        `refsvm.core.engine.unsolved.UnsolvedWarning`.

    Notes
    -----
    The default of `stop` depends on the task and the seeder. With a seeder
    that follows a path to the optimum, the default rule is ``KKTGap(1e-8,
    relative=True)``. Regression and novelty detection need decision values, so
    their default rule is ``KKTGap(relative=True)``, and `leave_one_out`
    refuses rules that prove a sign. The tolerance of a regression is at most
    1e-3 times the standard deviation of the targets. The rule `LOODualityGap`
    proves signs like `BallRule`, but each of its tests costs as much as
    several steps.

    With more than two classes, an example is left out of the pairs that
    contain its class, and predicted by the votes of all pairs, as in
    `refsvm.SVC`. A regression has two variables for each example, which are
    left out together.

    If an example is the only member of its class, one class remains to train
    on. The model trained on one class is constant, and predicts the left-out
    example wrongly. Examples with C = 0 are predicted by the full solution,
    which does not use them, and they count in no score.

    The sign of h is proved for each example: by a check, by the stopping rule,
    or by the duality gap at the end of the round, with an allowance for
    rounding (`refsvm.core.stopping.midpoint`). If the duality gap at the end
    of a round does not prove the sign, `leave_one_out` solves the round again
    to smaller gaps, makes an exact step, and computes h with twice as many
    digits. If the sign is still not proved, the example is a "tie". The h of a
    tie is 0 up to rounding, or has different signs at the two ends of the
    interval in which b may lie, as for an example in the middle of the gap
    between two classes. The prediction of a tie uses the midpoint of b's
    interval. In `bounds`, a tie counts as correct in the lowest error and as
    wrong in the highest error.

    No sign is proved if K is not positive semi-definite, if C is infinite, or
    if kernel values are float32. Without proofs, the KKT gap ends all rounds,
    and ``LeaveOneOut.is_proved`` is False. If you passed a check or a rule
    that proves signs, `leave_one_out` then warns that no sign is proved.

    Examples
    --------
    >>> from refsvm import RBF, leave_one_out
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> loo = leave_one_out(heart.X, heart.y, kernel=RBF(0.005), C=1.0)
    >>> round(loo.error, 4), loo.is_complete, loo.counts["zero alpha"]
    (0.1444, True, 112)

    The residuals of a regression, here of the first feature on the others:

    >>> loo = leave_one_out(heart.X[:, 1:], heart.X[:, 0], kernel=RBF(0.005), C=10.0, epsilon=1.0)
    >>> loo.residuals.shape, round(loo.rmse, 1), round(loo.r2, 2)
    ((270,), 0.8, 0.3)
    """
    report = Progress("leave_one_out", "examples", "these")
    with line_of(report, progress):
        task = task_given(X, y, chosen_kernel(kernel, gamma, degree, coef0), gram, C, epsilon=epsilon, nu=nu)
        options = RunOptions(
            selector=selector, step=step, stop=stop, engine=engine, cache_mb=cache_mb, max_iter=max_iter,
            time_limit=time_limit, trace=trace, n_jobs=n_jobs,
        )  # fmt: skip
        table = run_leave_one_out(task, options, seeder, checks, efficiency_test, callback, report)
        result = result_of(table)
    if hasattr(X, "iloc"):
        result = replace(result, index=X.index)
    warn_of(table, result)
    return unless_interrupted("leave_one_out", result, table.is_pressed)


def run_leave_one_out(
    task: Task, options: RunOptions, seeder: Seeder | None = None, checks: Iterable[str | Check] = CHECKS,
    efficiency_test: bool = True, callback: Callable[[Progress], object] | None = None,
    progress: Progress | None = None,
) -> TaskTable:  # fmt: skip
    """Return the leave-one-out results of a task as a table, without warnings; `warn_of` issues the warnings."""
    if task.gram.n < 2:
        raise ValueError(
            "X holds one example, so leaving it out leaves no training data; give at least two examples."
        )
    slow_problem_seeder = WALK if seeder is None else seeder
    is_plain = seeder is None and checks is CHECKS and type(options.stop) in PLAIN
    seeder, stop, checks = chosen_for(task, seeder, options.stop, checks)
    kkt = KKTGap(positive(f"the tolerance of stop={stop!r}", stop.tolerance), stop.relative)
    # solve the full problem in float64 to a fraction of the tolerance, because checks and the seeder use its solution
    options = replace(
        options, stop=KKTGap(kkt.tol * FULL_TOL[stop.left_out], kkt.relative or True), cache_dtype="float64",
        shrinking=task.gram.dense is None and megabytes(task.gram.n, task.gram.n) > options.cache_mb,
    )  # fmt: skip
    task = task if task.has_one_machine else task.with_shared_matrix(options.cache_mb)
    table = TaskTable(task, progress or Progress("leave_one_out"), callback)
    # `interruptible` delays the effect of Ctrl-C until a round has ended
    with interruptible() as interrupt, np.errstate(under="ignore"):
        small = None
        if is_plain and callback is None and have_small_pairs(task, options):
            small = SmallPairs(task, options, kkt, table)
            table.take_small(small.run(), options.time_limit, interrupt)
        for number, part in enumerate(task.parts()):
            if small is not None and number in small.solved:
                table.fulls.append(small.solution(part, small.solved[number]))
                continue
            if table.status is not Status.CONVERGED:  # after a limit, start no further pair
                continue
            here = table.begin(part, options)
            algorithm_1(here, (seeder, slow_problem_seeder), stop, kkt, checks, efficiency_test)
            settle_ties(here, (seeder, slow_problem_seeder)[here.is_slow], kkt.relative)
            table.end(part, here)
        table.is_pressed = interrupt.pressed
    table.progress.close()
    return table


def chosen_for(
    task: Task, seeder: Any, stop: Any, checks: Any
) -> tuple[Seeder, StoppingRule, tuple[Check, ...]]:
    """Return the seeder, the stopping rule and the checks of a task: the user's choice, or the defaults of the task."""
    by_sign = task.kind == CLASSIFICATION
    seeder = Seeder.checked("seeder", TOP() if seeder is None else seeder)
    default = BALL if by_sign else task.gap()
    # use a tight tolerance if the seeder's starting points are exact, because rounds then need no step
    default = task.gap(PATH_TOL) if seeder.is_exact else default
    stop, chosen = StoppingRule.checked("stop", default if stop is None else stop), chosen_checks(checks)
    if by_sign:
        return seeder, stop, chosen
    if stop.left_out:
        raise ValueError(
            f"stop={stop!r} proves the sign of a decision value, but {task.kind} needs the value; use KKTGap()."
        )
    return seeder, stop, tuple(check for check in chosen if check.keeps_machine)


def warn_of(table: TaskTable, result: LeaveOneOut) -> None:
    """Warn if examples were decided by models that are not solved, or if a limit left examples undecided."""
    bad = unsolved([*table.unsolved.values(), result.status])
    left, rests = int((~result.is_known).sum()), "they still predict their examples"
    if left:
        rests = f"{left} of {len(result.labels)} examples are not decided"
    warn_of_unsolved("machines of leave-one-out", bad, table.total, rests)


def result_of(table: TaskTable) -> LeaveOneOut:
    """Return the `LeaveOneOut` that a table contains, with the names of the classes."""
    task: Any = table.task
    fulls, known = table.fulls, (table.decided != "").all(axis=1)
    is_unsolved = np.zeros(len(known), dtype=bool)
    is_unsolved[[r for r, _ in table.unsolved]] = True
    each: Any = slice(None) if table.values.shape[1] > 1 else 0
    width = max(map(len, {*table.decided.flat}))  # faster than finding the width by `astype(str)`
    # where h was not computed, use its sign, because predictions depend only on signs
    values = np.where(np.isnan(table.values), table.signs, table.values)
    predictions = task.predicted(values, known)
    for name in ("", "tie", "limit"):
        values[table.decided == name] = np.nan
    return LeaveOneOut(
        kind=task.kind, classes=task.classes, predictions=predictions, labels=task.labels,
        decided_by=table.decided[:, each].astype(f"U{width}"), decision_values=table.values[:, each],
        iterations=sum(full.iterations for full in fulls) + int(table.iterations.sum()),
        round_iterations=table.iterations.sum(axis=1),
        kernel_rows=task.rows_computed + sum(family.rows.computed for family in table.families),
        seconds=table.progress.seconds,
        full_solutions=tuple(fulls[:1] if task.kind == NOVELTY else fulls),
        status=Status.CONVERGED if known.all() else table.status,
        engine=next((each for each in [*(it.used for it in table.families), *(it.engine for it in fulls)] if each), ""),
        gap_rule_kept=all(table.rule_kept) if table.rule_kept else None, traces=table.traces, weights=task.weights,
        is_solved=known & ~is_unsolved, machine=task.machine,
        sides=values, is_proved=table.proved[:, each],
    )  # fmt: skip
