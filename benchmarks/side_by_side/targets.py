"""Problems of regression and novelty detection: data with targets, all features and targets of variance 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from refsvm.datasets import Dataset, SuiteProblem, load, make_banana, make_waveform

__all__ = ["novelty_problems", "regression_problems"]

Table = Callable[[], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Recipe:
    """Where X and the targets come from, and C; γ is 1/d."""

    name: str
    table: Table
    C: float = 1.0

    def load(self) -> Dataset:
        """Return the data, features without variation left out, the rest scaled."""
        X, y = self.table()
        X = X[:, X.std(axis=0) > 0.0]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return Dataset(self.name, X, (y - y.mean()) / y.std(), C=self.C, gamma=1.0 / X.shape[1])


def friedman(number: int, n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return one of Friedman's three functions with noise."""
    from sklearn import datasets

    made = getattr(datasets, f"make_friedman{number}")(n_samples=n, random_state=0)
    noise = np.random.default_rng(0).normal(size=n)
    return made[0], made[1] + 0.2 * made[1].std() * noise


def sinc(n: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Return sin(x)/x with noise, the example of the papers on regression."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-10.0, 10.0, size=n)
    return x[:, None], np.sinc(x / np.pi) + 0.1 * rng.normal(size=n)


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """Return scikit-learn's diabetes data: progression of the disease from ten measurements."""
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True)
    return X, y


def one_of(make: Callable[[], Dataset], column: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a feature of a set as target, and the others."""
    X = make().X
    X = X.toarray() if hasattr(X, "toarray") else X
    return np.delete(X, column, axis=1), X[:, column]


def regression_problems() -> list[Recipe]:
    """List the problems of regression: six functions and sets, one feature of four others; nothing is read yet."""
    waveform, banana = partial(make_waveform, 5000, rng=0), partial(make_banana, 5300, rng=0)
    return [
        Recipe("diabetes", diabetes),
        Recipe("sinc", sinc),
        *(Recipe(f"friedman{number}", partial(friedman, number), C=10.0) for number in (1, 2, 3)),
        Recipe("friedman1-5000", partial(friedman, 1, 5000)),
        Recipe("waveform, x11", partial(one_of, waveform, 10)),
        Recipe("banana, x2", partial(one_of, banana, 1)),
        Recipe("breast cancer, radius", partial(one_of, partial(load, "breast_cancer"), 0), C=10.0),
        Recipe("ionosphere, x3", partial(one_of, partial(load, "ionosphere"), 2), C=10.0),
    ]


def features(problem: SuiteProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return the examples of a set of the suite; the labels are not used."""
    data = problem.load()
    return (data.X.toarray() if hasattr(data.X, "toarray") else data.X), data.y


def novelty_problems(sets: list[SuiteProblem]) -> list[Recipe]:
    """List the problems of novelty detection: the examples of the suite, without their labels."""
    return [Recipe(problem.name, partial(features, problem)) for problem in sets]
