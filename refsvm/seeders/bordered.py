"""The inverse of the bordered matrix of the free variables, kept while variables join and leave."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.primal import total

__all__ = ["Bordered"]

SINGULAR: Final = 1e-9
"""Squared distance between φ(x) and the plane of the others, as a part of k(x, x), that counts as none."""


class Bordered:
    """Solve systems with A = [[0, 1ᵀ], [1, K_MM]] for a set M that changes by one variable at a time.

        joins:   P ← [[P + ηηᵀ/κ, −η/κ], [−ηᵀ/κ, 1/κ]],   c = (1, K_Mk),  η = Pc,  κ = Kₖₖ − cᵀη
        leaves:  P ← P − pₖpₖᵀ/Pₖₖ  without row and column k

    P is the inverse of A. κ is the squared distance in feature space between φ(xₖ) and the affine hull of those of M:
    where it vanishes, A would become singular. Sums go from left to right, as in the twin.

    Parameters
    ----------
    n : int
        Length of kernel rows.

    Attributes
    ----------
    count : int
        Number of variables in M.
    members : ndarray of shape (n,), int64
        M, in the order of P, in its first `count` entries.
    rows : list of ndarrays of shape (n,)
        Their kernel rows.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.seeders.bordered import Bordered
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> system = Bordered(2)
    >>> system.enter(0, K[0]), system.enter(1, K[1]), system.solve(1.0, np.array([3.0, 2.0]))
    (True, True, (1.0, array([1., 0.])))
    """

    def __init__(self, n: int) -> None:
        self.count, self.members = 0, np.zeros(n, dtype=np.int64)
        self.rows: list[np.ndarray] = []
        self._inverse = np.empty((0, 0))

    def enter(self, k: int, row: np.ndarray) -> bool:
        """Let k join; return whether that is possible."""
        m = self.count
        if m == 0:
            # the inverse of [[0, 1], [1, Kₖₖ]]
            grown = np.array([[-row[k], 1.0], [1.0, 0.0]])
        else:
            c = np.append(1.0, row[self.members[:m]])
            eta = self._times(c)
            kappa = float(row[k]) - total(c * eta)
            if not kappa > SINGULAR * abs(float(row[k])):
                return False
            grown = np.empty((m + 2, m + 2))
            scaled = eta / kappa
            grown[:-1, :-1] = self._inverse + np.multiply.outer(scaled, eta)
            grown[-1, :-1] = grown[:-1, -1] = -scaled
            grown[-1, -1] = 1.0 / kappa
        self._inverse = grown
        self.members[m] = k
        self.rows.append(row)
        self.count = m + 1
        return True

    def leave(self, k: int) -> None:
        """Let k leave; the last member takes its place."""
        m = self.count
        place = int(np.flatnonzero(self.members[:m] == k)[0])
        last = m - 1
        P = self._inverse
        P[[place + 1, last + 1]] = P[[last + 1, place + 1]]
        P[:, [place + 1, last + 1]] = P[:, [last + 1, place + 1]]
        self.members[place], self.rows[place] = self.members[last], self.rows[last]
        self.rows.pop()
        self.count = last
        if last:
            column = P[:-1, -1]
            self._inverse = P[:-1, :-1] - np.multiply.outer(column / P[-1, -1], column)

    def solve(self, top: float, right: np.ndarray) -> tuple[float, np.ndarray]:
        """Return db and d_M with A (db, d_M) = (top, right); zeros if M is empty."""
        if not self.count:
            return 0.0, np.zeros(0)
        solution = self._times(np.append(top, right))
        return float(solution[0]), solution[1:]

    def _times(self, vector: np.ndarray) -> np.ndarray:
        """P·vector, column by column."""
        result = np.zeros(len(vector))
        for factor, column in zip(vector, self._inverse, strict=True):  # P is symmetric
            result += factor * column
        return result
