"""Random searches over C and γ, on splits of every kind: `refsvm.SVCCV` beside ``GridSearchCV(refsvm.SVC)``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn import config_context
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from refsvm import RBF, SVC, SVCCV

__all__ = ["KINDS", "RandomSearch", "any_search", "complaints_about"]

EXACT: Final = 1e-9
"""KKT gap of every cell, so that predictions do not depend on where a solve ends; and how far scores may be apart."""

TIED: Final = 1e-12
"""Mean scores that differ by less are equal."""

Pairs = list[tuple[np.ndarray, np.ndarray]]


@dataclass
class RandomSearch:
    """One search: the data, the grid, and how it is split.

    Attributes
    ----------
    kind : str
        Of the splits, a key of `KINDS`.
    X, y : ndarrays of shapes (n, d) and (n,)
    settings : dict
        Parameters of `SVC` that the grid does not vary.
    grid : dict
        "C", and "gamma" where the kernel has one.
    cv : object
        What both searches are given; a callable makes a new one for each.
    weights, groups : ndarray of shape (n,), optional
    """

    kind: str
    X: np.ndarray
    y: np.ndarray
    settings: dict[str, Any]
    grid: dict[str, list[float]]
    cv: Any
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    n_jobs: int | None = None

    @property
    def splits(self) -> Any:
        """The splits, made anew where they can be used once."""
        return self.cv() if self.kind == "generator" else self.cv


def bootstrapped(rng: np.random.Generator, n: int) -> Pairs:
    """Training parts drawn with replacement; the others are tested."""
    parts = [rng.integers(0, n, n) for _ in range(3)]
    return [(part, np.setdiff1d(np.arange(n), part)) for part in parts]


def oversampled(rng: np.random.Generator, n: int) -> Pairs:
    """Folds of which some training rows are named several times."""
    folds = KFold(3, shuffle=True, random_state=0).split(np.zeros((n, 1)))
    return [(np.repeat(train, rng.integers(1, 4, len(train))), test) for train, test in folds]


def overlapping(rng: np.random.Generator, n: int) -> Pairs:
    """Some rows are trained on and tested."""
    return [(rng.permutation(n)[: (2 * n) // 3], rng.permutation(n)[: n // 2]) for _ in range(3)]


def missing(rng: np.random.Generator, n: int) -> Pairs:
    """Most rows are in neither part."""
    orders = [rng.permutation(n) for _ in range(4)]
    return [(order[: n // 2], order[-3:]) for order in orders]


def tested_twice(rng: np.random.Generator, n: int) -> Pairs:
    """Test rows that are named several times."""
    folds = StratifiedKFold(3).split(np.zeros((n, 1)), np.arange(n) % 2)
    return [(train, rng.choice(test, 2 * len(test))) for train, test in folds]


def masks(rng: np.random.Generator, n: int) -> Pairs:
    """Truth values in place of positions."""
    folds = [rng.random(n) < 0.7 for _ in range(3)]
    return [(each, ~each) for each in folds]


def backwards(rng: np.random.Generator, n: int) -> Pairs:
    """Positions from the end, and unsorted."""
    return [(train[::-1] - n, test[::-1]) for train, test in KFold(3).split(np.zeros((n, 1)))]


def lopsided(rng: np.random.Generator, n: int) -> Pairs:
    """Small training parts, which may lack a class, and test parts that may be empty."""
    orders = [rng.permutation(n) for _ in range(3)]
    return [(order[:6], order[6 : 6 + int(rng.integers(0, 9))]) for order in orders]


def generator(rng: np.random.Generator, n: int) -> Callable[[], Any]:
    """Splits that can be gone through once."""
    pairs = oversampled(rng, n)
    return lambda: (pair for pair in pairs)


KINDS: Final[dict[str, Callable[[np.random.Generator, int], Any]]] = {
    "number": lambda rng, n: int(rng.integers(2, 5)),
    "k-fold": lambda rng, n: KFold(4, shuffle=True, random_state=int(rng.integers(100))),
    "shuffled": lambda rng, n: ShuffleSplit(3, test_size=0.3, random_state=int(rng.integers(100))),
    "repeated": lambda rng, n: RepeatedStratifiedKFold(
        n_splits=3, n_repeats=2, random_state=int(rng.integers(100))
    ),
    "in time": lambda rng, n: TimeSeriesSplit(3),
    "groups": lambda rng, n: GroupKFold(3),
    "one group out": lambda rng, n: LeaveOneGroupOut(),
    "groups shuffled": lambda rng, n: GroupShuffleSplit(3, random_state=int(rng.integers(100))),
    "stratified groups": lambda rng, n: StratifiedGroupKFold(3),
    "bootstrap": bootstrapped,
    "oversampled": oversampled,
    "overlapping": overlapping,
    "missing": missing,
    "tested twice": tested_twice,
    "masks": masks,
    "backwards": backwards,
    "lopsided": lopsided,
    "generator": generator,
}
"""How examples are split."""


def any_search(seed: int) -> RandomSearch:
    """Return the search of a seed."""
    rng = np.random.default_rng(seed)
    kind, n, k = list(KINDS)[seed % len(KINDS)], int(rng.integers(24, 60)), int(rng.choice([2, 2, 3, 4]))
    X = rng.normal(size=(n, int(rng.integers(1, 5)))) * rng.choice([0.3, 1.0, 10.0])
    level = X[:, 0] / X[:, 0].std() + 0.7 * rng.normal(size=n)
    y: Any = np.searchsorted(np.quantile(level, np.arange(1, k) / k), level)
    names = rng.choice(["numbers", "signs", "words"])
    y = np.array(["a", "b", "c", "d"])[y] if names == "words" else 2 * y - 1 if names == "signs" else y
    kernel: Any = rng.choice(["rbf", "rbf", "linear", "poly", "precomputed", "own"])
    grid = {"C": rng.permutation(10.0 ** rng.uniform(-2.0, 2.0, int(rng.integers(1, 5)))).tolist()}
    if kernel in ("rbf", "poly"):
        grid["gamma"] = (10.0 ** rng.uniform(-1.0, 0.3, int(rng.integers(1, 3))) / X.var()).tolist()
    if kernel == "precomputed":
        X = RBF(0.3 / X.var())(X, X)
        X = 0.5 * (X + X.T)
    groups = rng.integers(0, 5, n) if "group" in kind else None
    weights = None
    if rng.random() < 0.4:
        weights = rng.choice([0.0, 1.0, 2.0, 3.0], n) if rng.random() < 0.5 else rng.uniform(0.1, 3.0, n)
    balance: Any = [None, None, "balanced", {y[0]: 3.0}][int(rng.integers(4))]
    settings = {
        "kernel": product if kernel == "own" else str(kernel), "degree": 2, "coef0": 1.0, "class_weight": balance,
        "tol": EXACT, "engine": str(rng.choice(["numpy", "numba"])),
    }  # fmt: skip
    jobs = [None, None, 2][int(rng.integers(3))]
    return RandomSearch(kind, X, y, settings, grid, KINDS[kind](rng, n), weights, groups, jobs)


def product(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """x·z, as a kernel of the user's."""
    return np.asarray(X @ Z.T)


def ours(search: RandomSearch) -> dict[str, Any]:
    """What `SVCCV` finds."""
    gammas = {"gammas": search.grid["gamma"]} if "gamma" in search.grid else {}
    model = SVCCV(
        Cs=search.grid["C"], cv=search.splits, refit=False, n_jobs=search.n_jobs, **gammas, **search.settings
    )
    groups = {} if search.groups is None else {"groups": search.groups}
    model.fit(search.X, search.y, sample_weight=search.weights, **groups)
    return {"best": model.best_params_, **model.cv_results_}


def theirs(search: RandomSearch) -> dict[str, Any]:
    """What `GridSearchCV` finds over `SVC`, with the weights in training and in the scores."""
    model = SVC(**search.settings)
    given = {} if search.groups is None else {"groups": search.groups}
    if search.weights is not None:
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        given["sample_weight"] = search.weights
    grid = GridSearchCV(model, search.grid, cv=search.splits, refit=False, error_score="raise")
    grid.fit(search.X, search.y, **given)
    return {"best": grid.best_params_, **grid.cv_results_}


def complaints_about(search: RandomSearch) -> list[str]:
    """Return what differs between both searches: the refusal, a score, or the choice where that is no tie."""
    found: list[Any] = []
    for run in (ours, theirs):
        with warnings.catch_warnings(), config_context(enable_metadata_routing=True):
            warnings.simplefilter("ignore")
            try:
                found.append(run(search))
            except (ValueError, ZeroDivisionError) as refusal:
                found.append(str(refusal))
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        both = isinstance(one, str) and isinstance(other, str)
        return [] if both else [f"{search.kind}: SVCCV {one!r:.150}, GridSearchCV {other!r:.150}"]
    scores = [name for name in other if name.endswith("_test_score") and name != "rank_test_score"]
    complaints = [
        f"{search.kind}: {name} is {one[name]} and {other[name]}"
        for name in scores
        if not np.allclose(one[name], other[name], rtol=0.0, atol=EXACT)
    ]
    means = {
        str(params): mean for params, mean in zip(other["params"], other["mean_test_score"], strict=True)
    }
    if not complaints and abs(means[str(one["best"])] - means[str(other["best"])]) > TIED:
        complaints.append(f"{search.kind}: {one['best']} is chosen in place of {other['best']}")
    return complaints
