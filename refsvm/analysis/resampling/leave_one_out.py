"""leave_one_out: the exact leave-one-out error.

Algorithm 1 of Franc, Laskov & Müller (2008):

    solve on all examples
    decide what the sufficiency checks decide
    for each of the others:  empty its box, start at the seed, go on until the stopping rule is satisfied
    where h is next to zero at the KKT gap:  go on to smaller gaps, until its sign is certain
    the error is the share of wrong predictions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.results import LeaveOneOut
from refsvm.analysis.resampling.task import Task, task_given
from refsvm.analysis.resampling.task_table import TaskTable
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
from refsvm.services.names import asked

FULL_TOL: Final = 0.1
"""The full solution is that much more exact than the rounds: they begin there, and the checks rest on it."""

BALL: Final = BallRule(relative=True)

PATH_TOL: Final = 1e-8
"""The KKT gap of rounds whose seeds are exact: what does not meet it was not reached by the path alone."""


@takes_model
@refuses(
    tol="give stop=BallRule({}, relative=True)", cv="leave it out, or call cross_validate(X, y, folds={})"
)
def leave_one_out(
    X: Any = None, y: Any = None, *, kernel: Any = "rbf", gamma: str | float = "scale", degree: int = 3,
    coef0: float = 0.0, gram: Any = None, C: float | np.ndarray = 1.0,
    epsilon: float | None = None, nu: float | None = None, seeder: Seeder | None = None,
    stop: StoppingRule | None = None, selector: WorkingSetSelector | None = None, step: StepRule | None = None,
    checks: Iterable[str | Check] = CHECKS, efficiency_test: bool = True, n_jobs: int | None = None,
    engine: str = "auto", cache_mb: float = 200.0, max_iter: int | None = None, time_limit: float | None = None,
    callback: Callable[[Progress], object] | None = None, trace: bool | int = False, progress: bool | str = "auto",
) -> LeaveOneOut:  # fmt: skip
    """Predict each example by a machine trained on all others.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples; with ``kernel=Precomputed()`` the (n, n) Gram matrix. Or a
        `DualProblem` of classification, regression or novelty detection; y,
        kernel, gram, C, epsilon and nu are then left out. Or a `refsvm.SVC`,
        `SVR` or `OneClassSVM` with its parameters, before the examples:
        ``leave_one_out(SVC(C=10), X, y)``. γ is then that of all examples.
    y : array-like of shape (n,)
        Labels of any type, of two classes or more; of two the larger is the
        positive one. More are solved one-vs-one, over one kernel matrix, with
        the votes of `refsvm.SVC`: an example is left out of the pairs that it
        is in, and asked of the machines of all others. With `epsilon` the
        targets of a regression. With `nu` there is no y.
    kernel, gamma, degree, coef0, gram
        As in `DualProblem.classification`: the defaults of `refsvm.SVC`.
    C : float or array-like of shape (n,)
        Penalty. One for each example is its weight, too: it counts so many
        times in the scores, compared with others, and all copies of it leave
        together; of weight 0 it is not there. With `nu`, the weights of the
        examples.
    epsilon : float, optional
        Asks for a regression: ε, as in `DualProblem.regression`. An example
        has two variables, which leave together.
    nu : float, optional
        Asks for novelty detection: ν, as in `DualProblem.one_class`. Without r
        the sum of α is that of n − 1 examples.
    seeder : Seeder
        Where a round starts; ``TOP()`` by default, which needs the fewest
        steps. ``ATO(margin=inf, budget=inf)`` walks to the optimum without r
        from event to event; steps of SMO follow only if the matrix of the free
        variables is singular. It is the default where the machine of all
        examples takes many steps, as at a large C with a linear kernel
        (`refsvm.core.rounds.walked`).
    stop : StoppingRule
        When a round ends; ``BallRule(relative=True)`` by default,
        ``KKTGap(1e-8, relative=True)`` if the seeder walks to the end.
        `BallRule` certifies only the sign of the decision value, in most
        rounds without taking a step. Use ``KKTGap(1e-3)`` if you need the
        value itself. `LOODualityGap` proves the sign too, but a step with it
        costs several without. Regression and novelty detection ask for values:
        ``KKTGap(relative=True)`` is the default there, and rules that prove a
        sign are refused. The tolerance of a regression follows the unit of its
        targets: 1e-3 times their standard deviation.
    selector, step
        As in `refsvm.solve`.
    checks : iterable of Check or str
        Which checks may decide without training: some of "zero alpha",
        "training error", "xi-alpha bound", "ball", or your own
        (`refsvm.core.rounds.sufficiency.Check`). Of regression and novelty
        detection those take part that know the machine without r: "zero
        alpha".
    efficiency_test : bool
        Give up a rule for left-out examples that has decided fewer than half
        of the first ten rounds early. `BallRule` is tested too seldom to cost
        much, and is never given up.
    n_jobs : int, optional
        Threads; −1 for one on each core. If joblib is set up for processes
        (``joblib.parallel_config``), processes. The rounds of a machine are
        shared among them; of several classes one pair is asked after the
        other.
    engine : {"auto", "numba", "numpy"}
        The rounds in compiled code, or readable: same predictions, same α.
        "auto" begins readable and goes on in compiled code once that pays.
    cache_mb : float
        Budget for kernel rows in MiB. Compiled rounds need all n² values in
        it, of a regression 5n²; otherwise rows are computed on demand.
    max_iter : int, optional
        Limit on the steps of each round.
    time_limit : float, optional
        Seconds for everything.
    callback : callable, optional
        Called from time to time with a
        `refsvm.core.engine.progress.Progress`: its ``done`` and ``total`` are
        the number of examples decided and n; a true result ends the call. Of
        k > 2 classes both numbers count an example for each of its k − 1
        pairs.
    trace : bool or int
        Record every step, or every k-th, of each round; the steps are the
        same.
    progress : bool or "auto"
        A line on stderr that says how far it is. "auto" shows it in a terminal
        or a notebook, from two seconds on (`refsvm.services.line`).

    Returns
    -------
    LeaveOneOut
        Also after a limit, then with the examples decided so far:
        ``is_complete`` is False, `status` says why, the scores are NaN, and
        their `bounds` hold whatever the others are.

    Raises
    ------
    ValueError
        On arguments out of range or that contradict each other.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose
        ``result`` has the examples decided so far.

    Warns
    -----
    ConvergenceWarning
        If machines are not solved, as `refsvm.SVC` warns;
        `refsvm.core.engine.unsolved.UnsolvedWarning` without scikit-learn.

    Notes
    -----
    An example that is alone in its class leaves one class to train on. The
    machine is then constant, and wrong. Examples with C = 0 are predicted by
    the machine that never used them, and count in no score. Where K is not
    positive semi-definite the checks 2 and 3 and rules for left-out examples
    prove nothing; ε-KKT decides then, with a warning. Where the machine
    without r has no free variable, its intercept may be anything in an
    interval: the middle is taken, as everywhere. A round that the KKT gap ends
    with h next to zero goes on to smaller gaps, down to 1e-8, until the sign
    is certain. Where |h| is less than 5e-8 it is not: that is a tie, which
    rounding decides.

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
    report = Progress("leave_one_out", "decided", "these")
    with line_of(report, progress):
        task = task_given(X, y, asked(kernel, gamma, degree, coef0), gram, C, epsilon=epsilon, nu=nu)
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
    """Run leave-one-out on a task and return its table; the caller warns."""
    if task.gram.n < 2:
        raise ValueError(
            "X holds one example, and without it there is nothing to train on; give at least two."
        )
    slow_problem_seeder = WALK if seeder is None else seeder
    seeder, stop, checks = chosen_for(task, seeder, options.stop, checks)
    kkt = KKTGap(positive(f"the tolerance of stop={stop!r}", stop.tolerance), stop.relative)
    # the solution on all examples is exact to a part of the tolerance, because every check and seed rests on it; the
    # proofs need float64 rows
    options = replace(
        options, stop=KKTGap(kkt.tol * FULL_TOL, kkt.relative or True), cache_dtype="float64",
        shrinking=task.gram.dense is None and megabytes(task.gram.n, task.gram.n) > options.cache_mb,
    )  # fmt: skip
    task = task if task.has_one_machine else task.with_shared_matrix(options.cache_mb)
    table = TaskTable(task, progress or Progress("leave_one_out"), callback)
    with interruptible() as interrupt:  # Ctrl-C ends the rounds between two of them
        for part in task.parts():
            here = table.begin(part, options)
            algorithm_1(here, (seeder, slow_problem_seeder), stop, kkt, checks, efficiency_test)
            table.end(part, here)
            if table.status is not Status.CONVERGED:
                break
        table.is_pressed = interrupt.pressed
    table.progress.close()
    return table


def chosen_for(
    task: Task, seeder: Any, stop: Any, checks: Any
) -> tuple[Seeder, StoppingRule, tuple[Check, ...]]:
    """Return the seeder, the stopping rule and the checks of a task, by default or as given."""
    by_sign = task.kind == CLASSIFICATION
    seeder = Seeder.checked("seeder", TOP() if seeder is None else seeder)
    default = BALL if by_sign else task.gap()
    # an exact seed satisfies any tolerance that rounding allows, so a tight one costs no step
    default = task.gap(PATH_TOL) if seeder.is_exact else default
    stop, chosen = StoppingRule.checked("stop", default if stop is None else stop), chosen_checks(checks)
    if by_sign:
        return seeder, stop, chosen
    if stop.left_out:
        raise ValueError(
            f"stop={stop!r} proves the sign of a decision value, and {task.kind} asks for the value; give KKTGap()."
        )
    return seeder, stop, tuple(check for check in chosen if check.keeps_machine)


def warn_of(table: TaskTable, result: LeaveOneOut) -> None:
    """Warn of examples whose machines are not solved, or not trained at all after a limit."""
    bad = unsolved([*table.unsolved.values(), result.status])
    left, rests = int((~result.is_known).sum()), "they predict their examples all the same"
    if left:
        rests = f"{left} of {len(result.labels)} examples are not decided"
    warn_of_unsolved("machines of leave-one-out", bad, table.total, rests)


def result_of(table: TaskTable) -> LeaveOneOut:
    """Return the result, in the names of the classes."""
    task: Any = table.task
    fulls, known = table.fulls, (table.decided != "").all(axis=1)
    is_unsolved = np.zeros(len(known), dtype=bool)
    is_unsolved[[r for r, _ in table.unsolved]] = True
    each: Any = slice(None) if table.values.shape[1] > 1 else 0
    # sign h(xᵣ), or the votes of all pairs
    values = np.where(np.isnan(table.values), table.signs, table.values)
    return LeaveOneOut(
        kind=task.kind, classes=task.classes, predictions=task.predicted(values, known), labels=task.labels,
        decided_by=table.decided[:, each].astype(str), decision_values=table.values[:, each],
        iterations=sum(full.iterations for full in fulls) + int(table.iterations.sum()),
        round_iterations=table.iterations.sum(axis=1),
        kernel_rows=task.rows_computed + sum(family.rows.computed for family in table.families),
        seconds=table.progress.seconds,
        full_solutions=tuple(fulls[:1] if task.kind == NOVELTY else fulls),
        status=Status.CONVERGED if known.all() else table.status,
        engine=next((family.used for family in table.families if family.used), fulls[0].engine),
        gap_rule_kept=all(table.rule_kept) if table.rule_kept else None, traces=table.traces, weights=task.weights,
        is_solved=known & ~is_unsolved, machine=task.machine,
        sides=np.where(table.decided == "", np.nan, values),
    )  # fmt: skip
