"""Sparse data: right products in all three ways, and memory that is bounded by the data, not by their columns."""

from __future__ import annotations

import platform
import tracemalloc

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, Polynomial, Status, solve
from refsvm.core import arithmetic
from refsvm.core.arithmetic import fastest
from refsvm.core.kernels import Gram
from refsvm.core.kernels import sparse as module
from refsvm.core.kernels.products import inner_products
from refsvm.core.kernels.sparse import SparseProducts, squared_norms

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


@pytest.mark.parametrize("share", [0.0, 0.02, 1.0], ids=["dense columns", "by density", "sparse"])
@pytest.mark.parametrize("d", [30, 5000, 2 * 10**9])
@pytest.mark.parametrize("m", [1, 2, 70])
@pytest.mark.parametrize("work", [1, 2**23])
def test_products_do_not_depend_on_the_way(share, d, m, work, monkeypatch):
    monkeypatch.setattr(module, "SPARSE_BELOW", share)
    monkeypatch.setattr(module, "WORK_BYTES", work)
    monkeypatch.setattr(arithmetic, "current", arithmetic.Arithmetic())
    X = wide(80, d)
    dense, rows = as_dense(X), np.arange(80)[::-1][:m]
    products, out = SparseProducts(X), np.full((m, 80), np.nan)
    assert products.of(products.Z, rows, out) is out
    np.testing.assert_allclose(out, dense[rows] @ dense.T, rtol=1e-13)
    np.testing.assert_allclose(
        products.of(products.aligned(X), None, np.empty((80, 80))), dense @ dense.T, rtol=1e-13
    )


@needs_jit
def test_the_table_gives_the_same_for_all_columns_and_for_some():
    X = wide(80, 10**6)
    dense, products = as_dense(X), SparseProducts(X, table_from=0)
    assert products.by_columns
    some = products.of(products.Z, np.array([3, 70]), np.empty((2, 5)), start=11)
    np.testing.assert_allclose(some, dense[[3, 70]] @ dense[11:16].T, rtol=1e-13)


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


def test_one_sparse_matrix_multiplies_with_a_dense_one():
    X, Z = wide(6, 20), np.random.default_rng(0).normal(size=(4, 20))
    np.testing.assert_allclose(inner_products(X, Z), X.toarray() @ Z.T, rtol=1e-13)
    np.testing.assert_allclose(inner_products(Z, X), Z @ X.toarray().T, rtol=1e-13)
    assert inner_products(Z, X).flags.c_contiguous


def test_norms_are_those_of_the_sums_of_entries_that_stand_twice():
    X = scipy_sparse.csr_matrix(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 2, 3])), shape=(3, 2)
    )
    assert squared_norms(X).tolist() == [9.0, 0.0, 25.0]
    assert X.nnz == 3  # the caller's matrix is as it was
    assert squared_norms(scipy_sparse.csr_matrix((2, 3))).dtype == np.float64


@pytest.mark.parametrize(
    "kernel", [Linear(), RBF(0.1), Polynomial(2, 0.1, 1.0)], ids=lambda k: type(k).__name__
)
def test_a_wide_gram_matrix_is_that_of_the_columns_in_use(kernel):
    X = wide(60, 2 * 10**9)
    gram, exact, rows = Gram(kernel, X), kernel(as_dense(X), as_dense(X)), np.arange(0, 60, 7)
    np.testing.assert_allclose(gram.block(rows), exact[rows], rtol=1e-12)
    np.testing.assert_allclose(gram.block(rows, rows[::-1]), exact[np.ix_(rows, rows[::-1])], rtol=1e-12)
    np.testing.assert_allclose(gram.restrict(rows).block(np.arange(9)), exact[np.ix_(rows, rows)], rtol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), exact.diagonal(), rtol=1e-12)


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


def test_a_wide_problem_has_the_solution_of_its_columns_in_use():
    X, y = wide(100, 10**6), np.where(np.arange(100) % 3, 1, -1)
    found = solve(DualProblem.classification(X, y, kernel=Linear(), C=1.0))
    exact = solve(DualProblem.classification(as_dense(X), y, kernel=Linear(), C=1.0))
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


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
