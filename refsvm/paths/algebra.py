"""The linear algebra of the elbow: A δ = δλ (0, v_𝓔), solved by three factorisations of A.

    A = | 0   1ᵀ   |      unknowns (δb̂, δŝ_𝓔); eq. (22), with the labels moved into ŝ
        | 1   K_𝓔𝓔 |

A is singular exactly where the elbow is affinely dependent in feature space: duplicates, or too many points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from refsvm._checks import positive
from refsvm.paths.state import PathState

__all__ = ["SVD", "ElbowAlgebra", "Factors", "PivotedQR", "QRFactors", "UpdatedQR", "elbow_matrix"]


class Factors(Protocol):
    """A factorised A."""

    @property
    def null(self) -> np.ndarray:
        """Orthonormal basis of the null space, shape (m + 1, k)."""

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return a solution of A x = right, which is in the range of A."""
        ...


class ElbowAlgebra(ABC):
    """How A is factorised: a frozen dataclass; what it keeps stands in ``state.factors`` and ``state.changes``."""

    @abstractmethod
    def factorise(self, state: PathState) -> Factors:
        """Return the factors of A for the present elbow, which is not empty."""


def elbow_matrix(state: PathState) -> np.ndarray:
    """A of shape (m + 1, m + 1), in the order of ``state.elbow``."""
    elbow = state.elbow
    A = np.empty((len(elbow) + 1, len(elbow) + 1), order="F")
    A[0, 0] = 0.0
    A[0, 1:] = A[1:, 0] = 1.0
    A[1:, 1:] = state.K[np.ix_(elbow, elbow)]
    return A


@dataclass(frozen=True)
class SVD(ElbowAlgebra):
    """Singular value decomposition A = UΣVᵀ, eq. (25)–(27): the most reliable rank, some 4 ms for 200 points.

    Parameters
    ----------
    eps_svd : float
        Singular values up to eps_svd·(m + 1)·σ₁ count as zero. The paper compares with m·1e-14, which depends on the
        scale of the kernel.

    Examples
    --------
    >>> from refsvm.paths import SVD, SVMP
    >>> SVMP(algebra=SVD()).algebra.eps_svd
    1e-14
    """

    eps_svd: float = 1e-14

    def __post_init__(self) -> None:
        positive("eps_svd", self.eps_svd)

    def factorise(self, state: PathState) -> Factors:
        """A = UΣVᵀ from scratch."""
        from scipy.linalg import svd

        state.changes.clear()
        U, sigma, Vt = svd(elbow_matrix(state), check_finite=False)
        r = int((sigma > self.eps_svd * len(sigma) * sigma[0]).sum())
        return _SVDFactors(U[:, :r], sigma[:r], Vt[:r], Vt[r:].T)


@dataclass(frozen=True)
class _SVDFactors:
    U: np.ndarray
    sigma: np.ndarray
    Vt: np.ndarray
    null: np.ndarray

    def solve(self, right: np.ndarray) -> np.ndarray:
        # V_r Σ_r⁺ U_rᵀ right
        return ((right @ self.U) / self.sigma) @ self.Vt


@dataclass(frozen=True)
class PivotedQR(ElbowAlgebra):
    """QR decomposition with column pivoting AE = QR, eq. (64): a fourth of the time.

    Parameters
    ----------
    eps_svd : float
        Diagonal entries of R up to eps_svd·(m + 1)·|R₁₁| count as zero.

    Examples
    --------
    >>> from refsvm.paths import PivotedQR, SVMP
    >>> SVMP(algebra=PivotedQR())
    SVMP(algebra=PivotedQR(eps_svd=1e-14), ...
    """

    eps_svd: float = 1e-14

    def __post_init__(self) -> None:
        positive("eps_svd", self.eps_svd)

    def factorise(self, state: PathState) -> Factors:
        """AE = QR from scratch."""
        from scipy.linalg import qr

        state.changes.clear()
        Q, R, pivots = qr(elbow_matrix(state), pivoting=True, check_finite=False)
        diagonal = np.abs(np.diagonal(R))
        r = int((diagonal > self.eps_svd * len(R) * diagonal[0]).sum())
        # A is symmetric: what is orthogonal to its range is its null space
        return QRFactors(Q, R, pivots, r)


class QRFactors:
    """A E = QR of rank r; the columns of A in the order `pivots`."""

    def __init__(self, Q: np.ndarray, R: np.ndarray, pivots: np.ndarray, r: int) -> None:
        self.Q, self.R, self.pivots, self.r = Q, R, pivots, r
        self.null = Q[:, r:]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Q g = right, R h = g, x = E h; of many solutions the one with m + 1 − r zeros."""
        from scipy.linalg.lapack import dtrtrs

        x, r = np.zeros(len(right)), self.r
        # what solve_triangular calls, without its checks, which took longer than the solution
        x[self.pivots[:r]] = dtrtrs(self.R[:r, :r], right @ self.Q[:, :r])[0]
        return x


@dataclass(frozen=True)
class UpdatedQR(ElbowAlgebra):
    """QR factors updated where one point enters or leaves the elbow (§VII): O(m²) instead of O(m³) operations.

    Updates do not reveal the rank, so they are used only while A is known to be regular. A point enters by an update if
    the indicator |k − uᵀA⁻¹u|, its squared distance from the affine hull of the elbow in feature space, is
    not small. Otherwise A is factorised anew with pivoting.

    Parameters
    ----------
    eps_svd : float
        As in `PivotedQR`.
    least_indicator : float
        Smallest indicator for an update, relative to the largest kernel value.
    most_updates : int
        Factors are made anew after so many updates, so that rounding does not add up.

    Examples
    --------
    >>> from refsvm.paths import SVMP, UpdatedQR
    >>> SVMP(algebra=UpdatedQR()).algebra.most_updates
    200
    """

    eps_svd: float = 1e-14

    def __post_init__(self) -> None:
        positive("eps_svd", self.eps_svd)

    least_indicator: float = 1e-8
    most_updates: int = 200

    def factorise(self, state: PathState) -> Factors:
        """Update the factors of the elbow before, or make them anew."""
        factors: Any = state.factors
        if factors is None or not self._updated(factors, state):
            made = PivotedQR(self.eps_svd).factorise(state)
            factors = state.factors = made if made.null.shape[1] == 0 else None
            if factors is None:
                return made
            factors.updates = 0
            factors.members = state.elbow.tolist()
        state.changes.clear()
        return factors

    def _updated(self, factors: Any, state: PathState) -> bool:
        """Apply the changes one by one; return whether that was possible."""
        if len(state.changes) > 3 or factors.updates + len(state.changes) > self.most_updates:
            return False
        factors.updates += len(state.changes)
        for position, index in state.changes:
            if index < 0:
                self._delete(factors, position)
            elif not self._insert(factors, index, state):
                return False
            if not factors.members:
                return False
        return True

    def _delete(self, factors: Any, position: int) -> None:
        from scipy.linalg import qr_delete

        del factors.members[position]
        column = int((factors.pivots == position + 1).argmax())
        Q, R = qr_delete(
            factors.Q, factors.R, position + 1, which="row", check_finite=False, overwrite_qr=True
        )
        Q, R = qr_delete(Q, R, column, which="col", check_finite=False, overwrite_qr=True)
        pivots = np.delete(factors.pivots, column)
        pivots[pivots > position + 1] -= 1
        factors.Q, factors.R, factors.pivots, factors.r = Q, R, pivots, len(pivots)
        factors.null = np.empty((len(pivots), 0))

    def _insert(self, factors: Any, i: int, state: PathState) -> bool:
        from scipy.linalg import qr_insert

        size = len(factors.members) + 1
        row = np.empty(size + 1)
        row[0], row[1:size], row[size] = 1.0, state.K[i, factors.members], state.K[i, i]
        # s = k − uᵀA⁻¹u
        indicator = row[size] - row[:size] @ factors.solve(row[:size])
        if abs(indicator) <= self.least_indicator * state.largest:
            return False
        factors.members.append(i)
        Q, R = qr_insert(factors.Q, factors.R, row[:size], size, which="col", check_finite=False)
        Q, R = qr_insert(Q, R, row[np.append(factors.pivots, size)], size, which="row", check_finite=False)
        factors.Q, factors.R, factors.pivots = Q, R, np.append(factors.pivots, size)
        factors.r, factors.null = size + 1, np.empty((size + 1, 0))
        return True
