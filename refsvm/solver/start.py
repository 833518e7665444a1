"""Where a solve begins: memory for kernel rows, and a feasible α."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from refsvm._checks import vector
from refsvm.kernels.gram import KernelMatrix
from refsvm.kernels.rows import KernelRows, megabytes, stored_rows
from refsvm.problem import EPSILON, DualProblem
from refsvm.solver.rules import Rules
from refsvm.stopping.base import StoppingRule

__all__ = ["row_dtype", "row_store", "starting_point", "warn_of_rounding"]


def row_dtype(name: str, n: int, cache_mb: float, shrinking: bool) -> type:
    """Return the type in which kernel rows are kept."""
    if name not in ("auto", "float64", "float32"):
        raise ValueError(f'cache_dtype={name!r} is unknown; choose "auto", "float64" or "float32".')
    crowded = shrinking and n >= 10_000 and megabytes(n, n) > cache_mb
    return np.float32 if name == "float32" or (name == "auto" and crowded) else np.float64


def row_store(problem: DualProblem, rules: Rules, cache_mb: float, dtype: type = np.float64) -> KernelRows:
    """Return memory for kernel rows that holds as many at once as the selector needs."""
    needed = min(max(2, rules.selector.rows_needed(problem.n)) + rules.stop.rows_needed, problem.n)
    rows = stored_rows(problem.gram, cache_mb, dtype, needed)
    if needed > rows.capacity:
        raise ValueError(
            f"selector={rules.selector!r} with stop={rules.stop!r} needs {needed} kernel rows in memory and "
            f"cache_mb={cache_mb!r} holds {rows.capacity}; give at least {megabytes(needed, problem.n):.3g}."
        )
    return rows


def starting_point(problem: DualProblem, start: Any) -> np.ndarray:
    """Return a feasible α; a given one that is not feasible is repaired with a warning."""
    if start is None:
        return np.zeros(problem.n) if problem.holds_zero else problem.feasible(_filled_up(problem))
    given = vector("start", start, problem.n)
    # an α that is feasible up to the rounding of its sum is taken as it is
    inside = ((problem.lower <= given) & (given <= problem.upper)).all()
    rounding = 4.0 * EPSILON * problem.n**0.5 * (float(np.abs(given).sum()) + abs(problem.z))
    if inside and abs(problem.z - float(given.sum())) <= rounding:
        return given
    point = problem.feasible(given)
    scale = 1e-9 * max(1.0, float(np.abs(point).max()))
    if np.abs(point - given).max() > scale:
        warnings.warn(
            "start is not feasible (outside the box, or its sum is not z); the nearest repair is used.",
            stacklevel=4,
        )
    return point


def warn_of_rounding(gram: KernelMatrix, stop: StoppingRule) -> None:
    """Say so if kernel values are rounded by more than the tolerance of the stopping rule, 1e-3 if it has none.

    A tolerance below 1e-12 is no fault of the data: it asks for more than floating point has anywhere.
    """
    tolerance = max(getattr(stop, "tol", 1e-3), 1e-12)
    if gram.rounding > tolerance:
        warnings.warn(
            f"The features are so large that kernel values are only right to about {gram.rounding:.1g}, and the "
            f"tolerance is {tolerance:g}; subtract the mean of each feature and scale it (StandardScaler), or choose a "
            "smaller gamma.",
            stacklevel=4,
        )


def _filled_up(problem: DualProblem) -> np.ndarray:
    """Return α = 0, clipped to the box, and what its sum lacks put on the first variables, as LIBSVM does.

    One-class problems begin with z ≠ 0. All but one of these variables are at a bound then: few kernel rows are needed
    for G, and the examples that end without weight need not first lose it.
    """
    point = np.zeros(problem.n).clip(problem.lower, problem.upper)
    missing = problem.z - float(point.sum())
    room = problem.upper - point if missing > 0.0 else point - problem.lower
    if missing == 0.0 or not np.isfinite(room).all():
        return point
    before = np.cumsum(room) - room
    return point + np.sign(missing) * (abs(missing) - before).clip(0.0, room)
