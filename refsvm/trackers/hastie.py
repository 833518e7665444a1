"""Hastie's tracker: the path while the elbow stays regular (Hastie, Rosset, Tibshirani & Zhu 2004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from refsvm._checks import positive
from refsvm.trackers.base import PathTracker
from refsvm.walk.algebra import elbow_matrix
from refsvm.walk.breakpoint import Point
from refsvm.walk.elbow import Step, correct, empty_elbow_step, jump_of_b, particular_direction, take
from refsvm.walk.state import PathState


@dataclass(frozen=True)
class Hastie(PathTracker):
    """The reference: one linear system for each event, and no answer where it is singular.

    Of all λ at which some ŝ on the elbow reaches 0 or its bound, or some g outside reaches 0, the next breakpoint is
    the largest below the present λ. That is right as long as events happen one at a time.

    Parameters
    ----------
    tol : float
        Smallest share of λ that counts as below, largest KKT violation ξ, and smallest eigenvalue of A relative to
        the largest.

    Raises
    ------
    ValueError
        If tol is not positive. While tracking: if the elbow is singular, as with duplicates and with more points on it
        than dimensions, or if two events fall together. `refsvm.SVMP` has an answer then.

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

    def _next_step(self, walk: PathState, room: float) -> Step:
        """Solve A d = (0, v_𝓔) and look at all candidates for the next λ."""
        solve = partial(np.linalg.solve, self._regular(walk))
        if walk.unsettled:
            correct(walk, solve)
        # d_p = A⁻¹(0, v_𝓔)
        db, noise = particular_direction(walk, solve, 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls = walk.distances() / walk.rates()
        below = falls[(falls > self.tol * walk.scale) & (falls < room)]
        return Step(float(below.min(initial=room)), db, noise, "full rank", True)

    def _regular(self, walk: PathState) -> np.ndarray:
        """Return A, which must be regular."""
        A = elbow_matrix(walk)
        eigenvalues = np.abs(np.linalg.eigvalsh(A))
        if eigenvalues.min() <= 1e-14 * len(A) * eigenvalues.max():
            raise ValueError(
                f"The elbow is singular at {_where(walk)}: its {len(walk.members)} points are affinely dependent "
                "in feature space, and Hastie's rule needs a regular system; use tracker=SVMP()."
            )
        return A

    def _check(self, walk: PathState, step: Step) -> None:
        """Refuse to go on where the one-event-at-a-time rule has gone wrong."""
        # an event that was passed over has been clipped to the box (38), which leaves Σŝ ≠ 0
        if max(walk.violation(), walk.unbalanced()) > 1e3 * self.tol or step.length <= 0.0:
            raise ValueError(
                f"Two events fall together at {_where(walk)}, and Hastie's rule follows one at a time; use "
                "tracker=SVMP()."
            )


def _where(walk: PathState) -> str:
    """The point of the walk, in words."""
    return f"C={1.0 / walk.t:.6g}" if walk.along.is_c_path else f"t={walk.t:.6g}"
