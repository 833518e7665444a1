"""gamma=[γ₁, …] of the estimators: one γ for each feature, of the kernel "rbf"."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from refsvm import RBF, SVC, SVR, OneClassSVM

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.0, 1, -1)
GAMMAS = [0.5, 0.25, 0.0]
ESTIMATORS = [SVC, SVR, OneClassSVM]
FORMS = [list, tuple, np.array, lambda each: np.array(each)[::1].astype(object)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("form", FORMS, ids=["list", "tuple", "array", "objects"])
def test_a_gamma_of_each_feature_is_the_kernel_with_these_gammas(estimator, form):
    model, by_object = estimator(gamma=form(GAMMAS)).fit(X, Y), estimator(kernel=RBF(GAMMAS)).fit(X, Y)
    assert model.kernel_ == RBF(GAMMAS)
    values = "predict" if estimator is SVR else "decision_function"
    np.testing.assert_array_equal(getattr(model, values)(X), getattr(by_object, values)(X))
    assert not np.array_equal(model.dual_coef_, estimator(gamma=0.25).fit(X, Y).dual_coef_)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_copies_pickles_and_repr(estimator):
    given = np.array(GAMMAS)
    model = estimator(gamma=given)
    assert model.get_params()["gamma"] is given
    assert "gamma=array([0.5 , 0.25, 0.  ])" in repr(model)
    model.fit(X, Y)
    for other in (clone(model).fit(X, Y), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.gamma, given)
        assert other.kernel_ == model.kernel_
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(given, GAMMAS)
    before, given[:] = model.predict(X), 9.0  # which does not reach the fitted model
    np.testing.assert_array_equal(model.predict(X), before)
    assert model.set_params(gamma=0.5).fit(X, Y).kernel_ == RBF(0.5)


def test_a_kernel_without_gamma_leaves_it_alone():
    assert SVC(kernel="linear", gamma=GAMMAS).fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_examples_come_and_go(estimator):
    model = estimator(gamma=np.array(GAMMAS), tol=1e-10).partial_fit(X[:30], Y[:30])
    model.partial_fit(X[30:], Y[30:]).forget([0])
    whole = estimator(gamma=GAMMAS, tol=1e-10).fit(X[1:], Y[1:])
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-8)


def test_a_grid_of_gammas():
    grid = GridSearchCV(SVC(), {"gamma": [0.1, [0.5, 0.0, 0.0], np.array(GAMMAS)]}, cv=3).fit(X, Y)
    alone = [GridSearchCV(SVC(), {"gamma": [each]}, cv=3).fit(X, Y).best_score_ for each in (0.1, GAMMAS)]
    np.testing.assert_array_equal(grid.cv_results_["mean_test_score"][[0, 2]], alone)


def test_intervals_and_scikit_learn():
    model = SVR(gamma=GAMMAS, C=10.0).fit(X, X[:, 0])
    by_object = SVR(kernel=RBF(GAMMAS), C=10.0).fit(X, X[:, 0])
    np.testing.assert_array_equal(model.predict_interval(X[:3]), by_object.predict_interval(X[:3]))
    np.testing.assert_allclose(model.to_sklearn().predict(X), model.predict(X), atol=1e-10)
