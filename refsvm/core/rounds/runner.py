"""Runner: for each round, sets the box, computes the seed, takes the steps and reads the decision values.

A round may leave out an example or a fold, or solve a cell of a grid. `refsvm.compiled.rounds.packed` runs many rounds
in one call. For each round it returns, bit for bit, the α that this module returns.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Container, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Final

import numpy as np

from refsvm.core._checks import vector
from refsvm.core.engine.limits import interruptible
from refsvm.core.problem import DualProblem
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rule import Rule, is_builtin, memory_of
from refsvm.core.seeders.base import Seeder
from refsvm.core.seeders.neighbour import extrapolate
from refsvm.core.solver.rules import Rules, feasible_start
from refsvm.core.state import NOTHING
from refsvm.core.stopping.base import StoppingRule, has_target
from refsvm.core.stopping.midpoint import sign_at

SHORT_ROUND: Final = 2000
"""Number of steps that a round may take on all variables, before it continues with shrinking."""

_log = logging.getLogger("refsvm")

LARGE: Final = 1000
"""With more examples than this, a round takes milliseconds, so that microseconds of preparation do not matter."""

FOLD_SHARE: Final = 0.01
"""In a large problem, a round that leaves out a larger share than this takes as long as a round from α = 0."""

NOTICE_FROM: Final = 30.0
"""If the rounds are expected to take more seconds than this, the first round logs how many rounds are left."""

LATE_FROM: Final = 3.0
"""Seconds without a result after which a message is logged."""

OVERTIME_SECONDS: Final = 1.0
"""Seconds beyond a time limit that the remaining rounds may take."""

NONE_LEFT_OUT: Final = np.zeros(0, dtype=np.int64)


def log_remaining(rounds: int, seconds: float, name: str = "rounds") -> bool:
    """If the remaining rounds take long, log their number and estimated time, and return True."""
    if (rest := rounds * seconds) > NOTICE_FROM:
        shown = f"{rest:.0f} s" if rest < 120.0 else f"{rest / 60.0:.0f} minutes"
        left = f"{name} are left; they take" if rounds != 1 else f"{name[:-1]} is left; it takes"
        _log.info("%d %s about %s", rounds, left, shown, extra={"notice": True})
    return rest > NOTICE_FROM


class LateNotice:
    """Context manager that logs `sentence`, filled with `values`, if its block takes longer than `LATE_FROM`."""

    def __init__(self, sentence: str, *values: object) -> None:
        notice = {"extra": {"notice": True}}
        self._timer = threading.Timer(LATE_FROM, _log.info, (sentence, *values), notice)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *failure: object) -> None:
        self._timer.cancel()


def log_if_slow(n: int, sentence: str, *values: object) -> AbstractContextManager[None]:
    """Return a context manager that logs a sentence if its block, with n examples, takes longer than `LATE_FROM`."""
    # starting a thread costs some ten microseconds, too much for short calls
    return LateNotice(sentence, *values) if n > LARGE else nullcontext()


class Runner:
    """Runs the rounds of one `Rounds` object with one seeder and one stopping rule.

    Parameters
    ----------
    family : refsvm.Rounds
    seeder : Seeder
    rules : Rules

    Attributes
    ----------
    limit : int
        Largest number of steps of a short round, that is, a round that begins without shrinking (`is_short`); −1 if no
        round is short.
    trained : int
        Number of variables that may move.
    is_large : bool
        True if a round that begins at α = 0 is faster with shrinking from its first step on.
    shares : bool
        True if the seeder computes data from a solution once, for all seeds from this solution (`Seeder.memory`).
    time_seeds : bool
        True if the time for seeds is measured separately from the time for steps.
    proves : bool
        True if each round must try to prove the sign of h at its only left-out example.
    proofs : tuple of str
        The sentences with which the stopping rule reports that the sign of h is proved.
    """

    def __init__(
        self, family: Any, seeder: Seeder, rules: Rules, time_seeds: bool = False, proves: bool = False
    ) -> None:
        self.family, self.seeder, self.rules, self.time_seeds = family, seeder, rules, time_seeds
        self.proves, stop = proves and not family.problem.is_open, rules.stop
        self.proofs = stop.reasons[1:] if stop.left_out and is_builtin(type(stop)) else ()
        self.shares = type(seeder).memory is not Rule.memory
        self._shared: tuple[Solution, int, np.ndarray | None] | None = None
        self._shown: tuple[Solution, Solution] | None = None
        rows, shrinks = family.rows, bool(family.options.shrinking)
        # the problem of a pair of classes trains only on the examples of these two classes
        self.trained = np.count_nonzero(family.problem.lower < family.problem.upper)
        self.is_large = shrinks and self.trained > LARGE
        # short rounds are faster without shrinking, if all rows are in memory and there is no callback
        watched = family.options.callback or family.options.polish
        limit = family.max_iter
        if shrinks:
            watched = watched or family.limits.deadline.is_set or family.problem.is_open
            limit = min(limit, SHORT_ROUND)
        may_be_short = not watched and (rows.holds_all or rows.gram.is_float32)
        self.limit = limit if may_be_short else -1
        # compute all rows in one product, because every round will read most of them
        if may_be_short and not rows.gram.is_float32:
            rows.fetch(np.arange(rows.gram.n))

    def run(self, plan: Iterable[Round]) -> Iterator[RoundResult]:
        """Yield the result of each round, until Ctrl-C or the callback ends the rounds."""
        family, workers, waiting, has_logged = self.family, self.family.workers, deque(plan), False
        limits = family.limits
        while waiting and family.status is Status.CONVERGED:
            began = time.perf_counter()
            # catch Ctrl-C only while rounds are computed, not while this generator is suspended and the caller works
            with interruptible() as interrupt, np.errstate(under="ignore"):
                done = family.backend.rounds(self, waiting)
            each = (time.perf_counter() - began) / len(done)
            # remove rounds from the queue only after they are done, so that a round that raises an error stays in it
            for _ in done:
                waiting.popleft()
            if interrupt.pressed:
                family.status = Status.INTERRUPTED
            # after the time limit, rounds take no steps and end soon, unless their seeds compute kernel rows
            elif limits.seconds_left() < -OVERTIME_SECONDS:
                family.status = Status.TIME_LIMIT
            # the duration of the round on all examples says nothing about the duration of the other rounds
            is_measure = done[-1].left_out is not None
            if is_measure and not has_logged:
                has_logged = log_remaining(len(waiting), each / (workers.count if workers else 1))
            yield from done[:-1] if done[-1].status is Status.INTERRUPTED else done
            # call the callback after the caller has received the results
            if limits.callback and family.status is Status.CONVERGED and limits.ask(family.state):
                family.status = Status.CALLBACK
            may_share = workers and is_measure and family.status is Status.CONVERGED
            if may_share and (shared := workers.share(self, waiting, each)):
                yield from shared
                break

    def is_short(self, each: Round, names: Container[Hashable] | None = None) -> bool:
        """Return True if a round begins without shrinking; `names` are the kept solutions' names.

        On a large problem, rounds that start at α = 0 begin with shrinking, and so do rounds of folds if the first
        round took many steps. The answer depends only on this round, the first round and the names of kept
        solutions, so several workers take the same steps as one thread.
        """
        if not self.is_large or self.limit < 0:
            return self.limit >= 0
        is_fold = np.size(each.left_out) > FOLD_SHARE * self.trained
        is_seeded = each.origin in (self.family.solutions if names is None else names)
        return is_seeded and not (is_fold and self.family.first_iterations > self.limit)

    def round(self, each: Round) -> RoundResult:
        """Run one round: set its box, compute its seed, take its steps."""
        family, began, rows = self.family, time.perf_counter(), self.family.rows.computed
        problem, start, origin = self.boxed(each), None, family.solutions.get(each.origin)
        if each.neighbour is not None:
            start, origin = self._follow_neighbour(each, origin, problem)
        elif origin is not None:
            start = self.seed(each, origin, problem)
        seeded, is_short = time.perf_counter(), self.is_short(each)
        rules = self.rules
        if rules.stop.left_out:
            rules = rules._replace(stop=for_example(rules.stop, each.left_out))
        most, trace = self.limit if is_short else family.max_iter, family.options.trace
        solution = family.steps(problem, start, origin, rules, most, shrinks=not is_short, trace=trace)
        return self.ended(each, solution, began, seeded, rows)

    def boxed(self, each: Round) -> DualProblem:
        """Return the problem with the box of a round."""
        problem: DualProblem = self.family.problem
        lower, upper = problem.lower.copy(), problem.upper.copy()
        if each.weights is not None or each.C != 1.0:
            lower, upper = scaled((lower, upper), each)
        if each.left_out is not None:
            lower[each.left_out] = upper[each.left_out] = 0.0
        return problem._part_of_box(lower, upper)

    def seed(self, each: Round, solved: Solution, problem: DualProblem) -> np.ndarray:
        """Return the seed of a round, computed from the solution `solved`."""
        more = {"memory": self.memory(solved, [each])} if self.shares else {}
        seeder = self.family.backend.seeder(self.seeder, self.family.rows)
        if is_builtin(type(self.seeder)):
            return seeder.seed(solved, problem, **more)
        # a user's own seeder gets a read-only copy of the solution, made once for all seeds from this solution
        if self._shown is None or self._shown[0] is not solved:
            self._shown = solved, read_only_solution(solved)
        try:
            seed = seeder.seed(self._shown[1], problem, **more)
        except Exception as error:
            error.add_note(
                f"Raised by {self.seeder!r} for the round without {each.left_out}, of {problem.n} examples."
            )
            raise
        return checked_seed(self.seeder, seed, problem)

    def memory(self, solved: Solution, rounds: list[Round]) -> np.ndarray:
        """Return the seeder's data for all seeds from one solution; compute them if this saves time for `rounds`."""
        if self._shared is None or self._shared[0] is not solved:
            self._shared = solved, self.family.most_iterations, None
        _, steps, memory = self._shared
        if memory is None:
            left_out = [NONE_LEFT_OUT if each.left_out is None else each.left_out for each in rounds]
            if not self.seeder.pays(solved, steps, left_out):
                return NOTHING
            memory = memory_of(self.seeder, solved, steps)
            self._shared = solved, steps, memory
        return memory

    def _follow_neighbour(
        self, each: Round, solved: Solution | None, problem: DualProblem
    ) -> tuple[np.ndarray, Solution]:
        """Return the seed made from a neighbouring round, and the solution from which G of the seed is computed."""
        before, after = map(self.family.solutions.get, each.neighbour or ())
        assert after is not None
        if solved is None:
            # start with each α at the bound that is not 0, because solutions for small C are near this point
            return extrapolate(problem.lower + problem.upper, problem, after), after
        alpha = extrapolate(self.seed(each, solved, problem), problem, after, before, solved)
        changes = [np.count_nonzero(alpha != solution.alpha) for solution in (solved, after)]
        return alpha, after if changes[1] < changes[0] else solved

    def ended(self, each: Round, solution: Solution, began: float, seeded: float, rows: int) -> RoundResult:
        """Finish the round if it was short and unfinished, keep its solution, and return its result."""
        family, steps = self.family, solution.iterations
        if solution.status is Status.MAX_ITER and steps < family.max_iter:
            solution = self._resume_with_shrinking(each, solution)
            steps += solution.iterations
        family.most_iterations = max(family.most_iterations, steps)
        # `is_short` needs the number of steps of the first round, which on a large problem begins at α = 0
        family.first_iterations = family.first_iterations or steps
        if solution.status in (Status.INTERRUPTED, Status.CALLBACK):  # Ctrl-C or the callback ends all rounds
            family.status = solution.status
        if each.keep is not None:
            family.solutions[each.keep] = solution
        examples = each.left_out if each.evaluate is None else each.evaluate
        # prove no sign after MAX_ITER: in compiled rounds, `family.state` may then be the state of another round
        is_open = solution.status is not Status.MAX_ITER and solution.reason not in self.proofs
        return RoundResult(
            each.left_out, solution.decision_values[[] if examples is None else examples], steps, solution.reason,
            solution.status, seeded - began, time.perf_counter() - seeded, family.rows.computed - rows, solution.trace,
            sign_at(family.state, each.left_out) if self.proves and is_open else 0,
        )  # fmt: skip

    def _resume_with_shrinking(self, each: Round, begun: Solution) -> Solution:
        """Continue an unfinished short round with shrinking; count steps from 0 again, but trace all steps."""
        family, steps = self.family, begun.iterations
        rules = self.rules._replace(stop=for_example(self.rules.stop, each.left_out))
        most, trace = family.max_iter - steps, family.options.trace
        solution: Solution = family.steps(begun.problem, begun.alpha, begun, rules, most, trace=trace)
        if begun.trace is None or solution.trace is None:
            return solution
        begun.trace.append_later(solution.trace, steps)
        return replace(solution, trace=begun.trace)


def scaled(box: tuple[np.ndarray, np.ndarray], each: Round) -> Iterator[np.ndarray]:
    """Return both bounds of the box, multiplied by the C and the weights of a round, with 0 · ∞ = 0."""
    sizes = np.asarray(each.C if each.weights is None else each.C * each.weights)
    if not (sizes >= 0.0).all():
        raise ValueError(f"C={each.C!r} times a weight of this round is negative; give numbers ≥ 0.")
    return (np.multiply(bound, sizes, np.zeros(len(bound)), where=sizes > 0.0) for bound in box)


def for_example(stop: StoppingRule, r: Any) -> StoppingRule:
    """Return the stopping rule for the round without r; if the rule has a field `example`, the field is set to r."""
    return replace(stop, example=r) if has_target(stop) else stop  # type: ignore[type-var]


def read_only_solution(solved: Solution) -> Solution:
    """Return the solution with read-only arrays, because later rounds also start from it."""
    alpha, gradient = solved.alpha.view(), solved.gradient.view()
    alpha.flags.writeable = gradient.flags.writeable = False
    return replace(solved, alpha=alpha, gradient=gradient)


def checked_seed(seeder: Seeder, seed: Any, problem: DualProblem) -> np.ndarray:
    """Return a user's seed as an array for compiled rounds; repair it with a warning if it is infeasible."""
    name = f"the seed of {type(seeder).__name__}"
    return feasible_start(problem, vector(name, seed, problem.n), name)
