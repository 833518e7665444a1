"""What a solution says about itself, its trace included; and what `solve` refuses."""

from __future__ import annotations

import warnings
from itertools import count

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    NewtonStep,
    PlanningAheadStep,
    Precomputed,
    Status,
    WorkingSetSelector,
    iterate,
    solve,
)

from ...catalogue import PROBLEMS, SELECTORS
from ...settings import INTERPRETED
from .plain import PLAIN

pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


def test_a_solution_is_consistent(engine, shrinking):
    solution = solve(PLAIN, engine=engine, shrinking=shrinking, trace=True)
    assert solution.objective == pytest.approx(PLAIN.objective(solution.alpha), rel=1e-12)
    assert solution.primal_objective == pytest.approx(PLAIN.primal_objective(solution.alpha), rel=1e-10)
    assert solution.duality_gap == solution.primal_objective - solution.objective
    assert solution.kkt_gap == pytest.approx(PLAIN.kkt_gap(solution.alpha), abs=1e-12)
    assert solution.intercept == pytest.approx(PLAIN.intercept(solution.alpha), abs=1e-12)
    assert solution.reason == "The KKT gap is at most tol."
    assert 0.0 < solution.seconds < 60.0
    assert 0 < solution.kernel_rows <= PLAIN.n
    assert solution.kernel_hits > 0
    assert len(solution.trace) == solution.iterations


@pytest.mark.parametrize("began", [0.0, 2.0**-8, 1.0, 2.0**30])
def test_seconds_are_a_difference_of_the_clock_whenever_that_began(began, shrinking, monkeypatch):
    """Each look at the clock takes 2⁻¹⁰ s: those of the solve, of its trace, and no other time."""

    def seconds(first):
        times = count()
        monkeypatch.setattr("time.perf_counter", lambda: first + next(times) * 2.0**-10)
        found = solve(PLAIN, engine="numpy", shrinking=shrinking, trace=True)
        assert 0.0 < found.seconds <= next(times) * 2.0**-10
        return found.seconds, found.trace["seconds"].tolist()

    assert seconds(began) == seconds(8.0)


def test_no_start_chooses_the_free_variables_or_b(engine):
    """Penalties of the same sum in both classes: all α end at their bounds, the last one up to rounding."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) < 12, 1.0, -1.0)
    X = rng.normal(size=(40, 2)) + 0.5 * y[:, None]
    C = 0.1 * np.where(y > 0.0, 40 / 24, 40 / 56)
    problem = DualProblem.classification(X, y, kernel=RBF(0.5), C=C)
    corner = problem.lower + problem.upper
    partly = problem.feasible(corner * rng.uniform(size=40))
    found = [
        solve(problem, start=start, engine=engine, stop=KKTGap(1e-6))
        for start in (None, corner, corner * (1.0 - 1e-16), partly)
    ]
    for solution in found:
        np.testing.assert_array_equal(solution.alpha, corner)
        assert solution.kkt_gap < -0.1
        assert solution.intercept == pytest.approx(found[0].intercept, abs=1e-12)


@pytest.mark.parametrize("problem", [PLAIN, PROBLEMS["banana, 700"].problem], ids=["small", "large"])
def test_the_trace_tells_the_whole_story(engine, shrinking, problem):
    if problem.n > 100 and INTERPRETED:
        pytest.skip("slow without the compiler")
    solution = solve(problem, step=NewtonStep(), engine=engine, shrinking=shrinking, trace=True)
    rows = solution.trace.rows
    np.testing.assert_array_equal(rows["iteration"], np.arange(1, solution.iterations + 1))
    alpha, G, K = np.zeros(problem.n), problem.v.copy(), problem.gram.block(np.arange(problem.n))
    for t, row in enumerate(rows):
        alpha[row["i"]] += row["step"]
        alpha[row["j"]] -= row["step"]
        G -= row["step"] * (K[row["i"]] - K[row["j"]])
        assert row["objective"] == pytest.approx(problem.objective(alpha, G), rel=1e-9), f"step {t + 1}"
    np.testing.assert_allclose(alpha, solution.alpha, atol=1e-12)
    assert (np.diff(rows["rows"]) >= 0).all()
    assert rows["rows"][-1] == solution.kernel_rows
    assert (np.diff(rows["seconds"]) >= 0).all()
    assert rows["seconds"][0] > 0.0
    assert rows["seconds"][-1] <= solution.seconds
    assert set(rows["free"].tolist()) <= {0, 1}
    clipped = np.abs(rows["step"] - rows["newton"]) > 1e-9 * np.abs(rows["newton"])
    unplanned = rows["planned"] == 0
    np.testing.assert_array_equal(clipped[unplanned], rows["free"][unplanned] == 0)
    assert (rows["free"][~unplanned] == 1).all()


@pytest.mark.parametrize("every", [2, 7, 1000])
def test_a_thinned_trace_keeps_every_kth_step(every, engine):
    full = solve(PLAIN, engine=engine, shrinking=False, trace=True).trace.rows
    thin = solve(PLAIN, engine=engine, shrinking=False, trace=every).trace.rows
    kept = full[full["iteration"] % every == 0]
    for name in ("iteration", "i", "j", "step", "objective", "gap", "rows"):
        np.testing.assert_array_equal(thin[name], kept[name])


def test_a_long_trace_is_kept_whole(engine):
    """More steps than the buffer of the compiled loop holds."""
    board = PROBLEMS["chessboard"].problem
    if engine == "numba" and INTERPRETED:
        pytest.skip("slow without the compiler")
    rules = {"step": NewtonStep(), "stop": KKTGap(1e-8), "shrinking": False}
    trace = solve(board, engine=engine, trace=True, **rules).trace
    assert len(trace) > 4096
    np.testing.assert_array_equal(trace["iteration"], np.arange(1, len(trace) + 1))
    assert trace["gap"][-1] <= 1e-8 < trace["gap"][:-1].min()


def test_a_trace_becomes_a_data_frame():
    pytest.importorskip("pandas")
    frame = solve(PLAIN, trace=True).trace.to_frame()
    assert frame["planned"].dtype == bool
    assert len(frame) > 1


def test_no_trace_is_recorded_unless_asked_for(engine):
    assert solve(PLAIN, engine=engine).trace is None


# No sum of these goes through BLAS, whose rounding differs between processors.
SEVENTHS = np.array([[2, 1, 0, 1], [1, 3, 1, 0], [0, 1, 2, 1], [1, 0, 1, 3]]) / 7.0 + np.eye(4) / 3.0


@pytest.mark.parametrize("name", ["sevenths", "xor", "overlapping classes", "large penalty", "banana"])
def test_a_tolerance_below_rounding_ends_as_stalled(name, engine):
    """Once steps no longer change α, going on is pointless."""
    sevenths = DualProblem.classification(SEVENTHS, [-1, 1, 1, -1], kernel=Precomputed(), C=100.0)
    problem = sevenths if name == "sevenths" else PROBLEMS[name].problem
    solution = solve(problem, stop=KKTGap(1e-300), engine=engine, shrinking=False, max_iter=20_000)
    assert 0.0 <= solution.kkt_gap < 1e-12
    # the four of "xor" are so symmetric that rounding may cancel: with a gap of exactly 0 nothing is left to do
    if name != "xor" or solution.kkt_gap > 0.0:
        assert solution.status is Status.STALLED
        assert solution.kkt_gap > 0.0
    else:
        assert solution.status is Status.CONVERGED


def test_an_indefinite_kernel_is_warned_about(engine, shrinking):
    with warnings.catch_warnings(action="error"):
        with pytest.raises(UserWarning, match="not positive semi-definite"):
            solve(PROBLEMS["indefinite matrix"].problem, engine=engine, shrinking=shrinking)
        solve(PLAIN, engine=engine, shrinking=shrinking)


# -- what does not fit together ----------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [s for s in SELECTORS if not s.takes_candidates], ids=repr)
def test_planning_needs_a_selector_that_takes_candidates(selector):
    for run in (solve, iterate):
        with pytest.raises(ValueError, match="convergence proof of planned steps") as refusal:
            run(PLAIN, selector=selector, step=PlanningAheadStep())
        assert repr(selector) in str(refusal.value)
        assert "PlanningAheadStep" in str(refusal.value)


@pytest.mark.parametrize("answer", [(10**6, 0), (-2, -3), (-1, 1), (1, -1), (-2, -2)], ids=str)
def test_a_twin_that_chooses_no_variable_is_told_so(answer):
    numba = pytest.importorskip("numba")

    @numba.njit
    def beyond(parameters, state):
        return answer

    class Beyond(WorkingSetSelector):
        def select(self, state):
            return state.top, state.bottom

        def twin(self):
            return beyond

    with pytest.raises(IndexError, match="A twin returned a variable outside 0 to"):
        solve(PLAIN, selector=Beyond(), engine="numba")
