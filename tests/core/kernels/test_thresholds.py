"""Where a kernel matrix is made in another way: on both sides of each limit, and at it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Linear
from refsvm.core import arithmetic
from refsvm.core.kernels import Gram
from refsvm.core.kernels.origin import origin_of
from refsvm.core.kernels.products import PreparedExamples, stored_for_products
from refsvm.core.kernels.sparse import SparseProducts, compressed


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
