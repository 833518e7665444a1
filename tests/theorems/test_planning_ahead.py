"""What PA says about double steps and when they are planned.

PA is T. Glasmachers, "The planning-ahead SMO algorithm", 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from refsvm import DualProblem, EagerPlanningStep, KKTGap, PlanningAheadStep, Precomputed, SecondOrder
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.solver.rules import Rules
from refsvm.core.state import SolverState

from ..catalogue import PROBLEMS
from .replay import BOARD, classification, replay

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
        box = np.full(6, -1e6), np.full(6, 1e6)
        problem = DualProblem(gram, rng.normal(size=6), float(alpha.sum()), *box)
        return cls(problem, alpha, first, second)

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
        rows = stored_rows(self.problem.gram)
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
        rows = stored_rows(doubles[0].problem.gram)
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


def of_whole_numbers(seed: int) -> DualProblem:
    """A random problem whose numbers no machine rounds."""
    rng = np.random.default_rng(seed)
    factor = rng.integers(-3, 4, size=(8, 4)).astype(np.float64)
    width = rng.integers(1, 5, size=8).astype(np.float64)
    lower = -width * rng.integers(0, 2, size=8)
    v = rng.integers(-9, 10, size=8).astype(np.float64)
    z = 0.0 if lower.sum() < 0.0 else float(width.sum() // 2)
    return DualProblem(Gram(Precomputed(), factor @ factor.T), v, z, lower, lower + width)


@pytest.mark.parametrize(("seed", "after_clipped"), [(140, [5]), (192, [7])])
def test_by_algorithm_2_a_planned_step_may_follow_a_clipped_one(seed, after_clipped, engine):
    """It seldom does: these are two of some 400 such problems. By Algorithm 4 it does not."""
    problem = of_whole_numbers(seed)
    for step, expected in ((EagerPlanningStep(), after_clipped), (PlanningAheadStep(), [])):
        steps = replay(problem, step=step, stop=KKTGap(1e-6), engine=engine)
        planned, free = steps.planned, steps.free
        assert planned.any()
        assert not planned[0]
        assert not (planned[1:] & planned[:-1]).any()
        assert free[planned].all()
        assert [*(1 + np.flatnonzero(planned[1:] & ~free[:-1]))] == expected


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
