"""The twin check: one solve in both engines, compared bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from refsvm.result import Solution
from refsvm.solver.shrinking import Restriction, Shrinking
from refsvm.solver.solve import solve
from refsvm.testing.contract import Case, telling

__all__ = ["SHRINK_EARLY", "check_engines", "first_difference"]

TWIN_LIMIT = 500  # steps over which the engines are compared

SHRINK_EARLY = Restriction(period=10, copy_cost=0.0, multiple=1)
"""Small problems are shrunk too, as large ones are by default."""


def check_engines(
    case: Case, limit: int = TWIN_LIMIT, shrinking: bool | Shrinking = True, **options: Any
) -> None:
    """Solve with both engines and compare; where they differ, find the first step after which they do.

    Parameters
    ----------
    case : Case
    limit : int
        Number of steps.
    shrinking : bool or Shrinking
        True: by `SHRINK_EARLY`.
    **options
        For `refsvm.solve`, such as ``cache_mb``.

    Raises
    ------
    AssertionError
        If anything differs in a single bit.

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.testing import Case, check_engines, practice_problems
    >>> problem = practice_problems()["duplicates"]
    >>> check_engines(Case("duplicates", problem, (SecondOrder(), NewtonStep(), KKTGap())), shrinking=False)
    """

    def run(engine: str, steps: int) -> Solution:
        selector, step, stop = case.rules
        policy = SHRINK_EARLY if shrinking is True else shrinking
        with telling(case.name, case.rules):
            return solve(
                case.problem, selector=selector, step=step, stop=stop,
                engine=engine, max_iter=steps, trace=True, shrinking=policy, **options,
            )  # fmt: skip

    found = first_difference(run("numpy", limit), run("numba", limit))
    if found is None:
        return
    t, sentence = found
    if t == 0:  # the trace does not show it
        t = _first(
            lambda steps: first_difference(run("numpy", steps), run("numba", steps)) is not None, limit
        )
    shown = ", ".join(f"{name}={value}" for name, value in {"shrinking": shrinking, **options}.items())
    case.require(False, t, f"the engines differ ({shown}): {sentence}")


def first_difference(readable: Solution, compiled: Solution) -> tuple[int, str] | None:
    """Compare two solutions bit for bit, all but the seconds.

    Parameters
    ----------
    readable, compiled : Solution
        With a trace each, or without.

    Returns
    -------
    tuple of int and str, or None
        The first step at which they differ, 0 if the trace does not show it, and a sentence. None if equal.

    Examples
    --------
    >>> from refsvm import solve
    >>> from refsvm.testing import first_difference, practice_problems
    >>> problem = practice_problems()["two examples"]
    >>> first_difference(solve(problem, trace=True), solve(problem, trace=True)) is None
    True
    """
    found = []
    if readable.trace is not None and compiled.trace is not None:
        one, other = readable.trace.rows, compiled.trace.rows
        length = min(len(one), len(other))
        for name in one.dtype.names or ():
            left, right = one[name][:length], other[name][:length]
            unequal = np.flatnonzero(~_equal(left, right)).tolist()
            if unequal and name != "seconds":
                t = unequal[0]
                found.append((int(one["iteration"][t]), _sentence(name, left[t].item(), right[t].item())))
    if found:
        return min(found, key=lambda difference: difference[0])
    for name in ("iterations", "status", "reason", "kernel_rows", "kernel_hits"):
        if getattr(readable, name) != getattr(compiled, name):
            return 0, _sentence(name, getattr(readable, name), getattr(compiled, name))
    for name in ("alpha", "gradient"):
        left, right = getattr(readable, name), getattr(compiled, name)
        for i in np.flatnonzero(~_equal(left, right)).tolist():
            return 0, _sentence(f"{name}[{i}]", float(left[i]), float(right[i]))
    return None


def _equal(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Entry by entry; NaN equals NaN."""
    equal: np.ndarray = (left == right) | (np.isnan(left) & np.isnan(right))
    return equal


def _sentence(name: str, left: object, right: object) -> str:
    return f"{name} is {left!r} in the readable engine and {right!r} in the compiled one."


def _first(differ: Callable[[int], bool], limit: int) -> int:
    """Return the smallest number of steps after which they differ, by bisection."""
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if differ(middle) else (middle, high)
    return high
