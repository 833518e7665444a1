"""The problems of a line, between its ends and at them."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import DualProblem, Linear, Precomputed
from refsvm.core.kernels import Gram
from refsvm.core.walk.line import FAR, ProblemLine, RegularizationLine, range_of_rows, solved_gram

Y = np.array([1.0, -1.0, 1.0])
AT_ONE = DualProblem.classification(np.eye(3), Y, kernel=Precomputed(), C=1.0)


@pytest.mark.parametrize("C", [49.0, 80.0, 1e-3, 0.3])
def test_the_ends_of_a_path_are_the_penalties_that_were_asked_for(C):
    """1/(1/49) is not 49 in floating point; between the ends C is 1/t."""
    line = RegularizationLine(AT_ONE, 0.1, C)
    assert line.point(1.0 / C, np.zeros(3), 0.0, "end", (), 0).C == C
    assert line.point(0.7, np.zeros(3), 0.0, "event", (), 0).C == 1.0 / 0.7


def test_the_line_of_one_over_c_scales_the_targets():
    line = RegularizationLine(AT_ONE, 10.0)
    np.testing.assert_array_equal(line.at(0.1).v, 0.1 * Y)
    v, lower, upper = line.arrays(0.1)
    np.testing.assert_array_equal([v, lower, upper], [0.1 * Y, AT_ONE.lower, AT_ONE.upper])
    assert line.sign.tolist() == [1.0, -1.0, 1.0]
    # relative to λ for C < 1 is relative to C: h is of that size
    assert [line.tolerance(t, 1e-6) for t in (0.1, 1.0, 10.0)] == [1e-7, 1e-6, 1e-6]
    assert line.tolerance(10.0, 1e-18) == pytest.approx(1e-13, rel=1e-9, abs=0.0)


def made(upper, z, v=Y, lower=0.0):
    n = len(upper)
    return DualProblem(
        Gram(Precomputed(), np.eye(n)), np.asarray(v), z, np.broadcast_to(lower, n).astype(float), upper
    )


@pytest.mark.parametrize("way", [(0.0, 1.0), (3.0, -1.0)])
def test_between_two_problems(way):
    start = made(np.array([1.0, 2.0, 0.0]), 1.0)
    end = made(np.array([3.0, 2.0, 4.0]), 2.0, v=[0.0, -1.0, 5.0], lower=[-1.0, 0.0, 0.0])
    line = ProblemLine(start, end, way, largest=1.0)
    middle = line.at(0.75 * way[0] + 0.25 * way[1])
    np.testing.assert_allclose(middle.v, [0.75, -1.0, 2.0])
    np.testing.assert_allclose([middle.lower, middle.upper], [[-0.25, 0.0, 0.0], [1.5, 2.0, 1.0]])
    assert middle.z == pytest.approx(1.25)
    assert line.at(way[0]) is start
    assert line.at(way[1]) is end
    length, rise = abs(way[1] - way[0]), np.sign(way[1] - way[0])
    assert line.line.t == rise
    np.testing.assert_allclose(length * line.line.v, [-1.0, 0.0, 4.0])
    np.testing.assert_allclose(length * line.line.lower, [-1.0, 0.0, 0.0])
    np.testing.assert_allclose(length * line.line.upper, [2.0, 0.0, 4.0])
    assert length * line.line.z == pytest.approx(1.0)
    assert line.sign.tolist() == [1.0, 1.0, 1.0]
    assert line.widest == 4.0
    assert length * line.pace == pytest.approx(4.0)
    assert length * line.push == pytest.approx(4.0 + 6.0)
    assert (line.span, line.least) == (length, 1e-4 * length)


def test_a_variable_without_a_box_has_no_sign():
    start = made(np.array([1.0, 0.0, 2.0]), 1.0)
    assert ProblemLine(start, made(np.array([2.0, 0.0, 2.0]), 1.0), (0.0, 1.0), 1.0).sign.tolist() == [
        1.0,
        0.0,
        1.0,
    ]


def test_the_sum_stays_inside_the_box_where_all_are_at_its_end():
    """z = ΣU at both ends; in between both are rounded, and ΣU may be a little less than z."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        first, last = rng.uniform(size=(2, 7))
        start, end = made(first, float(first.sum()), np.ones(7)), made(last, float(last.sum()), np.ones(7))
        line = ProblemLine(start, end, (0.0, 1.0), largest=1.0)
        for t in rng.uniform(size=20):
            at = line.at(t)
            assert at.z <= at.upper.sum()
            assert at.z == pytest.approx(at.upper.sum(), rel=1e-14)
            below = ProblemLine(
                made(np.zeros(7), -start.z, -np.ones(7), -first), made(np.zeros(7), -end.z, -np.ones(7), -last),
                (0.0, 1.0), largest=1.0,
            ).at(t)  # fmt: skip
            assert below.z >= below.lower.sum()


@pytest.mark.parametrize(
    ("v", "z", "lower", "unit"),
    [
        ([1.0, -1.0, 0.0], 0.5, 0.0, 1.0),  # half of the range of v
        ([1.0, 1.0, 1.0], 0.5, 0.0, 3.0 * 0.5),  # of one class: max |Kᵢⱼ| Σα …
        ([1.0, 1.0, 1.0], 2.0, 0.0, 3.0 * 1.0),  # … or the width of a box …
        ([1.0, 1.0, 1.0], 0.5, -1.0, 3.0 * 2.0),  # … which alone tells where α may be negative
    ],
)
def test_the_unit_of_a_gap(v, z, lower, unit):
    start = made(np.ones(3), z, v, lower)
    line = ProblemLine(start, start._part_of_box(start.lower, start.upper), (0.0, 1.0), largest=3.0)
    assert line.unit[0] + 0.5 * line.unit[1] == unit
    assert line.tolerance(0.5, 1e-6) == pytest.approx(1e-6 * unit)


def test_a_line_far_from_the_origin_is_moved_to_its_mean_where_its_sums_are_zero():
    """With Σα = 0 at both ends another origin changes no machine; one sum that is not 0 needs K as it is."""
    X = 1e6 + np.arange(4.0)[:, None]
    y, box = np.array([1.0, -1.0, 1.0, -1.0]), np.ones(4)
    gram = Gram(Linear(), X)
    zero, other, one = (DualProblem(gram, y, z, -box, box) for z in (0.0, 0.0, 1.0))
    near = solved_gram(zero, other)
    assert near is not gram
    np.testing.assert_allclose(near.block(np.arange(4)), (X - X.mean()) @ (X - X.mean()).T)
    for start, end in ((zero, one), (one, zero), (one, one)):
        np.testing.assert_array_equal(solved_gram(start, end).block(np.arange(4)), gram.block(np.arange(4)))


@pytest.mark.parametrize("largest", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize(
    ("share", "is_small"), [(0.0, False), (0.5 * FAR, True), (2.0 * FAR, False), (1.0, False)]
)
def test_values_that_are_large_and_alike_differ_by_little(share, is_small, largest):
    """An offset of all values moves no decision value, and is left out where it would hide them."""
    K = np.full((3, 3), largest) - share * largest * (1.0 - np.eye(3))
    assert range_of_rows(K, largest) == pytest.approx(share * largest if is_small else largest, rel=1e-5)


@pytest.mark.parametrize(("v", "unit"), [([3.0, -1.0, 0.0], 2.0), ([0.5, 0.0, 0.25], 0.25), ([0.5] * 3, 1.0)])
def test_the_unit_along_the_penalty_is_half_of_the_range_of_v(v, unit):
    """Times λ = 1/C; 1 where v is one number."""
    line = RegularizationLine(made(np.ones(3), 0.0, np.array(v)))
    assert line.unit == (0.0, unit)
    assert line.tolerance(0.5, 1e-6) == pytest.approx(0.5e-6 * unit, rel=1e-14)
