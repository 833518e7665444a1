"""Trains all pairs of classes; many pairs of small classes are solved in one call, other pairs one after another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refsvm.analysis.multiclass.one_vs_one import BinaryResult, pairs, solve_pairs
from refsvm.analysis.scheme import OneVsOne
from refsvm.analysis.small.small import FEW, MOST_STEPS, STEPS, supports
from refsvm.analysis.small.small_pairs import FEWEST_EXAMPLES, Stack, stacks
from refsvm.analysis.small.stacked import small_backend
from refsvm.core.engine.limits import interruptible
from refsvm.core.kernels.checked import gram_of_rows, origin_for
from refsvm.core.kernels.products import stored_for_products
from refsvm.core.kernels.rows import megabytes
from refsvm.core.result import Status
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.rules import warn_of_rounding
from refsvm.services.pool import worker_count


def train_pairs(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, previous: list[BinaryResult] | None,
    interrupt: interruptible, options: RunOptions,
) -> list[BinaryResult]:  # fmt: skip
    """Train the models of all pairs of classes.

    Parameters
    ----------
    kernel, X, codes, penalties
        As in `refsvm.analysis.multiclass.one_vs_one.pairs`.
    previous, interrupt, options
        As in `refsvm.analysis.multiclass.one_vs_one.solve_pairs`.

    Returns
    -------
    list of BinaryResult
        One result for each pair, in order. Kernel rows computed for several pairs are counted in the first pair that
        uses them.
    """
    scheme, solved = OneVsOne(int(codes.max()) + 1), dict[int, BinaryResult]()
    X = stored_for_products(kernel, X)  # choose dense or CSR once, for all pairs
    if scheme.k > 2 and previous is None and are_small(codes, penalties, options):
        solved = small_pairs(kernel, X, codes, penalties, interrupt, options)
    left = [number for number in range(len(scheme.pairs)) if number not in solved]
    if left:
        earlier = None if previous is None else [previous[number] for number in left]
        problems = pairs(kernel, X, codes, penalties, None if len(solved) == 0 else {*left})
        workers = worker_count(options.n_jobs) if len(left) > 1 else 1
        results = solve_pairs(problems, earlier, interrupt, options, workers)
        solved.update(zip(left, results, strict=True))
    return [solved[number] for number in range(len(solved))]


def train_present(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, previous: list[BinaryResult] | None,
    interrupt: interruptible, options: RunOptions, present: np.ndarray,
) -> list[BinaryResult]:  # fmt: skip
    """Train the models of all pairs of classes; only the classes `present` (at least two) have positive penalties.

    In a pair with an absent class, a constant model votes for the other class. An absent class therefore never wins the
    vote: it gets votes only against other absent classes, while each present class gets a vote against every absent
    class.
    """
    scheme = OneVsOne(int(codes.max()) + 1)
    numbers = np.full(scheme.k, 0)
    numbers[present] = np.arange(len(present))
    there = scheme.places(present)
    earlier = None if previous is None else [facing(previous[number], len(present) == 2) for number in there]
    trained = train_pairs(kernel, X, numbers[codes], penalties, earlier, interrupt, options)
    results = [constant(p, q, p in present, q in present, trained[0].origin) for p, q in scheme.pairs]
    for number, result in zip(there, trained, strict=True):
        p, q = scheme.pairs[number]
        turned = facing(result, len(present) == 2)
        results[number] = replace(turned, negative=q, positive=p)
    return results


def facing(result: BinaryResult, turns: bool) -> BinaryResult:
    """Return the result of a pair; if `turns` is True, swap its two classes, and change the signs of α and b."""
    if not turns:
        return result
    return replace(
        result, negative=result.positive, positive=result.negative, alpha=-result.alpha,
        intercept=-result.intercept, centred_intercept=-result.centred_intercept,
    )  # fmt: skip


def constant(p: int, q: int, has_p: bool, has_q: bool, origin: np.ndarray | None) -> BinaryResult:
    """Return the constant model (α = 0) of a pair in which one or both classes lack examples."""
    nothing, b = np.zeros(0, dtype=np.int64), float(has_p) - float(has_q)
    return BinaryResult(
        negative=q, positive=p, rows=nothing, alpha=np.zeros(0), intercept=b, dual_objective=0.0, primal_objective=0.0,
        kkt_gap=0.0, iterations=0, kernel_rows=0, status=Status.CONVERGED, origin=origin, centred_intercept=b,
    )  # fmt: skip


def are_small(codes: np.ndarray, penalties: np.ndarray, options: RunOptions) -> bool:
    """Return True if some pairs are small enough to be solved together, and the options permit it."""
    if options.callback is not None or options.cache_dtype == "float32" or not supports(options.rules):
        return False
    sizes = np.sort(np.bincount(codes[penalties > 0.0]))
    # the budget must suffice for the kernel matrix of `least` examples; `refsvm.solve` needs only two kernel rows
    least = min(FEWEST_EXAMPLES, int(sizes.sum()))
    is_enough = options.cache_mb >= megabytes(least, least)
    return bool(is_enough and sizes[0] + sizes[1] <= FEW and np.isfinite(penalties).all())


def small_pairs(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, interrupt: interruptible, options: RunOptions
) -> dict[int, BinaryResult]:  # fmt: skip
    """Train the models of the pairs of small classes; return a dict from the index of each pair to its result.

    The dict lacks pairs that have too many examples or need too many steps, and pairs whose kernel matrix is indefinite
    or imprecise; the caller must solve these pairs with `refsvm.solve`.
    """
    known, solved = np.flatnonzero(penalties > 0.0), dict[int, BinaryResult]()
    rules, backend = options.rules, small_backend(options.engine)
    # shift the data of all pairs to one origin, because all pairs predict the same examples
    gram = gram_of_rows(kernel, X, known, origin=origin_for(kernel, X, known), may_move=False)
    warn_of_rounding(gram.facts.data_error, rules.stop.tolerance)
    limit, late = min(options.max_iter or MOST_STEPS, MOST_STEPS), None
    computed = 0 if gram.dense is not None else gram.n
    for stack in stacks(gram, codes[known], penalties[known], options.cache_mb):
        if interrupt.pressed:
            late = Status.INTERRUPTED
        elif options.time_limit.left() <= 0.0:
            late = Status.TIME_LIMIT
        # after a limit, take one step for each remaining pair: a classifier needs a model of every pair
        stands = stack.solve(backend, rules, limit if late is None else 1)
        results = results_of(stack, stands, late, known, gram.origin)
        for result in list(results.values())[:1]:
            result.__dict__["kernel_rows"], computed = computed, 0
        solved.update(results)
    return solved


def results_of(
    stack: Stack, stands: np.ndarray, late: Status | None, known: np.ndarray, origin: np.ndarray | None
) -> dict[int, BinaryResult]:
    """Return a dict from pair index to result; if `late` (a limit's status) is given, include unsolved pairs."""
    problems = stack.problems
    values = problems.v - problems.gradient
    ranges = np.where(stands, np.inf, values.max(axis=1) - values.min(axis=1))
    wanted = np.flatnonzero(stands) if late is None else np.arange(len(stands))
    rows, alpha, b = known[stack.rows], problems.alpha, problems.intercept
    columns = (
        stack.second, stack.first, b, problems.objective, problems.primal_objective, problems.gap,
        problems.results[:, STEPS].astype(np.int64), ranges, stands,
    )  # fmt: skip
    numbers = zip(*(column[wanted].tolist() for column in columns), strict=True)
    arrays = zip(rows[wanted], alpha[wanted], strict=True)
    made: dict[int, BinaryResult] = {}
    for number, (row, point), each in zip(stack.numbers[wanted].tolist(), arrays, numbers, strict=True):
        negative, positive, intercept, objective, primal, gap, steps, range_, is_done = each
        # set all fields in one call: the constructor of a frozen dataclass is slow for thousands of results
        result = object.__new__(BinaryResult)
        result.__dict__.update(
            negative=negative, positive=positive, rows=row, alpha=point, intercept=intercept,
            dual_objective=objective, primal_objective=primal, kkt_gap=gap, iterations=steps, kernel_rows=0,
            status=Status.CONVERGED if is_done else late, decision_range=range_, origin=origin,
            centred_intercept=intercept,
        )  # fmt: skip
        made[number] = result
    return made
