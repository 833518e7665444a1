"""Leave-one-out and folds, ended at random: bounds of the scores hold, and shrink.

A seed stands for a small task: two or three classes, a regression or novelty detection, with or without weights, asked
by leave-one-out or by folds. It is run to its end, and ended three times before: by Ctrl-C, the callback or the time
limit. Looked at: each score is NaN, its bounds hold that of the whole run, and where more examples are known the bounds
lie within those of fewer.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from refsvm import cross_validate, leave_one_out
from refsvm.analysis.resampling import task_table

from .problems import any_case

EACH: Final = 3
"""Interruptions of a problem."""

WAYS: Final = ("ctrl-c", "callback", "time")

TIES: Final = 2e-3
"""A limit changes when a round shrinks, and so a decision value by up to the tolerance, which may turn it."""


def complaints_about(seed: int) -> list[str]:
    """Run a task to its end and end it three times; return what is wrong with the bounds."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has background jobs ignore it
    rng = np.random.default_rng(seed)
    ask, moments = task_of(seed), np.sort(rng.integers(1, 20, EACH))
    way = WAYS[int(rng.integers(len(WAYS)))]
    interval, task_table.INTERVAL_SECONDS = task_table.INTERVAL_SECONDS, 0.0  # the callback sees every round
    try:
        with warnings.catch_warnings(action="ignore"):  # of examples that are left
            whole = ask()
            parts = [interrupted(ask, way, int(moment)) for moment in moments]
    finally:
        task_table.INTERVAL_SECONDS = interval
    said = [complaint for part in parts for complaint in (*wrong_bounds(part, whole), *turned(part, whole))]
    for fewer, more in product(parts, parts):
        if all((has <= had).all() for has, had in zip(known(fewer), known(more), strict=True)):
            said += wider(more, fewer)
    return [f"by {way} at {moments.tolist()}: {each}" for each in said]


def known(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return which examples are known, and which decision values: of several classes some pairs of an example."""
    return part.is_known, ~np.isnan(part.decision_values)


def task_of(seed: int) -> Callable[..., Any]:
    """Return a task, to be called with more arguments."""
    case = any_case(seed)
    given = {**case.arguments, "engine": "numpy"}
    if seed % 5 < 3:
        return partial(leave_one_out, **given)
    return partial(cross_validate, **given, folds=case.fold, shrinking=False)


def interrupted(ask: Callable[..., Any], way: str, moment: int) -> Any:
    """Return the result of a task that ends at its k-th moment."""
    count = 0

    def press(_: Any) -> bool:
        nonlocal count
        count += 1
        if way == "ctrl-c" and count == moment:
            signal.raise_signal(signal.SIGINT)
        return way == "callback" and count >= moment

    if way == "time":
        return ask(time_limit=5e-4 * moment)
    try:
        found = ask(callback=press)
    except KeyboardInterrupt as error:
        return error.result  # type: ignore[attr-defined]
    if way == "ctrl-c" and count >= moment:
        raise AssertionError("Ctrl-C is lost")
    return found


def wrong_bounds(part: Any, whole: Any) -> list[str]:
    """Return what is wrong with the scores of an unfinished result."""
    said = []
    for name, value in whole.scores.items():
        low, high = part.bounds[name]
        slack = slack_of(whole, name)
        if not low - slack <= value <= high + slack:
            said.append(f"{name}={value:.6g} is not between {low:.6g} and {high:.6g}")
        if not part.is_finished and not np.isnan(getattr(part, name)):
            said.append(f"{name} of an unfinished result is a number")
    return said


def turned(part: Any, whole: Any) -> list[str]:
    """Return what is known and differs from the whole run, but for ties."""
    if "rmse" in whole.scores:
        return []
    differs = part.is_known & (part.predictions != whole.predictions) & ~ties_of(whole)
    return [f"example {r} is predicted otherwise" for r in np.flatnonzero(differs)]


def ties_of(whole: Any) -> np.ndarray:
    """Return which examples have a decision value that is a tie."""
    values = np.abs(whole.decision_values.reshape(len(whole.labels), -1))
    near: np.ndarray = values < TIES * max(1.0, float(np.nanmax(values, initial=0.0)))
    return near.any(axis=1)


def slack_of(whole: Any, name: str) -> float:
    """Return by how much a score may differ from run to run: a tie, or the tolerance of a value."""
    if name in ("rmse", "mae", "r2"):
        return 1e-2
    weights, ties = np.ones(len(whole.labels)) if whole.weights is None else whole.weights, ties_of(whole)
    return float(weights[ties].sum() / weights.sum()) + 1e-12


def wider(more: Any, fewer: Any) -> list[str]:
    """Return the scores whose bounds have grown though more is known."""
    said = []
    for name, (low, high) in more.bounds.items():
        before, slack = fewer.bounds[name], slack_of(more, name)
        if low < before[0] - slack or high > before[1] + slack:
            said.append(
                f"{name}: {low:.6g} to {high:.6g} does not lie within {before[0]:.6g} to {before[1]:.6g}"
            )
    return said
