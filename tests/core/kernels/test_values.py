"""What each kernel is made of, and a kernel matrix of which nothing is known: what others may rely on."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from inspect import signature
from itertools import product
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from refsvm.core.kernels import Gram, products
from refsvm.core.kernels.cached_rows import CachedRows, stored_rows
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.gram import dense_gram
from refsvm.core.kernels.matrix import KernelMatrix, View
from refsvm.core.kernels.precision import largest_value
from refsvm.core.kernels.rows import megabytes
from refsvm.core.kernels.sparse import SparseProducts
from refsvm.services.float32 import FLOAT32_CROWDED_FROM, float32_pays

from ...values import never_change

KNOWN = [
    "name",
    "is_bounded",
    "has_unit_diagonal",
    "uses_norms",
    "supports_float32",
    "is_inner_product",
    "is_psd",
]
X = np.random.default_rng(3).normal(size=(7, 3))


@pytest.mark.parametrize(
    ("kernel", "shown", "known"),
    [
        (RBF(0.5), "RBF(gamma=0.5)", ("rbf", True, True, True, True, False, True)),
        (Linear(), "Linear()", ("linear", False, False, False, True, True, True)),
        (
            Polynomial(), "Polynomial(degree=3, gamma=1.0, coef0=0.0)",
            ("poly", False, False, False, False, False, True),
        ),
        (Sigmoid(), "Sigmoid(gamma=1.0, coef0=0.0)", ("sigmoid", True, False, False, False, False, False)),
    ],
    ids=["rbf", "linear", "poly", "sigmoid"],
)  # fmt: skip
def test_a_kernel_is_a_value_and_keeps_what_it_says(kernel, shown, known):
    assert repr(kernel) == shown
    assert replace(kernel) == kernel
    assert len({replace(kernel), kernel}) == 1
    for name in (*(field.name for field in fields(kernel)), "another"):
        with pytest.raises(FrozenInstanceError):
            setattr(kernel, name, 1)
    assert tuple(getattr(kernel, name) for name in KNOWN) == known
    assert kernel.distance_scale == (kernel.gamma if kernel.name == "rbf" else 0.0)
    # each of these is a sentence on the values, by the values themselves
    K, inner = kernel(X, X), X @ X.T
    norms = np.diag(inner).copy()
    if kernel.is_bounded:
        assert np.abs(K).max() <= 1.0
        assert np.abs(kernel(100.0 * X, 100.0 * X)).max() <= 1.0
    if kernel.has_unit_diagonal:
        np.testing.assert_allclose(np.diag(K), 1.0)
    if not kernel.uses_norms:
        values = [kernel.from_inner(inner.copy(), *both) for both in ((norms, norms), (9.0 * norms, -norms))]
        np.testing.assert_array_equal(*values)
        np.testing.assert_allclose(values[0], K, rtol=1e-13)
    if kernel.is_inner_product:
        np.testing.assert_allclose(K, inner)
    if kernel.is_psd:
        assert np.linalg.eigvalsh(K)[0] > -1e-10


def test_a_matrix_in_the_place_of_a_kernel_is_a_value_too():
    assert repr(Precomputed()) == "Precomputed()"
    assert len({Precomputed(), Precomputed()}) == 1
    with pytest.raises(FrozenInstanceError):
        Precomputed().another = 1


class Table(KernelMatrix):
    """The least that a matrix has to say."""

    def __init__(self, K):
        self.K, self.n = K, len(K)

    def block(self, rows, columns=None, out=None):
        K = np.ascontiguousarray(self.K[rows] if columns is None else self.K[np.ix_(rows, columns)])
        if out is None:
            return K
        out[:] = K
        return out

    def diagonal(self):
        return np.diag(self.K).copy()


def test_what_a_matrix_has_without_saying_so():
    """Nothing is known of it, and it is its own evaluator, origin and store."""
    K = X @ X.T
    matrix = Table(K)
    for i in range(len(X)):
        assert matrix.row(i).tolist() == K[i].tolist()
    assert matrix.distinct.tolist() == [*range(7)]
    assert matrix.exact is matrix.centred is matrix
    assert matrix.offset(np.arange(7.0)) == 0.0
    nothing = KernelFacts(
        is_psd=False, has_unit_diagonal=False, data_error=0.0, kernel_error=None, keeps_float32=False,
        prefers_batches=False,
    )  # fmt: skip
    assert (matrix.facts, matrix.dense, matrix.store, matrix.origin) == (nothing, None, None, None)
    for name in ("supports_float32", "repeats", "full_matrix_only"):
        assert getattr(matrix, name) is False
    part = matrix.restrict(np.array([5, 1, 3]))
    assert part.block(np.array([0, 2]), np.array([1])).tolist() == K[np.ix_([5, 3], [1])].tolist()
    assert part.diagonal().tolist() == K[[5, 1, 3], [5, 1, 3]].tolist()
    assert part.row(1).tolist() == K[1, [5, 1, 3]].tolist()


@dataclass(frozen=True)
class Rational(Kernel):
    """1 + 1/(1 + ‖x − z‖²) + c ‖x‖²‖z‖²: it depends on both norms, and is not 1 on the diagonal."""

    c: float = 0.0
    uses_norms: ClassVar[bool] = True

    def from_inner(self, inner, x_norms, z_norms):
        squares = x_norms[:, None] + z_norms - 2.0 * inner
        return 1.0 + 1.0 / (1.0 + np.maximum(squares, 0.0)) + self.c * x_norms[:, None] * z_norms


@pytest.mark.parametrize(
    ("kernel", "size"),
    [
        (Linear(), 9.0),  # s
        (Polynomial(3, gamma=2.0, coef0=1.0), 54.0 * 19.0**2),  # s dk/ds of (2s + 1)³
        (Polynomial(1, gamma=1.0, coef0=100.0), 109.0),  # k of s + 100
        (Polynomial(2, gamma=1.0, coef0=-9.0), 64.0),  # k of (s − 9)² at s = 1, where s dk/ds is −16
        (Sigmoid(gamma=0.1), np.tanh(0.9)),
        # of two equal examples the product is taken to be a little less: −2s dk/d‖x − z‖² = 2s
        (Rational(0.0), 2.0 * 9.0),
        (Rational(1.0), 9.0**2 + 2.0),
    ],
    ids=repr,
)
def test_the_noise_of_a_value_is_the_rounding_of_its_product_seen_through_the_kernel(kernel, size):
    """ε max(|k|, |s dk/ds|) at s = 1 and s = 9, the least and the largest x·x."""
    gram = Gram(kernel, np.array([[1.0], [2.0], [3.0]]))
    assert gram.facts.kernel_error == pytest.approx(2.0**-52 * size, rel=1e-3, abs=0.0)


def test_a_matrix_of_the_package_has_no_noise_and_that_of_another_is_not_known():
    assert Gram(Precomputed(), np.eye(2), is_checked=True).facts.kernel_error == 0.0
    assert Gram(Precomputed(), np.eye(2)).facts.kernel_error is None
    assert Gram(Precomputed(), np.eye(2, dtype=np.float32)).facts.data_error == 2.0**-24


def test_a_view_of_stored_rows_has_an_exact_one_that_evaluates():
    """Rows may be stored as float32; what is evaluated anew is not."""
    gram, order = Gram(Linear(), X), np.array([5, 1, 1])
    alone = View(gram, order)
    assert alone.exact is alone
    stored = View(stored_rows(gram, 1.0, np.float32, read=np.float32), order)
    K = (X @ X.T)[np.ix_(order, order)]
    np.testing.assert_allclose(stored.block(np.arange(3)), K, rtol=1e-6)
    np.testing.assert_allclose(stored.exact.block(np.arange(3)), K, rtol=1e-14)
    assert stored.exact.store is None


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_view_asks_for_each_example_once_and_a_store_for_all_rows_as_they_are(is_stored):
    asked = []

    class Asked(Table):
        store = True if is_stored else None

        def block(self, rows, columns=None, out=None):
            asked.append((rows.tolist(), None if columns is None else columns.tolist(), out is None))
            return super().block(rows, columns, out)

    K, order, out = (X @ X.T)[:3, :3], np.array([2, 0, 0, 2, 1]), np.empty((1, 3), np.float32)
    view = View(Asked(K), order)
    np.testing.assert_array_equal(view.block(np.array([0, 3, 1])), K[[2, 2, 0]][:, order])
    assert view.block(np.array([1]), np.array([1, 2, 3]), out) is out
    np.testing.assert_array_equal(out, K[[0]][:, [0, 0, 2]].astype(np.float32))
    once = [([0, 2], None, True), ([0], [0, 2], True)]
    assert asked == ([([2, 2, 0], order.tolist(), True), ([0], [0, 0, 2], False)] if is_stored else once)


@pytest.mark.parametrize("n", [2_999, 3_000, FLOAT32_CROWDED_FROM - 1, FLOAT32_CROWDED_FROM])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 0.99e-4])
def test_when_float32_values_are_worthwhile(n, tolerance):
    """If the rules read no copies of them, or if twice as many rows in the budget are worth more."""
    for supports, reads, crowded in product([False, True], repeat=3):
        found = float32_pays(
            SimpleNamespace(n=n, supports_float32=supports), tolerance, reads, crowded=crowded
        )
        is_fast = (n >= 3_000 and supports and reads) or (n >= FLOAT32_CROWDED_FROM and crowded)
        assert found == (tolerance >= 1e-4 and is_fast)


def test_both_kinds_of_products_begin_at_the_first_column():
    for kind in (products.DenseProducts, SparseProducts):
        assert signature(kind.of).parameters["start"].default == 0


@pytest.mark.parametrize(
    ("capacity", "blocks", "expected"), [(400, [[3, 0, 2], [5], [8, 0, 7]], [3, 4, 6]),
                                         (350, [range(340), range(330, 360)], [340, 350])],
)  # fmt: skip
def test_memory_is_asked_for_before_a_row_is_written_to(capacity, blocks, expected, monkeypatch):
    """As many rows as are stored then, or all slots: one that is mapped later would be written to twice."""
    rows, asked = CachedRows(Gram(Linear(), np.ones((400, 1))), megabytes(capacity, 400)), []
    monkeypatch.setattr(rows._buffer, "ensure_ready", asked.append)
    for block in blocks:
        rows.block(np.array(block))
    assert asked == expected


def test_the_largest_value_is_that_of_the_diagonal():
    """1 of a kernel that has 1 there, and of a function, which may want all examples at once."""
    small = np.array([[0.1, 0.0], [0.0, -0.2]])
    assert largest_value(Gram(Linear(), small)) == pytest.approx(0.04)
    assert largest_value(Gram(Precomputed(), np.diag([-3.0, 2.0]))) == 3.0
    assert largest_value(Gram(RBF(0.5), small)) == largest_value(Gram(lambda X, Z: X @ Z.T, small)) == 1.0


@pytest.mark.parametrize("kernel", [RBF(0.5), Linear(), Polynomial()], ids=lambda each: each.name)
def test_the_diagonal_of_a_kernel_of_the_package_takes_no_block(kernel, monkeypatch):
    gram = Gram(kernel, X)
    expected = np.diag(gram.block(np.arange(len(X))))
    monkeypatch.setattr(gram, "block", None)
    np.testing.assert_allclose(gram.diagonal(), expected, rtol=1e-13)


def test_many_columns_without_an_entry_are_one():
    sparse = pytest.importorskip("scipy.sparse")
    assert SparseProducts(sparse.csr_array((2, 5000))).Z.shape == (2, 1)


def test_views_and_stores_hand_on_what_their_matrix_knows():
    for kernel in (RBF(0.5), Linear()):
        gram = Gram(kernel, X)
        facts, store = gram.facts, CachedRows(gram)
        assert facts.is_psd
        assert facts.has_unit_diagonal == kernel.has_unit_diagonal
        part = View(gram, np.arange(3))
        for matrix in (part, View(part, np.arange(2)), store, store.restrict(np.arange(3))):
            assert matrix.facts == facts
        regression = DualProblem.regression(X, X[:, 0], kernel=kernel)
        assert regression.gram.facts == regression.gram.source.facts
        assert pickle.loads(pickle.dumps(gram)).facts == facts


def test_rows_as_float32_are_known_to_all_that_read_them():
    gram = Gram(RBF(0.5), X)
    store = CachedRows(gram, dtype=np.float32)
    copies = CachedRows(store.restrict(np.arange(4)))
    for matrix in (store, store.restrict(np.arange(3)), copies):
        assert matrix.facts.keeps_float32
        assert not matrix.exact.facts.keeps_float32
    held = dense_gram(gram, np.float32)
    assert held.facts == KernelFacts(
        is_psd=True, has_unit_diagonal=True, data_error=2.0**-24, kernel_error=0.0, keeps_float32=True
    )
    assert Gram(Precomputed(), np.eye(2)).facts == KernelFacts()


def test_a_matrix_of_the_users_says_its_facts_as_attributes():
    class Own(KernelMatrix):
        n, is_psd, data_error = 2, True, 1e-7

        def block(self, rows, columns=None, out=None):
            return np.eye(2)[rows]

        def diagonal(self):
            return np.ones(2)

    assert Own().facts == Own().restrict(np.arange(1)).facts == KernelFacts(is_psd=True, data_error=1e-7)


def test_facts_cannot_be_changed():
    """Views of a matrix share them."""
    never_change("core.kernels")
