"""float32 rows are taken where their rounding is harmless, left where it is not, and never decide about b."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from refsvm import (
    RBF,
    SVC,
    SVR,
    DualProblem,
    KKTGap,
    Linear,
    MostViolatingPair,
    OneClassSVM,
    Precomputed,
    Rounds,
    SafeScreening,
    Status,
    solve,
)
from refsvm.core.kernels import Gram
from refsvm.core.kernels.cached_rows import stored_rows
from refsvm.core.kernels.matrix import View
from refsvm.core.kernels.precision import ROUNDING, decision_error
from refsvm.core.kernels.rows import megabytes
from refsvm.core.solver.options import RunOptions
from refsvm.core.solver.readable import NumPyBackend
from refsvm.core.solver.rules import chosen_rules
from refsvm.services.float32 import SHARE_OF_TOLERANCE, begins_in_float32, rows_for

from ...settings import needs_numba, noisy_classes

THRESHOLDS = ("FLOAT32_FROM", "FLOAT32_CROWDED_FROM")


@pytest.fixture
def eager(monkeypatch):
    """Rows are float32 from 100 variables on, where all that is asked for but the size holds."""
    for name in THRESHOLDS:
        monkeypatch.setattr(f"refsvm.services.float32.{name}", 100)


def noisy(n=140, seed=0):
    """Two classes that overlap so much that half of all α are at C."""
    return noisy_classes(n, 3, seed)


def problem_with(C, seed=0):
    X, y = noisy(seed=seed)
    return DualProblem.classification(X, y, kernel=RBF(0.1), C=C)


# -- what rounding costs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("copies", [1, 40])
@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()], ids=repr)
def test_decision_values_move_by_no_more_than_the_estimate(kernel, copies, sparse):
    """With α of one sign: those of equal examples add up, and 40 of them would be 6 times an estimate by √Σα²."""
    rng = np.random.default_rng(0)
    X, alpha = np.tile(rng.normal(size=(10, 4)), (copies, 1)), rng.uniform(0.5, 1.0, size=10 * copies)
    gram = Gram(kernel, pytest.importorskip("scipy.sparse").csr_array(X) if sparse else X)
    K = gram.block(np.arange(gram.n))
    moved = np.abs((K.astype(np.float32) - K) @ alpha).max()
    estimate = decision_error(gram, alpha, K.max())
    assert moved <= estimate <= 100.0 * moved
    if copies > 1:
        assert estimate > 6.0 * decision_error(Gram(Precomputed(), K), alpha, K.max())


# -- solves ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("C", "seed"), [(150.0, 6), (800.0, 0)])
def test_converged_holds_of_float64_values(C, seed, engine, eager):
    """Rounding moves G by more than a tenth of the tolerance, and by more than the tolerance."""
    problem = problem_with(C, seed)
    solution = solve(problem, engine=engine)
    assert solution.status is Status.CONVERGED
    assert problem.kkt_gap(solution.alpha) <= 1e-3 + 1e-9
    assert solution.intercept == pytest.approx(problem.intercept(solution.alpha), abs=1e-9)


def test_rows_stay_float32_where_rounding_is_harmless(eager, monkeypatch):
    """The bound by Σ|α| would take them away. No value is computed once more in float64."""
    problem, again = problem_with(1.0), []
    monkeypatch.setattr(DualProblem, "with_exact_ends", lambda *given: again.append(1) or given[2])
    solution = solve(problem, engine="numpy", stop=KKTGap(1e-4))
    assert 0.0 < solution.rounding <= SHARE_OF_TOLERANCE * 1e-4
    assert 2.4e-7 * np.abs(solution.alpha).sum() > SHARE_OF_TOLERANCE * 1e-4
    assert not again
    assert solve(problem_with(800.0), engine="numpy", stop=KKTGap(1e-3)).rounding == 0.0


@pytest.mark.parametrize(("C", "is_coarse"), [(1.0, False), (800.0, True)])
def test_a_start_for_which_float32_rows_are_too_coarse_takes_no_step_on_them(
    C, is_coarse, eager, monkeypatch
):
    problem, dtypes, steps = problem_with(C), set(), NumPyBackend.steps
    start = solve(problem, engine="numpy", stop=KKTGap(1.0), cache_dtype="float64").alpha

    def watched(backend, state, *rest):
        dtypes.add(state.rows.facts.keeps_float32)
        return steps(backend, state, *rest)

    monkeypatch.setattr(NumPyBackend, "steps", watched)
    assert (solve(problem, engine="numpy", start=start, max_iter=20).rounding == 0.0) == is_coarse
    assert dtypes == {not is_coarse}


def test_a_solve_begins_on_float32_rows_up_to_a_tenth_of_the_tolerance(eager):
    """2 · 2⁻²⁴ max |K| C ≤ 0.1 ε, where K(x, x) = 1: what one α at its bound is moved by."""
    most = SHARE_OF_TOLERANCE * 1e-3 / (2.0 * ROUNDING)
    rules = chosen_rules(None, None, KKTGap(1e-3))
    for C, begins in ((0.5 * most, True), (most, True), (np.nextafter(most, np.inf), False)):
        assert begins_in_float32(problem_with(C), rules, 200.0) == begins


@pytest.mark.parametrize(
    ("options", "kept", "read"),
    [
        ({}, "float32", "float32"),
        ({"shrinking": False}, "float64", "float64"),
        ({"shrinking": SafeScreening()}, "float64", "float64"),  # its proofs need exact values
        ({"stop": KKTGap(9e-5)}, "float64", "float64"),
        ({"cache_dtype": "float64"}, "float64", "float64"),
        ({"cache_dtype": "float32", "shrinking": False}, "float32", "float32"),
        ({"cache_dtype": "float32", "selector": MostViolatingPair()}, "float32", "float64"),
    ],
    ids=str,
)
def test_which_runs_begin_on_float32_rows_and_read_them(options, kept, read, eager):
    rows = rows_for(problem_with(1.0), RunOptions(**{"shrinking": True, "stop": KKTGap()} | options))
    assert (rows.evaluator.values.dtype, rows.values.dtype) == (kept, read)


@pytest.mark.slow
@needs_numba
@pytest.mark.parametrize("C", [150.0, 800.0])
def test_both_engines_leave_float32_rows_at_the_same_step(C, eager):
    problem = problem_with(C)
    slow, fast = (solve(problem, engine=engine) for engine in ("numpy", "numba"))
    assert slow.iterations == fast.iterations
    assert np.array_equal(slow.alpha, fast.alpha)


@pytest.mark.parametrize("estimator", [SVC, SVR])
def test_a_linear_machine_far_from_the_origin_is_that_of_float64_rows(estimator, engine, eager):
    """Not all rows fit the budget: then they are float32 for every kernel, where that is precise enough."""
    rng = np.random.default_rng(0)
    X, h = 20.0 * rng.random((240, 2)), "decision_function" if estimator is SVC else "predict"
    y = X @ [1.0, 0.5] + rng.normal(size=240)
    options = {"kernel": "linear", "C": 0.01, "cache_size": 0.4, "engine": engine, "max_iter": 20_000}
    target = np.where(y > 15, 1, -1) if estimator is SVC else y
    far, near = (estimator(**options).fit(X + offset, target) for offset in (2e4, 0.0))
    assert far.status_ is Status.CONVERGED
    np.testing.assert_allclose(getattr(far, h)(X + 2e4), getattr(near, h)(X), atol=0.01)


@pytest.mark.parametrize(("offset", "is_said"), [(1e4, True), (1.0, False)])
def test_a_float32_matrix_is_said_where_it_moves_decision_values(offset, is_said):
    """60 examples with α = 1, and values of 10,001 that float32 rounds by 5e-4 each, beside a tolerance of 1e-3."""
    y = np.tile([1.0, -1.0], 30)
    K = np.eye(60) + offset
    problem = DualProblem.classification(K, y, kernel=Precomputed(), C=2.0)
    problem = problem.with_gram(Gram(Precomputed(), K.astype(np.float32)))
    with warnings.catch_warnings(record=True, action="always") as said:
        solution = solve(problem, engine="numpy", cache_dtype="float32")
    np.testing.assert_allclose(solution.alpha, y, atol=1e-2)
    places = [each.filename for each in said if "float32 kernel values" in str(each.message)]
    assert places == [__file__] * is_said


# -- one class ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:float32 kernel values")
@pytest.mark.parametrize("cache_dtype", ["auto", "float64", "float32"])
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_at_most_the_share_nu_is_outside(kernel, repeated, cache_dtype, eager):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3)) + 2.0
    X = X[rng.integers(0, 10, 400)] if repeated else X
    for nu in (0.1, 0.5):
        options = {"nu": nu, "gamma": 0.3, "kernel": kernel, "cache_size": 0.7, "engine": "numpy"}
        model = OneClassSVM(cache_dtype=cache_dtype, **options).fit(X)
        outside = model.predict(X) < 0
        assert not (outside & (model.alpha_ < 1.0)).any()
        assert outside.mean() <= nu


# -- rounds ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("C", [100.0, 800.0])
def test_rounds_leave_float32_rows_too(C, engine, eager):
    """Their decision values are read off G, and solutions that rounds begin with are those of float64 rows then."""
    problem = problem_with(C)
    rounds = Rounds(problem, engine=engine, stop=KKTGap(1e-3))
    small = rounds.boxed(problem.lower / C, problem.upper / C)
    rounds.solutions["small"] = rounds.solve(small)
    assert rounds.solutions["small"].rounding > 0.0
    for box in (problem, problem.without(3), rounds.boxed(problem.lower / 2.0, problem.upper / 2.0)):
        solution = rounds.solve(box)
        exact = problem.v - problem.gradient(solution.alpha) + solution.intercept
        np.testing.assert_allclose(solution.decision_values, exact, atol=1e-4)
    assert solution.rounding == rounds.solutions["small"].rounding == 0.0
    again = rounds.solve(small, start=rounds.solutions["small"].alpha, origin=rounds.solutions["small"])
    np.testing.assert_allclose(again.gradient, problem.gradient(again.alpha), atol=1e-9)


def test_float32_rows_of_equal_examples_are_not_called_indefinite():
    """Their curvature is 0; K of a callable may be indefinite, and its rows are looked at."""
    X, y = np.repeat(np.arange(8.0), 2)[:, None], np.tile([1, -1], 8)
    problem = DualProblem.classification(X, y, kernel=lambda A, B: np.exp(-((A - B.T) ** 2)), C=1.0)
    solution = solve(problem, engine="numpy", shrinking=False, cache_dtype="float32")
    assert solution.status is Status.CONVERGED
    assert solution.rounding > 0.0


@pytest.mark.parametrize("room", [1.001, 0.999])
@pytest.mark.parametrize(("below", "above"), [(1.0, 1.0), (1.0, 8.0), (8.0, 1.0), (0.0, 2.0), (2.0, 0.0)])
def test_one_variable_at_its_bound_may_round_so_much_on_float32_rows(below, above, room, monkeypatch):
    """The farthest bound of all counts, on whichever side of 0 it is."""
    monkeypatch.setattr("refsvm.services.float32.float32_pays", lambda *_, **__: True)
    C = max(below, above)
    n = 6
    K = np.eye(n) * 3.0
    problem = DualProblem(
        Gram(Precomputed(), K), np.ones(n), 0.0, np.append(-below, np.full(n - 1, -0.5 * below)),
        np.append(np.full(n - 1, 0.5 * above), above),
    )  # fmt: skip
    tolerance = 2.0 * ROUNDING * 3.0 * C / SHARE_OF_TOLERANCE
    rules = chosen_rules(None, None, KKTGap(room * tolerance))
    assert begins_in_float32(problem, rules, 200.0) == (room > 1.0)


@pytest.mark.parametrize("n", [70, 200])
@pytest.mark.parametrize("is_shared", [False, True])
def test_copies_of_rows_have_room_for_64_at_least(n, is_shared):
    """Or for as many as are asked for, where variables share their rows; however little memory there is."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    for at_least in (2, 64, 66):
        if is_shared:
            half = Gram(RBF(0.5), X[: n // 2])
            rows = stored_rows(View(half, np.tile(np.arange(n // 2), 2)), megabytes(2, n), at_least=at_least)
        else:
            rows = stored_rows(Gram(RBF(0.5), X), megabytes(2, n), np.float32, at_least=at_least)
        assert rows.capacity == (max(64, at_least) if is_shared else 64)
