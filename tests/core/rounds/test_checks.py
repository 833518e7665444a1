"""What the checks of leave-one-out say of examples: right signs at any tolerance, weight and distance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    TOP,
    Ball,
    BallRule,
    Check,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    TrainingError,
    XiAlphaBound,
    ZeroAlpha,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import CachedRows
from refsvm.core.kernels.rows import KernelRows, megabytes
from refsvm.core.rounds.leave_one_out import checks_valid_for_kernel
from refsvm.core.rounds.sufficiency import known_to, largest_distance, sufficient

from ...balls import proved_sign

CHECKS = ZeroAlpha(), TrainingError(), XiAlphaBound(), Ball()


def stored(K) -> KernelRows:
    return KernelRows(Gram(Precomputed(), np.asarray(K, dtype=float)))


def random_case(seed):
    """A problem whose first examples lie far out or have a tiny weight, and its solution to a loose tolerance."""
    rng = np.random.default_rng((83, seed))
    n, C = 24, 10.0 ** rng.uniform(-1.0, 2.0)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0.0, 1, -1)
    y[:4] = 1, -1, 1, -1
    X[:2] += 10.0 ** rng.uniform(0.0, 2.0) * np.array([0.0, 1.0])
    weights = (
        np.where(rng.random(n) < 0.3, 10.0 ** rng.uniform(-9.0, 0.0, n), 1.0) if seed % 2 else np.ones(n)
    )
    kernel = (Linear(), RBF(0.5), Polynomial(degree=2, coef0=1.0))[seed % 3]
    problem = DualProblem.classification(kernel(X, X), y, kernel=Precomputed(), C=C * weights)
    full = solve(problem, stop=KKTGap(10.0 ** rng.uniform(-4.0, -0.5)), engine="numpy")
    return problem, replace(full, gradient=problem.gradient(full.alpha))


def every_sign(problem, r):
    """The signs of h(xᵣ) of the exact machine without r at both ends of the interval of b, up to rounding of h."""
    exact = solve(problem.without(r), stop=KKTGap(1e-10), polish=True, engine="numpy")
    top, bottom, _ = exact.most_violating
    ends = [problem.v[r] - exact.gradient[r] + exact.gradient[i] for i in (top, bottom) if i >= 0]
    return {0 if abs(h) < 1e-6 else int(np.sign(h)) for h in ends}


@pytest.mark.filterwarnings("ignore:The kernel values are so large")
def test_no_check_is_wrong_at_loose_tolerances_far_out_or_with_tiny_weights():
    """By the KKT gap in place of the duality gap, and without a margin, some of each are."""
    decided = dict.fromkeys((check.name for check in CHECKS), 0)
    for seed in range(60):
        problem, full = random_case(seed)
        rows, signs = stored(problem.gram.dense), {}
        for check in CHECKS:
            found = check.decide(full, rows)
            decided[check.name] += np.count_nonzero(found)
            for r in np.flatnonzero(found).tolist():
                signs.setdefault(r, every_sign(problem, r) if r < 12 else None)
                assert signs[r] is None or signs[r] <= {0, found[r]}, (check.name, seed, r)
    assert min(decided.values()) > 30


def claimed(y, C, alpha, G):
    """A solution with this α and G where K = I and b = 0, whether or not it is one."""
    return SimpleNamespace(
        problem=DualProblem.classification(np.eye(4), y, kernel=Precomputed(), C=C), alpha=alpha, gradient=G,
        intercept=0.0, decision_values=y - G, iterations=0, most_violating=(0, 1, 0.0),
    )  # fmt: skip


@pytest.mark.parametrize("label", [1, -1])
@pytest.mark.parametrize(
    ("weight", "h", "decided"),
    [(1.0, -0.2, 1), (1.0, -0.05, 0), (0.1, -0.9, 0), (0.1, -1.1, 1), (1.0, 0.2, 0)],
)
def test_a_training_error_is_one_by_more_than_the_duality_gap_over_its_weight(weight, h, decided, label):
    """K = I, b = 0; two free variables that are off by 0.1 make a gap of 0.1."""
    y, C = label * np.array([1.0, -1.0, 1.0, -1.0]), np.array([weight, 1.0, 1.0, 1.0])
    full = claimed(y, C, y * np.array([weight, 0.5, 0.5, weight]), y * np.array([1.0 - h, 0.1, 0.1, 0.0]))
    assert known_to(full, stored(np.eye(4)))[0] == pytest.approx(0.1)
    assert TrainingError().decide(full, stored(np.eye(4)))[0] == -label * decided


def test_zero_alpha_leaves_the_ends_of_an_interval_of_b():
    """Between −1 and 1 the intercept of two bounded examples may be anything, and so may h in the middle."""
    problem = DualProblem.classification(
        [[-1.0], [0.0], [1.0]], [-1, 1, 1], kernel=Linear(), C=[0.1, 0.0, 0.1]
    )
    full = solve(problem, stop=KKTGap(1e-10))
    rows = stored(problem.gram.block(np.arange(3)))
    assert full.alpha[1] == 0.0
    assert ZeroAlpha().decide(full, rows).tolist() == [0, 0, 0]
    moved = DualProblem.classification([[-1.0], [9.0], [1.0]], [-1, 1, 1], kernel=Linear(), C=[0.1, 0.0, 0.1])
    full = solve(moved, stop=KKTGap(1e-10))
    assert ZeroAlpha().decide(full, stored(moved.gram.block(np.arange(3)))).tolist() == [0, 1, 0]


def test_a_regression_knows_the_value_where_alpha_is_zero():
    """No sign is proved: the machine without the example is the same, and the value is asked for."""
    problem = DualProblem.regression(
        [[0.0], [1.0], [2.0]], [0.0, 0.1, 0.0], kernel=RBF(0.5), C=1.0, epsilon=0.5
    )
    full = solve(problem)
    assert (ZeroAlpha().decide(full, stored(problem.gram.block(np.arange(6)))) != 0).any()


ROOM = {
    "the free ones have it": (0.3, [0.0, 0.6, -0.3, -0.6], 1),
    "hardly more than is needed": (0.4, [0.0, 0.6, -0.05, -0.95], 1),  # 0.45
    "a bounded one has none": (0.4, [0.0, 1.0, 0.0, -1.4], 0),
    # 0.1 of example 1 and 0.2 of the others: α₀ = 0.4 does not fit
    "too little of it": (0.4, [0.0, 0.9, -0.2, -1.1], 0),
}


@pytest.mark.parametrize("name", ROOM)
@pytest.mark.parametrize("label", [1, -1])
def test_the_xi_alpha_bound_asks_for_room(name, label):
    """Σ(Uⱼ − αⱼ) over the free j ≠ r: of the other class that is |αⱼ|. The third of them has a bound of 1.4."""
    own, others, proved = ROOM[name]
    alpha = label * np.array([own, *others[1:]])
    y, C = label * np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, 1.0, 1.0, abs(others[3]) or 1.0])
    if name == "the free ones have it":
        C[3] = 1.0
    assert XiAlphaBound().decide(claimed(y, C, alpha, np.zeros(4)), stored(np.eye(4)))[0] == proved * label


@pytest.mark.parametrize(("off", "proved"), [(0.0, 1), (0.05, 1), (0.5, 0)])
@pytest.mark.parametrize("label", [1, -1])
def test_the_xi_alpha_bound_allows_for_the_duality_gap(off, proved, label):
    """K = I, R = 1, α = 0.1 and yh = 1: √2 (√0.005 + √(0.005 + δ + 0.1 off)) has to be below 1, where δ = off."""
    y = label * np.array([1.0, -1.0, 1.0, -1.0])
    full = claimed(y, 1.0, y * np.array([0.1, 0.1, 0.5, 0.5]), y * np.array([0.0, 0.0, off, off]))
    assert known_to(full, stored(np.eye(4)))[0] == pytest.approx(off, abs=1e-12)
    assert XiAlphaBound().decide(full, stored(np.eye(4)))[0] == proved * label


@pytest.mark.filterwarnings("ignore:The kernel values are so large")
def test_the_xi_alpha_bound_of_an_exact_solution_is_that_of_the_paper():
    """2|α|R² + ξ < 1, where the free ones have room."""
    decided = 0
    for seed in range(4, 124, 6):  # with an RBF kernel, whose distances are of size 1
        problem, _ = random_case(seed)
        full, rows = (
            solve(problem, stop=KKTGap(1e-11), polish=True, engine="numpy"),
            stored(problem.gram.dense),
        )
        free, y = (problem.lower < full.alpha) & (full.alpha < problem.upper), problem.v
        terms = 2.0 * np.abs(full.alpha) * largest_distance(rows) + np.maximum(
            0.0, 1.0 - y * full.decision_values
        )
        room = np.where(y[:, None] > 0.0, problem.upper - full.alpha, full.alpha - problem.lower) * free
        # with one C for all the room is a multiple of C, and may be as much as is needed
        has_room = room.sum(axis=1) - room.diagonal() > np.abs(full.alpha) * (1.0 + 1e-9)
        sure = np.abs(terms - 1.0) > 1e-3
        found = XiAlphaBound().decide(full, rows)
        assert (found == np.where((terms < 1.0) & has_room, y, 0))[sure].all()
        decided += np.count_nonzero(found)
    assert decided > 100


def test_the_largest_distance():
    """max Kᵢᵢ − min Kᵢⱼ: for x = 1 and −1 that is 2, half of the squared distance 4."""
    assert largest_distance(stored([[1.0, -1.0], [-1.0, 1.0]])) == 2.0
    assert largest_distance(stored([[3.0, 1.0], [1.0, 2.0]])) == 2.0
    X = np.array([[1.0], [-1.0], [0.5]])
    assert largest_distance(CachedRows(Gram(RBF(0.5), X), megabytes(2.5, 3))) == 1.0
    some = CachedRows(Gram(Linear(), X))
    some.fetch(np.array([0, 1]))
    assert largest_distance(some) == np.inf
    some.fetch(np.array([2]))
    assert largest_distance(some) == 2.0
    assert largest_distance(CachedRows(Gram(Linear(), X), megabytes(2.5, 3))) == np.inf


@dataclass(frozen=True)
class Always(Check):
    """It says of every example what it is told."""

    name: ClassVar[str] = "always"
    sign: int = 1

    def decide(self, full, rows):
        return np.full(full.problem.n, self.sign)


def solved(y, C=1.0):
    """The solution for examples 0, 1, 2, … on a line."""
    X = np.arange(len(y), dtype=float)[:, None]
    problem = DualProblem.classification(X, np.array(y), kernel=RBF(0.5), C=C)
    return solve(problem, stop=KKTGap(1e-10), engine="numpy"), KernelRows(
        Gram(Precomputed(), problem.gram.block(np.arange(len(y))))
    )


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("y", "C", "lone"),
    [
        ([1, -1, -1, -1], 1.0, [0]),
        ([1, 1, -1, 1], 1.0, [2]),
        ([1, -1], 1.0, [0, 1]),
        ([1, 1, -1, -1], [1.0, 0.0, 1.0, 1.0], [0]),  # 1 takes no part
        ([1, 1, -1, -1], 1.0, []),
    ],
)
def test_no_check_is_asked_about_an_example_alone_in_its_class(y, C, lone, sign):
    full, rows = solved(y, np.array(C))
    names, signs, values = sufficient(full, rows, [Always(sign=sign)])
    assert np.flatnonzero(names == "").tolist() == lone
    assert [signs[r] for r in range(len(y)) if r not in lone] == [sign] * (len(y) - len(lone))
    assert signs[lone].tolist() == [y[r] for r in lone]
    assert np.isnan(values).all()


@dataclass(frozen=True)
class Writing(Always):
    """It writes to what it gets."""

    array: str = "alpha"

    def decide(self, full, rows):
        getattr(full, self.array)[0] = 9.0


@pytest.mark.parametrize("array", ["alpha", "gradient"])
def test_a_check_of_a_user_cannot_change_the_solution(array):
    with pytest.raises(ValueError, match="read-only"):
        sufficient(*solved([1, 1, -1, -1]), [Writing(array=array)])


def test_what_one_check_has_decided_the_next_is_not_asked():
    full, rows = solved([1, 1, 1, -1, -1, 1, -1])
    names, signs, values = sufficient(full, rows, [ZeroAlpha(), Always(sign=-1)])
    zero = full.alpha == 0.0
    assert (names == np.where(zero, "zero alpha", "always")).all()
    assert (signs == np.where(zero, np.where(full.decision_values >= 0.0, 1, -1), -1)).all()
    # the machine is the same without an example of α = 0, and so is its value
    np.testing.assert_array_equal(values, np.where(zero, full.decision_values, np.nan))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_ball_is_that_of_the_proof(weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 2))
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=24) > 0.0, 1, -1)
    C = rng.uniform(0.1, 0.5, 24) if weighted else 1.0
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=C)
    full = solve(problem, stop=KKTGap(1e-10), engine="numpy")
    signs = Ball().decide(full, KernelRows(Gram(Precomputed(), problem.gram.block(np.arange(24)))))
    expected = [
        proved_sign(problem, r, full.alpha, full.intercept, TOP().seed(full, problem.without(r)))
        if full.alpha[r]
        else 0
        for r in range(24)
    ]
    assert signs.tolist() == expected
    without = [
        solve(problem.without(r), stop=KKTGap(1e-10), engine="numpy").decision_values[r] for r in range(24)
    ]
    assert (signs[signs != 0] == np.sign(without)[signs != 0]).all()
    assert set(signs[full.alpha != 0.0].tolist()) == ({-1.0, 0.0} if weighted else {-1.0, 0.0, 1.0})


def test_the_ball_proves_nothing_of_hard_margins_and_float32_rows():
    full, _ = solved([1, 1, 1, -1, -1, -1], C=np.inf)
    K = full.problem.gram.block(np.arange(6))
    assert (Ball().decide(full, stored(K)) == 0).all()
    full, _ = solved([1, 1, 1, -1, -1, -1])
    assert (Ball().decide(full, stored(K)) != 0).any()
    assert (Ball().decide(full, KernelRows(Gram(Precomputed(), K), values=K.astype(np.float32))) == 0).all()


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("below", "is_convex"), [(1e-9, True), (1e-7, False)])
def test_an_eigenvalue_below_0_is_relative_to_the_largest_kernel_value(below, is_convex, unit, recwarn):
    """K = unit·(1, 1 + δ | 1 + δ, 1) has the eigenvalue −δ·unit; down to −1e-8 of the largest value it is rounding."""
    K = unit * np.array([[1.0, 1.0 + below], [1.0 + below, 1.0]])
    rounds = SimpleNamespace(rows=stored(K), state=SimpleNamespace(least_curvature=0.0))
    checks, ball = (ZeroAlpha(), TrainingError(), XiAlphaBound(), Ball()), BallRule()
    expected = (True, checks) if is_convex else (False, (ZeroAlpha(),))
    assert checks_valid_for_kernel(rounds, checks, ball) == expected
    said = [str(each.message) for each in recwarn]
    assert ["not positive semi-definite" in each for each in said] == [True] * (not is_convex)
    assert all(repr([*checks[1:], ball]) in each for each in said)
    assert [each.filename for each in recwarn] == [__file__] * (not is_convex)  # the line of the caller


def test_what_needs_no_such_kernel_is_used_without_a_word():
    rounds = SimpleNamespace(rows=stored(np.diag([1.0, -1.0])), state=SimpleNamespace(least_curvature=-1.0))
    assert checks_valid_for_kernel(rounds, (ZeroAlpha(),), KKTGap()) == (False, (ZeroAlpha(),))
