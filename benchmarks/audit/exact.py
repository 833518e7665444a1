"""Kernel sums in extended precision: the truth that machines of any unit and origin are compared with.

A feature is a float64, and the difference of two of them is exact in long doubles, or nearly so. `Linear` and `RBF` are
therefore evaluated around the first example. A linear kernel there differs from the given one by k(x, c) + k(c, z) −
k(c, c): with 1ᵀα = 0 the first term is a constant, which b takes, and the others vanish.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

__all__ = ["EPS", "Exact"]

EPS = float(np.finfo(np.float64).eps)
MOST_ENTRIES = 2**20
"""Kernel values in long doubles that are held at once."""

FEW = 100
"""Examples on which rounding is looked at."""

LARGE = 2000
"""Examples from which on differences of features are rounded to float64, and the rest is float64, around the origin."""


@dataclass(frozen=True, eq=False)
class Exact:
    """A kernel on training examples.

    Parameters
    ----------
    name : {"linear", "rbf", "poly", "sigmoid", "precomputed"}
    X : ndarray of shape (n, d), float64
        Training examples; of "precomputed" the kernel matrix.
    gamma, coef0, degree : float, float, int
    moves : bool
        Whether the machine does not depend on the origin, so that it may be moved.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.audit.exact import Exact
    >>> X = np.array([[1e9], [1e9 + 1.0]])
    >>> Exact("linear", X, moves=True).sums(X, np.array([-1.0, 1.0])).astype(float)
    array([0., 1.])
    """

    name: str
    X: np.ndarray
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    moves: bool = False

    @property
    def origin(self) -> np.ndarray:
        """What is subtracted from all examples."""
        moved = self.moves and self.name in ("linear", "rbf")
        return self.X[0] if moved else np.zeros(self.X.shape[1])

    def moved(self, A: np.ndarray) -> np.ndarray:
        """Return examples around the origin, in long doubles; large data as float64."""
        exact = A.astype(np.longdouble) - self.origin
        return exact.astype(np.float64) if self.moves and len(self.X) >= LARGE else exact

    @cached_property
    def examples(self) -> np.ndarray:
        """The training examples around the origin."""
        return self.moved(self.X)

    def values(self, A: np.ndarray, columns: Any = slice(None)) -> np.ndarray:
        """Return k(a, x) for rows a of A, moved already, and some training examples x."""
        if self.name == "precomputed":
            return A[:, columns].astype(np.longdouble)
        Z = self.examples[columns]
        if self.name == "rbf":
            squares = sum(np.square(a[:, None] - z) for a, z in zip(A.T, Z.T, strict=True))
            return np.exp(-np.asarray(squares) * self.gamma)
        inner = A @ Z.T
        if self.name == "linear":
            return inner
        inner = inner * np.longdouble(self.gamma) + self.coef0
        return inner**self.degree if self.name == "poly" else np.tanh(inner)

    def matrix(self) -> np.ndarray:
        """Return K, shape (n, n)."""
        return self.values(self.X if self.name == "precomputed" else self.examples)

    def sums(self, A: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return Σ βᵢ k(a, xᵢ) for rows a of A, shape (m,), in long doubles."""
        some = np.flatnonzero(beta)
        weights = beta[some].astype(np.longdouble)
        if self.name == "linear":
            return np.asarray(
                self.moved(A).astype(np.longdouble) @ (weights @ self.examples[some].astype(np.longdouble))
            )
        A = A if self.name == "precomputed" else self.moved(A)
        height = max(1, MOST_ENTRIES // max(1, len(some)))
        parts = [self.values(A[i : i + height], some) @ weights for i in range(0, len(A), height)]
        return np.concatenate([np.zeros(0, np.longdouble), *parts])

    def rounded(self) -> float:
        """Return by how much float64 rounds kernel values on the features as they are given, of some examples."""
        A = self.X[:FEW]
        exact = Exact(self.name, A, self.gamma, self.coef0, self.degree, self.name == "rbf").matrix()
        inner, norms = A @ A.T, np.square(A).sum(axis=1)
        if self.name == "rbf":
            inner = np.exp(np.minimum(0.0, self.gamma * (2.0 * inner - norms[:, None] - norms)))
        elif self.name != "linear":
            inner = self.gamma * inner + self.coef0
            inner = inner**self.degree if self.name == "poly" else np.tanh(inner)
        return float(np.abs(inner - exact).max())

    def largest(self, as_given: bool = False) -> float:
        """Return the largest |k(x, x)|, of `RBF` and `Sigmoid` at least what they round in their argument."""
        if self.name == "precomputed":
            return float(np.abs(self.X).max())
        A = self.X if as_given else self.examples
        norms = float(np.square(A.astype(np.float64)).sum(axis=1).max())
        if self.name == "linear":
            return norms
        size = self.gamma * norms + (0.0 if self.name == "rbf" else abs(self.coef0))
        return size**self.degree if self.name == "poly" else max(1.0, size)
