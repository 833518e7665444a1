"""Searches of regressions and by other scores are those of GridSearchCV."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneOut
from sklearn.svm import SVR as PEER

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV, BallRule
from refsvm.analysis.resampling.grid import usual_score
from refsvm.display import GridDisplay
from refsvm.estimators import scoring as scoring_module
from refsvm.estimators import search as search_module

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


@pytest.mark.slow
def test_weights_that_a_score_forgets_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_module.Scoring, "WEIGHT", "no such argument")
    monkeypatch.setattr("refsvm.estimators.search_scores.takes_weights", lambda scorer: False)
    searches = [drawn(seed) for seed in range(42)]
    some = [each for each in searches if each.weights is not None and isinstance(each.scoring, str)]
    assert any(complaints_about(each) for each in some[:6])


@pytest.mark.slow
def test_cells_table_and_choice_are_those_of_scikit_learns_machines() -> None:
    ours, theirs = SVRCV(**GRID).fit(X, T), peer(PEER(tol=1e-10)).fit(X, T)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    assert not set(theirs.cv_results_) - set(ours.cv_results_)
    np.testing.assert_allclose(means(ours), means(theirs), atol=1e-5)  # LIBSVM keeps kernel values as float32
    assert ours.best_params_ == theirs.best_params_


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


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.slow
def test_threads_and_engines_find_the_same(engine: str) -> None:
    one, two = (SVRCV(**GRID | {"engine": engine}, n_jobs=jobs).fit(X, T) for jobs in (None, 2))
    for key in ("mean_test_score", "mean_iterations"):
        np.testing.assert_array_equal(one.cv_results_[key], two.cv_results_[key])
    if engine == "numba":
        np.testing.assert_array_equal(means(one), means(SVRCV(**GRID).fit(X, T)))


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
        ValueError, match=r"other examples than the test part X.*GridSearchCV\(SVR\(\)"
    ) as refused:
        SVRCV(**GRID, scoring=other).fit(X, T)
    assert "on split 0 with {'C': 0.1, 'epsilon': 0.05, 'gamma': 0.1}" in refused.value.__notes__[0]
    assert len(set(means(SVRCV(**GRID, scoring=equal).fit(X, T)))) > 6
    with pytest.raises(ValueError, match="returns 'good', which is not a number; return one number"):
        SVRCV(**GRID, scoring=lambda model, A, b: "good").fit(X, T)
    with pytest.raises(AttributeError, match="predict_proba"):
        SVCCV(**TWO, scoring="neg_log_loss").fit(X, Y)
    with pytest.raises(ValueError, match="'scoring' parameter of SVRCV"):
        SVRCV(**GRID, scoring="no such score").fit(X, T)


@pytest.mark.slow
def test_groups_weights_and_scorers_are_routed() -> None:
    groups, weights = np.arange(N) // 4, W
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(fbeta_score, beta=2.0).set_score_request(sample_weight=True)
        ours = SVCCV(**TWO, cv=GroupKFold(4), scoring=scorer).fit(X, Y, weights, groups=groups)
        model = SVC(tol=1e-10).set_fit_request(sample_weight=True)
        theirs = peer(model, GroupKFold(4), scoring=scorer).fit(X, Y, groups=groups, sample_weight=weights)
        np.testing.assert_allclose(means(ours), means(theirs), atol=1e-9)
        unset = make_scorer(fbeta_score, beta=2.0)
        with pytest.raises(ValueError, match="sample_weight"):
            SVCCV(**TWO, scoring=unset).fit(X, Y, weights)
        threads = SVCCV(**TWO, cv=GroupKFold(4), scoring=scorer, n_jobs=2).fit(X, Y, weights, groups=groups)
        np.testing.assert_array_equal(means(threads), means(ours))
    without = SVCCV(**TWO, cv=GroupKFold(4), scoring=make_scorer(fbeta_score, beta=2.0)).fit(
        X, Y, weights, groups=groups
    )
    np.testing.assert_array_equal(means(without), means(ours))


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


def test_small_units_do_not_make_ties() -> None:
    search, ranks = SVRCV(gammas=[0.1, 1.0], engine=FAST, refit=False, scoring="neg_mean_squared_error"), []
    for scale in (1.0, 2.0**-30):
        search.set_params(Cs=[0.1 * scale, scale], epsilons=[0.05 * scale])
        ranks.append(search.fit(X, scale * T).cv_results_["rank_test_score"].tolist())
    assert ranks[0] == ranks[1]
    assert sorted(ranks[0]) == [1, 2, 3, 4]


def test_equal_targets_of_a_test_part() -> None:
    task: Any = type("Regression", (), {"kind": "regression", "labels": np.array([2.0, 2.0])})
    split: Any = type("Part", (), {"test": np.arange(2), "test_weights": np.ones(2)})
    assert usual_score(task, split, 0, np.array([[2.0], [2.0]])) == 1.0
    assert usual_score(task, split, 0, np.array([[2.0], [3.0]])) == 0.0


@pytest.mark.parametrize(
    ("make", "change", "words"),
    [
        (SVRCV, {"epsilons": [-0.1]}, "epsilons=.* is not a list of finite numbers ≥ 0"),
        (SVRCV, {"epsilons": []}, "epsilons=.* is not a list of finite numbers ≥ 0"),
        (SVRCV, {"Cs": [0.0]}, "Cs=.* is not a list of positive finite numbers"),
        (SVRCV, {"stop": BallRule(), "cv": "loo"}, r'BallRule.* needs cv="loo"'),
        (SVRCV, {"cv": [([], range(5))]}, "Split 0 of cv=.* trains on no example with a positive weight"),
        (SVRCV, {"cv": [(range(5), [])]}, "Split 0 of cv=.* has no example to test"),
        (SVCCV, {"Cs": [1.0, -1.0]}, "Cs=.* is not a list of positive finite numbers"),
        (SVCCV, {"Cs": []}, "Cs=.* is not a list of positive finite numbers"),
        (SVCCV, {"gammas": [0.0]}, "gammas=.* is not a list of positive finite numbers"),
        (SVCCV, {"cv": [(range(5), range(5, 10))]}, "Split 0 of cv=.* trains on one class only"),
        (SVCCV, {"cv": 1}, "cv"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make: Any, change: dict[str, Any], words: str) -> None:
    order = np.argsort(Y, kind="stable")
    with pytest.raises(ValueError, match=words):
        make(**(GRID if make is SVRCV else TWO) | change).fit(X[order], (T if make is SVRCV else Y)[order])


@pytest.mark.slow
def test_the_display_shows_the_best_epsilon_of_each_cell() -> None:
    found = SVRCV(**GRID).fit(X, T)
    drawn = GridDisplay.from_results(found.cv_results_)
    best = means(found).reshape(3, 2, 2).max(axis=1).T  # C, ε, γ
    np.testing.assert_array_equal(drawn.scores, best[:, np.argsort(GRID["Cs"])])


def test_unfinished_cells_are_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"of 60 cells are not solved to tol=1e-10"):
        SVRCV(**GRID, max_iter=3).fit(X, T)
