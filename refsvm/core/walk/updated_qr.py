"""UpdatedQR: updates QR factors of the elbow's matrix when a few points enter or leave (Ong et al., section VII)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from refsvm.core.walk.algebra import Factors, UpdatedAlgebra
from refsvm.core.walk.state import PathState

BORDER: Final = -1
"""The entry that stands for the first row and column of A, which belong to b and not to an example."""


@dataclass(frozen=True)
class UpdatedQR(UpdatedAlgebra):
    """QR factors of A, updated with O(m²) instead of O(m³) operations when a point enters or leaves the elbow.

        i leaves:  delete its row and its column from QR;
        k enters:  s = Kₖₖ − uᵀA⁻¹u, u = (1, K_𝓔k); insert a column and a row unless s is close to 0.

    The number s, the paper's indicator in another unit, is the squared distance in feature space between φ(xₖ) and the
    affine hull of the elbow. Updates do not keep the diagonal of R sorted, and the rank cannot be read from an unsorted
    diagonal. Therefore the class computes new factors with pivots if A may be singular, R is ill conditioned, or more
    than a fourth of the elbow has changed. `UpdatedInverse` is a faster alternative.

    Parameters
    ----------
    least_indicator : float
        The class updates its factors for a new point only if the squared distance between the point and the affine hull
        of the elbow, relative to the largest kernel value, exceeds this number.
    least_ratio : float
        Updated factors are used only if no diagonal entry of |R| is below this fraction of the largest.
    qr : PivotedQR
        The factorisation that computes new factors if the class cannot update them.

    Raises
    ------
    ValueError
        If a parameter is not positive.

    References
    ----------
    C.-J. Ong, S. Shao and J. Yang, IEEE Transactions on Neural Networks 21(3), 2010, section VII.

    Examples
    --------
    >>> from refsvm import RBF, SVMP, regularization_path
    >>> from refsvm.datasets import load
    >>> from refsvm.analysis.paths import UpdatedQR
    >>> heart = load("heart")
    >>> path = regularization_path(
    ...     heart.X[:50], heart.y[:50], kernel=RBF(0.005), C_max=10.0, tracker=SVMP(algebra=UpdatedQR())
    ... )
    >>> path.kkt_audit().worst < 1e-9
    True
    """

    def factorise(self, walk: PathState) -> Factors:
        """Update the factors of the previous elbow, or compute new factors if an update is not safe."""
        factors = walk.kept
        updated = self._updated(walk, factors) if isinstance(factors, Updated) else None
        if updated is None:
            fresh = self.qr.factorise(walk)
            walk.kept = None
            if fresh.null.shape[1]:
                return fresh
            updated = Updated.of(walk, fresh)
        walk.kept = updated
        return updated.of_present(walk)

    def _updated(self, walk: PathState, factors: Updated) -> Updated | None:
        """Update the factors for each point that left or entered the elbow; return None if new factors are needed."""
        leaving, entering = factors.changes(walk)
        if 4 * (len(leaving) + len(entering)) > len(factors.rows):
            return None
        for i in leaving:
            factors = factors.without(i)
        for k in entering:
            extended = factors.extended(k, walk.K, self.least_indicator * walk.largest)
            if extended is None:
                return None
            factors = extended
        return factors if self.is_regular(factors.R) else None


@dataclass(frozen=True)
class Updated:
    """Factors of DAD = QR with D = diag(s, 1, …, 1), and the order of the examples in the rows and columns of QR."""

    Q: np.ndarray
    R: np.ndarray
    rows: list[int]
    columns: list[int]
    s: float
    places: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, walk: PathState, fresh: Any) -> Updated:
        """Return factors that can be updated, made from factors with pivots."""
        rows, Q = [BORDER, *walk.members], fresh.Q.copy()
        Q[0] /= fresh.s
        return cls(Q, fresh.R, rows, [rows[k] for k in fresh.pivots], fresh.s)

    def changes(self, walk: PathState) -> tuple[list[int], list[int]]:
        """Return the examples that have left the elbow, and the examples that have entered it."""
        now, before = {BORDER, *walk.members}, set(self.rows)
        return [i for i in self.rows if i not in now], [k for k in walk.members if k not in before]

    def without(self, i: int) -> Updated:
        """Return the factors after deleting the row and the column of example i."""
        from scipy.linalg import qr_delete

        row, column = self.rows.index(i), self.columns.index(i)
        Q, R = qr_delete(self.Q, self.R, row, which="row", check_finite=False)
        Q, R = qr_delete(Q, R, column, which="col", check_finite=False)
        rows, columns = ([k for k in each if k != i] for each in (self.rows, self.columns))
        return Updated(Q, R, rows, columns, self.s)

    def extended(self, k: int, K: np.ndarray, least: float) -> Updated | None:
        """Return the factors after inserting a column and a row for k; None if A would become nearly singular."""
        from scipy.linalg import qr_insert, solve_triangular

        column, row = (self._entries(K[k], order) for order in (self.rows, self.columns))
        w = solve_triangular(self.R, self.Q.T @ column, check_finite=False)
        if not K[k, k] - row @ w > least:
            return None
        Q, R = qr_insert(self.Q, self.R, column, len(self.R), which="col", check_finite=False)
        Q, R = qr_insert(Q, R, np.append(row, K[k, k]), len(self.R), which="row", check_finite=False)
        return Updated(Q, R, [*self.rows, k], [*self.columns, k], self.s)

    def _entries(self, kernel_row: np.ndarray, order: list[int]) -> np.ndarray:
        """Return the entries of a row or column of DAD, with the examples in the given order."""
        return np.where(np.array(order) == BORDER, self.s, kernel_row[order])

    def of_present(self, walk: PathState) -> Updated:
        """Return the factors, and the position of each of their rows and columns in the present elbow."""
        place = {i: k for k, i in enumerate([BORDER, *walk.members])}
        rows, columns = (np.array([place[i] for i in order]) for order in (self.rows, self.columns))
        return Updated(self.Q, self.R, self.rows, self.columns, self.s, (rows, columns))

    @property
    def null(self) -> np.ndarray:
        """An empty basis of the null space, because A is regular."""
        return np.empty((len(self.R), 0))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve A x = right: with g = D right, R h = Qᵀ g and x = D h."""
        from scipy.linalg import solve_triangular

        assert self.places is not None
        rows, columns = self.places
        scaled, x = right.copy(), np.empty_like(right)
        scaled[0] *= self.s
        x[columns] = solve_triangular(self.R, self.Q.T @ scaled[rows], check_finite=False)
        x[0] *= self.s
        return x
