"""Every rule and every problem: what the contracts, the twins and the known answers are checked on.

The rules are those that the package registers, and those of `refsvm.testing.shipped` with other parameters. To add a
problem, add an entry to `PROBLEMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from refsvm import RBF, DualProblem, Linear, Polynomial, Precomputed
from refsvm.core.kernels import Gram
from refsvm.datasets import make_banana, make_chessboard, make_ringnorm, make_waveform
from refsvm.testing import practice_problems
from refsvm.testing.shipped import SEEDERS, SELECTORS, STEPS, STOPS

RULES = [*SELECTORS, *STEPS, *STOPS, *SEEDERS]


def combinations() -> Iterator[tuple[Any, Any]]:
    """Every selector with every step that it can be combined with."""
    for selector in SELECTORS:
        for step in STEPS:
            if selector.takes_candidates or not step.history:
                yield selector, step


@dataclass(frozen=True, eq=False)
class Known:
    """A problem and what is known about it.

    ``alpha`` is the answer where it is unique and ``objective`` its value. ``psd`` says that every local
    optimum is global; ``hard`` that thousands of steps are needed, so that it is left out where every step is
    slow or every digit counts; ``large`` that its kernel matrix is of some size.
    """

    make: Callable[[], DualProblem]
    alpha: tuple[float, ...] | None = None
    objective: float | None = None
    intercept: float | None = None
    psd: bool = True
    hard: bool = False
    large: bool = False

    @property
    def problem(self) -> DualProblem:
        return built(self.make)


@cache
def built(make: Callable[[], DualProblem]) -> DualProblem:
    return make()


def matrix(problem: DualProblem) -> np.ndarray:
    return problem.gram.block(np.arange(problem.n))


def classification(X: Any, y: Any, C: Any = 1.0, kernel: Any = "linear") -> Callable[[], DualProblem]:
    return partial(DualProblem.classification, X, y, kernel=kernel, C=C)


def sample(generator: Callable[..., Any], n: int, C: float, gamma: float) -> Callable[[], DualProblem]:
    data = generator(n, rng=0)
    return classification(data.X, data.y, C, RBF(gamma))


def random_box(n: int, seed: int) -> DualProblem:
    """Random v, z, box and Gram matrix of rank n/2."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n, n // 2))
    lower = rng.uniform(-2, 0, size=n)
    upper = lower + rng.uniform(0, 2, size=n)
    z = float(0.5 * (lower.sum() + upper.sum()))
    return DualProblem(Gram(Precomputed(), factor @ factor.T), rng.normal(size=n), z, lower, upper)


# Hard margin in the plane: w = (1, 0), b = −1; the last two points are no support vectors.
FIVE = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, -1.0], [3.0, 1.0], [-1.0, 0.0]])
FIVE_LABELS = np.array([1, -1, -1, 1, -1])
# Equal by symmetry: G = 0 gives a(1 − 2exp(−4γ) + exp(−8γ)) = 1.
XOR = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
XOR_LABELS = np.array([1, -1, -1, 1])
XOR_ALPHA = 1.0 / (1.0 - np.exp(-4 * 0.3)) ** 2

_rng = np.random.default_rng(42)
_X = _rng.normal(size=(40, 4))
_y = np.where(_X[:, 0] * _X[:, 1] + 0.3 * _rng.normal(size=40) > 0, 1, -1)

PROBLEMS: dict[str, Known] = {
    "five points": Known(
        classification(FIVE, FIVE_LABELS, C=10.0),
        alpha=(0.5, -0.25, -0.25, 0.0, 0.0),
        objective=0.5,
        intercept=-1.0,
    ),
    "two points, free": Known(
        classification([[0.0], [2.0]], [-1, 1]), alpha=(-0.5, 0.5), objective=0.5, intercept=-1.0
    ),
    "two points, bounded": Known(
        classification([[0.0], [2.0]], [-1, 1], C=0.3), alpha=(-0.3, 0.3), objective=0.42
    ),
    "two identical points": Known(
        classification(np.ones((2, 3)), [-1, 1], C=2.0), alpha=(-2.0, 2.0), objective=4.0, intercept=0.0
    ),
    "xor": Known(
        classification(XOR, XOR_LABELS, C=100.0, kernel=RBF(0.3)),
        alpha=tuple(XOR_ALPHA * XOR_LABELS),
        objective=2 * XOR_ALPHA,
        intercept=0.0,
    ),
    "constant features": Known(
        classification(np.ones((12, 2)), np.where(np.arange(12) < 4, 1, -1)), objective=8.0, intercept=-1.0
    ),
    "no penalty at all": Known(
        classification(_X, _y, C=np.zeros(40), kernel=RBF(0.5)), alpha=(0.0,) * 40, objective=0.0
    ),
    "callable": Known(
        classification(_X, _y, kernel=lambda A, B: np.minimum(A[:, None], B).sum(axis=2) + 9.0)
    ),
    "polynomial": Known(classification(_X, _y, C=0.1, kernel=Polynomial(degree=3, coef0=1.0))),
    "linear, more features than examples": Known(classification(_rng.normal(size=(15, 40)), _y[:15])),
    "random box, rank n/2": Known(partial(random_box, 30, 1)),
    "identity": Known(classification(np.eye(20), np.where(np.arange(20) % 3, 1, -1), kernel=Precomputed())),
    "banana": Known(sample(make_banana, 60, C=10.0, gamma=0.25)),
    "ringnorm": Known(sample(make_ringnorm, 60, C=2.0, gamma=0.1)),
    "chessboard": Known(sample(make_chessboard, 60, C=1e3, gamma=0.5), hard=True),
    "banana, 700": Known(sample(make_banana, 700, C=1.0, gamma=0.25), large=True),
    "waveform, 500": Known(sample(make_waveform, 500, C=10.0, gamma=0.05), large=True),
    "regression": Known(partial(DualProblem.regression, _X, _X[:, 0] * _X[:, 1], kernel=RBF(0.5), C=3.0)),
    "regression, no tube": Known(
        partial(DualProblem.regression, _X[:20], _X[:20, 0] ** 2, kernel=RBF(0.5), C=3.0, epsilon=0.0)
    ),
    "regression, constant targets": Known(
        partial(DualProblem.regression, _X[:20], np.full(20, 3.5), kernel=RBF(0.5)), objective=0.0
    ),
    "one class": Known(partial(DualProblem.one_class, _X, kernel=RBF(0.5), nu=0.3)),
    "one class, weights": Known(
        partial(DualProblem.one_class, _X, kernel=RBF(0.5), nu=0.15, weights=np.arange(40) % 3 * 1.0)
    ),
    "one class, all of it": Known(
        partial(DualProblem.one_class, _X[:9], kernel=RBF(0.5), nu=1.0), alpha=(1.0,) * 9
    ),
    "huge features": Known(classification(_X * 1e8, _y, kernel=Linear()), hard=True),
    "huge features, RBF": Known(classification(_X * 1e8, _y, kernel=RBF(1e-16))),
    "tiny features": Known(classification(_X * 1e-8, _y, kernel=Linear())),
    "C = 1e12": Known(classification(_X, _y, C=1e12, kernel=RBF(0.5))),
    **{
        name: Known(partial(practice_problems().__getitem__, name), psd="indefinite" not in name)
        for name in practice_problems()
        if name != "constant features"
    },
}
