"""SVR and OneClassSVM where their answers are hard to reach: without a plane, on the border, at large targets."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.exceptions import ConvergenceWarning

from refsvm import SVR, OneClassSVM, Status

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))


def test_a_one_class_problem_without_a_plane_is_solved_at_once():
    """The convex hull holds the origin: w = 0 at the optimum, and every decision value is b."""
    model = OneClassSVM(kernel="linear", nu=0.3, tol=1e-8, max_iter=100_000).fit(X)
    assert model.status_ is Status.CONVERGED
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-7)


@pytest.mark.slow
def test_at_most_the_share_nu_is_outside():
    """ν is an upper bound on outliers and a lower bound on support vectors, at a loose tolerance too."""
    data = np.random.default_rng(0).normal(size=(400, 2))
    for nu in (0.01, 0.1, 0.5, 0.9, 1.0):
        for tol in (1e-1, 1e-3, 1e-8):
            model = OneClassSVM(nu=nu, tol=tol, gamma=0.5).fit(data)
            if nu < 1.0:
                assert (model.predict(data) < 0).mean() <= nu
            assert len(model.support_) / 400 >= nu - 1e-9
            assert model.alpha_.sum() == pytest.approx(nu * 400)


def test_one_example():
    model = OneClassSVM().fit(X[:1])
    assert (model.predict(X[:1]), model.alpha_, model.offset_) == ([1], [0.5], pytest.approx(0.5))
    assert SVR().fit(X[:1], [2.0]).predict(X[:1]) == pytest.approx(2.0, abs=0.1 + 1e-3)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_constant_targets_need_no_support_vector_beyond_the_tube(epsilon):
    model = SVR(epsilon=epsilon).fit(X, np.full(90, 3.5))  # a warning would be an error
    np.testing.assert_allclose(model.predict(X), 3.5, atol=epsilon + 1e-3)
    assert model.coef_.shape == (1, 4) if model.kernel == "linear" else model.dual_coef_.shape[0] == 1


def test_b_makes_room_for_rounding_and_no_more():
    """A constant added to K adds νn times it to each Σ αᵢ k(x, xᵢ), which b takes: no decision value changes."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    K = X @ X.T + 1.0
    near, far = (OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-7).fit(K + c) for c in (0.0, 1e6))
    assert far.decision_function(K + 1e6) == pytest.approx(near.decision_function(K), abs=2e-4)


def test_a_machine_that_is_constant_leaves_no_example_outside():
    """Examples around the origin, linear kernel: w = 0 is best, G is 0 but for rounding, and the terms of h are not."""
    A = np.random.default_rng(1).normal(size=(40, 2))
    X = np.concatenate([A, -A])
    model = OneClassSVM(kernel="linear", nu=0.4).fit(X)
    assert not ((model.predict(X) < 0) & (model.alpha_ < 1.0)).any()


@pytest.mark.slow
def test_targets_far_apart():
    targets = np.where(np.arange(90) % 2, 1e12, 0.0)
    model = SVR(C=1e12, gamma=2.0, tol=1e3).fit(X, targets)
    other = svm.SVR(C=1e12, gamma=2.0, tol=1e3).fit(X, targets)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e5)
    assert np.isfinite(SVR().fit(X, targets).predict(X)).all()


def test_the_time_limit_reaches_the_solver():
    with pytest.warns(ConvergenceWarning, match="time limit"):
        model = SVR(C=1e6, time_limit=1e-9, tol=1e-12).fit(X, X[:, 0])
    assert model.status_ is Status.TIME_LIMIT


def test_a_point_on_the_border_is_inside(monkeypatch):
    model = OneClassSVM(nu=0.2).fit(X)
    values = np.array([[-1e-300], [0.0], [1e-300]])
    monkeypatch.setattr(OneClassSVM, "_decision_values", lambda self, X: values)
    assert model.predict(X[:3]).tolist() == [-1, 1, 1]
