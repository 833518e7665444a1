"""A call in a process of its own, with a limit of time: it may hang, exit or crash."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_a_process(work: Callable[[], Result], seconds: float, name: str) -> Result:
    """Return what a call returns in a process of its own, or raise what it raises there.

    Parameters
    ----------
    work : callable
        Where processes cannot be forked it is pickled, and so has to come from a file that can be imported.
    seconds : float
        The process is killed after them.
    name : str
        Of what is called, for the sentence.

    Raises
    ------
    AssertionError
        If the process does not answer in time, or ends without an answer.
    """
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    answers, answer = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, answer), daemon=True)
    process.start()
    answer.close()  # the child has it: where that ends, there is nothing to wait for
    try:
        if not answers.poll(seconds):
            raise AssertionError(f"{name} hangs: no answer after {seconds:g} seconds.")
        found, error = answers.recv()
    except EOFError:
        process.join(seconds)
        code = process.exitcode
        how = f"the signal {-code}" if code is not None and code < 0 else f"the code {code}"
        raise AssertionError(f"{name} ended its process, with {how}; a rule returns to its caller.") from None
    finally:
        process.kill()
        process.join()
        answers.close()
    if error is not None:
        raise error
    result: Result = found
    return result


def _answer(work: Callable[[], Any], answer: Any) -> None:
    """Send what a call returns or raises."""
    found, failed = None, None
    try:
        found = work()
    except SystemExit:
        os._exit(1)
    except BaseException as error:  # noqa: BLE001  raised again in the process of the caller
        failed = error
    try:
        answer.send((found, failed))
    except Exception as error:  # noqa: BLE001  what it has found cannot be sent
        answer.send((None, AssertionError(str(failed or error))))
