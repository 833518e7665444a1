"""`influence`: computes how decision values and a held-out loss change when examples are left out.

For each group, `influence` trains the model without the group (`refsvm.analysis.derivatives.left_out`), computes the
change of h, and the first-order approximation of this change (`refsvm.analysis.derivatives.first_order`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final

import numpy as np

from refsvm.analysis.derivatives.first_order import FirstOrder
from refsvm.analysis.derivatives.left_out import LeftOutGroups
from refsvm.analysis.derivatives.losses import Loss, loss_called
from refsvm.analysis.derivatives.optimum import Optimum, pieces
from refsvm.analysis.resampling.of_model import takes_model
from refsvm.analysis.resampling.task import task_given
from refsvm.core._checks import not_negative, positions, vector
from refsvm.core.engine.limits import interruptible, unless_interrupted
from refsvm.core.engine.progress import Progress
from refsvm.core.engine.unsolved import unsolved, warn_of_unsolved
from refsvm.core.kernels.checked import cross_values, examples_like, matrix_given
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.solver.options import RunOptions
from refsvm.services.labels import classes_of, known_codes, refuse_missing_labels, signed
from refsvm.services.line import checked_callback, line_of
from refsvm.services.names import chosen_kernel
from refsvm.services.summary import Card, Shown, ended
from refsvm.services.types import ArrayLike, KernelLike

TOL: Final = 1e-10
"""KKT gap to which each model is solved, in units of the targets."""

SELDOM: Final = 64
"""If an example's α is nonzero in at most one of this many rows, its products are computed row by row."""


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Shown):
    """The change of decision values and of the loss if a group is left out: value without the group minus full value.

    Attributes
    ----------
    names : ndarray of shape (g,)
        Names of the groups as the user gave them, or numbers of examples.
    members : tuple of ndarrays of int64
        The examples of each group.
    decision_values : ndarray of shape (t,)
        h of the full model, trained on all examples.
    changes, first_order : ndarrays of shape (g, t)
        The change of each h, exactly and to first order. If a limit ended the call, `changes` and `first_order` are NaN
        for the remaining groups; `first_order` is also NaN if no variable remains free without the group.
    loss : float
        The mean loss of the full model; NaN without a loss.
    loss_changes, first_order_loss : ndarrays of shape (g,)
        The change of the mean loss, exactly and to first order; negative if the loss is smaller without the group.
    kkt_gaps : ndarray of shape (g,)
        For each group, the KKT gap of the model trained without the group; NaN if the gap is unknown.
    iterations : int
        Number of steps, over all rounds.
    status : Status
        CONVERGED, or the limit that ended the call.
    seconds : float
        Wall time of the call.
    """

    names: np.ndarray
    members: tuple[np.ndarray, ...]
    decision_values: np.ndarray
    changes: np.ndarray
    first_order: np.ndarray
    loss: float
    loss_changes: np.ndarray
    first_order_loss: np.ndarray
    kkt_gaps: np.ndarray
    iterations: int
    status: Status
    seconds: float

    @property
    def is_known(self) -> np.ndarray:
        """For each group, whether the model without the group was trained, shape (g,)."""
        return ~np.isnan(self.kkt_gaps)

    @property
    def largest(self) -> np.ndarray:
        """For each group, the largest absolute change of a decision value, shape (g,)."""
        return np.asarray(np.abs(self.changes).max(axis=1, initial=0.0))

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with each group's size, largest change, changes of the loss, and KKT gap."""
        import pandas as pd

        return pd.DataFrame(
            {
                "group": self.names,
                "size": [len(each) for each in self.members],
                "largest_change": self.largest,
                "loss_change": self.loss_changes,
                "first_order_loss": self.first_order_loss,
                "kkt_gap": self.kkt_gaps,
            }
        )

    def _card(self) -> Card:
        known = int(self.is_known.sum())
        pairs = {
            "decision values": f"{len(self.decision_values):,}",
            "mean loss": f"{self.loss:.6g}", "steps": f"{self.iterations:,}", "seconds": f"{self.seconds:.3f}",
            "status": self.status.name,
        }  # fmt: skip
        if np.isnan(self.loss):  # no loss was given
            del pairs["mean loss"]
        line = f"{known} of {len(self.names)} groups left out, {len(self.decision_values)} decision values"
        if known:
            largest = float(np.nanmax(self.largest))
            pairs["largest change"] = f"{largest:.6g}"
            line += f", largest change {largest:.3g}"
        is_partial = self.status is not Status.CONVERGED
        line += f", {self.status.name}" * is_partial
        sentence = ended([f"{known:,} of {len(self.names):,} groups left out"], self.status)
        return Card(line, sentence=sentence, is_partial=is_partial, pairs=pairs)


def of_problem(function: Callable[..., Influence]) -> Callable[..., Influence]:
    """Decorate `influence` to accept also the arguments of refsvm 0.4.0: ``influence(problem, groups, X, y)``."""

    @wraps(function)
    def call(*arguments: Any, **options: Any) -> Influence:
        if not arguments or not isinstance(arguments[0], DualProblem | Solution):
            return function(*arguments, **options)
        rest = dict(zip(("groups", "X_test", "y_test"), arguments[1:4], strict=False))
        for old, new in (("X", "X_test"), ("y", "y_test")):
            if old in options:
                rest[new] = options.pop(old)
        return function(arguments[0], *arguments[4:], **rest, **options)

    return call


@of_problem
@takes_model(("SVC", "SVR"))
def influence(
    X: ArrayLike = None, y: ArrayLike = None, *, kernel: KernelLike = "rbf", gamma: str | float = "scale",
    degree: int = 3, coef0: float = 0.0, gram: ArrayLike = None, C: float | np.ndarray = 1.0,
    epsilon: float | None = None, groups: ArrayLike = None, X_test: ArrayLike = None, y_test: ArrayLike = None,
    loss: str | Loss | None = None, tol: float | None = None, engine: str = "auto", cache_mb: float = 1000.0,
    max_iter: int | None = None, time_limit: float | None = None, n_jobs: int | None = None,
    progress: bool | str = "auto", callback: Callable[[Progress], object] | None = None,
) -> Influence:  # fmt: skip
    """Return the change of decision values, and of a loss, when each example or group is left out.

    Parameters
    ----------
    X : array-like or CSR of shape (n, d)
        Examples. Instead of X, y and the parameters you can pass a `DualProblem` of two classes or of a regression, or
        the `Solution` of such a problem, which `influence` then need not solve again. You can also pass an `SVC` or
        `SVR` first, before X and y.
    y : array-like of shape (n,)
        Labels of two classes, of any type; targets if ``epsilon=`` is given.
    kernel, gamma, degree, coef0, gram, C, epsilon
        As in `refsvm.leave_one_out`.
    groups : array-like of shape (n,), or list of arrays of int, optional
        The group of each example, as numbers or texts; or a list with the examples of each group, which may overlap.
        By default each example is a group.
    X_test : array-like or CSR of shape (t, d), optional
        Examples at which decision values are evaluated, by default X. With ``gram=``, X_test contains kernel values, as
        in `Derivative.decision_function`.
    y_test : array-like of shape (t,), optional
        Labels or targets of X_test, for the loss, by default y; with a `DualProblem` the labels are −1 and +1.
    loss : str or Loss, optional
        Loss whose mean over X_test and y_test is evaluated: "squared hinge" or "logistic" for labels; "squared",
        "huber" or "pinball" for targets. See `refsvm.analysis.derivatives.losses`.
    tol : float, optional
        KKT gap to which each model is solved, relative as in ``KKTGap(tol, relative=True)``. The default is 1e-10; for
        a regression it is 1e-10 times the standard deviation of the targets.
    engine, max_iter, n_jobs
        As in `refsvm.leave_one_out`.
    cache_mb : float
        Budget for kernel rows in MiB. If the kernel matrix fits into the budget, `influence` solves each model to a
        loose tolerance, and computes the exact optimum from a linear system. With a smaller budget, `influence` solves
        each model to `tol` with steps of SMO, which is slower.
    time_limit : float, optional
        Limit on the whole call in seconds.
    progress : bool or "auto"
        Progress line on stderr, as in `refsvm.leave_one_out`.
    callback : callable, optional
        Called after each group with a `refsvm.core.engine.progress.Progress`. If the callback returns True, the call
        ends.

    Returns
    -------
    Influence
        The changes. After a limit, the changes of the remaining groups are NaN, and `status` names the limit.

    Raises
    ------
    ValueError
        If the problem is neither classification nor regression, a group is empty, or the loss does not fit the labels
        or targets.
    KeyboardInterrupt
        After Ctrl-C: a `refsvm.core.engine.limits.Interrupted`, whose ``result`` contains the finished groups.

    Warns
    -----
    ConvergenceWarning
        If the result lacks groups, or some models did not converge. Without scikit-learn the warning is a
        `refsvm.core.engine.unsolved.UnsolvedWarning`.

    Examples
    --------
    >>> from refsvm import RBF, influence
    >>> from refsvm.datasets import load
    >>> heart = load("heart")
    >>> held = {"X_test": heart.X[200:], "y_test": heart.y[200:]}
    >>> found = influence(heart.X[:200], heart.y[:200], kernel=RBF(0.005), **held, loss="squared hinge")
    >>> found
    Influence(200 of 200 groups left out, 70 decision values, largest change 0.139)
    >>> int(found.loss_changes.argmin()), round(float(found.loss_changes.min()), 4)
    (22, -0.0083)
    """
    began = time.perf_counter()
    start = X.alpha if isinstance(X, Solution) else None
    machine_given = chosen_kernel(kernel, gamma, degree, coef0), gram
    problem = X.problem if isinstance(X, Solution) else X
    if isinstance(problem, DualProblem):
        task = task_given(problem, y, *machine_given, C, epsilon=epsilon)
    else:
        problem, y_test = problem_given(problem, y, machine_given, C, epsilon, y_test)
        task = task_given(problem, None, None, None)
    if task.kind == NOVELTY:
        raise ValueError(
            "influence does not take novelty detection, where leaving out an example changes the required sum of "
            "alpha; use leave_one_out."
        )
    watching = checked_callback(callback)
    names, members = groups_given(groups, task.gram.n)
    evaluated = EvaluatedExamples.of(X_test, y_test, loss, task)
    stop = task.gap(TOL)
    if tol is not None:
        stop = replace(stop, tol=not_negative("tol", tol))
    options = RunOptions(
        stop=stop, engine=engine, cache_mb=cache_mb, max_iter=max_iter,
        time_limit=time_limit, n_jobs=n_jobs, cache_dtype="float64",
    )  # fmt: skip
    group_progress = Progress("influence", "groups", "these")
    group_progress.begin("", total=len(members))
    with line_of(group_progress, progress), interruptible() as interrupt, np.errstate(under="ignore"):
        machine = next(task.machines())
        left_out = LeftOutGroups(machine, Rounds.of(machine.problem, options), start)
        for done, _ in enumerate(left_out.run(members), 1):
            group_progress.tell(done)
            if watching is not None and watching(group_progress):
                left_out.status = Status.CALLBACK
                break
            if interrupt.pressed:
                left_out.status = Status.INTERRUPTED
                break
        result = of_machines(left_out, names, members, evaluated)
    result = replace(result, seconds=time.perf_counter() - began)
    left = int((~result.is_known).sum())
    rests = f"{left} of {len(members)} groups are not done" if left else "the changes depend on them"
    warn_of_unsolved(
        "machines trained for influence", unsolved([*left_out.endings, result.status]), len(members), rests
    )
    return unless_interrupted("influence", result, interrupt.pressed)


def problem_given(
    X: Any, y: Any, machine: tuple[Any, Any], C: Any, epsilon: float | None, y_test: Any
) -> tuple[DualProblem, Any]:
    """Return the problem of X and y, and the test labels encoded like the labels of the problem."""
    K = matrix_given(X, *machine)
    if epsilon is not None:
        return DualProblem.regression(y=y, gram=K, C=C, epsilon=epsilon), y_test
    classes, labels = signed(y, K.n)
    if y_test is not None:
        y_test = 2.0 * known_codes(y_test, classes, len(y_test)) - 1.0
    return DualProblem.classification(y=labels, gram=K, C=C), y_test


def groups_given(groups: Any, n: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the name and the examples of each group.

    Raises
    ------
    ValueError
        If `groups` does not have one entry for each example, or a group is empty.

    Examples
    --------
    >>> from refsvm.analysis.derivatives.influence import groups_given
    >>> groups_given(["a", "b", "a"], 3)
    (array(['a', 'b'], dtype='<U1'), (array([0, 2]), array([1])))
    >>> groups_given([[0, 2], [1, 2]], 3)[1]
    (array([0, 2]), array([1, 2]))
    """
    if groups is None:
        return np.arange(n), tuple(np.arange(n).reshape(n, 1))
    is_listed = isinstance(groups, Sequence) and not isinstance(groups, str)
    if is_listed and len(groups) and np.iterable(groups[0]) and not isinstance(groups[0], str):
        members = tuple(np.unique(positions("groups", each, n) % n) for each in groups)
        if empty := [number for number, each in enumerate(members) if not len(each)]:
            raise ValueError(f"groups[{empty[0]}] is empty; give at least one example of each group.")
        return np.arange(len(members)), members
    array = np.asarray(groups)
    if array.shape == (n,):  # use objects, because NumPy would turn NaN among texts into a text
        refuse_missing_labels(np.asarray(groups, dtype=object), "groups")
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.shape != (n,) or array.dtype.kind not in "biuUO":
        raise ValueError(
            f"groups has shape {array.shape} and type {array.dtype}; give the group of each of the {n} examples, a "
            "whole number or a text, or a list with the examples of each group."
        )
    names, numbers = classes_of(array, "groups")
    order = np.argsort(numbers, kind="stable")
    return names, tuple(np.split(order, np.searchsorted(numbers[order], np.arange(1, len(names)))))


@dataclass(frozen=True)
class EvaluatedExamples:
    """The examples whose decision values are evaluated, and their loss."""

    X: Any
    y: np.ndarray
    loss: Loss | None

    @classmethod
    def of(cls, X: Any, y: Any, loss: Any, task: Any) -> EvaluatedExamples:
        """Check the arguments; return the examples with their loss."""
        has_labels = task.kind == CLASSIFICATION
        known = None if loss is None else loss_called(loss, has_labels)
        X = None if X is None else examples_like(task.gram, X)
        if y is None and known is not None and X is not None:
            raise ValueError("The loss of X_test needs its labels or targets; give y_test.")
        if y is not None and X is None:
            raise ValueError(
                "y_test was given without its examples; give both X_test and y_test, or neither."
            )
        if known is None:
            return cls(X, np.zeros(0), None)
        labels = vector("y_test", task.labels if y is None else y, task.gram.n if X is None else X.shape[0])
        if has_labels and not np.isin(labels, (-1.0, 1.0)).all():
            raise ValueError("y_test contains other labels than −1 and +1; give −1 and +1 as in the problem.")
        return cls(X, labels, known)

    def mean(self, h: np.ndarray) -> np.ndarray:
        """Return the mean loss of each row of h, shape (g, t); NaN without a loss, and for rows with NaN."""
        means, known = np.full(len(h), np.nan), ~np.isnan(h).any(axis=1)
        if self.loss is not None:
            means[known] = self.loss.value(h[known], self.y).mean(axis=1)
        return means


def of_machines(
    left_out: LeftOutGroups, names: np.ndarray, members: tuple[np.ndarray, ...], evaluated: EvaluatedExamples
) -> Influence:
    """Return how decision values and the loss change when each group is left out."""
    g, m = len(members), left_out.matrix.n
    # row 0: α and b of the full model; the next g rows: their exact changes; the last g rows: their first-order changes
    alpha, b, gaps = np.zeros((2 * g + 1, m)), np.full(2 * g + 1, np.nan), np.full(g, np.nan)
    alpha[0], b[0] = np.bincount(left_out.example, left_out.full.alpha, m), left_out.full.intercept
    for place, (where, change, by_b, gap) in left_out.changes.items():
        alpha[1 + place, where], b[1 + place], gaps[place] = change, by_b, gap
    known = ~np.isnan(gaps)
    _first_order(left_out, members, known, alpha[g + 1 :], b[g + 1 :])
    values = _values(left_out, evaluated.X, alpha)
    values += b[:, None]
    h, changes, first_order = values[0], values[1 : g + 1], values[g + 1 :]
    loss = float(evaluated.mean(h[None])[0])
    return Influence(
        names=names, members=members, decision_values=h, changes=changes, first_order=first_order, loss=loss,
        loss_changes=evaluated.mean(h + changes) - loss, first_order_loss=evaluated.mean(h + first_order) - loss,
        kkt_gaps=gaps, iterations=left_out.iterations, seconds=0.0,
        status=Status.CONVERGED if known.all() else left_out.status,
    )  # fmt: skip


def _first_order(
    left_out: LeftOutGroups,
    members: Sequence[np.ndarray],
    known: np.ndarray,
    alpha: np.ndarray,
    b: np.ndarray,
) -> None:
    """Store the first-order changes of each example's α, and of b, for the groups in the mask `known`."""
    if left_out.full.status is Status.CONVERGED and known.any():
        leaving = FirstOrder(Optimum(left_out.given))
        for place in np.flatnonzero(known).tolist():
            change, b[place] = leaving.change(left_out.machine.variables(members[place]))
            if not np.isnan(b[place]):
                alpha[place] = change


def _values(left_out: LeftOutGroups, X: Any, alpha: np.ndarray) -> np.ndarray:
    """Return Σᵢ αᵢ k(x, xᵢ) for each row of α, shape (rows, t), at the rows of X; if X is None, at the examples."""
    matrix, every = left_out.matrix, np.arange(left_out.matrix.n)
    moves = alpha.any(axis=1)  # rows with α = 0 need no products
    used = np.flatnonzero(alpha.any(axis=0))
    weights = alpha[np.ix_(moves, used)]
    # use a matrix product for examples whose α differs in many rows (mostly free ones); add other terms one by one
    often = SELDOM * np.count_nonzero(weights, axis=0) > len(weights)
    seldom = np.argwhere(np.where(often, 0.0, weights)).tolist()
    t = matrix.n if X is None else X.shape[0]
    values = np.zeros((len(alpha), t))
    for part in pieces(t, max(1, len(used))):
        if X is not None:
            K = cross_values(matrix, used, X[part]).T
        else:
            K = matrix.block(used, every[part]) if left_out.K is None else left_out.K[used, part]
        rows = weights[:, often] @ K[often]
        for row, column in seldom:
            rows[row] += weights[row, column] * K[column]
        values[moves, part] = rows
    return values
