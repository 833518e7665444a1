"""Breakpoint and LinePoint: the points that a tracker yields; Move: an example that changes its set at such a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Move(NamedTuple):
    """An example that changes its set at a breakpoint.

    Attributes
    ----------
    example : int
        Index of the example.
    before, after : int
        The sets: −1 is the right side (α = 0), 0 the elbow, 1 the left side (α at its non-zero bound). If the path
        does not follow C, −1 means α = L, 0 a free α, and 1 α = U.
    kind : str
        Cause of the move, as in `Breakpoint`.
    """

    example: int
    before: int
    after: int
    kind: str


def moved(moves: tuple[Move, ...]) -> str:
    """Return a phrase that says how many examples change their set."""
    return f"{len(moves):,} {'example' if len(moves) == 1 else 'examples'} moved"


class Breakpoint(NamedTuple):
    """A point of a path in C at which the sets change; between breakpoints, ŝ = λα is linear in λ = 1/C.

    Attributes
    ----------
    C : float
    scaled : ndarray of shape (n,)
        The scaled variables ŝ = α/C. The tracker may overwrite the array later; copy it to keep it.
    intercept : float
        The scaled intercept b̂ = b/C.
    kind : str
        How the point was reached: "start", "full rank", "linear program", "empty elbow", "special", "backup", "repair",
        "end".
    moves : tuple of Move
        Changes of the sets at this point.
    elbow : int
        Size of the elbow after this point.
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
    """A breakpoint of a path with a parameter t other than C; between breakpoints, α and b are affine in t.

    Attributes
    ----------
    t : float
        Parameter of the line.
    alpha : ndarray of shape (n,)
        Signed α. The tracker may overwrite the array later; copy it to keep it.
    intercept : float
    kind : str
        As in `Breakpoint`, or "jump": α (or b, if no variable is free) has moved at fixed t.
    moves : tuple of Move
    elbow : int
        Number of free variables after this point.
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
