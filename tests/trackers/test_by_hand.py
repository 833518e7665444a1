"""Paths that can be worked out by hand, by each tracker, on both sides."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from refsvm import RBF, SVMP, DualProblem, Hastie, KKTGap, Linear, Precomputed, regularization_path, solve
from refsvm.walk.state import PathState

pytest.importorskip("scipy")
ONES = np.ones((2, 2))

# K, y, breakpoints between 0.1 and 10, and α(C)
CASES = {
    # f = 2a − ½(k₀ + k₁)a² for α = (a, −a)
    "two examples": (np.eye(2), [1, -1], 1.0, [1, -1]),
    "two examples, flat": (np.diag([0.5, 0.3]), [1, -1], 2.5, [1, -1]),
    # both pairs become free at C = 1
    "two pairs at once": (np.eye(4), [1, 1, -1, -1], 1.0, [1, 1, -1, -1]),
    # the two share what example 0 has: f = 2a − ½(1 + ½)a²
    "one against two": (np.eye(3), [1, -1, -1], 4 / 3, [1.0, -0.5, -0.5]),
    # G₁ = G₂ for a₂ = 4a₁: f = 2a − ½(1 + 1/25 + 4/25)a²
    "one against two that differ": (np.diag([1.0, 1.0, 0.25]), [1, -1, -1], 5 / 3, [1.0, -0.2, -0.8]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tracker", [SVMP(), SVMP(refresh=1), Hastie()], ids=repr)
def test_alpha_grows_with_c_until_its_sum_is_best(tracker, name, engine):
    K, y, most, shares = CASES[name]
    path = regularization_path(
        K, y, kernel=Precomputed(), C_min=0.1, C_max=10.0, tracker=tracker, engine=engine
    )
    np.testing.assert_allclose(np.unique(path.C.round(9)), [0.1, most, 10.0], rtol=1e-8)
    for C in (0.1, 0.5, most, 5.0, 10.0):
        np.testing.assert_allclose(path.alpha(C), min(C, most) * np.array(shares), atol=1e-8 * C)


def test_the_weight_of_equal_examples_is_that_of_one(engine):
    """Example 0 against two that are equal: only the sum of their α is determined, a = min(C, 1)."""
    K = np.block([[np.eye(1), np.zeros((1, 2))], [np.zeros((2, 1)), ONES]])
    path = regularization_path(
        K,
        [1, -1, -1],
        kernel=Precomputed(),
        C_min=0.1,
        C_max=10.0,
        tracker=SVMP(),
        engine=engine,
        merge=False,
    )
    for C in (0.1, 0.5, 1.0, 5.0, 10.0):
        alpha = path.alpha(C)
        assert [alpha[0], alpha[1:].sum()] == pytest.approx([min(C, 1.0), -min(C, 1.0)], abs=1e-7)
        assert path.objective(C) == pytest.approx(2 * min(C, 1.0) - min(C, 1.0) ** 2, abs=1e-7)
        assert (alpha[1:] <= 1e-12).all()


def test_equal_examples_are_refused_by_hastie():
    K = np.block([[np.eye(1), np.zeros((1, 2))], [np.zeros((2, 1)), ONES]])
    with pytest.raises(ValueError, match=r"use tracker=SVMP\(\)"):
        regularization_path(
            K, [1, -1, -1], kernel=Precomputed(), C_min=0.1, C_max=10.0, tracker=Hastie(), merge=False
        )


def test_a_path_along_which_an_example_comes_and_goes(engine):
    """Two of each class on a line, −3, −1 and 1, 3 with K = xx′ + 1: 0 and 3 are beyond the margin once w > 1/3.

    By symmetry α = (−p, −q, q, p) and w = 2(3p + q). All at C: w = 8C, up to w = 1/3 at C = 1/24, where p becomes free
    and falls, with w = 1/3 and q = C: p = (1/6 − C)/3, until p = 0 at C = 1/6; then w = 2C up to 1, at C = 1/2.
    """
    x, y = np.array([-3.0, -1.0, 1.0, 3.0]), np.array([-1, -1, 1, 1])
    path = regularization_path(
        np.outer(x, x) + 1.0, y, kernel=Precomputed(), C_min=0.01, C_max=2.0, tracker=SVMP(), engine=engine
    )

    def expected(C):
        p = C if C < 1 / 24 else max(0.0, (1 / 6 - C) / 3)
        q = min(C, 0.5)
        return np.array([-p, -q, q, p])

    for C in (0.01, 0.03, 1 / 24, 0.1, 1 / 6, 0.3, 0.5, 1.0, 2.0):
        np.testing.assert_allclose(path.alpha(C), expected(C), atol=1e-8)
        assert path.intercept(C) == pytest.approx(0.0, abs=1e-8)
    for C in (1 / 24, 1 / 6, 0.5):
        assert abs(path.C - C).min() < 1e-8
    assert {"repair", "backup"}.isdisjoint(path.counts)  # SMO would put right what the events get wrong


@pytest.mark.parametrize("tracker", [SVMP(), Hastie()], ids=repr)
def test_a_tracker_is_a_value(tracker):
    assert tracker == type(tracker)()
    assert hash(tracker) == hash(type(tracker)())
    with pytest.raises(FrozenInstanceError):
        tracker.tol = tracker.tau = 1.0


def test_g_is_computed_anew_after_so_many_events(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0.0, 1, -1)
    anew, times, refresh = [], [], PathState.refresh
    monkeypatch.setattr(PathState, "refresh", lambda walk: (anew.append(walk.t), refresh(walk))[1])
    for every in (1, 5, 10**6):
        anew.clear()
        path = regularization_path(
            X, y, kernel=RBF(0.5), C_min=0.1, C_max=100.0, tracker=SVMP(refresh=every), engine="numpy"
        )
        times.append(len(anew))
    events = len(path.C)
    assert events > 20
    assert times[0] - times[2] >= events // 2
    assert events // 10 <= times[1] - times[2] < times[0] - times[2]


@pytest.mark.parametrize("seed", [9, 25, 29])
def test_examples_between_two_sets_are_put_where_the_derivative_says(seed):
    """On this grid of points, many of them equal, all events fall together once; α need not jump for that."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(16, 2)).astype(float)
    y = np.where(rng.random(16) < 0.5, 1, -1)
    path = regularization_path(
        X, y, kernel=Linear(), C_min=0.01, C_max=100.0, tracker=SVMP(), engine="numpy", merge=False
    )
    assert path.counts["derivative"] == 1
    assert "backup" not in path.counts
    assert "repair" not in path.counts
    for C in (*path.C, *np.sqrt(path.C[1:] * path.C[:-1])):
        exact = solve(DualProblem.classification(X, y, C=C), stop=KKTGap(1e-9), engine="numpy")
        assert path.objective(C) == pytest.approx(exact.objective, rel=1e-7)
