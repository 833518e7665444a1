"""Single precision: the values of a matrix that the caller gives, rounded once, and rows computed as float32."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, ConjugateStep, DualProblem, Linear, MostViolatingPair, NewtonStep, Precomputed, solve
from refsvm.core.arithmetic import Arithmetic, fastest
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.precision import decision_error
from refsvm.core.kernels.sparse import SparseProducts
from refsvm.core.solver.rules import chosen_rules
from refsvm.testing import Case, check_engines

from ...settings import needs_jit, needs_numba


def test_blocks_are_those_of_the_matrix_rounded():
    X = np.random.default_rng(0).normal(size=(30, 3))
    true = DualProblem.classification(X, np.where(X[:, 0] > 0, 1, -1), kernel=RBF(0.3)).gram
    K = true.block(np.arange(30))
    single = Gram(Precomputed(), K.astype(np.float32))
    rows, columns = np.array([4, 2, 29]), np.array([1, 0])
    for found, expected in (
        (single.block(rows), K[rows]),
        (single.block(rows, columns), K[np.ix_(rows, columns)]),
        (single.block(rows, out=np.empty((3, 30))), K[rows]),
        (stored_rows(single).values[:0], K[:0]),
        (stored_rows(single).block(rows), K[rows]),
        (single.restrict(rows).block(np.array([1])), K[np.ix_([2], rows)]),
        (single.diagonal(), K.diagonal()),
    ):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected.astype(np.float32).astype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=6e-8)
    assert single.facts.data_error >= np.abs(single.block(np.arange(30)) - K).max()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=repr)
def test_float32_rows_are_right_one_by_one_and_in_batches(sparse, kernel):
    X = np.random.default_rng(0).normal(size=(40, 3))
    gram = Gram(kernel, pytest.importorskip("scipy.sparse").csr_array(X) if sparse else X)
    numbers = np.arange(40)
    K, size = gram.block(numbers), float(np.abs(X @ X.T).max())
    one_by_one = [gram.block(numbers[i : i + 1], out=np.empty((1, 40), np.float32))[0] for i in numbers]
    batch = gram.block(numbers, out=np.empty((40, 40), np.float32))
    for found in (np.array(one_by_one), batch):
        assert 0.0 < np.abs(found - K).max() < 2e-7 * size
        assert np.diagonal(found).max() <= 1.0 or not kernel.has_unit_diagonal


@pytest.mark.parametrize("scale", [1e-25, 1e-10, 1e10, 1e25])
def test_data_of_any_size_keep_their_kernel_values(scale):
    X = scale * np.random.default_rng(0).normal(size=(20, 3))
    gram, numbers = Gram(RBF(0.3 / scale**2), X), np.arange(20)
    found = gram.block(numbers, out=np.empty((20, 20), np.float32))
    np.testing.assert_allclose(found, gram.block(numbers), atol=1e-6)


def test_far_examples_are_multiplied_in_double_precision():
    X = np.random.default_rng(0).normal(size=(20, 3))
    gram = Gram(RBF(100.0), X)
    assert not gram.supports_float32
    found = gram.block(np.arange(20), out=np.empty((20, 20), np.float32))
    np.testing.assert_array_equal(found, gram.block(np.arange(20)).astype(np.float32))


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
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=120) > 0, 1, -1)
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
