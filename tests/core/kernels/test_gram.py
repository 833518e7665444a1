"""The Gram matrix far from the origin, its diagonal, and how often a user's callable is called."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, Precomputed, Status, solve
from refsvm.core import arithmetic
from refsvm.core.kernels import Gram
from refsvm.core.kernels.blocks import gather
from refsvm.core.kernels.cached_rows import AllRows, stored_rows
from refsvm.core.kernels.functions import Kernel
from refsvm.core.kernels.gram import held_from_products

N = 60
CLOSE = np.random.default_rng(0).normal(size=(N, 5))
ALL = np.arange(N)


def exact_gap(X, y, gamma, C, alpha):
    """ψ(α) from squared distances, summed in extended precision."""
    far = X.astype(np.longdouble)
    K = np.exp(-gamma * ((far[:, None] - far[None]) ** 2).sum(axis=-1))
    G = y - K @ alpha.astype(np.longdouble)
    signed = y * C
    return float(G[alpha < np.maximum(0, signed)].max() - G[alpha > np.minimum(0, signed)].min())


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e8, 1.7e9])
def test_a_solution_far_from_the_origin_is_one(offset, engine):
    X = CLOSE + offset
    y = np.where(X[:, 0] > offset, 1, -1)
    problem = DualProblem.classification(X, y, kernel=RBF(0.2), C=10.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left to warn of
        solution = solve(problem, engine=engine)
    assert solution.status is Status.CONVERGED
    assert exact_gap(X, y, 0.2, 10.0, solution.alpha) <= 1.1e-3


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("columns", [None, ALL[::-3]], ids=["all columns", "some columns"])
def test_the_diagonal_of_rbf_rows_is_exactly_one(offset, columns):
    gram, rows = Gram(RBF(0.2), 30.0 * CLOSE + offset), np.array([9, 0, 59, 9])
    block = gram.block(rows, columns)
    for k, i in enumerate(rows):
        for c, j in enumerate(ALL if columns is None else columns):
            assert (block[k, c] == 1.0) == (i == j)
    # without it the last digit of a norm shows, which some processors round up
    z = 30.0 * CLOSE
    norms = np.nextafter((z * z).sum(axis=1), np.inf)
    assert (RBF(0.2).from_inner(z @ z.T, norms, norms).diagonal() < 1.0).any()


def test_the_kernel_itself_and_the_caller_s_data_stay_the_same():
    X = CLOSE + 1e8
    before = X.copy()
    values = RBF(0.2)(X[:7], X)
    np.testing.assert_allclose(values, Gram(RBF(0.2), X).block(ALL[:7]), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(X, before)
    some = Gram(RBF(0.2), X).restrict(ALL[::2]).block(np.arange(4))  # which has an origin of its own
    np.testing.assert_allclose(some, values[::2, ::2], rtol=0, atol=1e-6)


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


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.zeros((N, 3)), r"shape \(60, 3\)"), (np.full((N, N), np.nan), "takes the value nan")],
)
def test_a_whole_matrix_that_is_none_is_refused(values, words):
    with pytest.raises(ValueError, match=words):
        stored_rows(Gram(lambda X, Z: values, CLOSE)).row(0)


def test_a_matrix_of_the_caller_is_not_called():
    assert not Gram(Precomputed(), np.eye(3)).full_matrix_only


def test_the_diagonal_of_single_rows_is_one_where_rounding_would_leave_less():
    X = 100.0 * np.random.default_rng(0).normal(size=(40, 30))
    gram = Gram(RBF(1e-2), X)
    rows = np.concatenate([gram.block(np.array([i])) for i in range(40)])
    np.testing.assert_array_equal(rows.diagonal(), np.ones(40))


class Anew(Kernel):
    """2 x·z + 1 in an array of its own: a kernel may leave the inner products as they are."""

    def from_inner(self, inner, x_norms, z_norms):
        return 2.0 * inner + 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [np.array([7]), np.arange(5, 600)], ids=len)
def test_a_kernel_need_not_work_in_place(rows, dtype):
    """One row, and many, which are evaluated in tiles; float32 rows are made of float64 products."""
    X = np.random.default_rng(0).normal(size=(600, 4))
    expected, gram = 2.0 * X @ X.T + 1.0, Gram(Anew(), X)
    found = gram.block(rows, out=np.full((len(rows), 600), np.nan, dtype))
    np.testing.assert_allclose(found, expected[rows], rtol=1e-6, atol=1e-5)
    held = held_from_products(gram, Anew(), X @ X.T, np.square(X).sum(axis=1))
    np.testing.assert_allclose(held.dense, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("d", [3, 32, 33], ids=lambda d: f"{d} features")
@pytest.mark.parametrize("kernel", [RBF(0.1), Anew(), Linear()], ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.slow
def test_the_whole_matrix_is_its_rows(d, kernel, dtype):
    """Up to 32 features half of it is evaluated, in tiles; 1,150 examples make several of them each way."""
    X, n = np.random.default_rng(0).normal(size=(1150, d)), 1150
    gram, tolerance = Gram(kernel, X), {np.float64: 1e-12, np.float32: 2e-5}[dtype]
    whole = gram.block(np.arange(n), out=np.full((n, n), np.nan, dtype))
    some = np.array([0, 127, 128, 640, n - 1])
    np.testing.assert_allclose(whole[some], kernel(X[some], X), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(whole, whole.T, rtol=tolerance, atol=tolerance)
    # another order of the rows is another block
    turned = gram.block(np.arange(n)[::-1], out=whole.copy())
    np.testing.assert_allclose(turned, whole[::-1], atol=20 * tolerance)


@pytest.mark.parametrize("some", [np.array([7]), np.array([3, 7])], ids=len)
def test_all_rows_are_evaluated_with_the_first_one(some):
    kernel = Counting()
    rows = AllRows(Gram(kernel, CLOSE))
    np.testing.assert_allclose(rows.block(some), RBF(0.2)(CLOSE[some], CLOSE))
    np.testing.assert_allclose(rows.diagonal(), 1.0)
    assert kernel.calls == [(N, N, True)]
    assert (rows.computed, rows.filled) == (N, N)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 3, 150], ids=["nothing", "few columns", "many columns"])
def test_part_of_a_held_matrix_is_gathered(dtype, count):
    rng = np.random.default_rng(0)
    K = rng.random((200, 200)).astype(dtype)
    rows, columns = rng.permutation(200)[:130], rng.permutation(200)[:count]
    for kind in (dtype, np.float64):
        out = np.full((130, count), np.nan, dtype=kind)
        gather(K, rows, columns, out)
        np.testing.assert_array_equal(out, K[rows][:, columns])


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
