"""When signs are tested, and what the rules leave to the KKT gap. The signs are checked in `test_midpoint`."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import RBF, TOP, BallRule, DualProblem, KKTGap, Linear, LOODualityGap, iterate, solve
from refsvm.core.stopping.ball_rule import AT
from refsvm.datasets import load
from refsvm.testing import practice_problems

from ...settings import FAST
from .test_midpoint import random_problem

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


@pytest.mark.parametrize("kind", [BallRule, LOODualityGap])
def test_hard_margins_indefinite_matrices_and_ties_end_at_the_gap(kind):
    """The proofs need a finite box and a convex objective; two classes mirrored at the example leave h = 0 there."""
    X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1, -1, 1, 1])
    hard = DualProblem.classification(X, y, kernel=Linear(), C=np.inf).without(0)
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [-2.0]])
    tie = DualProblem.classification(X, [1, 1, -1, 1, -1], kernel=RBF(0.3), C=10.0).without(0)
    indefinite = practice_problems()["indefinite matrix"].without(3)
    for problem in (hard, tie):
        solution = solve(problem, stop=kind(1e-9), engine=FAST, shrinking=False)
        assert solution.reason == kind.reasons[0]
    assert abs(tie.v[0] - solution.gradient[0] + solution.intercept) < 1e-9
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        solution = solve(indefinite, stop=kind(1e-9), engine=FAST, shrinking=False)
    assert solution.reason == kind.reasons[0]


def test_the_solution_has_the_signs_that_were_proved(engine):
    """One α of the seed is within rounding of its bound: set there after the proof, it would move b past 0."""
    rng = np.random.default_rng([546, 22])
    problem = random_problem(rng, int(rng.integers(8, 30)))
    full = solve(problem, stop=KKTGap(10.0 ** -int(rng.integers(2, 6))))
    without = full.problem.without([4, 12])
    start, rule = TOP().seed(full, without), BallRule(1e-9, 5, solved=full)
    found = solve(without, start=start, stop=rule, shrinking=False, engine=engine)
    assert found.reason.startswith("The signs at all left-out")
    exact = solve(without, stop=KKTGap(1e-10))
    assert (found.decision_values[[4, 12]] * exact.decision_values[[4, 12]] > 0.0).all()
