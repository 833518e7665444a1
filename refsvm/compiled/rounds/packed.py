"""Packs rounds into arrays, calls `refsvm.compiled.rounds.rounds` to run the rounds, and unpacks the results."""

from __future__ import annotations

import time
import weakref
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from itertools import accumulate, islice, repeat
from types import NoneType
from typing import Any, Final

import numpy as np

from refsvm.compiled.interface.dispatch import are_built_in
from refsvm.compiled.interface.layout import fresh_state
from refsvm.compiled.interface.seeding import room_for_seeds
from refsvm.compiled.rounds.rounds import SEEDS, STEPS, WHOLE, run_rounds
from refsvm.compiled.solver.loop import BUDGET_SPENT
from refsvm.compiled.twins import have_twins, parameters_of
from refsvm.core._checks import read_only
from refsvm.core.kernels.rows import KernelRows
from refsvm.core.result import Solution, Status
from refsvm.core.rounds.round import Round, RoundResult
from refsvm.core.rounds.runner import NONE_LEFT_OUT, Runner, for_example
from refsvm.core.rule import is_builtin
from refsvm.core.seeders.cold import Cold
from refsvm.core.solver.hard_margin import ROUND
from refsvm.core.stopping.base import has_target, validated_code

CHUNK_SECONDS: Final = 0.02
"""Target duration of a chunk of rounds, in seconds; Ctrl-C takes effect after this time or after a single round."""

FIRST_CHUNK: Final = 2**14
"""Number of variables, summed over the rounds, in the first chunk, when the time for a round is not yet known."""

CHUNK_ROUNDS: Final = 64
"""Largest number of rounds in the first chunk, and in chunks whose seeds are all in memory at once."""

OUT, OUT_END, ASKED, ASKED_END, WEIGHTS, ORIGIN = range(6)
"""The first columns of the plan; the columns KEEP, BEFORE and AFTER follow."""

LEAST_CURVATURE = 4
"""Index of the least curvature in the array of numbers that the twin gets."""


class PackedRounds:
    """Runs chunks of rounds in compiled code; two threads must not share an object of this class.

    Parameters
    ----------
    runner : Runner
        The runner of the rounds; if its seeder has no twin, Python computes the seeds before each chunk.
    rows : KernelRows
        The kernel rows, all in memory. The rows may be float32 if the rules are built into the loop and the seeder
        reads no kernel rows.
    """

    def __init__(self, runner: Runner, rows: KernelRows) -> None:
        # refer weakly, because the family's backend refers to this object, and a cycle would keep rows in memory
        self._runner = weakref.ref(runner)
        self._times_seeds = runner.time_seeds or runner.seeder.twin() is None
        self._seconds: float | None = None  # seconds of a round, once known
        # seeds that share the seeder's memory, or are made before the rounds, need a solution when the chunk begins
        self._waits = runner.shares or self._times_seeds
        family, seeder, rules = runner.family, runner.seeder, runner.rules
        problem, n = family.problem, family.problem.n
        self._problem, self._kept, self._stop = problem, family.solutions, rules.stop
        rules = rules._replace(stop=for_example(rules.stop, 0))
        memories = rules.memories(problem.without(0) if rules.stop.left_out else problem)
        # this object keeps all arrays, because compiled code does not count references
        self._memories = np.concatenate(memories)
        box = np.empty(n), np.empty(n)
        self._state = fresh_state(rows, 2 + rules.step.history, memories, *box, rules.step.uses_momentum)
        self._state.now[0].kernel_rounding = rows.facts.rounding
        # give a compiled seeder only float64 rows, because it cannot read float32 rows
        read = family.rows.values if family.rows.values.dtype == np.float64 else np.empty((0, n))
        seeding = room_for_seeds(problem, *box, family.rows, np.zeros(0))
        self._seeding = seeding._replace(kernel=read_only(read))
        self._unit = np.array(problem.lower), np.array(problem.upper)
        self._twins = (seeder.twin() or Cold().twin(), *(rule.twin() for rule in rules))
        self._parameters = [parameters_of(rule) for rule in (seeder, *rules)]
        # by the name of a solution: its position in the tables (α, G, L, U), and the solution at this position
        self._places, self._copies = dict[Hashable, int](), dict[Hashable, Solution]()
        self._solutions = [np.empty((0, n)) for _ in range(4)]
        # if boxes are unbounded, return to Python after as many steps as NumPy takes before it measures the margin
        limit = min(runner.limit, max(ROUND, n)) if problem.is_open else runner.limit
        largest = float(np.abs(self._state.diagonal).max())
        # numbers for compiled code: LIMIT, LARGEST_DIAGONAL, TOLERANCE, IS_RELATIVE, LEAST_CURVATURE, NAMES_EXAMPLE …
        stop, curvature = rules.stop, -1e-8 * largest
        tolerance, named = stop.restricted_tolerance(0.0), has_target(stop)
        proves = runner.proves and (1.0 if runner.proofs else np.inf)
        self._numbers = np.array([limit, largest, tolerance, stop.relative, curvature, named, proves, 0.0])

    @property
    def runner(self) -> Any:
        """The runner, or None if it no longer exists."""
        return self._runner()

    def chunk(self, waiting: Sequence[Round]) -> list[RoundResult]:
        """Run rounds for about 0.02 s in compiled code; if the code stops within a round, run this round in Python."""
        family, runner, began = self.runner.family, self.runner, time.perf_counter()
        size = self._size()
        chunk = self._ready([*islice(waiting, size)])
        solved = family.solutions.get(chunk[0].origin) if self._waits else None
        if runner.shares and solved is not None:
            self.remember(runner.memory(solved, chunk))
        # call a user's seeder before compiled code runs the chunk, because compiled code cannot call it
        seeds = []
        if solved is not None and runner.seeder.twin() is None:
            seeds = [runner.seed(each, solved, runner.boxed(each)) for each in chunk]
        done, rest = self.run(chunk, began, self._times_seeds and solved is not None, seeds)
        if done:
            family.most_iterations = max(family.most_iterations, *(each.iterations for each in done))
        if rest is not None:
            each = chunk[len(done)]
            # a round that reached its limit of steps has ended; Python repeats a round that rounding errors stopped
            if rest.status is Status.MAX_ITER and not family.problem.is_open:
                done.append(runner.ended(each, rest, began, began, family.rows.computed))
            else:
                done.append(runner.round(each))
        # the rounds of a call take similar times, so the seconds of this chunk determine the size of the next chunk
        self._seconds = max((time.perf_counter() - began) / len(done), 1e-9)
        self._latest_size = size
        return done

    def _size(self) -> int:
        """Return the number of rounds in the next chunk."""
        if self._seconds is None:
            return max(1, min(FIRST_CHUNK // self._problem.n, CHUNK_ROUNDS))
        # limit the number of seeds that are computed before the rounds, because all these seeds are in memory at once
        most = CHUNK_ROUNDS if self._times_seeds else 4096
        return max(1, min(int(CHUNK_SECONDS / self._seconds), 4 * self._latest_size, most))

    def _ready(self, rounds: list[Round]) -> list[Round]:
        """Return the first rounds of the list, as many as can run in one chunk.

        If the seeder has a memory, or if seeds are computed before the rounds, all rounds of a chunk must start from
        the same solution, which only the last round may replace. If a round begins with shrinking, Python runs it.
        """
        if self.runner.is_large:
            known = {*self._kept}
            for number, each in enumerate(rounds):
                if number > 0 and not self.runner.is_short(each, known):
                    rounds = rounds[:number]
                    break
                known |= {each.keep} - {None}
        if self._waits:
            for number, each in enumerate(rounds):
                if each.origin != rounds[0].origin:
                    return rounds[:number]
                if each.origin is not None and each.keep == each.origin:
                    return rounds[: number + 1]
        return rounds

    def remember(self, memory: np.ndarray) -> None:
        """Give the compiled seeder `memory`, the data computed from the solution where all rounds of a chunk start."""
        if len(memory) or len(self._seeding.memory):
            # a twin cannot make arrays, so give it scratch memory for n numbers and a copy of `memory`
            scratch = np.empty(self._problem.n + len(memory))
            self._seeding = self._seeding._replace(memory=memory, scratch=scratch)

    def run(
        self, chunk: Sequence[Round], began: float, time_seeds: bool, seeds: list[np.ndarray]
    ) -> tuple[list[RoundResult], Solution | None]:
        """Run rounds until all rounds are done or Python must run a round.

        Parameters
        ----------
        chunk : sequence of Round
            The rounds to run.
        began : float
            Time at which the work on the chunk began.
        time_seeds : bool
            If True, compute all seeds before the rounds, to measure the time that the seeds take.
        seeds : list of ndarrays of shape (n,)
            The seeds that Python has computed, if the seeder has no twin.

        Returns
        -------
        list of RoundResult, Solution or None
            The results of the converged rounds, and the state in which the next round stopped, or None after the last
            round. The status of this state is MAX_ITER at the limit of steps, or STALLED if the round must run again.
        """
        turns: Any = Round._make(zip(*chunk, strict=True))  # a tuple for each field of Round
        evaluated = [
            out if each is None else each for out, each in zip(turns.left_out, turns.evaluate, strict=True)
        ]
        plan, *more = self._packed(chunk, turns, evaluated)
        m, results, values = len(chunk), np.zeros((len(chunk), 4)), np.empty(len(more[1]))
        starts = np.array(seeds) if seeds else np.empty((m if time_seeds else 0, self._problem.n))
        if time_seeds and not seeds:
            plan = plan[: self._call(SEEDS, plan, *more, starts, results, values)]
        seeded = time.perf_counter() if time_seeds else began
        done = self._call(STEPS if time_seeds else WHOLE, plan, *more, starts, results, values)
        for name in {*turns.keep[:done]} - {None}:
            arrays = [table[self._places[name]] for table in self._solutions]
            self._kept[name] = self._copies[name] = self._as_solution(arrays)
        each = (time.perf_counter() - seeded) / (done + (done < m))
        codes, steps, signs = results[:done, [0, 1, 3]].T.astype(np.int64).tolist()
        if not is_builtin(type(self._stop)):
            validated_code(self._stop, max(codes, default=0))
        reasons = [self._stop.reasons[code - 1] for code in codes]
        shared = repeat(Status.CONVERGED), repeat((seeded - began) / m), repeat(each), repeat(0), repeat(None)
        each_value = _shared(values, evaluated, plan[:done, ASKED : ASKED_END + 1])
        ended = zip(turns.left_out, each_value, steps, reasons, *shared, signs, strict=False)
        return [*map(partial(tuple.__new__, RoundResult), ended)], None if done == m else self._rest(
            *results[done, :3]
        )

    def _call(self, stage: int, *arrays: np.ndarray) -> int:
        """Call `run_rounds` for a stage: whole rounds, only their seeds, or only their steps."""
        self._numbers[-1] = stage
        known = self._seeding, self._state, self._memories, self._numbers, *self._unit, *self._solutions
        done: int = run_rounds(self._twins, self._parameters, (*known, *arrays))
        return done

    def _packed(self, chunk: Sequence[Round], turns: Any, evaluated: list[Any]) -> tuple[np.ndarray, ...]:
        """Return the rounds as arrays: the plan (one row for each round), the penalties, positions and weights."""
        # compiled code gets no names and lists, so write all fields of the rounds as numbers to one table
        plan, weights = np.full((len(chunk), 9), -1), turns.weights
        positions, ends = _joined(turns.left_out)
        plan[:, OUT], plan[:, OUT_END] = ends[:-1], ends[1:]
        if {*map(type, turns.evaluate)} != {NoneType}:
            more, ends = _joined(evaluated)
            ends += len(positions)
            positions = np.concatenate([positions, more])
        plan[:, ASKED], plan[:, ASKED_END] = ends[:-1], ends[1:]
        # --- replace the names of solutions by positions in the tables ---
        if len({*turns.origin}) == 1 and {*turns.keep} == {*turns.neighbour} == {None}:
            plan[:, ORIGIN] = self._place(turns.origin[0])
        else:
            self._place_all(plan, chunk)
        # --- store the weights once for all rounds that share them ---
        table = np.empty((0, self._problem.n))
        if {*map(type, weights)} != {NoneType}:
            # compare weights by identity: rounds of a fold share one array; an equal copy takes one more row of `table`
            different = {id(each): each for each in weights if each is not None}
            rows, table = {key: row for row, key in enumerate(different)}, np.array([*different.values()])
            plan[:, WEIGHTS] = [rows.get(id(each), -1) for each in weights]
        return plan, np.array(turns.C, dtype=np.float64), positions, table

    def _place_all(self, plan: np.ndarray, chunk: Sequence[Round]) -> None:
        """Write to the plan at which positions of the tables each round finds solutions and keeps its own."""
        written: set[Hashable] = set()
        for number, each in enumerate(chunk):
            before, after = each.neighbour or (None, None)
            # a solution that an earlier round of this chunk will keep has a position, but does not exist yet
            names = each.origin, before, after
            places = [
                -1 if name is None else self._places[name] if name in written else self._place(name)
                for name in names
            ]
            target = -1 if each.keep is None else self._position_for(each.keep)
            plan[number, ORIGIN:] = places[0], target, *places[1:]
            written.add(each.keep)

    def _place(self, name: Hashable) -> int:
        """Return the position of the solution with this name, or −1; copy the solution to the tables if necessary."""
        solution = self._kept.get(name)
        if solution is None:
            return -1
        place = self._position_for(name)
        if self._copies.get(name) is not solution:
            parts = solution.alpha, solution.gradient, solution.problem.lower, solution.problem.upper
            for table, part in zip(self._solutions, parts, strict=True):
                table[place] = part
            self._copies[name] = solution
        return place

    def _position_for(self, name: Hashable) -> int:
        """Return the position of the solution with this name in the tables, and enlarge the tables if necessary."""
        place = self._places.setdefault(name, len(self._places))
        if place >= len(self._solutions[0]):
            # double the size of the tables, so that they are copied only a few times if many solutions are kept
            more = np.empty((max(1, 2 * place), self._problem.n))
            self._solutions = [np.concatenate([table, more]) for table in self._solutions]
        return place

    def _rest(self, code: float, steps: float, curvature: float) -> Solution:
        """Return the state of the unfinished round as a solution."""
        if curvature < self._numbers[LEAST_CURVATURE]:
            self._numbers[LEAST_CURVATURE] = -np.inf  # let NumPy warn of an indefinite K only once
        status, state = Status.MAX_ITER if code == BUDGET_SPENT else Status.STALLED, self._state
        arrays = state.alpha, state.gradient, state.lower, state.upper
        return self._as_solution(arrays, status, int(steps))

    def _as_solution(
        self, arrays: Iterable[np.ndarray], status: Status = Status.CONVERGED, steps: int = 0
    ) -> Solution:
        """Return α, G, L and U as a solution with its own arrays."""
        # copy the arrays, which are rows of the tables, because the next chunk overwrites the tables
        alpha, gradient, *box = (each.copy() for each in arrays)
        return Solution(
            problem=self._problem._part_of_box(*box), alpha=alpha, gradient=gradient, iterations=steps,
            kernel_rows=0, kernel_hits=0, status=status, reason=status.value, seconds=0.0, engine="numba",
        )  # fmt: skip


def _joined(parts: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Join the index arrays of all rounds; return one array, and the bounds of each round's part of this array."""
    if {*map(type, parts)} == {int}:
        return np.array(parts), np.arange(len(parts) + 1)
    arrays = [
        NONE_LEFT_OUT if part is None else part if np.ndim(part) else np.array([part]) for part in parts
    ]
    return np.concatenate(arrays, dtype=np.int64), np.array([0, *accumulate(map(len, arrays))])


def _shared(values: np.ndarray, evaluated: list[Any], ranges: np.ndarray) -> list[Any]:
    """Return each round's decision values: a number if the round evaluates a single position, otherwise an array."""
    if {*map(type, evaluated)} == {int}:  # usually True
        return values[ranges[:, 0]].tolist()
    return [
        values[begin] if isinstance(each, int | np.integer) else values[begin:end]
        for each, (begin, end) in zip(evaluated, ranges.tolist(), strict=False)
    ]


def rows_for(runner: Runner) -> KernelRows | None:
    """Return all kernel rows in the form for compiled rounds, or None if compiled code cannot run these rounds."""
    family, seeder = runner.family, runner.seeder
    rows, values = family.rows, family.rows.values
    if family.options.trace or not have_twins(runner.rules):
        return None  # rounds in compiled code record no steps
    have_twins([seeder])  # raise an error if the seeder's twin is invalid
    family.used = "numba"
    # float32 rows need rules that are built into the loop, and a seeder that reads no kernel rows
    if (
        rows.gram.is_float32
        and not seeder.reads_rows
        and are_built_in(*(rule.twin() for rule in runner.rules))
    ):
        return KernelRows(rows.gram)
    usable = values.dtype == np.float64 and values.flags.c_contiguous
    return rows if usable and rows.holds_all else None
