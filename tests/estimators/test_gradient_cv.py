"""SVCGradientCV and SVRGradientCV: searches along the gradient, with scikit-learn's conventions."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import KFold, StratifiedKFold

from refsvm import SVC, SVR, SVCGradientCV, SVRGradientCV
from refsvm.analysis.derivatives import HeldOutLoss, Huber, tune_by_gradient
from refsvm.analysis.derivatives.losses import Loss

from ..interrupts import pressing

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
TARGETS = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=40)
Y = np.where(np.median(TARGETS) < TARGETS, "yes", "no")
FEW = {"n_starts": 1, "max_evaluations": 4, "engine": "numpy", "cv": 3}


def test_it_is_the_function_and_then_a_fit():
    model = SVCGradientCV(**FEW).fit(X, Y)
    folds = list(StratifiedKFold(3).split(X, Y))
    found = tune_by_gradient(
        X, np.where(Y == "yes", 1.0, -1.0), folds=folds, starts=1, max_evaluations=4, rng=0, engine="numpy",
        cache_mb=200,
    )  # fmt: skip
    assert model.best_params_ == found.best
    assert model.best_score_ == -found.loss
    assert model.best_score_ == model.cv_results_["mean_test_score"][model.best_index_]
    assert model.cv_results_["rank_test_score"][model.best_index_] == 1
    assert model.cv_results_["params"][model.best_index_] == model.best_params_
    assert {len(each) for each in model.cv_results_.values()} == {len(found.evaluations)}
    assert (model.n_splits_, model.n_iter_) == (3, len(found.evaluations))
    alone = SVC(**model.best_params_, engine="numpy").fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(model.support_, alone.support_)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, Y) == alone.score(X, Y)


def test_a_gamma_of_each_feature_and_a_class_weight():
    model = SVCGradientCV(parameters=("C", "gammas", "class_weight"), loss="logistic", **FEW).fit(X, Y)
    assert len(model.best_params_["gamma"]) == 3
    assert set(model.best_params_["class_weight"]) == {"yes"}
    assert model.best_estimator_.get_params()["gamma"] == model.best_params_["gamma"]
    assert pickle.loads(pickle.dumps(model)).best_params_ == model.best_params_


def test_a_regression():
    model = SVRGradientCV(loss=Huber(0.5), **FEW).fit(X, TARGETS)
    assert set(model.best_params_) == {"C", "gamma", "epsilon"}
    alone = SVR(**model.best_params_, tol=model.best_estimator_.tol, engine="numpy").fit(X, TARGETS)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    fixed = SVRGradientCV(parameters="gamma", epsilon=0.3, C=2.0, **FEW).fit(X, TARGETS)
    assert set(fixed.best_params_) == {"gamma"}
    assert (fixed.best_estimator_.C, fixed.best_estimator_.epsilon) == (2.0, 0.3)


@pytest.mark.parametrize("cv", ["loo", 4, KFold(3), list(KFold(3).split(X))], ids=str)
def test_folds(cv):
    n = 40 if isinstance(cv, list) else 20
    model = SVRGradientCV(**FEW | {"cv": cv, "max_evaluations": 2}).fit(X[:n], TARGETS[:n])
    assert model.n_splits_ == {"loo": 20, 4: 4}.get(cv if isinstance(cv, str | int) else "", 3)


def test_starts_are_the_same_in_every_fit_unless_a_seed_is_given():
    given = {**FEW, "n_starts": 2, "max_evaluations": 2}
    one, two = (SVCGradientCV(**given).fit(X, Y) for _ in range(2))
    assert one.cv_results_["params"] == two.cv_results_["params"]
    other = SVCGradientCV(**given, random_state=5).fit(X, Y)
    assert other.cv_results_["params"][0] == one.cv_results_["params"][0]
    assert other.cv_results_["params"] != one.cv_results_["params"]
    assert set(one.cv_results_["start"]) == {0, 1}


def test_sparse_examples():
    model = SVCGradientCV(parameters=("C", "gammas"), **FEW).fit(sparse.csr_matrix(X), Y)
    dense = SVCGradientCV(parameters=("C", "gammas"), **FEW).fit(X, Y)
    np.testing.assert_allclose(model.best_score_, dense.best_score_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(sparse.csr_matrix(X)), dense.predict(X))


def test_workers_find_the_same():
    given = {**FEW, "engine": "auto"}
    one, two = (SVCGradientCV(n_jobs=jobs, **given).fit(X, Y).cv_results_ for jobs in (1, 2))
    np.testing.assert_allclose(one["mean_test_score"], two["mean_test_score"], atol=1e-8)


def test_a_time_limit_warns_and_trains_with_the_first_values():
    with pytest.warns(ConvergenceWarning, match="time_limit ended tune_by_gradient after 0 evaluations"):
        model = SVCGradientCV(time_limit=1e-9, **FEW).fit(X, Y)
    assert model.best_params_ == {}
    assert np.isnan(model.best_score_)
    assert model.best_estimator_.C == 1.0


def test_ctrl_c_keeps_the_best_so_far(monkeypatch):
    model, (press, values) = SVCGradientCV(**FEW), pressing(HeldOutLoss.__call__, 2)
    monkeypatch.setattr(HeldOutLoss, "__call__", press)
    with pytest.raises(KeyboardInterrupt, match="interrupted after 2 evaluations") as raised:
        model.fit(X, Y)
    assert [each.loss for each in raised.value.result] == [value for value, _ in values]
    assert model.best_score_ == max(-value for value, _ in values)
    assert len(model.cv_results_["params"]) == 2
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_store_goes_on_where_a_search_has_ended(tmp_path, monkeypatch):
    computed, call = [], HeldOutLoss.__call__

    def counted(J, theta):
        computed.append(theta)
        return call(J, theta)

    monkeypatch.setattr(HeldOutLoss, "__call__", counted)
    given = {**FEW, "n_starts": 2, "parameters": ("C", "gammas"), "store": tmp_path / "values.sqlite"}
    short = SVCGradientCV(**{**given, "max_evaluations": 2}).fit(X, Y)
    first = len(computed)
    again = SVCGradientCV(**{**given, "max_evaluations": 2}).fit(X, Y)
    assert len(computed) == first
    for name, column in short.cv_results_.items():
        if name not in ("params", "seconds"):
            np.testing.assert_array_equal(again.cv_results_[name], column)
    assert again.best_params_ == short.best_params_
    longer = SVCGradientCV(**given).fit(X, Y)
    assert 0 < len(computed) - first == longer.n_iter_ - first
    alone = SVCGradientCV(**{**given, "store": None}).fit(X, Y)
    np.testing.assert_allclose(longer.best_score_, alone.best_score_, rtol=1e-6)
    # other data, folds, losses and starts are other values
    for other in ({"loss": "logistic"}, {"cv": 4}, {"C": 2.0}, {"kernel": "linear", "parameters": "C"}):
        before = len(computed)
        SVCGradientCV(**{**given, "n_starts": 1, "max_evaluations": 1, **other}).fit(X, Y)
        assert len(computed) > before
    before = len(computed)
    SVCGradientCV(**{**given, "n_starts": 1, "max_evaluations": 1}).fit(X + 1.0, Y)
    assert len(computed) > before


def loss_of(power, base=Huber):
    """A loss of a user; the same loss of another power prints alike."""

    class Mine(base):
        has_labels = True

        def value(self, h, y):
            return np.maximum(0, 1 - y * h) ** power

        def slope(self, h, y):
            return -power * y * np.maximum(0, 1 - y * h) ** (power - 1)

    return Mine()


def test_a_store_tells_losses_apart_that_print_alike(tmp_path):
    def first(loss, store):
        given = {**FEW, "n_starts": 1, "max_evaluations": 1, "loss": loss}
        return SVCGradientCV(**given, store=store).fit(X, Y).cv_results_["mean_test_score"][0]

    assert repr(loss_of(2)) == repr(loss_of(3))
    for power in (2, 3, 2):
        assert first(loss_of(power), tmp_path / "values.sqlite") == first(loss_of(power), None)
    with pytest.raises(ValueError, match=r"^loss=.* has no lasting description"):
        first(loss_of(2, Loss), tmp_path / "values.sqlite")
