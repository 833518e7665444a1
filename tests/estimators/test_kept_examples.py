"""SVR keeps copies of its examples in fit: for intervals and for forget; keep_examples=False does without."""

import copy
import pickle
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from refsvm import RBF, SVR, SVRCV

from .test_forgetting import numbers_in

RNG = np.random.default_rng(0)
X = RNG.uniform(0.0, 6.0, (40, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=40)
NEW = np.array([[1.0], [3.0]])
METHODS = ["full", "jackknife+", "cv+"]


def inner_products(A, B):
    return A @ B.T


@pytest.mark.parametrize("container", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "options",
    [
        {"gamma": 0.5},
        {"kernel": RBF(0.5)},
        {"kernel": "linear"},
        {"kernel": inner_products},
        {"gamma": "scale"},
    ],
    ids=lambda each: re.sub(" at 0x.*?>", "", str(each)),
)
def test_intervals_after_fit_alone_are_those_of_partial_fit(options, method, container):
    """Examples have weights, and some are forgotten; the audit "weights" compares intervals with those of copies."""
    weights = np.arange(40) % 3
    fitted = SVR(**options, tol=1e-10).fit(container(X), Y, weights)
    held = SVR(**options, tol=1e-10).partial_fit(X, Y, weights)
    for _ in range(2):
        found = fitted.predict_interval(NEW, method=method)
        np.testing.assert_allclose(found, held.predict_interval(NEW, method=method), atol=1e-7)
        np.testing.assert_array_equal(found, fitted.predict_interval(NEW, method=method))  # and again
        fitted.forget([0, 7]), held.forget([0, 7])


def holds_all(model):
    """Whether all examples are somewhere in the model."""
    return set(X.ravel()) <= numbers_in(vars(model))


@pytest.mark.parametrize("asked", [False, True], ids=["", "after an interval"])
def test_pickles_hold_the_examples_or_not(asked):
    model = SVR(gamma=0.5, epsilon=0.1).fit(X, Y)
    expected = SVR(gamma=0.5).fit(X, Y).predict_interval(NEW)
    if asked:
        model.predict_interval(NEW), model.predict_interval(NEW, method="cv+")
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(again.predict_interval(NEW), expected)
        assert holds_all(again)
    model.set_params(keep_examples=False)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert not holds_all(again)
        np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
        with pytest.raises(ValueError, match="keep_examples=True, or with partial_fit"):
            again.predict_interval(NEW)


def test_without_examples():
    model = SVR(gamma=0.5, keep_examples=False).fit(X, Y)
    assert not holds_all(model)
    assert len(model.support_vectors_) < len(X)
    np.testing.assert_array_equal(model.alpha_, SVR(gamma=0.5).fit(X, Y).alpha_)
    assert clone(model).keep_examples is False
    # partial_fit holds them, as it is asked to
    assert clone(model).partial_fit(X, Y).predict_interval(NEW).shape == (2, 2)


def test_forget_after_fit_erases_them():
    model = SVR(gamma=0.5, tol=1e-10).fit(X, Y)
    model.predict_interval(NEW), model.predict_interval(NEW, method="jackknife+")
    model.forget([0, 7])
    rest = np.delete(np.arange(40), [0, 7])
    other = SVR(gamma=0.5, tol=1e-10).fit(X[rest], Y[rest])
    assert model.dual_objective_ == pytest.approx(other.dual_objective_, rel=1e-8)
    for method in METHODS:
        found, expected = (each.predict_interval(NEW, method=method) for each in (model, other))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    for each in (model, pickle.loads(pickle.dumps(model))):
        assert not {X[7, 0], Y[7]} & numbers_in(vars(each))


def test_a_fit_again_replaces_them():
    model = SVR(gamma=0.5).fit(X, Y)
    model.predict_interval(NEW)
    model.fit(X[:20], Y[:20])
    expected = SVR(gamma=0.5).fit(X[:20], Y[:20]).predict_interval(NEW)
    np.testing.assert_array_equal(model.predict_interval(NEW), expected)
    assert not holds_all(model)


def test_the_best_machine_of_a_search_has_intervals():
    search = SVRCV(Cs=[1.0], gammas=[0.5], cv=3).fit(X, Y)
    assert search.best_estimator_.predict_interval(NEW).shape == (2, 2)


def test_ends_that_cross_are_no_interval():
    model = SVR(gamma=0.5).fit(X, Y)
    with pytest.warns(UserWarning, match=r"of 2 intervals are empty \(NaN\): at confidence=0.02 their lower"):
        found = model.predict_interval(NEW, confidence=0.02, method="cv+")
    assert not (found[:, 0] > found[:, 1]).any()
    assert np.isnan(found).any()
    assert not np.isnan(model.predict_interval(NEW, confidence=0.9, method="cv+")).any()
