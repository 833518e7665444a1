"""What rounding does to kernel values, to decision values and to values from origins, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Linear, Precomputed
from refsvm.analysis.derivatives.kernels import squared_distances
from refsvm.core.kernels import Gram
from refsvm.core.kernels.checked import origin_for
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.origin import weights_at
from refsvm.core.kernels.precision import (
    COLUMNS_LOOKED_AT,
    ROWS_LOOKED_AT,
    decision_noise,
    distinct_rows,
    noise_of_distances,
    noise_of_values,
    variation,
)

EPSILON = float(np.finfo(float).eps)


def stored(X):
    return pytest.importorskip("scipy.sparse").csr_array(X)


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


UNIT = 2.0**-32
"""Rounding of a value of 2²⁰."""

DIAGONAL, ALPHA = np.array([2.0**20, -(2.0**16)]), np.array([3.0, -16.0])
"""The shares √(|kᵢᵢ|/max) are 1 and ¼, so that √Σ(αᵢ·share)² is 5."""


def matrix(error=None, dense=None):
    return SimpleNamespace(facts=KernelFacts(kernel_error=error), dense=dense)


@pytest.mark.parametrize(
    ("error", "largest", "noise"),
    [
        (None, 2.0**20, UNIT),
        (None, 2.0**12, 0.0),
        (None, 2.0**13, 2.0**-39),  # more than 10⁻¹²
        (1e-12, 2.0**20, 0.0),
        (1.1e-12, 2.0**20, 1.1e-12),
        (0.0, 2.0**20, 0.0),
    ],
)
def test_noise_that_is_slight_counts_for_nothing(error, largest, noise):
    assert noise_of_values(matrix(error), largest) == noise


@pytest.mark.parametrize(
    ("tolerance", "fixed", "moved"),
    [
        (4.9, 0.0, 5.0),
        (5.0, 0.0, 0.0),  # more than the tolerance
        (12.9, 12.0, 13.0),  # α that have left add in quadrature
        (13.0, 12.0, 0.0),
    ],
)
def test_a_matrix_that_says_nothing_is_rounded_by_the_size_of_its_diagonal(tolerance, fixed, moved):
    found = decision_noise(matrix(), ALPHA, DIAGONAL, tolerance * UNIT, fixed * UNIT)
    assert found == pytest.approx(moved * UNIT, rel=1e-14, abs=0.0)


@pytest.mark.parametrize(
    ("K", "moved"),
    [
        ([[2.0**20, 0.0], [0.0, -(2.0**16)]], 3.0),
        ([[2.0**20, 2.0**17], [2.0**17, -(2.0**16)]], np.sqrt(13.0)),
        ([[2.0**20, 2.0**18], [2.0**18, -(2.0**16)]], 5.0),  # the bound is as good
    ],
)
def test_values_that_are_held_are_summed(K, moved):
    """ε √max Σ(αⱼKᵢⱼ)², or the bound, if that is less; a matrix that says how far it rounds is believed."""
    for share, fixed in ((0.99, 0.0), (1.01, 0.0), (0.99, 4.0), (1.01, 4.0)):
        expected = np.hypot(moved, fixed)
        found = decision_noise(
            matrix(dense=np.array(K)), ALPHA, DIAGONAL, share * expected * UNIT, fixed * UNIT
        )
        assert found == pytest.approx(expected * UNIT if share < 1.0 else 0.0, rel=1e-14, abs=0.0)
    told = decision_noise(matrix(UNIT, np.array(K)), ALPHA, DIAGONAL, UNIT)
    assert told == pytest.approx(np.sqrt(9.0 + 256.0) * UNIT, rel=1e-14, abs=0.0)


def test_without_noise_alpha_that_has_left_counts_alone():
    small = np.ones(2)
    assert decision_noise(matrix(), ALPHA, small, 1e-9, 2e-9) == pytest.approx(2e-9, rel=1e-14, abs=0.0)
    assert decision_noise(matrix(), ALPHA, np.zeros(2), 1e-9) == 0.0
    assert decision_noise(matrix(0.0), ALPHA, DIAGONAL, 0.0) == 0.0


RNG = np.random.default_rng(5)
SHIFTED = RNG.normal(size=(6, 3)) + np.array([500.0, 0.0, -300.0])


@pytest.mark.parametrize("kinds", ["dd", "ds", "sd", "ss"])
@pytest.mark.parametrize("gamma", [1e-3, 10.0])
def test_squared_distances_are_those_of_differences(kinds, gamma):
    """Around the mean, where γ‖x‖² is large."""
    to = {"d": np.asarray, "s": pytest.importorskip("scipy.sparse").csr_array}
    A, B = SHIFTED - SHIFTED.mean(axis=0), SHIFTED[2:5] - SHIFTED.mean(axis=0)
    if kinds == "dd":
        A, B = SHIFTED, SHIFTED[2:5]
    expected = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    found = squared_distances(RBF(gamma), to[kinds[0]](A), to[kinds[1]](B))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 if gamma < 1.0 else 1e-13)
    assert (found >= 0.0).all()


def test_the_product_of_weights_and_an_origin():
    c, alpha = SHIFTED.mean(axis=0), RNG.normal(size=6)
    alpha -= alpha.mean()
    found = weights_at(c, SHIFTED, lambda values: alpha[None] @ values)
    assert found.dtype == np.float64
    assert found == pytest.approx([(alpha[:, None] * (SHIFTED - c)).sum(axis=0) @ c], rel=1e-9)


def test_the_origin_of_some_rows():
    for rows in (np.arange(6), np.array([1, 4])):
        np.testing.assert_allclose(
            origin_for(Linear(), SHIFTED, rows), SHIFTED[rows].mean(axis=0), rtol=1e-14
        )
        assert origin_for(RBF(1.0), SHIFTED, rows) is None
        assert origin_for(lambda A, B: A @ B.T, SHIFTED, rows) is None


@pytest.mark.parametrize("form", [np.asarray, stored])
def test_rows_far_from_the_origin_are_told_apart(form):
    """Features near 1e6 in units of 1e-6: a sum of products rounds at 1e-10, where they differ by that."""
    B = np.random.default_rng(0).normal(size=(3000, 3))
    X = 1e6 + 1e-6 * np.concatenate([B, B[:50]])
    numbers = distinct_rows(form(X))
    assert len(np.unique(numbers)) == len(np.unique(X, axis=0))
    assert (numbers[3000:] == numbers[:50]).all()


@pytest.mark.parametrize("form", [np.asarray, stored])
def test_minus_zero_is_zero(form):
    assert len(np.unique(distinct_rows(form(np.array([[-0.0, 1.0], [0.0, 1.0]]))))) == 1


@pytest.mark.parametrize("form", [np.asarray, stored])
def test_rows_next_to_nothing_are_told_apart(form):
    assert distinct_rows(form(1e-30 * np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]))).tolist() == [0, 1, 0]
