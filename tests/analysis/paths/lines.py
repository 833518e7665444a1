"""Lines between two problems, small ones of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm import RBF, DualProblem, Linear

from ...programs import module

Problems = tuple[DualProblem, DualProblem, tuple[float, float]]


def examples(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """X, labels, targets, kernel."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(14, 2))
    kernel: Any = Linear() if "linear" in name else RBF(0.5)
    if "whole numbers" in name:
        X = rng.integers(-1, 2, (18, 2)).astype(float)
    if "three times" in name:
        X = np.repeat(X[:6], 3, axis=0)
    y = np.where(rng.random(len(X)) < 0.5, 1, -1)
    y[:2] = 1, -1
    return (
        X,
        y,
        np.round(2.0 * np.sin(X[:, 0]) + rng.normal(size=len(X)), 1 if "whole" in name else 9),
        kernel,
    )


DATA = (
    "rbf",
    "linear",
    "every row three times, rbf",
    "every row three times, linear",
    "whole numbers, linear",
)
LINES = ("C", "cost", "weights", "epsilon", "nu", "one target", "a fold out", "ten in", "anything")


def line(kind: str, data: str) -> Problems:
    """The problems at both ends, and the parameter there."""
    X, y, _, kernel = examples(data)
    if kind != "anything":
        return module("audit.lines").lines(X, y, kernel, C=2.0)[kind]
    rng, gram = np.random.default_rng(len(kind)), DualProblem.classification(X, y, kernel=kernel).gram
    return _anything(gram, len(X), rng), _anything(gram, len(X), rng), (0.0, 1.0)


def _anything(gram: Any, n: int, rng: np.random.Generator) -> DualProblem:
    lower, upper = -rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).astype(float)
    return DualProblem(
        gram, rng.normal(size=n).round(1), float(lower.sum() + upper.sum()) / 3.0, lower, upper
    )
