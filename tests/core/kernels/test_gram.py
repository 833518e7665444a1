"""The Gram matrix far from the origin, its diagonal, and how often a user's callable is called."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, solve
from refsvm.core import arithmetic
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import AllRows, stored_rows
from refsvm.core.kernels.gram import held_from_products

N = 60
CLOSE = np.random.default_rng(0).normal(size=(N, 5))
ALL = np.arange(N)


def test_near_the_origin_nothing_is_moved():
    assert Gram(RBF(0.2), CLOSE)._examples.products.Z is CLOSE
    assert Gram(Linear(), CLOSE + 1e9)._examples._origin is None


def far_and_sparse():
    sparse = pytest.importorskip("scipy.sparse")
    return sparse.csr_array(CLOSE + 1e8)


def two_far_groups():
    return CLOSE + np.where(ALL % 2, 0.0, 1e8)[:, None]


@pytest.mark.parametrize("make", [far_and_sparse, two_far_groups])
def test_rounding_that_is_left_is_told(make):
    far, near = (
        DualProblem.classification(data, np.where(ALL % 3, 1, -1), kernel=RBF(0.2))
        for data in (make(), CLOSE)
    )
    assert near.gram.facts.data_error < 1e-13
    assert far.gram.facts.data_error > 1e-3
    said = r"errors of kernel values are about \d.*above the tolerance 0.001; subtract the mean.*gamma"
    with pytest.warns(UserWarning, match=said):
        solve(far, max_iter=5)


# -- callables ------------------------------------------------------------------------------------------------------


class Counting:
    """An RBF kernel that remembers how it was called."""

    def __init__(self):
        self.calls = []

    def __call__(self, X, Z):
        self.calls.append((len(X), len(Z), X is Z))
        return RBF(0.2)(X, Z)


def labels():
    return np.where(CLOSE[:, 0] > 0, 1, -1)


@pytest.mark.parametrize("shrinking", [True, False])
@pytest.mark.parametrize("cache_dtype", ["auto", "float32"])
def test_a_callable_is_called_once_if_its_matrix_fits(engine, shrinking, cache_dtype):
    kernel = Counting()
    problem = DualProblem.classification(CLOSE, labels(), kernel=kernel, C=10.0)
    found = solve(problem, engine=engine, shrinking=shrinking, cache_dtype=cache_dtype)
    assert kernel.calls == [(N, N, True)]
    assert found.kernel_rows == N
    exact = solve(DualProblem.classification(CLOSE, labels(), kernel=RBF(0.2), C=10.0), engine=engine)
    assert found.objective == pytest.approx(exact.objective, rel=1e-5)


def test_a_callable_is_asked_for_rows_if_its_matrix_does_not_fit():
    kernel = Counting()
    rows = stored_rows(Gram(kernel, CLOSE), cache_mb=8 * N * (N - 1) / 2**20)
    np.testing.assert_allclose(rows.row(7), RBF(0.2)(CLOSE[[7]], CLOSE)[0])
    assert kernel.calls == [(1, N, False)]


def test_the_matrix_of_a_callable_may_be_read_only():
    K = np.array(RBF(0.2)(CLOSE, CLOSE))
    K.flags.writeable = False
    rows = stored_rows(Gram(lambda X, Z: K, CLOSE))
    np.testing.assert_array_equal(rows.block(ALL), K)
    np.testing.assert_array_equal(rows.diagonal(), K.diagonal())
    assert (rows.computed, rows.values.flags.writeable) == (N, True)


@pytest.mark.parametrize("some", [np.array([7]), np.array([3, 7])], ids=len)
def test_all_rows_are_evaluated_with_the_first_one(some):
    kernel = Counting()
    rows = AllRows(Gram(kernel, CLOSE))
    np.testing.assert_allclose(rows.block(some), RBF(0.2)(CLOSE[some], CLOSE))
    np.testing.assert_allclose(rows.diagonal(), 1.0)
    assert kernel.calls == [(N, N, True)]
    assert (rows.computed, rows.filled) == (N, N)


@pytest.mark.parametrize("far", [True, False])
def test_examples_that_come_in_parts_have_the_origin_of_the_first_part(far):
    """The mean of 10⁶ + (0, 1, 2) is 10⁶ + 1; a first part around 0 has none, and all of them decide."""
    offset = 1e6 if far else 0.0
    first = Gram(Linear(), offset + np.array([[0.0], [1.0], [2.0]]))
    both = Gram(Linear(), 1e6 + np.array([[0.0], [1.0], [2.0], [5.0]])).decided_as(first)
    assert both.centred.origin.tolist() == [1e6 + 1.0 if far else 1e6 + 2.0]


def test_half_of_a_symmetric_matrix_is_evaluated(monkeypatch):
    entries, rows = [], arithmetic.current.gaussian_rows

    def counted(*parts):
        entries.append(parts[-1].size)
        rows(*parts)

    gram = Gram(RBF(0.1), np.random.default_rng(0).normal(size=(1000, 20)))
    monkeypatch.setattr(arithmetic.current, "gaussian_rows", counted, raising=False)
    gram.block(np.arange(1000))
    assert 500 * 1000 <= sum(entries) < 600 * 1000  # half of them, and the tiles on the diagonal


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()], ids=repr)
def test_a_matrix_made_of_shared_products_has_the_diagonal_of_its_kernel(kernel):
    """Exactly 1 of a kernel of distances, where rounding of the products would leave something else."""
    X = np.random.default_rng(2).normal(size=(7, 3)) + 1e4
    norms = np.square(X).sum(axis=1)
    held = held_from_products(Gram(kernel, X), kernel, X @ X.T, norms * (1.0 + 1e-12))
    expected = np.ones(7) if isinstance(kernel, RBF) else (X @ X.T).diagonal()
    assert held.dense.diagonal().tolist() == expected.tolist()
