"""The solver: every rule on every problem, known answers, and what a solution says about itself."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest

import refsvm
from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    NewtonStep,
    PlanningAheadStep,
    Precomputed,
    SecondOrder,
    Seeder,
    Status,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    iterate,
    solve,
)
from refsvm.datasets import make_chessboard
from refsvm.solver import shrinking as shrinking_room
from refsvm.testing import SHRINK_EARLY, check_strategy
from refsvm.testing.contract import infeasibility

from ..catalogue import PROBLEMS, RULES, SELECTORS, STEPS, STOPS, combinations
from ..settings import FAST, INTERPRETED

EASY = {name: known for name, known in PROBLEMS.items() if not known.hard and not known.large}
LARGE = [name for name, known in PROBLEMS.items() if known.large]
CONVEX = {name: known for name, known in EASY.items() if known.psd}
ANSWERED = [name for name, known in PROBLEMS.items() if known.objective is not None]
COMBINATIONS = list(combinations())
X = np.random.default_rng(5).normal(size=(30, 3))
LABELS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1, -1)
PLAIN = DualProblem.classification(X, LABELS, kernel=RBF(0.5), C=10.0)


@pytest.fixture(autouse=True)
def _indefinite_kernels_are_known_here():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The kernel is not positive semi-definite")
        yield


def stalls(selector: WorkingSetSelector) -> bool:
    return isinstance(selector, MaximumGain)


# -- the catalogue -----------------------------------------------------------------------------------------


def test_every_exported_rule_is_in_the_catalogue():
    bases = (WorkingSetSelector, StepRule, StoppingRule, Seeder)
    exported = {
        member
        for name in refsvm.__all__
        if inspect.isclass(member := vars(refsvm).get(name))
        and issubclass(member, bases)
        and member not in bases
    }
    assert exported == {type(rule) for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_every_rule_keeps_its_contract(rule):
    report = check_strategy(rule)
    assert report.rule == repr(rule)


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rules_are_values(rule):
    assert pickle.loads(pickle.dumps(rule)) == rule == copy.copy(rule)
    assert hash(copy.deepcopy(rule)) == hash(rule)


# -- answers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ANSWERED)
def test_known_answers_are_found(name, engine, shrinking):
    known = PROBLEMS[name]
    solution = solve(known.problem, stop=KKTGap(1e-10), engine=engine, shrinking=shrinking)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(known.objective, rel=1e-12, abs=1e-15)
    if known.alpha is not None:
        np.testing.assert_allclose(solution.alpha, known.alpha, atol=1e-9)
    if known.intercept is not None:
        assert solution.intercept == pytest.approx(known.intercept, abs=1e-9)


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_every_combination_can_be_shrunk(selector, step):
    for name in (name for name in CONVEX if "1e12" not in name):
        shrunk = solve(
            PROBLEMS[name].problem,
            selector=selector,
            step=step,
            stop=KKTGap(1e-6),
            engine=FAST,
            max_iter=100_000,
            shrinking=SHRINK_EARLY,
        )
        best = reference(name).objective
        if stalls(selector) and shrunk.status is Status.STALLED:
            assert shrunk.objective <= best + 1e-8 * abs(best), name
            continue
        assert shrunk.status is Status.CONVERGED, name
        assert shrunk.objective == pytest.approx(best, rel=1e-5), name


def test_small_problems_are_shrunk_here(engine, monkeypatch):
    """Otherwise the tests with shrinking would say nothing."""
    sizes = []
    before = shrinking_room.restricted

    def watched(state, active, *rest):
        sizes.append(len(active))
        return before(state, active, *rest)

    monkeypatch.setattr("refsvm.solver.shrinking.restricted", watched)
    solve(PLAIN, stop=KKTGap(1e-8), engine=engine, shrinking=SHRINK_EARLY)
    assert len(sizes) >= 2
    assert max(sizes) < PLAIN.n


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_all_rules_reach_the_same_objective(selector, step):
    names = CONVEX if not isinstance(selector, Greedy) or FAST == "numba" else ("xor", "any box", "banana")
    for name in names:
        problem = PROBLEMS[name].problem
        solution = solve(
            problem, selector=selector, step=step, stop=KKTGap(1e-8), engine=FAST, shrinking=False
        )
        best = reference(name)
        if stalls(selector) and solution.status is Status.STALLED:
            assert solution.objective <= best.objective + 1e-8 * abs(best.objective), name
            continue
        assert solution.status is Status.CONVERGED, name
        assert solution.objective == pytest.approx(best.objective, rel=1e-8), name
        assert problem.kkt_gap(solution.alpha) <= 1.01e-8 + rounding(problem), name


def reference(name: str, cache: dict = {}):  # noqa: B006
    if name not in cache:
        cache[name] = solve(PROBLEMS[name].problem, stop=KKTGap(1e-10), engine=FAST, shrinking=False)
    return cache[name]


def rounding(problem: DualProblem) -> float:
    """How exactly a gradient of the problem can be known at all."""
    largest = float(np.abs([problem.lower, problem.upper]).max() * np.abs(problem.gram.diagonal()).max())
    return 1e-15 * problem.n * min(largest, 1e6)


@pytest.mark.parametrize("name", EASY)
def test_solutions_are_feasible_and_solved(name, engine, shrinking):
    problem = PROBLEMS[name].problem
    solution = solve(problem, stop=KKTGap(1e-5), engine=engine, shrinking=shrinking)
    assert solution.status is Status.CONVERGED
    assert infeasibility(problem, solution.alpha) <= 1e-13
    assert problem.kkt_gap(solution.alpha) <= 1e-5 * (1 + 1e-6) + rounding(problem)
    np.testing.assert_allclose(solution.gradient, problem.gradient(solution.alpha), atol=1e-7)
    assert solution.engine == engine
    if PROBLEMS[name].psd:
        assert solution.duality_gap >= -1e-9 * abs(solution.primal_objective)


@pytest.mark.parametrize("name", [*CONVEX, *LARGE])
def test_shrinking_does_not_change_the_answer(name):
    problem = PROBLEMS[name].problem
    shrunk = solve(problem, stop=KKTGap(1e-8), engine=FAST, shrinking=SHRINK_EARLY)
    assert shrunk.status is Status.CONVERGED
    assert shrunk.objective == pytest.approx(reference(name).objective, rel=1e-8)
    assert infeasibility(problem, shrunk.alpha) <= 1e-13
    assert problem.kkt_gap(shrunk.alpha) <= 1.01e-8 + rounding(problem)


@pytest.mark.parametrize("name", EASY)
def test_a_warm_start_at_the_optimum_takes_no_step(name, engine, shrinking):
    problem = PROBLEMS[name].problem
    solved = solve(problem, stop=KKTGap(1e-6), engine=engine, shrinking=shrinking)
    again = solve(problem, stop=KKTGap(1.001e-6), engine=engine, shrinking=shrinking, start=solved.alpha)
    assert again.iterations == 0
    assert again.status is Status.CONVERGED
    np.testing.assert_array_equal(again.alpha, solved.alpha)


def test_a_long_solve_is_no_worse_a_start():
    """Rounding has moved the sum of α a little by then."""
    if FAST == "numpy":
        pytest.skip("slow without the compiler")
    board = make_chessboard(300, rng=1)
    problem = DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1e6)
    solved = solve(problem, selector=MostViolatingPair(), shrinking=False)
    assert solved.iterations > 100_000
    again = solve(problem, stop=KKTGap(1.001e-3), start=solved.alpha)
    assert again.iterations == 0
    np.testing.assert_allclose(again.alpha, solved.alpha, rtol=1e-9)
    for bound in (problem.lower, problem.upper):
        np.testing.assert_array_equal(again.alpha == bound, solved.alpha == bound)


def test_a_start_elsewhere_leads_to_the_same_optimum(engine, shrinking):
    cold = solve(PLAIN, stop=KKTGap(1e-9), engine=engine, shrinking=shrinking)
    start = PLAIN.feasible(10.0 * np.random.default_rng(0).normal(size=30))
    warm = solve(PLAIN, stop=KKTGap(1e-9), engine=engine, shrinking=shrinking, start=start)
    assert warm.iterations > 0
    assert warm.objective == pytest.approx(cold.objective, rel=1e-10)


@pytest.mark.parametrize("rows", [2, 5])
def test_a_small_cache_costs_rows_and_changes_nothing(rows, engine):
    large = solve(PLAIN, engine=engine, shrinking=False, trace=True)
    small = solve(PLAIN, engine=engine, shrinking=False, trace=True, cache_mb=(rows + 0.5) * 240 / 2**20)
    assert small.kernel_rows > large.kernel_rows
    for name in ("i", "j", "step"):
        np.testing.assert_array_equal(small.trace[name], large.trace[name])
    np.testing.assert_allclose(small.alpha, large.alpha)


def test_a_small_cache_does_not_change_the_answer_of_shrinking(engine):
    small = solve(PLAIN, stop=KKTGap(1e-8), engine=engine, cache_mb=3 * 240 / 2**20)
    assert small.objective == pytest.approx(solve(PLAIN, stop=KKTGap(1e-8)).objective, rel=1e-9)


def test_hybrid_maximum_gain_needs_one_new_row_a_step(engine):
    solution = solve(
        PLAIN,
        selector=HybridMaximumGain(),
        engine=engine,
        shrinking=False,
        trace=True,
        cache_mb=3.5 * 240 / 2**20,
    )
    new = np.diff(solution.trace["rows"])
    reselected = [
        bool({i, j} & {k, m})
        for i, j, k, m in zip(
            solution.trace["i"][1:],
            solution.trace["j"][1:],
            solution.trace["i"],
            solution.trace["j"],
            strict=False,
        )
    ]
    assert new[reselected].max() <= 1


# -- one step at a time ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_iterating_takes_the_steps_of_solve(selector, step):
    walked = [
        (*state.working_sets[0].tolist(), state.last_step, state.gap, state.last_planned)
        for state in iterate(PLAIN, selector=selector, step=step)
    ]
    solution = solve(PLAIN, selector=selector, step=step, engine="numpy", shrinking=False, trace=True)
    names = ("i", "j", "step", "gap", "planned")
    assert walked == list(zip(*(solution.trace[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("name", ["any box", "indefinite matrix", "indefinite kernel", "duplicates", "xor"])
def test_the_state_knows_its_values_after_every_step(name):
    problem = PROBLEMS[name].problem
    for state in iterate(problem, step=PlanningAheadStep()):
        G = problem.gradient(state.alpha)
        assert infeasibility(problem, state.alpha) <= 1e-13
        np.testing.assert_allclose(state.gradient, G, atol=1e-10)
        assert state.gap == pytest.approx(problem.kkt_gap(state.alpha), abs=1e-10)
        assert state.objective == pytest.approx(problem.objective(state.alpha, G), rel=1e-9, abs=1e-12)
    assert state.iteration > 2


def test_the_first_pair_is_the_lowest_of_equals():
    """On K = I all pairs of different labels are equally good."""
    labels = np.array([-1, -1, 1, -1, 1, 1])
    problem = DualProblem.classification(np.eye(6), labels, kernel=Precomputed())
    for selector in SELECTORS:
        state = next(iterate(problem, selector=selector))
        assert state.working_sets[0].tolist() == [2, 0], selector


def test_iterate_ends_with_the_code_of_the_stopping_rule():
    def codes():
        yield (yield from iterate(PLAIN))

    assert list(codes())[-1] == 1


@pytest.mark.parametrize("step", [step for step in STEPS if not step.history], ids=repr)
def test_exact_steps_never_lower_the_objective(step, engine):
    for name, known in EASY.items():
        rows = solve(
            known.problem, step=step, engine=engine, shrinking=False, trace=True, max_iter=200
        ).trace.rows
        falls = np.diff(rows["objective"])
        assert (falls >= -1e-12 * np.abs(rows["objective"][1:])).all(), name


@pytest.mark.parametrize("history", [1, 2, 5])
def test_a_planned_step_and_the_next_never_lower_the_objective_together(history, engine):
    planned = 0
    for name in ("chessboard", "large penalty", "banana", "regression box"):
        problem = PROBLEMS[name].problem
        rows = solve(
            problem,
            step=PlanningAheadStep(history=history),
            engine=engine,
            shrinking=False,
            trace=True,
            max_iter=300,
        ).trace.rows
        f, flag = np.concatenate([[0.0], rows["objective"]]), rows["planned"] == 1
        assert not (flag[1:] & flag[:-1]).any(), "two planned steps in a row"
        for t in np.flatnonzero(flag[:-1]):
            assert f[t + 2] >= f[t] - 1e-12 * abs(f[t])
        planned += int(flag.sum())
    assert planned > 100


# -- what a solution says ----------------------------------------------------------------------------------


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


@pytest.mark.parametrize("problem", [PLAIN, PROBLEMS["banana, 700"].problem], ids=["small", "large"])
def test_the_trace_tells_the_whole_story(engine, shrinking, problem):
    if problem.n > 100 and INTERPRETED:
        pytest.skip("slow without the compiler")
    solution = solve(problem, step=NewtonStep(), engine=engine, shrinking=shrinking, trace=True)
    rows = solution.trace.rows
    np.testing.assert_array_equal(rows["iteration"], np.arange(1, solution.iterations + 1))
    alpha, K = np.zeros(problem.n), problem.gram.block(np.arange(problem.n))
    for t, row in enumerate(rows):
        alpha[row["i"]] += row["step"]
        alpha[row["j"]] -= row["step"]
        objective = problem.objective(alpha, problem.v - K @ alpha)
        assert row["objective"] == pytest.approx(objective, rel=1e-9), f"step {t + 1}"
    np.testing.assert_allclose(alpha, solution.alpha, atol=1e-12)
    assert (np.diff(rows["rows"]) >= 0).all()
    assert rows["rows"][-1] == solution.kernel_rows
    assert (np.diff(rows["seconds"]) >= 0).all()
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
    trace = solve(
        board,
        step=NewtonStep(),
        stop=KKTGap(1e-8),
        engine=engine,
        shrinking=False,
        trace=True,
    ).trace
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


@pytest.mark.parametrize("stop", STOPS, ids=repr)
def test_a_stopping_rule_gives_one_of_its_reasons(stop, engine):
    problem = PLAIN.without(0) if stop.left_out else PLAIN
    solution = solve(problem, selector=HybridMaximumGain(), stop=stop, engine=engine, shrinking=False)
    assert solution.status is Status.CONVERGED
    assert solution.reason in stop.reasons


def test_maximum_gain_alone_may_stall_and_says_so(engine):
    problem = PROBLEMS["duplicates"].problem
    solution = solve(problem, selector=MaximumGain(), engine=engine, shrinking=False)
    assert solution.status is Status.STALLED
    assert solution.reason == Status.STALLED.value
    assert solution.kkt_gap > 1e-3


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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="not positive semi-definite"):
            solve(PROBLEMS["indefinite matrix"].problem, engine=engine, shrinking=shrinking)
        solve(PLAIN, engine=engine, shrinking=shrinking)


def test_one_instance_serves_many_solves(engine, shrinking):
    rules = {"selector": SecondOrder(), "step": PlanningAheadStep(), "stop": KKTGap(1e-6)}
    first, _, third = (
        solve(problem, engine=engine, shrinking=shrinking, **rules)
        for problem in (PLAIN, PROBLEMS["xor"].problem, PLAIN)
    )
    np.testing.assert_array_equal(first.alpha, third.alpha)
    assert first.iterations == third.iterations


# -- what does not fit together ----------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [s for s in SELECTORS if not s.takes_candidates], ids=repr)
def test_planning_needs_a_selector_that_takes_candidates(selector):
    for run in (solve, iterate):
        with pytest.raises(ValueError, match="convergence proof of planned steps") as refusal:
            run(PLAIN, selector=selector, step=PlanningAheadStep())
        assert repr(selector) in str(refusal.value)
        assert "PlanningAheadStep" in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"selector": NewtonStep()}, r"selector=NewtonStep\(\) is not a WorkingSetSelector"),
        ({"selector": MostViolatingPair}, "pass an instance"),
        ({"selector": "second order"}, "selector='second order'"),
        ({"step": SecondOrder()}, "is not a StepRule"),
        ({"stop": 1e-3}, "stop=0.001 is not a StoppingRule"),
    ],
)
def test_what_is_no_rule_is_named(arguments, words):
    for run in (solve, iterate):
        with pytest.raises(ValueError, match=words):
            run(PLAIN, **arguments)


def test_a_twin_that_chooses_no_variable_is_told_so():
    numba = pytest.importorskip("numba")

    @numba.njit
    def beyond(parameters, state):
        return len(state.alpha), 0

    class Beyond(WorkingSetSelector):
        def select(self, state):
            return state.top, state.bottom

        def twin(self):
            return beyond

    with pytest.raises(IndexError, match="beyond the last of"):
        solve(PLAIN, selector=Beyond(), engine="numba")
