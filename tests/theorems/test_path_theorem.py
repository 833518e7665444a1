"""Ong, Shao & Yang, Theorem (i) to (iii); what is free where the elbow is singular: the corner, so its size."""

import numpy as np
import pytest

pytest.importorskip("scipy")

from refsvm import SVMP, DualProblem, Linear, regularization_path
from refsvm.core.walk.walk import FREE


def whole_numbers(seed, n=60):
    """Points on a small grid, most of them several times: dim null(A) is large."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 3)).astype(float)
    y = np.where(X.sum(axis=1) + rng.normal(scale=1.5, size=n) > 3.0, 1.0, -1.0)
    return X - X.mean(axis=0), y


def null_space(K):
    """Orthonormal basis of null(A), A = ((0, 1ᵀ), (1, K)) on the elbow in signed variables; a column per vector."""
    m = len(K)
    A = np.ones((m + 1, m + 1))
    A[0, 0], A[1:, 1:] = 0.0, K
    _, sizes, vectors = np.linalg.svd(A)
    return vectors[sizes <= 1e-10 * sizes[0]].T


@pytest.mark.parametrize("seed", range(4))
def test_theorem_i_any_null_vector_within_the_box_keeps_the_optimum(seed):
    X, y = whole_numbers(seed)
    path = regularization_path(X, y, kernel=Linear(), C_min=1e-3, C_max=10.0, merge=False, engine="numpy")
    rng, singular = np.random.default_rng(seed), 0
    for C in np.exp(rng.uniform(np.log(2e-3), np.log(9.0), size=20)):
        problem, alpha = DualProblem.classification(X, y, kernel=Linear(), C=C), path.alpha(C)
        K, low, high = X @ X.T, problem.lower, problem.upper
        elbow = np.flatnonzero((alpha > low + 1e-9 * C) & (alpha < high - 1e-9 * C))
        null = null_space(K[np.ix_(elbow, elbow)])
        if len(elbow) == 0 or null.shape[1] == 0:
            continue
        singular += 1
        direction = np.zeros_like(alpha)
        direction[elbow] = null[1:] @ rng.normal(size=null.shape[1])
        # the longest step in the box, and a part of it
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction > 0.0, (high - alpha) / direction, (low - alpha) / direction)
            room[direction == 0.0] = np.inf  # some LAPACK leaves exact zeros
        moved = alpha + rng.uniform(0.2, 1.0) * np.nanmin(room[elbow]) * direction
        assert np.abs(moved - alpha).max() > 1e-6 * C
        assert (moved >= low - 1e-12 * C).all()
        assert (moved <= high + 1e-12 * C).all()
        assert abs(moved.sum()) <= 1e-9 * C
        G = y - K @ moved
        gap = G[moved < high - 1e-9 * C].max() - G[moved > low + 1e-9 * C].min()
        assert gap <= 1e-6
        values = [y @ a - 0.5 * a @ K @ a for a in (alpha, moved)]
        assert values[1] == pytest.approx(values[0], rel=1e-9)
    assert singular >= 3


def test_the_order_of_the_examples_chooses_the_corner_and_nothing_else():
    X, y = whole_numbers(0)
    grid, corners, found = np.exp(np.linspace(np.log(2e-3), np.log(9.0), 40)), [], []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(y))
        path = regularization_path(
            X[order], y[order], kernel=Linear(), C_min=1e-3, C_max=10.0, merge=False, engine="numpy"
        )
        corners.append(np.array([path.alpha(C)[np.argsort(order)] for C in grid]))
        found.append(np.array([path.alpha(C) @ X[order] for C in grid]))
        np.testing.assert_allclose(found[-1], found[0], atol=1e-7)
    assert max(float(np.abs(corner - corners[0]).max()) for corner in corners) > 1e-2


@pytest.mark.parametrize("seed", range(3))
def test_theorems_ii_and_iii_the_point_itself_is_feasible_so_lambda_never_rises(seed, monkeypatch):
    """Wherever the linear program is asked (δλ, β) = (0, 0) satisfies (31)–(34); the program finds no less."""
    X, y = whole_numbers(seed)
    K, honest, seen = X @ X.T, SVMP._singular_step, []

    def watched(tracker, walk, null, *arguments):
        scaled, elbow = walk.variables.alpha, walk.side == FREE
        xi = y * (walk.t * y - K @ scaled - walk.b) / walk.t
        assert ((walk.variables.lower <= scaled) & (scaled <= walk.variables.upper)).all()
        assert abs(scaled.sum()) <= 1e-12 * len(y)
        assert np.abs(xi[elbow]).max() <= 1e-8
        assert (xi[~elbow & (scaled == 0.0)] <= 1e-8).all()
        assert (xi[~elbow & (scaled == y)] >= -1e-8).all()
        step = honest(tracker, walk, null, *arguments)
        seen.append((null.shape[1], step.length))
        return step

    monkeypatch.setattr(SVMP, "_singular_step", watched)
    path = regularization_path(X, y, kernel=Linear(), C_min=1e-3, C_max=10.0, merge=False, engine="numpy")
    nullities, falls = np.array(seen).T
    assert nullities.max() > 1
    assert (falls >= 0.0).all()
    assert (falls > 0.0).sum() > 2
    assert (np.diff(path.C) >= 0.0).all()
    assert path.C[-1] == pytest.approx(10.0, rel=1e-12)
    # nothing but the program and the special events has kept the conditions
    assert {"repair", "backup"}.isdisjoint(path.counts)
