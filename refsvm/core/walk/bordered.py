"""The bordered system of the free variables, whose solution is updated when variables join or leave."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from refsvm.core import arithmetic
from refsvm.core.problem import total

SINGULAR: Final = 1e-9
"""A squared distance between φ(x) and the plane of the other points counts as 0 below this fraction of max k(x, x)."""

SPARE: Final = 64
"""Number of rows and columns by which the arrays grow at once."""


class Bordered:
    """Solve A x = r with A = [[0, 1ᵀ], [1, K_MM]] for a set M that changes by one variable at a time.

        k joins:   w = P u with u = (1, K_Mk),  s = Kₖₖ − uᵀw,    P ← P + (w, −1)(w, −1)ᵀ/s,
                   e = rₖ − uᵀx,                                  x ← x − w·e/s,   xₖ ← e/s;
        j leaves:  p = P eⱼ,                                      P ← P − ppᵀ/pⱼ,  x ← x − p·xⱼ/pⱼ.

    P is the inverse of A. The array that holds P has spare rows and columns of zeros, and each update adds or subtracts
    the outer product of a vector with itself. s is the squared distance in feature space between φ(xₖ) and the affine
    hull of the points in M; if s were 0, A would become singular. When a variable leaves, the last member takes its
    place in the array. If the bound of a variable moves at rate `pace`, a variable that joins gets xₖ ← pace + e/s, and
    the formulas for leaving use xⱼ − pace in place of xⱼ. The class adds numbers from left to right, as its compiled
    version does.

    Parameters
    ----------
    inverse : ndarray of shape (m + 1, m + 1), float64
        The first inverse; the class copies it.
    least : float
        A variable joins M only if its squared distance s exceeds this number.

    Attributes
    ----------
    size : int
        Size of the system, m + 1.
    values : ndarray of shape (room, room), float64
        Array whose leading block is P; all other entries are 0.
    x : ndarray of shape (room,), float64
        The solution: db, then d of each variable in M; all other entries are 0.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.walk.bordered import Bordered, inverse_of
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> system = Bordered(inverse_of(K[:1, :1]), least=1e-9)
    >>> system.solve(np.array([1.0, 3.0]))
    >>> system.insert(np.array([1.0, 1.0]), 2.0, 2.0), system.x[:3]
    (True, array([1., 1., 0.]))
    """

    def __init__(self, inverse: np.ndarray, least: float) -> None:
        self.size, self.least, room = len(inverse), least, len(inverse) + SPARE
        # fill the array around P with zeros, so that products may run over the whole array
        self.values, self.x = np.zeros((room, room)), np.zeros(room)
        self.inverse[:] = inverse

    @property
    def inverse(self) -> np.ndarray:
        """The inverse P, shape (m + 1, m + 1)."""
        return self.values[: self.size, : self.size]

    def make_room(self, size: int) -> None:
        """Resize the arrays for a system with `size` rows."""
        if size > len(self.x):
            more = (0, size + SPARE - len(self.x))
            self.values, self.x = np.pad(self.values, more), np.pad(self.x, more)

    def times(self, vector: np.ndarray) -> np.ndarray:
        """Return P·vector, summed column by column."""
        result = np.zeros(len(self.values))
        arithmetic.current.add_rows(result, vector, self.values, np.arange(self.size))  # P is symmetric
        return result[: self.size]

    def solve(self, right: np.ndarray) -> None:
        """Solve A x = right, shape (m + 1,)."""
        self.x[: self.size] = self.times(right)

    def insert(self, u: np.ndarray, corner: float, right: float, pace: float = 0.0) -> bool:
        """Add variable k to a non-empty M; return False, and change nothing, if A would become singular.

        `u` is (1, K_Mk), `corner` is Kₖₖ, and `right` is rₖ before k joins, while αₖ still moves at rate `pace`.
        """
        w = self.times(u)
        # s is the pivot of k; if s is only rounding error, A would become singular
        s = corner - total(u * w)
        if not s > self.least:
            return False
        m = self.size
        self.make_room(m + 1)
        change = (right - total(u * self.x[:m])) / s
        self.x[:m] -= w * change
        self.x[m] = pace + change
        self.size = m + 1
        # add a product zzᵀ, so that P stays symmetric to the last bit
        root = 1.0 / math.sqrt(s)
        z = np.append(w * root, -root)
        self.inverse[:] += z[:, None] * z
        return True

    def insert_first(self, corner: float, top: float, right: float) -> None:
        """Add variable k to an empty M: the inverse of [[0, 1], [1, Kₖₖ]] is [[−Kₖₖ, 1], [1, 0]]."""
        self.size = 2
        self.inverse[:] = [[-corner, 1.0], [1.0, 0.0]]
        self.x[:2] = right - corner * top, top

    def delete(self, j: int, pace: float = 0.0) -> bool:
        """Remove variable j from M; return False if rounding has spoiled P, so that the squared distance 1/pⱼ ≤ 0."""
        last, p = self.size - 1, self.inverse[j + 1].copy()
        if last == 1:
            self.values[:2, :2], self.x[:2], self.size = 0.0, 0.0, 1
            return True
        # if pⱼ ≤ 0, rounding has spoiled P, and the caller must compute new factors
        if not p[j + 1] > 0.0:
            return False
        self.x[: last + 1] -= p * ((self.x[j + 1] - pace) / p[j + 1])
        z = p * (1.0 / math.sqrt(p[j + 1]))
        self.inverse[:] -= z[:, None] * z
        # the last member of M takes the position of j
        self.values[j + 1], self.x[j + 1] = self.values[last], self.x[last]
        self.values[:, j + 1] = self.values[:, last]
        self.values[last] = self.values[:, last] = self.x[last] = 0.0
        self.size = last
        return True

    def frees(self, j: int, u: np.ndarray) -> bool:
        """Return True if k, which depends on M, is independent of M without j: (uᵀp)²/pⱼ > `least`, u = (1, K_Mk)."""
        p = self.inverse[j + 1]
        part = total(u * p)
        return part * part > self.least * float(p[j + 1])


def independent(K: np.ndarray, largest: float) -> np.ndarray:
    """Return the variables, ascending, that are affinely independent of all variables before them.

    The function runs symmetric Gaussian elimination on K + c·11ᵀ with c = max |Kᵢᵢ| = `largest`; the pivots are squared
    distances, like s in `Bordered`.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.core.walk.bordered import independent
    >>> independent(np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]), 1.0)
    array([0, 2])
    """
    return independent_factor(K, largest)[0]


def independent_factor(K: np.ndarray, largest: float) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the result of `independent`, and the Cholesky factor of K + c·11ᵀ if only equal examples are dependent."""
    diagonal = K.diagonal().copy()
    least, B = 10.0 * SINGULAR * largest, K + np.abs(diagonal).max(initial=0.0)
    # rows are usually dependent only if examples are equal; the first of several equal examples counts as independent
    equal = np.triu(diagonal[:, None] + diagonal - 2.0 * K <= least, 1).any(axis=0)
    single = np.flatnonzero(~equal)
    try:
        L = np.linalg.cholesky(B if len(single) == len(B) else B[np.ix_(single, single)])
        if (L.diagonal() ** 2 > least).all():
            return single, L
    except np.linalg.LinAlgError:
        pass
    members = []
    for k in single.tolist():
        if B[k, k] > least:
            members.append(k)
            # rows and columns of B up to k are not read again
            B[k + 1 :, k + 1 :] -= np.multiply.outer(B[k + 1 :, k] / B[k, k], B[k, k + 1 :])
    return np.array(members, dtype=np.int64), None


def inverse_of(K: np.ndarray) -> np.ndarray:
    """Return the inverse of A = [[0, 1ᵀ], [1, K]], symmetric to the last bit.

    With H = (K + c·11ᵀ)⁻¹, u = H1 and s = 1ᵀu, the inverse is [[c − 1/s, uᵀ/s], [u/s, H − uuᵀ/s]].
    """
    m, c = len(K), float(np.abs(K.diagonal()).max(initial=0.0))
    inverse = np.zeros((m + 1, m + 1))
    if m:
        H = np.linalg.inv(K + c)
        u = H.sum(axis=0)
        s = u.sum()
        inverse[0, 0], inverse[0, 1:], inverse[1:, 0] = c - 1.0 / s, u / s, u / s
        inverse[1:, 1:] = H - np.multiply.outer(u, u) / s
    return (inverse + inverse.T) / 2.0
