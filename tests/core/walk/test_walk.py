"""A walk and its state: where it begins, which bound is met, what room is left, and which code takes the steps."""

from __future__ import annotations

import sys
import time
from dataclasses import FrozenInstanceError, fields, replace
from inspect import isabstract

import numpy as np
import pytest

from refsvm import DualProblem, Precomputed
from refsvm.analysis.paths import SVD, PivotedQR, UpdatedInverse
from refsvm.core.engine.limits import Deadline
from refsvm.core.kernels import Gram
from refsvm.core.walk.algebra import ElbowAlgebra, elbow_matrix
from refsvm.core.walk.bordered import Bordered, inverse_of
from refsvm.core.walk.breakpoint import Move, moved
from refsvm.core.walk.elbow import correct, empty_elbow_step, noise_of, particular_direction
from refsvm.core.walk.line import ProblemLine
from refsvm.core.walk.state import LOADING, PathState
from refsvm.core.walk.walk import ABOVE, BELOW, FREE, TIED, Line, Walk

from ...values import never_change

Y = np.array([1.0, -1.0])


def walking(alpha: float, d: float, lower_rate: float, upper_rate: float) -> Walk:
    """One free variable in [0, 1] that moves so fast."""
    line = Line(np.zeros(1), np.array([lower_rate]), np.array([upper_rate]))
    box = np.zeros(1), np.ones(1)
    walk = Walk(
        line, np.eye(1).__getitem__, np.array([alpha]), np.zeros(1), np.array([FREE], dtype=np.int8), box
    )
    walk.variables.d[0] = d
    return walk


def test_a_walk_begins_at_0_without_an_intercept():
    walk = walking(0.5, 0.0, 0.0, 0.0)
    assert (walk.t, walk.b) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("alpha", "d", "lower_rate", "upper_rate", "side"),
    [
        (0.3, 1.0, 0.0, 0.0, ABOVE),  # the box stands still: where the variable goes
        (0.7, -1.0, 0.0, 0.0, BELOW),
        (0.7, 0.0, 1.0, -1.0, ABOVE),  # both bounds come nearer: the nearer one
        (0.3, 0.0, 1.0, -1.0, BELOW),
        (0.7, 0.0, 2.0, -1.0, ABOVE),
        (0.3, 0.0, 1.0, -2.0, BELOW),
        (0.7, 0.0, 1.0, 0.0, BELOW),  # one of them alone does
        (0.3, 0.0, 0.0, -1.0, ABOVE),
        (0.7, -1.0, -2.0, -3.0, ABOVE),  # both go the same way, with the variable between them
        (0.3, 3.0, 4.0, 5.0, BELOW),
    ],
)
def test_the_bound_that_a_free_variable_meets(alpha, d, lower_rate, upper_rate, side):
    assert walking(alpha, d, lower_rate, upper_rate).nearest(0) == side


@pytest.mark.parametrize(("way", "side"), [(1.0, BELOW), (-1.0, ABOVE)])
def test_b_moves_to_a_variable_whose_bound_stands_still(way, side):
    """Variable 1 is nearer, but goes with its bound: what it gives the others have to take."""
    rates = -way * np.array([0.0, 1.0, 0.0])
    line = Line(np.zeros(3), *(np.where(side == each, rates, 0.0) for each in (BELOW, ABOVE)))
    alpha, box = np.full(3, 0.0 if side == BELOW else 1.0), (np.zeros(3), np.ones(3))
    excess = way * np.array([-0.3, -0.1, -0.2])
    walk = Walk(line, np.eye(3).__getitem__, alpha, excess, np.full(3, side, dtype=np.int8), box)
    assert walk.variables.pace.tolist() == rates.tolist()
    walk.total, walk.system = way, Bordered(np.ones((1, 1)), 1e-9)
    assert walk.take_first()
    assert (walk.members, walk.b) == ([2], -0.2 * way)


def state(t: tuple[float, float] = (0.0, 2.0), engine: str = "numpy") -> PathState:
    one = DualProblem.classification(np.eye(2), Y, kernel=Precomputed(), C=1.0)
    two = DualProblem.classification(np.eye(2), Y, kernel=Precomputed(), C=3.0)
    return PathState(one, np.eye(2), engine, ProblemLine(one, two, t, largest=1.0))


@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_examples_that_enter_an_empty_elbow_stop(rate):
    """They moved with their bounds; what that did to the others is taken back."""
    one = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 0.0, -np.ones(3), np.ones(3))
    rates = rate * np.array([1.0, 1.0, 0.0])
    two = DualProblem(Gram(Precomputed(), np.eye(3)), np.ones(3), 0.0, one.lower - rates, one.upper + rates)
    walk = PathState(one, np.eye(3), "numpy", ProblemLine(one, two, (0.0, 1.0), largest=1.0))
    before = walk.variables.push.copy()
    assert walk.variables.pace.tolist() == [-rate, -rate, 0.0]
    walk.assign(np.array([FREE, FREE, BELOW], dtype=np.int8), "backup")
    assert walk.members == [0, 1]
    assert walk.variables.pace.tolist() == [0.0, 0.0, 0.0]
    assert (walk.variables.push - before).tolist() == [-rate, -rate, 0.0]


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_the_room_of_a_line(way):
    """A way of 2: the unit of t is at least 2e-4, and a ten thousandth of a millionth of that is none."""
    walk = state((0.0, 2.0 * way))
    for t, end, room in [
        (0.0, 2.0, 2.0),
        (2.0 - 1e-4, 2.0, 1e-4),
        (2.0 - 1e-11, 2.0, 1e-11),
        (2.0 - 1e-12, 2.0, 0.0),
        (0.0, 1e-13, 1e-13),  # near 0 relative to the least t alone
        (0.0, 1e-14, 0.0),
        (2.0, 2.0, 0.0),
        (2.0, 1.0, 0.0),
    ]:
        walk.t = way * t
        assert walk.room(way * end) == pytest.approx(room, rel=1e-3, abs=0.0)


@pytest.mark.parametrize("is_loaded", [True, False])
@pytest.mark.parametrize("seconds", [0.5 * LOADING, 100.0 * LOADING, np.inf])
@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_the_engine_shortly_before_the_end_needs_no_compiler(engine, seconds, is_loaded, monkeypatch):
    """To import it supports seconds, which the time that is left may not have."""
    walk = state(engine=engine)
    walk.deadline = Deadline(time.perf_counter() + seconds)
    if is_loaded:
        monkeypatch.setitem(sys.modules, "numba", sys)
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    is_late = seconds < LOADING and not is_loaded
    assert walk.engine == ("numpy" if is_late else engine)


@pytest.mark.parametrize("kind", ["as NumPy makes it", "transposed", "a corner", "from the middle"])
def test_the_rows_that_the_twin_reads_are_those_of_the_matrix(kind):
    """A matrix, or one that it is the corner of, is read where it lies; anything else is copied."""
    rng = np.random.default_rng(5)
    large = rng.normal(size=(5, 5))
    large = large @ large.T
    K = {
        "as NumPy makes it": large[:3, :3].copy(),
        "transposed": np.asfortranarray(large[:3, :3]),
        "a corner": large[:3, :3],
        "from the middle": large[1:4, 1:4],
    }[kind]
    y = np.array([1.0, -1.0, 1.0])
    walk = PathState(DualProblem.classification(K.copy(), y, kernel=Precomputed(), C=1.0), K)
    assert walk.stored.flags.c_contiguous
    np.testing.assert_array_equal(walk.stored[:3, :3], K)
    assert np.shares_memory(walk.stored, K) == (kind in ("as NumPy makes it", "a corner"))


def test_the_copied_rows_make_room_when_it_is_used_up():
    """Of one more than the members there is room at first; then for 64 more at once."""
    n = 70
    line, zero = Line(np.zeros(n), np.zeros(n), np.zeros(n)), np.zeros(n)
    side, box = np.full(n, BELOW, dtype=np.int8), (zero, np.ones(n))
    walk = Walk(line, np.eye(n).__getitem__, zero, zero, side, box)
    walk.begin([], np.zeros((1, 1)), 1e-9)
    room = []
    for i in range(n):
        assert walk.join(i)
        room.append(len(walk.rows))
    assert room == [1] + [65] * 64 + [129] * 5
    np.testing.assert_array_equal(walk.rows[:n], np.eye(n))


def test_a_variable_that_was_tied_joins_when_its_copy_leaves():
    """Two equal examples on one elbow: the second depends on the first, and on nothing once that is at its bound."""
    K, zero = np.eye(3)[[0, 0, 1]] @ np.eye(3)[[0, 0, 1]].T, np.zeros(3)
    side, box = np.full(3, BELOW, dtype=np.int8), (zero, np.ones(3))
    walk = Walk(Line(zero, zero, zero), K.__getitem__, zero, zero, side, box)
    walk.begin([], np.zeros((1, 1)), 1e-9)
    assert [walk.join(i) for i in (0, 2, 1)] == [True, True, False]
    assert walk.side.tolist() == [FREE, TIED, FREE]
    walk.leave(2, BELOW)  # it was not tied to this one
    assert (walk.members, walk.side.tolist()) == ([0], [FREE, TIED, BELOW])
    assert walk.join(2)
    walk.leave(0, ABOVE)
    assert (sorted(walk.members), walk.side.tolist()) == ([1, 2], [ABOVE, FREE, FREE])


@pytest.mark.parametrize("unit", [1.0, 99.0])
@pytest.mark.parametrize(
    ("units", "solved"),
    [(0.0, False), (0.9e-14, False), (-0.9e-14, False), (1.1e-14, True), (-1.1e-14, True)],
)
def test_nothing_is_solved_where_rounding_has_left_nothing_on_the_elbow(units, solved, unit):
    """Of 1 and the unit of G together."""
    walk, systems = state(), []
    walk.along.unit, excess = (unit, 0.0), units * (1.0 + unit)
    walk.place(1.0, np.array([0.5, -0.5]), 0.0, "start")
    walk.variables.excess[:] = excess

    def solve(right):
        systems.append(right)
        return np.zeros_like(right)

    correct(walk, solve)
    assert bool(systems) == solved
    assert not walk.unsettled


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_points_that_smo_finds_at_one_t_in_succession_are_counted(way):
    walk = state((0.0, 2.0 * way))
    counted = []
    for t in (0.5, 0.5, 0.5, 1.0, 1.0, 0.5):
        walk.place(way * t, np.array([0.5, -0.5]), 0.0, "repair")
        counted.append(walk.placed)
    numbers = [(0.5, 1), (0.5, 2), (0.5, 3), (1.0, 1), (1.0, 2), (0.5, 1)]
    assert counted == [(way * t, number) for t, number in numbers]


def test_the_rounding_of_decision_values_grows_with_the_kernel_and_with_alpha():
    """ε max|K| ‖ŝ‖/λ = ε · 16 · 5/½ for ŝ = (3, 0, −4)."""
    K, box = np.diag([16.0, 2.0, 4.0]), np.array([9.0, 9.0, 9.0])
    problem = DualProblem(
        Gram(Precomputed(), K), np.array([1.0, 1.0, -1.0]), 0.0, [0, 0, -9] + 0 * box, [9, 9, 0] + 0 * box
    )
    walk = PathState(problem, K, "numpy")
    walk.place(0.5, np.array([3.0, 0.0, -4.0]), 0.0, "start")
    assert walk.rounding() == pytest.approx(2.0**-52 * 160.0, rel=1e-12, abs=0.0)


@pytest.mark.parametrize(("alpha", "d"), [(1.0 + 1e-9, 1.0), (-1e-9, -1.0)])
def test_a_free_variable_beyond_its_bound_by_rounding_has_its_event_at_once(alpha, d):
    assert walking(alpha, d, 0.0, 0.0).reach() == (0, 0.0)


@pytest.mark.parametrize("is_c_path", [False, True])
def test_where_all_boxes_are_empty_nothing_is_off_balance(is_c_path):
    """|Σα − z| = 0 as a share of 0."""
    K = np.eye(2)
    whole = DualProblem.classification(K, Y, kernel=Precomputed(), C=1.0)
    nothing = whole.boxed(np.zeros(2), np.zeros(2))
    walk = PathState(whole, K, "numpy") if is_c_path else PathState(
        nothing, K, "numpy", ProblemLine(nothing, whole, (0.0, 1.0), largest=1.0)
    )  # fmt: skip
    walk.variables.alpha[:] = 0.0
    assert walk.along.is_c_path == is_c_path
    assert walk.unbalanced() == 0.0
    walk.variables.alpha[0] = 1e-3
    assert walk.unbalanced() == pytest.approx(1.0 if is_c_path else 1e297)


def on_one_elbow(unit: float) -> PathState:
    """Four examples, all of them on the elbow, and a kernel in this unit."""
    root = np.random.default_rng(8).normal(size=(4, 4))
    K, y = unit * (root @ root.T + np.eye(4)), np.array([1.0, -1.0, 1.0, -1.0])
    walk = PathState(DualProblem.classification(K, y, kernel=Precomputed(), C=1.0), K, "numpy")
    walk.place(1.0, np.zeros(4), 0.0, "start")
    walk.assign(np.full(4, FREE, dtype=np.int8), "by hand")
    walk.system = Bordered(inverse_of(K), 1e-9 * unit)
    walk.system.solve(walk.right)
    return walk


def left_over(walk: PathState, db: float) -> np.ndarray:
    """Of each equation of the elbow what db and d leave, the sum in the unit of the others."""
    left = walk.right - elbow_matrix(walk) @ np.append(db, walk.variables.d[walk.members])
    return np.abs(left) * np.append(walk.largest, np.ones(4))


@pytest.mark.parametrize("unit", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("equation", range(5))
def test_a_direction_leaves_nothing_of_any_equation_of_the_elbow(equation, size, unit):
    """One equation alone is off, each in turn: the inverse is applied to what is left."""
    walk = on_one_elbow(unit)
    off = np.zeros(5)
    off[equation] = size / (unit if equation == 0 else 1.0)
    walk.system.x[:5] += walk.system.times(off)
    assert left_over(walk, walk.direction()).max() > 0.5 * size
    db, noise = particular_direction(walk, None, 1e-12)
    assert left_over(walk, db).max() <= noise[1]
    assert walk.system is not None


@pytest.mark.parametrize("column", range(5))
def test_an_inverse_that_has_worn_out_is_replaced_for_this_elbow(column):
    """One column of it is another, each in turn, so that what it leaves does not shrink."""
    walk, asked = on_one_elbow(1.0), []
    walk.system.values[:5, column] *= -1.0
    walk.system.solve(walk.right)

    def from_scratch(walk):
        asked.append(len(walk.members))
        return lambda right: np.linalg.solve(elbow_matrix(walk), right)

    db, noise = particular_direction(walk, None, 1e-12, from_scratch)
    assert asked == [4]
    assert walk.system is None
    assert left_over(walk, db).max() <= noise[1] == noise_of(walk, 1e-12)[1]


@pytest.mark.parametrize("t", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("closing", [0.0, 0.25, -0.25])
@pytest.mark.parametrize("beyond", [0.0, 2e-12, 8e-12, 1.3e-11, 1e-9, 1e-3])
def test_bounds_of_b_that_have_crossed_by_rounding_end_no_segment(beyond, closing, t):
    """Along 1/C the unit is λ: a ten thousandth of a millionth of a tenth of that, and b is held from both sides still.

    They come nearer to each other on the way, or part, or neither.
    """
    K = np.eye(2)
    walk = PathState(DualProblem.classification(K, Y, kernel=Precomputed(), C=1.0), K, "numpy")
    walk.place(t, np.array([0.5, -0.5]), 0.0, "start")
    walk.assign(np.array([BELOW, ABOVE], dtype=np.int8), "by hand")
    walk.variables.excess[:] = 0.5 * beyond * t, -0.5 * beyond * t
    walk.variables.push[:] = 0.5 * closing, -0.5 * closing
    is_held = beyond <= 1e-11 and closing <= 0.0
    step = empty_elbow_step(walk, 0.5 * t)
    parts = closing < 0.0 and beyond * t <= -closing * 0.5 * t  # by its end they have parted
    assert step.length == (0.5 * t if is_held or parts else 0.0)


def algebras(of=ElbowAlgebra):
    """All that the package has."""
    for each in of.__subclasses__():
        if each.__module__.startswith("refsvm."):
            yield from () if isabstract(each) else (each,)
            yield from algebras(each)


@pytest.mark.parametrize("kind", [*algebras()], ids=lambda kind: kind.__name__)
def test_an_algebra_is_a_value(kind):
    """Equal to its copy, in its place in a set, and as it was made."""
    made = kind()
    assert made == replace(made) == kind()
    assert len({made, replace(made)}) == 1
    assert repr(made).startswith(f"{kind.__name__}(")
    for name in (*(field.name for field in fields(made)), "another"):
        with pytest.raises(FrozenInstanceError):
            setattr(made, name, 1)
        if name != "another":
            assert f"{name}={getattr(made, name)!r}" in repr(made)


def test_there_are_these_algebras():
    assert {SVD, PivotedQR, UpdatedInverse} <= set(algebras())


def test_factors_and_algebras_cannot_be_changed():
    """A tracker keeps factors from one elbow to the next; the guard alone counts as it goes."""
    never_change("core.walk", frozenset({"SwitchingGuard"}))


def test_moves_are_counted_in_words():
    said = [moved((Move(0, -1, 0, "special"),) * count) for count in (0, 1, 2000)]
    assert said == ["0 examples moved", "1 example moved", "2,000 examples moved"]
