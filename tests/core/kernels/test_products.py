"""Where products, tables and rows are made in another way: on both sides of each limit, and at it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.core import arithmetic
from refsvm.core.kernels import Gram
from refsvm.core.kernels.origin import origin_of
from refsvm.core.kernels.products import (
    CENTRED_FROM,
    DenseProducts,
    PreparedExamples,
    no_parts,
    stored_for_products,
)
from refsvm.core.kernels.sparse import SparseProducts, compressed

from ...settings import needs_numba

rng = np.random.default_rng(3)
X = np.where(rng.random((37, 11)) < 0.4, rng.normal(size=(37, 11)), 0.0)


def products(data):
    return PreparedExamples(Linear(), data).products


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


@pytest.mark.parametrize(("gamma", "is_far"), [(999.5, False), (1000.0, False), (1000.5, True)])
def test_examples_are_multiplied_around_their_mean_where_distances_are_large(gamma, is_far):
    """Above γ‖x‖² = 1000, of dense data; those with few entries are then no longer stored as such."""
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    around = ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    found = PreparedExamples(RBF(gamma), X)
    np.testing.assert_allclose(found.norms, around if is_far else np.ones(3), rtol=1e-12)
    pytest.importorskip("scipy.sparse")
    X = np.eye(500)
    assert (stored_for_products(RBF(gamma), X) is X) == is_far
    assert stored_for_products(RBF(gamma), X, np.zeros(500)) is X


@pytest.mark.parametrize(
    ("first", "last", "is_far"),
    [(8.0, 10.0, False), (8.02, 10.02, True), (-8.0, -10.0, False), (10.0, -10.0, False)],
)
def test_two_digits_are_lost_before_a_linear_kernel_moves(first, last, is_far):
    """max ‖x‖² = 100 max ‖x − c‖²."""
    found = origin_of(np.array([[first], [last]]))
    assert (found is not None) == is_far


@pytest.mark.parametrize(("x", "is_far"), [((30.0, 10.0), False), ((30.0, 10.01), True), ((0.0, 0.0), False)])
def test_examples_that_are_all_the_same_move_beyond_a_thousand(x, is_far):
    assert (origin_of(np.array([x, x])) is not None) == is_far


@pytest.mark.parametrize(
    ("size", "gamma", "is_single"),
    [
        (1.0, 63.5, True),
        (1.0, 64.0, False),  # γ‖x − c‖²
        (10.0**-14.5, 1.0, True),
        (10.0**-15.5, 1.0, False),  # ‖x‖² is next to nothing in float32
        (10.0**14.5, 1e-29, True),
        (10.0**15.5, 1e-31, False),
    ],
)
def test_where_float32_rows_are_computed_as_such(size, gamma, is_single):
    assert Gram(RBF(gamma), np.array([[-size], [size]])).supports_float32 == is_single


@pytest.mark.parametrize(("square", "has_parts"), [(4e299, True), (6e299, False)])
def test_compiled_code_makes_no_rows_of_values_that_may_be_too_large(square, has_parts):
    found = Gram(Linear(), np.sqrt(square) * np.eye(2)).parts(np.dtype(np.float64))
    assert (found is not None) == has_parts


@pytest.mark.parametrize(
    ("n", "d", "is_stored"),
    [(1024, 128, True), (1023, 128, False), (1311, 100, True), (1324, 99, False)],
)
def test_from_which_size_on_entries_are_counted(n, d, is_stored):
    """From 2¹⁷ entries and 100 features on."""
    pytest.importorskip("scipy.sparse")
    X = np.zeros((n, d))
    X[3, 5] = 2.0
    found = compressed(X)
    assert (found is not None) == is_stored
    assert found is None or np.array_equal(found.toarray(), X)


@pytest.mark.parametrize(
    ("each", "entries", "is_stored"),
    [(7, 9_999, True), (7, 10_000, True), (7, 10_001, False), (8, 2000, True), (9, 2250, False)],
)
def test_up_to_which_share_of_entries_data_are_stored(each, entries, is_stored, monkeypatch):
    """4 % of all; among the rows that are counted first up to twice as many."""
    pytest.importorskip("scipy.sparse")
    monkeypatch.setattr("refsvm.core.kernels.sparse.ENTRIES_COUNTED", 250 * 100)
    X = np.zeros((2500, 100))
    X[::10, :each] = 1.0  # these are counted first
    others = np.flatnonzero(np.arange(X.size) // 100 % 10)
    X.ravel()[others[: entries - 250 * each]] = 1.0
    assert np.count_nonzero(X) == entries
    assert (compressed(X) is not None) == is_stored


@pytest.mark.parametrize(("d", "entries", "kept"), [(4096, 3, 4096), (4097, 3, 3), (4097, 4097, 4097)])
def test_columns_without_an_entry_are_left_out_of_wide_data(d, entries, kept):
    sparse = pytest.importorskip("scipy.sparse")
    places = np.arange(entries)
    Z = sparse.csr_array((np.ones(entries), (places, places)), shape=(entries, d))
    products = SparseProducts(Z)
    assert products.Z.shape[1] == kept
    found = products.of(products.aligned(Z), np.arange(2), np.empty((2, entries)))
    np.testing.assert_array_equal(found, np.eye(entries)[:2])


@pytest.mark.parametrize(
    ("threads", "shared_from", "height"), [(3, 39_999, 32), (3, 40_000, 648), (1, 0, 96), (50, 0, 8)]
)
def test_many_rows_are_shared_among_threads_in_pieces_of_eight(threads, shared_from, height, monkeypatch):
    """100 rows of 200 examples with two features: 40,000 products; a tile has room for 655 rows."""
    gram, pieces = Gram(RBF(0.5), np.random.default_rng(0).normal(size=(200, 2))), []
    monkeypatch.setattr(
        "refsvm.core.kernels.gram.arithmetic", SimpleNamespace(current=SimpleNamespace(threads=threads))
    )
    monkeypatch.setattr("refsvm.core.kernels.gram.SHARED_FROM", shared_from)
    monkeypatch.setattr("refsvm.core.kernels.gram.run_in_pieces", lambda work, *sizes: pieces.append(sizes))
    gram.block(np.arange(100))
    assert pieces == [(100, height)]


@pytest.mark.parametrize("beyond", [False, True])
def test_up_to_which_size_there_is_a_table_and_from_which_share_on_products_are_dense(beyond, monkeypatch):
    """Of 3 by 4 numbers of eight bytes, six entries."""
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr("refsvm.core.kernels.sparse.TABLE_BYTES", 96 - beyond)
    monkeypatch.setattr("refsvm.core.kernels.sparse.SPARSE_BELOW", 0.5 + 0.01 * beyond)
    monkeypatch.setattr(arithmetic, "fastest", lambda: SimpleNamespace(sparse=True))
    products = SparseProducts(sparse.csr_array(np.tile([1.0, 0.0], (3, 2))), table_from=0)
    assert ((products._table is None), products._has_few_entries) == (beyond, beyond)
