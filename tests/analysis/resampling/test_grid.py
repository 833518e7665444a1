"""Rounds in a given order: compiled and readable ones agree bit for bit, and each reaches the optimum."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from operator import attrgetter

import numpy as np
import pytest

from refsvm import (
    RBF,
    ActiveSet,
    Cold,
    DualProblem,
    KKTGap,
    Linear,
    MostViolatingPair,
    NewtonStep,
    Precomputed,
    Rounds,
    SecondOrder,
    Status,
    leave_one_out,
    solve,
)
from refsvm.analysis.resampling import grid
from refsvm.analysis.resampling.grid import (
    Split,
    left_out_cells,
    left_out_score,
    planned,
    solve_cells,
    usual_score,
)
from refsvm.analysis.resampling.task import task_given
from refsvm.core.kernels import Gram
from refsvm.core.rounds import runner
from refsvm.datasets import load

from ...settings import needs_jit, needs_numba

USUAL = RBF(0.02)


def data(name):
    """X, y of the degenerate sets."""
    heart = load("heart")
    X, y = heart.X[::6], heart.y[::6]
    if name.startswith("duplicates"):
        X = np.repeat(X[::3], 3, axis=0)[: len(y)]  # with labels that contradict each other
    if name == "one point":
        X = np.zeros_like(X)
    return X, y


def run(engine, X, y, Cs, kernel=USUAL, seeder=None, *, folds=3, one_class=False, single=False, **options):
    """All C on some folds; return how the rounds ended, the family and the plan."""
    problem = DualProblem.classification(X, y, kernel=kernel)
    if single:
        values = problem.gram.block(np.arange(problem.n)).astype(np.float32)
        problem = problem.with_gram(Gram(Precomputed(), values))
    parts = np.arange(len(y)) % folds
    factors = np.array([(parts != fold) * 1.0 for fold in range(folds)])
    if one_class:
        factors[0] *= y > 0
    rule = ActiveSet() if seeder is None else seeder
    wanted = [list(range(len(Cs)))] * folds
    i = np.arange(len(y))
    splits = [Split(k, i, i, each, np.ones(len(y))) for k, each in enumerate(factors)]
    plan = [each for *_, each in planned(splits, wanted, np.array(Cs), rule, neighbours=seeder is None)]
    rounds = Rounds(problem, engine=engine, **options)
    ended = list(rounds.run(plan, rule))
    if rounds.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return ended, rounds, plan


def assert_same(first, second):
    for one, two in zip(first[0], second[0], strict=True):
        assert (one.status, one.iterations) == (two.status, two.iterations)
        np.testing.assert_array_equal(one.values, two.values)
    assert first[1].solutions.keys() == second[1].solutions.keys()
    for name, one in first[1].solutions.items():
        two = second[1].solutions[name]
        for field in ("alpha", "gradient", "problem.lower", "problem.upper"):
            np.testing.assert_array_equal(*map(attrgetter(field), (one, two)))


CASES = {
    "usual": {},
    "duplicates": {},
    "one point": {},
    "tiny and huge C": {"Cs": [1e-8, 1e-3, 1e4, 1e8]},
    "one class in training": {"one_class": True},
    "not to the end": {"max_iter": 7},
    "linear": {"kernel": Linear(), "Cs": [1e-4, 1e-3, 1e-2]},
    "cold": {"seeder": Cold()},
    "one C after another": {"seeder": ActiveSet()},
    "a selector through its pointer": {"selector": SecondOrder(), "step": None, "seeder": ActiveSet()},
    "rules through their pointers": {"selector": MostViolatingPair(), "step": NewtonStep(), "Cs": [1.0, 5.0]},
    "many folds": {"folds": 18, "Cs": [1.0]},
}
CASES |= {
    f"{name}, float32": {**CASES[name], "single": True}
    for name in (
        "usual",
        "duplicates",
        "tiny and huge C",
        "one class in training",
        "rules through their pointers",
    )
}


@pytest.mark.filterwarnings("ignore:float32 kernel values")  # a huge C; what is compared are the engines
@needs_numba
@pytest.mark.parametrize("long", [False, True], ids=["short rounds", "long rounds"])
@pytest.mark.parametrize("name", CASES)
def test_compiled_rounds_are_the_readable_ones(name, long, monkeypatch):
    if long:
        monkeypatch.setattr(runner, "SHORT_ROUND", 15)
    X, y = data(name)
    case = {"Cs": [0.1, 1.0, 30.0, 40.0]} | CASES[name]
    assert_same(run("numba", X, y, **case), run("numpy", X, y, **case))


def test_rows_of_single_precision_are_rounded():
    X, y = data("usual")
    single, double = (run("auto", X, y, [0.1, 30.0], single=each)[1].solutions for each in (True, False))
    for name, one in single.items():
        assert not np.array_equal(one.alpha, double[name].alpha)
        np.testing.assert_allclose(one.gradient, double[name].gradient, atol=3e-3)


@needs_numba
def test_an_indefinite_kernel_is_told_once():
    y = data("usual")[1]
    values = np.random.default_rng(0).normal(size=(len(y), len(y)))
    case = {"X": values + values.T, "y": y, "Cs": [1.0, 5.0], "kernel": Precomputed(), "max_iter": 500}
    results = []
    for engine in ("numba", "numpy"):
        with warnings.catch_warnings(record=True, action="always") as told:
            results.append(run(engine, **case))
        assert ["not positive semi-definite" in str(each.message) for each in told] == [True]
    assert_same(*results)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("seeder", [None, Cold()], ids=repr)
def test_each_round_is_solved(engine, seeder):
    X, y = data("usual")
    Cs = [0.5, 1.0, 50.0]
    ended, rounds, plan = run(engine, X, y, Cs, seeder=seeder)
    problem = DualProblem.classification(X, y, kernel=RBF(0.02))
    for turn, each in zip(plan, ended, strict=True):
        size = turn.weights * turn.C
        alone = solve(problem.boxed(problem.lower * size, problem.upper * size))
        assert each.status is Status.CONVERGED
        np.testing.assert_allclose(each.values, alone.decision_values, atol=3e-3)
    last = rounds.solutions[plan[-1].keep]
    kept = problem.boxed(last.problem.lower, last.problem.upper)
    assert kept.kkt_gap(last.alpha) <= 1.001e-3


def test_rows_that_do_not_fit_are_computed_on_demand():
    X, y = data("usual")
    whole, scarce = (run("auto", X, y, [1.0, 10.0], cache_mb=size)[0] for size in (200.0, 0.02))
    for one, two in zip(whole, scarce, strict=True):
        np.testing.assert_allclose(one.values, two.values, atol=3e-3)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_the_limit_on_steps_counts_all_of_a_round(engine, monkeypatch):
    monkeypatch.setattr(runner, "SHORT_ROUND", 15)
    X, y = data("usual")
    steps = [each.iterations for each in run(engine, X, y, [1.0, 1e4], max_iter=20)[0]]
    assert max(steps) == 20


def test_each_round_knows_where_it_starts_from():
    wanted, Cs = [[0, 1, 2], [0, 2], [0, 1, 2]], np.array([1.0, 2.0, 4.0])
    none = np.zeros(0, dtype=np.int64)
    splits = [Split(k, none, none, np.full(2, k), np.zeros(0)) for k in range(3)]
    turns = planned(splits, wanted, Cs, ActiveSet(), neighbours=True)
    solved, kept = {}, {}
    for split, place, turn in turns:
        number = split.number
        origin, (before, after) = kept.get(turn.origin), map(kept.get, turn.neighbour or (None, None))
        assert origin == ((number, solved[number]) if number in solved else None)
        others = [other for other, at in solved.items() if at == place and other < number]
        assert after == ((max(others), place) if others else None)
        if before is not None:
            assert before == (after[0], solved[number])
        kept[turn.keep], solved[number] = (number, place), place
        assert (turn.weights[0], turn.C) == (number, Cs[place])
    told = [turn.neighbour is not None and turn.neighbour[0] is not None for *_, turn in turns]
    assert told == [False] * 4 + [True] + [False] * 3
    turns = planned(splits, [[0, 1, 2]] * 3, Cs, ActiveSet(), neighbours=True)
    told = [turn.neighbour is not None and turn.neighbour[0] is not None for *_, turn in turns]
    assert told == [False] * 3 + [False, True, True] * 2  # of all that is solved at the same two places


def test_what_the_neighbour_tells_saves_steps():
    heart, steps = load("heart"), []
    for seeder in (None, ActiveSet()):
        ended = run("auto", heart.X, heart.y, [1.0, 2.0, 4.0, 8.0], RBF(0.3), seeder, folds=5)[0]
        steps.append(sum(each.iterations for each in ended))
    assert steps[0] < 0.95 * steps[1]


def test_of_equal_targets_predictions_are_right_or_not():
    """There is nothing to explain: R² has no spread to divide by."""
    X = np.arange(4.0)[:, None]
    split = Split(1, np.array([0, 2, 3]), np.array([1]), np.array([1.0, 0.0, 1.0, 1.0]), np.ones(1))
    for targets, value, score in (([2.0] * 4, 2.0, 1.0), ([2.0] * 4, 2.5, 0.0), ([1.0, 3.0] * 2, 2.0, 0.0)):
        task = task_given(X, np.array(targets), Linear(), None, epsilon=0.1)
        assert left_out_score(task, split, 0, np.array([[value]])) == score
    whole = Split(0, np.arange(4), np.arange(4), np.ones(4), np.array([0.5, 2.0, 1.0, 1.0]))
    task = task_given(X, np.full(4, 2.0), Linear(), None, epsilon=0.1)
    for value, score in ((2.0, 1.0), (2.5, 0.0)):
        assert usual_score(task, whole, 0, np.full((4, 1), value)) == score


def without_each(n):
    """Splits that leave out one example each."""
    i = np.arange(n)
    return [Split(r, i[i != r], i[i == r], (i != r) * 1.0, np.ones(1)) for r in range(n)]


def test_steps_of_cells_that_leave_one_out_are_those_of_leave_one_out():
    """Those on all examples stand with the first cell of each C."""
    heart = load("heart")
    X, y = heart.X[:40], heart.y[:40]
    task = task_given(X, y, Linear(), None)
    cells = [*left_out_cells(task, np.array([0.1, 1.0]), without_each(40), [[0, 1]] * 40)]
    for place, C in enumerate((0.1, 1.0)):
        alone = leave_one_out(X, y, kernel=Linear(), C=C)
        steps = [cell.iterations for cell in cells if cell.place == place]
        assert steps[0] - alone.round_iterations[0] == alone.full_solution.iterations > 0
        assert steps[1:] == alone.round_iterations[1:].tolist()


def test_cells_of_two_splits_that_leave_one_out_are_those_of_all():
    """A search that goes on may have two splits left: what is trained on is what any of them trains on."""
    heart, values = load("heart"), []
    task = task_given(heart.X[:20], heart.y[:20], Linear(), None)
    for some in (without_each(20), without_each(20)[:2]):
        asked: dict[int, np.ndarray] = {}
        cells = left_out_cells(
            task, np.array([0.1]), some, [[0]] * len(some),
            score=lambda split, _, h, asked=asked: asked.update({split.number: h}),
        )  # fmt: skip
        assert [cell.split for cell in cells] == [split.number for split in some]
        values.append(np.concatenate([asked[0], asked[1]]))
    np.testing.assert_allclose(*values, atol=1e-3)


@needs_jit
def test_control_c_ends_compiled_rounds_between_chunks(monkeypatch):
    heart = load("heart")
    Cs = np.logspace(0.0, 5.0, 4000)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    run("numba", heart.X, heart.y, [1.0, 2.0])  # compiles
    gc.disable()  # an interrupt in a callback of the collector, which Hypothesis has, is lost
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run("numba", heart.X, heart.y, Cs)
    finally:
        gc.enable()
        timer.cancel()


def test_a_score_of_one_left_out_example_is_given_the_values_of_all_pairs():
    X, y = np.array([[0.0], [0.4], [1.0], [1.5], [2.2], [2.7]]), np.array([0, 0, 1, 1, 2, 2])
    given: list[np.ndarray] = []

    def score(split, place, values):
        given.append(values)
        return 0.5

    task, how = task_given(X, y, RBF(0.5), None), {"stop": KKTGap(1e-10), "engine": "numpy"}
    cells = left_out_cells(task, np.array([1.0]), without_each(6), [[0]] * 6, score=score, checks=(), **how)
    assert [cell.score for cell in cells] == [0.5] * 6
    loo = leave_one_out(X, y, kernel=RBF(0.5), C=1.0, checks=(), **how)
    np.testing.assert_allclose(np.concatenate(given), loo.decision_values, atol=1e-6)


def test_two_solutions_of_sixteen_splits_are_in_memory_at_most(monkeypatch):
    """Of 20 splits at two C each the first 16 are solved, then the other 4."""
    X, y, made, kept = np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1], [], []
    monkeypatch.setattr(
        grid, "Rounds", lambda *problem, **options: made.append(Rounds(*problem, **options)) or made[-1]
    )
    i = np.arange(6)
    splits = [Split(k, i[i != k % 6], i[i == k % 6], (i != k % 6) * 1.0, np.ones(1)) for k in range(20)]
    task, cells = task_given(X, y, RBF(0.5), None), []
    for cell in solve_cells(task, np.array([1.0, 2.0]), splits, [[0, 1]] * 20, engine="numpy"):
        cells.append((cell.split, cell.place))
        kept.append(len(made[0].solutions))
    assert max(kept) == 2 * 16
    assert cells == [(k, place) for some in (range(16), range(16, 20)) for place in (0, 1) for k in some]
