"""The linear program (30)–(34): the largest fall, and the null vectors that it takes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy.optimize import linprog

from refsvm.core.walk.linear_program import longest_fall, most_before_crossing


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


class Counted(np.ndarray):
    """Numbers that say how often the largest of them was looked for."""

    asked = 0

    def argmax(self, *arguments, **named):
        Counted.asked += 1
        return super().argmax(*arguments, **named)


def rounds(*program, limit):
    """The answer, and in how many rounds it is found."""
    Counted.asked = 0
    least, *others = map(np.array, program)
    return most_before_crossing(least.view(Counted), *others, limit=limit), Counted.asked


@pytest.mark.parametrize("seed", range(20))
def test_the_rounds_end_where_nothing_falls_any_more(seed):
    """Programs of all kinds of rooms: one round for each piece that is met, and one that sees no more fall."""
    rng, m = np.random.default_rng(seed), 12
    least, most = -rng.uniform(0.0, 1.0, m), rng.uniform(0.0, 1.0, m)
    slopes = rng.normal(size=(2, m))
    if seed % 4 == 3:  # all of them meet at 0.7, where rounding decides which of two is above
        slopes[0], slopes[1] = np.abs(slopes[0]) + 0.1, -np.abs(slopes[1]) - 0.1
        least, most = -0.7 * slopes[0], -0.7 * slopes[1]
    (t, lowest, highest), number = rounds(least, slopes[0], most, slopes[1], limit=10.0)
    best = linprog(
        [-1.0, 0.0], np.block([[slopes[0][:, None], -np.ones((m, 1))], [-slopes[1][:, None], np.ones((m, 1))]]),
        np.append(-least, most), bounds=[(0.0, 10.0), (None, None)],
    )  # fmt: skip
    assert t == pytest.approx(best.x[0], rel=1e-9)
    assert lowest <= highest + 1e-12 or t == 10.0
    assert number <= 8


@pytest.mark.parametrize("scale", [1.0, 1e-3, 3e7])
def test_no_round_follows_one_that_has_come_to_0(scale):
    """A room that is closed at 0 already, and one that never shrinks."""
    cross = rounds([scale], [1.0], [-scale], [-1.0], limit=5.0)
    assert cross == ((0.0, scale, -scale), 1)
    stays = rounds([scale], [1.0], [-scale], [1.0], limit=5.0)
    assert stays == ((0.0, scale, -scale), 1)
