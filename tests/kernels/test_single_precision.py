"""A kernel matrix in single precision hands out float64 values that were rounded once."""

from __future__ import annotations

import numpy as np

from refsvm import RBF, DualProblem, Precomputed
from refsvm.kernels import Gram
from refsvm.kernels.rows import stored_rows


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
    assert single.rounding >= np.abs(single.block(np.arange(30)) - K).max()
