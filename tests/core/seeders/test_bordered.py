"""The bordered system of the free variables follows M, and knows which variables depend on it."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.core.walk.bordered import SINGULAR, SPARE, Bordered, independent, inverse_of


def kernel_of(X):
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


def solution_of(K, M, top, right):
    A = np.ones((len(M) + 1, len(M) + 1))
    A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(M, M)]
    return np.linalg.solve(A, np.append(top, right[M]))


def system_of(K, M, top, right):
    system = Bordered(inverse_of(K[np.ix_(M, M)]), SINGULAR * K.diagonal().max())
    system.solve(np.append(top, right[M]))
    return system


def entered(system, K, M, k, right, pace=0.0):
    """Let k join, as a walk does it."""
    done = system.insert(np.append(1.0, K[k, M]), K[k, k], right, pace)
    if done:
        M.append(k)
    return done


def left(system, M, k, pace=0.0):
    """Let k leave; the last one takes its place."""
    slot = M.index(k)
    assert system.delete(slot, pace)
    M[slot] = M[-1]
    del M[-1]


@pytest.mark.parametrize("n", [12, 90])
def test_the_solution_follows_its_set(n):
    """Variables outside move at a pace of their own; one that joins goes on from there, and the inverse grows."""
    rng = np.random.default_rng(n)
    K, right, pace, M = kernel_of(3.0 * rng.normal(size=(n, 6))), rng.normal(size=n), np.zeros(n), [0]
    system = system_of(K, M, 0.7, right)
    room = len(system.values)
    for _ in range(3 * n):
        outside = np.setdiff1d(np.arange(n), M)
        if len(M) == 1 or (len(outside) and rng.random() < 0.7):
            k = int(rng.choice(outside))
            assert entered(system, K, M, k, float(right[k] - K[k] @ pace), pace[k])
            pace[k] = 0.0
        else:
            k = int(rng.choice(M))
            pace[k] = rng.choice([0.0, 0.3, -0.4])
            left(system, M, k, pace[k])
        assert system.size == len(M) + 1
        expected = solution_of(K, M, 0.7 - pace.sum(), right - K @ pace)
        np.testing.assert_allclose(system.x[: system.size], expected, rtol=1e-9, atol=1e-11)
        assert not system.x[system.size :].any()
        assert not system.values[system.size :].any()
        assert not system.values[:, system.size :].any()
    assert (len(system.values) > room) == (n == 90)
    more = len(system.x) + 1
    system.make_room(more)
    assert (*system.values.shape, len(system.x)) == (more + SPARE,) * 3


def test_an_empty_set_begins_again():
    K = kernel_of(np.random.default_rng(5).normal(size=(3, 2)))
    M = [1]
    system = system_of(K, M, 0.5, np.full(3, 3.0))
    left(system, M, 1)
    assert (system.size, system.x.any(), system.inverse.tolist()) == (1, False, [[0.0]])
    system.insert_first(K[2, 2], 0.5, 3.0)
    np.testing.assert_allclose(system.x[:2], solution_of(K, [2], 0.5, np.full(3, 3.0)))
    assert entered(system, K, [2], 0, 3.0)
    np.testing.assert_allclose(system.x[:3], solution_of(K, [2, 0], 0.5, np.full(3, 3.0)), rtol=1e-9)


def test_a_dependent_variable_is_refused_until_its_equal_leaves():
    K = kernel_of(np.array([[0.0], [1.0], [1.0], [3.0]]))
    M = [0, 1, 3]
    system = system_of(K, M, 0.0, np.ones(4))
    assert not entered(system, K, M, 2, 1.0)
    assert not system.frees(M.index(3), np.append(1.0, K[2, M]))
    left(system, M, 3)
    assert system.frees(M.index(1), np.append(1.0, K[2, M]))
    left(system, M, 1)
    assert entered(system, K, M, 2, 1.0)


def test_one_whose_distance_is_lost_in_rounding_does_not_leave():
    K = kernel_of(np.random.default_rng(7).normal(size=(4, 2)))
    system = system_of(K, [0, 1, 2], 0.0, np.ones(4))
    system.values[2, 2] = -1e-9
    assert not system.delete(1)


def test_an_example_at_the_origin_is_no_measure():
    K = np.outer([2.0, 1.0, 0.0], [2.0, 1.0, 0.0])  # three points of a line
    assert independent(K, 4.0).tolist() == [0, 1]
    assert not entered(system_of(K, [0, 1], 0.0, np.ones(3)), K, [0, 1], 2, 1.0)


@pytest.mark.parametrize("kind", ["equal", "affine", "nearly affine", "none"])
def test_which_points_are_independent(kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(7, 6))
    if kind == "equal":
        X[4] = X[1]
    elif "affine" in kind:  # or a distance whose square is next to nothing
        X[4] = 0.3 * X[1] + 0.7 * X[2] + 1e-5 * (kind != "affine") * X[6]
    K = X @ X.T
    expected = [0, 1, 2, 3, 5, 6] if kind != "none" else list(range(7))
    kept = independent(K, K.diagonal().max())
    assert kept.tolist() == expected
    inverse = inverse_of(K[np.ix_(kept, kept)])
    A = np.ones((len(kept) + 1, len(kept) + 1))
    A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(kept, kept)]
    np.testing.assert_allclose(inverse @ A, np.eye(len(A)), atol=1e-8)
    assert (inverse == inverse.T).all()
