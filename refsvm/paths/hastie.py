"""Hastie's tracker: the path while the elbow stays regular (Hastie, Rosset, Tibshirani & Zhu 2004)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from refsvm._checks import positive
from refsvm.paths.algebra import elbow_matrix
from refsvm.paths.base import PathTracker
from refsvm.paths.breakpoint import Breakpoint
from refsvm.paths.elbow import Step, correct, empty_elbow_step, particular_direction, take
from refsvm.paths.state import PathState

__all__ = ["Hastie"]


class RegularElbow(NamedTuple):
    """A, solved as it stands."""

    A: np.ndarray

    @property
    def null(self) -> np.ndarray:
        """Nothing."""
        return np.empty((len(self.A), 0))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A⁻¹ right."""
        return np.linalg.solve(self.A, right)


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

    tol: float = 1e-10

    def __post_init__(self) -> None:
        positive("tol", self.tol)

    def follow(self, state: PathState, lam_min: float) -> Iterator[Breakpoint]:
        """Yield the breakpoints from the present λ down to `lam_min`."""
        while state.lam > lam_min * (1.0 + 1e-12):
            if not state.has_left():
                yield state.to_the_end(lam_min)
                return
            room = state.lam - lam_min
            step = self._next_step(state, room) if state.m else empty_elbow_step(state, room)
            kind = take(state, step, lam_min)
            self._check(state, step)
            yield state.breakpoint(kind)

    def _next_step(self, state: PathState, room: float) -> Step:
        """Solve A d = (0, v_𝓔) and look at all candidates for the next λ."""
        factors, elbow = self._regular(state), state.elbow
        correct(state, factors)
        # d_p = A⁻¹(0, v_𝓔)
        d, d_intercept, noise = particular_direction(state, factors, 1e-12)
        outside = (state.side != 0) & (state.sign != 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls = np.concatenate(
                [
                    (state.scaled[elbow] - state.low[elbow]) / d,
                    (state.scaled[elbow] - state.high[elbow]) / d,
                    -state.slack[outside] / state.rates[outside],
                ]
            )
        below = falls[(falls > self.tol * state.lam) & (falls < room)]
        return Step(float(below.min(initial=room)), d, d_intercept, noise, "full rank", True)

    def _regular(self, state: PathState) -> RegularElbow:
        """Return A, which must be regular."""
        A = elbow_matrix(state)
        eigenvalues = np.abs(np.linalg.eigvalsh(A))
        if eigenvalues.min() <= 1e-14 * len(A) * eigenvalues.max():
            raise ValueError(
                f"The elbow is singular at C={1.0 / state.lam:.6g}: its {state.m} points are affinely dependent in "
                "feature space, and Hastie's rule needs a regular system; use tracker=SVMP()."
            )
        return RegularElbow(A)

    def _check(self, state: PathState, step: Step) -> None:
        """Refuse to go on where the one-event-at-a-time rule has gone wrong."""
        inside = state.scaled.clip(state.low, state.high)
        wrong = max(state.violation(), float(np.abs(state.scaled - inside).max()))
        if wrong > 1e3 * self.tol or step.t <= 0.0:
            raise ValueError(
                f"Two events fall together at C={1.0 / state.lam:.6g}, and Hastie's rule follows one at a time; use "
                "tracker=SVMP()."
            )
