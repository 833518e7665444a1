"""Products around the mean: it is that of every row, and float32 spends its bits on differences from it."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, Linear
from refsvm.core.kernels import Gram
from refsvm.core.kernels.origin import moved, origin_of
from refsvm.core.kernels.precision import variation
from refsvm.core.kernels.products import PreparedExamples

RNG = np.random.default_rng(0)
N = 40
NEAR = RNG.normal(size=(N, 3)) + np.linspace(-2.0, 2.0, N)[:, None]  # the first rows have another mean

FAR = np.array([1e6, -1e6, 1e6])
# several, so that no part of the rows has the mean of all
ORDERS = [np.arange(N), np.arange(N)[::-1], np.random.default_rng(1).permutation(N)]


@pytest.mark.parametrize("order", ORDERS, ids=["up", "down", "any"])
def test_the_origin_is_the_mean_of_every_row(order):
    X = (NEAR + FAR)[order]
    mean = np.array([float(sum(column)) for column in X.T.tolist()]) / N
    np.testing.assert_allclose(origin_of(X), mean, rtol=1e-14)
    norms = ((X - mean) ** 2).sum(axis=1)
    np.testing.assert_allclose(PreparedExamples(RBF(0.3), X).norms, norms, rtol=1e-8)
    norms = ((NEAR - NEAR.mean(axis=0)) ** 2).sum(axis=1)[order]
    single = PreparedExamples(RBF(0.3), NEAR[order], dtype=np.float32)
    np.testing.assert_allclose(single.norms, norms, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("row", [0, 17, N - 1])
@pytest.mark.parametrize("column", [0, 2])
@pytest.mark.parametrize("kind", ["as stored", "in two parts", "a stored zero"])
def test_a_feature_that_one_row_does_not_store_stays(row, column, kind):
    sparse = pytest.importorskip("scipy.sparse")
    X = NEAR + np.where(np.arange(3) == column, 9.0, 1e6)
    X[row, column] = 0.0
    data = sparse.csr_array(X)
    if kind == "in two parts":  # entries that stand twice add up
        half = data.tocoo()
        parts = np.tile(half.data / 2.0, 2), (np.tile(half.coords[0], 2), np.tile(half.coords[1], 2))
        order = np.argsort(parts[1][0], kind="stable")
        starts = np.searchsorted(parts[1][0][order], np.arange(N + 1))
        data = sparse.csr_array((parts[0][order], parts[1][1][order], starts), shape=X.shape)
    elif kind == "a stored zero":
        full = sparse.csr_array(np.where(X == 0.0, 1.0, X))
        full.data[np.flatnonzero(X.ravel() == 0.0)] = 0.0
        data = full
    origin = origin_of(data)
    kept = np.arange(3) != column
    np.testing.assert_allclose(origin[kept], X.mean(axis=0)[kept], rtol=1e-14)
    if kind == "a stored zero":
        np.testing.assert_allclose(origin[column], X[:, column].mean(), rtol=1e-14)
    else:
        assert origin[column] == 0.0
    np.testing.assert_array_equal(moved(data, origin).toarray(), X - origin)


@pytest.mark.parametrize(("few", "most"), [(2, 4), (9, 9)])
def test_a_sparse_matrix_of_more_columns_than_entries_and_a_few_stays(few, most, monkeypatch):
    sparse = pytest.importorskip("scipy.sparse")
    monkeypatch.setattr("refsvm.core.kernels.origin.FEW_COLUMNS", few)
    for d in (most, most + 1):
        X = sparse.csr_array(([1e6, 2.0, 1e6 + 1.0, 1.0], [0, 1, 0, 1], [0, 2, 4]), shape=(2, d))
        assert (origin_of(X) is None) == (d > most)


def test_terms_of_a_decision_value_are_around_the_mean_of_every_row():
    """x = 100, 101, 108, and α = 3, −1, −2: K varies over a row by 8x, around the mean row by 8(x − 103) at most."""
    x, alpha = np.array([100.0, 101.0, 108.0]), np.array([3.0, -1.0, -2.0])
    gram = Gram(Linear(), x[:, None])
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        part = Gram(Linear(), gram.X[order])
        assert variation(part, alpha[order], np.arange(3), z=0.0) == pytest.approx(6.0 * 8.0 * 5.0)
        assert variation(part, alpha[order], np.arange(3), z=1.0) == pytest.approx(6.0 * 8.0 * 108.0)


BLOCKS = {
    "a row": np.array([7]),
    "some rows": np.array([3, 39, 0]),
    "all rows": np.arange(N),
    "a whole large matrix": np.arange(400),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("offset", [0.0, 10.0, 30.0, 300.0, 1e5])
@pytest.mark.parametrize("gamma", [0.05, 0.3])
def test_float32_rows_are_right_wherever_the_data_are(gamma, offset, name):
    """γ‖x‖² is 0 … 10¹⁰; below 10³ the products in float64 are around 0."""
    rows = BLOCKS[name]
    X = offset + np.tile(NEAR, (10, 1))[: max(N, len(rows))] + 0.001 * np.arange(max(N, len(rows)))[:, None]
    gram = Gram(RBF(gamma), X)
    assert gram.supports_float32
    near = X - offset
    K = np.exp(-gamma * ((near[rows][:, None] - near[None]) ** 2).sum(axis=-1))
    found = gram.block(rows, out=np.empty((len(rows), len(X)), np.float32))
    np.testing.assert_allclose(found, K, rtol=0.0, atol=5e-6)


@pytest.mark.parametrize("name", [name for name in BLOCKS if "large" not in name])
def test_float32_rows_of_a_linear_kernel_are_around_the_origin_of_its_matrix(name):
    rows, X = BLOCKS[name], NEAR + FAR
    gram = Gram(Linear(), X).centred
    assert gram.origin is not None
    found = gram.block(rows, out=np.empty((len(rows), N), np.float32))
    np.testing.assert_allclose(found, gram.block(rows), rtol=0.0, atol=1e-5)


def test_the_offset_of_a_matrix_around_the_mean_is_by_how_much_its_decision_values_differ():
    X = 1e3 + np.array([[0.0, 1.0], [2.0, 5.0], [3.0, -1.0], [7.0, 2.0]])
    gram, alpha = Gram(Linear(), X), np.array([0.5, -1.0, 0.0, 0.5])
    assert gram.offset(alpha) == 0.0
    near, every = gram.centred, np.arange(4)
    assert near is not gram
    left = (gram.block(every) - near.block(every)) @ alpha
    np.testing.assert_allclose(left, near.offset(alpha), rtol=1e-9)
