"""Many rounds at a time: a chunk of them in compiled code, several chunks by threads or processes.

Where all kernel rows are in memory and all rules have twins, a chunk of rounds runs in compiled code; what that leaves
to Python runs as in `refsvm.rounds.runner`, with the same α bit for bit.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import numpy as np

from refsvm.engine import handover
from refsvm.engine.limits import interruptible
from refsvm.engine.pool import in_workers, joblib_is_set_up
from refsvm.kernels.rows import KernelRows
from refsvm.problem import DualProblem
from refsvm.result import Solution, Status
from refsvm.rounds.packed import PackedRounds
from refsvm.rounds.round import Ended, Round
from refsvm.rounds.runner import Runner
from refsvm.seeders import Cold, Seeder
from refsvm.stopping.base import StoppingRule

__all__ = ["Chunks", "run_part"]

CHUNK_SECONDS: Final = 0.02
"""How long a chunk of compiled rounds takes: Ctrl-C waits no longer, unless a single round does."""

FIRST_CHUNK: Final = 2**14
"""Variables of all rounds in the first chunk, whose time is not known yet."""

CHUNK_ROUNDS: Final = 64
"""Most rounds in the first chunk, and in any whose seeds are in memory at once."""

WORTH_SECONDS: Final = 0.05
"""Less work than this is done faster than threads are started."""


class Chunks:
    """Runs the rounds that a runner would run, in chunks.

    Parameters
    ----------
    runner : Runner
        For the rounds that compiled code does not take.
    apart : bool
        Whether the time of seeds is wanted apart from that of steps.
    """

    def __init__(self, runner: Runner, apart: bool) -> None:
        self._runner, self._family, self._seeder, self._apart = runner, runner.family, runner.seeder, apart
        self._packed: PackedRounds | None = None
        self._seeds: tuple[Solution, np.ndarray, Any] | None = None  # by the twin
        self._can_compile = not self._family.options["trace"]  # rounds in compiled code record no steps
        # a seed that Python makes, and work that seeds share, need a solution that is there
        self._waits = runner.shares

    def run(self, plan: Iterable[Round]) -> Iterator[Ended]:
        """Yield how each round ended, until Ctrl-C or the callback ends them."""
        family, runner, waiting, left = self._family, self._runner, deque[Round](), iter(plan)
        size = max(1, min(FIRST_CHUNK // family.problem.n, CHUNK_ROUNDS))
        while family.status is Status.CONVERGED:
            waiting.extend(islice(left, 0 if waiting else 1))
            if not waiting:
                break
            began = time.perf_counter()
            self._let_twin_seed()
            packed = self._compiled() if family.latest <= runner.limit else None
            with interruptible() as interrupt:
                if packed is None:
                    done = [runner.round(waiting.popleft())]
                else:
                    waiting.extend(islice(left, max(0, size - len(waiting))))
                    done = self._chunk(packed, waiting, size)
            each = max((time.perf_counter() - began) / len(done), 1e-9)
            if interrupt.pressed:
                family.status = Status.INTERRUPTED
            yield from done[:-1] if done[-1].status is Status.INTERRUPTED else done
            if family.workers > 1 and family.status is Status.CONVERGED:
                waiting.extend(left)
                if pays_to_share(waiting, each, packed is not None):
                    yield from self._in_workers([*waiting], max(1, int(CHUNK_SECONDS / each)))
                    break
            size = max(1, min(int(CHUNK_SECONDS / each), 4 * size, CHUNK_ROUNDS if self._apart else 4096))

    # -- chunks in compiled code -----------------------------------------------------------------------------------

    def _compiled(self) -> PackedRounds | None:
        """Return what runs rounds in compiled code; None where that takes not these rules or rows, or it is late."""
        family, runner, seeder = self._family, self._runner, self._seeder
        if self._packed is None and self._can_compile:
            # the default rules take float32 rows, with a seeder that reads none
            is_single = runner.reads_single and not seeder.reads_rows
            code, by_twin = "single rounds" if is_single else "rounds", handover.have_twins([seeder])
            rules = seeder if by_twin else Cold(), *runner.rules
            if not handover.may_run(family.options["engine"], code, *rules):
                return None
            rows = self._all_rows(is_single) if handover.have_twins(runner.rules) else None
            self._can_compile = rows is not None
            if rows is not None:
                self._packed, family.used = PackedRounds(runner, rows), "numba"
                self._apart = self._apart or seeder.twin() is None
                self._waits = self._waits or self._apart
        return self._packed if time.perf_counter() < family.limits.deadline else None

    def _all_rows(self, is_single: bool) -> KernelRows | None:
        """Return all kernel rows as compiled code takes them; None if it takes these not at all."""
        rows, values = self._family.rows, self._family.rows.values
        if is_single:
            from refsvm.compiled.interface.dispatch import are_built_in

            if are_built_in(*(rule.twin() for rule in self._runner.rules)):
                return KernelRows(rows.gram)
        usable = values.dtype == np.float64 and values.flags.c_contiguous
        return rows if usable and rows.holds_all else None

    def _chunk(self, packed: PackedRounds, waiting: deque[Round], size: int) -> list[Ended]:
        """Run rounds in compiled code, and the one after them where that is left to Python."""
        family, runner, began = self._family, self._runner, time.perf_counter()
        chunk = self._ready([*islice(waiting, size)])
        solved = family.kept.get(chunk[0].origin) if self._waits else None
        if runner.shares and solved is not None:
            packed.remember(runner.memory(solved, chunk))
        seeds = []
        if solved is not None and self._seeder.twin() is None:
            seeds = [runner.seed(each, solved, runner.boxed(each)) for each in chunk]
        done, rest = packed.run(chunk, began, self._apart and solved is not None, seeds)
        for _ in done:
            waiting.popleft()
        if done:
            longest = max(each.iterations for each in done)
            family.latest, family.longest = done[-1].iterations, max(family.longest, longest)
        if rest is not None:
            each = waiting.popleft()
            if rest.status is Status.MAX_ITER and not family.problem.is_open:
                done.append(runner.ended(each, rest, began, began, family.rows.computed))
            else:
                done.append(runner.round(each))
        return done

    def _let_twin_seed(self) -> None:
        """Let the twin make the seeds, once compiled code is in use and all rows are in memory."""
        rows, runner, engine = self._family.rows, self._runner, self._family.options["engine"]
        usable = rows.holds_all and rows.values.dtype == np.float64 and runner.by_twin is None
        if usable and handover.may_run(engine, "twin", self._seeder) and self._seeder.twin() is not None:
            runner.by_twin = self._seed_by_twin

    def _seed_by_twin(self, solved: Solution, memory: np.ndarray, problem: DualProblem) -> np.ndarray:
        """Return the seed; what the twin is given of a solution is made once."""
        if self._seeds is None or self._seeds[0] is not solved or self._seeds[1] is not memory:
            from refsvm.compiled.interface.seeding import CompiledSeeds

            self._seeds = solved, memory, CompiledSeeds(self._seeder, solved, self._family.rows, memory)
        alpha: np.ndarray = self._seeds[2](problem)
        return alpha

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

    # -- threads and processes -------------------------------------------------------------------------------------

    def _in_workers(self, rounds: list[Round], size: int) -> Iterator[Ended]:
        """Hand out parts of some rounds each."""
        family, token = self._family, f"{os.getpid()} {next(_numbers)}"
        size = max(1, min(size, -(-len(rounds) // (4 * family.workers))))
        parts = [rounds[begin : begin + size] for begin in range(0, len(rounds), size)]
        arguments = [(token, family, self._seeder, self._runner.rules.stop, part) for part in parts]
        for done, status in in_workers(run_part, arguments, family.workers):
            yield from done
            if status is not Status.CONVERGED:
                family.status = status
                break


def pays_to_share(waiting: deque[Round], seconds: float, is_compiled: bool) -> bool:
    """Whether workers are over sooner: rounds do not wait for each other, and take long enough.

    Readable rounds would wait for the interpreter's lock in threads.
    """
    alike = all(each.keep is None for each in waiting) and len(waiting) > 1
    return alike and len(waiting) * seconds > WORTH_SECONDS and (is_compiled or joblib_is_set_up())


_numbers = itertools.count()
_own = threading.local()  # of a worker: its latest family, by its token


def run_part(
    token: str, family: Any, seeder: Seeder, stop: StoppingRule, part: list[Round]
) -> tuple[list[Ended], Status]:
    """Run a part in a worker, which keeps the family it got first: in a thread, the same rows and a state of its own.

    In another process, the kernel rows that it has computed are there.
    """
    if getattr(_own, "token", None) != token:
        _own.token, _own.family = token, family.another()
    return [*_own.family.run(part, seeder, stop)], _own.family.status
