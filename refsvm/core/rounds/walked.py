"""Problems on which SMO takes many steps, such as a linear machine at a large C: their optimum by a walk in C.

If free α must be exact to a thousandth of the bounded ones, steps of pairs gain almost nothing. At a small C the
optimum takes few steps. From there the walk of `refsvm.core.seeders.ato` follows it to the C of the problem; the same
walk leads from the machine of all examples to the machine without one of them. Where a matrix on the way is singular,
shrinking and one exact step (`refsvm.services.guards.polish`) go on from where the walk ended.
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
"""A problem is walked from so many steps on, in all and for each variable; most problems take 1 to 10 for each."""

EASIER: Final = 0.1
"""A walk begins at a C that is at least ten times smaller."""

WALK: Final = ATO(margin=math.inf, budget=math.inf, max_events=100_000)
"""Follows every variable, to the end."""

EASY, WALKED, ORIGIN = "at an easy C", "walked to", "origin"
"""Names of solutions that rounds keep: on the way, and the one of all examples from which folds start."""


def few_steps(n: int) -> int:
    """Return the steps after which a problem of n variables is left to `walked`."""
    return max(FEW_STEPS, STEPS_EACH * n)


def walked(rounds: Rounds, begun: Solution, kkt: KKTGap) -> tuple[Rounds, Solution]:
    """Solve a problem on which steps alone take long; return rounds that shrink, and its solution.

    Parameters
    ----------
    rounds : Rounds
        Without shrinking; its rule is that of the solution.
    begun : Solution
        Where its first steps have ended.
    kkt : KKTGap
        A looser rule, from which one exact step is expected to lead to the optimum.

    Returns
    -------
    Rounds
        With shrinking, over the same store of kernel rows.
    Solution
        Its steps and seconds include those of `begun`.
    """
    began, rounds = time.perf_counter(), rounds.with_shrinking()
    origin, steps, problem = begun.in_solver_coordinates(rounds.problem), begun.iterations, rounds.problem
    share = easy_share(problem, rounds.rows.diagonal())
    if share < EASIER:
        plan = [Round(keep=EASY, C=share), Round(origin=EASY, keep=WALKED)]
        steps += sum(each.iterations for each in rounds.run(plan, WALK, kkt))
        origin = rounds.solutions.pop(WALKED, origin)
        rounds.solutions.pop(EASY, None)
    if rounds.status is Status.CONVERGED:
        solution = rounds.solve(start=origin.alpha, origin=origin, stop=kkt)
        steps += solution.iterations
        if solution.status is Status.CONVERGED:  # the exact step has mostly done it
            solution = rounds.solve(start=solution.alpha, origin=solution.in_solver_coordinates(problem))
            steps += solution.iterations
    else:
        solution = replace(begun, status=rounds.status)
    seconds = begun.seconds + time.perf_counter() - began
    return rounds, replace(solution, iterations=steps, seconds=seconds)


def folds_walked_to(
    rounds: Rounds, plan: Sequence[Round], seeder: Seeder, walk: Seeder | None, **options: Any
) -> Iterator[RoundResult]:
    """Yield the results of `refsvm.Rounds.run`; if the origin takes many steps, walk to it, and from it to each fold.

    Parameters
    ----------
    rounds : Rounds
        After it, they hold the origin and the status.
    plan : sequence of Round
        The origin first, without anything left out, or `rounds` holds it.
    seeder : Seeder
    walk : Seeder or None
        The seeder of problems on which SMO takes many steps; None: that is not looked at.
    **options
        Of `refsvm.Rounds.run`.
    """
    few, rest = few_steps(rounds.problem.n), list(plan)
    if walk is None or rounds.first_iterations < few:
        for ended in rounds.run(plan, seeder, **options):
            yield ended
            if walk is not None and ended.left_out is None and ended.iterations >= few:
                break
        else:
            return
        rest = rest[1:]
    origin = rounds.solutions[ORIGIN]
    if origin.status is Status.MAX_ITER:
        stop = rounds.rules.stop
        other, found = walked(rounds, origin, KKTGap(stop.tolerance, stop.relative))
        rounds.solutions[ORIGIN] = other.solutions[ORIGIN] = found.in_solver_coordinates(other.problem)
        nothing = RoundResult(None, (), found.iterations - origin.iterations, "", found.status, 0.0, 0.0, 0)
        yield nothing._replace(solve_seconds=found.seconds - origin.seconds)
    else:
        other = rounds.with_shrinking()
    if other.status is Status.CONVERGED:
        yield from other.run(rest, walk, **options)
    rounds.status = other.status


def easy_share(problem: DualProblem, diagonal: np.ndarray) -> float:
    """Return the factor of the box at which no variable changes an output by more than 1; 1 where there is no walk.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import DualProblem, Linear
    >>> from refsvm.core.rounds.walked import easy_share
    >>> problem = DualProblem.classification(np.array([[0.0], [10.0]]), np.array([-1, 1]), kernel=Linear(), C=50.0)
    >>> easy_share(problem, problem.gram.diagonal())
    0.0002
    """
    if problem.z != 0.0 or problem.is_open:  # a smaller box may not hold z; an infinite one has no share
        return 1.0
    size = float(np.abs(diagonal).max() * (problem.upper - problem.lower).max())
    return 1.0 / size if size > 1.0 else 1.0
