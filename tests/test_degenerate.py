"""Data that break solvers: all of it ends, finite and feasible, with a status; bad kernels are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from refsvm import (
    RBF,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    Status,
    iterate,
    leave_one_out,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.testing.contract import infeasibility

RNG = np.random.default_rng(7)
X = RNG.normal(size=(24, 3))
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=24) > 0, 1, -1)
NOISE = RNG.normal(size=(24, 24))
DATA = {
    "duplicates of both classes": (np.repeat(X[:12], 2, axis=0), np.tile([1, -1], 12), Linear()),
    "constant features": (np.full((24, 3), 7.0), LABELS, Linear()),
    "no features": (np.zeros((24, 0)), LABELS, Linear()),
    "one against many": (X, np.where(np.arange(24) == 11, 1, -1), RBF(0.5)),
    "huge, polynomial": (X * 1e8, LABELS, Polynomial(degree=3)),
    "huge and tiny": (X * [1e8, 1.0, 1e-8], LABELS, Linear()),
    "indefinite sigmoid": (X, LABELS, Sigmoid(gamma=1.0, coef0=-1.0)),
    "negative definite": (-(NOISE @ NOISE.T), LABELS, Precomputed()),
    "zero matrix": (np.zeros((24, 24)), LABELS, Precomputed()),
}
SOLVED = {"duplicates of both classes", "constant features", "one against many"}


@pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")
@pytest.mark.parametrize("name", DATA)
def test_degenerate_problems_end_finite_and_feasible_and_without_another_warning(name, engine, shrinking):
    data, labels, kernel = DATA[name]
    for C in (1e-12, 1.0, 1e6, 1e12):
        problem = DualProblem.classification(data, labels, kernel=kernel, C=C)
        solution = solve(problem, engine=engine, shrinking=shrinking, max_iter=600)
        assert solution.status in {Status.CONVERGED, Status.MAX_ITER, Status.STALLED}, C
        values = solution.objective, solution.primal_objective, solution.duality_gap, solution.intercept
        assert np.isfinite([*values, *solution.alpha, *solution.gradient]).all(), C
        assert infeasibility(problem, solution.alpha) <= 1e-12, C
        if solution.status is Status.CONVERGED:
            assert problem.kkt_gap(solution.alpha) <= 1e-3 + 1e-12 * np.abs(solution.gradient).max(), C
        assert solution.status is Status.CONVERGED or name not in SOLVED, C
        assert solution.objective >= -1e-9 * abs(solution.objective), "worse than α = 0"


@pytest.mark.parametrize(
    ("data", "kernel"),
    [
        (X * 1e160, Linear()),
        (X * 1e154, Linear()),
        (X * 1e60, Polynomial(degree=6)),
        (X * 1e200, RBF(1.0)),
        (np.where(np.abs(NOISE + NOISE.T) > 2, 1e308, 0.0), Precomputed()),
    ],
    ids=["inf", "sums to inf", "polynomial", "norms of an RBF", "matrix"],
)
def test_a_kernel_that_overflows_is_refused(data, kernel, engine, shrinking):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        options = {"engine": engine, "shrinking": shrinking, "time_limit": 5}
        with pytest.raises(ValueError, match=r"[Ss]cale"):
            solve(DualProblem.classification(data, LABELS, kernel=kernel), **options)


def test_one_variable_is_solved_without_a_step(engine, shrinking):
    problem = DualProblem.classification(X, LABELS, kernel=RBF(0.5)).restrict([3])
    solution = solve(problem, engine=engine, shrinking=shrinking)
    assert (solution.status, solution.iterations) == (Status.CONVERGED, 0)
    fixed = DualProblem(Gram(Linear(), np.ones((1, 1))), np.ones(1), 0.5, np.zeros(1), np.ones(1))
    assert solve(fixed, engine=engine, shrinking=shrinking).alpha == [0.5]


def test_a_box_of_one_point_is_solved_without_a_step(engine, shrinking):
    point = np.linspace(-1, 1, 24)
    problem = DualProblem(Gram(RBF(0.5), X), np.ones(24), float(point.sum()), point, point)
    solution = solve(problem, engine=engine, shrinking=shrinking)
    assert (solution.status, solution.iterations) == (Status.CONVERGED, 0)
    np.testing.assert_array_equal(solution.alpha, point)
    assert np.isfinite([solution.intercept, solution.objective, solution.duality_gap]).all()


def test_one_class_without_weight_leaves_nothing_to_do(engine):
    problem = DualProblem.classification(X, LABELS, kernel="linear", C=np.where(LABELS > 0, 1.0, 0.0))
    solution = solve(problem, engine=engine)
    assert (solution.iterations, solution.objective) == (0, 0.0)


def test_steps_along_a_flat_direction_go_to_the_box():
    """q = 0: the Newton step is infinite, the clipped one is not."""
    problem = DualProblem.classification(np.full((24, 3), 7.0), LABELS, kernel=Linear(), C=3.0)
    for state in iterate(problem):
        i, j = state.working_sets[0]
        assert abs(state.last_step) == 3.0
        assert state.alpha[i] in {0.0, 3.0}
        assert state.alpha[j] in {0.0, -3.0}


def test_what_is_small_beside_other_examples_is_not_rounding(engine):
    """Two groups that know nothing of each other: α of one is 1e9, of the other 1e-8, and both count."""
    K = np.diag([1e8] * 4 + [1e-9] * 4)
    y = np.tile([1, -1], 4)
    solution = solve(DualProblem.classification(gram=K, y=y, C=1e10), engine=engine)
    assert solution.status is Status.CONVERGED  # a warning is an error here
    np.testing.assert_allclose(solution.alpha[:4], 1e-8 * y[:4], rtol=1e-3)
    assert solution.problem.kkt_gap(solution.alpha) <= 1e-3
    rounds = leave_one_out(gram=K, y=y, C=1e10, checks=(), seeder=Cold(), stop=KKTGap(1e-6), engine=engine)
    for r in range(8):
        without = solution.problem.without(r)
        alone = solve(without, stop=KKTGap(1e-6), engine="numpy")
        assert without.kkt_gap(alone.alpha) <= 1.1e-6
        assert abs(rounds.decision_values[r] - without.intercept(alone.alpha)) <= 2e-6
