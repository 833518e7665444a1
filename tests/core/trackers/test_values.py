"""What each tracker is made of: its default settings, what they may be, and what it says of itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import DualProblem, Hastie, KKTGap, Precomputed, Status
from refsvm.core.engine.limits import Deadline
from refsvm.core.kernels import Gram
from refsvm.core.trackers import backup, hastie
from refsvm.core.trackers.base import PathTracker, points_of
from refsvm.core.walk.breakpoint import Breakpoint, LinePoint
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import BELOW, FREE


def walk_of(v):
    """A walk of three variables, K = I, in boxes [−1, 1]."""
    problem = DualProblem(Gram(Precomputed(), np.eye(3)), v, 0.0, -np.ones(3), np.ones(3))
    return PathState(problem, np.eye(3), "numpy")


@pytest.mark.parametrize("n", [1, 199, 200, 201, 1000])
@pytest.mark.parametrize("left", [np.inf, 1000.0, -5.0])
@pytest.mark.parametrize("status", [Status.CONVERGED, Status.TIME_LIMIT])
def test_smo_of_a_path_has_the_deadline_of_the_path_and_a_hundred_steps_for_each_example(
    status, left, n, monkeypatch
):
    """Or twenty thousand, if that is more; a limit that it reaches is that of the path."""
    asked = []

    def stub(problem, options, start):
        asked.append((options.time_limit, options.max_iter))
        return SimpleNamespace(status=status)

    monkeypatch.setattr(backup, "solved", stub)
    deadline = Deadline(time.perf_counter() + left)
    walk = SimpleNamespace(rounding=lambda: 0.0, deadline=deadline, side=[0] * n, engine="numpy", status=None)
    found = backup.solved_on_path(walk, None, KKTGap())
    assert (found is None) == (status is Status.TIME_LIMIT)
    assert walk.status is (None if found else status)
    assert asked == [(deadline, max(20_000, 100 * n))]


@pytest.mark.parametrize(("is_c_path", "place"), [(True, "C=4"), (False, "t=0.25")])
def test_a_refusal_says_where_on_the_path_it_is(is_c_path, place):
    """Along 1/C by C, which is what the caller gave; along another line by t."""
    walk = SimpleNamespace(t=0.25, along=SimpleNamespace(is_c_path=is_c_path), members=[3, 7])
    assert hastie._where(walk) == place


@pytest.mark.parametrize(("v", "tolerance"), [([1.0, -1.0, 1.0], 1e-9), ([6.0, -1.0, 3.0], 6e-9)])
def test_rates_are_solved_for_in_the_unit_of_the_targets(v, tolerance, monkeypatch):
    asked = []
    monkeypatch.setattr(backup, "solved_on_path", lambda walk, problem, stop: asked.append((problem, stop)))
    walk = walk_of(np.array(v))
    walk.place(1.0, np.zeros(3), 0.0, "start")
    walk.assign(np.full(3, FREE, dtype=np.int8), "start")
    assert not backup.choose_sets(walk)
    ((_, stop),) = asked
    assert stop.tol == pytest.approx(tolerance)


@pytest.mark.parametrize(
    ("free", "z", "asks"),
    [([0], 0.0, False), ([0, 1], 0.0, True), *(([0, 1, 2], z, z == 0.0) for z in (0.0, 1e9, -1e9))],
    ids=["one alone cannot move", "two", "three", "no box holds so much", "nor so little"],
)
def test_sets_that_the_derivative_leaves_are_no_change(free, z, asks, monkeypatch):
    """It is asked where two examples may move at least, in boxes that hold its sum: a thousand widths for each λ."""
    asked = []

    def stub(walk, problem, stop):
        asked.append(problem)
        return SimpleNamespace(alpha=np.zeros(problem.n))

    monkeypatch.setattr(backup, "solved_on_path", stub)
    walk = walk_of(np.ones(3))
    walk.place(0.25, np.zeros(3), 0.0, "start")
    side = np.where(np.isin(np.arange(3), free), FREE, BELOW).astype(np.int8)
    walk.assign(side, "start")
    walk.line = walk.line._replace(z=z)
    assert not backup.choose_sets(walk)
    assert walk.side.tolist() == side.tolist()
    assert [(*each.lower, *each.upper) for each in asked] == [(-8e3,) * len(free) + (8e3,) * len(free)] * asks


@pytest.mark.parametrize("alpha", [[0.0, 0.0, 0.0], [0.5, -0.25, -0.25], [0.5, 0.5, 0.5]])
@pytest.mark.parametrize("repeats", [1, 2])
def test_smo_of_a_path_begins_where_the_walk_is(repeats, alpha, monkeypatch):
    """From 0 without a start; elsewhere made feasible. Where decision values vary by little it goes on from there."""
    asked, walk = [], walk_of(np.ones(3))
    walk.place(1.0, np.array(alpha), 0.0, "start")
    given = np.array([0.125, -0.125, 0.0])

    def stub(walk, problem, stop, start):
        asked.append((stop, start))
        point = {"alpha": given, "intercept": 0.0, "gradient": np.array([3.0, 1.0, -3.0])}
        return SimpleNamespace(kkt_gap=1e-6 if repeats == 1 else 1.1e-6, decision_range=1.0, **point)

    monkeypatch.setattr(backup, "solved_on_path", stub)
    backup.solve_at(walk, 1.0, 1e-9, "repair")
    start = None if not any(alpha) else walk.along.at(1.0).feasible(np.array(alpha))
    assert len(asked) == repeats
    assert asked[0][1] is None if start is None else asked[0][1].tolist() == start.tolist()
    assert all(again is given for _, again in asked[1:])
    assert [stop.tol for stop, _ in asked] == [1e-9] * repeats
    assert walk.counts["repair"] == 1


@pytest.mark.parametrize(("ratio", "is_singular"), [(2e-14, True), (4e-14, False)])
def test_an_elbow_is_singular_by_the_rounding_of_its_eigenvalues(ratio, is_singular):
    """Those of 0 1 1 | 1 1 k | 1 k 1 are 1 − k and at most 1 + √3; 3·10⁻¹⁴ of that is rounding of three rows."""
    k = 1.0 - ratio * (1.0 + 3.0**0.5)
    K = np.array([[1.0, k], [k, 1.0]])
    walk = PathState(DualProblem.classification(K, [1, -1], kernel=Precomputed(), C=1.0), K, "numpy")
    walk.place(1.0, np.zeros(2), 0.0, "start")
    walk.assign(np.zeros(2, dtype=np.int8), "by hand")
    if is_singular:
        with pytest.raises(ValueError, match="The elbow is singular at C=1: its 2 points"):
            Hastie()._inverse(walk)
    else:
        assert Hastie()._inverse(walk) is None


@dataclass(frozen=True)
class Single(PathTracker):
    """Its path has one point, wherever the end is."""

    at: float = 1.0

    def follow(self, walk, end):
        yield LinePoint(self.at, np.zeros(2), 0.0, "end", (), 0)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e7])
@pytest.mark.parametrize(
    ("at", "is_whole"),
    [(1.0, True), (1.0 - 1e-6, True), (1.0 + 1e-6, True), (1.0 + 1e-5, False), (1.0 - 1e-5, False),
     (2.0, False), (0.0, False), (-1.0, False)],
)  # fmt: skip
def test_the_last_point_of_a_path_is_at_the_end_of_the_line(at, is_whole, unit):
    """The line falls from 3 to 1, in any unit: the end is met to a millionth of the way."""
    at *= unit
    walk = SimpleNamespace(t=3.0 * unit, status=None, along=SimpleNamespace(is_c_path=False))
    points = points_of(Single(at), walk, unit)
    assert next(points).t == at
    if is_whole:
        assert next(points, None) is None
    else:
        with pytest.raises(RuntimeError, match=r"the path goes from 3(e.*)? to .*, not from 3(e.*)? to 1"):
            next(points)


@dataclass(frozen=True)
class Given(PathTracker):
    """Its path is one point, with this α and this intercept."""

    alpha: tuple[float, ...]
    intercept: float
    along_c: bool

    def follow(self, walk, end):
        kind = Breakpoint if self.along_c else LinePoint
        yield kind(1.0, np.array(self.alpha), self.intercept, "end", (), 0)


@pytest.mark.parametrize("along_c", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 1, 2, "intercept", None])
def test_a_point_of_a_users_path_is_of_finite_numbers(place, bad, along_c):
    """Each α and the intercept, along 1/C and along another line; points of finite numbers pass."""
    alpha = [bad if place == each else 0.5 for each in range(3)]
    tracker = Given(tuple(alpha), bad if place == "intercept" else 0.25, along_c)
    walk = SimpleNamespace(t=3.0, status=None, along=SimpleNamespace(is_c_path=along_c))
    points = points_of(tracker, walk, 1.0)
    if place is None:
        assert [point.intercept for point in points] == [0.25]
    else:
        with pytest.raises(RuntimeError, match="yielded a breakpoint whose α or intercept is not finite"):
            next(points)
