"""Products around the mean, and single precision: values rounded once, rows computed as float32, and their error."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, ConjugateStep, DualProblem, Linear, MostViolatingPair, NewtonStep, Precomputed, solve
from refsvm.core.arithmetic import Arithmetic, fastest
from refsvm.core.kernels import Gram
from refsvm.core.kernels.origin import moved, origin_of
from refsvm.core.kernels.precision import decision_error, variation
from refsvm.core.kernels.products import PreparedExamples
from refsvm.core.kernels.sparse import SparseProducts
from refsvm.core.solver.rules import chosen_rules
from refsvm.testing import Case, check_engines

from ...settings import needs_jit, needs_numba, noisy_classes

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


@pytest.mark.parametrize("rows", [np.array([7]), np.array([3, 39, 0]), np.arange(N)], ids=len)
def test_float32_rows_of_a_linear_kernel_are_around_the_origin_of_its_matrix(rows):
    X = NEAR + FAR
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


@needs_jit
def test_products_of_sparse_float32_data_are_float32_sums():
    Z = pytest.importorskip("scipy.sparse").random_array((30, 9), density=0.5, random_state=0, format="csr")
    products = SparseProducts(Z.astype(np.float32), table_from=0)
    assert products.by_columns
    found = products.of(products.Z, None, np.empty((30, 30), np.float32))
    np.testing.assert_allclose(found, (Z @ Z.T).toarray(), rtol=1e-6, atol=1e-7)


@needs_numba
def test_float32_exponents_have_the_same_bits_before_and_after_compiled_code_is_there(monkeypatch):
    fastest()
    X = np.random.default_rng(0).normal(size=(30, 3))
    found = []
    for _ in range(2):
        found.append(Gram(RBF(0.3), X).block(np.arange(30), out=np.empty((30, 30), np.float32)))
        monkeypatch.setattr("refsvm.core.arithmetic.current", Arithmetic())
    np.testing.assert_array_equal(*found)


RULES = {
    "default": chosen_rules(None, None, None),
    "newton": chosen_rules(None, NewtonStep(), None),
    "conjugate": chosen_rules(None, ConjugateStep(), None),
    "not built in": chosen_rules(MostViolatingPair(), None, None),
}


@needs_numba
@pytest.mark.parametrize("cache_mb", [200.0, 0.02], ids=["all rows", "some rows"])
@pytest.mark.parametrize("name", RULES)
def test_both_engines_take_the_same_steps_on_float32_rows(name, cache_mb):
    """Restricted problems included, which keep float32 rows too; rules that are not built in read float64 copies."""
    X, y = noisy_classes(120, 4, 1, noise=0.5)
    case = Case(name, DualProblem.classification(X, y, kernel=RBF(0.2), C=50.0), RULES[name])
    for shrinking in (False, True):
        check_engines(case, limit=200, shrinking=shrinking, cache_mb=cache_mb, cache_dtype="float32")


def test_rounding_of_duplicates_makes_no_kernel_indefinite(recwarn):
    """q of a pair of duplicates is 0 but for rounding, which is 10⁻⁷ of K in float32."""
    X = np.tile(10.0 * np.random.default_rng(0).normal(size=(50, 5)), (2, 1))
    y = np.where(X[:, 0] + 5.0 * np.random.default_rng(1).normal(size=100) > 0, 1, -1)
    problem = DualProblem.classification(X, y, kernel=Linear())
    solve(problem, engine="numpy", cache_dtype="float32", max_iter=300)
    assert not [warning for warning in recwarn if "semi-definite" in str(warning.message)]


@pytest.mark.parametrize("cache_dtype", ["auto", "float64", "float32"])
def test_a_matrix_of_the_caller_s_is_read_as_it_is(cache_dtype, engine):
    """In float64 it needs no second copy, whatever rows are kept as."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    K, y = RBF(0.3)(X, X), np.where(X[:, 0] > 0.0, 1, -1)
    problem = DualProblem.classification(K, y, kernel=Precomputed(), C=2.0)
    found, wanted = (solve(problem, engine=engine, cache_dtype=kept) for kept in (cache_dtype, "float64"))
    assert found.kernel_rows == 0
    np.testing.assert_array_equal(found.alpha, wanted.alpha)


def test_the_error_of_float32_decision_values_grows_with_k_and_alpha():
    """4 · 2⁻²⁴ · max |K| · √Σα², α of equal examples summed first."""
    gram = Gram(Linear(), np.array([[1.0], [2.0], [2.0]]))
    assert decision_error(gram, np.array([3.0, 1.0, 3.0]), 1.0) == pytest.approx(4 * 2**-24 * 5.0)
    assert decision_error(gram, np.array([3.0, 1.0, 3.0]), 8.0) == pytest.approx(4 * 2**-24 * 40.0)
