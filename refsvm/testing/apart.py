"""Runs a call in a separate process with a time limit, because the call may hang, exit or crash."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def in_a_process(work: Callable[[], Result], seconds: float, name: str) -> Result:
    """Return the result of a call made in a separate process, or raise the exception that the call raised.

    Parameters
    ----------
    work : callable
        The call to make. If the system cannot fork processes, the call is pickled, and its function must be defined in
        a file that can be imported.
    seconds : float
        Time limit, after which the process is killed.
    name : str
        Name of the rule, for the message.

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
    answer.close()  # now only the child holds `answer` open, so `poll` returns when the child ends
    try:
        if not answers.poll(seconds):
            raise AssertionError(f"{name} hangs: its check did not end within {seconds:g} seconds.")
        outcome, error = answers.recv()
    except EOFError:
        process.join(seconds)
        code = process.exitcode
        how = f"the signal {-code}" if code is not None and code < 0 else f"the code {code}"
        raise AssertionError(
            f"{name} ended its process with {how}; a rule must return to its caller."
        ) from None
    finally:
        process.kill()
        process.join()
        answers.close()
    if error is not None:
        raise error
    result: Result = outcome
    return result


def _answer(work: Callable[[], Any], answer: Any) -> None:
    """Send the result of a call, or the exception that the call raised, to the parent process."""
    result, failed = None, None
    try:
        result = work()
    except SystemExit:
        os._exit(1)
    except BaseException as error:  # noqa: BLE001  raised again in the process of the caller
        failed = error
    try:
        answer.send((result, failed))
    except Exception as error:  # noqa: BLE001  the result cannot be pickled
        answer.send((None, AssertionError(str(failed or error))))
