"""Steps, corrections, jumps and sets of a walk, worked out by hand at each limit; which examples block it."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from refsvm import DualProblem, Precomputed
from refsvm.analysis.paths import UpdatedInverse
from refsvm.core.kernels import Gram
from refsvm.core.walk.bordered import independent_factor
from refsvm.core.walk.elbow import Step, correct, empty_elbow_step, jump_of_alpha, jump_of_b, noise_of, take
from refsvm.core.walk.line import ProblemLine
from refsvm.core.walk.special_events import SwitchingGuard, blocking
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import ABOVE, BELOW, CLOSED, FREE

ZERO, ONE = np.zeros(3), np.ones(3)


def made(lower, upper, K=None, v=ONE, z=0.0):
    K = np.eye(len(v)) if K is None else np.asarray(K, dtype=float)
    lower, upper = (
        np.broadcast_to(np.asarray(bound, dtype=float), len(v)).copy() for bound in (lower, upper)
    )
    return DualProblem(Gram(Precomputed(), K), np.asarray(v, dtype=float), z, lower, upper)


def walking(side, one=None, two=None, alpha=None, b=0.0):
    """Between two problems, by default equal ones in [−1, 3], with these sets."""
    one = made(-1.0, 3.0) if one is None else one
    K = one.gram.block(np.arange(one.n))
    walk = PathState(one, K, "numpy", ProblemLine(one, one if two is None else two, (0.0, 1.0), largest=1.0))
    at = {BELOW: one.lower, ABOVE: one.upper, FREE: 0.5 * (one.lower + one.upper), CLOSED: one.lower}
    alpha = [at[each][i] for i, each in enumerate(side)] if alpha is None else alpha
    walk.place(0.0, np.array(alpha, dtype=float), b, "start")
    walk.assign(np.array(side, dtype=np.int8), "start")
    walk.moves, walk.unsettled = [], False
    return walk


@pytest.mark.parametrize(("before", "after"), [*product((BELOW, FREE, ABOVE), repeat=2)])
def test_an_example_changes_its_set(before, after):
    """It is at its bound then, exactly, and the move is noted; the others stay where they are."""
    walk = walking([FREE, before, BELOW])
    walk.assign(np.array([FREE, after, BELOW], dtype=np.int8), "by hand")
    assert walk.side.tolist() == [FREE, after, BELOW]
    assert sorted(walk.members) == ([0, 1] if after == FREE else [0])
    value = {BELOW: -1.0, ABOVE: 3.0}
    assert walk.variables.alpha.tolist() == [1.0, value.get(after, value.get(before, 1.0)), -1.0]
    assert [tuple(move) for move in walk.moves] == (
        [(1, before, after, "by hand")] if before != after else []
    )


def test_a_walk_begins_unsettled_and_knows_no_error_yet():
    walk = PathState(made(0.0, 1.0, v=[1.0, -1.0, 1.0]), np.eye(3), "numpy")
    assert (walk.unsettled, walk.drift, walk.nullity, walk.stale_below) == (True, 0.0, 0, 0.0)
    assert (walk.placed, walk.t, walk.largest, walk.status) == ((np.inf, 0), np.inf, 1.0, None)
    assert not walk.counts


@pytest.mark.parametrize("wrong", [[0.5, 0.0, 0.0], [0.0, -0.75, 0.0], [0.5, -0.75, 9.0], [0.0, 0.0, 9.0]])
def test_what_was_wrong_of_g_is_said_in_its_unit(wrong):
    """An example without a box takes no part. The unit is half of the range of v of the others: 2."""
    one = made([-1.0, -1.0, 0.0], [3.0, 3.0, 0.0], v=[1.0, -3.0, 77.0])
    walk = walking([FREE, BELOW, CLOSED], one)
    exact = walk.variables.excess.copy()
    walk.variables.excess[:] += wrong
    assert walk.refresh() == max(map(abs, wrong[:2])) / 2.0
    assert walk.variables.excess.tolist() == exact.tolist()


@pytest.mark.parametrize(
    ("beyond", "is_taken"),
    [(-0.5, True), (0.0, True), (2e-14, True), (3.9e-14, True), (6e-14, False), (0.1, False)],
)
@pytest.mark.parametrize("end", [0.0, 4.0])
def test_a_correction_is_taken_as_far_as_the_box_allows_it(beyond, is_taken, end):
    """A hundredth of a billionth of a width is rounding: in [0, 4] it is 4e-14, and is clipped."""
    walk = walking([FREE, FREE, BELOW], made(0.0, 4.0), alpha=[end, 2.0, 0.0])
    walk.variables.excess[:] = 0.5, -0.25, 3.0
    outward, before = 1.0 if end else -1.0, walk.variables.alpha.copy()
    change = np.array([0.125, *(beyond * outward * (k == 0) for k in walk.members)])
    walk.unsettled = True
    correct(walk, lambda right: change)
    assert not walk.unsettled
    of = walk.variables
    if not is_taken:
        assert (of.alpha.tolist(), of.excess.tolist(), walk.b) == (before.tolist(), [0.5, -0.25, 3.0], 0.0)
        return
    expected = np.clip(end + beyond * outward, 0.0, 4.0)
    assert of.alpha.tolist() == [expected, 2.0, 0.0]
    # K = I: G falls by what α rises, and b takes its part from all
    np.testing.assert_allclose(of.excess, np.array([0.5, -0.25, 3.0]) - [expected - end, 0.0, 0.0] - 0.125)
    assert walk.b == 0.125


def test_what_counts_as_zero_is_relative_to_the_sums():
    """τ max(|d|, rates of bounds) in d; τ(push + m max |K| max |d|) in dG."""
    walk = SimpleNamespace(
        variables=SimpleNamespace(d=np.array([9.0, -2.0, 0.5])), members=[1, 2], largest=3.0,
        along=SimpleNamespace(pace=1.0, push=5.0),
    )  # fmt: skip
    assert noise_of(walk, 0.25) == (0.5, 0.25 * (5.0 + 2 * 3.0 * 2.0))
    walk.along.pace = 4.0
    assert noise_of(walk, 0.25)[0] == 1.0


@pytest.mark.parametrize("kinds", [(BELOW, ABOVE, CLOSED), (BELOW, CLOSED), (ABOVE, CLOSED), (CLOSED,)])
@pytest.mark.parametrize("seed", range(12))
def test_a_step_without_a_free_variable_moves_b_alone(kinds, seed):
    """As far as some b is above each G that may rise, and below each that may fall; by a linear program in s and b."""
    linprog = pytest.importorskip("scipy.optimize").linprog
    rng, n = np.random.default_rng(seed), 6
    walk = walking([BELOW] * n, made(-1.0, 3.0, v=np.ones(n)), b=0.5)
    var, side = walk.variables, rng.choice(kinds, n)
    walk.side[:] = side
    # most of them as they may be, and some beyond b, from where the way may lead back
    is_held = {BELOW, ABOVE} <= {*side.tolist()}
    var.excess[:] = side * rng.uniform(-0.05 if is_held and seed % 3 == 0 else 0.05, 1.0, n)
    var.push[:], var.pace[:] = rng.normal(size=n), rng.normal(size=n)
    walk.along.pace, walk.along.push = 3.0, 7.0
    total, held = var.excess + walk.b, np.flatnonzero(side != CLOSED)
    rows = -side[held, None] * np.column_stack([var.push[held], -np.ones(len(held))])
    bounds = [(0.0, 0.5), (None, None)]
    best = linprog([-1.0, 0.0], rows, side[held] * total[held], bounds=bounds) if len(held) else None
    length = 0.5 if best is None else best.x[0] if best.status == 0 else 0.0
    step = empty_elbow_step(walk, 0.5)
    assert step.length == pytest.approx(length, abs=1e-9)
    assert (step.kind, step.regular, step.noise) == ("empty elbow", True, (3e-12, 1.4e-11))
    assert var.d.tolist() == var.pace.tolist()
    np.testing.assert_array_equal(var.speed, var.push - step.db)
    if length > 0.0:  # at its end nothing has overtaken b
        assert (side[held] * (var.excess + step.length * var.speed)[held] >= -1e-9).all()


@pytest.mark.parametrize(
    ("total", "side", "entered"),
    [
        (1.0, [BELOW, BELOW, ABOVE], 1),  # b falls to the largest G of those at L
        (-1.0, [ABOVE, ABOVE, BELOW], 0),  # b rises to the smallest of those at U
        (1.0, [ABOVE, ABOVE, ABOVE], None),
        (-1.0, [BELOW, BELOW, BELOW], None),
        (1e-12, [BELOW, BELOW, ABOVE], None),  # the rates add up to 2
        (3e-12, [BELOW, BELOW, ABOVE], 1),
        (-1e-12, [ABOVE, ABOVE, BELOW], None),
    ],
)
def test_b_jumps_to_the_first_variable_that_may_take_what_is_left(total, side, entered):
    walk, sign = walking(side), 1.0 if total > 0.0 else -1.0
    walk.variables.excess[:] = sign * np.array([-0.5, -0.25, 0.75]) if entered != 0 else [0.25, 0.5, -0.75]
    walk.variables.pace[:] = [1.0, 0.5, -0.5]
    walk.total, before = total, walk.variables.excess.copy()
    assert jump_of_b(walk) == (entered is not None)
    if entered is None:
        assert (walk.members, walk.b, walk.variables.excess.tolist()) == ([], 0.0, before.tolist())
    else:
        assert (walk.members, walk.b) == ([entered], before[entered])
        assert walk.variables.excess.tolist() == (before - before[entered]).tolist()
        assert [tuple(move) for move in walk.moves] == [(entered, side[entered], FREE, "jump")]


@pytest.mark.parametrize(
    ("v", "way", "sides"),
    [
        ([1.0, 0.0, 0.0], 2.0, [ABOVE, FREE]),  # 0 rises to 3, and 1 falls from 2 to 0
        ([-1.0, 0.0, 0.0], -1.0, [FREE, ABOVE]),  # 1 rises to 3 first
        ([1.0, 1.0, 5.0], None, None),  # no pull along (1, −1)
        ([1.0, 1.0 - 1e-9, 1.0], None, None),
        ([1.0, 1.0 - 1e-7, 1.0], 2.0, [ABOVE, FREE]),
    ],
)
def test_alpha_jumps_along_what_moves_no_g(v, way, sides):
    """Examples 0 and 1 are equal: (1, −1) is all that the system leaves open."""
    K = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    one = made(-1.0, 3.0, K, v=ZERO)
    walk = walking([FREE, FREE, BELOW], one, alpha=[1.0, 2.0, -1.0])
    walk.line = walk.line._replace(v=np.array(v))
    null = np.array([[0.0], [0.5**0.5], [-(0.5**0.5)]])
    assert jump_of_alpha(walk, null) == (way is not None)
    alpha = np.array([1.0, 2.0, -1.0]) + (way or 0.0) * np.array([1.0, -1.0, 0.0])
    np.testing.assert_allclose(walk.variables.alpha, alpha, atol=1e-14)
    assert walk.side.tolist() == [*(sides or [FREE, FREE]), BELOW]
    assert walk.unsettled == (way is not None)
    assert not jump_of_alpha(walk, np.zeros((len(walk.members) + 1, 0)))


@pytest.mark.parametrize(
    ("distance", "hits"), [(0.0, True), (3.9e-10, True), (4.1e-10, False), (1e-3, False)]
)
@pytest.mark.parametrize("regular", [True, False])
def test_examples_within_a_tie_of_the_end_of_their_set_leave_it(distance, hits, regular):
    """A ten billionth of the width of a box, 4, or of the unit of G, 4: and those that go the other way stay."""
    walk = walking(
        [FREE, BELOW, FREE], made(-1.0, 3.0, v=[4.0, -4.0, 4.0]), alpha=[3.0 - distance, -1.0, 3.0]
    )
    of = walk.variables
    of.d[:], of.speed[:], of.excess[:] = [1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, -distance, 0.0]
    kind = take(walk, Step(0.0, 0.0, (0.0, 0.0), "event", regular), 1.0)
    assert kind == "event"
    assert walk.side.tolist() == ([ABOVE, FREE, FREE] if hits else [FREE, BELOW, FREE])
    assert walk.unsettled == (hits or not regular)  # two at once may be wrong about each other


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_step_that_ends_the_line_is_an_end(end):
    walk = walking([FREE, FREE, FREE])
    assert take(walk, Step(0.0, 0.0, (0.0, 0.0), "event", True), end) == ("end" if end == 0.0 else "event")
    assert not walk.unsettled


@pytest.mark.parametrize("least_ratio", [1e-8, 0.999])
def test_the_inverse_of_an_elbow_is_made_where_it_is_regular(least_ratio):
    pytest.importorskip("scipy")
    walk = walking([FREE, FREE, BELOW], made(-1.0, 3.0, np.diag([1.0, 9.0, 1.0])))
    factors = UpdatedInverse(least_ratio=least_ratio).factorise(walk)
    assert factors.null.shape[1] == 0
    assert (walk.system is not None) == (least_ratio < 0.5)


def test_the_factor_of_the_independent_ones_is_that_without_equal_ones():
    """Examples at 0, 1, 1 and 3 with (x, x²): three of them are independent; without the square, two."""
    x = np.array([0.0, 1.0, 1.0, 3.0])
    for Z, kept, regular in ((np.array([x, x**2]).T, [0, 1, 3], True), (x[:, None], [0, 1], False)):
        K = Z @ Z.T
        found, L = independent_factor(K, float(K.diagonal().max()))
        assert found.tolist() == kept
        assert (L is not None) == regular
        if L is not None:
            np.testing.assert_allclose(L @ L.T, (K + K.diagonal().max())[np.ix_(kept, kept)])


@pytest.mark.parametrize(
    ("excess", "worst"),
    [([-3.0, 0.0, 3.0, 9.0], 0.0), ([1.0, 0.0, 3.0, 9.0], 1.0), ([-3.0, -2.0, 3.0, 9.0], 2.0),
     ([-3.0, 2.0, 3.0, -9.0], 2.0), ([-3.0, 0.5, -4.0, 9.0], 4.0)],
)  # fmt: skip
def test_what_violates_the_conditions_most_is_said_in_the_unit_of_g(excess, worst):
    """G ≤ b at L, = b inside, ≥ b at U; a variable without a box asks nothing. The unit is 2."""
    one = made([-1.0, -1.0, -1.0, 0.0], [3.0, 3.0, 3.0, 0.0], v=[1.0, -3.0, 0.0, 0.0])
    walk = walking([BELOW, FREE, ABOVE, CLOSED], one)
    walk.variables.excess[:] = excess
    assert walk.violation() == worst / 2.0


@pytest.mark.parametrize(
    ("side", "t", "room"), [([FREE, ABOVE, BELOW], 1.0 - 1e-13, 0.0), ([FREE, ABOVE, BELOW], 0.5, 0.5)]
)
def test_at_the_end_of_a_line_all_is_as_it_is_there(side, t, room):
    """Bounds to the last bit, and α at them; the elbow is clipped to the box wherever it is."""
    one, two = made(-1.0, 3.0), made([-2.0, -2.5, -3.0], [4.0, 5.0, 6.0])
    walk = walking(side, one, two)
    walk.t, walk.members = t, [0]
    of = walk.variables
    of.alpha[:], of.excess[:] = [9.0, 1.0, 2.0], [0.25, 0.5, -0.5]
    walk.clip(1.0)
    assert walk.room(1.0) == room
    assert walk.t == (t if room else 1.0)
    assert of.lower.tolist() == ([-1.0] * 3 if room else two.lower.tolist())
    assert of.upper.tolist() == ([3.0] * 3 if room else two.upper.tolist())
    assert of.alpha.tolist() == ([3.0, 1.0, 2.0] if room else [4.0, 5.0, -3.0])
    assert of.excess.tolist() == [0.0, 0.5, -0.5]


def test_where_nothing_is_left_all_shrinks_with_the_unit():
    walk = PathState(made([0.0, -2.0, 0.0], [2.0, 0.0, 2.0], v=[1.0, -1.0, 1.0]), np.eye(3), "numpy")
    walk.place(2.0, np.array([1.0, -1.5, 0.5]), 0.25, "start")
    excess = walk.variables.excess.copy()
    assert not walk.has_left()
    point = walk.to_the_end(0.5)
    assert (point.kind, point.C, walk.t, walk.b) == ("end", 2.0, 0.5, 0.0625)
    assert walk.variables.alpha.tolist() == [0.25, -0.375, 0.125]
    assert walk.variables.excess.tolist() == (0.25 * excess).tolist()
    walk.place(2.0, np.array([2.0, -1.5, 0.0]), 0.0, "start")
    assert walk.has_left()


@pytest.mark.parametrize(("b", "side"), [(0.5, ABOVE), (1.0, BELOW), (2.0, BELOW)])
def test_a_box_that_is_about_to_open_is_followed_at_the_bound_that_g_says(b, side):
    """G = v = 1 where α = 0."""
    one, two = made([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), made([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0])
    walk = walking([FREE, side, CLOSED], one, two, alpha=[0.0, 0.0, 0.0], b=b)
    walk.place(0.0, ZERO, b, "start")
    assert walk.side.tolist() == [FREE, side, CLOSED]
    np.testing.assert_array_equal(walk.variables.excess, 1.0 - b)
    walk.place(0.0, ZERO, b, "start", gradient=np.array([b, b + (1.0 if side == BELOW else -1.0), b]))
    assert walk.side.tolist() == [FREE, -side, CLOSED]
    assert walk.variables.excess[1] == -float(side)


def test_g_is_stale_where_the_unit_has_fallen_to_a_thousandth():
    walk = PathState(made([0.0, -2.0, 0.0], [2.0, 0.0, 2.0], v=[1.0, -1.0, 1.0]), np.eye(3), "numpy")
    walk.place(2.0, ZERO, 0.0, "start")
    assert walk.stale_below == 2e-3
    assert walking([FREE, FREE, FREE]).stale_below == 0.0


@pytest.mark.parametrize(("t", "scale"), [(0.5, 0.5), (-0.5, 0.5), (3.0, 1.0), (1e-9, 1e-4), (0.0, 1e-4)])
def test_the_unit_of_steps_is_t_itself_within_a_ten_thousandth_of_the_way_and_all_of_it(t, scale):
    walk = walking([FREE, FREE, FREE])
    walk.t = t
    assert walk.scale == scale


# how fast each nears U, L and G = b, and how far that is
CASES = {
    "(S1): at U and moving out": ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], ABOVE),
    "(S2): at L and moving out": ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], BELOW),
    "(S3), (S4): at G = b and moving out of its set": ([0.0, 0.0, 1.0], [9.0, 9.0, 0.0], FREE),
    "near, reached after the shortest step": ([2.0, 0.0, 0.0], [2e-3, 1.0, 0.0], ABOVE),
    "not so near": ([2.0, 0.0, 0.0], [3e-3, 1.0, 0.0], None),
    "at U and moving in": ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0], None),
}


@pytest.mark.parametrize("regular", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_what_blocks_and_where_it_goes(name: str, regular: bool) -> None:
    """Null vectors may keep a free example in its box, so S1 and S2 ask for a regular system."""
    rates, distances, side = CASES[name]
    walk: Any = SimpleNamespace(
        rates=lambda noise: np.array(rates)[:, None], distances=lambda: np.array(distances)[:, None]
    )
    expected = [] if side is None or (side != FREE and not regular) else [(0, side)]
    assert blocking(walk, (0.0, 0.0), 1e-3, regular) == expected


def test_the_derivative_is_asked_three_times_at_one_t() -> None:
    guard = SwitchingGuard(50)
    assert [guard.may_choose() for _ in range(5)] == [True, True, True, False, False]


def test_sets_that_return_are_flipped_one_at_a_time_and_then_given_up() -> None:
    guard, walk = SwitchingGuard(50), SimpleNamespace(side=np.zeros(2, dtype=np.int8))
    seen = []
    for first in (0, 1, 0, 1, 0):
        walk.side[0] = first
        seen.append((guard.looping(walk), guard.one_at_a_time))
    assert seen == [(False, False), (False, False), (False, True), (False, True), (True, True)]


def test_more_than_ell_special_events_are_given_up() -> None:
    guard, walk, seen = SwitchingGuard(2), SimpleNamespace(side=np.zeros(1, dtype=np.int8)), []
    for side in range(4):
        walk.side[0] = side
        seen.append(guard.looping(walk))
    assert seen == [False, False, True, True]
