"""PathTracker: from one regularisation to all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from refsvm.rule import Rule
from refsvm.walk.breakpoint import Move, Point
from refsvm.walk.state import PathState

__all__ = ["PathTracker"]


class PathTracker(Rule):
    """Follow the optimum of a problem along a line: while λ = 1/C falls, or from one problem to another.

    `refsvm.regularization_path` and `refsvm.parametric_path` call it once for each path; they also handle Ctrl-C and
    the time limit, between two breakpoints. A twin is optional, and its signature the tracker's own affair: that of
    `refsvm.SVMP` follows the runs of events that need nothing but its arrays (`refsvm.backend`).
    """

    such_as: ClassVar[str] = "SVMP()"
    may_refuse: ClassVar[bool] = False
    """Whether it raises ValueError where the elbow is singular or events coincide, instead of finding a way."""
    any_line: ClassVar[bool] = False
    """Whether it follows lines other than 1/C; `parametric_path` refuses it if not."""
    accuracy: ClassVar[float] = 1e-6
    """To which the optimality conditions hold at breakpoints and between them, as `check_strategy` checks."""

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


def points_of(tracker: PathTracker, points: Any, walk: PathState, end: float) -> Iterator[Point]:
    """Yield what `follow` yields, if it is breakpoints of finite numbers that reach the end, or a status says why not.

    Raises
    ------
    TypeError, RuntimeError
    """
    must = "it must yield what walk.breakpoint(kind) returns."
    if not isinstance(points, Iterable):
        raise TypeError(f"{tracker!r}.follow() returned {points!r}; {must}")
    first, last = (1.0 / t if walk.along.rooted else t for t in (walk.t, end))
    at, numbers = first, np.empty(1 + len(walk.side))
    for point in points:
        if not isinstance(point, Point):
            raise TypeError(f"{tracker!r}.follow() yielded {point!r}; {must}")
        try:
            at, numbers[1:], numbers[0], _, moves, _ = point
            [Move(*move) for move in moves]
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{tracker!r}.follow() yielded a point of other fields ({error}); {must}"
            ) from error
        if not np.isfinite(numbers).all():
            raise RuntimeError(
                f"{tracker!r}.follow() yielded a breakpoint whose α or intercept is not finite."
            )
        yield point
    if walk.status is None and not abs(at - last) <= 1e-6 * abs(last - first) + 1e-9 * abs(last):
        raise RuntimeError(
            f"{tracker!r}: the path goes from {first:.6g} to {at:.6g}, not from {first:.6g} to {last:.6g}; "
            "follow(walk, end) must yield breakpoints until walk.t is `end`."
        )


PathTracker.answers = {**PathTracker.answers, "follow": points_of}
