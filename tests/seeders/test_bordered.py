"""The bordered system of the free variables follows M, and knows which variables depend on it."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.seeders.bordered import Bordered, independent, inverse_of


def kernel_of(X):
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))


def solution_of(K, M, top, right):
    A = np.ones((len(M) + 1, len(M) + 1))
    A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(M, M)]
    return np.linalg.solve(A, np.append(top, right[M]))


def test_the_solution_follows_its_set():
    rng = np.random.default_rng(3)
    K, right = kernel_of(rng.normal(size=(12, 5))), rng.normal(size=12)
    members = [4, 3, 7]
    system = Bordered(np.array(members), inverse_of(K[np.ix_(members, members)]), K.diagonal().max())
    system.begin(0.7, right)
    for k in [1, -3, 5, -4, 9, 11, -11, 2, 3, -7, -3, 4]:
        if k < 0:
            system.leave(-k)
            members.remove(-k)
        else:
            assert system.enter(k, K[k], float(right[k]), 0.0)
            members.append(k)
        M = [k for k, inside in zip(system.members, system.inside, strict=True) if inside]
        assert sorted(M) == sorted(members)
        assert system.count == len(members)
        x = np.append(system.x[0], system.x[1:][system.inside])
        np.testing.assert_allclose(x, solution_of(K, M, 0.7, right), rtol=1e-9, atol=1e-12)


def test_one_that_was_moving_goes_on_from_there():
    rng = np.random.default_rng(4)
    K, right = kernel_of(rng.normal(size=(6, 3))), rng.normal(size=6)
    d = 0.4  # of variable 5, as long as it moves on its own
    system = Bordered(np.arange(4), inverse_of(K[:4, :4]), K.diagonal().max())
    system.begin(-d, right - d * K[5])
    assert system.enter(5, K[5], float(right[5] - d * K[5, 5]), d)
    np.testing.assert_allclose(system.x, solution_of(K, [0, 1, 2, 3, 5], 0.0, right), rtol=1e-9, atol=1e-12)


def test_an_empty_set_begins_again():
    K = kernel_of(np.random.default_rng(5).normal(size=(3, 2)))
    system = Bordered(np.array([1]), inverse_of(K[1:2, 1:2]), K.diagonal().max())
    system.leave(1)
    assert (system.count, system.x.tolist()) == (0, [0.0])
    system.enter_empty(2, K[2], 0.5, 3.0)
    np.testing.assert_allclose(system.x, solution_of(K, [2], 0.5, np.full(3, 3.0)))
    assert system.enter(0, K[0], 3.0, 0.0)
    np.testing.assert_allclose(system.x, solution_of(K, [2, 0], 0.5, np.full(3, 3.0)), rtol=1e-9)


def test_a_dependent_variable_is_refused_until_its_equal_leaves():
    K = kernel_of(np.array([[0.0], [1.0], [1.0], [3.0]]))
    system = Bordered(np.array([0, 1, 3]), inverse_of(K[np.ix_([0, 1, 3], [0, 1, 3])]), K.diagonal().max())
    system.begin(0.0, np.ones(4))
    assert not system.enter(2, K[2], 1.0, 0.0)
    system.leave(3)
    assert not system.frees(K[2])
    system.leave(1)
    assert system.frees(K[2])
    assert system.enter(2, K[2], 1.0, 0.0)


def test_an_example_at_the_origin_is_no_measure():
    K = np.outer([2.0, 1.0, 0.0], [2.0, 1.0, 0.0])  # three points of a line
    assert independent(K, 4.0).tolist() == [0, 1]
    system = Bordered(np.array([0, 1]), inverse_of(K[:2, :2]), 4.0)
    system.begin(0.0, np.ones(3))
    assert not system.enter(2, K[2], 1.0, 0.0)


@pytest.mark.parametrize("kind", ["equal", "affine", "none"])
def test_who_is_independent(kind):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(7, 6))
    if kind == "equal":
        X[4] = X[1]
    elif kind == "affine":
        X[4] = 0.3 * X[1] + 0.7 * X[2]
    K = X @ X.T
    expected = [0, 1, 2, 3, 5, 6] if kind != "none" else list(range(7))
    kept = independent(K, K.diagonal().max())
    assert kept.tolist() == expected
    inverse = inverse_of(K[np.ix_(kept, kept)])
    A = np.ones((len(kept) + 1, len(kept) + 1))
    A[0, 0], A[1:, 1:] = 0.0, K[np.ix_(kept, kept)]
    np.testing.assert_allclose(inverse @ A, np.eye(len(A)), atol=1e-8)
    assert (inverse == inverse.T).all()
