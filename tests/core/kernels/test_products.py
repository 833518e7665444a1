"""Inner products of a batch against plain sums, whatever the kind of matrix and the number of rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, Polynomial, Precomputed, Sigmoid, solve
from refsvm.core.arithmetic import fastest
from refsvm.core.kernels import Gram
from refsvm.core.kernels.products import CENTRED_FROM, DenseProducts, PreparedExamples, no_parts
from refsvm.core.kernels.sparse import SparseProducts

from ...settings import needs_numba

rng = np.random.default_rng(3)
X = np.where(rng.random((37, 11)) < 0.4, rng.normal(size=(37, 11)), 0.0)


def products(data):
    return PreparedExamples(Linear(), data).products


@pytest.mark.parametrize("m", [1, 3, 4, 8, 9, 16, 21])
@pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csr_array", "wide indices"])
def test_products_are_sums_of_products(m, kind, monkeypatch):
    if m > 8:
        monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_FROM_ENTRIES", 1)
    data = X
    if kind != "dense":
        sparse = pytest.importorskip("scipy.sparse")
        data = sparse.csr_array(X) if kind == "csr_array" else sparse.csr_matrix(X)
        if kind == "wide indices":
            data.indices, data.indptr = data.indices.astype(np.int64), data.indptr.astype(np.int64)
    has_table = kind != "dense" and m > 8 and fastest().sparse is not None
    assert products(data).by_columns == has_table
    rows = rng.permutation(37)[:m]
    expected = [[sum(a * b for a, b in zip(X[i], z, strict=True)) for z in X] for i in rows]
    out = np.full((m, 37), np.nan)
    assert products(data).of(data, rows, out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)
    for i in rows[:3]:
        products(data).of(data, np.array([i]), out[:1])
        np.testing.assert_allclose(out[0], X @ X[i], rtol=1e-13, atol=1e-14)


def test_entries_that_stand_twice_in_sparse_data_add_up():
    sparse = pytest.importorskip("scipy.sparse")
    data = sparse.csr_matrix(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    out = np.empty((1, 2))
    assert products(data).of(data, np.array([0]), out).tolist() == [[9.0, 0.0]]
    assert products(data).of(data, np.array([1]), out).tolist() == [[0.0, 25.0]]


@needs_numba
@pytest.mark.parametrize("tile", [4, 100])
def test_compiled_products_are_sums_of_products_run_as_python_too(tile, monkeypatch):
    from refsvm.compiled.kernels import sparse as compiled

    csr_matrix = pytest.importorskip("scipy.sparse").csr_matrix
    monkeypatch.setattr(compiled, "TILE", tile)
    # rows of 0, 1, 2, 3, 4 and 5 entries, of which four are taken at a time; whole numbers, so that sums are exact
    rows = np.array([[int(k < count) * (k + 2) for k in range(5)] for count in range(6)], dtype=np.float32)
    left, right = csr_matrix(rows), csr_matrix(rng.integers(-9, 9, size=(7, 5)).astype(np.float32))
    chosen = np.array([5, 0, 1, 2, 3, 4, 3])
    expected = [
        [sum(x * z for x, z in zip(rows[i], other, strict=True)) for other in right.toarray()] for i in chosen
    ]
    parts = left.data, left.indices, left.indptr
    for start, width in [(0, 7), (2, 5), (6, 1)]:
        out = np.full((7, width), np.nan, dtype=np.float32)
        compiled.product(chosen, *parts, np.ascontiguousarray(right.toarray().T), start, out)
        assert out.tolist() == [each[start : start + width] for each in expected]
    # compiled code that stands inside other compiled code alone cannot be called from Python
    monkeypatch.setattr(compiled, "sparse_row", getattr(compiled.sparse_row, "py_func", compiled.sparse_row))
    features, out = csr_matrix(right.T), np.full((7, 7), np.nan, dtype=np.float32)
    compiled.sparse_product(chosen, *parts, features.data, features.indices, features.indptr, out)
    assert out.tolist() == expected


@pytest.mark.parametrize("large", [1, 10**6])
def test_data_may_be_read_only(large, monkeypatch):
    monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_FROM_ENTRIES", large)
    sparse = pytest.importorskip("scipy.sparse")
    data = sparse.csr_matrix(X)
    for part in (data.data, data.indices, data.indptr):
        part.flags.writeable = False
    found = products(data).of(data, np.arange(9), np.empty((9, 37)))
    np.testing.assert_allclose(found, X[:9] @ X.T, atol=1e-14)


def test_no_table_is_made_for_small_or_wide_data(monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    data = sparse.csr_matrix(X)
    assert not products(data).by_columns
    monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_FROM_ENTRIES", 1)
    monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_BYTES", X.nbytes - 1)
    assert not products(data).by_columns


@pytest.mark.parametrize(("entries", "has_table"), [(2**18 - 1, False), (2**18, True)])
def test_a_table_is_made_from_so_many_entries_on(entries, has_table, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    # as if it were compiled
    monkeypatch.setattr("refsvm.core.arithmetic.fastest", lambda: SimpleNamespace(sparse=...))
    values = np.ones((512, 512))
    values.flat[entries:] = 0.0
    data = sparse.csr_array(values)
    assert SparseProducts(data).by_columns is has_table
    assert PreparedExamples(Linear(), data).products.by_columns is has_table
    assert SparseProducts(data, table_from=0).by_columns
    assert not SparseProducts(data, table_from=np.inf).by_columns


@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [(1600, 100, True), (1600, 99, False), (1300, 100, False), (100_000, 20, False), (1024, 128, False),
     (1025, 128, True)],
)  # fmt: skip
def test_rows_are_computed_in_batches_where_the_data_exceed_a_cache(n, d, expected):
    assert DenseProducts(np.empty((n, d))).prefers_batches is expected


def test_a_problem_of_many_features_is_solved_in_blocks_to_the_same_optimum():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 100))
    y = np.where(X[:, :5].sum(axis=1) + rng.normal(size=1600) > 0.0, 1.0, -1.0)
    problem = DualProblem.classification(X, y, kernel=RBF(0.01), C=1.0)
    assert problem.gram.facts.prefers_batches
    blocks, all_at_once = solve(problem), solve(problem, shrinking=False)
    assert blocks.objective == pytest.approx(all_at_once.objective, rel=1e-6)
    assert max(blocks.kkt_gap, all_at_once.kkt_gap) <= 1e-3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("size", [1e-6, 0.1, 1.0, 30.0])
def test_a_value_is_rounded_as_its_type_is_and_more_where_distances_are_large(size, gamma, dtype):
    """A value near 1 by ε, and one of a distance that is the difference of γ‖x‖² by ε times that."""
    X = size * np.random.default_rng(2).normal(size=(9, 3))
    prepared = PreparedExamples(RBF(gamma), X, dtype=dtype)
    largest = np.square(X).sum(axis=1).max()
    if dtype == np.float32 or gamma * largest > CENTRED_FROM:
        largest = np.square(X - X.mean(axis=0)).sum(axis=1).max()
    expected = float(np.finfo(dtype).eps) * max(1.0, gamma * largest)
    assert prepared.data_error == pytest.approx(expected, rel=1e-5, abs=0.0)
    assert prepared.data_error >= np.finfo(dtype).eps


class Halved(RBF):
    """Another function under a known name."""


def row_by_parts(parts, i):
    """Row i as compiled code makes it, of dense examples."""
    inner = parts.X[i] @ parts.features
    if parts.gamma < 0.0:
        return inner
    return np.exp(-parts.gamma * (parts.norms[i] + parts.norms - 2.0 * inner))


@pytest.mark.parametrize(
    ("kernel", "has_parts"),
    [
        (RBF(0.5), True), (Linear(), True), (Polynomial(degree=2), False), (Sigmoid(0.1), False), (Halved(0.5), False),
        (lambda X, Z: np.exp(-np.square(X[:, None] - Z).sum(axis=2)), False), (Precomputed(), False),
    ],
    ids=["rbf", "linear", "poly", "sigmoid", "another", "a function", "a matrix"],
)  # fmt: skip
def test_compiled_code_makes_rows_of_two_kernels_alone(kernel, has_parts):
    X = np.random.default_rng(5).normal(size=(9, 4))
    gram = Gram(kernel, X @ X.T if isinstance(kernel, Precomputed) else X)
    for dtype in map(np.dtype, (np.float64, np.float32)):
        parts = gram.parts(dtype)
        assert (parts is not None) == has_parts, dtype
        if has_parts:
            assert {each.dtype for each in (parts.X, parts.features, parts.norms)} == {dtype}
            for i in range(9):
                expected = gram.block(np.array([i]))[0]
                np.testing.assert_allclose(row_by_parts(parts, i), expected, rtol=1e4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("entries", [None, ("values", "places")])
def test_parts_of_sparse_rows_are_their_entries_where_compiled_code_reads_them(entries, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr(SparseProducts, "entries", entries)
    parts = Gram(RBF(0.5), sparse.csr_array(np.eye(4))).parts(np.dtype(np.float64))
    if entries is None:
        assert parts is None
    else:
        assert (parts.entries, parts.gamma, parts.norms.tolist()) == (entries, 0.5, [1.0] * 4)


@pytest.mark.parametrize(
    ("table", "index", "has"), [(None, "int32", True), (0, "int32", False), (None, "int64", False)]
)
def test_entries_are_read_where_there_is_no_table_and_their_indices_are_short(table, index, has, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    data = sparse.csr_array(np.eye(4))
    data.indices, data.indptr = data.indices.astype(index), data.indptr.astype(index)
    products = SparseProducts(data)
    monkeypatch.setattr(SparseProducts, "_table", table)
    monkeypatch.setattr(products, "Z", data)
    assert (products.entries is not None) == has
    if has:
        assert [each.tolist() for each in products.entries[:3]] == [[1.0] * 4, [0, 1, 2, 3], [0, 1, 2, 3, 4]]


def test_rows_that_float32_would_round_too_far_have_no_parts():
    X = 1e4 * np.random.default_rng(5).normal(size=(9, 4))
    for kernel in (RBF(0.5), Linear()):
        gram = Gram(kernel, X)
        assert (gram.parts(np.dtype(np.float32)) is None) == (gram._single is None)
        assert gram.parts(np.dtype(np.float64)) is not None
    assert Gram(RBF(0.5), X).parts(np.dtype(np.float32)) is None
    nothing = no_parts(np.dtype(np.float32))
    assert [each.size for each in (*nothing[:2], *nothing.entries, nothing.norms)] == [0] * 9
    assert nothing.gamma == -1.0
