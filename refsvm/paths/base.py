"""PathTracker: from one regularisation to all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from refsvm.paths.breakpoint import Breakpoint
from refsvm.paths.state import PathState

__all__ = ["PathTracker"]


class PathTracker(ABC):
    """Follow the optimum of a classification problem while λ = 1/C falls.

    A tracker is a frozen dataclass of hyper-parameters. `refsvm.regularization_path` calls it once for each path; it
    also handles Ctrl-C and the time limit, between two breakpoints.
    """

    may_refuse: ClassVar[bool] = False
    """Whether it raises ValueError where the elbow is singular or events coincide, instead of finding a way."""

    @abstractmethod
    def follow(self, state: PathState, lam_min: float) -> Iterator[Breakpoint]:
        """Yield the breakpoints from the present point of `state` down to λ = `lam_min`.

        Parameters
        ----------
        state : PathState
            At the optimum for its λ, where ŝ lies inside the box for the elbow and exactly at a bound for all others.
            The tracker moves it.
        lam_min : float
            Smallest λ, 1/C_max.

        Yields
        ------
        Breakpoint
            By ascending C, without the starting point; the last one at 1/lam_min.
        """
