"""What rounding does to kernel values and to sums of them, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, Linear, Precomputed
from refsvm.analysis.paths.extending import grown
from refsvm.core.kernels import Gram
from refsvm.core.kernels.precision import COLUMNS_LOOKED_AT, ROWS_LOOKED_AT, noise_of_distances, variation

EPSILON = float(np.finfo(float).eps)


def test_how_far_a_sum_varies_over_some_examples():
    """Σ|α| = 3 times the largest range of a row over them."""
    K = np.array([[0.0, 9.0, 0.0, 0.0], [9.0, 5.0, 2.0, 1.0], [0.0, 2.0, 4.0, -9.0], [0.0, 1.0, -9.0, 7.0]])
    gram, alpha = Gram(Precomputed(), K), np.array([0.0, -2.0, 1.0, 0.0])
    for among, widest in (([0, 1, 2], 10.0), ([0, 1], 9.0), ([1, 3], 11.0), ([0, 3], 9.0), ([2], 0.0)):
        assert variation(gram, alpha, np.array(among), z=-1.0) == 3.0 * widest


def test_the_rows_of_the_largest_weights_and_columns_over_all_of_them_are_looked_at():
    n, m = 3 * COLUMNS_LOOKED_AT, ROWS_LOOKED_AT
    alpha = np.linspace(2.0, 1.0, n)
    for i, j, is_seen in (
        (0, 0, True),
        (0, n - 1, True),
        (m - 1, 0, True),
        (m, m + 1, False),
        (n - 1, n - 1, False),
    ):
        K = np.zeros((n, n))
        K[i, j] = K[j, i] = 1.0
        found = variation(Gram(Precomputed(), K), alpha, np.arange(n), z=alpha.sum())
        assert found == pytest.approx(alpha.sum() if is_seen else 0.0)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_what_distances_of_sparse_data_lose(n):
    """ε γ max ‖x‖², times the largest kernel value of two examples: those of dense data lose nothing."""
    sparse = pytest.importorskip("scipy.sparse")
    X = 1e3 + np.column_stack([np.arange(n) * 2.0, np.zeros(n)])
    gram = Gram(RBF(0.1), sparse.csr_array(X))
    wanted = EPSILON * 0.1 * (X * X).sum(axis=1).max() * np.exp(-0.1 * 4.0) if n > 1 else 0.0
    assert noise_of_distances(gram, gram.facts.data_error) == pytest.approx(wanted, rel=1e-6)
    assert Gram(RBF(0.1), X).facts.kernel_error == 0.0
    assert Gram(RBF(0.1), sparse.csr_array(X - 1e3)).facts.kernel_error == 0.0  # near the origin it is slight


def test_new_examples_have_the_features_of_those_before():
    for kernel in (RBF(0.1), Linear()):
        gram = Gram(kernel, np.zeros((3, 2)))
        with pytest.raises(ValueError, match="X has 4 features, but the problem's examples have 2"):
            grown(gram, np.zeros((1, 4)))
        assert grown(gram, np.ones((2, 2))).n == 5
