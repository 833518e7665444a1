"""SVCCV finds what GridSearchCV over scikit-learn's SVC finds, resumes, and follows scikit-learn's conventions."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from refsvm import ATO, SVCCV, Cold, KKTGap, Linear, LOODualityGap
from refsvm.analysis.resampling import grid as grid_module
from refsvm.analysis.resampling.leave_one_out import run_leave_one_out

GRID = {"Cs": [10.0, 0.1, 1.0], "gammas": [0.01, 0.1]}


def test_scores_far_from_the_origin_are_those_near_it(heart):
    X, y = np.round(heart[0] * 2.0**10) / 2.0**10, heart[1]
    near, far = (SVCCV(**GRID, cv=3).fit(data, y) for data in (X, X + 2.0**40))  # an exact shift
    for key in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(far.cv_results_[key], near.cv_results_[key])
    np.testing.assert_array_equal(far.predict(X + 2.0**40), near.predict(X))


@pytest.mark.parametrize("seeder", [Cold(), ATO()], ids=repr)
def test_the_seeder_changes_the_cost_only(heart, seeder):
    X, y = heart
    usual, other = (SVCCV(**GRID, seeder=s).fit(X, y).cv_results_ for s in (None, seeder))
    np.testing.assert_allclose(usual["mean_test_score"], other["mean_test_score"], atol=1 / len(y))
    assert not np.array_equal(usual["mean_iterations"], other["mean_iterations"])


def by_split(model):
    return np.array([model.cv_results_[f"split{s}_test_score"] for s in range(model.n_splits_)])


@pytest.mark.parametrize("stop", [KKTGap(1e-3), LOODualityGap(1e-3)])
def test_leave_one_out_takes_other_rules(heart, stop):
    X, y = heart[0][::6], heart[1][::6]
    options = {"Cs": [1.0], "gammas": [0.05], "cv": "loo", "refit": False, "engine": "numpy"}
    by_ball, ours = (SVCCV(**options, stop=rule).fit(X, y) for rule in (None, stop))
    np.testing.assert_array_equal(by_split(ours), by_split(by_ball))
    assert ours.n_iter_ >= by_ball.n_iter_


def test_folds_take_a_rule(heart):
    X, y = heart
    ours, same = (SVCCV(**GRID, cv=3, stop=stop, refit=False).fit(X, y) for stop in (None, KKTGap(1e-3)))
    np.testing.assert_array_equal(by_split(ours), by_split(same))


def test_leave_one_out_is_not_done_twice(heart, tmp_path, monkeypatch):
    X, y = heart[0][::6], heart[1][::6]
    given = []

    def noted(task, options, **more):
        given.append(task.C.max())
        return run_leave_one_out(task, options, **more)

    monkeypatch.setattr(grid_module, "run_leave_one_out", noted)
    options = {"gammas": [0.05], "cv": "loo", "refit": False, "store": tmp_path / "cells.sqlite"}
    first, again = (SVCCV(Cs=[0.1, 1.0], **options).fit(X, y) for _ in range(2))
    assert given == [0.1, 1.0]
    np.testing.assert_array_equal(by_split(first), by_split(again))


def test_default_grid_and_clone(heart):
    X, y = heart[0][:90], heart[1][:90]
    model = clone(SVCCV(cv=KFold(2))).fit(X, y)
    gammas = model.cv_results_["param_gamma"].data.astype(float)
    assert len(set(gammas)) == 5
    np.testing.assert_allclose(gammas.max() / gammas.min(), 100.0)
    assert len(model.cv_results_["params"]) == 25


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_unfinished_cells_are_told(heart):
    given = {"Cs": [1.0, 1e6], "gammas": [0.01], "max_iter": 20, "refit": False}
    for options, says in (
        ({}, r"tol=0.001 times the range of .* 1 if that is less\. Scale"),
        ({"cv": "loo", "stop": KKTGap(1e-9)}, r"the precision of stop=KKTGap\(tol=1e-09.*\)\. Scale"),
        ({"cv": 3, "stop": KKTGap(1e-5), "tol": 0.1}, r"the precision of stop=KKTGap\(tol=1e-05.*\)\. Scale"),
    ):
        with pytest.warns(ConvergenceWarning, match=f"not solved to {says}"):
            SVCCV(**given, **options).fit(heart[0][::6], heart[1][::6])


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_folds_that_take_over_large_values_are_solved_too(engine):
    """A split begins with the examples of the one before at C = 1883; the optimum has α of 10⁻¹⁶, and separates."""
    rng, y = np.random.default_rng(0), np.where(np.arange(20) % 2, 1, -1)
    X = 5e7 * (rng.normal(size=(20, 3)) + 2.0 * y[:, None])
    model = SVCCV(Cs=[1883.0], cv=4, kernel=Linear(), tol=1e-6, refit=False, engine=engine).fit(X, y)
    assert model.cv_results_["mean_test_score"][0] == 1.0


@pytest.mark.parametrize(
    ("scoring", "metric", "more"),
    [
        ("f1", "f1", ""),
        (["accuracy", "precision"], "precision", ""),
        ("average_precision", "average_precision", ', response_method="decision_function"'),
    ],
)
def test_scores_of_the_class_1_name_the_scorer_for_labels_that_are_texts(scoring, metric, more):
    wanted = f"make_scorer({metric}_score, pos_label='well'{more})"
    metrics = pytest.importorskip("sklearn.metrics")
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(X[:, 0] > 0.0, "well", "ill")
    with pytest.raises(ValueError, match=re.escape(f"write {wanted} of sklearn.metrics")):
        SVCCV(Cs=[1.0], gammas=1, cv=3, scoring=scoring, refit="accuracy").fit(X, y)
    found = SVCCV(Cs=[1.0], gammas=1, cv=3, scoring=eval(wanted, vars(metrics))).fit(X, y)
    assert found.best_score_ > 0.5
