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
    KKTGap,
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

from ...catalogue import PROBLEMS, RULES
from ...settings import FAST
from .plain import PLAIN

EASY = {name: known for name, known in PROBLEMS.items() if not known.hard and not known.large}
LARGE = [name for name, known in PROBLEMS.items() if known.large]
CONVEX = {name: known for name, known in EASY.items() if known.psd}
ANSWERED = [name for name, known in PROBLEMS.items() if known.objective is not None]
BASES = WorkingSetSelector, StepRule, StoppingRule, Seeder
pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")


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
