"""The ends of a conformal interval are where the rank of a refit changes."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, Linear, Polynomial, solve
from refsvm.analysis.paths.conformal import conformal_intervals

from ...settings import FAST

pytest.importorskip("scipy")


def share_as_strange(X, y, x, t, kernel, C, epsilon):
    """p(t) of a machine that is trained anew with (x, t)."""
    X, y = np.vstack([X, x]), np.append(y, t)
    problem = DualProblem.regression(X, y, kernel=kernel, C=C, epsilon=epsilon)
    solution = solve(problem, stop=KKTGap(1e-10), engine=FAST)
    beta = solution.alpha.reshape(2, -1).sum(axis=0)
    residuals = np.abs(y - kernel(X, X) @ beta - solution.intercept)
    return float((residuals >= residuals[-1] - 1e-7 * np.ptp(y)).mean())


def example(name):
    rng = np.random.default_rng(1)
    X = rng.uniform(-3.0, 3.0, (30, 1))
    if name == "whole numbers":
        X = np.round(X)
    return X, (np.sin(X[:, 0]) + 0.3 * rng.normal(size=30)).round(1 if name == "whole numbers" else 9)


@pytest.mark.parametrize(
    ("name", "kernel", "C", "epsilon"),
    [
        ("smooth", RBF(1.0), 1.0, 0.1),
        ("smooth", RBF(3.0), 50.0, 0.02),
        ("smooth", Linear(), 0.1, 0.3),
        ("whole numbers", RBF(0.5), 1.0, 0.1),
    ],
)
def test_ranks_of_refits_change_at_the_ends(name, kernel, C, epsilon):
    X, y = example(name)
    new = np.array([[0.3], [2.9]])
    own = kernel(new, new).diagonal()
    intervals = conformal_intervals(
        kernel(X, X), y, kernel(new, X), own, C=C, epsilon=epsilon, confidence=0.805, engine=FAST
    )
    for x, (low, high) in zip(new, intervals, strict=True):
        width = high - low
        for end, out in ((low, -1.0), (high, 1.0)):
            assert share_as_strange(X, y, x, end - out * 1e-5 * width, kernel, C, epsilon) > 0.195
            for away in (1e-5, 0.1, 0.5, 2.0, 10.0):
                assert share_as_strange(X, y, x, end + out * away * width, kernel, C, epsilon) <= 0.195


@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e5])
@pytest.mark.parametrize(
    ("seed", "features", "kernel", "C"),
    [
        (0, 200, Linear(), 100.0),
        (1, 40, Linear(), 1000.0),
        (0, 6, Polynomial(3, 0.3, 1.0), 100.0),
        (1, 3, RBF(0.05), 1000.0),
    ],
)
@pytest.mark.slow
def test_a_machine_that_meets_every_example_finds_no_target_strange_until_its_bound(
    seed, features, kernel, C, unit
):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, features))
    y, new = unit * (X[:, 0] + 0.3 * rng.normal(size=20)), rng.normal(size=(1, features))
    C = C * unit
    given = kernel(X, X), y, kernel(new, X), kernel(new, new).diagonal()
    ((low, high),) = conformal_intervals(*given, C=C, epsilon=0.0, confidence=0.805, engine="numpy")
    assert low < y.min() - unit
    assert high > y.max() + unit
    width = high - low
    for end, out in ((low, -1.0), (high, 1.0)):
        if unit == 1.0:
            inside, outside = (
                share_as_strange(X, y, new[0], end + out * away * width, kernel, C, 0.0)
                for away in (-1e-3, 1e-3)
            )
            assert inside > 0.195 >= outside


def test_engines_agree_and_few_examples_decide_nothing():
    pytest.importorskip("numba")
    X, y = example("smooth")
    given = RBF(1.0)(X, X), y, RBF(1.0)(X[:1] + 0.1, X), np.ones(1)
    one, other = (conformal_intervals(*given, engine=engine) for engine in ("numpy", FAST))
    np.testing.assert_array_equal(one, other)
    few = conformal_intervals(*given, confidence=0.97, engine=FAST)
    np.testing.assert_array_equal(few, [[-np.inf, np.inf]])


@pytest.mark.parametrize(
    ("seed", "n", "far", "C"),
    [
        *((seed, 12, None, 0.05) for seed in range(8)),  # of the third, two copies reach their bound at once
        (153, 8, 9.0, 1.0),  # one target is farther than where the new example meets its bound
    ],
)
def test_copies_are_as_many_examples(seed, n, far, C):
    """An interval of weights is that of repeated rows, which have ties everywhere: both are where refits have it."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 1)), np.round(rng.normal(size=n), 2 if far is None else 1)
    y[0] = y[0] if far is None else far
    weights, new = rng.integers(1, 4, n).astype(float), rng.normal(size=(2, 1)) * (2 if far is None else 1)
    kernel, repeated = RBF(0.5), np.repeat(np.arange(n), weights.astype(int))
    given = {"C": C, "epsilon": 0.1, "confidence": 0.8, "engine": FAST}
    one = conformal_intervals(kernel(X, X), y, kernel(new, X), np.ones(2), weights=weights, **given)
    A, t = X[repeated], y[repeated]
    other = conformal_intervals(kernel(A, A), t, kernel(new, A), np.ones(2), **given)
    np.testing.assert_allclose(one, other, atol=1e-9)
    for x, ends in zip(new, other, strict=True):
        for end, out in zip(ends, (-1e-3, 1e-3), strict=True):
            shares = [share_as_strange(A, t, x, end + way * out, kernel, C, 0.1) for way in (-1.0, 1.0)]
            assert shares[0] > 0.2 >= shares[1]
