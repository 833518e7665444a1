"""What goes wrong in a check, as an AssertionError that names the rule, the problem, the step and the cause."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import index

from refsvm.selectors import WorkingSetSelector
from refsvm.state import SolverState

__all__ = ["require", "telling"]


def require(condition: object, sentence: str) -> None:
    """Unless `condition` holds, raise an AssertionError with a sentence."""
    if not condition:
        raise AssertionError(sentence)


@contextmanager
def telling(name: str, rules: Iterable[object], state: SolverState | None = None) -> Iterator[None]:
    """Turn whatever is raised in this block into an AssertionError that names the problem, the rules and the step."""
    rules = tuple(rules)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is indefinite is known here
            yield
    except StopIteration:
        raise
    except Exception as error:
        cause = error.__cause__ if isinstance(error.__cause__, StopIteration) else error  # within a generator
        asked = _asked(cause, rules)
        if isinstance(error, AssertionError) and not asked:  # a check has failed, and said so
            raise
        step, said = 0 if state is None else state.iteration + 1, str(cause).rstrip(".")
        if asked or not said.startswith(tuple(type(rule).__name__ for rule in rules)):
            who = asked or _wrong_answer(rules, state)
            said = f"{who} raised {type(cause).__name__}: {said}".rstrip(": ")
        raise AssertionError(
            f"Problem {name!r} with {', '.join(map(repr, rules))}, step {step}: {said}."
        ) from error


def _asked(error: BaseException, rules: tuple[object, ...]) -> str:
    """Return which method of which rule was at work when this was raised; "" if none was."""
    asked = [
        f"{type(rule).__name__}.{frame.f_code.co_name}()"
        for frame, _ in traceback.walk_tb(error.__traceback__)
        for rule in rules
        if frame.f_locals.get("self") is rule
    ]
    return asked[-1] if asked else ""


def _wrong_answer(rules: tuple[object, ...], state: SolverState | None) -> str:
    """Say what the selector answers where the loop, and none of them, has raised, if it is no pair of variables."""
    if state is None or not isinstance(rules[0], WorkingSetSelector):
        return "the solve"
    try:
        i, j = map(index, rules[0].select(state))
    except Exception:  # noqa: BLE001  it is in the message
        return "the loop"
    n = len(state.alpha)
    return (
        f"select() returned ({i}, {j}), which is no pair of {n} variables; the loop"
        if max(i, j) >= n
        else "the loop"
    )
