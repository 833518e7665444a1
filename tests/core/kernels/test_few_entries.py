"""Dense data with few non-zero entries are multiplied as CSR: every answer is that of the CSR data, bit for bit."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Linear,
    Polynomial,
    cross_validate,
    leave_one_out,
    regularization_path,
    solve,
)
from refsvm.core.kernels.checked import cross_values
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.sparse import compressed

from ...settings import needs_jit

csr_array = pytest.importorskip("scipy.sparse").csr_array

N, D = 300, 450


def drawn(share=0.02, seed=0, n=N, d=D):
    """Examples with this share of non-zero entries, and the sign of a linear function of them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < share, rng.normal(size=(n, d)), 0.0)
    return X, np.where(X @ rng.normal(size=d) > 0.0, 1, -1)


X, y = drawn()
S = csr_array(X)


@pytest.mark.parametrize("engine", ["numpy", pytest.param("numba", marks=needs_jit)])
@pytest.mark.parametrize("kernel", [RBF(0.05), Linear(), Polynomial(2, 0.1, 1.0)], ids=lambda k: k.name)
def test_solves_take_the_steps_of_csr_data(kernel, engine):
    of_dense, of_csr = (
        solve(DualProblem.classification(data, y, kernel=kernel, C=2.0), engine=engine) for data in (X, S)
    )
    assert of_dense.iterations == of_csr.iterations
    assert np.array_equal(of_dense.alpha, of_csr.alpha)
    assert of_dense.intercept == of_csr.intercept


def test_the_kernel_values_are_those_of_differences():
    gram = Gram(RBF(0.05), X)
    rows = np.array([3, 0, 299])
    exact = np.exp(-0.05 * ((X[rows, None].astype(np.longdouble) - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(gram.block(rows), exact, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cross_values(gram, rows, X).T, exact, rtol=0, atol=1e-14)
    assert gram.X.nnz == np.count_nonzero(X)


def test_leave_one_out_folds_and_paths_are_those_of_csr_data():
    some = np.r_[:N:2]
    data = (np.pad(X[some], ((0, 0), (0, 500))), csr_array(np.pad(X[some], ((0, 0), (0, 500)))))
    loo = [leave_one_out(Z, y[some], kernel=RBF(0.05), C=2.0) for Z in data]
    assert np.array_equal(loo[0].decision_values, loo[1].decision_values, equal_nan=True)
    assert loo[0].error == loo[1].error
    cv = [cross_validate(Z, y[some], kernel=RBF(0.05), C=2.0, folds=4, rng=0) for Z in data]
    assert np.array_equal(cv[0].decision_values, cv[1].decision_values)
    paths = [regularization_path(Z, y[some], kernel=RBF(0.05), C_min=0.5, C_max=2.0) for Z in data]
    assert np.array_equal(paths[0].C, paths[1].C)
    values = paths[0].decision_function(data[0], 1.0)
    np.testing.assert_allclose(values, paths[1].decision_function(data[1], 1.0), atol=1e-12)


@pytest.mark.parametrize("name", ["SVC", "SVR", "OneClassSVM", "SVCCV", "three classes"])
def test_estimators_answer_as_on_csr_data_and_keep_dense_support_vectors(name):
    refsvm = pytest.importorskip("refsvm.estimators")
    labels = np.where(X[:, 0] != 0.0, 2, y) if name == "three classes" else y
    estimator = getattr(refsvm, "SVC" if name == "three classes" else name)
    # not γ by "scale": of dense and of CSR data it sums a variance in another order
    options = {"Cs": [1.0, 4.0], "gammas": [0.02, 0.1], "cv": 3} if name == "SVCCV" else {"gamma": 0.1}
    of_dense, of_csr = (estimator(**options).fit(data, labels) for data in (X, S))
    asked = (lambda e, Z: e.predict(Z)) if name == "SVR" else (lambda e, Z: e.decision_function(Z))
    # more than one block of support vectors, and a call of one row, which takes the dense product
    np.testing.assert_allclose(asked(of_dense, X), asked(of_csr, S), rtol=0, atol=1e-12)
    np.testing.assert_allclose(asked(of_dense, X[:1]), asked(of_csr, S[:1]), rtol=0, atol=1e-12)
    machine = getattr(of_dense, "best_estimator_", of_dense)
    theirs = getattr(of_csr, "best_estimator_", of_csr)
    assert type(machine.support_vectors_) is np.ndarray
    assert np.array_equal(machine.support_vectors_, X[machine.support_])
    assert np.array_equal(machine.dual_coef_, theirs.dual_coef_)
    assert machine.n_features_in_ == D
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(asked(again, X), asked(machine, X))
    if name == "SVCCV":
        assert of_dense.best_params_ == of_csr.best_params_
        assert np.array_equal(of_dense.cv_results_["mean_test_score"], of_csr.cv_results_["mean_test_score"])


def test_far_from_the_origin_data_stay_dense_and_right():
    far = X.copy()
    far[:, 7] = 1e7
    gram = Gram(RBF(0.05), far)
    assert gram.X is far
    distances = ((far[:5, None] - far) ** 2).sum(axis=2)
    np.testing.assert_allclose(gram.block(np.arange(5)), np.exp(-0.05 * distances), atol=1e-12)
    assert Gram(Linear(), far).X is far
    assert Gram(Linear(), far).centred.origin is not None
    labels = [solve(DualProblem.classification(Z, y, kernel=RBF(0.05))).alpha for Z in (far, X)]
    beside = solve(DualProblem.classification(np.delete(X, 7, axis=1), y, kernel=RBF(0.05)))
    np.testing.assert_allclose(labels[0], beside.alpha, atol=2e-2)


def test_a_problem_keeps_its_examples_when_the_caller_writes_to_them():
    for share in (0.02, 0.5):
        given, labels = drawn(share)
        problem = DualProblem.classification(given, labels, kernel=RBF(0.05))
        before = problem.gram.block(np.arange(3))
        given[:] = 7.0
        assert np.array_equal(problem.gram.block(np.arange(3)), before)


def test_what_is_stored_is_every_entry_that_is_not_zero(monkeypatch):
    monkeypatch.setattr("refsvm.core.kernels.sparse.ENTRIES_COUNTED", 1000)
    some = X.copy()
    some[[0, 5, -1]] = 0.0
    some[4, 3], some[-1, -1] = -0.0, 2.0
    found = compressed(some)
    assert np.array_equal(found.toarray(), some)
    assert found.nnz == np.count_nonzero(some)
    assert found.has_canonical_format
    assert compressed(np.zeros((N, D))).nnz == 0


def test_other_data_stay_as_they_are():
    for data in (drawn(0.06)[0], S):
        assert compressed(data) is None
        assert Gram(RBF(0.05), data).X is data


def test_without_scipy_data_stay_dense(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert compressed(X) is None
