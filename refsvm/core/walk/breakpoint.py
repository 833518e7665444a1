"""Breakpoint, LinePoint and Move: the reports of a tracker."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Move(NamedTuple):
    """One example that changes its set.

    Attributes
    ----------
    example : int
    before, after : int
        −1 right (α = 0), 0 elbow, 1 left (α at its other bound). On a line other than λ = 1/C: −1 at L, 0 free, 1 at U.
    kind : str
        Cause of the move, as in `Breakpoint`.
    """

    example: int
    before: int
    after: int
    kind: str


def moved(moves: tuple[Move, ...]) -> str:
    """Return how many examples change their set, in words."""
    return f"{len(moves):,} {'example' if len(moves) == 1 else 'examples'} moved"


class Breakpoint(NamedTuple):
    """A point of the path where the sets change; between two of them ŝ = λα is linear in λ = 1/C.

    Attributes
    ----------
    C : float
    scaled : ndarray of shape (n,)
        ŝ = α/C. It may be the tracker's own array: copy what you keep.
    intercept : float
        b̂ = b/C.
    kind : str
        How the point was reached: "start", "full rank", "linear program", "empty elbow", "special", "backup", "repair",
        "end".
    moves : tuple of Move
        Changes of the sets here.
    elbow : int
        Size of the elbow beyond this point.
    """

    C: float
    scaled: np.ndarray
    intercept: float
    kind: str
    moves: tuple[Move, ...]
    elbow: int

    def __repr__(self) -> str:
        return f"Breakpoint(C={self.C:.6g}, {self.kind}, {moved(self.moves)}, {self.elbow:,} on the elbow)"


class LinePoint(NamedTuple):
    """A point of a line other than λ = 1/C; between two of them α and b are affine in t.

    Attributes
    ----------
    t : float
        The line's own parameter.
    alpha : ndarray of shape (n,)
        It may be the tracker's own array: copy what you keep.
    intercept : float
    kind : str
        As in `Breakpoint`, or "jump": α, or b where no variable is free, has moved while t stayed.
    moves : tuple of Move
    elbow : int
        Number of free variables beyond this point.
    """

    t: float
    alpha: np.ndarray
    intercept: float
    kind: str
    moves: tuple[Move, ...]
    elbow: int

    def __repr__(self) -> str:
        return f"LinePoint(t={self.t:.6g}, {self.kind}, {moved(self.moves)}, {self.elbow:,} free)"


Point = Breakpoint | LinePoint
