"""Machines in sixty digits: the optimum of a small classification, exact but for the last of them.

An active-set method: from a feasible α, step to the optimum of the free variables, as far as the box allows. A variable
that stops the step is fixed at its bound. If none does, the pair that violates its conditions most becomes free. Where
the matrix of the free variables is singular, α moves along its null space until one of them is at a bound.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["Machine", "kernel_values", "trained"]

DIGITS: Final = Context(prec=60, Emin=-100_000, Emax=100_000)
TINY: Final = Decimal("1e-40")
"""What counts as 0, relative to the numbers around it."""

MOST_STEPS: Final = 400


def kernel_values(
    name: str, X: np.ndarray, Z: np.ndarray, gamma: float, coef0: float, degree: int
) -> np.ndarray:
    """Return k(x, z), shape (m, n), of Decimals, for float64 examples: of "linear", "rbf" and "poly"."""
    with localcontext(DIGITS):
        A, B = (np.array([[Decimal(float(x)) for x in row] for row in each]) for each in (X, Z))
        if name == "rbf":
            squares = [[sum((a - b) ** 2) for b in B] for a in A]
            return np.array([[(-Decimal(gamma) * s).exp() for s in row] for row in squares])
        inner = A @ B.T
        return inner if name == "linear" else (Decimal(gamma) * inner + Decimal(coef0)) ** degree


class Machine(NamedTuple):
    """The optimum of a problem.

    Attributes
    ----------
    alpha, gradient : ndarrays of shape (n,) of Decimal
    low, high : Decimal
        The interval of b; infinite where there is none.
    gap : Decimal
        The duality gap, as a sum of terms that are never negative.
    """

    alpha: np.ndarray
    gradient: np.ndarray
    low: Decimal
    high: Decimal
    gap: Decimal


def trained(
    K: np.ndarray, v: np.ndarray, lower: np.ndarray, upper: np.ndarray, start: np.ndarray
) -> Machine | None:
    """Return the optimum with Σα = 0, or None if so many steps do not lead there.

    Parameters
    ----------
    K : ndarray of shape (n, n) of Decimal
    v, lower, upper, start : ndarrays of shape (n,), float64
        The start is feasible, but for rounding of its sum, and best near the optimum.
    """
    with localcontext(DIGITS):
        v, lower, upper, alpha = (
            np.array([Decimal(float(a)) for a in each]) for each in (v, lower, upper, start)
        )
        alpha = np.minimum(np.maximum(alpha, lower), upper)
        room = (upper - alpha) if alpha.sum() < 0 else (alpha - lower)
        if room.sum() > 0:
            alpha = alpha - alpha.sum() * room / room.sum()
        free, G = (lower < alpha) & (alpha < upper), v - K @ alpha
        scale = max(1, *np.abs(G), *(np.abs(alpha) * K.diagonal()))
        for _ in range(MOST_STEPS):
            F = np.flatnonzero(free)
            step, at_optimum = direction(K[np.ix_(F, F)], G[F])
            share, stops = Decimal(1) if at_optimum else Decimal("Infinity"), -1
            for i, d in zip(F, step, strict=True):
                most = (upper[i] - alpha[i]) / d if d > 0 else (lower[i] - alpha[i]) / d if d < 0 else share
                if most < share:
                    share, stops = most, i
            if len(F) and share.is_finite():
                alpha[F] += share * step
                G = v - K @ alpha
            if stops >= 0:
                alpha[stops] = (
                    upper[stops]
                    if abs(upper[stops] - alpha[stops]) < abs(alpha[stops] - lower[stops])
                    else lower[stops]
                )
                free[stops] = False
                continue
            rises, falls = np.flatnonzero(alpha < upper), np.flatnonzero(alpha > lower)
            if not len(rises) or not len(falls):
                break
            i, j = rises[np.argmax(G[rises])], falls[np.argmin(G[falls])]
            if G[i] - G[j] <= TINY * scale:
                break
            free[i] = free[j] = True
        else:
            return None
        ends = [G[alpha < upper], G[alpha > lower]]
        low = max(ends[0]) if len(ends[0]) else Decimal("-Infinity")
        high = min(ends[1]) if len(ends[1]) else Decimal("Infinity")
        low, high = min(low, high), max(low, high)
        ends = [each for each in (low, high) if each.is_finite()] or [Decimal(0)]
        excess, nothing = G - sum(ends) / len(ends), Decimal(0)
        above, below = np.maximum(excess, nothing), np.maximum(-excess, nothing)
        return Machine(alpha, G, low, high, (upper - alpha) @ above + (alpha - lower) @ below)


def direction(K: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return δ with Kδ + b1 = G, 1ᵀδ = 0, and True; if that is singular u with Ku = 0, 1ᵀu = 0, uᵀG ≥ 0, and False."""
    m = len(G)
    if not m:
        return G, True
    A = np.full((m + 1, m + 2), Decimal(1))
    A[:m, :m], A[m, m], A[:m, -1], A[m, -1] = K, Decimal(0), G, Decimal(0)
    sizes, order = np.abs(A[:, :-1]).max(), list(range(m + 1))
    for k in range(m + 1):
        rest = np.abs(A[k:, k : m + 1])
        row, column = np.unravel_index(np.argmax(rest), rest.shape)
        if rest[row, column] <= TINY * sizes:
            return null_vector(A, order, k, G), False
        A[[k, k + row]] = A[[k + row, k]]
        A[:, [k, k + column]] = A[:, [k + column, k]]
        order[k], order[k + column] = order[k + column], order[k]
        A[k] = A[k] / A[k, k]
        others = np.arange(m + 1) != k
        A[others] = A[others] - A[others, k][:, None] * A[k]
    solution = np.empty(m + 1, dtype=object)
    solution[order] = A[:, -1]
    return solution[:m], True


def null_vector(A: np.ndarray, order: list[int], rank: int, G: np.ndarray) -> np.ndarray:
    """Return the first vector of the null space of a reduced matrix, in the direction in which f does not fall."""
    u: Any = np.full(len(order), Decimal(0))
    u[order[rank]] = Decimal(1)
    u[np.array(order[:rank], dtype=int)] = -A[:rank, rank]
    u = u[: len(G)]
    return u if u @ G >= 0 else -u
