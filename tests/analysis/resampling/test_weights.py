"""Means, ranks and sums of weighted examples, beside repeated ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from refsvm.analysis.resampling.scores import (
    mean_absolute_error,
    r_squared,
    root_mean_square,
    share_wrong,
    variance,
)
from refsvm.analysis.resampling.weights import (
    copies,
    in_exact_steps,
    mean,
    smallest,
    steps_of,
    weights_in,
)


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, h, w = rng.integers(0, 3, 12), rng.integers(0, 3, 12), rng.integers(0, 4, 12).astype(float)
    w[:2] = [1.0, 2.0]
    rep = np.repeat(np.arange(12), w.astype(int))
    for score in (share_wrong, root_mean_square, mean_absolute_error, r_squared):
        assert score(y, h, w) == pytest.approx(score(y[rep], h[rep]), rel=1e-12)
        assert score(y, h, 1e200 * w) == pytest.approx(score(y[rep], h[rep]), rel=1e-12)


def test_what_does_not_count_may_be_unknown() -> None:
    assert mean(np.array([np.nan, 3.0]), np.array([0.0, 2.0])) == 3.0
    assert math.isnan(mean(np.array([1.0]), np.zeros(1)))
    assert math.isnan(mean(np.zeros(0)))
    assert mean(np.array([3.0, 5.0]), np.array([1e200, 3e200])) == 4.5
    # a mean of ones is 1, whatever their weights
    assert mean(np.ones(7), np.random.default_rng(0).random(7)) == 1.0


def test_one_target_has_no_spread() -> None:
    y = np.array([0.1, 0.1, 0.1, 5.0])
    assert variance(y, np.array([1.0, 1.0, 1.0, 0.0])) == 0.0
    assert math.isnan(r_squared(y, y, np.array([1.0, 1.0, 1.0, 0.0])))
    assert variance(y) == pytest.approx(np.var(y), rel=1e-14)


def test_penalties_as_weights() -> None:
    assert weights_in(np.full(3, 0.7)) is None
    assert weights_in(np.zeros(0)) is None
    np.testing.assert_array_equal(weights_in(np.array([np.inf, 2.0, 0.0])), [1.0, 1.0, 0.0])
    np.testing.assert_array_equal(weights_in(np.array([4.0, 2.0, 0.0])), [4.0, 2.0, 0.0])


@pytest.mark.parametrize("seed", range(5))
def test_exact_steps_add_up_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = rng.exponential(size=200) * 10.0 ** rng.uniform(-8.0, 8.0)
    w = in_exact_steps(given)
    np.testing.assert_allclose(w, given, rtol=0.0, atol=1e-14 * given.sum())
    whole = math.fsum(w)
    for _ in range(5):
        order = rng.permutation(200)
        assert np.cumsum(w[order])[-1] == whole
        assert np.cumsum(np.concatenate([w[order], -w[order[:199]]]))[-1] == w[order[199]]
    np.testing.assert_array_equal(in_exact_steps(np.array([3.0, 0.0, 1.0])), [3.0, 0.0, 1.0])
    np.testing.assert_array_equal(in_exact_steps(np.zeros(2)), np.zeros(2))
    assert steps_of(None, 3).dtype == np.int64


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ([0.5, 2.0**-52], 2.0**-52),  # the sum is below 1: 52 binary digits of it
        ([0.5, 2.0**-53], 0.0),
        ([0.5, 3.0 * 2.0**-53], 2.0**-51),
        ([2.0, 2.0**-50], 2.0**-50),
        ([2.0**-999, 2.0**-1000], 2.0**-1000),  # the smallest step
        ([2.0**-999, 2.0**-1001], 0.0),
    ],
)
def test_steps_of_weights_are_parts_of_the_power_of_two_above_their_sum(given, kept):
    assert in_exact_steps(np.array(given)).tolist() == [given[0], kept]


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_copies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, counts = rng.normal(size=(4, 9)).round(1), rng.integers(0, 4, 9) if seed else np.ones(9, int)
    counts[0] = 1
    ordered = np.sort(np.repeat(values, counts, axis=1), axis=1)
    for rank in range(1, int(counts.sum()) + 1):
        np.testing.assert_array_equal(smallest(values, counts, rank), ordered[:, rank - 1])


def test_numbers_of_copies() -> None:
    assert copies("it", None, 2).tolist() == [1, 1]
    assert copies("it", np.array([0.0, 3.0]), 2).tolist() == [0, 3]
