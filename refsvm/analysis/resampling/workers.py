"""Rounds by several workers: parts of some rounds each, by threads or processes."""

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
"""Least duration of a part in seconds."""


def sharing_pays(waiting: Collection[Round], seconds: float, is_compiled: bool) -> bool:
    """Whether workers are over sooner: rounds do not wait for each other, and take long enough."""
    # a round that is kept is the origin of others, which would have to wait for its worker
    alike = all(each.keep in (None, LATEST) for each in waiting)
    return alike and is_worth_workers(len(waiting), seconds, is_compiled)


class Workers:
    """Several workers that share the rounds of one family (`refsvm.core.doors`).

    Parameters
    ----------
    count : int
        The number of workers.
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def share(self, runner: Any, waiting: Collection[Round], seconds: float) -> Iterator[RoundResult] | None:
        """Return the results of the rounds that wait, each of about these seconds; None if sharing does not pay."""
        # long rounds come one by one from compiled code, too
        if not sharing_pays(waiting, seconds, runner.family.backend.name == "numba"):
            return None
        return in_parts(runner, [*waiting], seconds)


def workers(n_jobs: Any) -> Workers | None:
    """Return the workers that are asked for; None if this thread is the only one."""
    if n_jobs is None and not joblib_is_set_up():  # as nearly always
        return None
    count = worker_count(n_jobs)
    return Workers(count) if count > 1 else None


def in_parts(runner: Any, rounds: list[Round], seconds: float) -> Iterator[RoundResult]:
    """Yield the results of rounds that workers run in parts, sized by the seconds of one round."""
    family, token = runner.family, f"{os.getpid()} {next(_numbers)}"
    # four parts for each worker at least, so that none is left with the last long one
    size = max(1, min(int(PART_SECONDS / max(seconds, 1e-9)), -(-len(rounds) // (4 * family.workers.count))))
    parts = [rounds[begin : begin + size] for begin in range(0, len(rounds), size)]
    arguments = [(token, family, runner.seeder, runner.rules.stop, part) for part in parts]
    for done, status in in_workers(run_part, arguments, family.workers.count):
        yield from done
        if status is not Status.CONVERGED:
            family.status = status
            break


_numbers = itertools.count()
_own = threading.local()  # of a worker: its latest family, by its token


def run_part(
    token: str, family: Any, seeder: Seeder, stop: StoppingRule, part: list[Round]
) -> tuple[list[RoundResult], Status]:
    """Run a part in a worker, which keeps the family it got first: in a thread, the same rows and a state of its own.

    In another process, the kernel rows that it has computed are there.
    """
    # one family for all parts of a call: its rows and its compiled session are used again
    if getattr(_own, "token", None) != token:
        _own.token, _own.family = token, family.clone_for_worker()
    with interruptible():  # what was run before Ctrl-C counts
        return [*_own.family.run(part, seeder, stop)], _own.family.status
