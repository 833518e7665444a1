"""DualProblem: its values against formulas written out, and the problems made of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from refsvm import RBF, DualProblem, Linear, Precomputed, solve
from refsvm.core.kernels import Gram
from refsvm.core.primal import best_intercept
from refsvm.core.problem import most_violating_pair

from .catalogue import PROBLEMS, matrix

NAMES = [name for name, known in PROBLEMS.items() if not known.hard and not known.large]
X = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.where(np.arange(20) % 3, 1, -1)
BOX = np.zeros(20), np.ones(20)


def feasible_points(problem: DualProblem, count: int = 3) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    size = 1.0 + float(np.abs([problem.lower, problem.upper]).max())
    points = [problem.feasible(size * rng.normal(size=problem.n)) for _ in range(count)]
    return [problem.feasible(np.zeros(problem.n)), *points]


@pytest.mark.parametrize("name", NAMES)
def test_objective_and_gradient_follow_their_formulas(name):
    problem = PROBLEMS[name].problem
    K = matrix(problem)
    for alpha in feasible_points(problem):
        size = 1e-12 * (1.0 + float(np.abs(alpha).sum()) ** 2 * float(np.abs(K).max()))
        # G = v − Kα,  f = vᵀα − ½αᵀKα
        np.testing.assert_allclose(problem.gradient(alpha), problem.v - K @ alpha, rtol=1e-10, atol=size)
        objective = problem.v @ alpha - 0.5 * alpha @ K @ alpha
        assert problem.objective(alpha) == pytest.approx(objective, rel=1e-10, abs=size)
        G = problem.gradient(alpha)
        assert problem.objective(alpha, G) == problem.objective(alpha)


@pytest.mark.parametrize("name", NAMES)
def test_the_kkt_gap_is_the_worst_violation_of_any_pair(name):
    problem = PROBLEMS[name].problem
    for alpha in feasible_points(problem):
        G = problem.gradient(alpha)
        up = [i for i in range(problem.n) if alpha[i] < problem.upper[i]]
        down = [j for j in range(problem.n) if alpha[j] > problem.lower[j]]
        worst = max((G[i] - G[j] for i, j in itertools.product(up, down)), default=-np.inf)
        assert problem.kkt_gap(alpha) == worst
        if up and down:  # ties go to the lowest index
            i, j = min(up, key=lambda t: (-G[t], t)), min(down, key=lambda t: (G[t], t))
            assert most_violating_pair(alpha, G, problem.lower, problem.upper) == (i, j, worst)
            assert problem.intercept(alpha) == 0.5 * (G[i] + G[j])


def test_the_most_violating_pair_is_the_same_in_compiled_code():
    pytest.importorskip("numba")
    from refsvm.compiled import problem as kernels

    rng = np.random.default_rng(0)
    for trial in range(300):
        n = int(rng.integers(1, 40))
        # few different values: ties, both zeros, and bounds that are reached
        some = [-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf] if trial % 9 == 0 else [-1.0, -0.0, 0.0, 2.0]
        G = rng.choice(some, n)
        alpha = rng.choice([-1.0, 0.0, 1.0], n)
        lower, upper = np.where(rng.random(n) < 0.5, -1.0, alpha), np.where(rng.random(n) < 0.5, 1.0, alpha)
        with np.errstate(invalid="ignore"):
            expected = most_violating_pair(alpha, G, lower, upper)
            np.testing.assert_equal(kernels.most_violating_pair(alpha, G, lower, upper), expected)


def test_an_empty_side_has_no_index_and_no_violation():
    G, at = np.array([3.0, 1.0, 2.0]), np.zeros(3)
    assert most_violating_pair(at, G, at, np.ones(3)) == (0, -1, -np.inf)
    assert most_violating_pair(at, G, -np.ones(3), at) == (-1, 1, -np.inf)
    assert most_violating_pair(at, G, at, at) == (-1, -1, -np.inf)


@pytest.mark.parametrize("penalties", [1.7, np.linspace(0.0, 3.0, 20)], ids=["one C", "C each"])
def test_the_primal_objective_is_the_one_with_slacks(penalties):
    problem = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=penalties)
    K, C = matrix(problem), np.broadcast_to(penalties, 20)
    for alpha, b in itertools.product(feasible_points(problem), (-2.0, 0.0, 0.3)):
        slack = np.maximum(0.0, 1.0 - LABELS * (K @ alpha + b))
        # F = ½‖w‖² + Σ Cᵢξᵢ
        primal = 0.5 * alpha @ K @ alpha + (C * slack).sum()
        assert problem.primal_objective(alpha, b) == pytest.approx(primal, rel=1e-12)


def test_the_primal_objective_of_regression_is_the_one_with_a_tube():
    problem = PROBLEMS["regression box"].problem
    half = problem.n // 2
    targets, width = 0.5 * (problem.v[:half] + problem.v[half:]), 0.1
    for alpha, b in itertools.product(feasible_points(problem), (-1.0, 0.4)):
        fitted = (matrix(problem) @ alpha)[:half] + b
        loss = 2.0 * np.maximum(0.0, np.abs(targets - fitted) - width).sum()  # C = 2
        primal = 0.5 * alpha @ matrix(problem) @ alpha + loss
        assert problem.primal_objective(alpha, b) == pytest.approx(primal, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_added_to_v_moves_the_intercept_only(name):
    problem = PROBLEMS[name].problem
    moved = DualProblem(problem.gram, problem.v + 3.0, problem.z, problem.lower, problem.upper)
    for alpha in feasible_points(problem):
        room = 1e-12 * (1.0 + abs(problem.objective(alpha)) + abs(problem.primal_objective(alpha)))
        assert moved.objective(alpha) - problem.objective(alpha) == pytest.approx(3.0 * problem.z, abs=room)
        for b in (-1.0, 0.5):
            rise = moved.primal_objective(alpha, b + 3.0) - problem.primal_objective(alpha, b)
            assert rise == pytest.approx(3.0 * problem.z, abs=room)
        room = 1e-12 * (1.0 + np.abs(problem.gradient(alpha)).max())
        assert moved.intercept(alpha) - problem.intercept(alpha) == pytest.approx(3.0, abs=room)


@pytest.mark.parametrize("seed", range(30))
def test_the_best_intercept_is_as_good_as_any_breakpoint(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    G = rng.choice([-1.0, 0.0, 0.5, 2.0], size=n) if seed % 2 else rng.normal(size=n)
    lower, upper = -rng.integers(0, 3, size=n) * 1.0, rng.integers(0, 3, size=n) * 1.0
    z = float(rng.choice([lower.sum(), upper.sum(), 0.5 * (lower.sum() + upper.sum())]))

    def loss(b):
        return np.maximum(upper * (G - b), lower * (G - b)).sum() + b * z

    best = best_intercept(G, z, lower, upper)
    assert loss(best) <= min(loss(b) for b in G) + 1e-12
    optimal = [b for b in G if loss(b) <= min(loss(b) for b in G) + 1e-12]
    assert min(optimal) <= best <= max(optimal)


def test_a_whole_interval_of_best_intercepts_gives_its_middle():
    # two opposite examples at their bound: every b in [−1, 1] has the same loss
    assert best_intercept(np.array([1.0, -1.0]), 0.0, np.array([0.0, -1.0]), np.array([1.0, 0.0])) == 0.0


def test_the_intercept_exists_where_no_variable_can_move():
    fixed = np.zeros(3)
    problem = DualProblem(Gram(Linear(), np.eye(3)), np.array([1.0, 2.0, 4.0]), 0.0, fixed, fixed)
    assert np.isfinite(problem.intercept(fixed))
    one_side = DualProblem(Gram(Linear(), np.eye(3)), np.array([1.0, 2.0, 4.0]), 0.0, fixed, fixed + 1.0)
    assert one_side.intercept(fixed) == 4.0


@pytest.mark.parametrize("name", NAMES)
def test_a_restricted_problem_has_the_gradient_of_the_full_one(name):
    problem = PROBLEMS[name].problem
    rng = np.random.default_rng(2)
    for alpha in feasible_points(problem):
        B = rng.permutation(problem.n)[: max(1, problem.n // 2)]
        N = np.setdiff1d(np.arange(problem.n), B)
        part = problem.restrict(B, alpha)
        K = matrix(problem)
        size = 1e-11 * (1.0 + np.abs(alpha).sum() * np.abs(K).max())
        np.testing.assert_allclose(part.gradient(alpha[B]), problem.gradient(alpha)[B], atol=size)
        np.testing.assert_array_equal([part.lower, part.upper], [problem.lower[B], problem.upper[B]])
        assert part.z == pytest.approx(problem.z - alpha[N].sum(), abs=1e-12 * (1 + np.abs(alpha).sum()))
        # the objectives differ by a constant of α_N alone
        other, changed = part.feasible(rng.normal(size=len(B))), alpha.copy()
        changed[B] = other
        rise = problem.objective(changed) - problem.objective(alpha)
        room = 1e-10 * (1.0 + np.abs(alpha).sum() ** 2 * np.abs(K).max())
        assert part.objective(other) - part.objective(alpha[B]) == pytest.approx(rise, rel=1e-8, abs=room)


def test_restricting_without_a_point_fixes_the_others_at_zero():
    problem = DualProblem.classification(X, LABELS, kernel=RBF(0.5))
    part = problem.restrict([4, 2, 9])
    np.testing.assert_array_equal(part.v, LABELS[[4, 2, 9]])
    assert part.z == 0.0


def test_a_repair_leaves_alone_what_needs_none():
    """A feasible point stays itself; where inner variables can take the share, those at a bound stay there exactly."""
    problem = DualProblem.classification(X, LABELS, kernel="linear", C=1.0)
    alpha = solve(problem).alpha
    assert np.array_equal(problem.feasible(alpha), alpha)
    at_bound = (alpha == problem.lower) | (alpha == problem.upper)
    assert 0 < at_bound.sum() < 20
    for wrong in (1e-13, -1e-13, 1e-3, -1e-3):
        moved = problem.feasible(alpha + np.where(at_bound, 0.0, wrong))
        assert np.array_equal(moved[at_bound], alpha[at_bound])
        assert moved.sum() == pytest.approx(0.0, abs=1e-14)


VALUES_AT_A_POINT = [
    "gradient", "objective", "kkt_gap", "intercept", "decision_range", "primal_objective", "duality_gap",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES_AT_A_POINT)
def test_a_point_is_any_sequence_of_numbers(value):
    whole = np.where(np.arange(20) < 7, LABELS, 0.0)
    problem = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)
    expected = getattr(problem, value)(whole)
    column = np.stack([whole] * 2, axis=1)[:, 1]
    for point in (whole.tolist(), whole.astype(int), whole.astype(np.float32), column):
        np.testing.assert_array_equal(getattr(problem, value)(point), expected)


@pytest.mark.parametrize("value", VALUES_AT_A_POINT)
@pytest.mark.parametrize(
    ("point", "words"),
    [
        (np.zeros(19), r"alpha has shape \(19,\); expected one number or a vector of 20 numbers"),
        (np.where(np.arange(20) == 3, np.nan, 0.0), "alpha contains NaN or infinity"),
        (["a"] * 20, "alpha holds 'a'"),
    ],
)
def test_values_at_no_point_are_refused(value, point, words):
    problem = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)
    with pytest.raises(ValueError, match=words):
        getattr(problem, value)(point)


def test_a_problem_does_not_change():
    lower, upper, v = np.zeros(20), np.ones(20), np.ones(20)
    problem = DualProblem(Gram(Linear(), X), v, 1.0, lower, upper)
    upper[0] = v[0] = 7.0
    assert problem.upper[0] == problem.v[0] == 1.0
    for array in (problem.v, problem.lower, problem.upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3.0
    with pytest.raises(AttributeError):
        problem.z = 2.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"X": X[0]}, r"X has shape \(3,\)"),
        ({"X": np.zeros((0, 3)), "y": []}, r"X has shape \(0, 3\)"),
        ({"X": np.where(X > 1, np.inf, X)}, "X contains NaN or infinity"),
        ({"y": LABELS[:5]}, r"y has shape \(5,\); expected 20"),
        ({"y": LABELS[:, None]}, r"y has shape \(20, 1\)"),
        ({"y": np.ones(20)}, "single class"),
        ({"y": np.where(LABELS > 0, 1, 0)}, "labels 0, 1"),
        ({"y": np.arange(20)}, "code the two classes as -1 and \\+1 for each pair"),
        ({"y": ["a", "b"] * 10}, "'a', 'b'"),
        ({"C": 0}, "C=0 is not positive"),
        ({"C": -1.5}, "C=-1.5"),
        ({"C": [1.0, 2.0]}, r"C has shape \(2,\)"),
        ({"C": np.linspace(-1, 1, 20)}, "C contains -1"),
        ({"kernel": "RBF"}, "kernel='RBF'"),
        ({"kernel": Precomputed()}, "expected a square matrix"),
    ],
)
def test_bad_data_are_named(arguments, words):
    with pytest.raises(ValueError, match=words) as refusal:
        DualProblem.classification(**{"X": X, "y": LABELS, "C": 1.0, "kernel": None, **arguments})
    assert str(refusal.value).endswith((".", "?"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lower": np.full(20, 2.0)}, "lower exceeds upper at index 0"),
        ({"z": 21.0}, "z=21.0 cannot be reached"),
        ({"z": -0.5}, "give z from 0 to 20, or a wider box"),
        ({"v": np.ones(3)}, r"v has shape \(3,\)"),
    ],
)
def test_an_impossible_box_is_named(arguments, words):
    values = {"v": np.ones(20), "z": 1.0, "lower": BOX[0], "upper": BOX[1], **arguments}
    with pytest.raises(ValueError, match=words):
        DualProblem(Gram(Linear(), X), **values)


def test_rounding_of_the_fixed_sum_does_not_make_a_restriction_infeasible():
    box = np.array([0.0, 1.0, 0.3])
    problem = DualProblem(Gram(Linear(), np.eye(3)), np.zeros(3), 0.0, -box, box)
    rounded = np.array([0.0, -0.3, 0.1 + 0.2])
    assert rounded.sum() != 0.0
    part = problem.restrict([0], rounded)
    assert (part.z, part.lower, part.upper) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="cannot be reached"):
        problem.restrict([0], np.array([0.0, -0.3, 0.2]))


@pytest.mark.parametrize("name", ["v", "lower", "upper"])
def test_numbers_whose_sums_overflow_are_refused(name):
    parts = {"v": np.zeros(3), "z": 0.0, "lower": -np.ones(3), "upper": np.ones(3)}
    parts[name] = (-1 if name == "lower" else 1) * np.array([1.0, 1e308, 1.0])
    with pytest.raises(ValueError, match=rf"^{name} contains -?1e\+308, but .* between -1e300 and 1e300"):
        DualProblem(Gram(Linear(), np.eye(3)), **parts)
    with pytest.raises(ValueError, match=r"^C contains 1e\+301, but .*; scale the numbers down, or give inf"):
        DualProblem.classification(X, LABELS, kernel="linear", C=1e301)


def test_a_box_that_does_not_hold_zero_is_looked_at_in_full():
    """A box around zero needs no further check; each way not to be one has to be noticed."""
    gram, v = Gram(Linear(), np.array([[0.0], [1.0], [2.0]])), np.array([1.0, -1.0, 1.0])
    for lower, upper, words in (
        ([2.0, -3.0, -3.0], [1.0, 3.0, 3.0], "lower exceeds upper at index 0"),
        ([-3.0, -1.0, -3.0], [3.0, -2.0, 3.0], "lower exceeds upper at index 1"),
        ([0.5, 0.0, 0.0], [1.0, 1.0, 1.0], "cannot be reached"),
    ):
        with pytest.raises(ValueError, match=words):
            DualProblem(gram, v, 0.0, np.array(lower), np.array(upper))
    around, aside = np.array([-1.0, -1.0, -1.0]), np.array([0.5, -1.0, -1.0])
    assert DualProblem(gram, v, 0.0, around, -around).zero_is_feasible
    assert not DualProblem(gram, v, 0.0, aside, -around).zero_is_feasible
    assert not DualProblem(gram, v, 0.5, around, -around).zero_is_feasible
    assert DualProblem(gram, v, 0.0, around, np.array([1.0, np.inf, 1.0])).is_open


def test_leaving_out_an_example_without_which_the_sum_is_out_of_reach_is_refused():
    problem = DualProblem.one_class(np.array([[0.0], [1.0], [9.0]]), kernel="linear", nu=1.0)
    with pytest.raises(ValueError, match=r"z=3\.0 cannot be reached"):
        problem.without(1)


@pytest.mark.parametrize("C", [2.0, math.inf])
def test_several_examples_are_left_out_at_once(C):
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, -1, 1, 1, 1])
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=C)
    for chosen in ([1, 4], np.array([4, 1]), [-5, 4]):
        less = problem.without(chosen)
        assert np.flatnonzero((less.lower == 0.0) & (less.upper == 0.0)).tolist() == [1, 4]
        assert solve(less, engine="numpy").alpha[[1, 4]].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="r holds 6; give positions from 0 to 5"):
        problem.without([1, 6])
