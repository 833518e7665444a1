"""The libraries take turns on a problem, so that a change of the machine's speed meets all of them."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from refsvm.datasets import Dataset

from .agreement import TOLERANCE, shortfalls
from .libraries import Library
from .problems import Stored, store
from .results import Evidence, Outcome, Row
from .tasks import Task
from .worker import Limits, Stopped, Worker

if TYPE_CHECKING:
    from typing import Self

__all__ = ["RoundRobin", "Settings"]

LONG_SECONDS = 20.0
"""Seconds; a turn that took longer is not repeated."""


@dataclass(frozen=True)
class Settings:
    """How the turns are taken.

    Parameters
    ----------
    cache_mb : float
        Budget for kernel rows.
    rounds : int
        Turns of each library.
    limits : Limits
    fresh : bool
        Whether each turn has a process of its own, for its peak memory to mean something.
    """

    cache_mb: float = 1000.0
    rounds: int = 5
    limits: Limits = field(default_factory=Limits)
    fresh: bool = False


class RoundRobin:
    """The workers of a run; a context manager that ends them.

    Parameters
    ----------
    libraries : sequence of Library
    settings : Settings
    """

    def __init__(self, libraries: Sequence[Library], settings: Settings) -> None:
        self.settings = settings
        self._workers = [Worker(library, settings.limits) for library in libraries]
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        for worker in self._workers:
            self._exit.enter_context(worker)
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def measure(self, task: type[Task], data: Dataset) -> Row:
        """Let the libraries take turns at a task; return what came out, objectives computed here."""
        outcomes = {worker.library.name: Outcome() for worker in self._workers}
        evidence: dict[str, Evidence] = {}
        with tempfile.TemporaryDirectory() as directory:
            problem = store(data, Path(directory))
            for turn in range(self.settings.rounds):
                first = turn % len(self._workers)
                for worker in self._workers[first:] + self._workers[:first]:
                    name = worker.library.name
                    found = self._turn(worker, task, problem, outcomes[name])
                    if found is not None:
                        evidence.setdefault(name, found)
        for name, found in evidence.items():
            outcome = outcomes[name]
            outcome.objective, outcome.labels = task.objective(data, found), found.labels
            outcome.iterations, outcome.kernel_rows = found.iterations, found.kernel_rows
        row = Row(data.name, data.n, data.d, outcomes)
        for name, short in shortfalls(row).items():
            if short > TOLERANCE:
                outcomes[name].gap = task.gap(data, evidence[name])
        print(progress(task.name, row), file=sys.stderr, flush=True)
        return row

    def _turn(self, worker: Worker, task: type[Task], problem: Stored, outcome: Outcome) -> Evidence | None:
        """Have one turn taken, unless the last one took long or failed; write it into the outcome."""
        if outcome.stopped or LONG_SECONDS < outcome.seconds < math.inf:
            return None
        answer = worker.ask(task, problem, self.settings.cache_mb, settle=self.settings.fresh)
        if self.settings.fresh:
            worker.close()
        if isinstance(answer, Stopped):
            outcome.seconds, outcome.stopped = math.inf, answer.reason
            return None
        if self.settings.fresh or outcome.first == math.inf:
            outcome.first = min(outcome.first, answer.first)
        if answer.seconds < outcome.seconds:
            outcome.seconds, outcome.parts = answer.seconds, answer.evidence.parts
        outcome.peak = float(np.fmax(outcome.peak, answer.peak))
        return answer.evidence


def progress(task: str, row: Row) -> str:
    """Return a line that tells how it went."""
    results = (
        f"{name} {outcome.stopped or f'{outcome.seconds:.4g} s'}" for name, outcome in row.outcomes.items()
    )
    return f"{task} {row.name} ({row.n} × {row.d}): " + ", ".join(results)
