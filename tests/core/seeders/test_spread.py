"""The sum of a seed is completed within the box, in a fixed order."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm.core.problem import total
from refsvm.core.seeders.spread import complete, spread

from .test_branches import filled


@pytest.mark.parametrize("seed", range(40))
def test_each_gets_the_same_share_up_to_its_bound(seed):
    """The share is found by bisection; what finds no room is returned."""
    rng = np.random.default_rng(seed)
    lower, upper = -rng.integers(0, 4, 6) / 2.0, rng.integers(0, 4, 6) / 2.0
    start = lower + rng.choice([0.0, 0.25, 0.5, 1.0], 6) * (upper - lower)
    among, missing = rng.permutation(6)[:4], float(rng.integers(-8, 9)) / 4.0
    found = start.copy()
    left = spread(found, among, missing, lower, upper)
    expected = filled(start, among, missing, lower, upper)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert left == pytest.approx(missing - (expected - start).sum(), abs=1e-12)
    at_bound = (expected == lower) | (expected == upper)
    assert ((found == lower) | (found == upper))[at_bound].all()


@pytest.mark.parametrize("seed", range(20))
def test_any_sum_within_reach_is_reached(seed):
    rng = np.random.default_rng(seed)
    n, scale = 60, 10.0 ** rng.integers(-6, 7)
    lower = -scale * rng.uniform(size=n) * (rng.random(n) < 0.7)
    upper = scale * rng.uniform(size=n) * (rng.random(n) < 0.7)
    start = np.clip(lower + (upper - lower) * rng.integers(0, 3, size=n) / 2, lower, upper)
    least, most = lower.sum(), upper.sum()
    z = least + rng.uniform() * (most - least)
    alpha = complete(start.copy(), z, lower, upper)
    assert (lower <= alpha).all()
    assert (alpha <= upper).all()
    assert abs(alpha.sum() - z) <= 1e-12 * scale * n


def test_sums_go_from_left_to_right():
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert total(values) == ((1e16 + 1.0) - 1e16) + 1.0
    assert total(np.empty(0)) == 0.0


def test_rounding_is_shared_by_no_variable():
    """Otherwise every variable at a bound would become free by 1e-16."""
    alpha = np.array([0.1, 0.2, 0.0, 1.0])
    z = 0.1 + 0.2 + 1.0 + 4e-16
    complete(alpha, z, np.zeros(4), np.ones(4))
    assert alpha[2:].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("units", [8, 9, -7, -9])
def test_rounding_is_four_units_of_what_is_summed(units):
    """Of Σ|α| = 1 and z, which is 1 too: one unit more is shared by all, which are at their bounds."""
    start = np.array([0.0, 0.0, 1.0, 0.0])
    box = (start, start + 1.0) if units > 0 else (start - 1.0, start)
    found = complete(start.copy(), 1.0 + units * 2.0**-52, *box)
    assert (found != start)[[0, 1, 3]].all() == (abs(units) > 8)
    assert (found != start).any() == (abs(units) > 8)


def test_nothing_is_left_of_large_numbers_where_the_sum_is_zero():
    """A box of one class holds α = 0 only: what rounding leaves of the first sums is taken away too."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 7))
        upper = rng.uniform(0.1, 4.0, n)
        alpha = np.minimum(rng.uniform(0.0, 4.0, n) * (rng.random(n) < 0.7), upper)
        assert not complete(alpha, 0.0, np.zeros(n), upper).any()
