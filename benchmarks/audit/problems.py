"""Cases of leave-one-out and of folds, drawn from a seed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from refsvm import RBF, Linear, Polynomial

__all__ = ["Case", "any_case"]


class Case(NamedTuple):
    """A problem of leave-one-out and of folds.

    Attributes
    ----------
    name : str
    X, y : ndarrays of shape (n, d) and (n,)
        y holds numbers of classes or targets; None for novelty detection.
    kernel : kernel object
    C : ndarray of shape (n,)
        Penalties, or weights.
    task : dict
        ``epsilon`` of a regression, ``nu`` of novelty detection; otherwise empty.
    fold : ndarray of shape (n,)
    """

    name: str
    X: np.ndarray
    y: np.ndarray | None
    kernel: Any
    C: np.ndarray
    task: dict[str, float]
    fold: np.ndarray

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `refsvm.leave_one_out` and `refsvm.cross_validate`."""
        return {"X": self.X, "y": self.y, "kernel": self.kernel, "C": self.C, **self.task}

    @property
    def classes(self) -> int:
        """Number of classes; 0 without."""
        return 0 if self.task else len(np.unique(self.y))


def any_case(seed: int) -> Case:
    """Return a random small problem: whole numbers, equal examples and weights of zero among them."""
    rng = np.random.default_rng((48, seed))
    n, d = int(rng.integers(6, 21)), int(rng.integers(1, 4))
    kind = rng.choice(["two", "several", "regression", "novelty"], p=[0.25, 0.35, 0.25, 0.15])
    X = rng.integers(-2, 3, (n, d)).astype(float) if rng.random() < 0.4 else rng.normal(size=(n, d))
    if rng.random() < 0.2:  # equal examples
        X[rng.integers(n, size=n // 3)] = X[0]
    kernel = (RBF(float(rng.choice([0.1, 0.5, 2.0]))), Linear(), Polynomial(degree=2, gamma=0.5, coef0=1.0))[
        rng.integers(3)
    ]
    C = np.full(n, float(10.0 ** rng.uniform(-2.0, 1.5)))
    if rng.random() < 0.4:
        C *= rng.uniform(0.2, 3.0, n)
    if rng.random() < 0.1:
        C[rng.integers(n)] = 0.0
    fold = rng.permutation(np.arange(n) % int(rng.integers(2, 6)))
    y: np.ndarray | None
    if kind == "novelty":
        y, task = None, {"nu": float(rng.uniform(0.1, 0.9))}
    elif kind == "regression":
        y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n) if rng.random() < 0.6 else rng.integers(-2, 3, n) * 1.0
        task = {"epsilon": float(rng.choice([0.0, 0.05, 0.3, 1.0]))}
    else:
        k = 2 if kind == "two" else int(rng.integers(3, 6))
        # an example may be alone in its class, but no class is without
        y, task = rng.permutation(np.concatenate([np.arange(k), rng.integers(k, size=n - k)])) * 1.0, {}
    return Case(f"random {seed}, {kind}", X, y, kernel, C, task, fold)
