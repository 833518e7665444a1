"""What the papers prove about working sets and steps, checked on their examples, the catalogue and random problems.

HMG is T. Glasmachers and C. Igel, "Maximum-gain working set selection for SVMs", JMLR 7, 2006; PA is T. Glasmachers,
"The planning-ahead SMO algorithm", 2008.
"""

from __future__ import annotations

import itertools
import os
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    Solution,
    Status,
    solve,
)
from refsvm.datasets import make_banana, make_chessboard
from refsvm.kernels import Gram
from refsvm.kernels.rows import KernelRows
from refsvm.problem import most_violating_pair
from refsvm.selectors.gain import exact_gain
from refsvm.solver.rules import Rules
from refsvm.solver.start import starting_point
from refsvm.state import SolverState

from .catalogue import PROBLEMS, combinations
from .settings import FAST, INTERPRETED

ALL_CASES = os.environ.get("REFSVM_ALL_CASES", "0") not in ("", "0")
"""Whether Lemma 8 is checked on every case for the selectors themselves, which takes minutes."""

LIMIT = 100 if FAST == "numpy" or INTERPRETED else 300
COMBINATIONS = list(combinations())
BOARD, BANANA = make_chessboard(100, rng=0), make_banana(100, rng=0)


def classification(data, C, gamma) -> DualProblem:
    return DualProblem.classification(data.X, data.y, kernel=RBF(gamma), C=C)


def random_problem(seed: int) -> DualProblem:
    """Random size, box, v and Gram matrix: of any rank, of any scale, some variables fixed, some duplicated."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 41))
    factor = rng.normal(size=(n, rng.integers(1, n + 1))) * 10.0 ** rng.uniform(-1, 1)
    factor[: n // 4] = factor[-1 - n // 4 : -1]
    width = rng.uniform(size=n) * 10.0 ** rng.uniform(-1, 2)
    width[rng.random(n) < 0.1] = 0.0
    lower = -width * rng.random(n)
    z = float(lower.sum() + rng.random() * width.sum())
    return DualProblem(Gram(Precomputed(), factor @ factor.T), rng.normal(size=n), z, lower, lower + width)


@dataclass(frozen=True, eq=False)
class Replay:
    """The steps of a solve, their gains computed from K and v alone: f(α + μd) − f(α) = μ dᵀG − ½ μ² dᵀKd."""

    solution: Solution

    @cached_property
    def rows(self) -> np.ndarray:
        return self.solution.trace.rows

    @cached_property
    def kernel(self) -> np.ndarray:
        return self.solution.problem.gram.block(np.arange(self.solution.problem.n))

    @cached_property
    def alpha(self) -> np.ndarray:
        """α before each step, (steps, n)."""
        problem, rows = self.solution.problem, self.rows
        moves = np.zeros((len(rows) + 1, problem.n))
        moves[0] = starting_point(problem, None)
        t = np.arange(1, len(rows) + 1)
        moves[t, rows["i"]] += rows["step"]
        moves[t, rows["j"]] -= rows["step"]
        return np.cumsum(moves, axis=0)[:-1]

    @cached_property
    def slope(self) -> np.ndarray:
        G, t = self.solution.problem.v - self.alpha @ self.kernel, np.arange(len(self.rows))
        return G[t, self.rows["i"]] - G[t, self.rows["j"]]

    @cached_property
    def curvature(self) -> np.ndarray:
        i, j, K = self.rows["i"], self.rows["j"], self.kernel
        return K[i, i] + K[j, j] - 2.0 * K[i, j]

    @cached_property
    def gain(self) -> np.ndarray:
        mu = self.rows["step"]
        return mu * self.slope - 0.5 * mu**2 * self.curvature

    @cached_property
    def rounding(self) -> np.ndarray:
        """How much of a gain may be rounding: G is known to the precision of its largest summand."""
        largest = (
            np.abs(self.solution.problem.v).max()
            + np.abs(self.alpha).max(initial=0.0) * np.abs(self.kernel).max()
        )
        return 1e-13 * np.sqrt(len(self.rows) + 1) * largest * np.abs(self.rows["step"])

    @cached_property
    def planned(self) -> np.ndarray:
        return self.rows["planned"] == 1

    @cached_property
    def free(self) -> np.ndarray:
        return self.rows["free"] == 1


def replay(problem: DualProblem, limit: int = LIMIT, **options) -> Replay:
    settings = {"step": NewtonStep(), "engine": FAST, "shrinking": False, "trace": True, "max_iter": limit}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The kernel is not positive semi-definite")
        return Replay(solve(problem, **(settings | options)))


# -- HMG, Theorem 7: maximum gain alone may stall --------------------------------------------------------------

ROOT = np.sqrt(3.0)
Q = np.array([[2, ROOT, 1, ROOT], [ROOT, 4, ROOT, 3], [1, ROOT, 2, ROOT], [ROOT, 3, ROOT, 4]])
FOUR = np.array([-1, -1, 1, 1])


def four_points(C: float) -> DualProblem:
    """The example of Theorem 7, which prints Q and C = 1/10; K = yyᵀ∘Q."""
    return DualProblem.classification(np.outer(FOUR, FOUR) * Q, FOUR, kernel=Precomputed(), C=C)


def test_the_matrix_of_theorem_7_is_the_printed_one():
    np.testing.assert_allclose(np.linalg.eigvalsh(Q), [1, 1, 1, 9])


@pytest.mark.parametrize("C", [0.1, 0.09])
@pytest.mark.parametrize("rows", [2, 1])
def test_maximum_gain_stalls_on_the_example_of_theorem_7(C, rows, engine):
    """Ties go to the lowest index, so the first pair is {1, 3}, the paper's: no other order is needed."""
    solution = solve(
        four_points(C), selector=MaximumGain(rows=rows), engine=engine, shrinking=False, trace=True
    )
    assert (solution.trace["i"].tolist(), solution.trace["j"].tolist()) == ([2], [0])
    assert solution.status is Status.STALLED
    np.testing.assert_array_equal(FOUR * solution.alpha, [C, 0.0, C, 0.0])
    # ∇f(α) = (7/10, 1 − √3/5, 7/10, 1 − √3/5) for C = 1/10, so {2, 4} would still gain
    np.testing.assert_allclose(
        FOUR * solution.gradient, [1 - 3 * C, 1 - 2 * ROOT * C] * 2, rtol=0, atol=1e-15
    )
    assert solution.kkt_gap == pytest.approx(2 * (1 - 2 * ROOT * C))


@pytest.mark.parametrize("C", [0.1, 0.09])
@pytest.mark.parametrize(
    "selector",
    [HybridMaximumGain(), HybridMaximumGain(eta=0.0), HybridMaximumGain(rows=1), Greedy()],
    ids=repr,
)
def test_the_hybrid_solves_the_example_of_theorem_7(C, selector, engine):
    """Figure 5 says that the second step ends with all αᵢ = C; with the printed Q that needs C ≤ 1/(7 + 2√3) ≈ 0.0956.

    With C = 1/10 the step on {2, 4} is free and ends at (1 − √3/5)/7 ≈ 0.0934.
    """
    solution = solve(
        four_points(C), selector=selector, stop=KKTGap(1e-12), engine=engine, shrinking=False, trace=True
    )
    assert solution.status is Status.CONVERGED
    assert [solution.trace[name].tolist() for name in "ij"] == [[2, 3], [0, 1]]
    second = min(C, (2 - 4 * ROOT * C) / 14)
    assert (second == C) == (C == 0.09)
    np.testing.assert_allclose(FOUR * solution.alpha, [C, second, C, second], rtol=1e-14)


# -- HMG, Lemma 8: a free variable of the previous set always leads on -----------------------------------------

LEVELS = np.array(list(itertools.product(range(-4, 5), repeat=4)), dtype=float)
"""Footnote 4: these 9⁴ gradients show every combination of signs of the six differences."""
LABELS = list(itertools.product([-1, 1], repeat=4))
PLACES = list(itertools.product([0.0, 0.5, 1.0], repeat=3))


def gains(a, y, gradients):
    """Whether a pair gains, for each of the six pairs and each gradient ∂f/∂a; C = 1 and q = 1 change no sign."""
    a, y = np.array(a), np.array(y)
    alpha, G = y * a, y * gradients
    rise, fall = np.maximum(0, y) - alpha, alpha - np.minimum(0, y)
    return {
        pair: np.any(
            [
                exact_gain(G[:, i] - G[:, j], np.ones(len(G)), np.full(len(G), min(rise[i], fall[j]))) > 0
                for i, j in (pair, pair[::-1])
            ],
            axis=0,
        )
        for pair in itertools.combinations(range(4), 2)
    }


RELATED = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
"""The pairs related to B₁ = {1, 2}, counted from zero."""


def counter_examples(first, pairs=RELATED):
    """Number of cases with α₁ at `first`, and of those in which some pair gains but none of `pairs` does."""
    cases = found = 0
    for places, y in itertools.product(PLACES, LABELS):
        gain = gains((first, *places), y, LEVELS)
        some = np.any([gain[pair] for pair in pairs], axis=0)
        found += int((np.any(list(gain.values()), axis=0) & ~some).sum())
        cases += len(LEVELS)
    return cases, found


def test_lemma_8_holds_in_every_case():
    """All cases of the paper's enumeration, on the exact gain that the selectors rank by."""
    assert counter_examples(first=0.5) == (2_834_352, 0)


def test_the_pairs_of_the_free_variable_are_enough():
    """If no pair {1, t} gains, G₁ separates what may rise from what may fall: ψ ≤ 0. Each of the three is needed."""
    own = [(0, 1), (0, 2), (0, 3)]
    assert counter_examples(0.5, own)[1] == 0
    assert counter_examples(0.5, own[1:])[1] > 0


def test_lemma_8_needs_the_free_variable():
    """With both variables of B₁ at a bound there are counter-examples: Theorem 7 shows one."""
    for bound in (0.0, 1.0):
        assert counter_examples(first=bound)[1] > 0


@pytest.mark.parametrize("selector", [MaximumGain(), HybridMaximumGain()], ids=repr)
def test_maximum_gain_finds_the_pair_of_lemma_8(selector):
    """One case in 1009 for the selectors themselves; all of them if REFSVM_ALL_CASES is set."""
    problem = DualProblem(Gram(Precomputed(), np.eye(4)), np.zeros(4), 0.0, -np.ones(4), np.ones(4))
    rows = KernelRows(problem.gram)
    state = Rules(selector, OverrelaxedNewtonStep(), KKTGap()).begin(problem, np.zeros(4), rows)
    state.working_sets[0] = 0, 1
    combined = itertools.product(PLACES, LABELS, range(len(LEVELS)))
    checked = left = 0
    for places, y, g in itertools.islice(combined, 0, None, 1 if ALL_CASES else 1009):
        state.upper[:] = np.maximum(0, y)
        state.lower[:] = state.upper - 1.0
        state.alpha[:] = y * np.array([0.5, *places])
        state.gradient[:] = y * LEVELS[g]
        state.top, state.bottom, state.gap = most_violating_pair(
            state.alpha, state.gradient, state.lower, state.upper
        )
        i, j = selector.select(state)
        if state.gap > 0.0:
            assert {i, j} & {0, 1}, (places, y, LEVELS[g])
            assert state.gradient[i] > state.gradient[j]
            assert state.alpha[i] < state.upper[i]
            assert state.alpha[j] > state.lower[j]
            left += 1
        else:
            assert (i, j) == (-1, -1)
        checked += 1
    assert checked == (2_834_352 if ALL_CASES else 2810)
    assert left > 0.9 * checked


# -- HMG, sections 2.3 and 2.4: which pair it is ---------------------------------------------------------------


def gain_of_every_pair(steps: Replay, t: int) -> np.ndarray:
    """Exact gain before step t of moving each pair, (n, n); −inf where i cannot rise or j cannot fall."""
    problem, K, alpha = steps.solution.problem, steps.kernel, steps.alpha[t]
    alpha = np.where(np.isclose(alpha, problem.lower, rtol=0, atol=1e-9), problem.lower, alpha)
    alpha = np.where(np.isclose(alpha, problem.upper, rtol=0, atol=1e-9), problem.upper, alpha)
    G, k = problem.v - K @ alpha, np.diag(K)
    room = np.minimum((problem.upper - alpha)[:, None], alpha - problem.lower)
    curvature = k[:, None] + k - 2.0 * K
    np.fill_diagonal(curvature, 1.0)
    slope = G[:, None] - G
    mu = np.minimum(slope / curvature, room)
    return np.where((slope > 0) & (room > 0), mu * slope - 0.5 * mu**2 * curvature, -np.inf)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("selector", [Greedy(), MaximumGain(), HybridMaximumGain(), HybridMaximumGain(0.2)])
def test_the_pair_of_largest_gain_is_taken(selector, C):
    """Of all pairs, or of those related to the previous one; in a corner HMG takes the most violating pair."""
    problem = classification(BANANA, C=C, gamma=0.25)
    steps = replay(problem, 40 if FAST == "numpy" else 400, selector=selector, stop=KKTGap(1e-4))
    corners = 0
    for t in range(1, len(steps.rows)):
        i, j, last = steps.rows["i"][t], steps.rows["j"][t], steps.rows[t - 1]
        gain, previous = gain_of_every_pair(steps, t), [last["i"], last["j"]]
        to_bound = np.minimum(steps.alpha[t] - problem.lower, problem.upper - steps.alpha[t])
        if (
            isinstance(selector, HybridMaximumGain)
            and (to_bound[previous] <= (selector.eta + 1e-9) * C).all()
        ):
            corners += 1
            G = problem.v - steps.kernel @ steps.alpha[t]
            violation = np.where(np.isfinite(gain), G[:, None] - G, 0.0)
            assert violation[i, j] == pytest.approx(violation.max())
            continue
        if not isinstance(selector, Greedy):
            related = np.zeros_like(gain, dtype=bool)
            related[previous] = related[:, previous] = True
            gain[~related] = -np.inf
        assert gain[i, j] == pytest.approx(gain.max(), rel=1e-7), t
    assert len(steps.rows) >= 40
    assert (corners > 0) == (isinstance(selector, HybridMaximumGain) and (C == 0.1 or selector.eta == 0.2))


# -- gains of single steps and of pairs ------------------------------------------------------------------------


def problems():
    """The catalogue without the problems made for shrinking, and twenty random ones."""
    yield from ((name, known.problem) for name, known in PROBLEMS.items() if not known.large)
    yield from ((f"random {seed}", random_problem(seed)) for seed in range(20))


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_no_step_loses_and_no_planned_pair_does(selector, step):
    """Every SMO step gains; a planned step and the next gain at least (1 − η²) of the Newton gain (PA, Lemma 3)."""
    limit = 20 if isinstance(selector, Greedy) and FAST == "numpy" else LIMIT
    pairs = 0
    for name, problem in problems():
        steps = replay(problem, limit, selector=selector, step=step, stop=KKTGap(1e-6))
        gain, planned, slack = steps.gain, steps.planned, steps.rounding
        assert (gain[~planned] >= -slack[~planned]).all(), name
        if not step.history:
            assert not planned.any(), name
            continue
        t = np.flatnonzero(planned[:-1])
        newton = 0.5 * steps.slope[t] ** 2 / steps.curvature[t]
        sure = (1.0 - selector.planned_range**2) * newton
        assert (gain[t] + gain[t + 1] >= sure - slack[t] - slack[t + 1] - 1e-9 * newton).all(), name
        pairs += len(t)
    assert bool(pairs > 1000) == bool(step.history)


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_all_rules_reach_the_same_objective_on_random_problems(selector, step):
    """As `test_solver` checks on the catalogue."""
    for seed in range(2 if FAST == "numpy" else 20):
        problem = random_problem(seed)
        solution = solve(
            problem, selector=selector, step=step, stop=KKTGap(1e-8), engine=FAST, shrinking=False
        )
        if isinstance(selector, MaximumGain) and solution.status is Status.STALLED:
            continue
        assert solution.status is Status.CONVERGED, seed
        assert solution.objective == pytest.approx(reference(seed), rel=1e-8), seed


def reference(seed: int, cache: dict[int, float] = {}) -> float:  # noqa: B006
    if seed not in cache:
        cache[seed] = solve(random_problem(seed), stop=KKTGap(1e-10), engine=FAST).objective
    return cache[seed]


# -- PA, section 4: the double step ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DoubleStep:
    """A point, a working set (i, j) about to move and the set (k, m) that is to come next; the box is far away."""

    problem: DualProblem
    alpha: np.ndarray
    first: tuple[int, int]
    second: tuple[int, int]

    @classmethod
    def random(cls, seed: int, first: tuple[int, int], second: tuple[int, int]) -> DoubleStep:
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(6, 6))
        alpha = rng.normal(size=6)
        gram = Gram(Precomputed(), factor @ factor.T)
        return cls(
            DualProblem(gram, rng.normal(size=6), float(alpha.sum()), np.full(6, -1e6), np.full(6, 1e6)),
            alpha,
            first,
            second,
        )

    def direction(self, pair: tuple[int, int]) -> np.ndarray:
        d = np.zeros(6)
        d[pair[0]] += 1.0
        d[pair[1]] -= 1.0
        return d

    def gain(self, mu: float) -> float:
        """By brute force: f after a step of length μ and the best of all second steps, less f now."""
        moved = self.alpha + mu * self.direction(self.first)
        d, f = self.direction(self.second), self.problem.objective
        return top_of_parabola(lambda mu_2: f(moved + mu_2 * d))[1] - f(self.alpha)

    def formula(self, mu: float) -> float:
        """g₂(μ) = −½ (det/Q₂₂) μ² + ((Q₂₂w₁ − Q₁₂w₂)/Q₂₂) μ + ½ w₂²/Q₂₂  (eq. 7)."""
        D = np.column_stack([self.direction(self.first), self.direction(self.second)])
        (Q11, Q12), (_, Q22) = D.T @ self.problem.gram.block(np.arange(6)) @ D
        w1, w2 = D.T @ self.problem.gradient(self.alpha)
        det = Q11 * Q22 - Q12**2
        return -0.5 * det / Q22 * mu**2 + (Q22 * w1 - Q12 * w2) / Q22 * mu + 0.5 * w2**2 / Q22

    def state(self) -> SolverState:
        """The state in which the step rule plans (k, m) to come next."""
        rows = KernelRows(self.problem.gram)
        state = Rules(SecondOrder(), PlanningAheadStep(), KKTGap()).begin(self.problem, self.alpha, rows)
        d = self.direction(self.second)
        state.working_sets[0] = self.second
        state.curvatures[0] = d @ self.problem.gram.block(np.arange(6)) @ d
        state.last_free, state.last_planned = 1, 0
        state.measure(*self.first)
        return state


def top_of_parabola(f) -> tuple[float, float]:
    """Where a concave parabola is at its largest, and how large, from three of its values."""
    left, middle, right = f(-1.0), f(0.0), f(1.0)
    bend = left + right - 2.0 * middle
    return -0.5 * (right - left) / bend, middle - (right - left) ** 2 / (8.0 * bend)


DOUBLE_STEPS = [
    DoubleStep.random(seed, (0, 1), second)
    for seed in range(10)
    for second in [(2, 3), (0, 2), (2, 0), (1, 2), (2, 1)]
]


def test_equation_7_is_the_gain_of_both_steps():
    for double in DOUBLE_STEPS:
        for mu in (-2.0, -0.1, 0.0, 0.3, 5.0):
            assert double.formula(mu) == pytest.approx(double.gain(mu), rel=1e-9, abs=1e-9)


def test_the_planning_step_gains_most():
    """μ_P maximises g₂ (eq. 8); the rule compares sets by 2g₂(μ_P)."""
    for double in DOUBLE_STEPS:
        state = double.state()
        mu = PlanningAheadStep().length(state, *double.first)
        assert state.n_candidates == 1
        assert mu == pytest.approx(top_of_parabola(double.gain)[0], rel=1e-7)
        best = double.gain(mu)
        assert all(double.gain(mu + change) < best for change in (-1.0, -1e-3, 1e-3, 1.0))
        assert PlanningAheadStep()._plan(state, *double.first, 0) == pytest.approx((mu, 2.0 * best), rel=1e-7)


@pytest.mark.parametrize("second", [(0, 1), (1, 0)])
def test_the_same_set_cannot_be_planned_twice(second):
    """det = 0: any split of one step into two gains the same."""
    double = DoubleStep.random(0, (0, 1), second)
    state = double.state()
    mu = PlanningAheadStep().length(state, 0, 1)
    assert state.n_candidates == 0
    assert mu == pytest.approx(state.slope / state.curvature)


def test_multiple_planning_takes_the_best_of_the_recent_sets():
    for seed in range(20):
        doubles = [DoubleStep.random(seed, (0, 1), second) for second in [(2, 3), (0, 4), (5, 1)]]
        tops = [top_of_parabola(double.gain) for double in doubles]
        step = PlanningAheadStep(history=3)
        rows = KernelRows(doubles[0].problem.gram)
        state = Rules(SecondOrder(), step, KKTGap()).begin(doubles[0].problem, doubles[0].alpha, rows)
        for h, double in enumerate(doubles):
            state.working_sets[h] = double.second
            state.curvatures[h] = double.state().curvatures[0]
        state.last_free = 1
        state.measure(0, 1)
        assert step.length(state, 0, 1) == pytest.approx(max(tops, key=lambda top: top[1])[0], rel=1e-7)
        np.testing.assert_array_equal(state.candidates[:3], [double.second for double in doubles])
        assert state.n_candidates == 3


# -- PA, Algorithm 4: when it is planned -----------------------------------------------------------------------


@pytest.mark.parametrize("history", [1, 3])
@pytest.mark.parametrize(
    "name", ["chessboard", "banana", "large penalty", "random box, rank n/2", "regression box"]
)
def test_planned_steps_follow_free_unplanned_ones(name, history, engine):
    steps = replay(PROBLEMS[name].problem, step=PlanningAheadStep(history), stop=KKTGap(1e-8), engine=engine)
    planned, free = steps.planned, steps.free
    assert planned.any()
    assert not planned[0]
    assert not (planned[1:] & planned[:-1]).any()
    assert free[:-1][planned[1:]].all()
    assert free[planned].all()


def test_after_a_newton_step_planning_only_lengthens(engine):
    """With N = 1 the planned set has just been solved, so w₂ = 0 and μ_P/μ̂ = Q₁₁Q₂₂/det = 1/(1 − ϱ²) ≥ 1.

    ϱ is the cosine of the angle between the two directions, ϱ² = Q₁₂²/(Q₁₁Q₂₂).
    """
    steps = replay(classification(BOARD, C=100.0, gamma=0.5), step=PlanningAheadStep(), engine=engine)
    K, rows = steps.kernel, steps.rows
    t = np.flatnonzero(steps.planned)
    i, j, k, m = rows["i"][t], rows["j"][t], rows["i"][t - 1], rows["j"][t - 1]
    Q12 = K[i, k] - K[i, m] - K[j, k] + K[j, m]
    cosine2 = Q12**2 / (steps.curvature[t] * steps.curvature[t - 1])
    np.testing.assert_allclose(rows["step"][t] / rows["newton"][t], 1.0 / (1.0 - cosine2), rtol=1e-8)
    assert len(t) > 20


def test_a_double_step_that_comes_as_planned_ends_at_the_top_of_its_plane():
    """Both slopes are zero after a planned step and the planned set."""
    steps = replay(classification(BOARD, C=100.0, gamma=0.5), 2000, step=PlanningAheadStep())
    i, j = steps.rows["i"], steps.rows["j"]
    G = steps.solution.problem.v - steps.alpha @ steps.kernel
    as_planned = 0
    for t in np.flatnonzero(steps.planned[:-2]):
        if steps.free[t + 1] and {i[t + 1], j[t + 1]} == {i[t - 1], j[t - 1]}:
            assert G[t + 2, i[t]] == pytest.approx(G[t + 2, j[t]], abs=1e-10)
            assert G[t + 2, i[t + 1]] == pytest.approx(G[t + 2, j[t + 1]], abs=1e-10)
            as_planned += 1
    assert as_planned > 20


# -- PA, section 7.3: over-relaxed steps -----------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.5, 1.1, 1.9])
def test_an_over_relaxed_step_keeps_its_share_of_the_newton_gain(factor, engine):
    """g(ωμ̂) = (2ω − ω²) g̃ for a free step: 99 % for ω = 1.1."""
    problem = classification(BANANA, C=10.0, gamma=0.25)
    steps = replay(problem, step=OverrelaxedNewtonStep(factor), engine=engine)
    newton = 0.5 * steps.slope**2 / steps.curvature
    share = (steps.gain / newton)[steps.free]
    np.testing.assert_allclose(share, 2.0 * factor - factor**2, rtol=1e-7)
    assert len(share) > 20


# -- HMG, section 2.3: the cost in kernel rows -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "corners"),
    [(classification(BANANA, C=100.0, gamma=0.25), False), (classification(BANANA, C=0.1, gamma=0.25), True)],
    ids=["mostly free", "mostly bounded"],
)
def test_the_hybrid_computes_at_most_one_row_a_step(problem, corners, engine):
    """Three rows fit: the previous set and a new one. Two are needed only where the set comes from the other rule."""
    cache_mb = 3.5 * 8 * problem.n / 2**20
    steps = replay(problem, 3000, selector=HybridMaximumGain(), engine=engine, cache_mb=cache_mb)
    assert steps.solution.status is Status.CONVERGED
    i, j = steps.rows["i"], steps.rows["j"]
    new = np.diff(steps.rows["rows"])
    pairs = np.sort(np.column_stack([i, j]), axis=1)
    related = (pairs[1:, :, None] == pairs[:-1, None, :]).any(axis=(1, 2))
    assert new[related].max() <= 1
    assert new.max() <= 2
    assert (~related).any() == corners
    # an unrelated set is chosen only where both variables of the previous one stand at a bound
    for t in np.flatnonzero(~related) + 1:
        for b in (i[t - 1], j[t - 1]):
            at = steps.alpha[t, b]
            assert min(abs(at - problem.lower[b]), abs(at - problem.upper[b])) <= 1.01e-8 * 0.1


def test_the_hybrid_needs_fewer_rows_where_they_do_not_fit(engine):
    problem = classification(BANANA, C=100.0, gamma=0.25)
    rows = [
        solve(
            problem,
            selector=selector,
            step=NewtonStep(),
            engine=engine,
            shrinking=False,
            cache_mb=3.5 * 800 / 2**20,
        ).kernel_rows
        for selector in (HybridMaximumGain(), SecondOrder(), MostViolatingPair())
    ]
    assert rows[0] < 0.7 * rows[1] < 0.7 * rows[2]
