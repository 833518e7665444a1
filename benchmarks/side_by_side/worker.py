"""A process for each library: it lives through the run, and what it does wrong costs one cell of the table."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self

from .libraries import Library
from .memory import resident_size
from .problems import Stored
from .results import Answer
from .tasks import Task

__all__ = ["Limits", "Stopped", "Worker"]

SPAWN = multiprocessing.get_context("spawn")
PAUSE_SECONDS = 0.05
"""Seconds between two looks at a worker's memory; also before each turn, for idle threads to go to sleep."""


@dataclass(frozen=True)
class Limits:
    """What a library may use before it is stopped: seconds for each turn, and bytes of resident memory."""

    seconds: float = 600.0
    size: float = 16e9


@dataclass(frozen=True)
class Stopped:
    """Why there is no answer."""

    reason: str


@dataclass(frozen=True)
class Request:
    """What a worker is asked to do."""

    task: type[Task]
    library: Library
    problem: Stored
    cache_mb: float
    settle: bool = False


def touch(size_mb: float) -> None:
    """Have another process use as much memory and give it back.

    A virtual machine gets memory from its host when it is first touched, which takes ten times as long as touching it
    again: without this, a library whose turn comes after a large one would find it ready, and the others would not.
    """
    subprocess.run([sys.executable, "-c", f"b'1' * {int(size_mb * 2**20)}"], check=False)


def serve(connection: Connection, environment: Mapping[str, str]) -> None:
    """Answer requests till the process is ended; a problem is read and warmed up with once."""
    os.environ.update(environment)  # before anything that reads it is imported
    opened: tuple[Stored | None, Any] = None, None
    while True:
        request: Request = connection.recv()
        if request.problem != opened[0]:
            opened = request.problem, request.problem.open()
            request.task(request.library, opened[1], request.cache_mb).warm_up()
        if request.settle:
            touch(2.0 * request.cache_mb)
        connection.send(request.task(request.library, opened[1], request.cache_mb).answer())


class Worker:
    """Runs the tasks of one library in a process of its own, started anew after it was stopped or crashed.

    Parameters
    ----------
    library : Library
    limits : Limits
    environment : dict
        Environment variables of the process.
    """

    def __init__(
        self, library: Library, limits: Limits | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        self.library, self.limits, self.environment = library, limits or Limits(), dict(environment or {})
        self._process: Any = None
        self._connection: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(
        self, task: type[Task], problem: Stored, cache_mb: float, settle: bool = False
    ) -> Answer | Stopped:
        """Have the task done, if asked in memory that was in use before; return the answer, or why there is none."""
        if self._process is None or not self._process.is_alive():
            self.close()
            self._start()
        time.sleep(PAUSE_SECONDS)
        self._connection.send(Request(task, self.library, problem, cache_mb, settle))
        answer = self._awaited()
        if isinstance(answer, Stopped):
            self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process.close()
            self._process = None

    def _start(self) -> None:
        self._connection, theirs = SPAWN.Pipe()
        with closing(theirs):
            self._process = SPAWN.Process(target=serve, args=(theirs, self.environment), daemon=True)
            self._process.start()

    def _awaited(self) -> Answer | Stopped:
        """Wait for the answer, and look after the limits meanwhile."""
        began = time.monotonic()
        while not self._connection.poll(PAUSE_SECONDS):
            if time.monotonic() - began > self.limits.seconds:
                return Stopped(f"over {self.limits.seconds / 60:.3g} min")
            if resident_size(self._process.pid) > self.limits.size:
                return Stopped(f"over {self.limits.size / 1e9:.3g} GB")
        try:
            answer: Answer = self._connection.recv()
        except EOFError:
            self._process.join()
            return Stopped(ending(self._process.exitcode))
        return answer


def ending(code: int) -> str:
    """Say how a process ended.

    Examples
    --------
    >>> ending(-11), ending(1)
    ('crashed: SIGSEGV', 'failed: exit code 1')
    """
    return f"crashed: {signal.Signals(-code).name}" if code < 0 else f"failed: exit code {code}"
