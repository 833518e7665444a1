"""Paths in C: a faster way to the optimum if SMO takes many steps, as with linear models at a large C.

If the error of the free α must be below 1/1000 of the bounded α, SMO needs many steps that each gain almost nothing. At
a small C, SMO reaches the optimum in few steps. From this optimum, the seeder `ATO` (`refsvm.core.seeders.ato`) follows
the path of optima to the problem's C. `ATO` also follows the path from the model of all examples to the model without
one example. If the matrix of the free variables becomes singular, the path ends early. SMO with shrinking and one exact
step (`refsvm.services.guards.polish`) then continue from the end of the path.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.rounds import Rounds
from refsvm.core.seeders import Seeder
from refsvm.core.seeders.ato import ATO
from refsvm.core.stopping.kkt_gap import KKTGap

FEW_STEPS: Final = 10_000
STEPS_EACH: Final = 100
"""A path in C continues a solve after FEW_STEPS steps of SMO, or after STEPS_EACH steps for each variable if this
number is larger; most problems need 1 to 10 steps for each variable."""

LONGEST: Final = 30
"""Unless the caller gives `max_iter`, each solve in `walked` ends after this multiple of the steps that `few_steps`
returns."""

EASIER: Final = 0.1
"""A path is followed only if the C at which SMO is fast is below this fraction of the problem's C."""

WALK: Final = ATO(margin=math.inf, budget=math.inf, max_events=100_000)
"""The seeder that follows all variables to the end of the path."""

EASY, WALKED, ORIGIN = "at an easy C", "walked to", "origin"
"""Names under which rounds keep solutions: at the start and at the end of a path in C, and on all examples, where folds
start."""


def few_steps(n: int) -> int:
    """Return the number of SMO steps on n variables after which `walked` continues the solve."""
    return max(FEW_STEPS, STEPS_EACH * n)


def walked(rounds: Rounds, begun: Solution, kkt: KKTGap) -> tuple[Rounds, Solution]:
    """Solve a problem on which SMO alone would take long; return a `Rounds` object with shrinking, and the solution.

    Parameters
    ----------
    rounds : Rounds
        Rounds without shrinking, whose stopping rule the solution must satisfy.
    begun : Solution
        The unfinished solution at which SMO's first steps ended.
    kkt : KKTGap
        A stopping rule whose tolerance is larger than the tolerance of `rounds`. When the solve satisfies this rule,
        one exact step is expected to reach the optimum.

    Returns
    -------
    Rounds
        A `Rounds` object with shrinking, which uses the kernel rows of the given `rounds`.
    Solution
        The solution, whose steps and seconds include the steps and seconds of `begun`.
    """
    began, rounds = time.perf_counter(), rounds.with_shrinking()
    origin, steps, problem = begun.in_solver_coordinates(rounds.problem), begun.iterations, rounds.problem
    most, rounds.max_iter = rounds.max_iter, rounds.options.max_iter or LONGEST * few_steps(problem.n)
    if (share := easy_share(problem, rounds.rows.diagonal())) < EASIER:
        plan = [Round(keep=EASY, C=share), Round(origin=EASY, keep=WALKED)]
        steps += sum(each.iterations for each in rounds.run(plan, WALK, kkt))
        origin = rounds.solutions.pop(WALKED, origin)
        rounds.solutions.pop(EASY, None)
    solution = replace(begun, status=rounds.status)
    if rounds.status is Status.CONVERGED:
        solution = rounds.solve(start=origin.alpha, origin=origin, stop=kkt)
        steps += solution.iterations
        if solution.status is Status.CONVERGED:  # `Polish` has then usually moved α to the exact optimum
            exact = rounds.solve(start=solution.alpha, origin=solution.in_solver_coordinates(problem))
            # if the exact solve reaches its step limit, keep the less exact `solution`; later rounds take more steps
            steps, solution = steps + exact.iterations, solution if exact.status is Status.MAX_ITER else exact
    rounds.max_iter = most
    return rounds, replace(solution, iterations=steps, seconds=begun.seconds + time.perf_counter() - began)


def folds_walked_to(
    rounds: Rounds, plan: Sequence[Round], seeder: Seeder, walk: Seeder | None, **options: Any
) -> Iterator[RoundResult]:
    """Yield the results of `refsvm.Rounds.run`; if the first round takes many steps, end it and use the seeder `walk`.

    Parameters
    ----------
    rounds : Rounds
        The object that runs the rounds; after the call, it holds the solution on all examples and the status. If `walk`
        is given, `folds_walked_to` lowers its `max_iter` to `few_steps` while the first round runs.
    plan : sequence of Round
        The rounds to run; the first round leaves nothing out, unless `rounds` already holds the solution on all
        examples.
    seeder : Seeder
        The usual seeder.
    walk : Seeder or None
        The seeder for problems on which SMO takes many steps; None if the usual seeder makes all seeds.
    **options
        Options of `refsvm.Rounds.run`.
    """
    few, rest, most = few_steps(rounds.problem.n), list(plan), rounds.max_iter
    if walk is not None and rest[0].left_out is None:
        rounds.max_iter = min(most, few)
        yield from rounds.run(rest[:1], seeder, **options)
        rounds.max_iter, rest = most, rest[1:]
    if walk is None or rounds.first_iterations < few:
        yield from rounds.run(rest, seeder, **options)
        return
    origin = rounds.solutions[ORIGIN]
    if origin.status is Status.MAX_ITER:
        stop = rounds.rules.stop
        other, full = walked(rounds, origin, KKTGap(stop.tolerance, stop.relative))
        rounds.solutions[ORIGIN] = other.solutions[ORIGIN] = full.in_solver_coordinates(other.problem)
        nothing = RoundResult(None, (), full.iterations - origin.iterations, "", full.status, 0.0, 0.0, 0)
        yield nothing._replace(solve_seconds=full.seconds - origin.seconds)
    else:
        other = rounds.with_shrinking()
    if other.status is Status.CONVERGED:
        yield from other.run(rest, walk, **options)
    rounds.status = other.status


def easy_share(problem: DualProblem, diagonal: np.ndarray) -> float:
    """Return the factor by which to shrink the box until no αᵢ changes a decision value by over 1; 1 for no change.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear
    >>> from refsvm.core.rounds.walked import easy_share
    >>> problem = DualProblem.classification(np.array([[0.0], [10.0]]), np.array([-1, 1]), kernel=Linear(), C=50.0)
    >>> easy_share(problem, problem.gram.diagonal())
    0.0002
    """
    # a smaller box may contain no α with sum z, and an infinite box cannot shrink
    if problem.z != 0.0 or problem.is_open:
        return 1.0
    size = float(np.abs(diagonal).max() * (problem.upper - problem.lower).max())
    return 1.0 / size if size > 1.0 else 1.0
