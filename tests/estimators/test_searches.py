"""SVCCV on splits of every kind is GridSearchCV over SVC."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.model_selection import cross_validate as in_turn

from refsvm import SVC, SVCCV

from ..programs import module

searches = module("audit.searches")
KINDS, any_search, complaints_about = searches.KINDS, searches.any_search, searches.complaints_about

RNG = np.random.default_rng(2)
N = 48
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + 0.6 * RNG.normal(size=N) > 0) * 1
GROUPS = np.repeat(np.arange(12), 4)
GRID: dict[str, Any] = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.3], "tol": 1e-9, "engine": "numpy"}


@pytest.mark.seeds(*range(len(KINDS)))
@pytest.mark.slow
def test_searches_on_splits_of_every_kind_are_those_of_grid_search(seed: int) -> None:
    search = any_search(seed)
    search.settings["engine"] = "numpy"
    assert complaints_about(search) == []


def test_splits_that_are_used_up_are_refused_and_the_model_stays() -> None:
    cv = ((train, test) for train, test in KFold(3).split(X))
    model = SVCCV(**GRID, cv=cv).fit(X, Y)
    best = model.best_score_, model.best_estimator_
    with pytest.raises(ValueError, match=r"yields no split.*convert it to a list to fit again"):
        model.fit(X, Y)
    assert (model.best_score_, model.best_estimator_) == best


def nested(search: Any, cv: Any, **routed: Any) -> Any:
    """Return the scores of a search within folds."""
    return in_turn(search, X, Y, cv=cv, params=routed, error_score="raise")["test_score"]


def test_groups_reach_the_splitter_of_a_search_within_folds() -> None:
    both = ours, _ = (
        SVCCV(**GRID, cv=GroupKFold(3)),
        GridSearchCV(SVC(gamma=0.3, tol=1e-9), {"C": GRID["Cs"]}, cv=GroupKFold(3)),
    )
    with config_context(enable_metadata_routing=True):
        np.testing.assert_allclose(*(nested(each, GroupKFold(3), groups=GROUPS) for each in both), atol=1e-12)
        with pytest.raises(TypeError, match="colours"):
            ours.fit(X, Y, colours=GROUPS)


def test_of_cells_that_are_equal_but_for_rounding_the_first_is_chosen() -> None:
    cv = [(np.arange(N)[np.arange(N) % 7 != k], np.arange(N)[np.arange(N) % 7 == k]) for k in range(7)]
    model = SVCCV(Cs=[3.0, 1.0, 2.0], gammas=[1e-9], cv=cv, engine="numpy").fit(X, Y)
    means = model.cv_results_["mean_test_score"]
    assert np.ptp(means) < 1e-12
    assert model.best_params_["C"] == 3.0
    assert (model.cv_results_["rank_test_score"] == 1).all()
