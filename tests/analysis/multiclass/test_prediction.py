"""Prediction: the same values whatever the blocks, the containers, the threads and the compiler."""

import threading

import numpy as np
import pytest
from scipy import sparse

from refsvm import RBF, Linear, Polynomial, Precomputed
from refsvm.analysis.multiclass import prediction
from refsvm.analysis.multiclass.prediction import decision_values, pair_sums
from refsvm.analysis.scheme import OneVsOne
from refsvm.core import arithmetic
from refsvm.core.kernels.sparse import SparseProducts

from ...settings import needs_jit

KERNELS = [RBF(0.3), Polynomial(2, 0.2, 1.0), Linear(), lambda X, Z: 1.0 * (X @ Z.T)]
CSR = [sparse.csr_array, sparse.csr_matrix]


def written_out(kernel, X, vectors, coefficients, n_support):
    """h_pq(x) = Σ αᵢ k(x, xᵢ), one pair and one support vector after the other."""
    k, ends = len(n_support), np.cumsum([0, *n_support])
    columns = []
    for p in range(k):
        for q in range(p + 1, k):
            h = np.zeros(len(X))
            for c, other in ((p, q), (q, p)):
                line = other - 1 if other > c else other
                for i in range(ends[c], ends[c + 1]):
                    h += coefficients[line, i] * kernel(X, vectors[i : i + 1])[:, 0]
            columns.append(h)
    return np.stack(columns, axis=1)


def problem(n_support, t=50, d=7, seed=0):
    """Examples with many zeros, one of them all zeros, support vectors and their coefficients."""
    rng = np.random.default_rng(seed)
    X, vectors = rng.normal(size=(t, d)), rng.normal(size=(sum(n_support), d))
    X[np.abs(X) < 0.5] = vectors[np.abs(vectors) < 0.5] = X[3] = 0.0
    return X, vectors, rng.normal(size=(len(n_support) - 1, len(vectors)))


@pytest.mark.parametrize("n_support", [(4, 5), (3, 0, 6), (2, 3, 4, 1)], ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "poly", "linear", "callable"])
@pytest.mark.parametrize("container", [np.asarray, *CSR], ids=lambda f: f.__name__)
@pytest.mark.parametrize("block", [1, 40, 2**18])
@pytest.mark.slow
def test_the_values_follow_their_formula(n_support, kernel, container, block, monkeypatch):
    monkeypatch.setattr(prediction, "BLOCK_ENTRIES", block)
    X, vectors, coefficients = problem(n_support)
    expected = written_out(kernel, X, vectors, coefficients, n_support)
    values = decision_values(
        kernel, container(X), container(vectors), lambda K: pair_sums(coefficients, n_support, K)
    )
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("block", [1, 40, 2**18])
def test_a_precomputed_kernel_is_read_at_the_support_vectors(block, monkeypatch):
    monkeypatch.setattr(prediction, "BLOCK_ENTRIES", block)
    rng = np.random.default_rng(0)
    K, columns, coefficients = rng.normal(size=(30, 20)), np.array([3, 11, 4]), rng.normal(size=(1, 3))
    values = decision_values(Precomputed(), K, columns, lambda of: pair_sums(coefficients, (1, 2), of))
    np.testing.assert_allclose(values[:, 0], K[:, columns] @ coefficients[0], rtol=0, atol=1e-14)


# -- sparse data -----------------------------------------------------------------------------------------------------


def sparse_values(X, vectors, coefficients, kernel=KERNELS[0]):
    return decision_values(kernel, X, vectors, lambda K: pair_sums(coefficients, (4, 5), K))


@pytest.fixture
def large(monkeypatch):
    """Treat even small data as large, which get compiled products and threads."""
    monkeypatch.setattr(prediction, "LARGE_ENTRIES", 0)


@pytest.mark.parametrize("wide", [np.int32, np.int64])
@pytest.mark.parametrize("writeable", [True, False])
def test_compiled_products_take_every_index_and_read_only_data(wide, writeable, large):
    X, vectors, coefficients = problem((4, 5))
    X, vectors = sparse.csr_array(X), sparse.csr_array(vectors)
    expected = sparse_values(X, vectors, coefficients)
    for table in (X, vectors):
        table.indices, table.indptr = table.indices.astype(wide), table.indptr.astype(wide)
        for array in (table.data, table.indices, table.indptr):
            array.flags.writeable = writeable
    assert np.array_equal(sparse_values(X, vectors, coefficients), expected)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=lambda f: f.__name__)
def test_new_examples_are_centred_as_the_support_vectors_were(container):
    """Far from the origin ‖x − z‖² = ‖x‖² + ‖z‖² − 2 x·z would have no correct digit."""
    X, vectors, coefficients = problem((4, 5))
    expected = sparse_values(X, vectors, coefficients)
    far = 2.0**30
    found = sparse_values(container(X + far), vectors + far, coefficients)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)  # X + far itself is rounded by 1e-7


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=["rbf", "poly", "linear"])
@pytest.mark.parametrize("budget", [0, 2**27])
def test_columns_that_no_support_vector_has_count_for_norms_alone(kernel, budget, monkeypatch):
    monkeypatch.setattr(prediction, "WEIGHTS_BYTES", budget)
    X, vectors, coefficients = problem((4, 5))
    d = 2 * 10**9
    wide = np.concatenate([vectors, np.zeros((9, 2))], axis=1), np.concatenate([X, np.eye(50, 2)], axis=1)
    expected = sparse_values(wide[1], wide[0], coefficients, kernel)
    places = np.array([5, 900, 10**6, 10**8, 10**9, 10**9 + 1, d - 2, 17, d - 1])
    order, found = np.argsort(places), []
    for table in wide:
        narrow = sparse.csr_array(table[:, order])
        entries = narrow.data, places[order][narrow.indices], narrow.indptr
        found.append(sparse.csr_array(entries, shape=(len(table), d)))
    found = sparse_values(found[1], found[0], coefficients, kernel)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["fastest", "TABLE_BYTES"])
def test_without_compiled_products_or_with_too_many_features_scipy_multiplies(name, large, monkeypatch):
    X, vectors, coefficients = problem((4, 5))
    X, vectors = sparse.csr_array(X), sparse.csr_array(vectors)
    expected = sparse_values(X, vectors, coefficients)
    if name == "fastest":
        monkeypatch.setattr(arithmetic, "fastest", lambda waits=True: arithmetic.Arithmetic())
    else:
        monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_BYTES", 8 * 62)
    asked = []
    multiply = SparseProducts._several
    monkeypatch.setattr(SparseProducts, "_several", lambda *four: asked.append(1) or multiply(*four))
    np.testing.assert_allclose(sparse_values(X, vectors, coefficients), expected, rtol=0, atol=1e-13)
    assert asked


@needs_jit
@pytest.mark.parametrize("t", [1, 5, 50])
def test_threads_share_large_sparse_data(t, large, monkeypatch):
    X, vectors, coefficients = problem((4, 5), t=max(t, 4))
    X, vectors = sparse.csr_array(X[:t]), sparse.csr_array(vectors)
    monkeypatch.setattr("refsvm.core.kernels.threads.helper_threads", lambda: None)
    expected = sparse_values(X, vectors, coefficients)
    monkeypatch.undo()
    monkeypatch.setattr(prediction, "LARGE_ENTRIES", 0)
    monkeypatch.setattr(prediction, "BLOCK_ENTRIES", 1)
    np.testing.assert_allclose(sparse_values(X, vectors, coefficients), expected, rtol=0, atol=1e-13)
    seen = []

    class Spying(Polynomial):
        def from_inner(self, *three):
            seen.append(threading.current_thread())
            return super().from_inner(*three)

    sparse_values(X, vectors, coefficients, Spying())
    assert len(seen) == t


# -- blocks and votes ------------------------------------------------------------------------------------------------


def test_a_decision_value_of_zero_is_a_vote_for_the_second_class():
    """As in LIBSVM, where two classes are turned round (so "second" is the positive one there)."""
    assert OneVsOne(2).votes(np.array([[0.0], [-0.1]])).tolist() == [1, 0]
    values = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
    assert OneVsOne(3).votes(values).tolist() == [2, 0, 0, 1]  # the second row is a tie of all three


def test_prediction_does_not_make_wide_sparse_data_dense_at_once(monkeypatch):
    """The thread that predicts calls a kernel function of the user with one part after another."""
    monkeypatch.setattr("refsvm.analysis.multiclass.prediction.BLOCK_ENTRIES", 100)
    heights, threads = [], set()

    def kernel(A, B):
        heights.append(A.shape[0])
        threads.add(threading.current_thread())
        return A @ B.T

    X = np.random.default_rng(0).random((40, 800))
    X = sparse.csr_array(np.where(X > 0.9, X, 0.0))
    sparse_values(X, X[:9], np.ones((1, 9)), kernel)
    assert max(heights) * 800 <= 8 * 100
    assert sum(heights) == 40
    assert threads == {threading.current_thread()}
