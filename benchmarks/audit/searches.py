"""Random searches over C, γ and ε on splits of every kind, beside ``GridSearchCV``.

`refsvm.SVCCV` stands against ``GridSearchCV(refsvm.SVC)``, `refsvm.SVRCV` against ``GridSearchCV(refsvm.SVR)``. Scores
have to be equal to 1e-9 and the choice but for ties; what one refuses the other has to refuse.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn import config_context
from sklearn.metrics import fbeta_score, get_scorer, make_scorer, mean_pinball_loss
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

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV
from refsvm.estimators.scoring import takes_weights

__all__ = ["KINDS", "RandomSearch", "any_search", "complaints_about", "scored_search"]

EXACT: Final = 1e-9
"""KKT gap of every cell, so that predictions do not depend on where a solve ends; and how far scores may be apart."""

EXACT_VALUES: Final = 1e-11
"""The same where scores are made of decision values."""

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
        "C", "gamma" where the kernel has one, and "epsilon" of a regression.
    cv : object
        What both searches are given; a callable makes a new one for each.
    weights, groups : ndarray of shape (n,), optional
    scoring : str or callable, optional
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
    scoring: Any = None

    @property
    def is_regression(self) -> bool:
        """Whether ε is searched, too."""
        return "epsilon" in self.grid

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


def worst_margin(model: Any, X: Any, y: np.ndarray) -> float:
    """A score of the user's, of decision values and of a parameter."""
    return float(
        np.abs(model.decision_function(X)).min() + 0.01 * np.mean(model.predict(X) == y) - 1e-3 * model.C
    )


def worst_residual(model: Any, X: Any, y: np.ndarray) -> float:
    """The same of a regression."""
    return -float(np.abs(model.predict(X) - y).max()) - 1e-3 * model.epsilon


SCORES: Final[dict[str, list[Any]]] = {
    "two classes": [
        None, "roc_auc", "average_precision", "balanced_accuracy", "accuracy", worst_margin,
        make_scorer(fbeta_score, beta=2.0, average="macro", zero_division=0.0),
    ],
    "more classes": [None, "balanced_accuracy", "f1_macro", "matthews_corrcoef", "accuracy"],
    "regression": [
        None, "neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error", "r2",
        "neg_median_absolute_error", "explained_variance", "neg_max_error", worst_residual,
        make_scorer(mean_pinball_loss, greater_is_better=False, alpha=0.8),
    ],
}  # fmt: skip
"""How predictions are scored."""


def scored_search(seed: int) -> RandomSearch:
    """Return a search of a seed by some score, a regression in every second of them."""
    search, rng = any_search(seed), np.random.default_rng([seed, 1])
    kind = "two classes" if len(np.unique(search.y)) == 2 else "more classes"
    if rng.random() < 0.5:
        kind = "regression"
        del search.settings["class_weight"]
        n = len(search.y)
        level = (
            search.X[:, 0] if search.settings["kernel"] == "precomputed" else search.X[:, 0] / search.X.std()
        )
        if "gamma" not in search.grid:  # far beyond the targets, thousands of steps
            search.grid["C"] = [min(C, float(1.0 / search.X.var())) for C in search.grid["C"]]
        search.y = np.sin(2.0 * level) + rng.choice([0.1, 0.5]) * rng.normal(size=n)
        search.grid["epsilon"] = rng.choice(
            [0.0, 0.01, 0.1, 0.3, 5.0], int(rng.integers(1, 4)), replace=False
        ).tolist()
    search.settings["tol"] = EXACT_VALUES
    scores = SCORES[kind]
    search.scoring = deepcopy(scores[int(rng.integers(len(scores)))])
    if hasattr(search.scoring, "set_score_request"):
        search.scoring = asked_for_weights(search.scoring)
    # a scorer without weights sees copies here, and rows in GridSearchCV: `weights` looks at that
    if search.scoring is not None and not takes_weights(get_scorer(search.scoring)):
        search.weights = None
    return search


def asked_for_weights(scorer: Any) -> Any:
    """Return a scorer that is to be given the weights, if its metric takes them."""
    with config_context(enable_metadata_routing=True):
        return scorer.set_score_request(sample_weight=takes_weights(scorer))


def any_search(seed: int) -> RandomSearch:
    """Return the search of a seed, of classes and by accuracy."""
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
    """What `SVCCV` or `SVRCV` finds."""
    kind: Any = SVRCV if search.is_regression else SVCCV
    grid = {f"{name}s": values for name, values in search.grid.items()}
    model = kind(
        cv=search.splits, scoring=search.scoring, refit=False, n_jobs=search.n_jobs, **grid, **search.settings
    )
    groups = {} if search.groups is None else {"groups": search.groups}
    model.fit(search.X, search.y, sample_weight=search.weights, **groups)
    return {"best": model.best_params_, **model.cv_results_}


def theirs(search: RandomSearch) -> dict[str, Any]:
    """What `GridSearchCV` finds over `SVC` or `SVR`, with the weights in training and in the scores."""
    model: Any = SVR(**search.settings) if search.is_regression else SVC(**search.settings)
    given = {} if search.groups is None else {"groups": search.groups}
    scoring = search.scoring
    if search.weights is not None:
        model = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        given["sample_weight"] = search.weights
        if isinstance(scoring, str):
            scoring = asked_for_weights(get_scorer(scoring))
    grid = GridSearchCV(
        model, search.grid, cv=search.splits, scoring=scoring, refit=False, error_score="raise"
    )
    grid.fit(search.X, search.y, **given)
    return {"best": grid.best_params_, **grid.cv_results_}


def complaints_about(search: RandomSearch) -> list[str]:
    """Return what differs between both searches: the refusal, a score, or the choice where that is no tie."""
    found: list[Any] = []
    for run in (ours, theirs):
        with warnings.catch_warnings(action="ignore"), config_context(enable_metadata_routing=True):
            try:
                found.append(run(search))
            except (ValueError, ZeroDivisionError) as refusal:
                found.append(str(refusal))
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        both = isinstance(one, str) and isinstance(other, str)
        return [] if both else [f"{search.kind}: ours {one!r:.150}, GridSearchCV {other!r:.150}"]
    scores = [name for name in other if name.endswith("_test_score") and name != "rank_test_score"]
    complaints = [
        f"{search.kind}: {name} is {one[name]} and {other[name]}"
        for name in scores
        if not np.allclose(one[name], other[name], rtol=EXACT, atol=EXACT, equal_nan=True)
    ]
    means = {
        str(params): mean for params, mean in zip(other["params"], other["mean_test_score"], strict=True)
    }
    # a share of examples is exact; a mean of values is as exact as these
    tie = EXACT if search.is_regression or search.scoring is not None else TIED
    if not complaints and abs(means[str(one["best"])] - means[str(other["best"])]) > tie:
        complaints.append(f"{search.kind}: {one['best']} is chosen in place of {other['best']}")
    return complaints
