"""Rounds in a given order: compiled and readable ones agree bit for bit, and each reaches the optimum."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings

import numpy as np
import pytest

from refsvm import RBF, ActiveSet, Cold, DualProblem, Linear, Precomputed, SecondOrder, Status, solve
from refsvm.datasets import load
from refsvm.kernels.single import SinglePrecision
from refsvm.resampling import sequence as sequence_module
from refsvm.resampling.grid import planned
from refsvm.resampling.sequence import RoundSequence

from ..settings import needs_jit, needs_numba

USUAL = RBF(0.02)


def data(name):
    """X, y of the degenerate sets."""
    heart = load("heart")
    X, y = heart.X[::6], heart.y[::6]
    if name == "duplicates":
        X = np.repeat(X[::3], 3, axis=0)[: len(y)]  # with labels that contradict each other
    if name == "one point":
        X = np.zeros_like(X)
    return X, y


def run(engine, X, y, Cs, kernel=USUAL, seeder=None, *, folds=3, one_class=False, single=False, **options):
    """All C on some folds; return how the rounds ended, the sequence, the plan and the factors."""
    problem = DualProblem.classification(X, y, kernel=kernel)
    if single:
        values = problem.gram.block(np.arange(problem.n)).astype(np.float32)
        problem = problem.with_gram(SinglePrecision(values, 0.0))
    parts = np.arange(len(y)) % folds
    factors = np.array([(parts != fold) * 1.0 for fold in range(folds)])
    if one_class:
        factors[0] *= y > 0
    rule = ActiveSet() if seeder is None else seeder
    wanted = [list(range(len(Cs)))] * folds
    _, plan = planned(range(folds), wanted, np.array(Cs), rule, neighbours=seeder is None)
    rounds = RoundSequence(problem, factors, rule, 2 * folds, engine=engine, **options)
    return list(rounds.run(plan)), rounds, plan, factors


def assert_same(first, second):
    for one, two in zip(first[0], second[0], strict=True):
        assert (one.status, one.iterations) == (two.status, two.iterations)
        np.testing.assert_array_equal(one.decision_values, two.decision_values)
    for name in ("alpha", "gradient", "lower", "upper"):
        np.testing.assert_array_equal(getattr(first[1].kept, name), getattr(second[1].kept, name))


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
    "many folds": {"folds": 18, "Cs": [1.0]},
}


@needs_numba
@pytest.mark.parametrize("long", [False, True], ids=["short rounds", "long rounds"])
@pytest.mark.parametrize("name", CASES)
def test_compiled_rounds_are_the_readable_ones(name, long, monkeypatch):
    if long:
        monkeypatch.setattr(sequence_module, "short_round", lambda n, is_single: 15)
    X, y = data(name)
    case = {"Cs": [0.1, 1.0, 30.0, 40.0]} | CASES[name]
    assert_same(run("numba", X, y, **case), run("numpy", X, y, **case))


@needs_numba
@pytest.mark.parametrize("long", [False, True], ids=["short rounds", "long rounds"])
@pytest.mark.parametrize("name", ["usual", "duplicates", "tiny and huge C", "one class in training"])
def test_rows_of_single_precision_are_no_exception(name, long, monkeypatch):
    if long:
        monkeypatch.setattr(sequence_module, "short_round", lambda n, is_single: 15)
    X, y = data(name)
    case = {"Cs": [0.1, 1.0, 30.0, 40.0], "single": True} | CASES[name]
    single = run("numba", X, y, **case)
    assert_same(single, run("numpy", X, y, **case))
    if name == "usual":
        usual = run("numba", X, y, **case | {"single": False})
        assert not np.array_equal(single[1].kept.alpha, usual[1].kept.alpha)
        np.testing.assert_allclose(single[1].kept.gradient, usual[1].kept.gradient, atol=3e-3)


@needs_numba
def test_a_rule_of_another_kind_is_called_through_its_pointer():
    from refsvm import MostViolatingPair, NewtonStep

    X, y = data("usual")
    rules = {"selector": MostViolatingPair(), "step": NewtonStep()}
    for single in (False, True):
        assert_same(*(run(engine, X, y, [1.0, 5.0], **rules, single=single) for engine in ("numba", "numpy")))


@needs_numba
def test_an_indefinite_kernel_is_told_once():
    y = data("usual")[1]
    values = np.random.default_rng(0).normal(size=(len(y), len(y)))
    case = {"X": values + values.T, "y": y, "Cs": [1.0, 5.0], "kernel": Precomputed(), "max_iter": 500}
    results = []
    for engine in ("numba", "numpy"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            results.append(run(engine, **case))
        assert ["not positive semi-definite" in str(each.message) for each in told] == [True]
    assert_same(*results)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
@pytest.mark.parametrize("seeder", [None, Cold()], ids=repr)
def test_each_round_is_solved(engine, seeder):
    X, y = data("usual")
    Cs = [0.5, 1.0, 50.0]
    ended, rounds, plan, factors = run(engine, X, y, Cs, seeder=seeder)
    problem = DualProblem.classification(X, y, kernel=RBF(0.02))
    for turn, each in zip(plan, ended, strict=True):
        size = factors[turn["box"]] * turn["penalty"]
        alone = solve(problem.boxed(problem.lower * size, problem.upper * size))
        assert each.status is Status.CONVERGED
        np.testing.assert_allclose(each.decision_values, alone.decision_values, atol=3e-3)
    last = plan[-1]["place"]
    kept = problem.boxed(rounds.kept.lower[last], rounds.kept.upper[last])
    assert kept.kkt_gap(rounds.kept.alpha[last]) <= 1.001e-3


def test_rows_that_do_not_fit_are_computed_on_demand():
    X, y = data("usual")
    whole, scarce = (run("auto", X, y, [1.0, 10.0], cache_mb=size)[0] for size in (200.0, 0.02))
    for one, two in zip(whole, scarce, strict=True):
        np.testing.assert_allclose(one.decision_values, two.decision_values, atol=3e-3)


@pytest.mark.parametrize("engine", ["auto", "numpy"])
def test_the_limit_on_steps_counts_all_of_a_round(engine, monkeypatch):
    monkeypatch.setattr(sequence_module, "short_round", lambda n, is_single: 15)
    X, y = data("usual")
    steps = [each.iterations for each in run(engine, X, y, [1.0, 1e4], max_iter=20)[0]]
    assert max(steps) == 20


def test_each_round_knows_where_it_starts_from():
    wanted, Cs = [[0, 1, 2], [0, 2], [0, 1, 2]], np.array([1.0, 2.0, 4.0])
    turns, plan = planned(range(3), wanted, Cs, ActiveSet(), neighbours=True)
    solved, kept = {}, {}
    for (split, place), turn in zip(turns, plan, strict=True):
        before = {name: kept.get(int(turn[name])) for name in ("source", "before", "after")}
        assert before["source"] == (split, solved[split]) if split in solved else before["source"] is None
        beside = [other for other, at in solved.items() if at == place and other < split]
        after = (max(beside), place) if beside else None
        assert before["after"] == after
        if before["before"] is not None:
            assert before["before"] == (after[0], solved[split])
        kept[int(turn["place"])], solved[split] = (split, place), place
        assert (turn["box"], turn["penalty"]) == (split, Cs[place])
    assert [int(turn["before"]) >= 0 for turn in plan] == [False] * 4 + [True] + [False] * 3


def test_what_the_neighbour_tells_saves_steps():
    heart = load("heart")
    ended = [
        run("auto", heart.X, heart.y, [1.0, 2.0, 4.0, 8.0], RBF(0.3), seeder, folds=5)[0]
        for seeder in (None, ActiveSet())
    ]
    steps = [sum(each.iterations for each in rounds) for rounds in ended]
    assert steps[0] < 0.95 * steps[1]


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
