"""Training of all pairs of classes: those of small classes in few calls, the others one after another."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from refsvm.backend import Backend, chosen_backend
from refsvm.engine.limits import Deadline, interruptible
from refsvm.kernels.checked import gram_of_rows, origin_for
from refsvm.kernels.products import stored_for_products
from refsvm.kernels.rows import megabytes
from refsvm.multiclass.one_vs_one import BinaryResult, pairs, solve_pairs
from refsvm.result import Status
from refsvm.solver.rules import Rules, chosen_rules, warn_of_rounding
from refsvm.solver.small import FEW, MOST_STEPS, STEPS, takes
from refsvm.solver.small_pairs import FEWEST_EXAMPLES, Stack, stacks


def train_pairs(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, previous: list[BinaryResult] | None,
    interrupt: interruptible, *, workers: int = 1, time_limit: float | Deadline | None = None, **options: Any,
) -> list[BinaryResult]:  # fmt: skip
    """Train the machines of all pairs of classes.

    Parameters
    ----------
    kernel, X, codes, penalties
        As of `refsvm.multiclass.one_vs_one.pairs`.
    previous, interrupt, workers, time_limit, **options
        As of `refsvm.multiclass.one_vs_one.solve_pairs`.

    Returns
    -------
    list of BinaryResult
        One for each pair, in order. Kernel rows that were computed for several pairs count for the first of them.
    """
    deadline, k = Deadline.after(time_limit), int(codes.max()) + 1
    found = dict[int, BinaryResult]()
    X = stored_for_products(kernel, X)  # as one decision for the examples of all pairs
    if k > 2 and previous is None and are_small(codes, penalties, **options):
        chosen = (
            chosen_backend(options["engine"]),
            chosen_rules(*map(options.get, ("selector", "step", "stop"))),
        )
        budget, most = options["cache_mb"], options["max_iter"] or MOST_STEPS
        found = small_pairs(kernel, X, codes, penalties, interrupt, *chosen, budget, most, deadline)
    left = [number for number in range(k * (k - 1) // 2) if number not in found]
    if left:
        earlier = None if previous is None else [previous[number] for number in left]
        problems = pairs(kernel, X, codes, penalties, None if len(found) == 0 else {*left})
        results = solve_pairs(problems, earlier, interrupt, workers=workers, time_limit=deadline, **options)
        found.update(zip(left, results, strict=True))
    return [found[number] for number in range(len(found))]


def train_present(
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, previous: list[BinaryResult] | None,
    interrupt: interruptible, *, present: np.ndarray, **options: Any,
) -> list[BinaryResult]:  # fmt: skip
    """Train the machines of all pairs of classes, of which `present` alone have a penalty above 0, two at least.

    A pair with a class that has none gets a constant machine, for the other class. So the class never has the most
    votes: it has one at most from each other that is not there either, and each that is there has one from all of them.
    """
    k, numbers = int(codes.max()) + 1, np.full(int(codes.max()) + 1, 0)
    numbers[present] = np.arange(len(present))
    places = [*combinations(range(k), 2)]
    there = [number for number, pair in enumerate(places) if np.isin(pair, present).all()]
    earlier = None if previous is None else [facing(previous[number], len(present) == 2) for number in there]
    trained = train_pairs(kernel, X, numbers[codes], penalties, earlier, interrupt, **options)
    results = [constant(p, q, p in present, q in present, trained[0].origin) for p, q in places]
    for number, result in zip(there, trained, strict=True):
        p, q = places[number]
        turned = facing(result, len(present) == 2)
        results[number] = replace(turned, negative=q, positive=p)
    return results


def facing(result: BinaryResult, turns: bool) -> BinaryResult:
    """Return a result, or the same with the other class as its positive one: a single pair is turned round."""
    if not turns:
        return result
    return replace(
        result, negative=result.positive, positive=result.negative, alpha=-result.alpha,
        intercept=-result.intercept, centred_intercept=-result.centred_intercept,
    )  # fmt: skip


def constant(p: int, q: int, has_p: bool, has_q: bool, origin: np.ndarray | None) -> BinaryResult:
    """Return the machine of two classes of which one is not there: the optimum with α = 0."""
    nothing, b = np.zeros(0, dtype=np.int64), float(has_p) - float(has_q)
    return BinaryResult(
        q,
        p,
        nothing,
        np.zeros(0),
        b,
        0.0,
        0.0,
        0.0,
        0,
        0,
        Status.CONVERGED,
        origin=origin,
        centred_intercept=b,
    )


def are_small(
    codes: np.ndarray, penalties: np.ndarray, *, selector: Any = None, step: Any = None, stop: Any = None,
    cache_dtype: str = "auto", cache_mb: float = 200.0, callback: Any = None, **_: Any,
) -> bool:  # fmt: skip
    """Whether some pairs of classes are small, and nothing is asked for that their solutions in one call lack."""
    if callback is not None or cache_dtype == "float32" or not takes(chosen_rules(selector, step, stop)):
        return False
    sizes = np.sort(np.bincount(codes[penalties > 0.0]))
    # a smaller budget holds no piece of the matrix; `refsvm.solve` does with two rows, and refuses less
    least = min(FEWEST_EXAMPLES, int(sizes.sum()))
    is_enough = cache_mb >= megabytes(least, least)
    return bool(is_enough and sizes[0] + sizes[1] <= FEW and np.isfinite(penalties).all())


def small_pairs(  # noqa: PLR0913, PLR0917 (the arguments of its one caller)
    kernel: Any, X: Any, codes: np.ndarray, penalties: np.ndarray, interrupt: interruptible, backend: Backend,
    rules: Rules, cache_mb: float, max_iter: int, deadline: Deadline,
) -> dict[int, BinaryResult]:  # fmt: skip
    """Train the machines of the pairs of small classes; return them by the numbers of the pairs.

    A pair that is missing is left to `refsvm.solve`: it is larger, needs many steps, or its kernel rounds or is
    indefinite.
    """
    known, found = np.flatnonzero(penalties > 0.0), dict[int, BinaryResult]()
    # one origin for all pairs, as their machines are asked together
    gram = gram_of_rows(kernel, X, known, origin=origin_for(kernel, X, known), may_move=False)
    warn_of_rounding(gram.rounding, rules.stop.tolerance)
    limit, late = min(max_iter, MOST_STEPS), None
    computed = 0 if gram.dense is not None else gram.n
    for stack in stacks(gram, codes[known], penalties[known], cache_mb):
        if interrupt.pressed:
            late = Status.INTERRUPTED
        elif deadline.left() <= 0.0:
            late = Status.TIME_LIMIT
        # every pair needs some α: the classifier is fitted, though not to the end
        stands = stack.solve(backend, rules, limit if late is None else 1)
        results = results_of(stack, stands, late, known, gram.origin)
        for result in list(results.values())[:1]:
            result.__dict__["kernel_rows"], computed = computed, 0
        found.update(results)
    return found


def results_of(
    stack: Stack, stands: np.ndarray, late: Status | None, known: np.ndarray, origin: np.ndarray | None
) -> dict[int, BinaryResult]:
    """Return the results of a stack by the numbers of their pairs: of all of them, if it is late."""
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
        # thousands of them: a frozen dataclass would set its fields one by one
        result = object.__new__(BinaryResult)
        result.__dict__.update(
            negative=negative, positive=positive, rows=row, alpha=point, intercept=intercept,
            dual_objective=objective, primal_objective=primal, kkt_gap=gap, iterations=steps, kernel_rows=0,
            status=Status.CONVERGED if is_done else late, decision_range=range_, origin=origin,
            centred_intercept=intercept,
        )  # fmt: skip
        made[number] = result
    return made
