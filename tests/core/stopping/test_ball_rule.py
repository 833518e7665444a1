"""When the ball is tested, and what the rule leaves to the KKT gap. Its signs are checked in `test_midpoint`."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, TOP, BallRule, DualProblem, KKTGap, Linear, Precomputed, iterate, solve
from refsvm.core.stopping.ball_rule import AT
from refsvm.datasets import load

from ...settings import FAST

POSITIVE, NEGATIVE, ALL = BallRule.reasons[1:]


def heart(C=1.0) -> DualProblem:
    data = load("heart")
    return DualProblem.classification(data.X, data.y, kernel=RBF(0.005), C=C)


def test_most_rounds_of_heart_take_no_step():
    problem = heart()
    solved = solve(problem, stop=KKTGap(1e-4), engine=FAST)
    support = np.flatnonzero(solved.alpha)[:40].tolist()
    steps = []
    for r in support:
        left_out = problem.without(r)
        start, rule = TOP().seed(solved, left_out), BallRule(solved=solved)
        quick = solve(left_out, start=start, stop=rule, engine=FAST, shrinking=False)
        exact = solve(left_out, start=start, stop=KKTGap(1e-8), engine=FAST)
        if quick.reason in (POSITIVE, NEGATIVE):
            assert (quick.reason == POSITIVE) == (exact.decision_values[r] >= 0.0)
        steps.append(quick.iterations)
    assert np.mean(np.array(steps) == 0) > 0.6


def test_signs_are_tested_from_a_gap_on():
    """Then decision values are as exact as that gap."""
    problem = heart()
    solved = solve(problem, stop=KKTGap(1e-4), engine=FAST)
    left_out = problem.without(int(np.flatnonzero(solved.alpha)[5]))
    start = TOP().seed(solved, left_out)
    ends = [
        solve(
            left_out,
            start=start,
            stop=BallRule(1e-9, every=1, solved=solved, near=near),
            engine=FAST,
            shrinking=False,
        )
        for near in (np.inf, 1e-3, 1e-6)
    ]
    assert [end.reason for end in ends] == [ends[0].reason] * 3
    assert ends[0].reason in (POSITIVE, NEGATIVE)
    assert [end.kkt_gap <= near for end, near in zip(ends, (np.inf, 1e-3, 1e-6), strict=True)] == [True] * 3
    assert ends[0].iterations == 0 < ends[1].iterations < ends[2].iterations


def test_proved_signs_are_not_proved_again():
    problem, R = heart(), np.arange(0, 270, 27)
    solved, left_out = solve(problem, engine=FAST), problem.without(R)
    rule = BallRule(1e-6, every=1, solved=solved)
    known = [float(state.stop_memory[AT]) for state in iterate(left_out, stop=rule)]
    assert known == sorted(known)
    assert known[-1] > known[0]


def test_of_examples_with_an_empty_box_one_may_be_of_interest():
    weights = np.ones(270)
    weights[::5] = 0.0
    problem = heart(weights)
    solved = solve(problem, engine=FAST)
    r = int(np.flatnonzero(solved.alpha)[3])
    left_out = problem.without(r)
    options = {"start": TOP().seed(solved, left_out), "engine": FAST, "shrinking": False}
    one = solve(left_out, stop=BallRule(1e-8, example=r, solved=solved), **options)
    every = solve(left_out, stop=BallRule(1e-8, solved=solved), **options)
    assert one.reason in (POSITIVE, NEGATIVE)
    assert one.iterations <= every.iterations


def test_it_works_under_shrinking():
    problem = heart()
    for r in range(5):
        left_out = problem.without(r)
        quick = solve(left_out, stop=BallRule(1e-9), engine=FAST)
        exact = solve(left_out, stop=KKTGap(1e-9), engine=FAST)
        assert quick.reason in (POSITIVE, NEGATIVE)
        assert (quick.reason == POSITIVE) == (exact.decision_values[r] >= 0.0)


def test_hard_margins_end_at_the_gap():
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    problem = DualProblem.classification(X, y, kernel=Linear(), C=np.inf)
    assert solve(problem.without(0), stop=BallRule(), engine=FAST).reason == BallRule.reasons[0]


def test_an_indefinite_matrix_proves_nothing():
    K = np.array([[1.0, 0.2, 1.5, 0.1], [0.2, 1.0, 0.3, 1.4], [1.5, 0.3, 1.0, 0.2], [0.1, 1.4, 0.2, 1.0]])
    problem = DualProblem.classification(K, [1, -1, 1, -1], kernel=Precomputed(), C=5.0)
    solution = solve(problem.without(3), stop=BallRule(1e-6, every=1), engine=FAST)
    assert solution.reason == BallRule.reasons[0] or solution.iterations == 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: solve(heart(), stop=BallRule()), "needs left-out examples"),
        (lambda: solve(heart().without(2), stop=BallRule(example=3)), "is not left out"),
        (lambda: solve(heart().without(2), stop=BallRule(example=999)), "is not left out"),
        (lambda: solve(DualProblem.one_class(np.eye(3), kernel=RBF(1.0)), stop=BallRule()), "with Σα = 0"),
    ],
)
def test_what_it_refuses(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_the_solution_has_the_signs_that_were_proved(engine):
    """One α of the seed is within rounding of its bound: set there after the proof, it would move b past 0."""
    rng = np.random.default_rng([546, 22])
    n, d = int(rng.integers(8, 30)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d))
    X[: n // 6] = X[n // 6 : n // 6 * 2]
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1, -1)
    y[:4] = 1, -1, 1, -1
    rng.integers(3)
    C = 10.0 ** rng.integers(-2, 3) * (rng.uniform(0.2, 3.0, n) if rng.random() < 0.5 else np.ones(n))
    tolerance = 10.0 ** -int(rng.integers(2, 6))
    full = solve(DualProblem.classification(X, y, kernel=RBF(0.5), C=C), stop=KKTGap(tolerance))
    without = full.problem.without([4, 12])
    start, rule = TOP().seed(full, without), BallRule(1e-9, 5, solved=full)
    found = solve(without, start=start, stop=rule, shrinking=False, engine=engine)
    assert found.reason.startswith("The signs at all left-out")
    exact = solve(without, stop=KKTGap(1e-10))
    assert (found.decision_values[[4, 12]] * exact.decision_values[[4, 12]] > 0.0).all()
