"""The linear algebra of the elbow: A δ = δλ (0, v_𝓔), solved by a factorisation of A or by its inverse.

    A = | 0   1ᵀ   |      unknowns (δb̂, δŝ_𝓔); eq. (22), with the labels moved into ŝ
        | 1   K_𝓔𝓔 |

A is singular exactly if the points on the elbow are affinely dependent in feature space, because of duplicates or too
many points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from weakref import ref

import numpy as np

from refsvm.core._checks import positive
from refsvm.core.rule import PlainNumbers
from refsvm.core.walk.bordered import Bordered
from refsvm.core.walk.state import PathState

ROOM: Final = 64
"""Largest number of columns in a block of LAPACK."""


class Factors(Protocol):
    """A factorisation of A."""

    @property
    def null(self) -> np.ndarray:
        """A basis of the null space of A, shape (m + 1, k)."""

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return a solution of A x = right for a right side in the range of A."""
        ...


class ElbowAlgebra(PlainNumbers, ABC):
    """Base of the classes that factorise A; each subclass is a frozen dataclass.

    A subclass keeps data for the factors of the next elbow: an inverse in ``walk.system``, other data in ``walk.kept``.
    """

    @abstractmethod
    def factorise(self, walk: PathState) -> Factors:
        """Return the factors of A for the present elbow, which is not empty."""


def elbow_matrix(walk: PathState, s: float = 1.0) -> np.ndarray:
    """Return DAD with D = diag(s, 1, …, 1), shape (m + 1, m + 1), in the order of ``walk.elbow``; for s = 1, it is A.

    With s = max |K| all entries have the same scale, so that the rank does not depend on the unit of K.
    """
    elbow = walk.elbow
    A = np.empty((len(elbow) + 1, len(elbow) + 1), order="F")
    A[0, 0] = 0.0
    A[0, 1:] = A[1:, 0] = s
    A[1:, 1:] = walk.K[elbow[:, None], elbow]
    return A


@dataclass(frozen=True)
class SVD(ElbowAlgebra):
    """Singular value decomposition DAD = UΣVᵀ, eq. (25)–(27), the most reliable and slowest way to find the rank of A.

    Parameters
    ----------
    eps_svd : float
        Singular values up to eps_svd·(m + 1)·σ₁ count as zero. The paper compares the singular values with m·1e-14, so
        that the rank in the paper depends on the scale of the kernel.

    Examples
    --------
    >>> from refsvm.analysis.paths import SVD, SVMP
    >>> SVMP(algebra=SVD()).algebra.eps_svd
    1e-14
    """

    eps_svd: float = 1e-14

    def __post_init__(self) -> None:
        positive("eps_svd", self.eps_svd)

    def factorise(self, walk: PathState) -> Factors:
        """Compute DAD = UΣVᵀ from scratch."""
        from scipy.linalg import svd

        s = walk.largest or 1.0
        A = elbow_matrix(walk, s)
        U, sigma, Vt = svd(A, check_finite=False)
        U[0] *= s
        Vt[:, 0] *= s
        r = int((sigma > self.eps_svd * len(sigma) * sigma[0]).sum())
        return _SVDFactors(U[:, :r], sigma[:r], Vt[:r], Vt[r:].T)


@dataclass(frozen=True)
class _SVDFactors:
    U: np.ndarray
    sigma: np.ndarray
    Vt: np.ndarray
    null: np.ndarray

    def solve(self, right: np.ndarray) -> np.ndarray:
        # DV_r Σ_r⁺ (DU_r)ᵀ right
        return ((right @ self.U) / self.sigma) @ self.Vt


@dataclass(frozen=True)
class PivotedQR(ElbowAlgebra):
    """QR decomposition with column pivoting, DADE = QR, eq. (64); on large elbows twice as fast as `SVD`.

    Parameters
    ----------
    eps_svd : float
        Diagonal entries of R up to eps_svd·(m + 1)·|R₁₁| count as zero.

    Examples
    --------
    >>> from refsvm.analysis.paths import PivotedQR, SVMP
    >>> SVMP(algebra=PivotedQR())
    SVMP(algebra=PivotedQR(eps_svd=1e-14), ...
    """

    eps_svd: float = 1e-14

    def __post_init__(self) -> None:
        positive("eps_svd", self.eps_svd)

    def factorise(self, walk: PathState) -> QRFactors:
        """Compute DADE = QR from scratch."""
        from scipy.linalg.lapack import dgeqp3, dorgqr

        s = walk.largest or 1.0
        A = elbow_matrix(walk, s)
        # call LAPACK, not scipy.linalg.qr, whose checks took longer than factorising the matrix of a small elbow
        packed, pivots, tau, _, _ = dgeqp3(A, lwork=2 * len(A) + ROOM * (len(A) + 1))
        R, pivots = np.triu(packed), pivots - 1
        Q = dorgqr(packed, tau, lwork=ROOM * len(A), overwrite_a=True)[0]
        Q[0] *= s
        diagonal = np.abs(np.diagonal(R))
        r = int((diagonal > self.eps_svd * len(R) * diagonal[0]).sum())
        # A is symmetric, so the orthogonal complement of its range is its null space
        return QRFactors(Q, R, pivots, Q[:, r:], s)


@dataclass(frozen=True)
class QRFactors:
    """The factors of DADE = QR with rank r; DQ is stored in place of Q, and `pivots` is the order of A's columns."""

    Q: np.ndarray
    R: np.ndarray
    pivots: np.ndarray
    null: np.ndarray
    s: float

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return x = DE h with R h = g and Q g = D right; if A is singular, m + 1 − r entries of x are 0."""
        from scipy.linalg.lapack import dtrtrs

        x, r = np.zeros_like(right), len(self.R) - self.null.shape[1]
        # call LAPACK, not scipy.linalg.solve_triangular, whose checks took longer than solving the system
        x[self.pivots[:r]] = dtrtrs(self.R[:r, :r], self.Q[:, :r].T @ right)[0]
        x[0] *= self.s
        return x


@dataclass(frozen=True)
class UpdatedAlgebra(ElbowAlgebra):
    """Base of algebras that update factors when the elbow changes; if A is singular, `PivotedQR` factorises it."""

    least_indicator: float = 1e-8
    least_ratio: float = 1e-8
    qr: PivotedQR = field(default_factory=PivotedQR)

    def __post_init__(self) -> None:
        positive("least_indicator", self.least_indicator)
        positive("least_ratio", self.least_ratio)

    def is_regular(self, R: np.ndarray) -> bool:
        """Return True if every diagonal entry of R exceeds `least_ratio` times the largest."""
        diagonal = np.abs(np.diagonal(R))
        return bool(diagonal.min() > self.least_ratio * diagonal.max())


@dataclass(frozen=True)
class UpdatedInverse(UpdatedAlgebra):
    """The default algebra: keeps A⁻¹ and updates it when one point enters or leaves the elbow.

    An update (`refsvm.core.walk.bordered`) passes twice over m² numbers, whereas a factorisation takes m³ operations;
    with A⁻¹, compiled code can follow many events in one call. The class uses A⁻¹ while A is well conditioned, and
    computes A⁻¹ again if a residual shows a loss of precision. QR factors give the rank of A, and replace A⁻¹ if A is
    ill conditioned.

    Parameters
    ----------
    least_indicator : float
        The class updates its factors for a new point only if the squared distance between the point and the affine hull
        of the elbow, relative to the largest kernel value, exceeds this number.
    least_ratio : float
        The inverse is computed from A = QR only if no diagonal entry of |R| is below this fraction of the largest.
    qr : PivotedQR
        The factorisation that gives the inverse; if A is ill conditioned, the QR factors replace it.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    Examples
    --------
    >>> from refsvm.analysis.paths import SVMP, UpdatedInverse
    >>> SVMP().algebra == UpdatedInverse()
    True
    """

    def factorise(self, walk: PathState) -> Factors:
        """Return A⁻¹, stored in `walk`, or compute it if it is missing; if A is ill conditioned, return QR factors."""
        if walk.system is None:
            factors = self.qr.factorise(walk)
            if factors.null.shape[1] or not self.is_regular(factors.R):
                return factors
            walk.system = Bordered(factors.solve(np.eye(len(factors.R))), self.least_indicator * walk.largest)
            walk.system.solve(walk.right)
        return _Inverse(ref(walk), np.empty((len(walk.members) + 1, 0)))


@dataclass(frozen=True)
class _Inverse:
    # refer to the walk weakly, because the walk holds this object: a cycle would keep matrices until garbage collection
    walk: ref[PathState]
    null: np.ndarray

    def solve(self, right: np.ndarray) -> np.ndarray:
        # A⁻¹ right, refined once: x + A⁻¹(right − Ax)
        walk: Any = self.walk()
        inverse = walk.system.inverse
        x = inverse @ right
        return np.asarray(x + inverse @ (right - elbow_matrix(walk) @ x))
