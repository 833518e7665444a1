"""Sparse data, and dense data with few entries, which are multiplied as CSR: in memory that the data bound."""

from __future__ import annotations

import pickle
import platform
import sys
import tracemalloc

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Linear,
    Polynomial,
    solve,
)
from refsvm.core import arithmetic
from refsvm.core.arithmetic import fastest
from refsvm.core.kernels.gram import Gram
from refsvm.core.kernels.products import inner_products
from refsvm.core.kernels.sparse import SparseProducts, compressed

from ...settings import needs_jit

scipy_sparse = pytest.importorskip("scipy.sparse")


def wide(n, d, per_row=10, seed=0):
    """n rows of `per_row` ones each, in random columns; some columns stand twice in a row."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, d, n * per_row)
    return scipy_sparse.csr_matrix(
        (np.ones(n * per_row), columns, np.arange(0, n * per_row + 1, per_row)), shape=(n, d)
    )


def as_dense(X):
    """The same rows without the empty columns."""
    columns, places = np.unique(X.indices, return_inverse=True)
    return scipy_sparse.csr_matrix((X.data, places, X.indptr), shape=(X.shape[0], len(columns))).toarray()


@needs_jit
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("real", [np.float64, np.float32])
def test_compiled_products_with_few_entries_have_the_bits_of_scipy(kind, real, monkeypatch):
    rng = np.random.default_rng(0)
    X = scipy_sparse.random_array((80, 5000), density=0.01, random_state=rng, format="csr", dtype=real)
    X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
    assert fastest().sparse is not None
    of_scipy, products = SparseProducts(X), SparseProducts(X)
    for rows in (np.array([7]), np.array([3, 70, 3])):
        with monkeypatch.context() as patched:
            patched.setattr(arithmetic, "current", arithmetic.Arithmetic())
            expected = of_scipy.of(of_scipy.Z, rows, np.empty((len(rows), 80), real))
        found = products.of(products.Z, rows, np.full((len(rows), 80), np.nan, real))
        assert found.any()
        np.testing.assert_allclose(found, expected, rtol=1e-5 if real is np.float32 else 1e-13, atol=1e-6)
        # elsewhere scipy's compiler may round a product and a sum once
        if platform.machine() in ("x86_64", "AMD64"):
            np.testing.assert_array_equal(found, expected)


def test_other_examples_are_brought_to_the_same_columns():
    Z, X = wide(40, 10**6, seed=1), wide(30, 10**6, seed=2)
    X.indices[[31, 299]] = Z.indices[[5, 17]]
    expected = (X @ Z.T).toarray()
    assert expected.any()
    np.testing.assert_allclose(inner_products(X, Z), expected, rtol=1e-13)
    empty = scipy_sparse.csr_matrix((2, 10**6))
    assert (inner_products(X, empty) == 0.0).all()
    assert (inner_products(empty, Z) == 0.0).all()


def peak_mb(action):
    """MiB that an action needs at most, beyond what there was before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("d", [10**6, 2 * 10**9])
def test_wide_data_train_and_predict_in_little_memory(kernel, d):
    SVC = pytest.importorskip("refsvm.estimators").SVC
    X, y = wide(1400, d), np.arange(1400) % 2
    X.sum_duplicates()

    def fit_and_predict():
        model = SVC(kernel=kernel, gamma=0.1, C=1e4).fit(X, y)
        assert model.score(X, y) == 1.0

    # the rows of K take 15 MiB, the data 0.2 MiB; one dense row of d numbers would take 8 or 15,000
    assert peak_mb(fit_and_predict) < 90


@pytest.mark.parametrize(("d", "heights"), [(4096, [20]), (2**17, [8, 8, 4])])
def test_scipy_multiplies_by_8_mib_of_dense_columns_at_a_time(d, heights):
    """2²³ bytes hold 8 dense examples of 2¹⁷ features."""
    found = []
    data = scipy_sparse.random_array(
        (20, d), density=0.06, format="csr", random_state=np.random.default_rng(0)
    )

    class Examples:
        def __getitem__(self, rows):
            found.append(len(rows))
            return data[rows]

    out = np.empty((20, 20))
    SparseProducts(data, table_from=np.inf)._several(Examples(), np.arange(20), out)
    np.testing.assert_allclose(out, (data @ data.T).toarray(), atol=1e-12)
    assert found == heights


N, D = 300, 450


def drawn(share=0.02, seed=0, n=N, d=D):
    """Examples with this share of non-zero entries, and the sign of a linear function of them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < share, rng.normal(size=(n, d)), 0.0)
    return X, np.where(X @ rng.normal(size=d) > 0.0, 1, -1)


X, y = drawn()
S = scipy_sparse.csr_array(X)


@pytest.mark.parametrize("wider", [0, 500])
@pytest.mark.parametrize("kernel", [RBF(0.05), Linear(), Polynomial(2, 0.1, 1.0)], ids=lambda k: k.name)
def test_the_matrix_is_that_of_csr_data(kernel, wider):
    """What is solved, left out and followed reads no more of them; `test_any_block` tells whether it is right."""
    of_dense, of_csr = (
        Gram(kernel, np.pad(X, ((0, 0), (0, wider)))),
        Gram(kernel, scipy_sparse.csr_array(X)),
    )
    rows, some = np.arange(N), np.array([3, 299, 3])
    for asked in ((rows,), (some,), (some[:1],), (rows, some)):
        np.testing.assert_array_equal(of_dense.block(*asked), of_csr.block(*asked))
    np.testing.assert_array_equal(of_dense.diagonal(), of_csr.diagonal())
    assert of_dense.X.nnz == np.count_nonzero(X)


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


def test_far_from_the_origin_data_stay_dense():
    far = X.copy()
    far[:, 7] = 1e7
    assert Gram(RBF(0.05), far).X is far
    assert Gram(Linear(), far).X is far
    assert Gram(Linear(), far).centred.origin is not None
    alphas = [
        solve(DualProblem.classification(Z, y, kernel=RBF(0.05))).alpha
        for Z in (far, np.delete(X, 7, axis=1))
    ]
    np.testing.assert_allclose(*alphas, atol=2e-2)


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
