"""Rounds one after another: readable, in compiled code a chunk at a time, in threads or processes.

A left-out example, a fold and a cell of a grid are all the same: a box, a seed, steps, decision values. Where all
kernel rows are in memory and all rules have twins, a chunk of rounds runs in compiled code. The readable rounds below
give the same α bit for bit.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from refsvm.engine import handover
from refsvm.engine.limits import interruptible
from refsvm.engine.pool import in_workers, joblib_is_set_up
from refsvm.kernels.rows import KernelRows
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.rounds.packed import NOBODY, PackedRounds, for_example
from refsvm.rounds.round import Ended, Round
from refsvm.rule import Rule
from refsvm.seeders.active_set import ActiveSet
from refsvm.seeders.base import Seeder
from refsvm.seeders.cold import Cold
from refsvm.seeders.neighbour import as_the_neighbour, at_the_bounds
from refsvm.solver.hard_margin import ROUND
from refsvm.solver.rules import Rules
from refsvm.state import NOTHING
from refsvm.stopping.base import StoppingRule

__all__ = ["Runner", "run_there"]

CHUNK_SECONDS: Final = 0.02
"""How long a chunk of compiled rounds takes: Ctrl-C waits no longer, unless a single round does."""

FIRST_CHUNK: Final = 2**14
"""Variables of all rounds in the first chunk, whose time is not known yet."""

CHUNK_ROUNDS: Final = 64
"""Most rounds in the first chunk, and in any whose seeds are in memory at once."""

WORTH_SECONDS: Final = 0.05
"""Less work than this is done faster than threads are started."""

LARGE: Final = 1000
"""With more examples a round takes milliseconds, and a few microseconds more before it do not count."""


class Runner:
    """Runs the rounds of one family from one seeder to one stopping rule.

    Parameters
    ----------
    family : refsvm.Rounds
    seeder : Seeder
    rules : Rules
    apart : bool
        Whether the time of seeds is wanted apart from that of steps.
    """

    def __init__(self, family: Any, seeder: Seeder, rules: Rules, apart: bool) -> None:
        self._family, self._seeder, self._rules = family, seeder, rules
        self._shares = type(seeder).memory is not Rule.memory  # seeds from one solution have work in common
        self._packed: PackedRounds | None = None
        self._apart, self._waits = apart, False
        self._can_compile = not family.options["trace"]  # rounds in compiled code record no steps
        self._kept: dict[Hashable, Solution] = family.kept
        self._solution: Callable[[Hashable], Solution | None] = self._kept.get
        self._memory: tuple[Solution, int, np.ndarray | None] | None = None
        self._seed: Callable[[DualProblem], np.ndarray]
        self._seed_is_for: tuple[Any, ...] = (None, None, None)
        self._is_short = self._uses_twins = (
            False  # of the next round: begun without shrinking, seeded by the twin
        )
        K, n, options = family.rows.gram.dense, family.problem.n, family.options
        self._single = K is not None and K.dtype == np.float32
        self._shrinks = bool(options["shrinking"])
        unwatched = not (options["callback"] or options["polish"])
        self._limit = family.max_iter
        if self._shrinks:
            # with all rows at hand a short round is over sooner without shrinking
            unwatched = unwatched and not options["time_limit"] and not family.problem.is_open
            self._limit = min(family.max_iter, short_round(n, self._single))
        self._has_short = unwatched and (family.rows.holds_all or self._single)
        if self._has_short and not self._single:
            family.rows.fetch(np.arange(family.rows.gram.n))
        if family.latest < 0:
            # the first round of a large problem is taken for a long one, unless that makes float64 rows of float32 ones
            is_long = self._shrinks and n > LARGE and not self._single
            family.latest = self._limit + 1 if is_long else 0

    def run(self, plan: Iterable[Round]) -> Iterator[Ended]:
        """Yield how each round ended, until Ctrl-C."""
        family, waiting, left = self._family, deque[Round](), iter(plan)
        size = max(1, min(FIRST_CHUNK // family.problem.n, CHUNK_ROUNDS))
        while family.status is Status.CONVERGED:
            waiting.extend(islice(left, 0 if waiting else 1))
            if not waiting:
                break
            # a round may be short, as the latest was
            self._is_short = self._has_short and family.latest <= self._limit
            engine, began = family.options["engine"], time.perf_counter()
            self._uses_twins = handover.may_run(engine, "twin", self._seeder)
            packed = self._compiled() if self._is_short and self._may_compile(engine) else None
            with interruptible() as interrupt:
                if packed is None:
                    done = [self._readable(waiting.popleft())]
                else:
                    waiting.extend(islice(left, max(0, size - len(waiting))))
                    done = self._chunk(packed, waiting, size)
            each = max((time.perf_counter() - began) / len(done), 1e-9)
            if interrupt.pressed or done[-1].status in (Status.INTERRUPTED, Status.CALLBACK):
                family.status = done[-1].status if done[-1].status is Status.CALLBACK else Status.INTERRUPTED
            yield from done[:-1] if done[-1].status is Status.INTERRUPTED else done
            if family.workers > 1 and family.status is Status.CONVERGED:
                waiting.extend(left)
                if self._pays_to_share(waiting, each, packed is not None):
                    yield from self._in_workers([*waiting], max(1, int(CHUNK_SECONDS / each)))
                    break
            size = max(1, min(int(CHUNK_SECONDS / each), 4 * size, CHUNK_ROUNDS if self._apart else 4096))

    # -- one readable round ----------------------------------------------------------------------------------------

    def _readable(self, each: Round) -> Ended:
        """Run one round: its box, its seed, its steps."""
        family, began, rows = self._family, time.perf_counter(), self._family.rows.computed
        problem = self._boxed(each)
        start, origin = None, self._solution(each.origin)
        if each.beside is not None:
            start, origin = self._beside(each, origin, problem)
        elif origin is not None:
            start = self._seeds(origin, each)(problem)
        seeded = time.perf_counter()
        rules, is_short = self._rules, self._is_short
        if rules.stop.left_out:
            rules = rules._replace(stop=for_example(rules.stop, each.out))
        most = self._limit if is_short and self._shrinks else family.max_iter
        trace = family.options["trace"]
        solution = family.steps(problem, start, origin, rules, most, shrinks=not is_short, trace=trace)
        return self._ended(each, solution, began, seeded, rows)

    def _boxed(self, each: Round) -> DualProblem:
        """Return the problem of a round."""
        problem: DualProblem = self._family.problem
        if each.out is not None:
            problem = problem.without(each.out)
        if each.weights is None and each.C == 1.0:
            return problem
        sizes = np.full(problem.n, each.C) if each.weights is None else each.weights * each.C
        taken = sizes != 0.0  # and 0 · ∞ is 0
        lower, upper = np.zeros(problem.n), np.zeros(problem.n)
        lower[taken] = problem.lower[taken] * sizes[taken]
        upper[taken] = problem.upper[taken] * sizes[taken]
        return problem.boxed(lower, upper)

    def _beside(
        self, each: Round, solved: Solution | None, problem: DualProblem
    ) -> tuple[np.ndarray, Solution]:
        """Return the seed that follows a neighbour, and the solution from whose gradient fewer rows lead there."""
        before, after = map(self._solution, each.beside or ())
        assert after is not None
        if solved is None:
            return as_the_neighbour(at_the_bounds(problem), problem, after), after
        alpha = as_the_neighbour(self._seeds(solved, each)(problem), problem, after, before, solved)
        changes = [np.count_nonzero(alpha != solution.alpha) for solution in (solved, after)]
        return alpha, after if changes[1] < changes[0] else solved

    def _seeds(self, solved: Solution, each: Round) -> Callable[[DualProblem], np.ndarray]:
        """Return what seeds from one solution: the twin once compiled code is in use and all rows are in memory."""
        rows = self._family.rows
        memory = self._shared_memory(solved, [each]) if self._shares else NOTHING
        given = solved, self._uses_twins, memory
        if not all(old is new for old, new in zip(self._seed_is_for, given, strict=True)):
            self._seed_is_for = given
            compiles = self._uses_twins and self._seeder.twin() is not None
            if compiles and rows.holds_all and rows.values.dtype == np.float64:
                from refsvm.compiled.interface.seeding import CompiledSeeds

                self._seed = CompiledSeeds(self._seeder, solved, rows, memory)
            elif self._shares:
                self._seed = partial(self._seeder.seed, solved, memory=memory)  # type: ignore[call-arg]
            else:
                self._seed = partial(self._seeder.seed, solved)
        return self._seed

    def _shared_memory(self, solved: Solution, rounds: list[Round]) -> np.ndarray:
        """Return what all seeds from one solution share: made once, when it first pays for some of these rounds."""
        if self._memory is None or self._memory[0] is not solved:
            self._memory = solved, self._family.longest, None
        _, steps, memory = self._memory
        if memory is None:
            if not self._seeder.pays(
                solved, steps, [NOBODY if each.out is None else each.out for each in rounds]
            ):
                return NOTHING
            memory = self._seeder.memory(solved, steps)
            self._memory = solved, steps, memory
        return memory

    def _ended(self, each: Round, solution: Solution, began: float, seeded: float, rows: int) -> Ended:
        """Solve what is left of a long round with shrinking, keep the solution, and say how it ended."""
        family, steps = self._family, solution.iterations
        if (
            solution.status is Status.MAX_ITER
            and self._is_short
            and self._shrinks
            and steps < family.max_iter
        ):
            most = family.max_iter - steps
            begun = solution.trace
            trace = family.options["trace"]
            solution = family.steps(
                solution.problem, solution.alpha, solution, self._rules, most, trace=trace
            )
            if begun is not None and solution.trace is not None:
                begun.append_later(solution.trace, steps)
                solution = replace(solution, trace=begun)
            steps += solution.iterations
        family.latest, family.longest = steps, max(family.longest, steps)
        if each.keep is not None:
            self._kept[each.keep] = solution
            if self._packed is not None:
                self._packed.forget(each.keep)
        asked = each.out if each.asked is None else each.asked
        values = solution.decision_values[[] if asked is None else asked]
        times = seeded - began, time.perf_counter() - seeded
        computed = family.rows.computed - rows
        return Ended(
            each.out, values, steps, solution.reason, solution.status, *times, computed, solution.trace
        )

    # -- chunks in compiled code -----------------------------------------------------------------------------------

    def _may_compile(self, engine: str) -> bool:
        """Whether compiled rounds are there, or to be waited for."""
        is_single = self._single and isinstance(self._seeder, ActiveSet | Cold)
        seeder = self._seeder if handover.have_twins([self._seeder]) else Cold()
        family = "single rounds" if is_single else "rounds"
        return self._can_compile and handover.may_run(engine, family, seeder, *self._rules)

    def _compiled(self) -> PackedRounds | None:
        """Return what runs rounds in compiled code; None where that takes not these rules or rows, or it is late."""
        family, n = self._family, self._family.problem.n
        if self._packed is None and self._can_compile:
            rows, seeder = self._all_rows(), self._seeder
            self._can_compile = rows is not None
            if rows is not None:
                # as often as that the readable engine looks whether there is a margin
                limit = min(self._limit, max(ROUND, n)) if family.problem.is_open else self._limit
                args = rows, family.rows, self._rules, seeder, limit, self._kept
                self._packed = PackedRounds(family.problem, *args)
                self._solution, family.used, family.packed = self._packed.solution, "numba", self._packed
                # a seed that Python makes, and work that seeds share, need a solution that is there
                self._apart = self._apart or seeder.twin() is None
                self._waits = self._apart or self._shares
        return self._packed if time.perf_counter() < family.limits.deadline else None

    def _all_rows(self) -> KernelRows | None:
        """Return all kernel rows as compiled code takes them; None if it takes these rows or rules not at all."""
        rows, values, rules = self._family.rows, self._family.rows.values, self._rules
        if any(rule.twin() is None for rule in rules):
            return None
        if self._single and isinstance(self._seeder, ActiveSet | Cold):
            # the default rules take float32 rows, with a seeder that reads none
            from refsvm.compiled.interface.dispatch import are_built_in

            if are_built_in(*(rule.twin() for rule in rules)):
                return KernelRows(rows.gram)
        usable = values.dtype == np.float64 and values.flags.c_contiguous and values.flags.writeable
        if not (usable and rows.holds_all):
            return None
        return rows

    def _chunk(self, packed: PackedRounds, waiting: deque[Round], size: int) -> list[Ended]:
        """Run rounds in compiled code, and the one after them where that is left to Python."""
        family, began, chunk = self._family, time.perf_counter(), self._ready([*islice(waiting, size)])
        solved = packed.solution(chunk[0].origin) if self._waits else None
        if self._shares and solved is not None:
            packed.remember(self._shared_memory(solved, chunk))
        write = None
        if solved is not None and self._seeder.twin() is None:
            write = partial(self._write, chunk, solved)
        done, rest = packed.run(chunk, self._apart and solved is not None, write)
        for _ in done:
            waiting.popleft()
        if done:
            longest = max(each.iterations for each in done)
            family.latest, family.longest = done[-1].iterations, max(family.longest, longest)
        if rest is not None:
            each = waiting.popleft()
            if rest.status is Status.MAX_ITER and not family.problem.is_open:
                done.append(self._ended(each, rest, began, began, family.rows.computed))
            else:
                done.append(self._readable(each))
        return done

    def _ready(self, rounds: list[Round]) -> list[Round]:
        """Return as many of the rounds as may be run in one go.

        Where seeds are made first or share work, all start from one solution, which none of them replaces.
        """
        if self._waits:
            for number, each in enumerate(rounds):
                if each.origin != rounds[0].origin:
                    return rounds[:number]
                if each.origin is not None and each.keep == each.origin:
                    return rounds[: number + 1]
        return rounds

    def _write(self, chunk: list[Round], solved: Solution, starts: np.ndarray) -> None:
        """Write the seeds of a seeder without a twin."""
        for each, start in zip(chunk, starts, strict=True):
            start[:] = self._seeds(solved, each)(self._boxed(each))

    # -- threads and processes -------------------------------------------------------------------------------------

    def _pays_to_share(self, waiting: deque[Round], seconds: float, is_compiled: bool) -> bool:
        """Whether workers are over sooner: rounds do not wait for each other, and take long enough.

        Readable rounds would wait for the interpreter's lock in threads.
        """
        alike = all(each.keep is None for each in waiting) and len(waiting) > 1
        return alike and len(waiting) * seconds > WORTH_SECONDS and (is_compiled or joblib_is_set_up())

    def _in_workers(self, rounds: list[Round], size: int) -> Iterator[Ended]:
        """Hand out parts of some rounds each."""
        family = self._family
        size = max(1, min(size, -(-len(rounds) // (4 * family.workers))))
        parts = [rounds[begin : begin + size] for begin in range(0, len(rounds), size)]
        if self._packed is not None:
            self._packed.close()
        work: Callable[..., tuple[list[Ended], Status]] = run_here
        own: Any = threading.local()
        if joblib_is_set_up():
            work, own = run_there, f"{os.getpid()} {next(_numbers)}"
        arguments = [(own, family, self._seeder, self._rules.stop, part) for part in parts]
        for done, status in in_workers(work, arguments, family.workers):
            yield from done
            if status is not Status.CONVERGED:
                family.status = status
                break


_numbers = itertools.count()
_arrived: dict[str, Any] = {}  # the latest family in a worker process, by its token


def run_here(
    own: threading.local, family: Any, seeder: Seeder, stop: StoppingRule, part: list[Round]
) -> tuple[list[Ended], Status]:
    """Run a part in a thread, which shares the kernel rows and takes steps on a state of its own."""
    if not hasattr(own, "family"):
        own.family = family.another()
    return [*own.family.run(part, seeder, stop)], own.family.status


def run_there(
    token: str, family: Any, seeder: Seeder, stop: StoppingRule, part: list[Round]
) -> tuple[list[Ended], Status]:
    """Run a part in another process; that keeps the family it got first, whose kernel rows are there."""
    if token not in _arrived:
        _arrived.clear()
        _arrived[token] = family
    return [*_arrived[token].run(part, seeder, stop)], _arrived[token].status


def short_round(n: int, is_single: bool) -> int:
    """Return the steps that a round takes on all variables; what is left then is solved with shrinking.

    Where a step touches few variables, or reads float32 rows, it costs less than what shrinking would save.

    Examples
    --------
    >>> from refsvm.rounds.runner import short_round
    >>> short_round(300, is_single=False), short_round(3000, is_single=False), short_round(3000, is_single=True)
    (2000, 3000, 6000)
    """
    return (2 if is_single else 1) * max(n, 2000)
