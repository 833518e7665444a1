"""One-vs-one: k classes as k(k − 1)/2 binary problems, in the order, signs and layout of LIBSVM.

`refsvm.analysis.scheme.OneVsOne` defines the pairs. Each pair is a dual problem on the examples of its two classes,
with decision value h_pq(x) = Σ αᵢ k(x, xᵢ) + b.

The coefficients of all pairs share one array of shape (k − 1, m). A support vector of class p belongs to k − 1 pairs of
p with another class. The column of the support vector contains its α in each pair, in the order of the other classes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

import numpy as np

from refsvm.analysis.scheme import OneVsOne
from refsvm.core.engine.limits import interruptible
from refsvm.core.kernels.blocks import called
from refsvm.core.kernels.checked import gram_of_rows, origin_for
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.run import solved
from refsvm.core.stopping.base import StoppingRule
from refsvm.core.stopping.kkt_gap import KKTGap
from refsvm.services.pool import in_threads, is_worth_workers

REMEDY: Final = {
    Status.MAX_ITER: "Scale the features (StandardScaler), raise max_iter, or continue with warm_start=True.",
    Status.TIME_LIMIT: "Raise time_limit, or continue with warm_start=True.",
    Status.INTERRUPTED: "The estimator can predict; warm_start=True continues the training.",
    Status.INSEPARABLE: "Give a finite C, or choose another kernel.",
    Status.NOT_FINITE: "Give a copy of the kernel matrix that no other code writes to, or scale the features.",
    Status.STALLED: "Scale the features (StandardScaler), raise tol, or choose another selector.",
}


@dataclass(frozen=True)
class RowKernel:
    """A user's kernel on examples of any kind, such as strings; the solver's X contains the indices of the examples.

    Parameters
    ----------
    kernel : callable
        ``kernel(X, Z) -> (m, n)`` array or sparse matrix.
    X : ndarray or CSR
        The examples, one in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.analysis.multiclass.one_vs_one import RowKernel
    >>> same = RowKernel(lambda X, Z: (X[:, None] == Z).astype(float), np.array(["a", "b", "a"]))
    >>> same(np.array([[0.0]]), np.array([[0.0], [1.0], [2.0]]))
    array([[1., 0., 1.]])
    """

    kernel: Callable[..., Any]
    X: Any

    def __call__(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Evaluate the kernel between the examples with the indices `rows` and those with the indices `columns`."""
        left = self._examples(rows)
        return called(self.kernel, left, left if columns is rows else self._examples(columns))

    def _examples(self, rows: np.ndarray) -> Any:
        """Return X[rows]; for all rows return X itself, because a kernel may compare its arguments by `is`."""
        numbers = rows.ravel().astype(np.int64)
        return self.X if np.array_equal(numbers, np.arange(self.X.shape[0])) else self.X[numbers]


@dataclass(frozen=True, eq=False)
class Pair:
    """One binary problem of a classification with several classes.

    Attributes
    ----------
    negative, positive : int
        Indices of the two classes.
    rows : ndarray of shape (m,), int64
        Indices of the examples of both classes, ascending.
    problem : DualProblem
        The dual problem of the m examples in `rows`.
    """

    negative: int
    positive: int
    rows: np.ndarray
    problem: DualProblem


@dataclass(frozen=True, eq=False)
class BinaryResult:
    """The solution of one pair of classes; h(x) = Σ αᵢ k(x, xᵢ) + b > 0 means class `positive`.

    Attributes
    ----------
    negative, positive : int
        Indices of the two classes in ``classes_``.
    rows : ndarray of shape (m,), int64
        Indices of the pair's training examples, ascending, without examples of weight 0.
    alpha : ndarray of shape (m,), float64
        Signed α of the examples in `rows`.
    intercept : float
        The intercept b.
    dual_objective, primal_objective, kkt_gap : float
        f(α), F(α, b) at the best b, ψ(α).
    iterations, kernel_rows : int
        Steps taken, and kernel rows computed.
    status : Status
        Why the solver ended.
    decision_range : float
        Largest minus smallest decision value of the training examples, for warnings; inf if the pair converged.
    origin : ndarray of shape (d,) or None
        Point to subtract from the data if the kernel is linear, or None.
    centred_intercept : float
        b for data from which `origin` is subtracted; unlike `intercept`, this b has no rounding error from the shift.
    """

    negative: int
    positive: int
    rows: np.ndarray = field(repr=False)
    alpha: np.ndarray = field(repr=False)
    intercept: float
    dual_objective: float
    primal_objective: float
    kkt_gap: float
    iterations: int
    kernel_rows: int
    status: Status
    decision_range: float = math.inf
    origin: np.ndarray | None = field(default=None, repr=False)
    centred_intercept: float = field(default=0.0, repr=False)

    @classmethod
    def of(cls, pair: Pair, solution: Solution, status: Status) -> BinaryResult:
        """Return the result of a pair from its solution; the result drops the problem, which contains the data."""
        there = solution.in_solver_coordinates()
        return cls(
            pair.negative, pair.positive, pair.rows, solution.alpha, solution.intercept, solution.objective,
            solution.primal_objective, solution.kkt_gap, solution.iterations, solution.kernel_rows, status,
            math.inf if status is Status.CONVERGED else solution.decision_range,
            there.problem.gram.origin, there.intercept,
        )  # fmt: skip

    @property
    def duality_gap(self) -> float:
        """F(α, b) − f(α)."""
        return self.primal_objective - self.dual_objective

    def with_intercept(self, b: float) -> BinaryResult:
        """Return a copy with the intercept b; `dataclasses.replace` would be too slow for thousands of pairs."""
        result = object.__new__(BinaryResult)
        result.__dict__.update(self.__dict__, intercept=b)
        return result

    def scattered(self, n: int) -> np.ndarray:
        """Return a vector with α of all n training examples, shape (n,); α is 0 for examples of other classes."""
        full = np.zeros(n)
        full[self.rows] = self.alpha
        return full


def pairs(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, only: Container[int] | None = None
) -> Iterator[Pair]:
    """Yield the binary problems of all pairs of classes, in order.

    Parameters
    ----------
    kernel : Kernel, Precomputed or callable
        The kernel.
    X : ndarray or CSR of shape (n, d)
        Checked data; for `Precomputed` the (n, n) matrix.
    codes : ndarray of shape (n,), int
        Class numbers 0 … k − 1.
    penalties : ndarray of shape (n,), float64
        C of each example; examples with Cᵢ ≤ 0 are left out. Every class needs an example with Cᵢ > 0.
    only : container of int, optional
        Indices of the pairs to yield, by default all.

    Yields
    ------
    Pair
        The pairs in order.
    """
    n, scheme = len(codes), OneVsOne(int(codes.max()) + 1)
    everyone = np.arange(n) if (penalties > 0.0).all() else np.flatnonzero(penalties > 0.0)
    # all pairs get one origin, because all predict the same examples; with one pair, `gram_of_rows` chooses the origin
    moving = {} if scheme.k == 2 else {"origin": origin_for(kernel, X, everyone), "may_move": False}
    for number, pair in enumerate(scheme.pairs):
        if only is not None and number not in only:
            continue
        there = codes[everyone]
        rows = everyone if scheme.k == 2 else everyone[(there == pair[0]) | (there == pair[1])]
        gram, labels = gram_of_rows(kernel, X, rows, **moving), scheme.labels(codes[rows], pair)
        yield Pair(*scheme.sides(pair), rows, DualProblem._of_labels(gram, labels, penalties[rows]))


def solve_pairs(
    problems: Iterable[Pair], previous: list[BinaryResult] | None, interrupt: interruptible, options: RunOptions,
    workers: int = 1,
) -> Iterator[BinaryResult]:  # fmt: skip
    """Solve the problems of all pairs, one after another, or several at the same time in threads.

    Parameters
    ----------
    problems : iterable of Pair
        The pairs.
    previous : list of BinaryResult or None
        For each pair, an earlier result on the same examples. The solve starts from the α of this result, and repairs
        an infeasible α without a warning.
    interrupt : interruptible
        The object of an open ``with`` block; it records whether the user has pressed Ctrl-C.
    options : RunOptions
        Options of the solves; the time limit applies to all pairs together.
    workers : int
        Number of threads that share the pairs. With compiled code, threads are started if they save time; the results
        do not depend on the number of threads.

    Yields
    ------
    BinaryResult
        Results of the pairs in their order. After Ctrl-C or the time limit, the solver takes only one or a few steps
        for each remaining pair.
    """
    began, engines = time.perf_counter(), set[str]()

    def trained(numbered: tuple[int, Pair]) -> BinaryResult:
        number, pair = numbered
        start = None if previous is None else _feasible_start(previous[number], pair)
        # after Ctrl-C, take one step for each remaining pair: a classifier needs a model of every pair
        pressed = interrupt.pressed
        own = replace(options, max_iter=1, shrinking=False) if pressed else options
        solution = solved(pair.problem, own, start)
        engines.add(solution.engine)
        if options.progress is not None:
            options.progress.tell(options.progress.done + 1)
        cut = pressed and solution.status is not Status.CONVERGED
        return BinaryResult.of(pair, solution, Status.INTERRUPTED if cut else solution.status)

    numbered = enumerate(problems)
    for each in numbered:
        yield trained(each)
        # solve the first pair in this thread: if this solve takes little time, starting threads would take longer
        if workers > 1 and is_worth_workers(2, time.perf_counter() - began, engines != {"numpy"}):
            yield from in_threads(trained, numbered, workers)


def _feasible_start(earlier: BinaryResult, pair: Pair) -> np.ndarray:
    """Return the α of an earlier result for the examples of a pair, moved to the nearest feasible point."""
    # the pair may have lost or gained examples, because a weight may become 0 or positive between two fits
    n = 1 + max([*earlier.rows[-1:], pair.rows[-1]])
    return pair.problem.feasible(earlier.scattered(n)[pair.rows])


Trained = TypeVar("Trained", BinaryResult, Solution)


def worst(results: Sequence[Trained]) -> Trained:
    """Return the result with the largest KKT gap among unconverged results, or among all results if all converged."""
    # the user sees a single status for all pairs, so it must be the worst status
    unfinished = [result for result in results if result.status is not Status.CONVERGED]
    return max(unfinished or results, key=lambda result: result.kkt_gap)


def convergence_message(results: Sequence[Trained], stop: StoppingRule) -> str:
    """Return the warning for pairs that did not converge, with the reason, the worst KKT gap, and the remedy."""
    result, count = worst(results), ""
    if len(results) > 1:
        unfinished = sum(other.status is not Status.CONVERGED for other in results)
        count = f" {unfinished} of {len(results)} pairs of classes did not converge."
    tol, s = stop.tolerance, result.decision_range
    accuracy = f"tol={tol:g}" if isinstance(stop, KKTGap) else f"{stop!r}"
    gap = f"The KKT gap is {result.kkt_gap:.3g}, but the stopping rule requires {accuracy}"
    if stop.relative and 0.0 < s < 1.0:
        gap += f" times {s:.3g}, the range of the decision values: {tol * s:.3g}"
    return f"{result.status.value} {gap}.{count} {REMEDY[result.status]}"


def layout(results: list[BinaryResult], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the α of all pairs in LIBSVM's layout.

    Parameters
    ----------
    results : list of BinaryResult
        Results in the order of `pairs`.
    codes : ndarray of shape (n,), int
        Class numbers.

    Returns
    -------
    support : ndarray of shape (m,), int32
        Indices of the examples with αᵢ ≠ 0 in some pair, grouped by class, ascending within a class.
    n_support : ndarray of shape (k,), int32
        Number of support vectors of each class.
    coefficients : ndarray of shape (k − 1, m), float64
        Coefficients in the layout that the module's docstring describes.
    """
    if len(results) > 1:
        return _layout_of_several(results, codes)
    rows, alpha = results[0].rows, results[0].alpha
    groups = (alpha < 0.0).nonzero()[0], (alpha > 0.0).nonzero()[0]  # the sign of α determines the class
    live = np.concatenate(groups)
    return rows[live].astype(np.int32), np.array([*map(len, groups)], dtype=np.int32), alpha[live][None]


def _layout_of_several(
    results: list[BinaryResult], codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the α of several pairs in the layout that `layout` describes."""
    k = int(codes.max()) + 1
    first, second = (
        np.repeat(classes, [len(result.rows) for result in results])
        for classes in np.array(OneVsOne(k).pairs).T
    )
    rows = np.concatenate([result.rows for result in results])
    alpha = np.concatenate([result.alpha for result in results])
    live = np.flatnonzero(alpha)
    rows, alpha, first, second = rows[live], alpha[live], first[live], second[live]
    support = np.unique(rows)
    # sort by class and keep the ascending order of the support vectors within a class, as LIBSVM does
    support = support[np.argsort(codes[support], kind="stable")]
    position = np.zeros(len(codes), dtype=np.int64)
    position[support] = np.arange(len(support))
    coefficients = np.zeros((k - 1, len(support)))
    # a pair p < q fills row q − 1 for p's support vectors (p has no row for itself), and row p for q's support vectors
    coefficients[np.where(codes[rows] == first, second - 1, first), position[rows]] = alpha
    n_support = np.bincount(codes[support], minlength=k)
    return support.astype(np.int32), n_support.astype(np.int32), coefficients
