"""Turns failures of a check into an AssertionError that names the rule, the problem, the step and the cause."""

from __future__ import annotations

import ctypes
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from operator import index
from types import FrameType
from typing import Any, TypeVar

from refsvm.core.selectors import WorkingSetSelector
from refsvm.core.state import SolverState
from refsvm.core.steps import StepRule

Result = TypeVar("Result")

MOST_SECONDS = 120.0
"""Seconds within which a rule must solve a practice problem."""


def require(condition: object, sentence: str) -> None:
    """Raise an AssertionError with this sentence unless `condition` is true."""
    if not condition:
        raise AssertionError(sentence)


@contextmanager
def explain_failures(name: str, rules: Iterable[object], state: SolverState | None = None) -> Iterator[None]:
    """Turn any exception in this block into an AssertionError that names the problem, the rules and the step."""
    rules = tuple(rules)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some problems are meant to have an indefinite kernel
            yield
    except StopIteration:
        raise
    except Exception as error:
        # a StopIteration raised inside a generator arrives as the cause of a RuntimeError
        cause = error.__cause__ if isinstance(error.__cause__, StopIteration) else error
        subject_at_work = _at_work((frame for frame, _ in traceback.walk_tb(cause.__traceback__)), rules)
        # if a check has failed, raise its error unchanged
        if isinstance(error, AssertionError) and not subject_at_work:
            raise
        step, message = 0 if state is None else state.iteration + 1, str(cause).rstrip(".")
        if subject_at_work or not message.startswith(
            (*(type(rule).__name__ for rule in rules), "select() returned")
        ):
            subject = subject_at_work or _wrong_answer(rules, state)
            message = f"{subject} raised {type(cause).__name__}: {message}".rstrip(": ")
        raise AssertionError(
            f"Problem {name!r} with {', '.join(map(repr, rules))}, step {step}: {message}."
        ) from error


def _at_work(frames: Iterable[FrameType], rules: tuple[object, ...]) -> str:
    """Return the rule's method that is running in the innermost of these frames; "" if no such method is running."""
    names = [
        f"{type(rule).__name__}.{frame.f_code.co_name}()"
        for frame in frames
        for rule in rules
        if frame.f_locals.get("self") is rule
    ]
    return names[-1] if names else ""


def _wrong_answer(rules: tuple[object, ...], state: SolverState | None) -> str:
    """Return, as text, the result of `select` or `length` that made the loop fail."""
    if state is None or not isinstance(rules[0], WorkingSetSelector) or not isinstance(rules[1], StepRule):
        return "the solve"
    pair: Any = None
    with suppress(Exception):
        pair = rules[0].select(state)
        i, j = map(index, pair)
        if max(i, j) < len(state.alpha):
            mu, wanted = rules[1].length(state, i, j), "(μ, κ)" if rules[1].uses_momentum else "one number"
            return f"length() returned {mu!r:.80} instead of {wanted}; the loop"
    return f"select() returned {pair!r:.80}, which is not a pair of {len(state.alpha)} variables; the loop"


def within(seconds: float, name: str, rules: tuple[object, ...], run: Callable[[], Result]) -> Result:
    """Call `run` in a separate thread, and end the thread if the call takes too long, because a rule may never return.

    Raises
    ------
    AssertionError
        If the call hangs or raises an exception; `explain_failures` forms the message.
    """
    results: list[Result] = []
    failed: list[BaseException] = []

    def tell() -> None:
        try:
            with explain_failures(name, rules):
                results.append(run())
        except BaseException as error:  # noqa: BLE001  raised again below, in the thread of the caller
            failed.append(error)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    # wait at most `seconds` for the thread
    thread.join(seconds)
    if thread.is_alive():
        number = thread.ident or 0
        frames = [frame for frame, _ in traceback.walk_stack(sys._current_frames().get(number))]
        where = _at_work(reversed(frames), rules)
        # Python has no call that ends a thread, so raise SystemExit in the thread, at its next line of Python
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(number), ctypes.py_object(SystemExit))
        message = f"{where or 'it'} hangs: no answer after {seconds:g} seconds."
        raise AssertionError(f"Problem {name!r} with {', '.join(map(repr, rules))}: {message}")
    if failed:
        raise failed[0]
    return results[0]
