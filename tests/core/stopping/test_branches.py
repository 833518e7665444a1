"""What each stopping rule says at a point, worked out by hand for every branch of its body, on both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from refsvm import (
    RBF,
    BallRule,
    DualProblem,
    KKTGap,
    LOODualityGap,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    StoppingRule,
    WorkingSetGap,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.solver.rules import Rules, row_store
from refsvm.core.stopping import loo_duality_gap
from refsvm.core.stopping.ball_rule import LAST
from refsvm.core.stopping.base import validated_code
from refsvm.core.stopping.loo_duality_gap import HEAD, NEXT, TAKEN, H, best_intercept
from refsvm.core.stopping.midpoint import certain_sign, distances, gap, tangent

from ...balls import proved_sign
from ...decisions import code
from ...settings import NUMBA

if NUMBA:
    from refsvm.compiled.backend import CompiledBackend

PLAIN = [1.0] * 4
WIDE = [0.5, -0.5, 0.0, 0.0]  # ψ = 1 between 0 and 1


@pytest.mark.parametrize(("tol", "expected"), [(1.0, 1), (0.999, 0), (2.0, 1)])
@pytest.mark.parametrize("rule", [KKTGap, WorkingSetGap])
def test_the_gap_is_at_most_the_tolerance(rule, tol, expected, engine):
    assert code(engine, rule(tol), PLAIN, WIDE) == expected


SETS = {
    "i is i": ([[0, 1], [0, 2]], 1e-9, 2),
    "i is j": ([[0, 1], [2, 0]], 1e-9, 2),
    "j is i": ([[0, 1], [1, 2]], 1e-9, 2),
    "j is j": ([[0, 1], [2, 1]], 1e-9, 2),
    "the same set": ([[0, 1], [0, 1]], 1e-9, 2),
    "downhill": ([[0, 1], [0, 2]], -1e-9, 2),
    "unrelated": ([[0, 1], [2, 3]], 1e-9, 0),
    "the first set": ([[0, 1], [-1, -1]], 1e-9, 0),
    "no set": ([[-1, -1], [-1, -1]], 0.0, 0),
    "as long as the tolerance": ([[0, 1], [0, 2]], 1e-3, 0),
    "just below the tolerance": ([[0, 1], [0, 2]], 0.99e-3, 2),
    "long and downhill": ([[0, 1], [0, 2]], -1.0, 0),
}


@pytest.mark.parametrize("name", SETS)
def test_a_short_step_on_a_related_set(name, engine):
    sets, step, expected = SETS[name]
    assert code(engine, WorkingSetGap(1e-3), PLAIN, WIDE, working_sets=sets, last_step=step) == expected


# K = I, so v − G = α, and s = max α − min α; ψ = 0.005, ε = 0.01
RELATIVE = {
    "s ≥ 1": ([0.6, -0.6, 0.0], 0.0, 1),
    "s = 0.6": ([0.3, -0.3, 0.0], 0.0, 2),
    "s = 0.4": ([0.2, -0.2, 0.0], 0.0, 0),
    "the first s was 60": ([0.2, -0.2, 0.0], 60.0, 2),
    "the first s was 40": ([0.1, -0.1, 0.0], 40.0, 0),
    "nothing has moved": ([0.0, 0.0, 0.0], 0.0, 0),  # s is the range of v = G
}


@pytest.mark.parametrize("name", RELATIVE)
def test_a_tolerance_relative_to_the_decision_values(name, engine):
    alpha, first, expected = RELATIVE[name]
    G = [0.0025, -0.0025, 0.0]
    memory = np.append(np.array(G) + alpha, [first, 0.01])
    rule = KKTGap(0.01, relative=True)
    assert code(engine, rule, [1.0] * 3, G, alpha, stop_memory=memory) == expected
    # a gap above ε needs no s
    far = [0.006, -0.006, 0.0], [9.0, -9.0, 0.0]
    assert code(engine, rule, [1.0] * 3, *far, -99.0, 99.0, stop_memory=memory) == 0


def test_the_first_range_of_the_decision_values_is_remembered(engine):
    """And what the gap was compared with; at α = 0 there is no range yet."""
    problem = DualProblem(
        Gram(Precomputed(), np.eye(3)), np.array([0.3, -0.3, 0.0]), 0.0, -np.ones(3), np.ones(3)
    )
    rule = KKTGap(0.01, relative=True)
    for alpha, first in (([0.0, 0.0, 0.0], 0.0), ([0.3, -0.3, 0.0], 0.6)):
        rules = Rules(MostViolatingPair(), NewtonStep(), rule)
        state = rules.begin(problem, np.array(alpha), row_store(problem, rules, 200.0))
        _, memory = asked(engine, rules, state)
        assert memory[-2] == pytest.approx(first)
        assert memory[-1] == pytest.approx(0.01 * (first or 1.0))


@pytest.mark.parametrize(
    ("rule", "gap", "tolerance"),
    [
        (KKTGap(0.01), 2.1, 0.1),
        (KKTGap(0.01), 2.0, 0.01),
        (KKTGap(0.01), 0.02, 0.01),
        (WorkingSetGap(0.01), 2.0, 0.2),
        (BallRule(0.01), 2.0, 0.2),
        (BallRule(0.01), 0.05, 0.01),
        (LOODualityGap(0.01), 2.0, 0.2),
        (LOODualityGap(0.01), 0.05, 0.01),
    ],
)
def test_the_tolerance_of_restricted_problems(rule, gap, tolerance):
    assert rule.restricted_tolerance(gap) == pytest.approx(tolerance)


# -- the ball ----------------------------------------------------------------------------------------------------------

SIGNS = (
    # c − reach … c + reach of the three others, v, U (of v = 1) or −L (of v = −1) are all 1 unless said
    ("one is short for sure, the other two are not", [0, 0, 0, 0], [0, 0.5, 2, 0.5], [1, 1, -1, -1], 1, 0),
    ("the positive ones are short for sure", [0, 0, 0, -3], [0, 0.5, 0.5, 0.5], [1, 1, 1, -1], 1, 1),
    ("the negative ones are beyond for sure", [0, 3, 0, 0], [0, 0.5, 0.5, 0.5], [1, 1, -1, -1], 1, -1),
    ("as many on both sides", [0, 0, 0, 0], [0, 0.1, 0.1, 0.1], [1, 1, -1, -1], [1, 2, 1, 1], 0),
    ("at the margin is not short", [0, 0.5, 0, -3], [0, 0.5, 9, 0.5], [1, 1, 1, -1], 1, 0),
    ("at the margin is not beyond", [0, 3, -0.5, 3], [0, 0.5, 0.5, 9], [1, 1, -1, -1], 1, 0),
)


@pytest.mark.parametrize("case", SIGNS, ids=lambda case: case[0])
def test_a_certain_sign(case):
    """Example 0 is left out."""
    centre, reach, v = (np.array(each, dtype=float) for each in case[1:4])
    C = np.broadcast_to(case[4], 4).astype(float)
    C[0] = 0.0
    lower, upper = np.where(v < 0, -C, 0.0), np.where(v > 0, C, 0.0)
    # a large ball of small distances: what one variable proves alone is nothing, and the sums decide
    rho, box = 1e6, (np.where(v > 0.0, upper, lower), lower, upper)
    assert certain_sign(v - centre, reach / rho, rho**2, 0.0, *box) == case[5]
    # the same from the other side
    box = tuple(-box[k] for k in (0, 2, 1))
    assert certain_sign(centre - v, reach / rho, rho**2, 0.0, *box) == -case[5]


@pytest.mark.parametrize(("t", "apart", "a", "proved"), [
    (1.5, 1.0, 4.0, True), (0.9, 1.0, 4.0, False),  # ½aD ≥ ρ = 1: t > ρD
    (2.6, 1.0, 0.5, True), (2.0, 1.0, 0.5, False),  # t > ρD + (1 − ¼)²/½ = 2.125
    (0.6, 0.0, 2.0, True), (0.4, 0.0, 2.0, False),  # t > ρ²/a
    (1e9, 0.0, 0.0, False),
])  # fmt: skip
def test_one_variable_with_room_proves_a_sign(t, apart, a, proved):
    """Whatever the others weigh; and as far as rounding does not matter."""
    values, distance = np.array([t, -3.0, 2.0]), np.array([apart, 9.0, 9.0])
    alpha, lower, upper = (
        np.array([1.0, -2.0, 0.0]),
        np.array([0.0, -2.0, -9.0]),
        np.array([1.0 + a, 0.0, 0.0]),
    )
    for sign, box in ((1, (alpha, lower, upper)), (-1, (-alpha, -upper, -lower))):
        assert certain_sign(sign * values, distance, 1.0, 0.0, *box) == sign * proved
        assert certain_sign(sign * values, distance, 1.0, 0.6, *box) == 0


def test_the_gap_the_distances_and_the_tangent():
    alpha, lower, upper = np.array([1.0, 0.0, -0.5]), np.array([0.0, 0.0, -1.0]), np.array([1.0, 2.0, 0.0])
    # 0·0.5 + 1·0, 2·0.25, 0.5·1: at its upper bound, below, and free
    assert gap(alpha, np.array([0.5, 0.25, -1.0]), lower, upper, 0.0) == pytest.approx(0.0 + 0.5 + 0.5)
    # each may be 0.1 further: 1·0, 2·0.35, 0.5·1.1
    assert gap(alpha, np.array([0.5, 0.25, -1.0]), lower, upper, 0.1) == pytest.approx(0.7 + 0.55)
    assert gap(alpha, np.array([0.05, 0.25, -1.0]), lower, upper, 0.1) == pytest.approx(0.05 + 0.7 + 0.55)
    row, diagonal = np.array([1.0, 2.0, 0.5]), np.array([1.0, 2.0, 4.0])
    # 1 + 2 − 2 = 1, 2 + 2 − 4, 4 + 2 − 1
    np.testing.assert_allclose(distances(row, diagonal, 2.0, 0.0), [1.0, 0.0, 5.0**0.5])
    assert distances(np.array([1.5]), np.array([1.0]), 1.0, 0.0) == [0.0]
    assert distances(np.array([1.0]), np.array([1.0]), 1.0, 0.125) == [0.5]
    # Σ max(U(G − b), L(G − b)) and −Σ U where G > b, −Σ L elsewhere: b = 1
    value = tangent(np.array([3.0, 1.0, -1.0]), np.array([0.0, -2.0, -3.0]), np.array([5.0, 0.0, 0.0]), 1.0)
    assert value == (5.0 * 2.0 + 3.0 * 2.0, -5.0 + 2.0 + 3.0)


RNG = np.random.default_rng(1)
X = RNG.normal(size=(16, 2))
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=16) > 0.0, 1, -1)
FULL = DualProblem.classification(X, Y, kernel=RBF(0.5), C=RNG.uniform(0.5, 2.0, 16))
TINY = float(np.finfo(float).tiny)
SOLVED = solve(FULL, stop=KKTGap(1e-9), engine="numpy")


def begun(problem, rule, steps=0):
    """A state some steps from α = 0, with the rule that has not been asked yet."""
    rules = Rules(MostViolatingPair(), NewtonStep(), rule)
    alpha, options = (
        np.zeros(problem.n),
        {"selector": MostViolatingPair(), "engine": "numpy", "shrinking": False},
    )
    if steps:
        alpha = solve(problem, max_iter=steps, **options).alpha
    return rules, rules.begin(problem, alpha, row_store(problem, rules, 200.0))


def asked(engine, rules, state):
    """What the rule says, and its memory."""
    said = rules.stop.check(state) if engine == "numpy" else max(0, CompiledBackend().steps(state, rules, 0))
    return said, state.stop_memory


@pytest.mark.parametrize("steps", [1, 4, 8, 14, 20, 30])
def test_the_ball_proves_what_one_of_two_balls_does(steps, engine):
    """That around w and w̃, and, at a gap of at most 0.03, that around w̃ alone."""
    found = set()
    for r in range(16):
        problem = FULL.without(r)
        rules, state = begun(problem, BallRule(1e-9, solved=SOLVED), steps)
        sign = proved_sign(FULL, r, SOLVED.alpha, SOLVED.intercept, state.alpha)
        if not sign and state.gap <= 0.03:
            G = state.gradient
            b = 0.5 * (G[state.top] + G[state.bottom])
            sign = proved_sign(FULL, r, state.alpha, b, state.alpha)
        expected = 1 if state.gap <= 1e-9 else {1: 2, -1: 3, 0: 0}[sign]
        assert asked(engine, rules, state)[0] == expected
        found.add(sign)
    assert len(found) == 3 or steps < 14


def test_of_several_left_out_examples_all_have_to_be_proved(engine):
    """4 where all are, and the decision values have their signs."""
    sure = []
    for r in range(16):
        rules, state = begun(FULL.without(r), BallRule(1e-9, solved=SOLVED), 40)
        sure.append(asked("numpy", rules, state)[0])
    proved, open_ones = np.flatnonzero(sure), np.flatnonzero(np.array(sure) == 0)
    assert min(len(proved), len(open_ones)) > 0
    pair = [int(each) for each in np.flatnonzero(SOLVED.alpha == 0.0)[:2]]
    assert len(pair) == 2
    rules, state = begun(FULL.without(pair), BallRule(1e-9, solved=SOLVED), 40)
    assert asked(engine, rules, state)[0] == 4
    rules, state = begun(FULL.without([pair[0], int(open_ones[0])]), BallRule(1e-9, solved=SOLVED), 3)
    assert asked(engine, rules, state)[0] == 0


def test_the_ball_is_tested_when_it_is_due(engine):
    """Not again at the same point, nor before `every` steps, or a sixteenth, nor before ψ is 0.7 times that before."""
    r = next(
        r for r in range(16) if proved_sign(FULL, r, SOLVED.alpha, SOLVED.intercept, 0.0 * SOLVED.alpha) == 0
    )
    for taken, every, due in ((0, 5, 5), (90, 5, 5), (160, 5, 10), (160, 12, 12)):
        rules, state = begun(FULL.without(r), BallRule(1e-9, every=every, solved=SOLVED))
        state.iteration = taken
        assert asked(engine, rules, state)[0] == 0
        exact = solve(FULL.without(r), stop=KKTGap(1e-7), engine="numpy")
        state.alpha[:], state.gradient[:] = exact.alpha, exact.gradient
        state.refresh(recompute=False)
        for later, looked in ((0, False), (due - 1, False), (due, True)):
            state.iteration = taken + later
            if looked:
                state.stop_memory[LAST] = state.gap / 0.71
                assert asked(engine, rules, state)[0] == 0
                state.stop_memory[LAST] = state.gap / 0.69
            assert (asked(engine, rules, state)[0] in (2, 3)) == looked


# -- the leave-one-out duality gap -------------------------------------------------------------------------------------


def ascent(K, v, lower, upper, r, eta, variables):
    """η after moving the ηᵢ of the largest gain, and the ηₜ that gains most with it, by trying all; from K′ itself."""
    away = K - K[r] - K[:, [r]] + K[r, r]
    g, best = v - away @ eta, (0.0, eta)

    def gain(d):
        return d @ g - 0.5 * d @ away @ d

    unit = np.eye(len(v))
    for i in range(len(v)):
        d = np.clip(g[i] / max(away[i, i], 1e-12), lower[i] - eta[i], upper[i] - eta[i]) * unit[i]
        if gain(d) > best[0] * (1.0 + 1e-12):
            best, first = (gain(d), eta + d), i
    if best[0] == 0.0 or variables == 1:
        return best[1]
    i = first
    for t in range(len(v)):
        q, k = away[[i, t], [i, t]], away[i, t]
        if q[0] * q[1] - k * k <= 1e-10 * q[0] * q[1] or t == i:
            continue
        low, high = (lower - eta)[[i, t]], (upper - eta)[[i, t]]
        one = np.clip((q[1] * g[i] - k * g[t]) / (q[0] * q[1] - k * k), low[0], high[0])
        other = np.clip((g[t] - k * one) / q[1], low[1], high[1])
        one = np.clip((g[i] - k * other) / q[0], low[0], high[0])
        d = one * unit[i] + other * unit[t]
        if gain(d) > best[0] * (1.0 + 1e-12):
            best = gain(d), eta + d
    return best[1]


@pytest.mark.parametrize("variables", [1, 2])
@pytest.mark.parametrize("r", [0, 3, 7, 11])
def test_eta_moves_where_it_gains_most(r, variables, engine):
    """From α on, once for each step of α and once more."""
    problem, K = FULL.without(r), FULL.gram.block(np.arange(16))
    rules, state = begun(problem, LOODualityGap(1e-9, variables=variables), 3)
    eta = state.alpha.copy()
    for taken in range(3):
        state.iteration = taken
        said, memory = asked(engine, rules, state)
        eta = ascent(K, problem.v, problem.lower, problem.upper, r, eta, variables)
        assert said == 0
        np.testing.assert_allclose(memory[HEAD : HEAD + 16], eta, rtol=0, atol=1e-12)
        away = K - K[r] - K[:, [r]] + K[r, r]
        np.testing.assert_allclose(memory[HEAD + 16 : HEAD + 32], problem.v - away @ eta, rtol=0, atol=1e-12)
        assert memory[H] == pytest.approx(problem.v @ eta - 0.5 * eta @ away @ eta, rel=1e-12)
        before = memory.copy()
        assert asked(engine, rules, state)[0] == 0  # asked again it does nothing
        np.testing.assert_array_equal(state.stop_memory, before)


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_the_partner_of_eta_is_the_same_in_any_unit_of_the_kernel(unit, engine):
    """With K in other units η is that of before in the inverse unit: all values are multiplied by powers of 2."""
    K, r = FULL.gram.block(np.arange(16)), 3
    scaled = DualProblem(
        Gram(Precomputed(), unit * K), FULL.v, 0.0, FULL.lower / unit, FULL.upper / unit
    ).without(r)
    _, state = begun(FULL.without(r), LOODualityGap(1e-9), 3)
    rules = Rules(MostViolatingPair(), NewtonStep(), LOODualityGap(1e-9))
    other = rules.begin(scaled, state.alpha / unit, row_store(scaled, rules, 200.0))
    eta, problem = state.alpha.copy(), FULL.without(r)
    for taken in range(3):
        other.iteration = taken
        memory = asked(engine, rules, other)[1]
        eta = ascent(K, problem.v, problem.lower, problem.upper, r, eta, 2)
        np.testing.assert_allclose(unit * memory[HEAD : HEAD + 16], eta, rtol=0, atol=1e-12)


@pytest.mark.parametrize("variables", [1, 2])
def test_eta_makes_up_for_the_steps_at_which_it_was_not_asked(variables, engine):
    """Asked at the first step and at the fourth it moves as often as if it had been asked at each."""
    problem, K = FULL.without(3), FULL.gram.block(np.arange(16))
    rules, state = begun(problem, LOODualityGap(1e-9, variables=variables), 3)
    eta = state.alpha.copy()
    for _ in range(4):
        eta = ascent(K, problem.v, problem.lower, problem.upper, 3, eta, variables)
    for state.iteration in (0, 3):
        assert asked(engine, rules, state)[0] == 0
    np.testing.assert_allclose(state.stop_memory[HEAD : HEAD + 16], eta, rtol=0, atol=1e-12)


@pytest.mark.parametrize("steps", [0, 1, 4, 9])
@pytest.mark.parametrize("r", [0, 3, 7])
def test_the_sign_has_to_be_that_of_the_intercept_midway_too(r, steps, monkeypatch):
    """F is far below H here, so that the signs at b̂ and at (low + high)/2 alone decide."""
    monkeypatch.setattr(loo_duality_gap, "gap", lambda *_: -1e9)
    _, state = begun(FULL.without(r), rule := LOODualityGap(1e-3, example=r), steps)
    rule.check(state)
    decided, h = loo_duality_gap._decided, state.problem.v[r] - state.gradient[r]
    top, bottom = state.top, state.bottom
    for low, high in ((-1.0, 1.0), (-0.7, -0.2), (0.3, 0.9), (0.4, -0.8), (-2.0, 3.0)):
        state.gradient[bottom], state.gradient[top] = low, high
        h = state.problem.v[r] - state.gradient[r]
        for b in (-h - 1.0, -h + 1.0, 0.5 * (low + high), low, high):
            monkeypatch.setattr(loo_duality_gap, "best_intercept", lambda *_, b=b: (b, -1e9))
            ends = h + b, h + 0.5 * (low + high)
            assert decided(state) == (min(ends) > 1e-9 or max(ends) < -1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_intercept_by_trying_all_corners(seed):
    """P is piecewise linear with corners at the Gᵢ."""
    rng = np.random.default_rng(seed)
    G, y = rng.normal(size=9), np.where(rng.random(9) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    C = rng.uniform(0.1, 3.0, 9)
    lower, upper = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
    values = [np.maximum(upper * (G - b), lower * (G - b)).sum() for b in G]
    b, value = best_intercept(G, lower, upper, float(G.min()) - 1.0, float(G.max()) + 1.0)
    assert value == pytest.approx(min(values), rel=1e-12)
    assert G.min() <= b <= G.max()
    assert np.maximum(upper * (G - b), lower * (G - b)).sum() == pytest.approx(value, rel=1e-12)


def test_the_best_intercept_of_one_class_is_at_the_end():
    """Where nothing is lost: at the largest G of those with v = 1, at the smallest of the others."""
    G, one = np.array([0.5, -1.0, 2.0, 0.0]), np.ones(4)
    assert best_intercept(G, 0.0 * one, one, -1.0, 2.0) == (2.0, 0.0)
    assert best_intercept(G, -one, 0.0 * one, -1.0, 2.0) == (-1.0, 0.0)


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**20])
def test_the_best_intercept_takes_as_many_tangents_in_any_unit(unit, monkeypatch):
    rng = np.random.default_rng(3)
    G, y = rng.normal(size=40), np.where(np.arange(40) % 2, 1.0, -1.0)
    lower, upper = np.where(y < 0, -1.0, 0.0), np.where(y > 0, 1.0, 0.0)
    found = []
    for u in (1.0, unit):
        cuts = []
        monkeypatch.setattr(loo_duality_gap, "tangent", lambda *all_of: cuts.append(1) or tangent(*all_of))  # noqa: B023
        b, value = best_intercept(u * G, lower, upper, u * float(G.min()), u * float(G.max()))
        found.append((b / u, value / u, len(cuts)))
    assert found[0] == found[1]


@pytest.mark.parametrize("examples", [2, 9, 200])
@pytest.mark.parametrize("width", [1e-3, 1.0, 1e3])
def test_the_last_tangent_is_where_the_others_predict_the_value(examples, width, monkeypatch):
    """There is no tangent after the one that says what was predicted, and none before says that."""
    rng = np.random.default_rng(examples)
    for _ in range(20):
        G, y = width * rng.normal(size=examples), np.where(np.arange(examples) % 2, 1.0, -1.0)
        C = rng.uniform(0.1, 3.0, examples)
        lower, upper = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
        low, high = float(G.min()) - width, float(G.max()) + width
        asked = []

        def counted(G, lower, upper, b, asked=asked):
            asked.append((b, *tangent(G, lower, upper, b)))
            return asked[-1][1:]

        monkeypatch.setattr(loo_duality_gap, "tangent", counted)
        _, value = best_intercept(G, lower, upper, low, high)
        assert value == pytest.approx(min(tangent(G, lower, upper, each)[0] for each in G), rel=1e-11)
        (a, left, s), (c, right, r) = asked[:2]
        for at, found, slope in asked[2:]:
            assert (
                found - max(left + s * (at - a), right + r * (at - c)) > 1e-13 * found or at == asked[-1][0]
            )
            if slope < 0.0:
                a, left, s = at, found, slope
            else:
                c, right, r = at, found, slope
        assert len({at for at, *_ in asked}) == len(asked)


def test_the_search_for_the_best_intercept_ends_after_64_tangents(monkeypatch):
    """Of b² those at two points meet midway: each is as far from what it predicts as the one before, relatively."""
    found = []
    monkeypatch.setattr(
        loo_duality_gap, "tangent", lambda *given: found.append(given[-1]) or (given[-1] ** 2, 2 * given[-1])
    )
    nothing = np.zeros(1)
    assert best_intercept(nothing, nothing, nothing, -1.0, 2.0)[0] == min(found, key=abs)
    assert len(found) == 2 + 64


@pytest.mark.parametrize(("above", "due"), [(-1.0, 0), (0.0, 0), (1.0, 15)])
def test_f_is_due_ten_steps_after_it_was_compared_with_h(above, due):
    """While H is at most f(α), which F is not below, nothing is compared."""
    rules, state = begun(FULL.without(3), LOODualityGap(1e-9), 3)
    state.iteration = 5
    state.stop_memory[[TAKEN, H]] = 6.0, state.objective + above
    assert asked("numpy", rules, state)[0] == 0
    assert state.stop_memory[NEXT] == due


def test_a_rule_knows_the_solution_it_is_given():
    rule = BallRule().with_reference(SOLVED)
    assert rule.solved is SOLVED
    assert replace(rule, solved=None) == BallRule()
    assert LOODualityGap().with_reference(SOLVED) == LOODualityGap()


@pytest.mark.parametrize(
    ("rule", "place", "value", "outcome"),
    [
        (BallRule(), 0, -0.5, ("kkt", -0.5)),
        (BallRule(), 1, 0.5, ("ball", 0.5)),
        (BallRule(), 2, -0.5, ("ball", -0.5)),
        (BallRule(), 1, -0.5, ("ball", TINY)),
        (BallRule(), 2, 0.5, ("ball", -TINY)),
        (LOODualityGap(), 0, 0.5, ("kkt", 0.5)),
        (LOODualityGap(), 1, 0.5, ("duality gap", 0.5)),
        (KKTGap(), 0, 0.5, ("kkt", 0.5)),
    ],
)
def test_what_decided_a_round(rule, place, value, outcome):
    assert rule.outcome(rule.reasons[place], value) == outcome


@dataclass(frozen=True)
class Saying(StoppingRule):
    """Always the same code."""

    reasons: ClassVar[tuple[str, ...]] = ("first", "second")
    code: Any = 0

    def check(self, state):
        return self.code


@pytest.mark.parametrize("said", [1, 2, np.int64(2), 1.0, np.float64(2.0), True, np.True_])
def test_a_code_is_any_whole_number_of_a_reason(said):
    problem = DualProblem.classification(X, Y, kernel=RBF(0.5))
    solution = solve(problem, stop=Saying(said), engine="numpy", shrinking=False)
    assert (solution.iterations, solution.reason) == (0, Saying.reasons[int(said) - 1])
    assert validated_code(Saying(), said) == int(said)


@pytest.mark.parametrize("said", [3, -1, 1.5, "1", None, np.nan])
def test_a_code_that_is_none_is_refused(said):
    with pytest.raises(ValueError, match=r"check\(\) returned .*; expected a whole number from 0 to 2"):
        validated_code(Saying(), said)
