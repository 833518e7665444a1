"""An example of weight w is w examples, in everything."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import KFold, LeaveOneOut

from refsvm import SVC, SVCCV, SVR, OneClassSVM

from ..programs import module
from ..settings import FAST

complaints_about = module("audit.weights").complaints_about

LETTERS = np.array(list("abcd"))
SEARCH: dict[str, Any] = {"Cs": [1.0], "gammas": [0.2], "engine": "numpy", "refit": False}


def share(model: Any, Z: Any, labels: Any) -> float:
    """Return the share of right answers, by a score that takes no weights."""
    return float(np.mean(model.predict(Z) == labels))


@pytest.mark.seeds(*range(16))
@pytest.mark.parametrize("whole", [True, False], ids=["copies for every caller", "scores of refits"])
def test_weights_are_those_of(whole: bool, seed: int) -> None:
    assert complaints_about(1000 + seed, whole=whole, engine=FAST) == []


def crossed_out(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X, labels, targets and weights; every third example is wrong, and has weight 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(45, 3))
    y, t = (X[:, 0] + 0.5 * rng.normal(size=45) > 0) * 1, X[:, 0] + 0.1 * rng.normal(size=45)
    w = np.where(np.arange(45) % 3, 1.0, 0.0)
    return X, np.where(w > 0.0, y, 1 - y), np.where(w > 0.0, t, t + 9.0), w


X, Y, T, W = crossed_out()
KEPT = W > 0.0
DRAWN = np.random.default_rng(1).integers(0, 3, 45).astype(float)


@pytest.mark.parametrize(
    "cv", ["loo", LeaveOneOut(), [*KFold(45).split(np.zeros((45, 1)))]], ids=["loo", "splitter", "pairs"]
)
@pytest.mark.parametrize("scoring", [None, "f1_micro"])
def test_examples_of_weight_zero_have_no_score(cv: Any, scoring: str | None) -> None:
    options = SEARCH | {"Cs": [1.0, 10.0], "scoring": scoring}
    found = SVCCV(cv=cv, **options).fit(X, Y, W)
    expected = SVCCV(cv="loo", **options).fit(X[KEPT], Y[KEPT])
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name], atol=1e-12)
    assert found.n_splits_ == 45


@pytest.mark.parametrize("cv", [3, "loo"])
def test_several_scores_are_those_of_copies(cv: Any) -> None:
    """Among them one that takes weights, one that sees copies, and one function that returns both."""
    options = SEARCH | {"Cs": [0.1, 1.0], "cv": cv}

    def both(model: Any, Z: Any, labels: Any) -> dict[str, float]:
        return {"share": share(model, Z, labels), "twice": 2.0 * share(model, Z, labels)}

    copied = {"taken": "accuracy", "copied": share}
    found, named, made = (
        SVCCV(scoring=each, **options).fit(X, Y, DRAWN).cv_results_ for each in (None, copied, both)
    )
    alone = found["mean_test_score"]
    for each in (named["mean_test_taken"], named["mean_test_copied"], made["mean_test_share"]):
        np.testing.assert_allclose(each, alone, atol=1e-12)
    np.testing.assert_allclose(made["mean_test_twice"], 2.0 * alone, atol=1e-12)


def test_scores_that_see_neither_weights_nor_copies_are_named_in_one_warning() -> None:
    no_copies = DRAWN + 0.5 * (DRAWN == 2.0)
    scoring = {"f1": "f1", "share": share}
    words = r"scoring=<function .*> takes no weights, so all examples of a split count equally"
    with pytest.warns(UserWarning, match=words) as said:
        SVCCV(**SEARCH | {"cv": 3, "scoring": scoring, "refit": "f1"}).fit(X, Y, no_copies)
    assert [each.filename for each in said] == [__file__]
    # of one example each, the mean has the weights: a warning would be an error
    SVCCV(scoring=share, cv="loo", **SEARCH).fit(X, Y, no_copies)


@pytest.mark.parametrize("make", [SVC, SVR, OneClassSVM])
def test_a_whole_weight_counts_as_copies_in_gamma(make: Any) -> None:
    y, rep = Y if make is SVC else T, np.repeat(np.arange(45), DRAWN.astype(int))
    one, other, plain = (
        make(engine="numpy").fit(X[some], y[some], sample_weight=weights).kernel_.gamma
        for some, weights in ((slice(None), DRAWN), (rep, None), (slice(None), None))
    )
    assert one == pytest.approx(other, rel=1e-12)
    assert abs(one / plain - 1.0) > 1e-3


# -- a class that is not there -----------------------------------------------------------------------------------------


def four_classes() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    codes = np.repeat(np.arange(4), 8)
    return rng.normal(size=(32, 2)) + 2.0 * np.c_[codes, codes % 2], LETTERS[codes]


@pytest.mark.parametrize("absent", ["a", "c", "d", "ab", "ac", "cd"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_class_without_weight_is_left_out_of_training(absent: str, class_weight: Any) -> None:
    X, y = four_classes()
    there = ~np.isin(y, list(absent))
    options: dict[str, Any] = {"tol": 1e-8, "gamma": 0.4, "class_weight": class_weight, "engine": "numpy"}
    model, alone = SVC(**options).fit(X, y, there * 1.0), SVC(**options).fit(X[there], y[there])
    assert model.classes_.tolist() == list("abcd")
    new = np.random.default_rng(0).normal(size=(60, 2)) * 4.0
    np.testing.assert_array_equal(model.predict(new), alone.predict(new))
    for settings in ({"break_ties": True}, {"decision_function_shape": "ovo", "break_ties": False}):
        values = model.set_params(**settings).decision_function(new)
        assert values.shape == (60, 6 if "decision_function_shape" in settings else 4)
        assert not np.isin(model.predict(new), list(absent)).any()
    assert model.n_support_[[*map("abcd".index, absent)]].tolist() == [0] * len(absent)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new), model.predict(new))
    np.testing.assert_array_equal(model.to_sklearn().predict(new), alone.predict(new))


def test_a_warm_start_where_a_class_comes_and_goes() -> None:
    X, y = four_classes()
    without, model = np.where(y == "b", 0.0, 1.0), SVC(warm_start=True, tol=1e-8, gamma=0.4, engine="numpy")
    expected = [SVC(tol=1e-8, gamma=0.4, engine="numpy").fit(X, y, w).predict(X) for w in (without, None)]
    for w, labels in ((without, 0), (without, 0), (None, 1), (without, 0), (None, 1)):
        np.testing.assert_array_equal(model.fit(X, y, w).predict(X), expected[labels])


def test_ensembles_have_members_that_lack_a_class() -> None:
    rng = np.random.default_rng(0)
    y = np.r_[np.zeros(30, int), np.ones(30, int), [2, 2]]
    X = rng.normal(size=(62, 2)) + 3.0 * np.c_[y, y % 2]
    assert BaggingClassifier(SVC(), n_estimators=10, random_state=0).fit(X, y).score(X, y) > 0.9
    assert AdaBoostClassifier(SVC(), n_estimators=3, random_state=0).fit(X, y).score(X, y) > 0.9


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_the_new_example_has_weight_one() -> None:
    """Its penalty is C, not the largest of the others'."""
    w = np.where(np.arange(45) < 40, 1.0, 30.0)
    one, other = (
        SVR(gamma=0.2, C=0.1, tol=1e-8, engine=FAST).partial_fit(*given).predict_interval(X[:2] + 0.2, 0.8)
        for given in ((X, T, w), (np.repeat(X, w.astype(int), axis=0), np.repeat(T, w.astype(int))))
    )
    np.testing.assert_allclose(one, other, atol=1e-5)
