"""Hastie's tracker: follows the path as long as the elbow is regular (Hastie, Rosset, Tibshirani & Zhu 2004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from refsvm.core._checks import positive
from refsvm.core.trackers.base import PathTracker
from refsvm.core.walk.algebra import elbow_matrix
from refsvm.core.walk.bordered import Bordered
from refsvm.core.walk.breakpoint import Point
from refsvm.core.walk.elbow import Step, correct, empty_elbow_step, jump_of_b, particular_direction, take
from refsvm.core.walk.state import PathState

TAU: Final = 1e-12
"""Rates up to this fraction of the largest rate count as rounding errors."""

ILL_CONDITIONED: Final = 1e-8
"""A⁻¹ is kept if the ratio of the smallest to the largest eigenvalue, and s of each joining example, exceed this
number."""

RUN: Final = 50
"""Largest number of events that compiled code follows in one call."""


@dataclass(frozen=True)
class Hastie(PathTracker):
    """The original tracker: it solves one linear system for each event, and raises an error for singular systems.

    The next breakpoint is the largest λ below the present λ at which an example changes its set: ŝᵢ of an example on
    the elbow reaches 0 or its bound, or gᵢ of another example reaches 0. The choice of the largest λ is right if events
    happen one at a time. When an example joins or leaves the elbow, the tracker updates the inverse of the elbow's
    matrix A; if A is ill-conditioned, the tracker solves from scratch.

    Parameters
    ----------
    tol : float
        Smallest relative decrease of λ that counts as a step. The tracker raises an error if the KKT violation ξ
        exceeds 1000 times `tol`.

    Raises
    ------
    ValueError
        If tol is not positive; while tracking, if the elbow is singular (for example with duplicates, or with more
        points than can be affinely independent) or if two events coincide. `refsvm.SVMP` handles singular elbows and
        coinciding events.

    See Also
    --------
    refsvm.SVMP : Tracks the path on any data.

    References
    ----------
    Hastie, Rosset, Tibshirani & Zhu (2004), "The entire regularization path for the support vector machine", JMLR 5,
    §3.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm import RBF, Hastie, regularization_path
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([-1, 1, -1, 1])
    >>> path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=10.0, tracker=Hastie())
    >>> path.C.round(2)
    array([ 0.1 ,  1.42,  1.76,  6.13, 10.  ])
    """

    may_refuse: ClassVar[bool] = True
    any_line: ClassVar[bool] = True

    tol: float = 1e-10

    def __post_init__(self) -> None:
        positive("tol", self.tol)

    def follow(self, walk: PathState, end: float) -> Iterator[Point]:
        """Yield the breakpoints from the present λ down to `end`."""
        while (room := walk.room(end)) > 0.0:
            if not walk.has_left():
                yield walk.to_the_end(end)
                return
            if not walk.members and jump_of_b(walk):
                yield walk.breakpoint("jump")
            step = self._next_step(walk, room) if walk.members else empty_elbow_step(walk, room)
            kind = take(walk, step, end)
            self._check(walk, step)
            yield walk.breakpoint(kind)
            # --- shortcut: compiled code follows several ordinary events in one call, with the same result ---
            yield from walk.backend.events(walk, self, end, RUN)

    def _next_step(self, walk: PathState, room: float) -> Step:
        """Solve A d = (0, v_𝓔), compute the λ of each possible next event, and return the step to the largest λ."""

        def solve(right: np.ndarray) -> np.ndarray:
            return np.linalg.solve(elbow_matrix(walk), right)

        if walk.system is None:
            walk.system = self._inverse(walk)
        if walk.unsettled:
            correct(walk, solve)
        # d_p = A⁻¹(0, v_𝓔)
        db, noise = particular_direction(walk, solve, TAU, from_scratch=lambda walk: solve)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls = walk.distances() / walk.rates(noise)
        below = falls[(falls > self.tol * walk.scale) & (falls < room)]
        return Step(float(below.min(initial=room)), db, noise, "full rank", True)

    def _inverse(self, walk: PathState) -> Bordered | None:
        """Return the elbow's system with A⁻¹, or None if A is ill-conditioned; raise ValueError if A is singular."""
        s = walk.largest or 1.0  # dividing K by s makes the test independent of the scale of K
        scaled = elbow_matrix(walk, s)
        eigenvalues = np.abs(np.linalg.eigvalsh(scaled))
        if eigenvalues.min() <= 1e-14 * len(scaled) * eigenvalues.max():
            raise ValueError(
                f"The elbow is singular at {_where(walk)}: its {len(walk.members)} points are affinely dependent "
                "in feature space, and Hastie's rule needs a regular system; use tracker=SVMP()."
            )
        if eigenvalues.min() <= ILL_CONDITIONED * eigenvalues.max():
            return None
        inverse = np.linalg.inv(scaled)
        inverse[0], inverse[:, 0] = s * inverse[0], s * inverse[:, 0]
        system = Bordered((inverse + inverse.T) / 2.0, ILL_CONDITIONED * walk.largest)
        system.solve(walk.right)
        return system

    def _check(self, walk: PathState, step: Step) -> None:
        """Raise ValueError if two events occurred at one λ, because the tracker handles only one event at a time."""
        # if the tracker missed an event, clipping by (38) moves a variable back into its box, and then Σŝ ≠ 0
        if max(walk.violation(), walk.unbalanced()) > 1e3 * self.tol or step.length <= 0.0:
            raise ValueError(
                f"Two events coincide at {_where(walk)}, but Hastie's rule follows one event at a time; use "
                "tracker=SVMP()."
            )


def _where(walk: PathState) -> str:
    """Return the present point of the path as text."""
    return f"C={1.0 / walk.t:.6g}" if walk.along.is_c_path else f"t={walk.t:.6g}"
