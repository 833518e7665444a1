"""Workers: how many threads or processes a call uses, and how they share a list of tasks."""

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
"""Number of consecutive attempts ended by a lost worker after which the call gives up."""

WORTH_SECONDS: Final = 0.05
"""Seconds of work below which starting threads costs more than it saves."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def worker_count(n_jobs: Any) -> int:
    """Return the number of workers for `n_jobs`: −1 means one for each core that this process may use, −2 one fewer.

    None means one, or the number that joblib is set up for.

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
    # a batch system may give this process fewer cores than the machine has
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores + 1 + int(n_jobs))


def joblib_is_set_up() -> bool:
    """Return whether joblib is set up for something other than threads of this process (``joblib.parallel_config``)."""
    if "joblib" not in sys.modules:  # joblib cannot be set up without being imported
        return False
    from joblib.parallel import get_active_backend

    return not getattr(get_active_backend(prefer="threads")[0], "uses_threads", False)


def share_memory(n_jobs: Any) -> bool:
    """Return whether the workers are threads of this process, or there is only one worker."""
    return worker_count(n_jobs) == 1 or not joblib_is_set_up()


def is_worth_workers(items: int, seconds: float, is_compiled: bool) -> bool:
    """Return whether several workers finish the items earlier than one worker, if each item takes `seconds`.

    Interpreted code would wait for the interpreter's lock in threads.

    Examples
    --------
    >>> from refsvm.services.pool import is_worth_workers
    >>> is_worth_workers(10, 0.02, True), is_worth_workers(10, 0.002, True), is_worth_workers(10, 0.02, False)
    (True, False, False)
    """
    return items > 1 and items * seconds > WORTH_SECONDS and (is_compiled or joblib_is_set_up())


def in_threads(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yield ``work(item)`` for every item in order, computed by several threads a few items ahead.

    Examples
    --------
    >>> from refsvm.services.pool import in_threads
    >>> list(in_threads(abs, [-1, 2, -3], workers=2))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(workers, "refsvm-pool")
    try:
        # only this thread receives Ctrl-C; the others read this block's flag, which is in their copy of the context
        with interruptible():
            for item in items:
                waiting.append(pool.submit(copy_context().run, work, item))
                # one task more than workers, so that no worker waits for the caller to take a result
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
    finally:
        # after an error, running tasks end by themselves, and this thread does not wait for them
        pool.shutdown(wait=not waiting, cancel_futures=True)


def in_turn(work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """Yield ``work(*each)`` for each tuple, in this thread.

    Raises
    ------
    RuntimeError
        If the work raises StopIteration, which would silently end the loop over the results.

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
    """Yield ``work(*each)`` for each tuple in any order, from threads or from the backend set up in joblib.

    Outside threads, the function and its arguments are pickled. A single worker is the calling thread.
    """
    if workers == 1:
        return in_turn(work, arguments)
    # a cluster that the user has set up takes precedence over threads of this machine
    if joblib_is_set_up():
        return by_joblib(work, arguments, workers)
    return in_threads(lambda each: work(*each), arguments, workers)


def by_joblib(
    work: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], workers: int
) -> Iterator[Result]:
    """Yield the same results from joblib's workers, which by default are processes of this machine."""
    from joblib import Parallel, delayed

    # a batch returns all its tasks at once, so that a lost worker would also lose the tasks that it has finished
    try:
        pool = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    except ValueError:  # this backend returns all results at the end
        pool = Parallel(n_jobs=workers)
    yield from pool(delayed(work)(*each) for each in arguments)


def resubmitted(attempt: Callable[[], Iterator[Result]]) -> Iterator[Result]:
    """Yield the results of an attempt; repeat the attempt if a worker was lost with its data or its pool.

    Parameters
    ----------
    attempt : callable
        Submits the tasks that have no result yet, and yields their results as they arrive.

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
                # a result shows that workers recover, so only consecutive losses end the call
                failures = 0
                yield result
            return
        except (CancelledError, BrokenExecutor):
            failures += 1
            if failures == ATTEMPTS:
                raise
