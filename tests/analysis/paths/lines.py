"""Lines between two problems, small ones of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm import RBF, DualProblem, Linear

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
LINES = ("C", "cost", "weights", "epsilon", "nu", "target", "a fold out", "ten in", "anything")


def line(kind: str, data: str) -> Problems:
    """The problems at both ends, and the parameter there."""
    X, y, targets, kernel = examples(data)
    n, rng = len(X), np.random.default_rng(len(kind))
    gram = DualProblem.classification(X, y, kernel=kernel).gram

    def classified(C: Any) -> DualProblem:
        return DualProblem.classification(y=y, gram=gram, C=C)

    def fitted(values: np.ndarray, epsilon: float) -> DualProblem:
        return DualProblem.regression(y=values, epsilon=epsilon, C=2.0, gram=gram)

    def one_class(nu: float) -> DualProblem:
        return DualProblem.one_class(gram=gram, nu=nu)

    whole, up, unit = classified(2.0), 4.0 * (np.arange(n) == 3), (0.0, 1.0)
    costs, weights = (
        (np.where(y > 0, C, 2.0 - C) for C in (0.0, 2.0)),
        rng.integers(0, 4, n) + (np.arange(n) < 2),
    )
    lines = {
        "C": (classified(0.05), classified(20.0), (0.05, 20.0)),
        "cost": (*map(classified, costs), (0.0, 2.0)),
        "weights": (whole, classified(weights), unit),
        "epsilon": (fitted(targets, 2.0), fitted(targets, 0.0), (2.0, 0.0)),
        "nu": (one_class(0.1), one_class(1.0), (0.1, 1.0)),
        "target": (fitted(targets, 0.3), fitted(targets + up, 0.3), (0.0, 4.0)),
        "a fold out": (whole, whole.without(np.arange(0, n, 3)), unit),
        "ten in": (whole.without(np.arange(2, 12)), whole, unit),
        "anything": (_anything(gram, n, rng), _anything(gram, n, rng), unit),
    }
    return lines[kind]


def _anything(gram: Any, n: int, rng: np.random.Generator) -> DualProblem:
    lower, upper = -rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).astype(float)
    return DualProblem(
        gram, rng.normal(size=n).round(1), float(lower.sum() + upper.sum()) / 3.0, lower, upper
    )
