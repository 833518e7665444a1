"""UpdatedInverse: A⁻¹ where A is well conditioned, QR factors elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from refsvm._checks import positive
from refsvm.paths.algebra import ElbowAlgebra, Factors, QRFactors, UpdatedQR, elbow_matrix
from refsvm.paths.inverse import Inverse
from refsvm.paths.state import PathState

__all__ = ["InverseFactors", "UpdatedInverse"]


class InverseFactors:
    """A⁻¹ of the elbow `members`, ready for a run of ordinary events.

    Attributes
    ----------
    inverse : Inverse
    members : ndarray of shape (m,), int64
    least : float
        Smallest s of a point that enters by an update.
    source : QRFactors or None
        What it was made from, as long as nothing has changed since.
    """

    def __init__(self, source: QRFactors, state: PathState, least: float) -> None:
        size = state.m + 1
        self.inverse = with_room(_inverted(source), size, size)
        self.state, self.least = state, least
        self.source: QRFactors | None = source
        self.members = state.elbow.copy()

    @property
    def null(self) -> np.ndarray:
        """Nothing."""
        return np.empty((len(self.members) + 1, 0))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """x = A⁻¹ right, refined once: x + A⁻¹(right − Ax)."""
        values = self.inverse.values[: len(right), : len(right)]
        x = values @ right
        return np.asarray(x + values @ (right - elbow_matrix(self.state) @ x))

    def grown(self, m: int) -> None:
        """Make room for m points."""
        if m + 1 > len(self.inverse.x):
            self.inverse = with_room(self.inverse.values, len(self.members) + 1, m + 1)


@dataclass(frozen=True)
class UpdatedInverse(ElbowAlgebra):
    """A⁻¹ updated where one point enters or leaves the elbow, `refsvm.paths.inverse`: the default.

    An update takes two passes over m² numbers, where QR factors take some twenty, and compiled code follows whole runs
    of events with it. It is used while A is well conditioned. It is made anew where its residual shows that
    digits are lost. Everything else is left to QR factors, the rank of A included.

    Parameters
    ----------
    least_indicator : float
        Smallest s for an update, relative to the largest kernel value.
    least_ratio : float
        The inverse of A = QR is formed if |R| has no diagonal entry below this share of the largest.
    qr : UpdatedQR
        For all other elbows.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Examples
    --------
    >>> from refsvm.paths import SVMP, UpdatedInverse
    >>> SVMP().algebra == UpdatedInverse()
    True
    """

    least_indicator: float = 1e-8
    least_ratio: float = 1e-8
    qr: UpdatedQR = field(default_factory=UpdatedQR)

    def __post_init__(self) -> None:
        positive("least_indicator", self.least_indicator)
        positive("least_ratio", self.least_ratio)

    def factorise(self, state: PathState) -> Factors:
        """Update the inverse or the factors of the elbow before, or make them anew."""
        if isinstance(state.factors, InverseFactors):
            factors: InverseFactors = state.factors
            if _updated(factors, state):
                state.changes.clear()
                return factors
            state.factors = None
        kept = state.factors
        made: Any = self.qr.factorise(state)
        if state.factors is not made or made is kept or not self._well_conditioned(made):
            return made
        state.factors = InverseFactors(made, state, self.least_indicator * state.largest)
        return state.factors

    def _well_conditioned(self, factors: QRFactors) -> bool:
        diagonal = np.abs(np.diagonal(factors.R))
        return bool(diagonal.min() > self.least_ratio * diagonal.max())


def _updated(factors: InverseFactors, state: PathState) -> bool:
    """Apply the changes one by one; return whether that was possible."""
    if len(state.changes) > 3:
        return False
    if state.changes:
        factors.source = None
    for position, index in state.changes:
        members = factors.members
        m = len(members)
        if index >= 0:
            factors.grown(m + 1)
            arrays = state.arrays._replace(elbow=members)
            done = state.search.insert(arrays, factors.inverse, m, index, factors.least)
            factors.members = np.append(members, index)
        else:
            done = m > 1 and state.search.delete(factors.inverse, m + 1, position + 1)
            factors.members = np.delete(members, position)
        if not done:
            return False
    return True


def with_room(values: np.ndarray, size: int, needed: int) -> Inverse:
    """Copy the leading block of this size into an inverse with room for some more than is needed."""
    room = needed + needed // 4 + 64
    inverse = Inverse(np.empty((room, room)), np.empty(room), np.empty(room), np.empty(room))
    inverse.values[:size, :size] = values[:size, :size]
    return inverse


def _inverted(factors: QRFactors) -> np.ndarray:
    """A⁻¹ = E R⁻¹ Qᵀ."""
    from scipy.linalg import solve_triangular

    values = np.empty_like(factors.Q)
    values[factors.pivots] = solve_triangular(factors.R, factors.Q.T, check_finite=False)
    return values
