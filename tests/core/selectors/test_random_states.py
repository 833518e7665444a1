"""The pair that each selector chooses in random states, by trying all pairs; and in open boxes, corners and passes."""

from __future__ import annotations

import numpy as np
import pytest

from refsvm import (
    ConjugateSecondOrder,
    ConjugateStep,
    Greedy,
    HybridMaximumGain,
    ImprovedSMO,
    MaximumGain,
    MostViolatingPair,
    PlanningAheadStep,
    SecondOrder,
)
from refsvm.testing.shipped import SELECTORS

from ...decisions import pair

SEEDS = range(60)
N = 7


class Drawn:
    """A state: α at bounds, next to them and inside; K of rank 4, with twins in it; two earlier working sets."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(N, 4))
        self.K, self.G = factor @ factor.T, rng.normal(size=N)
        if seed % 4 == 1:  # the last example is equal to the first
            self.K[-1, :-1] = self.K[:-1, -1] = self.K[0, :-1]
            self.K[-1, -1] = self.K[0, 0]
        self.lower, self.upper = -rng.uniform(0.2, 1.5, N), rng.uniform(0.2, 1.5, N)
        share = rng.choice([0.0, 1e-3, 0.5, 0.7, 0.999, 1.0], N, p=[0.2, 0.1, 0.2, 0.2, 0.1, 0.2])
        self.alpha = np.where(share == 1.0, self.upper, self.lower + share * (self.upper - self.lower))
        one, other = (rng.permutation(N)[:2].tolist() for _ in range(2))
        self.sets = [one, [one[0], other[1]] if seed % 3 == 0 and other[1] not in one else other]
        self.last_newton = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.5, 2.0))
        self.last_step = float(self.last_newton * rng.choice([0.3, 1.6, 2.4, 3.0, -0.5, -2.0]))
        self.image, self.carried = rng.normal(size=N), float(rng.uniform(0.5, 4.0))
        self.rng = rng

    def q(self, i, j):
        return max(self.K[i, i] + self.K[j, j] - 2.0 * self.K[i, j], 1e-12)

    def room(self, i, j):
        return min(self.upper[i] - self.alpha[i], self.alpha[j] - self.lower[j])

    def newton(self, i, j):
        """ℓ²/q, whatever the box leaves."""
        return (self.G[i] - self.G[j]) ** 2 / self.q(i, j)

    def exact(self, i, j):
        """2(μℓ − ½μ²q) at the best μ of the box."""
        slope, q = self.G[i] - self.G[j], self.q(i, j)
        mu = min(slope / q, self.room(i, j))
        return 2.0 * (mu * slope - 0.5 * mu * mu * q)

    def pairs(self, variables=None):
        """All (i, j) with ℓ > 0 where i may rise and j may fall, with one of these variables in them."""
        return [
            (i, j) for i in range(N) for j in range(N)
            if self.G[i] > self.G[j] and self.room(i, j) > 0.0
            and (variables is None or i in variables or j in variables)
        ]  # fmt: skip

    def violating(self):
        return max(self.pairs(), key=lambda p: self.G[p[0]] - self.G[p[1]], default=(-1, -1))

    def best(self, gain, pairs):
        return max(pairs, key=lambda p: gain(*p), default=(-1, -1))

    def chosen(self, engine, selector, **known):
        return pair(
            engine, selector, self.K, self.G, self.alpha, self.lower, self.upper, working_sets=self.sets,
            curvatures=[self.q(*each) for each in self.sets], **known,
        )  # fmt: skip


def test_the_most_violating_pair(engine):
    for seed in SEEDS:
        drawn = Drawn(seed)
        if seed % 3 == 0:  # ties go to the lowest index of each side
            drawn.G = drawn.G.round()
        assert drawn.chosen(engine, MostViolatingPair()) == drawn.violating(), seed


@pytest.mark.parametrize("planned_range", [0.5, 0.9])
def test_second_order(planned_range, engine):
    """By ℓ²/q, or by the exact gain after a planned step that is farther from Newton's than the range."""
    by_exact = 0
    for seed in SEEDS:
        drawn = Drawn(seed)
        known = {"last_planned": seed % 2, "last_step": drawn.last_step, "last_newton": drawn.last_newton}
        is_far = seed % 2 == 1 and abs(drawn.last_step / drawn.last_newton - 1.0) > planned_range
        gain = drawn.exact if is_far else drawn.newton
        top = drawn.violating()[0]
        mine = [p for p in drawn.pairs() if p[0] == top]
        assert drawn.chosen(engine, SecondOrder(planned_range), **known) == drawn.best(gain, mine), seed
        # without a displacement the conjugate rule is that of ℓ²/q
        assert drawn.chosen(engine, ConjugateSecondOrder()) == drawn.best(drawn.newton, mine), seed
        # two candidates, in whatever order their variables stand: the better of all three
        left = [drawn.rng.permutation(N)[:2].tolist() for _ in range(2)]
        turned = [(a, b) if drawn.G[a] > drawn.G[b] else (b, a) for a, b in left]
        others = [p for p in turned if drawn.room(*p) > 0.0]
        found = drawn.chosen(
            engine, SecondOrder(planned_range), **known, step=PlanningAheadStep(2), candidates=left,
            candidate_curvatures=[drawn.q(*each) for each in left], n_candidates=2,
        )  # fmt: skip
        assert found == drawn.best(gain, [*mine, *others]), seed
        by_exact += is_far and drawn.best(drawn.newton, [*mine, *others]) != found
    assert by_exact > 2


def test_a_step_just_within_the_range_is_near(engine):
    """|0.5/1 − 1| = 0.5 is not above it: ℓ²/q chooses {0, 1} with 4/2, the room of 1 leaves it 0.01·(4 − 0.02)."""
    problem = [1.0] * 3, [2.0, 0.0, 1.0], [0.0, -0.99, 0.0]
    known = {"last_planned": 1, "last_newton": 1.0}
    assert pair(engine, SecondOrder(0.5), *problem, **known, last_step=0.5) == (0, 1)
    assert pair(engine, SecondOrder(0.5), *problem, **known, last_step=0.49) == (0, 2)


def test_conjugate_second_order(engine):
    """By ℓ²/max(q − β²/q_Δ, q/1000)."""
    differs = 0
    for seed in SEEDS:
        drawn = Drawn(seed)

        def gain(i, j, drawn=drawn):
            q, beta = drawn.q(i, j), drawn.image[i] - drawn.image[j]
            return (drawn.G[i] - drawn.G[j]) ** 2 / max(q - beta * beta / drawn.carried, q / 1000.0)

        mine = [p for p in drawn.pairs() if p[0] == drawn.violating()[0]]
        found = drawn.chosen(
            engine, ConjugateSecondOrder(), step=ConjugateStep(), last_free=1, carried_curvature=drawn.carried,
            displacement_image=drawn.image,
        )  # fmt: skip
        assert found == drawn.best(gain, mine), seed
        differs += found != drawn.best(drawn.newton, mine)
    assert differs > 5


def test_the_largest_gain_of_all_pairs(engine):
    """Of a matrix held as an array every row is in memory."""
    for seed in SEEDS:
        drawn = Drawn(seed)
        best = drawn.best(drawn.exact, drawn.pairs())
        assert drawn.chosen(engine, Greedy()) == drawn.chosen(engine, MaximumGain(rows="all")) == best, seed
        expected = drawn.violating() if at_bounds(drawn, 0.0) else best
        assert drawn.chosen(engine, HybridMaximumGain(eta=0.0, rows="all")) == expected, seed


def at_bounds(drawn, eta):
    """Whether both variables of the last set are at a bound, or within η of its width."""
    room = np.minimum(drawn.alpha - drawn.lower, drawn.upper - drawn.alpha)
    return (room <= eta * (drawn.upper - drawn.lower))[drawn.sets[0]].all()


@pytest.mark.parametrize("eta", [0.0, 0.01])
@pytest.mark.parametrize("rows", [1, 2])
def test_the_largest_gain_with_a_variable_of_the_last_set(rows, eta, engine):
    """One row is that of the variable that was new; the hybrid leaves a corner by the most violating pair."""
    cornered = 0
    for seed in SEEDS:
        drawn = Drawn(seed)
        latest, before = drawn.sets
        looked_at = latest if rows == 2 else [latest[1] if latest[0] in before else latest[0]]
        best = drawn.best(drawn.exact, drawn.pairs(looked_at))
        assert drawn.chosen(engine, MaximumGain(rows=rows)) == best, seed
        is_cornered = at_bounds(drawn, eta)
        cornered += is_cornered
        expected = drawn.violating() if is_cornered or best == (-1, -1) else best
        assert drawn.chosen(engine, HybridMaximumGain(eta=eta, rows=rows)) == expected, seed
    assert cornered > 5


NONE = (-1, -1)


def check(engine, selector, expected, *problem, **known):
    assert pair(engine, selector, *problem, **known) == expected


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("G", [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
def test_no_pair_at_the_optimum(selector, G, engine):
    """The largest G of those that may rise is the smallest of those that may fall, or below it."""
    check(engine, selector, NONE, [1.0] * 3, G, [-1.0, 1.0, 1.0])


def test_a_candidate_without_slope_is_none(engine):
    check(
        engine, SecondOrder(), (0, 1), [1.0] * 4, [2.0, 0.0, 1.0, 1.0], step=PlanningAheadStep(),
        candidates=[[2, 3]], candidate_curvatures=[1e-300], n_candidates=1,
    )  # fmt: skip


SETS = {"working_sets": [[0, 1], [2, 3]], "curvatures": [2.0, 2.0]}


@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain(), MaximumGain(rows=1)], ids=repr)
def test_the_first_set_is_the_most_violating_pair(selector, engine):
    check(engine, selector, (3, 2), [1.0, 1.0, 99.0, 1.0], [1.9, 0.1, -2.0, 2.0])
    check(engine, selector, (1, 0), [1.0, 1.0], [0.0, 0.4])


def test_maximum_gain_finds_nothing_in_a_corner(engine):
    """0 can only fall and has the largest G, 1 can only rise and has the smallest; {3, 2} would gain."""
    for selector, expected in ((MaximumGain(), NONE), (HybridMaximumGain(), (3, 2))):
        check(engine, selector, expected, [0.0] * 4, [9.0, -9.0, -2.0, 2.0], [1.0, -1.0, 0.0, 0.0], **SETS)


@pytest.mark.parametrize("eta", [0.0, 1e-8, 0.1])
@pytest.mark.parametrize("lower", [-np.inf, 0.0])
def test_the_hybrid_counts_a_variable_of_an_open_box_as_free_unless_it_is_at_its_bound(lower, eta, engine):
    """The pair that gains most with 0 is {3, 0}; the most violating pair is {3, 2}, which is chosen at the bounds."""
    for alpha in (0.0, 0.5, 5.0):
        is_free = alpha > lower
        check(
            engine, HybridMaximumGain(eta=eta), (3, 0) if is_free else (3, 2), [1.0] * 4, [-1.5, 0.0, -2.0, 2.0],
            [alpha, 0.0, 0.0, 0.0], [lower, 0.0, -0.5, 0.0], [np.inf, np.inf, 1.0, 1.0], **SETS,
        )  # fmt: skip


def test_the_hybrid_goes_on_where_no_reselection_gains(engine):
    """With η = 0 a variable next to its bound is free, and its room is too little to gain in floating point."""
    check(
        engine, HybridMaximumGain(eta=0.0), (3, 2), [1.0] * 4, [9.0, -9.0, -2.0, 2.0], [5e-324, 0.0, -1.0, -1.0],
        [0.0, 0.0, -2.0, -2.0], [5e-324, 0.0, 0.0, 0.0], **SETS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("expected", "scan", "known"),
    [
        ((1, 2), [4.0, 1.0, 0.5], {}),  # the worst pair of those that are known
        (
            (1, 0),
            [4.0, 1.0, 0.5],
            {"stalled": 1},
        ),  # its last step was 0: a pass; of equal violations the one of up
        ((3, 2), [3.0, 1.0, 3.5], {}),  # of the violations of 3 the larger one, 4
        ((1, 2), [3.0, 1.0, 4.5], {}),  # this pass ends, and pairs follow
        ((1, 2), [3.0, 0.0, 7.0], {}),  # no example violates as much: half of the gap
    ],
)
def test_improved_smo_goes_on_where_it_was(expected, scan, known, engine):
    """All four variables are free; memory: up, down, the next example, whether the pass has stepped, 2τ, the count."""
    memory = [-1.0, -1.0, *scan, 0.0]
    check(engine, ImprovedSMO(), expected, [1.0] * 4, [0.0, 3.0, -3.0, 1.0], selector_memory=memory, **known)
