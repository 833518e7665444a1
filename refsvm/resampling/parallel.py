"""Chunks of rounds, in this thread, in several threads, or in processes where joblib is set up for them."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from refsvm.problem import DualProblem
from refsvm.resampling.left_out import CompiledRounds, readable_round
from refsvm.result import Solution
from refsvm.seeders.base import Seeder
from refsvm.solver.rounds import Rounds
from refsvm.solver.rules import Rules

__all__ = ["ChunkRunner", "chunks", "in_workers", "number_of_workers"]

CHUNK_SECONDS: Final = 0.02
"""How long a chunk of rounds takes: Ctrl-C, limits and progress wait no longer."""

WORTH_SECONDS: Final = 0.05
"""Less work than this is done faster than threads are started."""

_numbers = itertools.count()


class ChunkRunner:
    """Trains without each example of a chunk. Threads share the kernel rows; a process computes its own.

    Parameters
    ----------
    problem : DualProblem
    full : Solution
    rules : Rules
    seeder : Seeder
    options : dict
        ``compiled``, ``cache_mb``, ``max_iter``.
    rounds : Rounds, optional
        With the kernel rows; not taken to other processes.
    """

    def __init__(
        self,
        problem: DualProblem,
        full: Solution,
        rules: Rules,
        seeder: Seeder,
        options: dict[str, Any],
        rounds: Rounds,
    ) -> None:
        self.problem, self.full, self.rules, self.seeder, self.options = problem, full, rules, seeder, options
        self.token = f"{os.getpid()} {next(_numbers)}"
        self._rounds: Rounds = rounds
        self._memory: np.ndarray | None = None
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what belongs to this process."""
        mine = {"_rounds", "_own", "_memory"}
        return {name: value for name, value in self.__dict__.items() if name not in mine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrive in another process: make its own kernel rows."""
        self.__dict__.update(state)
        self._rounds = Rounds(
            self.problem,
            selector=self.rules.selector,
            step=self.rules.step,
            engine="auto" if self.options["compiled"] else "numpy",
            shrinking=False,
            cache_mb=self.options["cache_mb"],
            max_iter=self.options["max_iter"],
        )
        self._memory, self._own = None, threading.local()

    def __call__(self, examples: np.ndarray) -> np.ndarray:
        """Return a record of `ROUND` for each example."""
        if not self.options["compiled"]:
            return np.concatenate([self.readable(int(r)) for r in examples])
        records = self._compiled().run(examples)
        for place in np.flatnonzero((records["code"] < 0) | np.isnan(records["decision_value"])):
            records[place] = self.readable(int(examples[place]))[0]
        return records

    def readable(self, r: int) -> np.ndarray:
        """Leave out one example in the readable driver."""
        if not hasattr(self._own, "seed"):
            self._own.seed = self.seeder.seeds_from(self.full)
        return readable_round(self._rounds, self.full, self._own.seed, self.rules.stop, r)[0]

    def _compiled(self) -> CompiledRounds:
        """Return the rounds of this thread."""
        if not hasattr(self._own, "rounds"):
            rows = self._rounds.rows
            rows.fetch(np.arange(self.problem.n))
            if self._memory is None:
                self._memory = self.seeder.prepare(self.full)
            self._own.rounds = CompiledRounds(
                rows, self.full, self.rules, self.seeder, self._memory, self.options["max_iter"]
            )
        rounds: CompiledRounds = self._own.rounds
        return rounds


_arrived: dict[str, ChunkRunner] = {}  # the latest runner in a worker process, by its token


def run_in_worker(runner: ChunkRunner, examples: np.ndarray) -> np.ndarray:
    """Run a chunk; a process keeps the runner it got first, whose kernel rows are there."""
    if runner.token not in _arrived:
        _arrived.clear()
        _arrived[runner.token] = runner
    return _arrived[runner.token](examples)


def chunks(runner: ChunkRunner, examples: np.ndarray) -> Iterator[np.ndarray]:
    """Run the examples in this thread, chunk after chunk of about `CHUNK_SECONDS`."""
    size, done = 1 if not runner.options["compiled"] else 8, 0
    while done < len(examples):
        began = time.perf_counter()
        yield runner(examples[done : done + size])
        done += size
        pace = CHUNK_SECONDS / max(time.perf_counter() - began, 1e-9)
        size = max(1, min(int(size * pace), 4 * size))


def in_workers(runner: ChunkRunner, examples: np.ndarray, workers: int) -> Iterator[np.ndarray]:
    """Run the examples in this thread as long as threads would not pay, the rest in several."""
    here = chunks(runner, examples)
    done, began = 0, time.perf_counter()
    while done < len(examples):
        records = next(here)
        done += len(records)
        yield records
        each = (time.perf_counter() - began) / done
        left = len(examples) - done
        if workers > 1 and each * left > WORTH_SECONDS:
            yield from _parallel(runner, examples[done:], workers, max(1, int(CHUNK_SECONDS / each)))
            return


def _parallel(runner: ChunkRunner, examples: np.ndarray, workers: int, size: int) -> Iterator[np.ndarray]:
    """Hand out chunks to joblib: threads, unless joblib is set up for something else."""
    from joblib import Parallel, delayed

    size = max(1, min(size, -(-len(examples) // (4 * workers))))
    parts = [examples[start : start + size] for start in range(0, len(examples), size)]
    try:
        pool = Parallel(n_jobs=workers, prefer="threads", return_as="generator_unordered")
    except ValueError:  # a backend that returns everything at the end
        pool = Parallel(n_jobs=workers, prefer="threads")
    yield from pool(delayed(run_in_worker)(runner, part) for part in parts)


def number_of_workers(n_jobs: Any) -> int:
    """Return the number of workers, or refuse what is none."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} is not a number of workers; give None, 1, 2, … or -1.")
    if n_jobs == 1:
        return 1
    if find_spec("joblib") is None:
        raise ImportError(f"n_jobs={n_jobs!r} needs the package joblib; install it, or leave n_jobs out.")
    from joblib import effective_n_jobs

    return int(effective_n_jobs(int(n_jobs)))
