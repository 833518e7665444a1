"""Several workers: how many are asked for, and how they share a list of items."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, TypeVar

import numpy as np

from refsvm.core.engine.limits import interruptible

ATTEMPTS: Final = 4
"""Number of attempts in a row, each ended by a lost worker, after which the call ends."""

WORTH_SECONDS: Final = 0.05
"""Less work than this is done faster than threads are started."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def worker_count(n_jobs: Any) -> int:
    """Return how many workers are asked for: −1 is one for each core this process may use, −2 one less.

    None is one, or as many as joblib is set up for.

    Raises
    ------
    ValueError
        If that is not a number of workers.

    Examples
    --------
    >>> from refsvm.services.pool import worker_count
    >>> worker_count(1), worker_count(3)
    (1, 3)
    """
    is_count = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool) and n_jobs != 0
    if n_jobs is not None and not is_count:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of workers; give None, a whole number ≥ 1, or -1 for one on each core."
        )
    if joblib_is_set_up():
        from joblib import effective_n_jobs

        return int(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs > 0:
        return int(n_jobs or 1)
    # a batch system may give this process fewer cores than the machine has
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def joblib_is_set_up() -> bool:
    """Whether joblib would not use threads of this process: ``joblib.parallel_config`` has named something else."""
    if "joblib" not in sys.modules:  # to set it up is to import it
        return False
    from joblib.parallel import get_active_backend

    return not getattr(get_active_backend(prefer="threads")[0], "uses_threads", False)


def share_memory(n_jobs: Any) -> bool:
    """Whether the workers are threads of this process, or there is only one."""
    return worker_count(n_jobs) == 1 or not joblib_is_set_up()


def is_worth_workers(items: int, seconds: float, is_compiled: bool) -> bool:
    """Whether several workers are over sooner with so many items, each of about these seconds.

    Readable code would wait for the interpreter's lock in threads.

    Examples
    --------
    >>> from refsvm.services.pool import is_worth_workers
    >>> is_worth_workers(10, 0.02, True), is_worth_workers(10, 0.002, True), is_worth_workers(10, 0.02, False)
    (True, False, False)
    """
    return items > 1 and items * seconds > WORTH_SECONDS and (is_compiled or joblib_is_set_up())


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield ``work(item)`` of every item, in order, from several threads; a few items are taken ahead at a time.

    Examples
    --------
    >>> from refsvm.services.pool import in_threads
    >>> list(in_threads(abs, [-1, 2, -3], workers=2))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, "refsvm-pool")
    try:
        with (
            interruptible()
        ):  # only this thread is told of Ctrl-C; the others ask its block, which is in its context
            for item in items:
                waiting.append(pool.submit(copy_context().run, work, item))
                # one task more than there are workers: none waits for the caller to take a result
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        # after an error, tasks that run end by themselves, and are not waited for
        pool.shutdown(wait=not waiting, cancel_futures=True)


def in_turn(work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """Yield ``work(*each)`` for each tuple, in this thread.

    Raises
    ------
    RuntimeError
        If the work raises StopIteration, which would end the loop over the results as if all were done.

    Examples
    --------
    >>> from refsvm.services.pool import in_turn
    >>> list(in_turn(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    for each in arguments:
        yield work(*each)


def in_workers(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> Iterator[Result]:
    """Yield ``work(*each)`` for each tuple, in any order, from threads or from the backend set up in joblib.

    Elsewhere than in threads, the function and its arguments are pickled. One worker is this thread.
    """
    if workers == 1:
        return in_turn(work, arguments)
    # a cluster that the user has set up goes before threads of this machine
    if joblib_is_set_up():
        return by_joblib(work, arguments, workers)
    return in_threads(lambda each: work(*each), arguments, workers)


def by_joblib(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> Iterator[Result]:
    """Yield the same from the workers of joblib, which are processes of this machine where nothing else is set up."""
    from joblib import Parallel, delayed

    # a batch of several tasks is returned as one: a worker that is lost would lose finished ones
    try:
        pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    except ValueError:  # a backend that returns everything at the end
        pool = Parallel(n_jobs=workers)
    yield from pool(delayed(work)(*each) for each in arguments)


def resubmitted(attempt: Callable[[], Iterator[Result]]) -> Iterator[Result]:
    """Yield the results of an attempt, and of another one after a worker was lost with data or with its pool.

    Parameters
    ----------
    attempt : callable
        Hands out the tasks without a result so far, and returns their results as they come.

    Raises
    ------
    concurrent.futures.CancelledError, concurrent.futures.BrokenExecutor
        If several attempts in a row have no result.

    Examples
    --------
    >>> from concurrent.futures import BrokenExecutor
    >>> from refsvm.services.pool import resubmitted
    >>> missing, lost = [1, 2, 3], [2]
    >>> def attempt():
    ...     while missing:
    ...         if missing[0] in lost:
    ...             raise BrokenExecutor(f"the worker of {lost.pop()} is gone")
    ...         yield missing.pop(0)
    >>> list(resubmitted(attempt)), lost
    ([1, 2, 3], [])
    """
    failures = 0
    while True:
        try:
            for result in attempt():
                # results show that workers come back, so only losses in a row end the call
                failures = 0
                yield result
            return
        except (CancelledError, BrokenExecutor):
            failures += 1
            if failures == ATTEMPTS:
                raise
