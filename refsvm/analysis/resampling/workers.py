"""Workers: threads or processes that divide the rounds of a call among themselves."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Collection, Iterator
from typing import Any, Final

from refsvm.core.engine.limits import interruptible
from refsvm.core.result import Status
from refsvm.core.rounds.round import LATEST, Round, RoundResult
from refsvm.core.seeders.base import Seeder
from refsvm.core.stopping.base import StoppingRule
from refsvm.services.pool import in_workers, is_worth_workers, joblib_is_set_up, worker_count

PART_SECONDS: Final = 0.02
"""Shortest duration of a part, in seconds."""


def sharing_pays(waiting: Collection[Round], seconds: float, is_compiled: bool) -> bool:
    """Return True if workers save time: if the rounds are long, and no round starts from a waiting round's solution."""
    # if a round keeps its solution, later rounds start from it, so their workers would have to wait for this round
    alike = all(each.keep in (None, LATEST) for each in waiting)
    return alike and is_worth_workers(len(waiting), seconds, is_compiled)


class Workers:
    """Workers that share the rounds of one `Rounds` object.

    Parameters
    ----------
    count : int
        The number of workers.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def share(self, runner: Any, waiting: Collection[Round], seconds: float) -> Iterator[RoundResult] | None:
        """Let workers run waiting rounds of about `seconds` each; return the results, or None if this saves no time."""
        if not sharing_pays(waiting, seconds, runner.family.backend.name == "numba"):
            return None
        return in_parts(runner, [*waiting], seconds)


def workers(n_jobs: Any) -> Workers | None:
    """Return the workers for `n_jobs`; None if the calling thread must run all rounds itself."""
    if n_jobs is None and not joblib_is_set_up():  # most calls end here
        return None
    count = worker_count(n_jobs)
    return Workers(count) if count > 1 else None


def in_parts(runner: Any, rounds: list[Round], seconds: float) -> Iterator[RoundResult]:
    """Yield the results of rounds that workers run in parts; the `seconds` of one round determine a part's size."""
    family, token = runner.family, f"{os.getpid()} {next(_numbers)}"
    # make at least four parts for each worker, so that no worker has a long last part when the other workers are done
    size = max(1, min(int(PART_SECONDS / max(seconds, 1e-9)), -(-len(rounds) // (4 * family.workers.count))))
    parts = [rounds[begin : begin + size] for begin in range(0, len(rounds), size)]
    arguments = [(token, family, runner.seeder, runner.rules.stop, runner.proves, part) for part in parts]
    for done, status in in_workers(run_part, arguments, family.workers.count):
        yield from done
        if status is not Status.CONVERGED:
            family.status = status
            break


_numbers = itertools.count()
_own = threading.local()  # each worker keeps its latest `Rounds` object in this variable


def run_part(
    token: str, family: Any, seeder: Seeder, stop: StoppingRule, proves: bool, part: list[Round]
) -> tuple[list[RoundResult], Status]:
    """Run a part of the rounds in a worker, which reuses the `Rounds` object of its first part.

    Threads share kernel rows, but each thread has its own state; a process reuses the kernel rows that it has computed.
    """
    # make the `Rounds` object once for all parts of a call, to reuse its kernel rows and what compiled code prepared
    if getattr(_own, "token", None) != token:
        _own.token, _own.family = token, family.clone_for_worker()
    with interruptible():  # keep rounds that finished before Ctrl-C
        return [*_own.family.run(part, seeder, stop, proves=proves)], _own.family.status
