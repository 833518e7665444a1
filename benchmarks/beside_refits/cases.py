"""The problems: named sets of 2 to 18 classes, targets, and novelty; random small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from refsvm import RBF, Linear, Polynomial
from refsvm.datasets import load, open_data

FOLDS: Final = 7


class Case(NamedTuple):
    """One problem.

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


def scaled(X: Any) -> np.ndarray:
    """Return features of mean 0 and variance 1; those that are constant are 0."""
    X = np.asarray(X, dtype=float) - np.mean(X, axis=0)
    spread = X.std(axis=0)
    return np.asarray(X / np.where(spread > 0.0, spread, 1.0))


def _bundled(name: str, _: Any) -> tuple[Any, Any]:
    data = load(name)
    return data.X, data.y


def _sklearn(name: str, _: Any) -> tuple[Any, Any]:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)  # type: ignore[no-any-return]


def _shared(name: str, directory: str | None) -> tuple[Any, Any]:
    """Return a set of the data directory, with all its classes where the archive names more than two."""
    path = open_data(name, data_dir=directory).source
    with np.load(path) as archive:
        label = next(key for key in ("class_id", "digit") if key in archive.files)
        return archive["X"], archive[label]


def _quarters(X: Any, y: Any) -> tuple[Any, Any]:
    return X, np.searchsorted(np.quantile(y, [0.25, 0.5, 0.75]), y)


def _fewer(X: Any, y: Any, k: int) -> tuple[Any, Any]:
    return X[y < k], y[y < k]


def _column(X: Any, place: int) -> tuple[Any, Any]:
    """Return a feature as the target of the others."""
    return np.delete(X, place, axis=1), np.asarray(X)[:, place]


Source = Callable[[str | None], tuple[Any, Any]]
CLASSES: Final[dict[str, Source]] = {
    "thyroid": lambda _: _bundled("thyroid", _),
    "heart": lambda _: _bundled("heart", _),
    "sonar": lambda _: _bundled("sonar", _),
    "monks2": lambda _: _bundled("monks2", _),
    "iris": lambda _: _sklearn("iris", _),
    "wine": lambda _: _sklearn("wine", _),
    "diabetes, quarters": lambda _: _quarters(*_sklearn("diabetes", _)),
    "digits 0-4": lambda _: _fewer(*_sklearn("digits", _), 5),
    "krkopt, 8 classes": lambda directory: _fewer(*_shared("krkopt", directory), 8),
    "digits": lambda _: _sklearn("digits", _),
    "mnist": lambda directory: _shared("mnist", directory),
    "krkopt": lambda directory: _shared("krkopt", directory),
}
"""Sets of two to eighteen classes."""

TARGETS: Final[dict[str, Source]] = {
    "diabetes": lambda _: _sklearn("diabetes", _),
    "linnerud, waist": lambda _: _column(np.hstack(_sklearn("linnerud", _)), 4),
    "wine, alcohol": lambda _: _column(_sklearn("wine", _)[0], 0),
    "iris, petal width": lambda _: _column(_sklearn("iris", _)[0], 3),
    "heart, age": lambda _: _column(_bundled("heart", _)[0], 0),
    "sonar, first band": lambda _: _column(_bundled("sonar", _)[0], 0),
}
NOVEL: Final = ("thyroid", "iris", "wine")


def named_cases(directory: str | None, most: int, only: list[str] | None = None) -> Iterator[Case]:
    """Yield each set with two kernels, with and without weights; of a set at most so many examples."""
    for table, task in ((CLASSES, {}), (TARGETS, {"epsilon": 0.1}), (CLASSES, {"nu": 0.2})):
        for name in NOVEL if "nu" in task else table:
            if only is None or name in only:
                yield from _of_set(name, most, table[name], task, directory)


def _of_set(
    name: str, most: int, source: Source, task: dict[str, float], directory: str | None
) -> Iterator[Case]:
    """Yield the problems of a set: the same examples of each class, or a random part of them."""
    rng = np.random.default_rng(0)
    X, y = source(directory)
    y = np.asarray(y, dtype=float)
    some = np.sort(rng.permutation(len(y))[:most]) if task else _of_each(y, most, rng)
    X, y = scaled(np.asarray(X, dtype=float)[some]), y[some]
    X += 2.0 * ("nu" in task)  # around the mean, no line of a linear kernel is far from the origin
    y = scaled(y) if "epsilon" in task else np.unique(y, return_inverse=True)[1].astype(float)
    fold, drawn = rng.permutation(np.arange(len(y)) % FOLDS), rng.uniform(0.2, 3.0, len(y))
    # a linear kernel of many examples in few dimensions takes very many steps where C is large
    for (kernel, C), weighted in product(((RBF(1.0 / X.shape[1]), 3.0), (Linear(), 0.1)), (False, True)):
        weights = C * (drawn if weighted else np.ones(len(y)))
        title = f"{name} / {type(kernel).__name__}{', weights' if weighted else ''}"
        labels = None if "nu" in task else y
        yield Case(f"novelty of {title}" if "nu" in task else title, X, labels, kernel, weights, task, fold)


def _of_each(y: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return places of about as many examples of each class, `most` in all or fewer."""
    groups = [rng.permutation(np.flatnonzero(y == each)) for each in np.unique(y)]
    share, left = [], most
    # small classes first, so that what they lack goes to the others
    for place, group in enumerate(sorted(groups, key=len)):
        share.append(group[: left // (len(groups) - place)])
        left -= len(share[-1])
    return np.sort(np.concatenate(share))


def random_case(seed: int) -> Case:
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
