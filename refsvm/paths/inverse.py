"""A⁻¹ itself, kept up to date as points enter and leave the elbow: the cheapest linear algebra of a path.

    A = | 0   1ᵀ   |      with the point i:   | A    u  |⁻¹  =  | A⁻¹ + wwᵀ/s   −w/s |     w = A⁻¹u,   u = (1, K_𝓔i)
        | 1   K_𝓔𝓔 |                          | uᵀ   kᵢᵢ |      | −wᵀ/s           1/s |     s = kᵢᵢ − uᵀw

s is the squared distance of i from the affine hull of the elbow in feature space. An inverse that is updated so loses
digits where A is nearly singular; so its users look at what it leaves of the equations, and make it anew if needed.

These functions have compiled twins in `refsvm.fast.ordinary` that give the same result bit for bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from refsvm.paths.events import PathArrays

__all__ = ["Inverse", "delete", "insert", "product"]


class Inverse(NamedTuple):
    """A⁻¹ with room to grow.

    Attributes
    ----------
    values : ndarray of shape (c, c)
        A⁻¹ is its leading block of m + 1 rows and columns, in the order of the elbow.
    x, w, right : ndarrays of shape (c,)
        Vectors to work with: the direction (d₀, d), A⁻¹u, and the right-hand side of a system.
    """

    values: np.ndarray
    x: np.ndarray
    w: np.ndarray
    right: np.ndarray


def product(inverse: Inverse, size: int, right: np.ndarray, out: np.ndarray) -> None:
    """Write A⁻¹ right for A of this size, added up row by row."""
    total = out[:size]
    total[:] = 0.0
    for j in range(size):
        total += right[j] * inverse.values[j, :size]


def insert(arrays: PathArrays, inverse: Inverse, m: int, i: int, least: float) -> bool:
    """Let i follow the m points of the elbow, if its s is above `least`; return whether it is."""
    size, values = m + 1, inverse.values
    u, w = inverse.right[:size], inverse.w[:size]
    u[0], u[1:] = 1.0, arrays.K[i, arrays.elbow[:m]]
    product(inverse, size, u, w)
    # s = kᵢᵢ − uᵀA⁻¹u
    s = float(arrays.K[i, i] - np.cumsum(u * w)[-1])  # added up in order
    if not s > least:
        return False
    root = 1.0 / np.sqrt(s)
    w *= root
    values[:size, :size] += w[:, None] * w  # A⁻¹ + wwᵀ/s
    values[size, :size] = values[:size, size] = -root * w
    values[size, size] = root * root
    return True


def delete(inverse: Inverse, size: int, position: int) -> bool:
    """Take row and column `position` out of A; return whether 1/s, which the inverse holds for it, is positive."""
    values = inverse.values[:size, :size]
    if not values[position, position] > 0.0:
        return False
    c = values[position] * (1.0 / np.sqrt(values[position, position]))
    values -= c[:, None] * c
    rest = np.delete(np.arange(size), position)
    values[: size - 1, : size - 1] = values[np.ix_(rest, rest)]
    return True
