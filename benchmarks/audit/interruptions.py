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
from itertools import product
from typing import Any, Final

import numpy as np

from refsvm import RBF, cross_validate, leave_one_out
from refsvm.analysis.resampling import task_table

EACH: Final = 3
"""Interruptions of a problem."""

WAYS: Final = ("ctrl-c", "callback", "time")

TIES: Final = 2e-3
"""A limit changes when a round shrinks, and so a decision value by up to the tolerance, which may turn it."""


def complaints_about(seed: int) -> list[str]:
    """Run a task to its end and end it three times; return what is wrong with the bounds."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has background jobs ignore it
    rng = np.random.default_rng(seed)
    ask, moments = task_of(rng), np.sort(rng.integers(1, 40, EACH))
    way = WAYS[int(rng.integers(len(WAYS)))]
    interval, task_table.INTERVAL_SECONDS = task_table.INTERVAL_SECONDS, 0.0  # the callback sees every round
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of examples that are left
            whole = ask()
            parts = [interrupted(ask, way, int(moment)) for moment in moments]
    finally:
        task_table.INTERVAL_SECONDS = interval
    said = [complaint for part in parts for complaint in wrong_bounds(part, whole)]
    for fewer, more in product(parts, parts):
        if all((has <= had).all() for has, had in zip(known(fewer), known(more), strict=True)):
            said += wider(more, fewer)
    return [f"by {way} at {moments.tolist()}: {each}" for each in said]


def known(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return which examples are known, and which decision values: of several classes some pairs of an example."""
    return part.is_known, ~np.isnan(part.decision_values)


def task_of(rng: np.random.Generator) -> Callable[..., Any]:
    """Return a task, to be called with more arguments."""
    n, kind = int(rng.integers(20, 60)), ("two", "three", "regression", "novelty")[int(rng.integers(4))]
    X = rng.standard_normal((n, 2))
    options: dict[str, Any] = {"kernel": RBF(0.5), "C": 10.0 ** rng.uniform(-1.0, 2.0), "engine": "numpy"}
    y: Any = None
    if kind in ("two", "three"):
        k = 2 if kind == "two" else 3
        y = np.argsort(np.argsort(X[:, 0] + 0.8 * rng.standard_normal(n))) * k // n
    elif kind == "regression":
        y, options["epsilon"] = X[:, 0] + 0.3 * rng.standard_normal(n), 0.1
    else:
        options |= {"nu": 0.3, "C": 1.0}
    if rng.random() < 0.4:
        options["C"] = options["C"] * rng.integers(1, 4, n).astype(float)
    call: Callable[..., Any] = leave_one_out
    if rng.random() < 0.4:
        call, options = cross_validate, options | {"folds": 7, "shrinking": False, "rng": 0}
    return lambda **more: call(X, y, **options, **more)


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
        return ask(callback=press)
    except KeyboardInterrupt as error:
        return error.result  # type: ignore[attr-defined]


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


def slack_of(whole: Any, name: str) -> float:
    """Return by how much a score may differ from run to run: a tie, or the tolerance of a value."""
    if name in ("rmse", "mae", "r2"):
        return 1e-2
    values = np.abs(whole.decision_values.reshape(len(whole.labels), -1))
    weights = np.ones(len(values)) if whole.weights is None else whole.weights
    ties = (values < TIES * max(1.0, float(np.nanmax(values, initial=0.0)))).any(axis=1)
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
