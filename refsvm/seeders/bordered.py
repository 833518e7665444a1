"""The bordered system of the free variables, kept solved while variables join and leave."""

from __future__ import annotations

from typing import Final

import numpy as np

from refsvm.primal import total

__all__ = ["Bordered", "independent", "inverse_of"]

SINGULAR: Final = 1e-9
"""Squared distance between φ(x) and the plane of the others, as a part of the largest k(x, x), that counts as none."""


class Bordered:
    """Solve A x = r with A = [[0, 1ᵀ], [1, K_MM]] for a set M that changes by one variable at a time.

        joins:   η = Pc with c = (1, K_Mk),  κ = Kₖₖ − cᵀη,   P ← P + (η, −1)(η, −1)ᵀ/κ
                 ρ = rₖ − cᵀx,                                x ← x − η·ρ/κ,   xₖ ← xₖ + ρ/κ
        leaves:  p = P eₖ,                                    P ← P − ppᵀ/pₖ,  x ← x − p·xₖ/pₖ

    P is the inverse of A. It is kept as the inverse P₀ of the beginning and a list of products σwwᵀ: a change then adds
    a vector and P₀ stays, so that many paths share it. κ is the squared distance in feature space between φ(xₖ) and the
    affine hull of those of M: where it vanishes, A would become singular. Each variable that was in M has a slot, whose
    entries are 0 after it has left. Sums go from left to right, as in the twin.

    Parameters
    ----------
    members : ndarray of shape (m,), int64
        M at the beginning.
    inverse : ndarray of shape (m + 1, m + 1), float64
        P₀; it is not changed.
    largest : float
        max |Kᵢᵢ|.

    Attributes
    ----------
    members : list of int
        The variable of each slot.
    inside : list of bool
        Whether it is in M.
    x : ndarray of shape (1 + slots,), float64
        The solution: db, and d of each slot.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.seeders.bordered import Bordered, inverse_of
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> system = Bordered(np.array([0]), inverse_of(K[:1, :1]), 2.0)
    >>> system.begin(1.0, np.array([3.0, 2.0])), system.enter(1, K[1], 2.0, 0.0), system.x
    (None, True, array([1., 1., 0.]))
    """

    def __init__(self, members: np.ndarray, inverse: np.ndarray, largest: float) -> None:
        self._least = SINGULAR * largest
        self._restart(members.tolist(), inverse)

    def _restart(self, members: list[int], inverse: np.ndarray) -> None:
        self.members, self.inside, self._inverse = members, [True] * len(members), inverse
        self._terms, self._scales = np.zeros((0, len(inverse))), np.zeros(0)
        self.x = np.zeros(len(inverse))
        self._left = np.zeros(1), 0.0

    @property
    def count(self) -> int:
        """Number of variables in M."""
        return sum(self.inside)

    @property
    def cost_of_entering(self) -> int:
        """Multiplications to let a variable join."""
        return len(self._inverse) ** 2 + 2 * len(self._scales) * len(self.x)

    def begin(self, top: float, right: np.ndarray) -> None:
        """Solve A x = (top, right_M); `right` has a number for each variable."""
        self.x = self._times(np.append(top, self._of_members(right)))

    def enter(self, k: int, row: np.ndarray, right: float, moving: float) -> bool:
        """Let k join; return whether that is possible.

        `row` is row k of K and `right` is rₖ. `moving` is what xₖ was as a part of r.
        """
        c = np.append(1.0, self._of_members(row))
        eta = self._times(c)
        kappa = float(row[k]) - total(c * eta)
        if not kappa > self._least:
            return False
        change = (right - total(c * self.x)) / kappa
        self.x = np.append(self.x - eta * change, moving + change)
        self.members.append(k)
        self.inside.append(True)
        self._add(np.append(eta, -1.0), 1.0 / kappa)
        return True

    def enter_empty(self, k: int, row: np.ndarray, top: float, right: float) -> None:
        """Let k join the empty M: the inverse of [[0, 1], [1, Kₖₖ]] is [[−Kₖₖ, 1], [1, 0]]."""
        self._restart([k], np.array([[-row[k], 1.0], [1.0, 0.0]]))
        self.x = np.array([right - float(row[k]) * top, top])

    def leave(self, k: int) -> None:
        """Let k leave."""
        slot = max(s for s, member in enumerate(self.members) if member == k and self.inside[s])
        if self.count == 1:
            self._restart([], np.zeros((1, 1)))
            return
        p = np.zeros(len(self.x))
        if slot + 1 < len(self._inverse):
            p[: len(self._inverse)] = self._inverse[slot + 1]
        for factor, term in zip(self._scales * self._terms[:, slot + 1], self._terms, strict=True):
            p += factor * term
        p[1:][~np.array(self.inside)] = 0.0
        self.x = self.x - p * (self.x[slot + 1] / p[slot + 1])
        self.inside[slot] = False
        self.x[slot + 1] = 0.0
        self._add(p, -1.0 / p[slot + 1])
        self._left = p, -1.0 / float(self._scales[-1])

    def frees(self, row: np.ndarray) -> bool:
        """Whether k, of this row, which depended on M until some l left, does not any more: κ is then (cᵀp)²/pₗ."""
        p, corner = self._left
        c = np.append(1.0, row[self.members[: len(p) - 1]])
        part = total(c * p)
        return part * part > self._least * corner

    def _add(self, term: np.ndarray, scale: float) -> None:
        """P ← P + scale·term·termᵀ."""
        terms = np.zeros((len(self._terms) + 1, len(term)))
        terms[:-1, : self._terms.shape[1]], terms[-1] = self._terms, term
        self._terms, self._scales = terms, np.append(self._scales, scale)

    def _of_members(self, values: np.ndarray) -> np.ndarray:
        """The value of each slot's variable, 0 for those that have left."""
        return np.where(self.inside, values[self.members], 0.0)

    def _times(self, vector: np.ndarray) -> np.ndarray:
        """P·vector = P₀·vector + Σ (σ·wᵀvector) w, column by column."""
        result, factors = np.zeros(len(vector)), np.zeros(len(self._scales))
        for value, column in zip(vector, self._inverse, strict=False):  # P₀ is symmetric
            result[: len(column)] += value * column
        for value, column in zip(vector, self._terms.T, strict=True):
            factors += value * column
        for factor, term in zip(factors * self._scales, self._terms, strict=True):
            result += factor * term
        return result


def independent(K: np.ndarray, largest: float) -> np.ndarray:
    """Return the variables that are affinely independent of those before them, ascending; `largest` is max |Kᵢᵢ|.

    Symmetric elimination on K + c·11ᵀ, whose pivots are squared distances as κ is.

    Examples
    --------
    >>> import numpy as np
    >>> from refsvm.seeders.bordered import independent
    >>> independent(np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]), 1.0)
    array([0, 2])
    """
    diagonal = K.diagonal().copy()
    least, B = 10.0 * SINGULAR * largest, K + np.abs(diagonal).max(initial=0.0)
    # equal examples are the usual case: the first of them stays
    equal = np.triu(diagonal[:, None] + diagonal - 2.0 * K <= least, 1).any(axis=0)
    single = np.flatnonzero(~equal)
    try:
        if (np.linalg.cholesky(B[np.ix_(single, single)]).diagonal() ** 2 > least).all():
            return single
    except np.linalg.LinAlgError:
        pass
    kept = []
    for k in single.tolist():
        if B[k, k] > least:
            kept.append(k)
            B -= np.multiply.outer(B[:, k] / B[k, k], B[k])
    return np.array(kept, dtype=np.int64)


def inverse_of(K: np.ndarray) -> np.ndarray:
    """Return the inverse of A = [[0, 1ᵀ], [1, K]], symmetric to the last bit.

    With H = (K + c·11ᵀ)⁻¹, u = H1 and s = 1ᵀu it is [[c − 1/s, uᵀ/s], [u/s, H − uuᵀ/s]].
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
