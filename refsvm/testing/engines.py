"""Checks twins, the compiled copies of rules: compares a solve in both engines bit for bit."""

from __future__ import annotations

from bisect import bisect_left
from importlib.util import find_spec
from typing import Any

import numpy as np

from refsvm import Restriction, Shrinking, Solution
from refsvm.core.backend import BACKENDS
from refsvm.services.guards.users_rules import PointError
from refsvm.testing.contract import Case

TWIN_LIMIT = 500  # number of steps over which the engines are compared
NOT_COMPARED = "No twin was compared: Numba or refsvm.compiled is missing."


def can_compare() -> bool:
    """Return whether compiled code and Numba are installed."""
    return "numba" in BACKENDS and find_spec("numba") is not None


SHRINK_EARLY = Restriction(period=10, copy_cost=0.0, multiple=1)
"""Shrinking that starts early, so that small problems are shrunk like large ones."""


def check_engines(
    case: Case, limit: int = TWIN_LIMIT, shrinking: bool | Shrinking = True, **options: Any
) -> None:
    """Compare the solves of both engines; if they differ, find the first step that shows the difference.

    Parameters
    ----------
    case : Case
        The problem and its rules.
    limit : int
        Number of steps.
    shrinking : bool or Shrinking
        True means `SHRINK_EARLY`.
    **options
        Further arguments of `refsvm.solve`, such as ``cache_mb``.

    Raises
    ------
    AssertionError
        If the results of the engines differ, even in a single bit.

    Examples
    --------
    >>> from refsvm import KKTGap, NewtonStep, SecondOrder
    >>> from refsvm.testing import Case, check_engines, practice_problems
    >>> problem = practice_problems()["duplicates"]
    >>> check_engines(Case("duplicates", problem, (SecondOrder(), NewtonStep(), KKTGap())), shrinking=False)
    """
    policy = SHRINK_EARLY if shrinking is True else shrinking

    def difference(steps: int) -> tuple[int, str] | None:
        how: dict[str, Any] = {"max_iter": steps, "trace": True, "shrinking": policy, **options}
        readable = case.solve(engine="numpy", **how)
        try:
            return first_difference(readable, case.solve(engine="numba", **how))
        except AssertionError as error:
            if isinstance(error.__cause__, PointError):
                return 0, f"in the compiled engine {str(error.__cause__).partition(':')[0]}."
            raise

    gap = difference(limit)
    if gap is None:
        return
    t, sentence = gap
    if t == 0:  # the trace does not show which step differs, so find the step by bisection
        t = 1 + bisect_left(range(1, limit), True, key=lambda steps: difference(steps) is not None)
    shown = ", ".join(f"{name}={value}" for name, value in {"shrinking": shrinking, **options}.items())
    rules = ", ".join(f"{type(rule).__name__} {rule.parameters()}" for rule in case.rules)
    message = f"the engines differ ({shown}): {sentence.rstrip('.')}; compare the twins and parameters() of {rules}."
    case.require(False, t, message)


def first_difference(readable: Solution, compiled: Solution) -> tuple[int, str] | None:
    """Compare two solutions bit for bit, except for the seconds.

    Parameters
    ----------
    readable, compiled : Solution
        Solutions, both with or both without a trace.

    Returns
    -------
    tuple of int and str, or None
        The first step at which the solutions differ (0 if the trace does not show the difference), and a sentence about
        the difference; None if the solutions are equal.

    Examples
    --------
    >>> from refsvm import solve
    >>> from refsvm.testing import first_difference, practice_problems
    >>> problem = practice_problems()["two examples"]
    >>> first_difference(solve(problem, trace=True), solve(problem, trace=True)) is None
    True
    """
    differences = []
    if readable.trace is not None and compiled.trace is not None:
        one, other = readable.trace.rows, compiled.trace.rows
        for name in one.dtype.names or ():
            if name != "seconds":
                differences += [
                    (int(one["iteration"][t]), _sentence(name, left, right))
                    for t, left, right in _first_unequal(one[name], other[name])
                ]
    if differences:
        return min(differences, key=lambda difference: difference[0])
    for name in ("iterations", "status", "reason", "kernel_rows", "kernel_hits"):
        if getattr(readable, name) != getattr(compiled, name):
            return 0, _sentence(name, getattr(readable, name), getattr(compiled, name))
    for name in ("alpha", "gradient"):
        for i, left, right in _first_unequal(getattr(readable, name), getattr(compiled, name)):
            return 0, _sentence(f"{name}[{i}]", left, right)
    return None


def _first_unequal(left: np.ndarray, right: np.ndarray) -> list[tuple[int, Any, Any]]:
    """Return position and entries of the first difference between two arrays; NaN equals NaN."""
    length = min(len(left), len(right))
    left, right = left[:length], right[:length]
    unequal = (left != right) & ~(np.isnan(left) & np.isnan(right))
    return [(t, left[t].item(), right[t].item()) for t in np.flatnonzero(unequal)[:1].tolist()]


def _sentence(name: str, left: object, right: object) -> str:
    return f"{name} is {left!r} in the readable engine and {right!r} in the compiled engine."
