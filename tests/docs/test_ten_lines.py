"""The short versions of rules that the chapters define decide as the shipped rules do."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from refsvm import (
    ATO,
    AVG,
    MIR,
    RBF,
    SIR,
    TOP,
    ConjugateStep,
    DualProblem,
    HybridMaximumGain,
    KKTGap,
    MaximumGain,
    NewtonStep,
    PlanningAheadStep,
    Rounds,
    SecondOrder,
    cross_validate,
    iterate,
    solve,
)
from refsvm.datasets import make_banana, make_chessboard
from refsvm.seeders.mir import least_squares
from refsvm.seeders.spread import spread
from refsvm.walk.linear_program import longest_fall

CHAPTERS = Path(__file__).parents[2] / "tutorials"
pytestmark = pytest.mark.skipif(not CHAPTERS.is_dir(), reason="the chapters are not here")

banana, board = make_banana(60, rng=1), make_chessboard(60, rng=0)
PROBLEMS = {
    "banana": DualProblem.classification(banana.X, banana.y, kernel=RBF(0.5), C=10.0),
    "chessboard": DualProblem.classification(board.X, board.y, kernel=RBF(0.5), C=1e3),
    "duplicates": DualProblem.classification(
        np.repeat(banana.X[:20], 2, axis=0), np.repeat(banana.y[:20], 2), kernel=RBF(0.5), C=1.0
    ),
}

CORNERS = DualProblem.classification(banana.X, banana.y, kernel=RBF(0.5), C=0.1)


def defined(chapter, *names):
    """Return functions as a chapter defines them; nothing else of it is executed."""
    (file,) = CHAPTERS.glob(f"{chapter}_*.py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    linprog = pytest.importorskip("scipy.optimize").linprog if chapter == "15" else None
    sides = {"BELOW": -1, "FREE": 0, "ABOVE": 1, "CLOSED": 2}
    found = {"np": np, "least_squares": least_squares, "linprog": linprog, "Rounds": Rounds, **sides}
    exec(compile(tree, str(file), "exec"), found)
    return [found[name] for name in names]


def seen(state, problem):
    """What the functions of the chapters look at."""
    K = problem.gram.block(np.arange(problem.n))
    return K, state.gradient, state.alpha, problem.lower, problem.upper


@pytest.mark.parametrize("problem", [*PROBLEMS.values(), CORNERS], ids=[*PROBLEMS, "corners"])
@pytest.mark.parametrize(
    "moved_by", [SecondOrder(), HybridMaximumGain()], ids=lambda rule: type(rule).__name__
)
def test_selectors_choose_the_same_pairs(problem, moved_by):
    second_order, maximum_gain, hybrid = defined("07", "second_order", "maximum_gain", "hybrid_maximum_gain")
    steps, cornered = 0, 0
    for state in iterate(problem, selector=moved_by, step=NewtonStep(), stop=KKTGap(1e-3)):
        if state.gap <= 0.0 or steps == 200:
            break
        last = state.working_sets[0].tolist()
        assert second_order(*seen(state, problem)) == SecondOrder().select(state)
        gaining = maximum_gain(*seen(state, problem), last)
        assert gaining == MaximumGain().select(state)
        chosen = hybrid(*seen(state, problem), last)
        assert chosen == HybridMaximumGain().select(state)
        steps, cornered = steps + 1, cornered + (chosen != gaining)
    assert steps > 20
    assert cornered > (0 if problem is CORNERS else -1)


@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_planned_steps_have_the_same_length(problem):
    (planned_step,) = defined("10", "planned_step")
    before, planned, plain = None, 0, 0
    for state in iterate(problem, step=PlanningAheadStep()):
        i, j = state.working_sets[0].tolist()
        if before is not None:
            looked_at, last, may_plan = before
            own = planned_step(*looked_at, (i, j), last) if may_plan else None
            assert (own is not None) == state.last_planned
            if own is None:
                plain += 1
            else:
                assert state.last_step == pytest.approx(own, rel=1e-9)
                planned += 1
        copies = [np.array(each) for each in seen(state, problem)]
        before = copies, (i, j), state.last_free and not state.last_planned
        if planned + plain == 300:
            break
    assert plain > 5
    assert planned > (5 if problem is not PROBLEMS["duplicates"] else 0)


def test_conjugate_steps_go_the_same_way():
    (conjugate_move,) = defined("10", "conjugate_move")
    problem = DualProblem.classification(
        np.array([[-0.5, 0.0], [0.4, 0.0], [0.0, 0.1]]), np.array([1, 1, -1]), kernel=RBF(0.5), C=1e4
    )
    path = [np.zeros(3)]
    pairs = []
    for state in iterate(problem, step=ConjugateStep(), stop=KKTGap(1e-9)):
        path.append(state.alpha.copy())
        pairs.append(state.working_sets[0].tolist())
        assert state.last_free
    K, moves = problem.gram.block(np.arange(3)), [b - a for a, b in pairwise(path)]
    own = conjugate_move(K, problem.gradient(path[1]), *pairs[1], moves[0])
    assert moves[1] == pytest.approx(own, rel=1e-9)
    assert np.ptp(problem.gradient(path[1] + own)) < 1e-9


@pytest.mark.parametrize("room", [4, 9])
@pytest.mark.parametrize("problem", list(PROBLEMS.values())[:2], ids=list(PROBLEMS)[:2])
def test_a_store_computes_the_same_rows(problem, room):
    (lru,) = defined("08", "lru")
    budget = {"cache_mb": (room + 0.5) * 8 * problem.n / 2**20, "engine": "numpy", "shrinking": False}
    run = solve(problem, step=NewtonStep(), trace=True, **budget)
    pairs = list(zip(run.trace["i"].tolist(), run.trace["j"].tolist(), strict=True))
    states = list(lru(pairs, room))
    assert sum(len(computed) for computed, _ in states) == run.kernel_rows > problem.n
    assert all(
        set(pair) <= set(kept) and len(kept) <= room for pair, (_, kept) in zip(pairs, states, strict=True)
    )


def test_shrinking_in_place_ends_at_the_optimum():
    """With a large C, where variables are dropped that have to come back."""
    (in_place,) = defined("08", "in_place")
    problem = DualProblem.classification(banana.X, banana.y, kernel=RBF(0.5), C=1e3)
    alpha, steps, touched = in_place(problem)
    best = solve(problem, stop=KKTGap(1e-9), engine="numpy")
    assert problem.objective(alpha) == pytest.approx(best.objective, rel=1e-5)
    assert problem.kkt_gap(alpha) <= 1e-3 + 1e-9
    assert touched < steps * problem.n


@pytest.mark.parametrize("problem", list(PROBLEMS.values())[:2], ids=list(PROBLEMS)[:2])
def test_seeds_are_the_same(problem):
    top, avg = defined("11", "top", "avg")
    full = solve(problem, stop=KKTGap(1e-6), engine="numpy")
    K, box = problem.gram.block(np.arange(problem.n)), (problem.lower, problem.upper)
    removed = np.flatnonzero(full.alpha)
    for r in removed:
        left_out = problem.without(int(r))
        assert top(K, full.alpha, *box, r) == pytest.approx(TOP().seed(full, left_out), abs=1e-9)
        assert avg(full.alpha, *box, r) == pytest.approx(AVG().seed(full, left_out), abs=1e-9)
    assert len(removed) > 10


@pytest.mark.parametrize("problem", list(PROBLEMS.values())[:2], ids=list(PROBLEMS)[:2])
def test_replaced_instances_are_the_same(problem):
    """Six of each class leave and as many join, so that every example finds a partner."""
    (sir,) = defined("13", "sir")
    y = np.sign(problem.v)
    leave, join = (np.concatenate([np.flatnonzero(y == s)[k : k + 6] for s in (-1, 1)]) for k in (0, 6))
    before = solve(problem.without(join), stop=KKTGap(1e-6), engine="numpy")
    own = sir(problem.gram.block(np.arange(problem.n)), y, before.alpha, np.sort(leave), np.sort(join))
    assert own == pytest.approx(SIR().seed(before, problem.without(leave)), abs=1e-9)
    assert np.count_nonzero(own[join]) > 3


@pytest.mark.parametrize("problem", list(PROBLEMS.values())[:2], ids=list(PROBLEMS)[:2])
def test_instances_replaced_at_once_are_the_same(problem):
    (mir,) = defined("13", "mir")
    leave, join = np.arange(0, 60, 10), np.arange(3, 60, 10)
    before = solve(problem.without(join), stop=KKTGap(1e-6), engine="numpy")
    K, box = problem.gram.block(np.arange(problem.n)), (problem.lower, problem.upper)
    own = mir(K, before.gradient, before.intercept, before.alpha, box, leave, join, steps=3)
    spread(own, join, -own.sum(), *box)
    assert own == pytest.approx(MIR(max_iter=3).seed(before, problem.without(leave)), abs=1e-9)
    assert np.count_nonzero(own[join]) > 3


@pytest.mark.parametrize("problem", list(PROBLEMS.values())[:2], ids=list(PROBLEMS)[:2])
def test_a_walk_from_fold_to_fold_ends_at_the_seed_of_the_package(problem):
    exchange, *_ = defined("14", "exchange", "event", "sets")
    leave, join = np.arange(0, 60, 10), np.arange(3, 60, 10)
    before = solve(problem.without(join), stop=KKTGap(1e-12), shrinking=False, engine="numpy")
    target = problem.without(leave)
    own, events = exchange(problem.gram.block(np.arange(60)), before, target, leave, join)
    seed = ATO(margin=np.inf, budget=np.inf).seed(before, target)
    assert own == pytest.approx(seed, abs=1e-6 * np.abs(seed).max())
    assert np.count_nonzero(own[join]) > 1
    assert events > 3


@pytest.mark.parametrize("seeder", [SIR(), AVG()], ids=lambda rule: type(rule).__name__)
def test_a_loop_over_folds_reads_the_same_decision_values(seeder):
    (held_out,) = defined("13", "held_out")
    problem, fold = PROBLEMS["banana"], np.arange(60) % 5
    values, rows = held_out(problem, fold, seeder)
    result = cross_validate(problem, folds=fold, seeder=seeder)
    assert values == pytest.approx(result.decision_values.ravel(), abs=1e-12)
    assert rows == problem.n


@pytest.mark.parametrize("seed", range(20))
def test_the_fall_of_the_linear_program_is_the_same(seed):
    (longest,) = defined("15", "longest")
    rng = np.random.default_rng(seed)
    rate, gap, null = rng.normal(size=5), rng.random(10), rng.normal(size=(5, 2))
    given = np.append(rate, -rate), gap, np.vstack([null, -null]), 1.0
    fall, beta = longest(*given)
    assert 0.0 < fall == pytest.approx(longest_fall(*given)[0], abs=1e-9)
    assert (fall * given[0] + given[2] @ beta <= gap + 1e-9).all()
