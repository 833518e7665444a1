"""What each stopping rule says in random states, by the sentences of its definition and by trying everything."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

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
from refsvm.core.stopping.loo_duality_gap import HEAD, NEXT, TAKEN, H, best_intercept
from refsvm.core.stopping.midpoint import distances, tangent

from ...balls import proved_sign
from ...decisions import Given, state_of
from ...settings import NUMBA, noisy_classes

if NUMBA:
    from refsvm.compiled.backend import CompiledBackend


def asked(engine, rules, state):
    """What the rule says, and its memory."""
    said = rules.stop.check(state) if engine == "numpy" else max(0, CompiledBackend().steps(state, rules, 0))
    return said, state.stop_memory


class Drawn:
    """K = I and four free variables, so that s = max α − min α, or that of v = G at α = 0; ψ near ε = 2⁻⁷ or at it."""

    tol = 2.0**-7

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.gap = self.tol * rng.choice([1e-3, 0.01, 0.1, 0.5, 1.0, 1.0 + 2.0**-30, 9.0])
        self.G = np.array([0.5, -0.5, 0.0, 0.0]) * self.gap
        self.alpha = rng.choice([0.0, 0.01, 0.3, 9.0]) * rng.normal(size=4)

    def asked(self, engine, rule, **known):
        rules = Rules(Given(), NewtonStep(), rule)
        return asked(engine, rules, state_of(rules, np.ones(4), self.G, self.alpha, -99.0, 99.0, **known))


@pytest.mark.parametrize("unit", [False, True, 10.0])
def test_the_gap_and_its_tolerance(unit, engine):
    """ψ ≤ ε, or ψ ≤ ε min(1, s/u), where s is at least a hundredth of what it first was; both are remembered."""
    seen = Counter()
    for seed in range(100):
        drawn, first, rule = Drawn(seed), 0.0, KKTGap(Drawn.tol, relative=unit)
        known = {}
        if unit and seed % 3 == 0:
            first = drawn.rng.choice([0.2, 40.0, 900.0])
            known = {"stop_memory": np.append(drawn.G + drawn.alpha, [first, drawn.tol])}
        said, memory = drawn.asked(engine, rule, **known)
        s = np.ptp(drawn.alpha) if drawn.alpha.any() else np.ptp(drawn.G)
        first = first or (s if drawn.alpha.any() else 0.0)
        tol = drawn.tol * min(1.0, max(s, 0.01 * first) / float(unit)) if unit else drawn.tol
        expected = 0 if drawn.gap > tol else 2 if tol < drawn.tol else 1
        assert said == expected, seed
        if unit and drawn.gap <= drawn.tol:
            assert memory[-2:].tolist() == pytest.approx([first, tol], rel=1e-12), seed
        seen[said] += 1
    assert min(seen[0], seen[1], seen[2] if unit else 9) > 5


def test_a_short_step_on_a_related_set(engine):
    """The last set and the one before share a variable, and |μ| < ε; both may be missing."""
    seen = Counter()
    for seed in range(150):
        drawn = Drawn(seed)
        sets = [
            drawn.rng.permutation(4)[:2].tolist() if drawn.rng.random() < 0.8 else [-1, -1] for _ in range(2)
        ]
        sets[1] = sets[1] if sets[0][0] >= 0 else [-1, -1]
        step = drawn.tol * drawn.rng.choice([-1.0, 1.0]) * drawn.rng.choice([1e-6, 0.99, 1.0, 99.0])
        related = sets[0][0] >= 0 and bool({*sets[0]} & {*sets[1]})
        expected = 1 if drawn.gap <= drawn.tol else 2 if related and abs(step) < drawn.tol else 0
        assert (
            drawn.asked(engine, WorkingSetGap(drawn.tol), working_sets=sets, last_step=step)[0] == expected
        ), seed
        seen[expected] += 1
    assert min(seen.values()) > 5


def test_the_tolerance_of_restricted_problems():
    rng = np.random.default_rng(0)
    for tol, more in zip(10.0 ** rng.uniform(-5.0, 0.0, 40), 10.0 ** rng.uniform(-1.0, 4.0, 40), strict=True):
        gap = tol * more
        assert KKTGap(tol).restricted_tolerance(gap) == pytest.approx(10.0 * tol if more > 200.0 else tol)
        assert WorkingSetGap(tol).restricted_tolerance(gap) == pytest.approx(gap / 10.0)
        for kind in (BallRule, LOODualityGap):
            assert kind(tol).restricted_tolerance(gap) == pytest.approx(max(gap / 10.0, tol))
        assert StoppingRule.restricted_tolerance(KKTGap(), gap) == gap / 2.0
    assert KKTGap(0.01).restricted_tolerance(2.0) == 0.01


# -- the ball ----------------------------------------------------------------------------------------------------------


def test_distances_allow_for_the_rounding_of_the_kernel():
    """1 + 2 − 2 = 1, 2 + 2 − 4, 4 + 2 − 1; where K is a little too large, nothing is negative."""
    row, diagonal = np.array([1.0, 2.0, 0.5]), np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(distances(row, diagonal, 2.0, 0.0), [1.0, 0.0, 5.0**0.5])
    assert distances(np.array([1.5]), np.array([1.0]), 1.0, 0.0) == [0.0]
    assert distances(np.array([1.0]), np.array([1.0]), 1.0, 0.125) == [0.5]


RNG = np.random.default_rng(1)
X, Y = noisy_classes(16, 2, RNG, noise=0.5)
FULL = DualProblem.classification(X, Y, kernel=RBF(0.5), C=RNG.uniform(0.5, 2.0, 16))
TINY = float(np.finfo(float).tiny)
SOLVED = solve(FULL, stop=KKTGap(1e-9), engine="numpy")


def begun(problem, rule, steps=0):
    """A state some steps from α = 0, with the rule that has not been asked yet."""
    rules, alpha = Rules(MostViolatingPair(), NewtonStep(), rule), np.zeros(problem.n)
    if steps:
        options = {"selector": MostViolatingPair(), "engine": "numpy", "shrinking": False}
        alpha = solve(problem, max_iter=steps, **options).alpha
    return rules, rules.begin(problem, alpha, row_store(problem, rules, 200.0))


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
@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**40])
@pytest.mark.parametrize("r", [0, 3, 7, 11])
def test_eta_moves_where_it_gains_most(r, unit, variables, engine):
    """From α on, once for each step of α and once more, also for steps at which it was not asked; in any unit of K."""
    K, left_out = FULL.gram.block(np.arange(16)), FULL.without(r)
    box, rule = (left_out.lower / unit, left_out.upper / unit), LOODualityGap(1e-9, variables=variables)
    problem = DualProblem(Gram(Precomputed(), unit * K), FULL.v, 0.0, *box)
    eta, rules = begun(left_out, rule, 3)[1].alpha, Rules(MostViolatingPair(), NewtonStep(), rule)
    state = rules.begin(problem, eta / unit, row_store(problem, rules, 200.0))
    away, before = K - K[r] - K[:, [r]] + K[r, r], -1
    for state.iteration in (0, 1, 2, 5):
        said, memory = asked(engine, rules, state)
        for _ in range(state.iteration - before):
            eta = ascent(K, left_out.v, left_out.lower, left_out.upper, r, eta, variables)
        assert said == 0
        np.testing.assert_allclose(unit * memory[HEAD : HEAD + 16], eta, rtol=0, atol=1e-12)
        np.testing.assert_allclose(memory[HEAD + 16 : HEAD + 32], left_out.v - away @ eta, rtol=0, atol=1e-12)
        assert unit * memory[H] == pytest.approx(left_out.v @ eta - 0.5 * eta @ away @ eta, rel=1e-12)
        before, known = state.iteration, memory.copy()
        assert asked(engine, rules, state)[0] == 0  # asked again it does nothing
        np.testing.assert_array_equal(state.stop_memory, known)
    # where nothing gains any more it stays
    memory[HEAD + 16 : HEAD + 32] = 0.0
    state.iteration += 1
    eta = memory[HEAD : HEAD + 16].copy()
    np.testing.assert_array_equal(asked(engine, rules, state)[1][HEAD : HEAD + 16], eta)


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


@pytest.mark.parametrize("examples", [2, 9, 200])
@pytest.mark.parametrize("width", [1e-3, 1.0, 1e3])
def test_the_last_tangent_is_where_the_others_predict_the_value(examples, width, monkeypatch):
    """There is no tangent after the one that says what was predicted, and none before says that."""
    rng = np.random.default_rng(examples)
    for _ in range(20):
        G, y = width * rng.normal(size=examples), np.where(np.arange(examples) % 2, 1.0, -1.0)
        C = rng.uniform(0.1, 3.0, examples)
        lower, upper = np.where(y < 0, -C, 0.0), np.where(y > 0, C, 0.0)
        # P is piecewise linear with corners at the Gᵢ; of one class nothing is lost at its end
        corners = [np.maximum(upper * (G - b), lower * (G - b)).sum() for b in G]
        assert best_intercept(G, 0.0 * C, C, G.min(), G.max()) == (G.max(), 0.0)
        assert best_intercept(G, -C, 0.0 * C, G.min(), G.max()) == (G.min(), 0.0)
        low, high = float(G.min()) - width, float(G.max()) + width
        asked = []

        def counted(G, lower, upper, b, asked=asked):
            asked.append((b, *tangent(G, lower, upper, b)))
            return asked[-1][1:]

        monkeypatch.setattr(loo_duality_gap, "tangent", counted)
        b, value = best_intercept(G, lower, upper, low, high)
        assert value == pytest.approx(min(corners), rel=1e-11)
        assert np.maximum(upper * (G - b), lower * (G - b)).sum() == pytest.approx(value, rel=1e-12)
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
