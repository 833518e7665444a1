"""An example of weight w is w examples, in everything."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("scipy")
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import KFold, LeaveOneOut

from refsvm import RBF, SVC, SVCCV, SVR, SVRCV, DualProblem, leave_one_out
from refsvm.analysis.paths.conformal import conformal_intervals
from refsvm.analysis.resampling.jackknife import held_out_machines

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


def test_r_squared_of_leave_one_out_is_weighted() -> None:
    search = SVRCV(cv="loo", **SEARCH, tol=1e-6)
    found, kept = (search.fit(*given).best_score_ for given in ((X, T, W), (X[KEPT], T[KEPT])))
    assert found == pytest.approx(kept, abs=1e-6)
    with pytest.warns(UserWarning, match="not finite"):  # one example has no R² of its own
        search.set_params(cv=LeaveOneOut()).fit(X, T, W)


def test_cells_of_other_weights_are_not_those_of_the_store(tmp_path: Path) -> None:
    options = SEARCH | {"cv": "loo"}
    first, second = (SVRCV(store=tmp_path / "a.sqlite", **options).fit(X, T, each) for each in (None, W))
    assert second.best_score_ == SVRCV(**options).fit(X, T, W).best_score_ != first.best_score_


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


def test_several_scores_without_weights_are_named_in_one_warning() -> None:
    w = 0.5 + np.random.default_rng(1).random(45)
    scoring = {"f1": "f1", "lowest": lambda model, Z, labels: float(model.predict(Z).min())}
    with pytest.warns(UserWarning, match=r"scoring=<function .*> takes no weights") as said:
        SVCCV(**SEARCH | {"cv": 3, "scoring": scoring, "refit": "f1"}).fit(X, Y, w)
    assert [each.filename for each in said] == [__file__]


def test_a_scorer_without_weights_sees_copies_or_says_that_it_does_not() -> None:
    sizes: list[int] = []

    def watched(model: Any, Z: Any, labels: Any) -> float:
        sizes.append(len(Z))
        return share(model, Z, labels)

    found, usual = (SVCCV(scoring=each, cv=3, **SEARCH).fit(X, Y, DRAWN) for each in (watched, None))
    assert found.best_score_ == pytest.approx(usual.best_score_, abs=1e-12)
    assert sum(sizes) == DRAWN.sum()
    no_copies = DRAWN + 0.5 * (DRAWN == 2.0)
    with pytest.warns(UserWarning, match=r"takes no weights, so all examples of a split count equally"):
        SVCCV(scoring=share, cv=3, **SEARCH).fit(X, Y, no_copies)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of one example each, the mean has the weights
        SVCCV(scoring=share, cv="loo", **SEARCH).fit(X, Y, no_copies)


def test_a_split_without_weight_to_test_is_refused() -> None:
    rows = np.arange(45)
    cv = [(rows[KEPT], rows[~KEPT]), (rows[::2], rows[1::2])]
    with pytest.raises(ValueError, match=r"Split 0 of cv=.* has no test example with a positive weight"):
        SVCCV(cv=cv, **SEARCH).fit(X, Y, W)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_balanced_weights_count_copies(kernel: str) -> None:
    X, y, _, _ = crossed_out(3)
    w = np.where(y == 1, 1, np.random.default_rng(3).integers(0, 6, 45))
    rep = np.repeat(np.arange(45), w)
    options: dict[str, Any] = {"kernel": kernel, "tol": 1e-8, "class_weight": "balanced", "engine": "numpy"}
    one, other = SVC(**options).fit(X, y, w), SVC(**options).fit(X[rep], y[rep])
    np.testing.assert_allclose(one.class_weight_, other.class_weight_, rtol=1e-12)
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-6)


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


def test_a_search_leaves_a_class_without_weight_out() -> None:
    X, y = four_classes()
    there = y != "b"
    cv = [*KFold(4, shuffle=True, random_state=0).split(X)]
    options: dict[str, Any] = {"Cs": [1.0], "gammas": [0.4], "tol": 1e-8, "engine": "numpy"}
    found = SVCCV(cv=cv, **options).fit(X, y, there * 1.0)
    place = np.cumsum(there) - 1
    mapped = [tuple(place[part[there[part]]] for part in pair) for pair in cv]
    alone = SVCCV(cv=mapped, **options).fit(X[there], y[there])
    assert found.best_score_ == pytest.approx(alone.best_score_, abs=1e-12)
    assert found.classes_.tolist() == list("abcd")
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))


def test_partial_fit_refuses_a_class_without_weight_and_stays_as_it_was() -> None:
    X, y = four_classes()
    model = SVC(gamma=0.4, engine="numpy")
    with pytest.raises(ValueError, match="The weights leave the class 'b' without examples"):
        model.partial_fit(X, y, sample_weight=np.where(y == "b", 0.0, 1.0))
    assert not hasattr(model, "classes_")


# -- intervals ---------------------------------------------------------------------------------------------------------


def test_an_interval_of_weights_that_are_no_copies_is_refused() -> None:
    model, K = SVR(gamma=0.2, engine="numpy").partial_fit(X, T, 0.5 * W), RBF(0.2)
    for method in ("full", "jackknife+", "cv+"):
        with pytest.raises(
            ValueError, match=r"weight 0\.5 is not a whole number, so that no probability would"
        ):
            model.predict_interval(X[:1], 0.8, method)
    with pytest.raises(ValueError, match="different penalties, so the new example's penalty is unknown"):
        conformal_intervals(K(X, X), T, K(X[:1] + 0.1, X), np.ones(1), C=np.linspace(1.0, 2.0, 45))
    with pytest.raises(ValueError, match=r"the weight 1\.5 is not a whole number"):
        held_out_machines(DualProblem.regression(X, T, kernel=K), weights=np.full(45, 1.5))


def test_the_new_example_has_weight_one() -> None:
    """Its penalty is C, not the largest of the others'."""
    w = np.where(np.arange(45) < 40, 1.0, 30.0)
    one, other = (
        SVR(gamma=0.2, C=0.1, tol=1e-8, engine=FAST).partial_fit(*given).predict_interval(X[:2] + 0.2, 0.8)
        for given in ((X, T, w), (np.repeat(X, w.astype(int), axis=0), np.repeat(T, w.astype(int))))
    )
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_too_few_examples_that_count_leave_the_interval_open() -> None:
    model = SVR(gamma=0.2, engine="numpy").partial_fit(X[:12], T[:12], W[:12])  # 8 of them count
    for method in ("full", "jackknife+", "cv+"):
        assert np.isinf(model.predict_interval(X[:1], 0.9, method)).all()
        assert np.isfinite(model.partial_fit(X[:1], T[:1], [1.0]).predict_interval(X[:1], 0.9, method)).all()
        model.forget(12)


# -- functions ---------------------------------------------------------------------------------------------------------


def test_penalties_of_functions_are_weights_and_infinite_ones_count_once() -> None:
    loo = leave_one_out(X, Y, kernel=RBF(0.2), C=3.0 * W)
    assert loo.weights is not None
    assert loo.error == pytest.approx(np.average(loo.predictions != Y, weights=W))
    assert leave_one_out(X, Y, kernel=RBF(0.2), C=np.full(45, 3.0)).weights is None
    hard = np.where(KEPT, np.inf, 0.0)
    wide = leave_one_out(X, Y, kernel=RBF(5.0), C=np.where(np.arange(45) == 1, 1.0, hard), engine="numpy")
    np.testing.assert_array_equal(wide.weights, W)
