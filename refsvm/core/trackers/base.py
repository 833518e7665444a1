"""PathTracker: from one regularisation to all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from refsvm.core.rule import Rule, is_builtin
from refsvm.core.walk.breakpoint import Point
from refsvm.core.walk.state import PathState


class PathTracker(Rule):
    """Follow the optimum of a problem along a line: while λ = 1/C falls, or from one problem to another.

    `refsvm.regularization_path` and `refsvm.parametric_path` call it once for each path; they also handle Ctrl-C and
    the time limit, between two breakpoints. A twin is optional, and its signature the tracker's own affair: that of
    `refsvm.SVMP` and `refsvm.Hastie` follows the runs of events that need nothing but its arrays
    (`refsvm.core.backend`).
    """

    example_call: ClassVar[str] = "SVMP()"
    may_refuse: ClassVar[bool] = False
    """Whether it raises ValueError where the elbow is singular or events coincide, instead of finding a way."""
    any_line: ClassVar[bool] = False
    """Whether it follows lines other than 1/C; `parametric_path` refuses it if not."""
    accuracy: ClassVar[float] = 1e-6
    """Accuracy of the optimality conditions at breakpoints and between them, as `check_strategy` checks."""

    def first_estimate(self, walk: PathState) -> tuple[np.ndarray, float] | None:
        """Return ŝ from which SMO begins at C_min, and the KKT gap to which it solves there; None for the default."""
        return None

    @abstractmethod
    def follow(self, walk: PathState, end: float) -> Iterator[Point]:
        """Yield the breakpoints from the present point of the walk to t = `end`; along 1/C t is λ, which falls.

        Parameters
        ----------
        walk : PathState
            At the optimum for its λ, where ŝ lies inside the box for the elbow and exactly at a bound for all others.
            The tracker moves it.
        end : float
            Last t of the line: 1/C_max, the smallest λ.

        Yields
        ------
        Breakpoint or LinePoint
            In the order of the line, without the starting point; the last one at `end`.
        """


def points_of(tracker: PathTracker, walk: PathState, end: float) -> Iterator[Point]:
    """Return the breakpoints that `follow` yields; those of a user's tracker are looked at on the way."""
    # the shipped trackers are tested for it, and a look at n numbers for each point would cost
    points = tracker.follow(walk, end)
    return points if is_builtin(type(tracker)) else _until(tracker, points, walk, end)


def _until(tracker: PathTracker, points: Iterator[Any], walk: PathState, end: float) -> Iterator[Point]:
    """Yield the points. A path of other numbers, or one that ends early, would be taken for the whole one.

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
                f"{tracker!r}.follow() yielded a breakpoint whose α or intercept is not finite."
            )
        at = point[0]
        yield point
    if walk.status is None and not abs(at - last) <= 1e-6 * abs(last - first) + 1e-9 * abs(last):
        raise RuntimeError(
            f"{tracker!r}: the path goes from {first:.6g} to {at:.6g}, not from {first:.6g} to {last:.6g}; "
            "follow(walk, end) must yield breakpoints until walk.t is `end`."
        )
