"""Searches of regressions and by other scores are those of GridSearchCV."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut
from sklearn.svm import SVR as PEER

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV
from refsvm.display import GridDisplay
from refsvm.estimators import search as search_module
from refsvm.estimators.results_table import ranks

from ..programs import module
from ..settings import FAST

searches = module("audit.searches")
complaints_about, scored_search = searches.complaints_about, searches.scored_search

RNG = np.random.default_rng(5)
N = 40
X = RNG.normal(size=(N, 3))
T = np.sin(X[:, 0]) + 0.2 * RNG.normal(size=N)
Y = (T > 0.1) * 1
W = 0.5 + np.arange(N) % 3
USUAL: dict[str, Any] = {"tol": 1e-10, "refit": False}
TWO = USUAL | {"Cs": [0.1, 10.0, 1.0], "gammas": [0.1, 1.0], "engine": "numpy"}
GRID: dict[str, Any] = TWO | {"epsilons": [0.05, 0.3]}


def means(model: Any) -> np.ndarray:
    return np.asarray(model.cv_results_["mean_test_score"])


def peer(model: Any, cv: Any = 5, **options: Any) -> GridSearchCV:
    grid = {"C": GRID["Cs"], "gamma": GRID["gammas"]}
    if isinstance(model, SVR | PEER):
        grid["epsilon"] = GRID["epsilons"]
    return GridSearchCV(model, grid, cv=cv, refit=False, error_score="raise", **options)


def drawn(seed: int) -> Any:
    """Return a random search in the fast engine: gaps of 1e-11 take thousands of steps."""
    search = scored_search(seed)
    search.settings["engine"] = FAST
    return search


@pytest.mark.seeds(*range(42 if FAST == "numba" else 6))
@pytest.mark.slow
def test_random_searches_are_those_of_grid_search(seed: int) -> None:
    assert complaints_about(drawn(seed)) == []


def test_scores_in_small_units_are_no_ties() -> None:
    for unit in (1.0, 2.0**-60):
        assert ranks(unit * np.array([-3.0, -1.0, -2.0])).tolist() == [3, 1, 2]


@pytest.mark.slow
def test_one_kernel_matrix_serves_all_epsilons(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    column_gram = search_module.column_gram

    def watching(*given: Any) -> Any:
        asked.append(given[2])
        return column_gram(*given)

    monkeypatch.setattr(search_module, "column_gram", watching)
    SVRCV(**GRID).fit(X, T)
    assert asked == [RBF(0.1), RBF(1.0)]


@pytest.mark.slow
def test_memory_that_does_not_hold_the_matrix() -> None:
    usual, scarce = (SVRCV(**GRID, cache_size=size).fit(X, T) for size in (200, 0.01))
    np.testing.assert_allclose(means(usual), means(scarce), atol=1e-8)


SMALL = USUAL | {"Cs": [0.3, 3.0], "gammas": [0.5], "engine": FAST, "cv": "loo"}


def test_leave_one_out_by_values_knows_them() -> None:
    """The ball proves signs alone."""
    A, grid = X[:14], {"C": SMALL["Cs"]}
    refits = {"cv": LeaveOneOut(), "refit": False}
    squares = "neg_mean_squared_error"
    ours = SVRCV(**SMALL, epsilons=[0.1], scoring=squares).fit(A, T[:14])
    theirs = GridSearchCV(SVR(tol=1e-11, gamma=0.5), grid, scoring=squares, **refits).fit(A, T[:14])
    np.testing.assert_allclose(means(ours), means(theirs), atol=1e-8)
    labels = (T[:14] > 0.0) * 1
    margin = partial(lambda model, A, b: float((2 * b[0] - 1) * model.decision_function(A)[0]))
    ours_too = SVCCV(**SMALL, scoring=margin).fit(A, labels)
    theirs = GridSearchCV(SVC(tol=1e-11, gamma=0.5), grid, scoring=margin, **refits).fit(A, labels)
    np.testing.assert_allclose(means(ours_too), means(theirs), atol=1e-8)


@pytest.mark.slow
def test_of_equal_examples_with_other_labels_none_ranks_first() -> None:
    """h = v − G + b of the two rounds apart."""
    A, b = np.repeat(X[:20], 2, axis=0), np.tile([0, 1], 20)
    b[:20] = np.repeat(Y[:10], 2)
    # both are tested, or none
    cv = [*GroupKFold(4, shuffle=True, random_state=1).split(A, b, np.arange(40) // 2)]
    for name in ("roc_auc", "average_precision"):
        ours, theirs = SVCCV(**TWO, cv=cv, scoring=name), peer(SVC(tol=1e-10), cv, scoring=name)
        ours.fit(A, b), theirs.fit(A, b)
        np.testing.assert_allclose(means(ours), means(theirs), atol=1e-9)


@pytest.mark.slow
def test_a_scorer_may_ask_for_the_test_part_and_the_parameters_only() -> None:
    def other(model: Any, A: Any, b: Any) -> float:
        return float(model.predict(A[:1])[0])

    def equal(model: Any, A: Any, b: Any) -> float:
        return float(model.predict(A.copy())[0] + model.C + (model.get_params()["gamma"]))

    with pytest.raises(
        ValueError, match=r"examples outside the test part X.*GridSearchCV\(SVR\(\)"
    ) as refused:
        SVRCV(**GRID, scoring=other).fit(X, T)
    assert "on split 0 with {'C': 0.1, 'epsilon': 0.05, 'gamma': 0.1}" in refused.value.__notes__[0]
    assert len(set(means(SVRCV(**GRID, scoring=equal).fit(X, T)))) > 6
    with pytest.raises(ValueError, match="'scoring' parameter of SVRCV"):
        SVRCV(**GRID, scoring="no such score").fit(X, T)


@pytest.mark.slow
def test_groups_weights_and_scorers_are_routed() -> None:
    """With routing a scorer has to ask for weights; without routing each scorer that takes weights gets them."""
    given, unset = {"groups": np.arange(N) // 4, "sample_weight": W}, make_scorer(fbeta_score, beta=2.0)
    with config_context(enable_metadata_routing=True):
        asks = make_scorer(fbeta_score, beta=2.0).set_score_request(sample_weight=True)
        routed = SVCCV(**TWO, cv=GroupKFold(4), scoring=asks).fit(X, Y, **given)
        with pytest.raises(ValueError, match="sample_weight"):
            SVCCV(**TWO, scoring=unset).fit(X, Y, W)
    plain = SVCCV(**TWO, cv=GroupKFold(4), scoring=unset).fit(X, Y, **given)
    np.testing.assert_array_equal(means(plain), means(routed))


@pytest.mark.slow
def test_a_store_knows_the_score_and_epsilon(tmp_path: Path, solved: list[Any]) -> None:
    options = GRID | {"cv": 2, "store": tmp_path / "cells.sqlite"}
    first = SVRCV(**options).fit(X, T)
    assert len(solved) == 24
    again = SVRCV(**options).fit(X, T)
    np.testing.assert_array_equal(means(again), means(first))
    assert len(solved) == 24
    SVRCV(**options | {"epsilons": [0.3, 0.1]}).fit(X, T)
    assert len(solved) == 36
    by_error = SVRCV(**options, scoring="neg_max_error").fit(X, T)
    assert len(solved) == 60
    assert (means(by_error) < 0.0).all()
    for scoring in (lambda model, A, b: 1.0, make_scorer(lambda a, b: 1.0)):
        with pytest.raises(ValueError, match=r"scoring=.* has no lasting description"):
            SVRCV(**options, scoring=scoring).fit(X, T)


@pytest.mark.slow
def test_scores_that_are_not_finite_rank_last_and_are_told() -> None:
    cv = [(np.arange(20), np.arange(20, 21)), (np.arange(20), np.arange(20, N))]
    with pytest.warns(UserWarning, match="12 of 12 mean test scores are not finite, and rank last"):
        found = SVRCV(**GRID, cv=cv).fit(X, T)
    assert np.isnan(found.best_score_)

    def sometimes(model: Any, A: Any, b: Any) -> float:
        return float("nan") if model.C > 5.0 else -model.C

    with pytest.warns(UserWarning, match="4 of 12 mean"):
        found = SVRCV(**GRID, scoring=sometimes).fit(X, T)
    assert found.best_params_["C"] == 0.1
    assert found.cv_results_["rank_test_score"].max() == 9


@pytest.mark.slow
def test_the_display_shows_the_best_epsilon_of_each_cell() -> None:
    found = SVRCV(**GRID).fit(X, T)
    drawn = GridDisplay.from_results(found.cv_results_)
    best = means(found).reshape(3, 2, 2).max(axis=1).T  # C, ε, γ
    np.testing.assert_array_equal(drawn.scores, best[:, np.argsort(GRID["Cs"])])
