"""One arithmetic: the order that is written down, in both halves, every block, both types; right by other means."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, Linear, Polynomial, Sigmoid
from refsvm.core.arithmetic import Arithmetic, dot, fastest, product
from refsvm.core.kernels import Gram
from refsvm.core.kernels.products import DenseProducts

from .settings import INTERPRETED, NUMBA, needs_numba, needs_same_bits

TYPES = [np.float64, np.float32]
WIDTHS = [1, 2, 7, 8, 9, 16, 23, 127, 128, 129, 300]


def in_order(x, z):
    """The product of two vectors as it is written down: eight summands in order, then the sums of eight, in order."""
    total = x.dtype.type(0)
    for k in range(0, len(x), 8):
        some = x[k] * z[k]
        for t in range(k + 1, min(k + 8, len(x))):
            some = some + x[t] * z[t]
        total = total + some
    return total


def halves():
    if not (NUMBA and INTERPRETED):
        return [Arithmetic, fastest()]
    from refsvm.compiled.arithmetic import CompiledArithmetic  # never installed without the compiler

    return [Arithmetic, CompiledArithmetic()]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("d", WIDTHS)
def test_a_product_is_summed_in_the_order_written_down(d, dtype):
    X = np.random.default_rng(d).normal(size=(9, d)).astype(dtype)
    expected = np.array([[in_order(x, z) for z in X] for x in X])
    for way in halves():
        out = np.empty((9, 9), dtype)
        way.products(X, np.arange(9), np.ascontiguousarray(X.T), 0, out)
        np.testing.assert_array_equal(out, expected, strict=True)
        np.testing.assert_array_equal(way.norms(X), expected.diagonal(), strict=True)
        rows = np.empty((9, 3), dtype)
        way.products_of_rows(X, X[:3].copy(), rows)
        np.testing.assert_array_equal(rows, expected[:, :3], strict=True)


@needs_same_bits
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kernel", [RBF(0.1), Linear(), Polynomial(3, 0.1, 1.0), Sigmoid(0.1, -0.3)])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (40, 13), (600, 3), (1100, 9), (300, 200)])
def test_a_kernel_value_has_the_same_bits_in_every_block(n, d, kernel, dtype):
    """One row, several, some columns, the whole matrix, which is mirrored; of the other half too."""
    X = np.random.default_rng(n).normal(size=(n, d))
    gram = Gram(kernel, X)
    whole = gram.block(np.arange(n), out=np.empty((n, n), dtype))
    np.testing.assert_array_equal(whole, whole.T)
    some = np.unique(np.random.default_rng(1).integers(0, n, 5))
    for i in some:
        np.testing.assert_array_equal(gram.block(some[:1] * 0 + i, out=np.empty((1, n), dtype))[0], whole[i])
    np.testing.assert_array_equal(gram.block(some, out=np.empty((len(some), n), dtype)), whole[some])
    if dtype is np.float64:
        np.testing.assert_array_equal(gram.block(some, some), whole[np.ix_(some, some)])
        np.testing.assert_array_equal(gram.diagonal(), whole.diagonal())
        np.testing.assert_array_equal(kernel(X[some], X), whole[some])


@needs_numba
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("start", [0, 5])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 9])
def test_both_halves_have_the_same_gaussian_rows(m, start, dtype):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(1500, 19)).astype(dtype)
    parts = (
        X,
        rng.integers(0, 1500, m),
        Arithmetic.norms(X),
        DenseProducts(X).features,
        Arithmetic.norms(X),
        start,
    )
    found = [np.empty((m, 1495), dtype) for _ in range(2)]
    for way, out in zip(halves(), found, strict=True):
        way.gaussian_rows(*parts, 0.03, out)
    np.testing.assert_array_equal(*found)


def test_sums_of_two_vectors_and_of_matrices():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 37)), rng.normal(size=(37, 11))
    np.testing.assert_allclose(product(A, B), A @ B, rtol=1e-12)
    np.testing.assert_allclose(product(A.astype(np.float32), B.T[::-1].T), A.astype(np.float32) @ B.T[::-1].T)
    assert dot(A[0], B[:, 0]) == pytest.approx(A[0] @ B[:, 0])
    assert product(np.empty((2, 0)), np.empty((0, 3))).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("size", [1e-300, 1e-12, 1e-3, 0.1, 0.3, 1.0, 30.0, 1e4])
def test_hyperbolic_tangents(size):
    x = np.random.default_rng(0).uniform(-size, size, (3, 4000))
    found = []
    for way in halves():
        found.append(x.copy())
        way.hyperbolic_tangents(found[-1])
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], np.tanh(x), rtol=4.0 * 2.0**-52, atol=0.0)
    assert np.signbit(values_of_zero(-0.0))
    assert not np.signbit(values_of_zero(0.0))


def values_of_zero(zero):
    values = np.full((1, 1), zero)
    Arithmetic.hyperbolic_tangents(values)
    return values[0, 0]


@pytest.mark.parametrize("exponent", range(10))
def test_powers(exponent):
    x = np.random.default_rng(0).uniform(-2.0, 2.0, 500)
    found = x.copy()
    Arithmetic.powers(found, exponent)
    np.testing.assert_allclose(found, x**exponent, rtol=1e-14)


def test_a_power_overflows_only_if_it_is_too_large():
    values = np.array([1e100])
    Arithmetic.powers(values, 3)  # a warning would be an error here
    assert values[0] == pytest.approx(1e300)


@pytest.mark.parametrize(("P", "m", "k"), [(1, 1, 1), (1, 12, 2), (40, 5, 1), (3, 33, 33)])
def test_solutions_of_systems(P, m, k):
    rng = np.random.default_rng(m)
    A, B = rng.normal(size=(P, m, m)), rng.normal(size=(P, m, k))
    before = A.copy(), B.copy()
    found = [way.solutions(A, B) for way in halves()]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], np.linalg.solve(A, B), rtol=1e-7)
    np.testing.assert_array_equal((A, B)[0], before[0])
    np.testing.assert_array_equal(B, before[1])


def test_a_singular_system_has_no_solution_and_the_others_keep_theirs():
    A = np.stack([np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), 2.0 * np.eye(3)[::-1]])
    for way in halves():
        with np.errstate(divide="ignore", invalid="ignore"):  # the twin divides by 0, also as Python
            found = way.solutions(A, np.ones((4, 3, 1)))[:, :, 0]
        assert np.isnan(found[1:3]).all()
        assert found[[0, 3]].tolist() == [[1.0] * 3, [0.5] * 3]
