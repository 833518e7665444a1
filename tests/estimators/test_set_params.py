"""After set_params without a fit everything that is predicted is that of the fitted machine, or refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from refsvm import SVC, SVCCV, SVR, SVRCV, OneClassSVM

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=40)
CHANGES = [
    {"C": 50.0}, {"epsilon": 0.5}, {"gamma": 5.0}, {"tol": 0.5}, {"kernel": "linear"}, {"C": np.inf},
    {"kernel": "precomputed"}, {"max_iter": 1}, {"cache_size": 1e-3},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=repr)
@pytest.mark.parametrize("method", ["full", "jackknife+", "cv+"])
@pytest.mark.parametrize("train", ["fit", "partial_fit"])
def test_intervals_are_of_the_fitted_machine(train, method, change):
    model = getattr(SVR(C=3.0, epsilon=0.05, gamma=0.5, engine="numpy"), train)(X, Y)
    if train == "fit" and "cache_size" in change:
        pytest.skip("the kernel matrix of kept examples is made within the present cache_size")
    other = pickle.loads(pickle.dumps(model)).set_params(**change)
    before = model.predict_interval(X[:3], method=method)
    np.testing.assert_array_equal(other.predict_interval(X[:3], method=method), before)
    np.testing.assert_array_equal(other.predict(X[:3]), model.predict(X[:3]))
    np.testing.assert_array_equal(model.set_params(**change).predict_interval(X[:3], method=method), before)


@pytest.mark.parametrize(
    "change", [{"C": 50.0}, {"gamma": 5.0}, {"kernel": "linear"}, {"tol": 0.5}, {"nu": 0.9}], ids=repr
)
def test_decisions_are_of_the_fitted_machine(change):
    for model, y in ((SVC(gamma=0.5), Y > 0), (OneClassSVM(gamma=0.5, nu=0.2), None)):
        model.fit(X, y)
        before = model.decision_function(X)
        some = {name: value for name, value in change.items() if name in model.get_params()}
        np.testing.assert_array_equal(model.set_params(**some).decision_function(X), before)


def test_a_search_predicts_by_the_best_machine_of_its_fit():
    sparse = pytest.importorskip("scipy.sparse")
    for search, y in ((SVCCV, Y > 0), (SVRCV, Y)):
        model = search(Cs=[1.0], gammas=[0.5], cv=3).fit(X, y)
        before = model.predict(X)
        kernels = ({"kernel": kernel} for kernel in ("linear", lambda A, B: A @ B.T))
        for change in (*kernels, {"Cs": [9.0]}, {"refit": False}):
            np.testing.assert_array_equal(model.set_params(**change).predict(X), before)
            np.testing.assert_array_equal(model.predict(sparse.csr_array(X)), before)
        model.set_params(kernel="rbf").fit(X, y)
        with pytest.raises(AttributeError, match="trained no model to predict with"):
            model.predict(X)
        with pytest.raises(AttributeError, match="trained no model to predict with"):
            model.set_params(refit=True).predict(X)
