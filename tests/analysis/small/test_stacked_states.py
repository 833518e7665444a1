"""What many small problems at once compute, in states that few runs reach: each is what its rule says, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import KKTGap, NewtonStep, PlanningAheadStep, SecondOrder
from refsvm.analysis.small import stacked
from refsvm.analysis.small.small import CODE, CURVATURE, STEPS, SmallProblems
from refsvm.core.solver.readable import NumPyBackend
from refsvm.core.solver.rules import chosen_rules
from refsvm.core.state import TAU

P, M = 1000, 5
STOPS = KKTGap(1e-3), KKTGap(1e-3, relative=True)


def problems_anywhere(rng):
    """Problems at feasible α, with any G: repeated rows, indefinite kernels, directions that nearly coincide."""
    X = np.round(2.0 * rng.normal(size=(P, M, 2))) / 2.0
    near = 10.0 ** rng.integers(-9, 1, size=(P, 1, 1))
    K = np.exp(-near * ((X[:, :, None] - X[:, None]) ** 2).sum(axis=-1))
    K[::5] = np.round(2.0 * rng.normal(size=(P, M, M)))[::5]
    K = (K + K.transpose(0, 2, 1)) / 2.0
    width = 10.0 ** rng.choice([0, 0, 6], size=(P, 1))
    lower, upper = (sign * width * rng.integers(0, 3, size=(P, M)) / 2.0 for sign in (-1.0, 1.0))
    v = rng.normal(size=(P, M)) * 10.0 ** rng.integers(-12, 2, size=(P, 1))
    problems = SmallProblems(K, v, lower, upper)
    share = np.where(rng.random((P, M)) < 0.5, rng.random((P, M)), rng.integers(0, 2, size=(P, M)))
    problems.alpha = np.where(rng.random((P, 1)) < 0.9, lower + share * (upper - lower), 0.0)
    slight = rng.normal(size=(P, M)) * 10.0 ** rng.integers(-16, 1, size=(P, 1))
    problems.gradient = np.where(rng.random((P, 1)) < 0.5, v + slight, np.round(2.0 * slight) / 2.0)
    return problems


def pairs(rng):
    """Two different variables of each problem."""
    i = rng.integers(0, M, size=P)
    return i, (i + rng.integers(1, M, size=P)) % M


def curvatures(K, i, j):
    """Those of the pairs, as a state keeps them."""
    p = np.arange(len(K))
    raw = K[p, i, i] + K[p, j, j] - 2.0 * K[p, i, j]
    return np.where(raw > 0.0, raw, TAU)


def anywhere(seed, stop):
    """Return states of all problems at once and the same states by themselves, whatever has been before."""
    rng = np.random.default_rng(seed)
    problems = problems_anywhere(rng)
    rules = chosen_rules(SecondOrder(0.9 if seed % 2 else 0.1), PlanningAheadStep(), stop)
    alone = [problems.state(p, rules) for p in range(P)]
    stack = stacked.StackedStates(problems, stop)
    stack.before_i, stack.before_j = pairs(rng)
    stack.i, stack.j = pairs(rng)
    same = rng.random(P) < 0.1
    stack.i, stack.j = np.where(same, stack.before_i, stack.i), np.where(same, stack.before_j, stack.j)
    stack.before_curvature = curvatures(problems.kernels, stack.before_i, stack.before_j)
    stack.curvature = curvatures(problems.kernels, stack.i, stack.j)
    stack.last_newton = rng.normal(size=P)
    stack.last_step = stack.last_newton * rng.choice([-1.0, 0.15, 0.95, 1.0, 1.85, 1.95], size=P)
    stack.last_planned, stack.last_free = rng.random((2, P)) < 0.5
    stack.first_range = np.where(rng.random(P) < 0.5, 0.0, 10.0 ** rng.integers(-9, 3, size=P))
    for p, state in enumerate(alone):
        for name in ("last_newton", "last_step", "last_planned", "last_free"):
            setattr(state, name, getattr(stack, name)[p].item())
        if stop.relative:
            state.stop_memory = np.append(problems.v[p], (stack.first_range[p], stop.tol))
    return stack, alone, rules, rng


def bits(numbers):
    return np.asarray(numbers, dtype=float).view(np.int64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("stop", STOPS, ids=str)
def test_the_check_is_that_of_the_rule(stop, seed):
    stack, alone, _, _ = anywhere(seed, stop)
    code = stacked.check(stop, stack)
    np.testing.assert_array_equal(code, [stop.check(state) for state in alone])
    if stop.relative:
        np.testing.assert_array_equal(bits(stack.first_range), bits([s.stop_memory[-2] for s in alone]))
        np.testing.assert_array_equal(bits(stack.tolerance), bits([s.stop_memory[-1] for s in alone]))
        assert {*code.tolist()} == {0, 1, 2}


@pytest.mark.parametrize("seed", range(4))
def test_the_working_set_is_that_of_the_rule(seed):
    stack, alone, rules, _ = anywhere(seed, STOPS[0])
    for p, state in enumerate(alone):
        state.candidates[0] = stack.before_i[p], stack.before_j[p]
        state.candidate_curvatures[0], state.n_candidates = stack.before_curvature[p], state.last_planned
    runs = np.flatnonzero(stack.gap > 0.0)
    i, j = stacked.select(rules.selector, stack)
    expected = np.array([rules.selector.select(state) for state in alone])
    np.testing.assert_array_equal(np.stack((i, j), axis=1)[runs], expected[runs])


@pytest.mark.filterwarnings("ignore:.* encountered in")  # `stacked_steps` ignores them, too
@pytest.mark.parametrize("seed", range(4))
def test_the_step_is_that_of_the_rule(seed):
    stack, alone, rules, rng = anywhere(seed, STOPS[0])
    for p, state in enumerate(alone):
        state.working_sets[0], state.curvatures[0] = (stack.i[p], stack.j[p]), stack.curvature[p]
    for _ in range(2):
        i, j = pairs(rng)
        again, turned = rng.random((2, P)) < [[0.2], [0.5]]  # the direction of before, or its opposite
        here, there = np.where(turned, (stack.j, stack.i), (stack.i, stack.j))
        i, j = np.where(again, here, i), np.where(again, there, j)
        stack.measure(i, j)
        mu, planned = stacked.length(stack)
        expected = np.empty(P)
        for p, state in enumerate(alone):
            state.gap = 1.0  # a run takes no step where a side has no variable
            state.measure(i[p], j[p])
            state.n_candidates = 0
            expected[p] = rules.step.length(state, i[p], j[p])
            assert planned[p] == (state.n_candidates > 0)
        np.testing.assert_array_equal(bits(mu), bits(expected))
        stack.move(mu, planned)
        for p, state in enumerate(alone):
            state.move(i[p], j[p], expected[p])
        same_after_a_move(stack, alone)


def same_after_a_move(stack, alone):
    names = "alpha", "gradient", "largest", "least_curvature", "stalled"
    for name in (*names, "last_step", "last_newton", "last_free", "last_planned"):
        np.testing.assert_array_equal(bits(getattr(stack, name)), bits([getattr(s, name) for s in alone]))
    gap = np.maximum([state.gap for state in alone], 0.0)  # without I_up or I_down there is none, and no top
    np.testing.assert_array_equal(bits(np.maximum(stack.gap, 0.0)), bits(gap))
    runs = gap > 0.0
    np.testing.assert_array_equal(stack.top[runs], np.array([state.top for state in alone])[runs])


def test_two_steps_in_a_row_that_change_nothing_end_a_problem(monkeypatch):
    problems = problems_anywhere(np.random.default_rng(0))
    monkeypatch.setattr(stacked, "length", lambda state: (0.0 * state.i, np.zeros(len(state.i), bool)))
    begun = stacked.StackedStates(problems, KKTGap(1e-9)).gap > 1e-9
    stacked.stacked_steps(problems, chosen_rules(None, None, KKTGap(1e-9)), limit=9)
    assert begun.any()
    assert {*problems.results[begun, CODE]} == {-1.0}
    assert {*problems.results[begun, STEPS]} == {2.0}


@pytest.mark.filterwarnings("ignore:.* encountered in")
@pytest.mark.parametrize("seed", range(4))
def test_steps_along_directions_that_nearly_coincide_are_those_of_the_rule(seed):
    """In wide boxes nothing else forbids the plan, and its first step often goes down to gain with the second."""
    rng, p = np.random.default_rng(seed), np.arange(P)
    X = rng.normal(size=(P, M, 3))
    X[:, 2:4] = X[:, :2] + 10.0 ** rng.uniform(-2.0, 0.0, size=(P, 1, 1)) * rng.normal(size=(P, 2, 3))
    K = X @ X.transpose(0, 2, 1) + 1e-3 * np.eye(M)
    problems = SmallProblems(K, rng.normal(size=(P, M)), np.full((P, M), -1e9), np.full((P, M), 1e9))
    problems.alpha, problems.gradient = np.zeros((P, M)), rng.normal(size=(P, M))
    rules = chosen_rules(SecondOrder(), PlanningAheadStep(), STOPS[0])
    alone = [problems.state(each, rules) for each in range(P)]
    stack = stacked.StackedStates(problems, STOPS[0])
    now, before = np.zeros((2, P), int), np.zeros((2, P), int)
    now[1], before[0], before[1] = 1, 2, 3
    stack.i, stack.j = before
    stack.curvature, stack.last_free = curvatures(K, *before), np.ones(P, bool)
    for each, state in enumerate(alone):
        state.working_sets[0], state.curvatures[0] = (2, 3), stack.curvature[each]
        state.last_free = 1
    turned = stack.gradient[p, 0] < stack.gradient[p, 1]
    i, j = np.where(turned, now[1], now[0]), np.where(turned, now[0], now[1])
    stack.measure(i, j)
    mu, planned = stacked.length(stack)
    for each, state in enumerate(alone):
        state.measure(i[each], j[each])
        state.n_candidates = 0
        assert bits(rules.step.length(state, i[each], j[each])) == bits(mu[each])
        assert planned[each] == (state.n_candidates > 0)
    assert planned.mean() > 0.9
    assert (mu[planned] < 0.0).mean() > 0.05


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
