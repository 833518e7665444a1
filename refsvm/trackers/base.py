"""PathTracker: from one regularisation to all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from inspect import signature
from typing import ClassVar

from refsvm.rule import Rule
from refsvm.walk.breakpoint import Point
from refsvm.walk.state import PathState

__all__ = ["PathTracker"]


class PathTracker(Rule):
    """Follow the optimum of a problem along a line: while λ = 1/C falls, or from one problem to another.

    `refsvm.regularization_path` and `refsvm.parametric_path` call it once for each path; they also handle Ctrl-C and
    the time limit, between two breakpoints. A twin is optional, and its signature the tracker's own affair: that of
    `refsvm.SVMP` follows the runs of events that need nothing but its arrays (`refsvm.walk.runs`).
    """

    such_as: ClassVar[str] = "SVMP()"
    may_refuse: ClassVar[bool] = False
    """Whether it raises ValueError where the elbow is singular or events coincide, instead of finding a way."""
    any_line: ClassVar[bool] = False
    """Whether it follows lines other than 1/C; `parametric_path` refuses it if not."""
    accuracy: ClassVar[float] = 1e-6
    """To which the optimality conditions hold at breakpoints and between them, as `check_strategy` checks."""

    def __init_subclass__(cls) -> None:
        """Refuse the method follow(state, lam_min) of 0.1, whose state had other names."""
        follow = cls.__dict__.get("follow")
        if follow is not None and "lam_min" in signature(follow).parameters:
            raise TypeError(
                f"{cls.__name__}.follow(state, lam_min) is of the old form; write follow(self, walk, end), where λ is "
                "walk.t, ŝ walk.of.alpha, G − b̂ walk.of.excess, b̂ walk.b, and 𝓔 walk.elbow."
            )
        super().__init_subclass__()

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
