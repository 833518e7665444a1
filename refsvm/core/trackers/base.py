"""PathTracker: follows the optimum along a line of problems, such as all values of C."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from refsvm.core.rule import Rule, is_builtin
from refsvm.core.walk.breakpoint import Point
from refsvm.core.walk.state import PathState


class PathTracker(Rule):
    """Follow the optimum while λ = 1/C falls, or while a problem changes linearly into a second problem.

    `refsvm.regularization_path` and `refsvm.parametric_path` call `follow` once for each path; between breakpoints,
    these two functions check for Ctrl-C and for the time limit. A tracker's compiled version may have its own
    signature. The compiled versions of `refsvm.SVMP` and `refsvm.Hastie` follow many events in one call, as long as the
    elbow is regular and each event moves one example to another set (`refsvm.core.backend`).
    """

    example_call: ClassVar[str] = "SVMP()"
    may_refuse: ClassVar[bool] = False
    """True if the tracker raises ValueError when the elbow is singular or events coincide."""
    any_line: ClassVar[bool] = False
    """True if the tracker can follow lines other than 1/C, as `parametric_path` requires."""
    accuracy: ClassVar[float] = 1e-6
    """Largest violation of the optimality conditions at and between breakpoints that `check_strategy` accepts."""

    def first_estimate(self, walk: PathState) -> tuple[np.ndarray, float] | None:
        """Return the ŝ = α/C from which SMO starts at C_min, and SMO's tolerance; None for the default start."""
        return None

    @abstractmethod
    def follow(self, walk: PathState, end: float) -> Iterator[Point]:
        """Yield the breakpoints from the present point to t = `end`; if the path follows C, t is λ = 1/C, which falls.

        Parameters
        ----------
        walk : PathState
            The present point, which is the optimum at its λ. ŝᵢ is inside its box for examples on the elbow and exactly
            at a bound for all other examples. The tracker moves this point.
        end : float
            Last t of the line; along 1/C, this is 1/C_max, the smallest λ.

        Yields
        ------
        Breakpoint or LinePoint
            The breakpoints in the order of the line, without the starting point; the last breakpoint is at `end`.
        """


def points_of(tracker: PathTracker, walk: PathState, end: float) -> Iterator[Point]:
    """Return the breakpoints that `follow` yields; check the points of a user's own tracker."""
    # do not check the package's trackers, because tests cover them, and a check takes time
    points = tracker.follow(walk, end)
    return points if is_builtin(type(tracker)) else _until(tracker, points, walk, end)


def _until(tracker: PathTracker, points: Iterator[Any], walk: PathState, end: float) -> Iterator[Point]:
    """Yield the points of a user's tracker after checking them, because wrong points would give a wrong path.

    Raises
    ------
    TypeError, RuntimeError
    """
    first, last = (1.0 / t if walk.along.is_c_path else t for t in (walk.t, end))
    at = first
    for point in points:
        if not isinstance(point, Point):
            must = "it must yield what walk.breakpoint(kind) returns."
            raise TypeError(f"{tracker!r}.follow() yielded {point!r}; {must}")
        if not np.isfinite(np.append(point[1], point.intercept)).all():
            raise RuntimeError(
                f"{tracker!r}.follow() yielded a breakpoint whose α or intercept is not finite; yield finite numbers."
            )
        at = point[0]
        yield point
    if walk.status is None and not abs(at - last) <= 1e-6 * abs(last - first) + 1e-9 * abs(last):
        raise RuntimeError(
            f"{tracker!r}: the path goes from {first:.6g} to {at:.6g}, not from {first:.6g} to {last:.6g}; "
            "follow(walk, end) must yield breakpoints until walk.t is `end`."
        )
