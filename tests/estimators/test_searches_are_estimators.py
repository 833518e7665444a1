"""What a search shares with its best machine and with GridSearchCV: coef_, several scores, the choice by refit=."""

import copy
import pickle
import re

import numpy as np
import pytest
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.metrics import f1_score, get_scorer_names, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV

from refsvm import SVC, SVCCV, SVRCV
from refsvm.display import GridDisplay

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0.0) * 1
TARGETS = X[:, 0] + 0.1 * RNG.normal(size=60)
GRID = {"Cs": [0.1, 1.0, 10.0], "gammas": [0.1, 1.0], "cv": 3}


def theirs(model=None, **options):
    return GridSearchCV(model or SVC(), {"C": GRID["Cs"], "gamma": GRID["gammas"]}, cv=3, **options)


def several(model, A, y):
    return {"right": model.score(A, y), "lowest": float(model.predict(A).min())}


def third(results):
    return 2


def least_spread(results):
    return int(np.argmin(results["std_test_accuracy"]))


SCORINGS = [
    (["accuracy", "roc_auc"], "roc_auc"), (("f1", "accuracy"), False), (["accuracy"], "accuracy"),
    ({"accuracy": "accuracy", "mine": make_scorer(f1_score)}, "mine"),
    ({"accuracy": "accuracy", "b": "f1"}, least_spread),
    (several, "right"), (several, False), ("roc_auc", "any name"), ("accuracy", third), (None, third), (None, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("scoring", "refit"), SCORINGS, ids=lambda each: re.sub(" at 0x.*?>", "", str(each))[:40]
)
def test_scores_and_choice_are_those_of_grid_search(scoring, refit):
    ours = SVCCV(**GRID, scoring=scoring, refit=refit).fit(X, Y)
    grid = theirs(scoring=scoring, refit=refit).fit(X, Y)
    assert set(ours.cv_results_) - {"mean_iterations"} == set(grid.cv_results_)
    for name, values in grid.cv_results_.items():
        if "test" in name and "rank" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], values, atol=1e-9, err_msg=name)
    assert ours.multimetric_ == grid.multimetric_
    for name in ("best_index_", "best_score_", "best_params_", "best_estimator_"):
        assert hasattr(ours, name) == hasattr(grid, name), name
    if hasattr(grid, "best_params_"):
        assert ours.best_params_ == grid.best_params_
    if refit and not (ours.multimetric_ and callable(refit)):
        assert ours.score(X, Y) == pytest.approx(grid.score(X, Y))
    assert isinstance(ours.scorer_, dict) == isinstance(grid.scorer_, dict)


def test_leave_one_out_keeps_several_scores():
    twice = {"right": "accuracy", "again": "accuracy"}
    search = SVCCV(Cs=[1.0], gammas=[0.1], cv="loo", scoring=twice, refit="right").fit(X[:20], Y[:20])
    assert search.best_score_ == search.cv_results_["mean_test_again"][0]


@pytest.mark.parametrize(
    ("scoring", "refit", "sentence"),
    [
        (["accuracy", "f1"], True, "refit=True does not say which of the scores accuracy, f1 chooses the best cell"),
        (["accuracy", "f1"], "roc_auc", "refit='roc_auc' does not say which of the scores accuracy, f1"),
        (several, True, "refit=True does not say which of the scores right, lowest"),
        ([], True, "should name several scores, but it is empty"),
        (["accuracy", "nope"], "accuracy", "but 'nope' is not a score; give different names"),
        (["accuracy", "accuracy"], "accuracy", "but it names one twice"),
        ({1: "accuracy"}, "a", "but 1 is not a score"), ({"a": 3}, "a", "but 3 is not a score"),
        ({"a": several}, "a", "which is not a number; return one number"),
        ("accuracy", lambda results: 99, "returned 99; return the index of a cell in cv_results_"),
        ("accuracy", lambda results: "x", "returned 'x'; return the index of a cell"),
        ("neg_log_loss", True, "'neg_log_loss' needs probabilities, and SVC does not compute probabilities"),
        ("roc_auc_ovr", True, "CalibratedClassifierCV(SVC(), ensemble=False)"),
        ("neg_brier_score", True, "GridSearchCV(CalibratedClassifierCV"),
        (["accuracy", "neg_log_loss"], "accuracy", "needs probabilities"),
        ({"a": "accuracy", "b": "roc_auc_ovo"}, "a", "needs probabilities"),
        (make_scorer(log_loss, response_method="predict_proba"), True, "needs probabilities"),
        (lambda model, A, y: model.predict_proba(A)[0, 0], True, "SVC does not compute probabilities; calibrate"),
    ],
)  # fmt: skip
def test_what_cannot_choose_is_refused(scoring, refit, sentence):
    # of probabilities as SVC().predict_proba raises it
    kind = AttributeError if re.search("probabilities|Calibrated", sentence) else ValueError
    with pytest.raises(kind, match=re.escape(sentence)) as refusal:
        SVCCV(**GRID, scoring=scoring, refit=refit).fit(X, Y)
    assert "HeldOut" not in str(refusal.value)


OF_TARGETS = re.compile("r2|explained_variance|d2_absolute|.*(error|deviance)")


@pytest.mark.parametrize("scoring", [name for name in get_scorer_names() if not OF_TARGETS.match(name)])
def test_scores_of_classes_are_refused_for_targets(scoring):
    with pytest.raises(ValueError, match=f"scoring='{scoring}' compares classes, but SVR predicts"):
        SVRCV(**GRID, scoring=scoring).fit(X, TARGETS)


@pytest.mark.parametrize("scoring", [*filter(OF_TARGETS.match, get_scorer_names())])
def test_scores_of_targets_are_taken(scoring):
    fitted = SVRCV(**GRID, scoring=scoring).fit(X, np.abs(TARGETS) + 5.0)
    assert np.isfinite(fitted.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(("search", "y"), [(SVCCV, Y), (SVRCV, TARGETS)], ids=["SVCCV", "SVRCV"])
def test_the_attributes_of_the_best_machine(search, y):
    model = search(kernel="linear", Cs=[0.1, 1.0], cv=3)
    assert not hasattr(model, "coef_")
    model.fit(X, y)
    for name in ("coef_", "intercept_", "support_", "support_vectors_", "dual_coef_", "n_support_", "alpha_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(model.best_estimator_, name))
    for again in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.coef_, model.coef_)
    one = search(kernel="linear", Cs=[1.0])
    assert RFE(one, n_features_to_select=1).fit(X, y).support_.tolist() == [True, False, False]
    assert SelectFromModel(one).fit(X, y).get_support()[0]
    assert RFECV(one, cv=3).fit(X, y).support_[0]


def test_the_display_draws_the_score_that_is_named():
    pytest.importorskip("matplotlib")
    search = SVCCV(**GRID, scoring=["accuracy", "roc_auc"], refit="roc_auc").fit(X, Y)
    drawn = GridDisplay.from_results(search.cv_results_, score="roc_auc")
    assert np.nanmax(drawn.scores) == pytest.approx(search.best_score_)
    with pytest.raises(ValueError, match=r"score='score' is not in these .*; give one of accuracy, roc_auc"):
        GridDisplay.from_results(search.cv_results_)


@pytest.mark.filterwarnings(r"ignore:R\^2 score is not well-defined")
@pytest.mark.parametrize("scoring", [None, ["r2", "neg_max_error"]])
def test_scores_that_are_not_finite_come_back_from_a_store(scoring, tmp_path):
    """JSON has no NaN, and a store None in its place; R² of one example is none."""
    cv = [(np.arange(20), np.arange(20, 21)), (np.arange(20), np.arange(20, 60))]
    options = {**GRID, "cv": cv, "scoring": scoring, "refit": False, "store": tmp_path / "cells.sqlite"}
    with pytest.warns(UserWarning, match="mean test scores are not finite"):
        first, again = (SVRCV(**options).fit(X, TARGETS).cv_results_ for _ in range(2))
    for name in (each for each in first if "test_" in each):
        assert again[name].dtype == first[name].dtype
        np.testing.assert_array_equal(again[name], first[name])
