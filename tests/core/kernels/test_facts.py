"""What is known of a matrix, through views and stores."""

import pickle

import numpy as np

from refsvm import RBF, DualProblem, Linear, Precomputed
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import CachedRows
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.gram import dense_gram
from refsvm.core.kernels.matrix import KernelMatrix, View

from ...values import never_change

X = np.random.default_rng(0).normal(size=(12, 2))


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
