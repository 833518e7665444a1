"""How far rounding of kernel values moves decision values, and values from origins, by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Linear, Polynomial, Precomputed
from refsvm.analysis.derivatives.kernels import squared_distances
from refsvm.core.kernels import Gram
from refsvm.core.kernels.checked import cross_values, gram_of_rows, origin_for
from refsvm.core.kernels.facts import KernelFacts
from refsvm.core.kernels.matrix import View
from refsvm.core.kernels.origin import weights_at
from refsvm.core.kernels.precision import decision_noise, noise_of_values

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
X = RNG.normal(size=(6, 3)) + np.array([500.0, 0.0, -300.0])


@pytest.mark.parametrize("kinds", ["dd", "ds", "sd", "ss"])
@pytest.mark.parametrize("gamma", [1e-3, 10.0])
def test_squared_distances_are_those_of_differences(kinds, gamma):
    """Around the mean, where γ‖x‖² is large."""
    to = {"d": np.asarray, "s": pytest.importorskip("scipy.sparse").csr_array}
    A, B = X - X.mean(axis=0), X[2:5] - X.mean(axis=0)
    if kinds == "dd":
        A, B = X, X[2:5]
    expected = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    found = squared_distances(RBF(gamma), to[kinds[0]](A), to[kinds[1]](B))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 if gamma < 1.0 else 1e-13)
    assert (found >= 0.0).all()


def test_the_product_of_weights_and_an_origin():
    c, alpha = X.mean(axis=0), RNG.normal(size=6)
    alpha -= alpha.mean()
    found = weights_at(c, X, lambda values: alpha[None] @ values)
    assert found.dtype == np.float64
    assert found == pytest.approx([(alpha[:, None] * (X - c)).sum(axis=0) @ c], rel=1e-9)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4, 5], [4, 1], [3]])
def test_the_matrix_of_some_rows(rows):
    """Of a given matrix some rows and columns; around an origin where there is one."""
    rows, K = np.array(rows), X @ X.T
    for kernel, data, expected in (
        (Precomputed(), K, K[np.ix_(rows, rows)]),
        (Polynomial(2, 1e-3, 0.5), X, (1e-3 * K[np.ix_(rows, rows)] + 0.5) ** 2),
        (None, X, K[np.ix_(rows, rows)]),
    ):
        found = gram_of_rows(kernel, data, rows)
        np.testing.assert_allclose(found.block(np.arange(len(rows))), expected, rtol=1e-12)
    moved = gram_of_rows(Linear(), X, rows, origin=X[0]).block(np.arange(len(rows)))
    np.testing.assert_allclose(moved, (X[rows] - X[0]) @ (X[rows] - X[0]).T, rtol=1e-9, atol=1e-9)
    with pytest.raises(ValueError, match=r"shape \(5, 6\); expected a square matrix, shape \(5, 5\)"):
        gram_of_rows(Precomputed(), K[:5], rows[rows < 5])


def test_the_origin_of_some_rows():
    for rows in (np.arange(6), np.array([1, 4])):
        np.testing.assert_allclose(origin_for(Linear(), X, rows), X[rows].mean(axis=0), rtol=1e-14)
        assert origin_for(RBF(1.0), X, rows) is None
        assert origin_for(lambda A, B: A @ B.T, X, rows) is None


def test_values_of_new_examples_with_some_variables():
    """Of variables that share examples those of their examples; of a given matrix the columns are taken."""
    new, K = RNG.normal(size=(2, 3)), X @ X.T
    variables, twice = np.array([7, 0, 5]), np.tile(np.arange(6), 2)
    expected = new @ X[[1, 0, 5]].T
    for gram in (Gram(Linear(), X), Gram(Linear(), X, origin=X[0]), Gram(lambda A, B: A @ B.T, X)):
        found = cross_values(View(gram, twice), variables, new)
        origin = np.zeros(3) if gram.origin is None else gram.origin
        np.testing.assert_allclose(found, (new - origin) @ (X[[1, 0, 5]] - origin).T, rtol=1e-9)
    found = cross_values(View(Gram(Precomputed(), K), twice), variables, new @ X.T)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"X has shape \(2, 5\); .* for each of the 6 training examples"):
        cross_values(Gram(Precomputed(), K), variables[1:], np.ones((2, 5)))
    with pytest.raises(ValueError, match="X has 2 features; give 3, as in the training data"):
        cross_values(Gram(Linear(), X), variables[1:], np.ones((2, 2)))
