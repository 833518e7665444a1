"""OneClassSVM: where its b lies."""

import numpy as np
import pytest

from refsvm import OneClassSVM


def test_b_makes_room_for_rounding_and_no_more():
    """A constant added to K adds νn times it to each Σ αᵢ k(x, xᵢ), which b takes: no decision value changes."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    K = X @ X.T + 1.0
    near, far = (OneClassSVM(kernel="precomputed", nu=0.2, tol=1e-7).fit(K + c) for c in (0.0, 1e6))
    assert far.decision_function(K + 1e6) == pytest.approx(near.decision_function(K), abs=2e-4)


def test_a_machine_that_is_constant_leaves_no_example_outside():
    """Examples around the origin, linear kernel: w = 0 is best, G is 0 but for rounding, and the terms of h are not."""
    A = np.random.default_rng(1).normal(size=(40, 2))
    X = np.concatenate([A, -A])
    model = OneClassSVM(kernel="linear", nu=0.4).fit(X)
    assert not ((model.predict(X) < 0) & (model.alpha_ < 1.0)).any()
