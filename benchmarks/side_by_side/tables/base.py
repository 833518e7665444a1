"""Table: one question that ``benchmarks/peers.py`` answers; and what several tables need."""

from __future__ import annotations

import argparse
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from side_by_side.libraries import Library, machine, versions
from side_by_side.problems import chosen, ringnorm_in, store, suite
from side_by_side.report import Part
from side_by_side.results import Row
from side_by_side.round_robin import RoundRobin, Settings
from side_by_side.tasks import TOL, Task, Threads
from side_by_side.worker import Limits, Stopped, Worker

__all__ = ["Table", "measured_on_suite", "provenance", "settings"]


class Table(ABC):
    """One question, and the part of the page that answers it.

    Attributes
    ----------
    name : str
        ``--name`` asks for it.
    help : str
        What ``--help`` says.
    """

    name: ClassVar[str]
    help: ClassVar[str]

    def add_options(self, parser: argparse.ArgumentParser) -> None:  # noqa: B027 (most tables have none)
        """Add the options that only this table has."""

    @abstractmethod
    def part(self, options: argparse.Namespace, libraries: Sequence[Library]) -> Part:
        """Measure, and return the part of the page.

        Parameters
        ----------
        options : Namespace
            Of the command line: ``data_dir``, ``only``, ``rounds``, ``cache``, ``minutes``, ``gigabytes``, ``write``,
            and those of `add_options`.
        libraries : sequence of Library
            Those of `LIBRARIES` that are installed and wanted, refsvm first. A table may measure others.
        """


def settings(
    options: argparse.Namespace, rounds: int, cache_mb: float = 1000.0, fresh: bool = False
) -> Settings:
    """Return how turns are taken: as the command line says, otherwise by these defaults."""
    limits = Limits(60.0 * options.minutes, 1e9 * options.gigabytes)
    return Settings(options.cache or cache_mb, options.rounds or rounds, limits, fresh)


def measured_on_suite(
    task: type[Task], options: argparse.Namespace, libraries: Sequence[Library], how: Settings
) -> list[Row]:
    """Measure a task on the eighteen sets."""
    with RoundRobin(libraries, how) as turns:
        return [
            turns.measure(task, problem.load()) for problem in chosen(suite(options.data_dir), options.only)
        ]


def provenance(libraries: Sequence[Library], how: Settings) -> str:
    """Return a paragraph: the machine, the versions, the threads of each library, and how turns were taken."""
    threads = []
    with tempfile.TemporaryDirectory() as directory:
        problem = store(ringnorm_in(2, n=20), Path(directory))
        for library in libraries:
            with Worker(library) as worker:
                answer = worker.ask(Threads, problem, 10.0)
            count = "?" if isinstance(answer, Stopped) else f"{answer.evidence.parts['threads']:.0f}"
            threads.append(f"{library.name} {count}")
    path = os.environ.get("OPENBLAS_CORETYPE")
    processor = machine() if path is None else f"{machine()}, OPENBLAS_CORETYPE={path}"
    return (
        f"The times were measured on {processor}, with {versions(libraries)}. "
        f"The libraries use at most these numbers of threads: {', '.join(threads)}. "
        f"The tolerance is {TOL:g}, the memory for kernel rows is {how.cache_mb:g} MB, "
        f"and the number of turns is {how.rounds}."
    )
