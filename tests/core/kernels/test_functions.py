"""Kernels and Gram blocks against their formulas, one pair at a time."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.core.kernels import Gram
from refsvm.core.kernels.products import inner_products
from refsvm.core.kernels.sparse import squared_norms

X = np.random.default_rng(0).normal(size=(9, 4))
X[X > 0.8] = 0.0
LABELS = np.where(np.arange(9) % 2, 1, -1)


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def gaussian(gammas):
    return lambda x, z: math.exp(-sum(g * (a - b) ** 2 for g, a, b in zip(gammas, x, z, strict=True)))


FORMULAS = [
    (Linear(), dot),
    (RBF(gamma=0.7), gaussian([0.7] * 4)),
    (RBF(gamma=[0.7, 0.0, 2.0, 0.1]), gaussian([0.7, 0.0, 2.0, 0.1])),
    (Polynomial(degree=3, gamma=0.5, coef0=1.5), lambda x, z: (0.5 * dot(x, z) + 1.5) ** 3),
    (Polynomial(degree=2, gamma=2.0, coef0=-1.0), lambda x, z: (2.0 * dot(x, z) - 1.0) ** 2),
    (Sigmoid(gamma=0.3, coef0=-0.2), lambda x, z: math.tanh(0.3 * dot(x, z) - 0.2)),
    (lambda A, B: np.minimum(A[:, None], B).sum(axis=2), lambda x, z: sum(map(min, x, z))),
]


def by_hand(formula) -> np.ndarray:
    return np.array([[formula(x, z) for z in X] for x in X])


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS)
def test_blocks_follow_the_formula(kernel, formula):
    gram, K = Gram(kernel, X), by_hand(formula)
    rows, columns = np.array([7, 0, 7]), np.array([3, 8])
    for found, expected in (
        (gram.block(np.arange(9)), K),
        (gram.block(rows), K[rows]),
        (gram.block(rows, columns), K[np.ix_(rows, columns)]),
        (gram.diagonal(), K.diagonal()),
        (gram.restrict(rows).block(np.arange(3)), K[np.ix_(rows, rows)]),
        (kernel(X[:2], X), K[:2]),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("kernel", "formula"), FORMULAS[:-1])
def test_sparse_rows_give_the_same_blocks(kernel, formula):
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_matrix, sparse.csr_array):
        gram = Gram(kernel, make(X))
        np.testing.assert_allclose(gram.block(np.arange(9)), by_hand(formula), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(gram.diagonal(), by_hand(formula).diagonal(), rtol=1e-13, atol=1e-13)
        assert gram.block(np.array([1, 4]), np.array([2])).flags.c_contiguous
        some, first = np.array([4, 1]), np.array([0])
        np.testing.assert_allclose(gram.restrict(some).block(first), gram.block(some[:1], some))
    np.testing.assert_allclose(squared_norms(sparse.csr_array(X)), squared_norms(X))
    np.testing.assert_allclose(inner_products(sparse.csr_array(X), sparse.csr_array(X)), X @ X.T, atol=1e-15)


def test_a_long_block_equals_its_rows():
    """Blocks are evaluated slab by slab; the seams must not show."""
    wide = np.random.default_rng(1).normal(size=(700, 3))
    gram = Gram(RBF(0.5), wide)
    rows = np.random.default_rng(2).permutation(700)
    block = gram.block(rows)
    for r in (0, 93, 94, 350, 699):
        np.testing.assert_allclose(block[r], gram.block(rows[r : r + 1])[0], rtol=1e-12)


def test_the_matrix_of_the_caller_is_used_as_it_is():
    K = by_hand(FORMULAS[1][1])
    gram = Gram(Precomputed(), K)
    assert gram.dense is K
    np.testing.assert_array_equal(gram.block(np.array([2, 0])), K[[2, 0]])
    np.testing.assert_array_equal(gram.block(np.array([2]), np.array([1, 5])), K[[2]][:, [1, 5]])
    np.testing.assert_array_equal(gram.diagonal(), K.diagonal())
    np.testing.assert_array_equal(gram.restrict(np.array([3, 1])).dense, K[np.ix_([3, 1], [3, 1])])


def test_rounding_makes_no_rbf_value_exceed_one():
    far = np.random.default_rng(3).normal(size=(50, 5)) + 1e4
    assert Gram(RBF(10.0), np.repeat(far, 2, axis=0)).block(np.arange(100)).max() <= 1.0


def test_an_asymmetric_matrix_is_repaired_with_a_warning():
    K = np.eye(4)
    K[0, 1] = 0.5
    with pytest.warns(UserWarning, match="not symmetric"):
        problem = DualProblem.classification(K, [-1, 1, -1, 1], kernel=Precomputed())
    assert problem.gram.dense[0, 1] == problem.gram.dense[1, 0] == 0.25
    assert K[1, 0] == 0.0, "the caller's matrix was written to"


@pytest.mark.parametrize(
    ("value", "other", "is_told"),
    [(1e-15, 0.0, False), (0.5, 0.5 - 2.5e-11, False), (0.5, 0.5 - 1e-10, True), (2e-12, 0.0, True)],
)
def test_rounding_in_a_matrix_is_repaired_in_silence(value, other, is_told):
    """Of 1e-10 of a value, or 1e-12 of the largest."""
    K = np.eye(4)
    K[0, 1], K[1, 0] = value, other
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dense = DualProblem.classification(K, [-1, 1, -1, 1], kernel=Precomputed()).gram.dense
    np.testing.assert_array_equal(dense, dense.T)
    assert len(said) == is_told


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RBF(-1.0), "gamma=-1.0"),
        (lambda: RBF(math.nan), "gamma=nan"),
        (lambda: RBF("scale"), "gamma='scale'"),
        (lambda: RBF([1.0, -1.0]), r"gamma=\[1.0, -1.0\] .* negative number"),
        (lambda: RBF([1.0, math.nan]), "gamma contains NaN"),
        (lambda: RBF([]), r"gamma=\[\] "),
        (lambda: RBF([[1.0], [2.0]]), r"gamma has shape \(2, 1\)"),
        (lambda: RBF(["a"]), "gamma holds 'a'"),
        (lambda: Polynomial(degree=-1), "degree=-1"),
        (lambda: Polynomial(degree=2.5), "degree=2.5"),
        (lambda: Polynomial(gamma=-0.5), "gamma=-0.5"),
        (lambda: Polynomial(coef0=math.inf), "coef0=inf"),
        (lambda: Sigmoid(gamma=-2.0), "gamma=-2.0"),
        (lambda: Sigmoid(coef0=math.nan), "coef0=nan"),
    ],
)
def test_parameters_out_of_range_are_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda A, B: np.zeros(3), r"shape \(3,\)"),
        (lambda A, B: (A @ B.T).T[:2], "one value for each pair"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "takes the value nan, but kernel values"),
    ],
)
def test_what_a_callable_must_not_return_is_refused(kernel, words):
    gram = Gram(kernel, X)
    with pytest.raises(ValueError, match=words):
        gram.block(np.array([0, 1, 2]))


def test_a_callable_may_return_integers():
    block = Gram(lambda A, B: np.ones((len(A), len(B)), dtype=int), X).block(np.array([1]))
    assert block.dtype == np.float64


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_float32_rows_refuse_what_they_cannot_hold_and_float64_rows_take_it():
    gram, rows = Gram(Polynomial(degree=2, gamma=1.0, coef0=0.0), np.full((4, 1), 1e30)), np.arange(2)
    np.testing.assert_allclose(gram.block(rows), 1e120)
    with pytest.raises(ValueError, match='cache_dtype="float64"'):
        gram.block(rows, out=np.empty((2, 4), np.float32))


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("asked", [(np.arange(2),), (np.arange(2), np.arange(3)), (np.arange(4),)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_values_that_overflow_are_refused_whatever_part_is_asked_for(asked, is_sparse):
    X = np.full((4, 1), 1e60)
    if is_sparse:
        X = pytest.importorskip("scipy.sparse").csr_matrix(X)
    with pytest.raises(ValueError, match="but kernel values must lie between -1e300 and 1e300"):
        Gram(Polynomial(degree=3, gamma=1.0), X).block(*asked)


@pytest.mark.parametrize("coef0", [-1.0, 0.0, 1.0])
def test_a_polynomial_is_a_kernel_unless_it_takes_something_off(coef0):
    """(x·z − 1)² of x = 0 and x = 1 has the values 1, 1, 0: the determinant is −1."""
    kernel, points = Polynomial(degree=2, coef0=coef0), np.array([[0.0], [1.0]])
    least = np.linalg.eigvalsh(kernel(points, points))[0]
    assert kernel.is_psd == (least >= 0.0)
