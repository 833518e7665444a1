"""SVR keeps copies of its examples in fit: for intervals and for forget; keep_examples=False does without."""

import copy
import pickle
import re

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import sparse
from sklearn.base import clone

from refsvm import RBF, SVR, SVRCV, DualProblem, KKTGap, Linear
from refsvm.analysis.paths.conformal import conformal_intervals
from refsvm.analysis.resampling.jackknife import held_out_machines

RNG = np.random.default_rng(0)
X = RNG.uniform(0.0, 6.0, (40, 1))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=40)
NEW = np.array([[1.0], [3.0]])
METHODS = ["full", "jackknife+", "cv+"]


def inner_products(A, B):
    return A @ B.T


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
def test_intervals_after_fit_alone_are_those_of_partial_fit(options, method):
    fitted = SVR(**options, tol=1e-10).fit(X, Y)
    held = SVR(**options, tol=1e-10).partial_fit(X, Y)
    found = fitted.predict_interval(NEW, method=method)
    np.testing.assert_array_equal(found, held.predict_interval(NEW, method=method))
    np.testing.assert_array_equal(found, fitted.predict_interval(NEW, method=method))  # and again


def held_by(how, A, t, w, **options):
    """SVR on these examples and weights, in one of the ways in which it comes to hold them."""
    model = SVR(C=0.5, epsilon=0.2, tol=1e-10, **options)
    if how == "fit":
        return model.fit(A, t, w)
    if how == "partial_fit":
        return model.partial_fit(A[:11], t[:11], w[:11]).partial_fit(A[11:], t[11:], w[11:])
    extra = np.array([[2.0], [5.0]])
    stack = sparse.vstack if sparse.issparse(A) else np.vstack
    return model.fit(stack([extra, A]).tocsr() if sparse.issparse(A) else stack([extra, A]), np.append([4.0, -4.0], t),
                     np.append([2.0, 3.0], w)).forget([0, 1])  # fmt: skip


@pytest.mark.parametrize("how", ["fit", "partial_fit", "forget"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("container", [np.array, sparse.csr_array], ids=["dense", "sparse"])
def test_an_example_of_weight_two_is_two_that_leave_together(container, kernel, method, how):
    """In the machine that predicts, in those that are held out, and in the ranks."""
    w = np.random.default_rng(4).integers(0, 4, 22).astype(float)
    some, options = np.flatnonzero(w), {"kernel": kernel, "gamma": 0.5, "engine": "numpy"}
    rep = np.repeat(some, w[some].astype(int))
    found = held_by(how, container(X[:22]), Y[:22], w, **options).predict_interval(NEW, 0.8, method)
    kernel = RBF(0.5) if kernel == "rbf" else Linear()
    Z, t, cross = X[rep], Y[rep], kernel(NEW, X[rep])
    if method == "full":
        own = kernel(NEW, NEW).diagonal()
        expected = conformal_intervals(kernel(Z, Z), t, cross, own, C=0.5, epsilon=0.2, confidence=0.8)
    else:
        together = np.searchsorted(some, rep) % (10 if method == "cv+" else len(some))
        problem = DualProblem.regression(Z, t, kernel=kernel, C=0.5, epsilon=0.2)
        expected = held_out_machines(problem, together, stop=KKTGap(1e-10)).intervals(cross, 0.8)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    plain = held_by(how, container(X[:22]), Y[:22], np.ones(22), **options)
    assert np.abs(plain.predict_interval(NEW, 0.8, method) - expected).max() > 1e-3


def arrays_in(value):
    """All arrays in an object of attributes, lists and dictionaries."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return [each for part in value.values() for each in arrays_in(part)]
    if isinstance(value, list | tuple):
        return [each for part in value for each in arrays_in(part)]
    return arrays_in(vars(value)) if hasattr(value, "__dict__") else []


def holds_all(model):
    """Whether all examples are somewhere in the model."""
    return any(each.shape == X.shape for each in arrays_in(vars(model)))


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
        assert not any((array == X[7, 0]).any() for array in arrays_in(vars(each)))
        assert not any((array == Y[7]).any() for array in arrays_in(vars(each)))


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
