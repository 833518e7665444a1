"""The linear program (30)–(34): the largest fall, and the null vectors that it takes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.optimize import linprog

from refsvm.walk.linear_program import longest_fall


@pytest.mark.parametrize("limit", [10.0, 0.4])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_the_fall_is_that_of_the_interior_point_method(seed, k, limit):
    """And β keeps all within their bounds; with β = 0 the first of them would be met earlier."""
    rng, m = np.random.default_rng(seed), 9
    d, U, place = rng.normal(size=m), rng.normal(size=(m, k)), rng.uniform(0.1, 0.9, size=m)
    rate, gap, null = np.append(d, -d), np.append(1.0 - place, place), np.concatenate([U, -U])
    t, beta = longest_fall(rate, gap, null, limit)
    best = linprog(
        np.append(-1.0, np.zeros(k)), np.column_stack([rate, null]), gap,
        bounds=[(0.0, limit)] + [(None, None)] * k, method="highs-ipm",
    )  # fmt: skip
    assert t == pytest.approx(best.x[0], rel=1e-7)
    assert (t * rate + null @ beta <= gap + 1e-9).all()
    alone = (gap / np.maximum(rate, 1e-300))[rate > 0.0].min()
    assert t >= min(alone, limit) * (1.0 - 1e-9)


def test_two_equal_examples_by_hand():
    """Only their sum falls, by 1: the first is at 0.2 and the second at 0.9, so the first stops it without β."""
    rate, gap = np.array([-0.5, -0.5, 0.5, 0.5]), np.array([0.8, 0.1, 0.2, 0.9])
    null = np.array([[1.0], [-1.0], [-1.0], [1.0]])
    t, beta = longest_fall(rate, gap, null, 9.0)
    assert t == pytest.approx(1.1)  # both are at 0 then; without β, at 0.4
    assert beta == pytest.approx([0.35])


@pytest.mark.parametrize("k", [1, 2])
def test_what_does_not_move_falls_as_far_as_it_may(k):
    null = np.concatenate([np.eye(3)[:, :k], -np.eye(3)[:, :k]])
    for gap in (np.array([0.8, 0.1, 0.5, 0.2, 0.9, 0.5]), np.zeros(6)):
        t, beta = longest_fall(np.zeros(6), gap, null, 0.7)
        assert t == pytest.approx(0.7)
        assert (null @ beta <= gap + 1e-12).all()


def test_the_unit_of_the_box_changes_no_bit():
    """A box that is 2ᵏ times as wide, with a limit that is as many times as far, gives the same program."""
    rng, m = np.random.default_rng(3), 9
    d, U, place = rng.normal(size=m), rng.normal(size=(m, 3)), rng.uniform(0.1, 0.9, size=m)
    rate, gap, null = np.append(d, -d), np.append(1.0 - place, place), np.concatenate([U, -U])
    t, beta = longest_fall(rate, gap, null, 10.0)
    for unit in (2.0**-30, 2.0**21):
        wider, others = longest_fall(rate, unit * gap, null, unit * 10.0)
        assert (wider, others.tolist()) == (unit * t, (unit * beta).tolist())
