"""Small problems whose steps are taken at once: each takes the steps that it takes by itself, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import KKTGap, NewtonStep, PlanningAheadStep, SecondOrder
from refsvm.analysis.small import stacked
from refsvm.analysis.small.small import CODE, CURVATURE, STEPS, SmallProblems
from refsvm.core.solver.readable import NumPyBackend
from refsvm.core.solver.rules import chosen_rules

KINDS = "gaussian", "linear", "repeated rows", "indefinite", "tiny targets", "of one unit", "three"


def stack(kind, P=8, m=9, seed=0, start=False):
    """Problems of one size, with penalties over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    P, m = (40, 3) if kind == "three" else (P, m)
    X = rng.normal(size=(P, m, 2))
    X = np.round(X) if kind == "repeated rows" else X
    squares = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=-1)
    K = np.einsum("pid,pjd->pij", X, X) if kind == "linear" else np.exp(-squares)
    if kind == "indefinite":
        K = K + 0.6 * squares
    v = np.where(rng.random((P, m)) < 0.5, 1.0, -1.0)
    v[:, :2] = 1.0, -1.0
    if kind == "tiny targets":
        v *= 1e-7 * rng.random((P, 1))
        v[0] = 1e-9  # a constant
    C = 10.0 ** rng.uniform(-5, 3, size=(P, 1)) * rng.uniform(0.3, 1.0, size=(P, m))
    lower, upper = np.minimum(v * C, 0.0), np.maximum(v * C, 0.0)
    if kind == "tiny targets":
        lower, upper = -C, C
        lower[1, 3:] = upper[1, 3:] = 0.0  # boxes that are empty
    if kind == "of one unit":  # α at bounds that steps reach exactly
        K, lower, upper = np.round(4 * K) / 4, np.round(np.sign(lower)), np.round(np.sign(upper))
    alpha = np.zeros((P, m))
    if start:
        alpha[:, :2] = 0.5 * np.minimum(upper[:, :1], -lower[:, 1:2]) * [1.0, -1.0]
    return SmallProblems(K, v, lower, upper, alpha if start else None)


def solve_one_by_one(problems, rules, limit):
    backend = NumPyBackend()
    for p in range(len(problems)):
        state = problems.state(p, rules)
        problems.take(p, state, backend.steps(state, rules, limit))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [KKTGap(1e-15), KKTGap(1e-3), KKTGap(1e-6, relative=True)], ids=str)
@pytest.mark.slow
def test_steps_are_those_of_one_problem_after_another(kind, stop):
    for seed, limit in enumerate((300, 5)):
        for named in ((None, None), (SecondOrder(0.02), PlanningAheadStep())):
            rules = chosen_rules(*named, stop)
            at_once, by_itself = (stack(kind, seed=seed, start=bool(seed)) for _ in range(2))
            assert stacked.are_stacked(at_once, rules)
            stacked.stacked_steps(at_once, rules, limit)
            solve_one_by_one(by_itself, rules, limit)
            for name in ("alpha", "gradient"):
                ours, theirs = (getattr(each, name).view(np.int64) for each in (at_once, by_itself))
                np.testing.assert_array_equal(ours, theirs)
            np.testing.assert_array_equal(at_once.results, by_itself.results)


def test_the_cases_above_have_planned_steps_and_every_code():
    """Or they would compare nothing that is worth it."""
    relative = chosen_rules(None, None, KKTGap(1e-6, relative=True))
    problems = stack("gaussian")
    stacked.stacked_steps(problems, relative, 300)
    assert {1, 2} <= set(problems.results[:, CODE])
    indefinite = stack("indefinite")
    stacked.stacked_steps(indefinite, chosen_rules(None, None, KKTGap(1e-9)), 300)
    assert (indefinite.results[:, CURVATURE] < 0).any()
    planned, plain = stack("gaussian"), stack("gaussian")
    stacked.stacked_steps(planned, chosen_rules(None, None, KKTGap(1e-9)), 300)
    solve_one_by_one(plain, chosen_rules(None, NewtonStep(), KKTGap(1e-9)), 300)
    assert (planned.results[:, STEPS] != plain.results[:, STEPS]).any()


def test_few_problems_and_other_rules_are_solved_one_after_another():
    rules = chosen_rules(None, None, None)
    assert stacked.are_stacked(stack("linear", P=stacked.STACKED_FROM_PROBLEMS), rules)
    assert not stacked.are_stacked(stack("linear", P=stacked.STACKED_FROM_PROBLEMS - 1), rules)
    for step in (NewtonStep(), PlanningAheadStep(history=2)):
        assert not stacked.are_stacked(stack("linear"), chosen_rules(None, step, None))


def test_steps_that_change_nothing_are_counted_until_one_does():
    """After two in a row a problem ends: the first alone may be one of rounding."""
    state = stacked.StackedStates(stack("gaussian", P=2, m=3), KKTGap())
    for pair in (state.i, state.j, state.before_i, state.before_j):  # there was none yet
        assert pair.tolist() == [-1, -1]
    counts = []
    for mu in ([0.0, 0.0], [0.0, 1e-9], [0.0, 0.0]):
        state.measure(np.array([0, 0]), np.array([1, 1]))
        state.move(np.array(mu), np.zeros(2, dtype=bool))
        counts.append(state.stalled.tolist())
    assert counts == [[1, 1], [2, 0], [3, 1]]


@pytest.mark.parametrize("code", [0, 1, 2])
def test_steps_that_no_longer_change_anything_end_what_its_rule_has_not_ended(code, monkeypatch):
    """A rule that is satisfied says so, whatever the steps before have changed."""
    problems = stack("gaussian", P=3)

    def check(stop, state):
        state.stalled[:] = [1, 2, 3][: len(state.number)]
        return np.full(len(state.number), code, dtype=float)

    monkeypatch.setattr(stacked, "check", check)
    stacked.stacked_steps(problems, chosen_rules(None, NewtonStep(), KKTGap(1e-9)), limit=1)
    assert problems.results[:, CODE].tolist() == ([code] * 3 if code else [0, -1, -1])
