"""Problems whose path is tracked in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from refsvm import RBF, DualProblem, KKTGap, Linear, Solution, regularization_path, solve
from refsvm.datasets import load, make_banana, make_chessboard


def standardised(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    spread = data.X.std(axis=0)
    return (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), data.y


def _small() -> dict[str, tuple[np.ndarray, np.ndarray, Any]]:
    """Name to X, y, kernel: a few dozen examples each, regular and degenerate."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(36, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=36) > 0, 1, -1)
    lone = np.where(np.arange(36) == 4, 1, -1)
    whole = rng.integers(-1, 2, size=(40, 2)).astype(float)
    signs = rng.choice([-1, 1], size=40)
    banana, board = make_banana(50, rng=0), make_chessboard(40, rng=0)
    return {
        "overlapping, rbf": (X, y, RBF(0.5)),
        "overlapping, linear": (X, y, Linear()),
        "separable": (X + 2.0 * y[:, None], y, Linear()),
        "one against many": (X, lone, RBF(0.5)),
        "every row three times": (np.repeat(X[:12], 3, axis=0), np.repeat(y[:12], 3), RBF(0.5)),
        "duplicates with opposite labels": (np.repeat(X[:18], 2, axis=0), np.tile([1, -1], 18), Linear()),
        "whole numbers, linear": (whole, signs, Linear()),
        "whole numbers, rbf": (whole, signs, RBF(1.0)),
        "all alike": (np.ones((12, 2)), np.where(np.arange(12) < 4, 1, -1), RBF(1.0)),
        "all at the origin": (np.zeros((6, 2)), np.array([1, -1, 1, -1, 1, -1]), Linear()),
        "banana": (banana.X, banana.y, RBF(0.25)),
        "chessboard": (board.X, board.y, RBF(0.5)),
        "more features than examples": (rng.normal(size=(15, 40)), y[:15], Linear()),
        "two examples": (np.array([[0.0], [2.0]]), np.array([-1, 1]), Linear()),
    }


SETS = _small()


def tracked(name: str, **options: Any) -> Any:
    """The path of one of these sets from the smallest C to 100, or as the options say."""
    X, y, kernel = SETS[name]
    return regularization_path(X, y, kernel=kernel, **{"C_max": 1e2, **options})


def solved(X: np.ndarray, y: np.ndarray, kernel: Any, C: Any, tol: float = 1e-10) -> Solution:
    """An independent, tight solve."""
    return solve(DualProblem.classification(X, y, kernel=kernel, C=C), stop=KKTGap(tol))
