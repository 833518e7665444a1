"""Counts the workers of a call, which are threads or processes, and shares a list of tasks among them."""

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
"""Number of consecutive attempts, each ended by the loss of a worker, after which the call gives up."""

WORTH_SECONDS: Final = 0.05
"""If the work takes fewer seconds, starting threads takes longer than the threads save."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def worker_count(n_jobs: Any) -> int:
    """Return the number of workers for `n_jobs`: −1 means all cores that this process may use, −2 all cores but one.

    None means one worker, or the number of workers that the user has set in joblib.

    Raises
    ------
    ValueError
        If `n_jobs` does not denote a number of workers.

    Examples
    --------
    >>> from refsvm.services.pool import worker_count
    >>> worker_count(1), worker_count(3)
    (1, 3)
    """
    is_count = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool) and n_jobs != 0
    if n_jobs is not None and not is_count:
        raise ValueError(
            f"n_jobs={n_jobs!r} is not a number of workers; give None, a whole number ≥ 1, or -1 for one worker on "
            "each core."
        )
    if joblib_is_set_up():
        from joblib import effective_n_jobs

        return int(effective_n_jobs(n_jobs))
    if n_jobs is None or n_jobs > 0:
        return int(n_jobs or 1)
    # count the cores that this process may use, because a batch system may give it fewer than the machine has
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def joblib_is_set_up() -> bool:
    """Return whether ``joblib.parallel_config`` has chosen workers that are not threads of this process."""
    if "joblib" not in sys.modules:  # joblib cannot be set up before it is imported
        return False
    from joblib.parallel import get_active_backend

    return not getattr(get_active_backend(prefer="threads")[0], "uses_threads", False)


def share_memory(n_jobs: Any) -> bool:
    """Return whether the workers for `n_jobs` are threads of this process, or a single worker."""
    return worker_count(n_jobs) == 1 or not joblib_is_set_up()


def is_worth_workers(items: int, seconds: float, is_compiled: bool) -> bool:
    """Return whether several workers finish the items earlier than one worker if an item takes `seconds`.

    For interpreted code the result is False, because threads would wait for the interpreter's lock.

    Examples
    --------
    >>> from refsvm.services.pool import is_worth_workers
    >>> is_worth_workers(10, 0.02, True), is_worth_workers(10, 0.002, True), is_worth_workers(10, 0.02, False)
    (True, False, False)
    """
    return items > 1 and items * seconds > WORTH_SECONDS and (is_compiled or joblib_is_set_up())


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield ``work(item)`` for every item in order; several threads compute a few results ahead.

    Examples
    --------
    >>> from refsvm.services.pool import in_threads
    >>> list(in_threads(abs, [-1, 2, -3], workers=2))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, "refsvm-pool")
    try:
        # Ctrl-C sets `pressed` in this thread; each worker reads it through a copy of this thread's context
        with interruptible():
            for item in items:
                waiting.append(pool.submit(copy_context().run, work, item))
                # submit one task more than there are workers, so that no worker waits while the caller uses a result
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        # after an error, let running tasks end by themselves
        pool.shutdown(wait=not waiting, cancel_futures=True)


def in_turn(work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """Yield ``work(*each)`` for each tuple of arguments, computed in this thread.

    Raises
    ------
    RuntimeError
        If `work` raises StopIteration, which would silently end the loop over the results.

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
    """Yield ``work(*each)`` for each tuple of arguments in any order, from threads or from joblib's backend.

    For workers other than threads, the function and its arguments are pickled. With a single worker, the calling thread
    computes the results.
    """
    if workers == 1:
        return in_turn(work, arguments)
    # if the user has set up a backend in joblib, such as a cluster, use this backend instead of threads
    if joblib_is_set_up():
        return by_joblib(work, arguments, workers)
    return in_threads(lambda each: work(*each), arguments, workers)


def by_joblib(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> Iterator[Result]:
    """Yield the results of `in_workers` from joblib's workers, which by default are processes of this machine."""
    from joblib import Parallel, delayed

    # send tasks one by one: a batch returns its results together, so a lost worker would lose finished tasks
    try:
        pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    except ValueError:  # this backend of joblib returns no result before all tasks are finished
        pool = Parallel(n_jobs=workers)
    yield from pool(delayed(work)(*each) for each in arguments)


def resubmitted(attempt: Callable[[], Iterator[Result]]) -> Iterator[Result]:
    """Yield the results of an attempt; repeat the attempt if it fails because a worker was lost.

    Parameters
    ----------
    attempt : callable
        Function that submits all tasks that have no result yet, and yields their results as they arrive.

    Raises
    ------
    concurrent.futures.CancelledError, concurrent.futures.BrokenExecutor
        If several consecutive attempts yield no result.

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
                # start counting again after a result, so that only consecutive losses of workers end the call
                failures = 0
                yield result
            return
        except (CancelledError, BrokenExecutor):
            failures += 1
            if failures == ATTEMPTS:
                raise
