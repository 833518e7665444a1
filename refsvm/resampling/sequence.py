"""Rounds in a given order, each seeded from earlier ones: the folds of a cross-validation, all C and folds of a grid.

A round names its box, its penalty and, by their places, the earlier solutions that it starts from:

    source   the same examples at another C
    after    a neighbour at this C: mostly the same examples
    before   that neighbour at the C of the source

Or its seed is given, and the source is the solution from whose gradient the round gets there.

Where all kernel rows are in memory and all rules have twins, a chunk of rounds at a time runs in compiled code. The
readable rounds below give the same α bit for bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.kernels.functions import Precomputed
from refsvm.kernels.gram import Gram
from refsvm.kernels.rows import KernelRows
from refsvm.kernels.single import SinglePrecision
from refsvm.problem import DualProblem
from refsvm.resampling.compiled_sequence import CompiledSequence, Kept, can_run_compiled, can_run_single
from refsvm.resampling.family import seeds_from
from refsvm.result import Solution, Status
from refsvm.seeders.base import Seeder
from refsvm.seeders.neighbour import as_the_neighbour, at_the_bounds
from refsvm.solver.handover import compiled_code_is_due, numba_compiles, numba_is_installed
from refsvm.solver.limits import Limits, interruptible
from refsvm.solver.rounds import Rounds
from refsvm.solver.rules import Rules, chosen_rules

__all__ = ["PLAN", "Ended", "RoundSequence"]

PLAN: Final = np.dtype(
    [
        ("box", np.int64),  # row of the factors: who is trained on
        ("place", np.int64),  # where the solution is kept
        ("source", np.int64),  # places of the solutions to start from, −1 for none
        ("before", np.int64),
        ("after", np.int64),
        ("start", np.int64),  # row of the given seeds, −1 if the seeder makes one
        ("penalty", np.float64),  # C
    ]
)
"""One round of a sequence."""

CHUNK_SECONDS: Final = 0.03
"""How long a chunk of compiled rounds takes: Ctrl-C waits no longer, unless a single round does."""

FIRST_CHUNK: Final = 2**14
"""Variables of all rounds in the first chunk, whose time is not known yet."""

LARGE: Final = 1000
"""With more examples a round takes milliseconds, and a few microseconds more before it do not count."""

CHUNK_ROUNDS: Final = 64
"""Most rounds in a chunk."""


@dataclass(frozen=True)
class Ended:
    """How a round ended.

    Attributes
    ----------
    status : Status
    iterations : int
    decision_values : ndarray of shape (n,)
        h(xᵢ) for every example.
    seconds : float
        To seed and solve; rounds of one chunk share its time.
    """

    status: Status
    iterations: int
    decision_values: np.ndarray
    seconds: float


class RoundSequence:
    """Solves rounds in order.

    Parameters
    ----------
    problem : DualProblem
        With all penalties 1.
    factors : ndarray of shape (boxes, n), float64
        What C is multiplied by for each example; 0 for those that are not trained on.
    seeder : Seeder
        From a source to a round of the same examples.
    places : int
        How many solutions are kept.
    starts : ndarray of shape (any, n), float64, optional
        Seeds that are given. They and the factors may be rewritten between runs.
    **options
        Of `refsvm.Rounds`. A time limit or a callback is asked at every round, in readable code.

    Attributes
    ----------
    kept : Kept
        The latest solution at each place.

    Examples
    --------
    Two values of C for all examples but one:

    >>> import numpy as np
    >>> from refsvm import RBF, ActiveSet, DualProblem
    >>> from refsvm.datasets import load
    >>> from refsvm.resampling.sequence import PLAN, RoundSequence
    >>> heart = load("heart")
    >>> problem = DualProblem.classification(heart.X, heart.y, kernel=RBF(0.005))
    >>> factors = np.ones((1, heart.n))
    >>> factors[0, 0] = 0.0
    >>> plan = np.array([(0, 0, -1, -1, -1, -1, 1.0), (0, 0, 0, -1, -1, -1, 10.0)], dtype=PLAN)
    >>> ended = list(RoundSequence(problem, factors, ActiveSet(), 1).run(plan))
    >>> [round(float(each.decision_values[0]), 2) for each in ended]
    [1.09, 2.15]
    """

    def __init__(
        self,
        problem: DualProblem,
        factors: np.ndarray,
        seeder: Seeder,
        places: int,
        starts: np.ndarray | None = None,
        **options: Any,
    ) -> None:
        self._options, self._seeder, self._factors = options, seeder, np.ascontiguousarray(factors)
        self._starts = np.zeros((0, problem.n)) if starts is None else starts
        self._max_iter = Limits(problem.n, options.get("max_iter")).max_iter
        self._longest = 0
        self._rounds = self._long = Rounds(problem, **options)
        self._single = problem.gram.values if isinstance(problem.gram, SinglePrecision) else None
        # with all rows at hand a short round is over sooner without shrinking
        at_hand = self._rounds.rows.holds_all or self._single is not None
        watched = any(options.get(name) for name in ("time_limit", "callback", "polish"))
        self._has_short = at_hand and not watched and not problem.is_open
        self._limit = min(self._max_iter, short_round(problem.n, self._single is not None))
        # the steps of the round before; the first one of a large problem is taken for a long one, unless that makes
        # float64 rows of float32 ones
        self._latest = self._limit + 1 if problem.n > LARGE and self._single is None else 0
        if self._has_short:
            self._rounds = Rounds(problem, **{**options, "shrinking": False})
            if self._single is None:
                self._rounds.rows.fetch(np.arange(problem.n))
            self._long = Rounds(self._rounds.problem, **options)
        self.kept = Kept.of(places, problem.n)
        self._compiled: CompiledSequence | None = None

    def close(self) -> None:
        """Release the engine."""
        self._rounds.close()
        self._long.close()

    def run(self, plan: np.ndarray) -> Iterator[Ended]:
        """Yield how each round ended.

        Parameters
        ----------
        plan : ndarray of dtype `PLAN`

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; rounds that were yielded before that are complete.
        """
        done, size = 0, max(1, min(FIRST_CHUNK // self._factors.shape[1], CHUNK_ROUNDS))
        while done < len(plan):
            runner = self._runner()
            if runner is None:
                yield self._readable(plan[done])
                done += 1
                continue
            began = time.perf_counter()
            with interruptible() as interrupt:
                results, values, rest = runner.run(plan[done : done + size])
            seconds = (time.perf_counter() - began) / (len(results) + (rest is not None))
            for steps, decision_values in zip(results, values, strict=True):
                self._note(int(steps))
                yield Ended(Status.CONVERGED, int(steps), decision_values, seconds)
            done += len(results)
            if interrupt.pressed:
                raise KeyboardInterrupt
            if rest is not None:
                yield self._left_over(plan[done], rest, seconds)
                done += 1
            size = max(1, min(int(CHUNK_SECONDS / max(seconds, 1e-9)), 4 * size, CHUNK_ROUNDS))

    def _runner(self) -> CompiledSequence | None:
        """Return what runs rounds in compiled code; None if they are to be readable."""
        if not self._is_short:
            return None
        if self._compiled is None and self.compiles:
            rules = chosen_rules(*(self._options.get(name) for name in ("selector", "step", "stop")))
            rows = self._all_rows(rules)
            if rows is not None:
                self._compiled = CompiledSequence(
                    self._rounds,
                    rows,
                    rules,
                    self._seeder,
                    self._factors,
                    self._starts,
                    self.kept,
                    self._limit,
                )
        return self._compiled

    def _all_rows(self, rules: Rules) -> KernelRows | None:
        """Return all kernel rows as compiled code takes them; None if it takes these rules or rows not at all."""
        rows = self._rounds.rows
        if self._single is not None and can_run_single(rules, self._seeder):
            return KernelRows(Gram(Precomputed(), self._single, is_checked=True))
        if not can_run_compiled(rows, rules, self._seeder):
            return None
        rows.fetch(np.arange(rows.gram.n))
        return rows

    def _readable(self, turn: np.void) -> Ended:
        """Run one round: its box, its seed, its steps."""
        began = time.perf_counter()
        box = self._boxed(int(turn["box"]), float(turn["penalty"]))
        start, origin = self._seed(turn, box)
        if self._is_short:
            solution = self._rounds.solve(box, start=start, origin=origin, max_iter=self._limit)
        else:
            solution = self._long.solve(box, start=start, origin=origin)
        return self._finished(turn, solution, began)

    def _seed(self, turn: np.void, problem: DualProblem) -> tuple[np.ndarray | None, Solution | None]:
        """Return the seed of a round, and the solution from whose gradient fewer kernel rows lead there."""
        source, before, after = (self.solution(int(turn[name])) for name in ("source", "before", "after"))
        if turn["start"] >= 0:
            return self._starts[turn["start"]], source
        if source is None:
            if after is None:
                return None, None
            return as_the_neighbour(at_the_bounds(problem), problem, after), after
        alpha = seeds_from(self._seeder, source, self._rounds)(problem)
        if after is None:
            return alpha, source
        alpha = as_the_neighbour(alpha, problem, after, before, source)
        changes = [np.count_nonzero(alpha != solution.alpha) for solution in (source, after)]
        return alpha, after if changes[1] < changes[0] else source

    @property
    def _is_short(self) -> bool:
        """Whether the next round is begun without shrinking: it may be short, as the latest was."""
        return self._has_short and self._latest <= self._limit

    def _note(self, steps: int) -> None:
        """Note how long a round was."""
        self._latest, self._longest = steps, max(self._longest, steps)

    def _left_over(self, turn: np.void, rest: Solution, seconds: float) -> Ended:
        """End a round that compiled code has begun: one that is long, or that rounding may have spoiled."""
        began = time.perf_counter() - seconds
        if rest.status is Status.MAX_ITER:
            return self._finished(turn, rest, began)
        return self._readable(turn)

    def _finished(self, turn: np.void, solution: Solution, began: float) -> Ended:
        """Solve what is left of a long round with shrinking, and keep the solution."""
        steps, problem = solution.iterations, solution.problem
        if solution.status is Status.MAX_ITER and self._is_short and steps < self._max_iter:
            left = self._max_iter - steps
            solution = self._long.solve(problem, start=solution.alpha, origin=solution, max_iter=left)
            steps += solution.iterations
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.kept.keep(int(turn["place"]), solution)
        self._note(steps)
        return Ended(solution.status, steps, solution.decision_values, time.perf_counter() - began)

    @property
    def problem(self) -> DualProblem:
        """The problem with a Gram matrix that reads the stored kernel rows."""
        return self._rounds.problem

    def _boxed(self, box: int, penalty: float) -> DualProblem:
        """Return the problem of a round."""
        unit, sizes = self._rounds.problem, self._factors[box] * penalty
        taken = sizes != 0.0  # and 0 · ∞ is 0
        lower, upper = np.zeros(unit.n), np.zeros(unit.n)
        lower[taken], upper[taken] = unit.lower[taken] * sizes[taken], unit.upper[taken] * sizes[taken]
        return self._rounds.boxed(lower, upper)

    def solution(self, place: int) -> Solution | None:
        """Return the solution that is kept at a place, None for −1."""
        if place < 0:
            return None
        kept = self.kept
        solution = Solution(
            problem=self._rounds.boxed(kept.lower[place], kept.upper[place]),
            alpha=kept.alpha[place], gradient=kept.gradient[place],
            iterations=0, kernel_rows=0, kernel_hits=0, status=Status.CONVERGED, reason="", seconds=0.0,
            engine="numba" if self.compiles else "numpy",
        )  # fmt: skip
        solution.__dict__["longest_round"] = self._longest
        return solution

    def seeds(self, seeder: Seeder, place: int) -> Callable[[int], None]:
        """Return what writes the seeds for boxes 1, 2, … to the given ones, made from the solution at a place.

        It takes the number of boxes; where rounds are compiled, it is the twin of the seeder that works.
        """
        solved = self.solution(place)
        assert solved is not None
        make = seeds_from(seeder, solved, self._rounds)

        def write(count: int) -> None:
            if hasattr(make, "write"):  # the twin's: refsvm.fast.seeding.CompiledSeeds
                make.write(self.problem, self._factors[1 : count + 1], self._starts[:count])
                return
            for box in range(1, count + 1):
                self._starts[box - 1] = make(self._boxed(box, 1.0))

        return write

    @property
    def compiles(self) -> bool:
        """Whether compiled code is used by now, where there is any for the rules."""
        engine = self._options.get("engine", "auto")
        if engine == "numba":
            return numba_is_installed()
        return engine == "auto" and numba_compiles() and compiled_code_is_due()

    @property
    def kernel_rows(self) -> int:
        """Kernel rows computed so far."""
        return self._rounds.rows.computed


def short_round(n: int, is_single: bool) -> int:
    """Return the steps that a round takes on all variables; what is left then is solved with shrinking.

    Where a step touches few variables, or reads float32 rows, it costs less than what shrinking would save.

    Examples
    --------
    >>> from refsvm.resampling.sequence import short_round
    >>> short_round(300, is_single=False), short_round(3000, is_single=False), short_round(3000, is_single=True)
    (2000, 3000, 6000)
    """
    return (2 if is_single else 1) * max(n, 2000)
