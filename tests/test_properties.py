"""Properties that hold for any data, tried on what hypothesis thinks of."""

from __future__ import annotations

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")

from hypothesis import assume, given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from refsvm import (  # noqa: E402
    RBF,
    ConjugateSecondOrder,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    Linear,
    MostViolatingPair,
    NewtonStep,
    OverrelaxedNewtonStep,
    PlanningAheadStep,
    Polynomial,
    Precomputed,
    SecondOrder,
    Status,
    solve,
)
from refsvm.core.kernels import Gram  # noqa: E402
from refsvm.core.solver.rules import starting_point  # noqa: E402
from refsvm.testing.contract import infeasibility  # noqa: E402

from .settings import FAST  # noqa: E402

KERNELS = st.sampled_from([Linear(), RBF(0.3), RBF(3.0), Polynomial(degree=2, coef0=1.0)])
SELECTORS = st.sampled_from([SecondOrder(), MostViolatingPair(), HybridMaximumGain(), ConjugateSecondOrder()])
STEPS = st.sampled_from([NewtonStep(), OverrelaxedNewtonStep(), ConjugateStep()])
VALUES = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0])
FINITE = st.floats(-1e6, 1e6)


def arrays(values, *shape: int):
    count = int(np.prod(shape))
    return st.lists(values, min_size=count, max_size=count).map(lambda drawn: np.reshape(drawn, shape))


@st.composite
def data(draw, most: int = 16):
    """Few distinct values, so that duplicates, ties and constant features are common."""
    n, d = draw(st.integers(2, most)), draw(st.integers(1, 3))
    X = draw(arrays(VALUES | st.floats(-3, 3).map(lambda x: round(x, 6)), n, d))
    y = draw(arrays(st.sampled_from([-1, 1]), n))
    assume(len(np.unique(y)) == 2)
    return X, y


@st.composite
def classifications(draw, most: int = 16):
    X, y = draw(data(most))
    C = draw(st.sampled_from([1e-3, 0.5, 1.0, 30.0]) | arrays(st.sampled_from([0.0, 0.1, 1.0, 10.0]), len(y)))
    return DualProblem.classification(X, y, kernel=draw(KERNELS), C=C)


@st.composite
def boxes(draw, most: int = 12):
    """Any v, any box that is not empty, any reachable z; K = AAᵀ of any rank."""
    n = draw(st.integers(1, most))
    lower = draw(arrays(VALUES, n))
    upper = lower + draw(arrays(st.sampled_from([0.0, 0.5, 1.0, 2.0]), n))
    z = float(lower.sum() + draw(st.floats(0, 1)) * (upper - lower).sum())
    factor = draw(arrays(VALUES, n, draw(st.integers(1, 4))))
    return DualProblem(Gram(Precomputed(), factor @ factor.T), draw(arrays(VALUES, n)), z, lower, upper)


PROBLEMS = classifications() | boxes()


def solved(problem: DualProblem, tol: float = 1e-8, **options):
    options = {"engine": FAST, "max_iter": 50_000, **options}
    solution = solve(problem, stop=KKTGap(tol), **options)
    assume(solution.status is not Status.MAX_ITER)
    return solution


def size(problem: DualProblem) -> float:
    """Of the numbers that the objective is made of."""
    most = problem.n * float(np.abs([problem.lower, problem.upper]).max(initial=0.0))
    K = problem.gram.block(np.arange(problem.n))
    return most * (float(np.abs(problem.v).max()) + most * float(np.abs(K).max()))


@given(PROBLEMS, SELECTORS, STEPS, st.booleans())
def test_solutions_are_feasible_optimal_and_certified(problem, selector, step, shrinking):
    solution = solved(problem, selector=selector, step=step, shrinking=shrinking, tol=1e-6)
    assert solution.status is Status.CONVERGED
    assert infeasibility(problem, solution.alpha) <= 1e-13
    assert problem.kkt_gap(solution.alpha) <= 1e-6 + 1e-14 * size(problem)
    # 0 ≤ F − f ≤ ψ·Σ(U − L)
    width = float((problem.upper - problem.lower).sum())
    rounding = 1e-13 * (1.0 + size(problem))
    assert -rounding <= solution.duality_gap <= 1e-6 * width + rounding


@given(PROBLEMS, st.data())
def test_no_feasible_point_beats_any_primal_value(problem, draw):
    one, other = (problem.feasible(draw.draw(arrays(VALUES, problem.n))) for _ in range(2))
    assert problem.objective(one) <= problem.primal_objective(other) + 1e-12 * (1.0 + size(problem))
    assert problem.objective(one) <= solved(problem).objective + 1e-7 * (1.0 + size(problem))


@given(PROBLEMS, SELECTORS, STEPS)
def test_exact_steps_never_lower_the_objective(problem, selector, step):
    solution = solved(problem, selector=selector, step=step, shrinking=False, trace=True, tol=1e-6)
    summed, room = solution.trace["objective"], 1e-13 * (1.0 + size(problem))
    assert (np.diff(summed) >= -room).all()
    assert not len(summed) or summed[-1] == pytest.approx(problem.objective(solution.alpha), abs=10.0 * room)


@given(PROBLEMS, st.integers(1, 3))
def test_planned_steps_pay_with_the_next(problem, history):
    step = PlanningAheadStep(history=history)
    rows = solved(problem, step=step, shrinking=False, trace=True, tol=1e-6).trace.rows
    start = problem.objective(starting_point(problem, None))
    f, planned = np.concatenate([[start], rows["objective"]]), rows["planned"] == 1
    for t in np.flatnonzero(planned[:-1]):
        assert f[t + 2] >= f[t] - 1e-13 * (1.0 + size(problem))


@given(PROBLEMS, st.booleans())
def test_a_warm_start_at_the_optimum_takes_no_step(problem, shrinking):
    solution = solved(problem, tol=1e-6, shrinking=shrinking)
    looser = 1.001e-6 + 1e-13 * size(problem)
    again = solved(problem, tol=looser, shrinking=shrinking, start=solution.alpha)
    assert again.iterations == 0


@given(data(10), st.sampled_from([0.3, 2.0]), st.integers(2, 4), KERNELS)
def test_weight_k_is_k_copies(sample, C, k, kernel):
    X, y = sample
    weights = np.where(np.arange(len(y)) % 2, k, 1)
    weighted = DualProblem.classification(X, y, kernel=kernel, C=C * weights)
    copies = np.repeat(X, weights, axis=0), np.repeat(y, weights)
    copied = solved(DualProblem.classification(*copies, kernel=kernel, C=C))
    room = 1e-7 * (1.0 + size(copied.problem))
    assert solved(weighted).objective == pytest.approx(copied.objective, abs=room)


@given(data(), st.sampled_from([0.3, 2.0]), KERNELS, st.randoms(use_true_random=False))
def test_order_and_labels_do_not_matter(sample, C, kernel, random):
    X, y = sample
    plain = solved(DualProblem.classification(X, y, kernel=kernel, C=C))
    room = 1e-7 * (1.0 + size(plain.problem))
    order = np.array(random.sample(range(len(y)), len(y)))
    permuted = solved(DualProblem.classification(X[order], y[order], kernel=kernel, C=C))
    assert permuted.objective == pytest.approx(plain.objective, abs=room)
    flipped = solved(DualProblem.classification(X, -y, kernel=kernel, C=C))
    assert flipped.objective == pytest.approx(plain.objective, abs=room)


@given(classifications(), st.floats(1e-3, 1e3))
def test_scaling_the_kernel_and_the_penalty_scales_the_objective(problem, factor):
    """K → sK with C → C/s gives α/s and f/s."""
    K = problem.gram.block(np.arange(problem.n))
    gram = Gram(Precomputed(), factor * 0.5 * (K + K.T))
    scaled = DualProblem(gram, problem.v, 0.0, problem.lower / factor, problem.upper / factor)
    expected = solved(problem).objective / factor
    assert solved(scaled).objective == pytest.approx(expected, abs=1e-7 * (1.0 + size(problem)) / factor)


@given(data(12), st.sampled_from([0.3, 2.0]), KERNELS, st.integers(0, 11))
def test_leaving_out_equals_deleting_the_row(sample, C, kernel, r):
    X, y = sample
    assume(r < len(y))
    kept = np.arange(len(y)) != r
    assume(len(np.unique(y[kept])) == 2)
    problem = DualProblem.classification(X, y, kernel=kernel, C=C)
    deleted = DualProblem.classification(X[kept], y[kept], kernel=kernel, C=C)
    out = solved(problem.without(r))
    assert out.alpha[r] == 0.0
    assert out.objective == pytest.approx(solved(deleted).objective, abs=1e-7 * (1.0 + size(problem)))


@given(PROBLEMS, st.data())
def test_any_point_is_repaired_to_a_feasible_one(problem, draw):
    point = problem.feasible(draw.draw(arrays(FINITE, problem.n)))
    assert infeasibility(problem, point) <= 1e-14
    again = problem.feasible(point)
    assert np.abs(again - point).max() <= 1e-13 * (1.0 + np.abs(point).max())


@given(classifications(), st.sampled_from([2, 3, 5]))
def test_any_cache_gives_the_same_steps(problem, rows):
    large = solved(problem, shrinking=False, trace=True, tol=1e-3)
    cache_mb = (rows + 0.5) * 8 * problem.n / 2**20
    small = solved(problem, shrinking=False, trace=True, tol=1e-3, cache_mb=cache_mb)
    for name in ("i", "j", "step"):
        np.testing.assert_array_equal(small.trace[name], large.trace[name])
