"""The solver: every rule on every problem, and known answers."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import refsvm
from refsvm import (
    RBF,
    DualProblem,
    Greedy,
    KKTGap,
    MaximumGain,
    MostViolatingPair,
    Rounds,
    Seeder,
    Status,
    StepRule,
    StoppingRule,
    WorkingSetSelector,
    iterate,
    solve,
)
from refsvm.core.solver import shrinking as shrinking_room
from refsvm.datasets import make_chessboard
from refsvm.testing import SHRINK_EARLY, check_strategy
from refsvm.testing.contract import infeasibility

from ...catalogue import PROBLEMS, RULES, combinations
from ...settings import FAST
from .plain import PLAIN

EASY = {name: known for name, known in PROBLEMS.items() if not known.hard and not known.large}
LARGE = [name for name, known in PROBLEMS.items() if known.large]
CONVEX = {name: known for name, known in EASY.items() if known.psd}
ANSWERED = [name for name, known in PROBLEMS.items() if known.objective is not None]
COMBINATIONS = list(combinations())
BASES = WorkingSetSelector, StepRule, StoppingRule, Seeder
pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


def stalls(selector: WorkingSetSelector) -> bool:
    return isinstance(selector, MaximumGain)


# -- the catalogue -----------------------------------------------------------------------------------------


def test_every_exported_rule_is_in_the_catalogue():
    exported = {
        member
        for name in refsvm.__all__
        if inspect.isclass(member := vars(refsvm).get(name))
        and issubclass(member, BASES)
        and member not in BASES
    }
    assert exported == {type(rule) for rule in RULES}


@pytest.mark.slow
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


def test_small_problems_are_shrunk_here(engine, monkeypatch):
    """Otherwise the tests with shrinking would say nothing."""
    sizes = []
    before = shrinking_room.restricted

    def watched(state, active, *rest):
        sizes.append(len(active))
        return before(state, active, *rest)

    monkeypatch.setattr("refsvm.core.solver.shrinking.restricted", watched)
    solve(PLAIN, stop=KKTGap(1e-8), engine=engine, shrinking=SHRINK_EARLY)
    assert len(sizes) >= 2
    assert max(sizes) < PLAIN.n


@pytest.mark.slow
@pytest.mark.parametrize(("shrinking", "tol"), [(False, 1e-8), (SHRINK_EARLY, 1e-6)], ids=["plain", "shrunk"])
@pytest.mark.parametrize(("selector", "step"), COMBINATIONS, ids=repr)
def test_all_rules_reach_the_same_objective(selector, step, shrinking, tol):
    names, near = (
        [name for name in CONVEX if not shrinking or "1e12" not in name],
        1e-5 if shrinking else 1e-8,
    )
    if isinstance(selector, Greedy) and FAST != "numba" and not shrinking:
        names = ("xor", "any box", "banana")
    rules = {"selector": selector, "step": step, "stop": KKTGap(tol), "shrinking": shrinking}
    for name in names:
        problem, best = PROBLEMS[name].problem, reference(name)
        solution = solve(problem, **rules, engine=FAST, max_iter=100_000 if shrinking else None)
        if stalls(selector) and solution.status is Status.STALLED:
            assert solution.objective <= best.objective + 1e-8 * abs(best.objective), name
            continue
        assert solution.status is Status.CONVERGED, name
        assert solution.objective == pytest.approx(best.objective, rel=near), name
        assert problem.kkt_gap(solution.alpha) <= 1.01 * tol + rounding(problem), name


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


def test_the_options_of_iterate_are_those_of_solve():
    ours, theirs = (inspect.signature(each).parameters for each in (refsvm.iterate, solve))
    assert all(each.default == theirs[name].default for name, each in ours.items())


@pytest.mark.parametrize(
    "run",
    [
        lambda problem, start: solve(problem, start=start, engine="numpy"),
        lambda problem, start: [*iterate(problem, start=start)],
        lambda problem, start: Rounds(problem, engine="numpy").solve(start=start),
    ],
    ids=["solve", "iterate", "rounds"],
)
def test_warnings_name_the_line_of_the_caller(run):
    sparse = pytest.importorskip("scipy.sparse")
    far = DualProblem.classification(sparse.csr_array([[1e9], [1e9 + 1.0]]), [-1, 1], kernel=RBF(1e-3))
    near = DualProblem.classification([[0.0], [1.0]], [-1, 1])
    for problem, start, sentence in (
        (near, [3.0, 3.0], "start is not feasible"),
        (far, None, "subtract the mean"),
    ):
        with pytest.warns(UserWarning, match=sentence) as said:
            run(problem, start)
        assert {each.filename for each in said if sentence in str(each.message)} == {__file__}
