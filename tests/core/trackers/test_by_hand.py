"""Paths that can be worked out by hand, by each tracker, on both sides."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVMP,
    DualProblem,
    Hastie,
    KKTGap,
    Linear,
    Precomputed,
    Status,
    regularization_path,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.trackers import svmp
from refsvm.core.trackers.backup import choose_sets, solve_at, solved_on_path
from refsvm.core.trackers.svmp import MOST_REPAIRS
from refsvm.core.walk.line import ProblemLine
from refsvm.core.walk.state import PathState
from refsvm.core.walk.walk import ABOVE, BELOW, FREE

from ...settings import noisy_classes

pytest.importorskip("scipy")

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
    options = {"kernel": Precomputed(), "tracker": tracker, "engine": engine}
    path = regularization_path(K, y, C_min=0.1, C_max=10.0, **options)
    np.testing.assert_allclose(np.unique(path.C.round(9)), [0.1, most, 10.0], rtol=1e-8)
    for C in (0.1, 0.5, most, 5.0, 10.0):
        np.testing.assert_allclose(path.alpha(C), min(C, most) * np.array(shares), atol=1e-8 * C)


def test_a_path_along_which_an_example_comes_and_goes(engine):
    """Two of each class on a line, −3, −1 and 1, 3 with K = xx′ + 1: 0 and 3 are beyond the margin once w > 1/3.

    By symmetry α = (−p, −q, q, p) and w = 2(3p + q). All at C: w = 8C, up to w = 1/3 at C = 1/24, where p becomes free
    and falls, with w = 1/3 and q = C: p = (1/6 − C)/3, until p = 0 at C = 1/6; then w = 2C up to 1, at C = 1/2.
    """
    x, y = np.array([-3.0, -1.0, 1.0, 3.0]), np.array([-1, -1, 1, 1])
    options = {"kernel": Precomputed(), "tracker": SVMP(), "engine": engine}
    path = regularization_path(np.outer(x, x) + 1.0, y, C_min=0.01, C_max=2.0, **options)

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


def test_g_is_computed_anew_after_so_many_events(monkeypatch):
    X, y = noisy_classes(24, 2, 0, noise=0.7)
    anew, times, refresh = [], [], PathState.refresh
    monkeypatch.setattr(PathState, "refresh", lambda walk: (anew.append(walk.t), refresh(walk))[1])
    for every in (1, 5, 10**6):
        anew.clear()
        options = {"tracker": SVMP(refresh=every), "engine": "numpy"}
        path = regularization_path(X, y, kernel=RBF(0.5), C_min=0.1, C_max=100.0, **options)
        times.append(len(anew))
    events = len(path.C)
    assert events > 20
    assert times[0] - times[2] >= events // 2
    assert events // 10 <= times[1] - times[2] < times[0] - times[2]


@pytest.mark.parametrize(("seed", "unit"), [(9, 1.0), (25, 1.0), (29, 1.0), (29, 2.0**10)])
def test_examples_between_two_sets_are_put_where_the_derivative_says(seed, unit):
    """On this grid of points, many of them equal, all events fall together once; α need not jump for that.

    In a unit of 2¹⁰ the derivative of ŝ is a millionth of what it was.
    """
    rng = np.random.default_rng(seed)
    X = unit * rng.integers(0, 3, size=(16, 2))
    y = np.where(rng.random(16) < 0.5, 1, -1)
    ends = {"C_min": 0.01 / unit**2, "C_max": 100.0 / unit**2}
    path = regularization_path(X, y, kernel=Linear(), **ends, tracker=SVMP(), engine="numpy", merge=False)
    assert path.counts["derivative"] == 1
    assert {"repair", "backup"}.isdisjoint(path.counts)
    for C in (*path.C, *np.sqrt(path.C[1:] * path.C[:-1])):
        problem = DualProblem.classification(X, y, kernel="linear", C=C)
        exact = solve(problem, stop=KKTGap(1e-9), engine="numpy")
        assert path.objective(C) == pytest.approx(exact.objective, rel=1e-7)


def tracked(problem, end, along=None):
    """Where the path of a problem begins, and its points."""
    K = problem.gram.block(np.arange(problem.n))
    walk = PathState(problem, K, "numpy", along)
    solve_at(walk, 1.0, 1e-12, "start")
    return walk, SVMP().follow(walk, end)


@pytest.fixture
def overlapping():
    X, y = noisy_classes(16, 2, 4, noise=0.7)
    return DualProblem.classification(X, y, kernel=RBF(0.5), C=1.0)


def test_a_path_of_a_few_units_in_the_last_place_is_one_step(overlapping):
    """Shorter than τ₂ of λ, which counts as no progress elsewhere: SMO is not asked."""
    walk, points = tracked(overlapping, 1.0 - 5e-11)
    assert [point.kind for point in points] == ["end"]
    assert 0.0 <= walk.t - (1.0 - 5e-11) < 1e-15
    assert set(walk.counts) == {"start"}


def test_what_is_wrong_in_xi_is_computed_anew_and_flips_nothing(overlapping):
    """An example that rounding has put beyond the margin would block λ."""
    end = 0.05
    expected = [(point.kind, point.C) for point in tracked(overlapping, end)[1]]
    for after in range(1, 12, 3):
        walk, points = tracked(overlapping, end)
        found = [(point.kind, point.C) for point in islice(points, after)]
        worst = np.flatnonzero(np.abs(walk.side) == 1)
        walk.variables.excess[worst] = -1e-3 * walk.side[worst] * walk.unit
        found += [(point.kind, point.C) for point in points]
        assert [kind for kind, _ in found] == [kind for kind, _ in expected]
        np.testing.assert_allclose([C for _, C in found], [C for _, C in expected], rtol=1e-9)
        assert set(walk.counts) == {"start"}


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_an_example_in_a_wrong_set_is_put_right_by_smo_where_it_is(overlapping, way):
    """Three times at one point, whether the parameter of the line rises or falls."""
    wide = overlapping.boxed(20.0 * overlapping.lower, 20.0 * overlapping.upper)
    along = ProblemLine(overlapping, wide, (1.0, 1.0 + way), largest=1.0)
    walk, points = tracked(overlapping, 1.0 + way, along)
    for _ in range(4):
        next(points)
    t = walk.t
    for _ in range(MOST_REPAIRS):
        walk.drop(walk.members[0], BELOW, "by mistake")
        walk.unsettled = True
        assert (next(points).kind, walk.t) == ("repair", t)
        exact = solve(along.at(t), stop=KKTGap(1e-10), engine="numpy")
        np.testing.assert_allclose(walk.variables.alpha, exact.alpha, atol=1e-7)
    assert walk.counts["repair"] == MOST_REPAIRS
    walk.drop(walk.members[0], BELOW, "by mistake")
    walk.unsettled = True
    assert not list(points)
    assert walk.status is Status.STALLED


def test_an_example_beyond_its_bound_by_rounding_blocks_and_turns_nothing_round():
    """Of equal examples 0 and 1 the null vector moves neither 2; it is at its bound, short of it by rounding."""
    null, d = np.array([0.0, 1.0, -1.0, 0.0]), np.array([0.1, -0.1, 0.5])
    above = np.array([0.5, 0.5, -1e-15])
    walk = SimpleNamespace(
        nullity=0, elbow=np.arange(3), variables=SimpleNamespace(d=d.copy()),
        rates=lambda: np.array([d, -d, 0.0 * d]), distances=lambda: np.array([above, 1.0 - above, 0.0 * d]),
        reach=lambda noise: (2, 1.0 if np.isinf(noise[0]) else 0.0),
    )  # fmt: skip
    step = SVMP()._singular_step(walk, null[:, None], 2.0, 0.25, (0.0, 0.0))
    assert (step.length, step.db) == (0.0, 0.25)
    assert walk.variables.d.tolist() == d.tolist()


@pytest.mark.parametrize("unit", [2.0**-60, 0.25, 1.0, 64.0, 2.0**60])
def test_what_is_dependent_for_hastie_is_relative_to_the_kernel(unit):
    """A new member whose distance from the others, squared, is below 1e-8 max |K| is refused."""
    problem = DualProblem.classification(unit * np.eye(2), [1, -1], kernel=Precomputed(), C=1.0)
    walk = PathState(problem, unit * np.eye(2), "numpy")
    solve_at(walk, 1.0, 1e-12, "start")
    walk.assign(np.zeros(2, dtype=np.int8), "by hand")
    system = Hastie()._inverse(walk)
    assert system.least == 1e-8 * unit
    # 0 1 1 | 1 u 0 | 1 0 u, and what it says of (0, v) for λ
    A = np.array([[0.0, 1.0, 1.0], [1.0, unit, 0.0], [1.0, 0.0, unit]])
    np.testing.assert_allclose(A @ system.x[:3], walk.right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_bounds_of_55_sum_to_zero(unit, sign):
    """The first ones of the class of more weight give up what is too much, the last of these in part."""
    bounds = sign * unit * np.array([1.0, -1.0, 2.0, 3.0, -0.5])
    expected = sign * unit * np.array([0.0, -1.0, 0.0, 1.5, -0.5])
    # 6 − 1.5 = 4.5 is too much: 1, 2 and 1.5 of the 3
    np.testing.assert_allclose(svmp.balanced_bounds(bounds), expected, rtol=1e-14)


@pytest.mark.parametrize(("unit", "is_solved"), [(1e9, True), (1e10, False)])
def test_smo_is_not_asked_where_rounding_hides_the_optimum(unit, is_solved):
    """At α = (1, −1) with C = 1 the decision values are rounded by ε·K₀₀·√2, 3e-7 or 3e-6; the limit is 1e-6."""
    problem = DualProblem.classification(unit * np.eye(2), [1, -1], kernel=Precomputed(), C=1.0)
    walk = PathState(problem, unit * np.eye(2), "numpy")
    walk.place(1.0, np.array([1.0, -1.0]), 0.0, "start")
    solution = solved_on_path(walk, walk.problem, KKTGap(1e-6))
    if is_solved:
        # f = 2a − K₀₀a²
        np.testing.assert_allclose(solution.alpha, [1.0 / unit, -1.0 / unit], rtol=1e-5)
        assert walk.status is None
    else:
        assert solution is None
        assert walk.status is Status.STALLED


@pytest.mark.parametrize(("label", "side"), [(1, ABOVE), (-1, BELOW)])
def test_examples_of_the_elbow_that_can_only_move_inwards_stay_at_their_bounds(label, side):
    """α = (1, 0, −1) is optimal for C = 1, with G = (0, 0, −½) and b = 0; examples 0 and 1 are at an upper bound.

    Neither derivative is positive and their sum is 0, so that both are 0. With the other labels all signs change.
    """
    K, y = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 0.5]]), label * np.array([1, -1, -1])
    walk = PathState(DualProblem.classification(K, y, kernel=Precomputed(), C=1.0), K, "numpy")
    walk.place(1.0, label * np.array([1.0, 0.0, -1.0]), 0.0, "start")
    np.testing.assert_allclose(walk.variables.excess, [0.0, 0.0, -0.5 * label], atol=1e-15)
    walk.assign(np.array([FREE, FREE, -side], dtype=np.int8), "by hand")
    walk.unsettled = False
    assert choose_sets(walk)
    assert walk.side.tolist() == [side, side, -side]
    assert walk.status is None
    assert walk.unsettled  # the point is looked at before the next step
    assert walk.counts["derivative"] == 1


@pytest.mark.parametrize("first", [FREE, ABOVE])
@pytest.mark.parametrize("rate", [0.5, 2.0])
def test_g_is_computed_afresh_where_sets_change_and_bounds_move(rate, first):
    """The problem above in a box that grows: α₂ falls with its bound, and α₀ rises with its own for that.

    Where α₀ has gone with its bound before, its own rate is looked for all the same.
    """
    K, y = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 0.5]]), np.array([1, -1, -1])
    one, two = (DualProblem.classification(K, y, kernel=Precomputed(), C=C) for C in (1.0, 1.0 + rate))
    walk = PathState(one, K, "numpy", ProblemLine(one, two, (0.0, 1.0), largest=3.0))
    walk.place(0.0, np.array([1.0, 0.0, -1.0]), 0.0, "start")
    walk.assign(np.array([first, FREE, BELOW], dtype=np.int8), "by hand")
    walk.variables.excess[2] += 1e-3  # as if rounding had grown
    assert choose_sets(walk)
    assert walk.side.tolist() == [ABOVE, ABOVE, BELOW]
    np.testing.assert_allclose(walk.variables.excess, [0.0, 0.0, -0.5], atol=1e-12)
    np.testing.assert_allclose(walk.variables.pace, [rate, 0.0, -rate], atol=1e-12)


@pytest.mark.parametrize("side", [ABOVE, BELOW])
def test_an_example_whose_box_hardly_opens_stays_at_the_bound_it_is_at(side):
    """The problem above, and an example of its own whose rate is between two bounds that rounding makes one."""
    K, v = np.zeros((4, 4)), np.array([1.0, -1.0, -1.0, 0.0])
    K[:3, :3], K[3, 3] = [[1.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 0.5]], 1.0
    one, two = (
        DualProblem(Gram(Precomputed(), K), v, 0.0, np.array([0.0, -C, -C, 0.0]), np.array([C, 0.0, 0.0, d]))
        for C, d in ((1.0, 0.0), (1.5, 1e-13))
    )
    walk = PathState(one, K, "numpy", ProblemLine(one, two, (0.0, 1.0), largest=3.0))
    walk.place(0.0, np.array([1.0, 0.0, -1.0, 0.0]), 0.0, "start")
    walk.assign(np.array([FREE, FREE, BELOW, side], dtype=np.int8), "by hand")
    assert choose_sets(walk)
    assert walk.side.tolist() == [ABOVE, ABOVE, BELOW, side]


@pytest.mark.parametrize("tracker", [SVMP(), Hastie()], ids=lambda tracker: type(tracker).__name__)
@pytest.mark.parametrize(
    ("y", "weights", "alpha"),
    [([-1, 1], [1.0, 2.0], [-1.0, 1.0]), ([-1, 1, -1], [1.0, 3.0, 0.5], [-1.0, 1.5, -0.5])],
)
def test_kernel_values_of_0_have_no_unit(tracker, y, weights, alpha):
    """One variable is free from the first point on: it balances the others."""
    n = len(y)
    path = regularization_path(
        np.zeros((n, n)), y, kernel=Precomputed(), C_min=0.125, C_max=8.0, sample_weight=weights, tracker=tracker,
        engine="numpy",
    )  # fmt: skip
    assert path.status is Status.CONVERGED
    for C in (0.125, 1.0, 8.0):
        np.testing.assert_allclose(path.alpha(C), C * np.array(alpha), rtol=1e-12)
