"""What each check of leave-one-out says of an example, worked out by hand for every branch of its body."""

from __future__ import annotations

from dataclasses import dataclass
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
from refsvm.core.rounds.sufficiency import largest_distance, sufficient

from ...balls import proved_sign


def full_solution(y, alpha, values, gap=0.0, extremes=(-1, -1), C=1.0):
    """What a check reads of a solution on all examples; K is the identity."""
    y, C = np.array(y, dtype=float), np.broadcast_to(C, len(y)).astype(float)
    problem = DualProblem(
        Gram(Precomputed(), np.eye(len(y))), y, 0.0, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
    )
    return SimpleNamespace(
        problem=problem, alpha=np.array(alpha, dtype=float), decision_values=np.array(values, dtype=float),
        kkt_gap=gap, most_violating=(*extremes, gap),
    )  # fmt: skip


def stored(K) -> KernelRows:
    return KernelRows(Gram(Precomputed(), np.asarray(K, dtype=float)))


def decided(check: Check, *solution, rows=None, **more) -> list[int]:
    full = full_solution(*solution, **more)
    return check.decide(full, stored(np.eye(len(full.alpha))) if rows is None else rows).astype(int).tolist()


def test_zero_alpha_keeps_the_sign_that_h_has():
    signs = decided(ZeroAlpha(), [1, 1, -1, -1, 1], [0.0, 0.0, 0.0, -0.5, 0.5], [1.5, -0.1, 0.0, -1.0, 1.0])
    assert signs == [1, -1, 1, 0, 0]  # h = 0 counts as +1


@pytest.mark.parametrize(
    ("other", "extremes", "signs"),
    [
        (0.5, (0, 1), [1, -1, 1, 0]),
        (1.0, (0, 1), [0, 0, 1, 0]),
        (1.0, (2, -1), [1, -1, 0, 0]),
        (1.0, (-1, -1), [1, -1, 1, 0]),
    ],
    ids=["another is free", "both ends", "one end", "no end"],
)
def test_zero_alpha_leaves_the_ends_of_the_interval_of_b(other, extremes, signs):
    solution = [1, -1, 1, 1], [0.0, 0.0, 0.0, other], [1.0, -1.0, 1.0, 1.0]
    assert decided(ZeroAlpha(), *solution, -0.3, extremes) == signs


@pytest.mark.parametrize(
    ("gap", "signs"), [(0.0, [-1, 0, 1, 0, 0]), (0.5, [0, 0, 1, 0, 0]), (-0.5, [-1, 0, 1, 0, 0])]
)
def test_a_training_error_is_one_by_more_than_the_gap(gap, signs):
    """y h = −0.3, 0, −0.7, 0.4 and 2: h is known to the gap."""
    solution = [1, 1, -1, -1, 1], [1.0, 1.0, -1.0, -1.0, 0.0], [-0.3, 0.0, 0.7, -0.4, 2.0]
    assert decided(TrainingError(), *solution, gap) == signs


# K = I, so R² = 1; the free ones have room, and 2|α| + ξ is …
BOUNDS = {
    "0.9": (0.4, 0.9, 0.0, 1),
    "0.9, known to less than 0.1": (0.4, 0.9, 0.2, 0),
    "0.9, and twice the gap is less than 0.1": (0.4, 0.9, 0.04, 1),
    "0.9, and twice the gap is more than 0.1": (0.4, 0.9, 0.06, 0),
    "0.9, and the gap is negative": (0.4, 0.9, -0.2, 1),
    "1": (0.5, 1.0, 0.0, 0),
    "1.1": (0.4, 0.7, 0.0, 0),
    "0.8, and h is large": (0.4, 9.0, 0.0, 1),
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("label", [1, -1])
def test_the_xi_alpha_bound_is_below_one_by_more_than_the_gap_does(name, label):
    alpha, margin, gap, proved = BOUNDS[name]
    y = np.array([label, label, -label, -label])
    signs = decided(XiAlphaBound(), y, y * [alpha, 0.3, 0.3, 0.6], label * np.array([margin, 1, -1, -1]), gap)
    assert signs[0] == proved * label


ROOM = {
    "the free ones have it": (0.3, [0.0, 0.6, -0.3, -0.6], 1.0, 1),
    "hardly more than is needed": (0.4, [0.0, 0.6, -0.05, 0.0], 1.0, 1),  # 0.45
    "a bounded one has none": (0.4, [0.0, 1.0, 0.0, -1.0], 1.0, 0),
    # 0.1 of example 1 and 0.2 of the others: α₀ = 0.4 does not fit
    "too little of it": (0.4, [0.0, 0.9, -0.2, 0.0], 1.0, 0),
    "a hard margin has it without end": (0.4, [0.0, 0.2, -0.3, -0.3], np.inf, 1),
}


@pytest.mark.parametrize("name", ROOM)
def test_the_xi_alpha_bound_asks_for_room(name):
    """Σ(Uⱼ − αⱼ) over the free j ≠ r: of the other class that is |αⱼ|."""
    own, others, C, proved = ROOM[name]
    alpha = np.array(others)
    alpha[0] = own
    for label in (1, -1):
        y = label * np.array([1, 1, -1, -1])
        signs = decided(XiAlphaBound(), y, label * alpha, label * np.array([1.0, 1.0, -1.0, -1.0]), C=C)
        assert signs[0] == proved * label


def test_the_xi_alpha_bound_needs_a_distance_and_a_free_example():
    y, values = [1, 1, -1, -1], [1.0, 1.0, -1.0, -1.0]
    few = CachedRows(Gram(Linear(), np.eye(4)), megabytes(2.5, 4))
    assert decided(XiAlphaBound(), y, [0.4, 0.2, -0.3, -0.3], values, rows=few) == [0] * 4
    assert decided(XiAlphaBound(), y, [0.0, 0.0, 0.0, 0.0], values) == [0] * 4


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
class Writing(Check):
    """It writes to what it gets."""

    name: ClassVar[str] = "writing"
    array: str = "alpha"

    def decide(self, full, rows):
        getattr(full, self.array)[0] = 9.0
        return np.zeros(full.problem.n)


@pytest.mark.parametrize("array", ["alpha", "gradient"])
def test_a_check_of_a_user_cannot_change_the_solution(array):
    full, rows = solved([1, 1, -1, -1])
    before = getattr(full, array).copy()
    with pytest.raises(ValueError, match="read-only"):
        sufficient(full, rows, [Writing(array=array)])
    np.testing.assert_array_equal(getattr(full, array), before)


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
    checks, ball, kkt = (ZeroAlpha(), TrainingError(), XiAlphaBound(), Ball()), BallRule(), KKTGap()
    expected = (checks, ball) if is_convex else ((ZeroAlpha(),), kkt)
    assert checks_valid_for_kernel(rounds, checks, ball, kkt) == expected
    said = [str(each.message) for each in recwarn]
    assert ["not positive semi-definite" in each for each in said] == [True] * (not is_convex)
    assert all(repr([*checks[1:], ball]) in each for each in said)
    assert [each.filename for each in recwarn] == [__file__] * (not is_convex)  # the line of the caller


def test_what_needs_no_such_kernel_is_used_without_a_word():
    rounds = SimpleNamespace(rows=stored(np.diag([1.0, -1.0])), state=SimpleNamespace(least_curvature=-1.0))
    assert checks_valid_for_kernel(rounds, (ZeroAlpha(),), KKTGap(), KKTGap()) == ((ZeroAlpha(),), KKTGap())
