"""Experiments: nothing is run twice, and nothing finished is lost."""

import signal
from dataclasses import dataclass, replace

import numpy as np
import pytest

from refsvm import NewtonStep, Status
from refsvm.experiment import Experiment, Problem, Solve, Strategy
from refsvm.experiment import solve as solve_module

from ..interrupts import press_in_solve
from .echoes import Echo, echoes, numbered, refused, rows_of, without_seconds
from .two_hundred import two_hundred


def test_a_finished_run_is_not_repeated(store, solved):
    small = replace(two_hundred(store), permutations=2)
    assert small.run() == len(solved) == 8
    larger = replace(small, permutations=3)
    assert larger.run() == 4
    assert len(solved) == 12
    assert larger.run() == 0
    assert len(solved) == 12
    assert len(larger.records()) == len(rows_of(store)) == 12


def orders_by(experiment, *names):
    """Return the orders that were seen, by these entries of their records."""
    orders = {}
    for record in experiment.records():
        orders.setdefault(tuple(record[name] for name in names), []).append(record["order"])
    return orders


def test_every_strategy_gets_the_same_orders_and_every_order_is_another_one(store):
    experiment = echoes(store, seed=5)
    assert experiment.run() == 24
    orders = orders_by(experiment, "problem", "permutation")
    assert all(len(pair) == 2 and pair[0] == pair[1] for pair in orders.values())
    assert len({tuple(pair[0]) for pair in orders.values()}) == 12
    expected = np.arange(1.0, 21)[np.random.default_rng((5, 3)).permutation(20)]
    assert orders["numbered", 3][0] == expected.tolist()


@dataclass(frozen=True)
class Named(Echo):
    """Fields by the names that an experiment has for its own: they are settings of the strategy and nothing else."""

    examples: int = 10
    seed: int = 0
    permutation: int = 0
    C: float = 1.0
    code: str = ""


@pytest.mark.parametrize("field", ["examples", "seed", "permutation", "C", "code"])
def test_fields_of_a_strategy_by_names_of_the_experiment_are_settings_like_others(store, field):
    problems = [Problem("C = 1", numbered, C=1.0), Problem("C = 2", numbered, C=2.0)]
    ways = [Named("one", **{field: 3 if field != "code" else "a"}), Named("two"), Echo("three")]
    experiment = Experiment(ways, problems, store, permutations=2, seed=5)
    assert experiment.run() == 12
    for (k,), found in orders_by(experiment, "permutation").items():
        order = np.random.default_rng((5, k)).permutation(20)
        assert found == 6 * [np.arange(1.0, 21)[order].tolist()]
    assert replace(experiment, seed=6).run() == 12


def test_progress_counts_what_was_there_before(store):
    experiment = echoes(store, permutations=1)
    experiment.run()
    counts = []
    replace(experiment, permutations=2).run(callback=lambda at: counts.append((at.done, at.total)))
    assert counts == [(4, 8), (5, 8), (6, 8), (7, 8), (8, 8)]


def test_the_callback_can_end_it(store):
    experiment = echoes(store, permutations=3)
    assert experiment.run(callback=lambda at: at.done == 5) == 5
    assert experiment.run(callback=lambda at: True) == 0
    assert experiment.run() == 7
    with pytest.raises(ValueError, match="callback=3 cannot be called"):
        experiment.run(callback=3)


def test_several_processes_find_what_one_finds(store, tmp_path):
    pytest.importorskip("joblib")
    experiment = replace(two_hundred(store), permutations=3)
    assert experiment.run(n_jobs=2) == 12
    alone = replace(experiment, store=tmp_path / "alone.sqlite")
    assert alone.run() == 12
    assert without_seconds(experiment) == without_seconds(alone)
    assert experiment.run(n_jobs=2) == 0


def test_an_interrupted_run_is_not_stored(store, monkeypatch):
    def interrupted(*arguments, **more):
        return replace(plain(*arguments, **more), status=Status.INTERRUPTED)

    plain = solve_module.solve
    monkeypatch.setattr(solve_module, "solve", interrupted)
    experiment = replace(two_hundred(store), permutations=1)
    with pytest.raises(KeyboardInterrupt):
        experiment.run()
    assert rows_of(store) == []
    monkeypatch.undo()
    assert experiment.run() == 4


def test_a_refusal_is_recorded_and_the_others_go_on(store):
    strategies = [Solve("tight", engine="numpy", cache_mb=1e-9), Echo("echo")]
    experiment = echoes(store, strategies=strategies, permutations=2)
    assert (experiment.run(), experiment.run()) == (8, 0)
    refused_runs = [record for record in experiment.records() if record["status"] == "REFUSED"]
    names = [f"{record['problem']} {record['strategy']}" for record in refused_runs]
    assert names == ["numbered tight"] * 2 + ["long tight"] * 2
    assert all("does not hold two kernel rows" in record["reason"] for record in refused_runs)
    pytest.importorskip("tabulate")
    for grid in (experiment.table("first", baseline="tight"), experiment.listing(["first"])):
        assert "–" in grid.to_markdown()
        for name in ("numbered", "long"):
            assert f"\n\ntight refused {name}: cache_mb=1e-09" in grid.to_markdown()
            assert f"\n% tight refused {name}: cache_mb=1e-09" in grid.to_latex()
    alone = replace(experiment, strategies=strategies[:1])
    refused(
        lambda: alone.compare("seconds"),
        "The strategies refused every problem; the first message: cache_mb=1e-09",
    )


def test_seconds_that_do_not_compare_are_told(store):
    @dataclass(frozen=True)
    class By(Echo):
        engine: str = "numba"

        def run(self, instance):
            return {"seconds": 1.0, "iterations": 7, "engine": self.engine}

    problems = [Problem("numbered", numbered)]
    alike = Experiment([By("a"), By("b", 2.0)], problems, store)
    mixed = Experiment([By("a"), By("b", engine="numpy")], problems, store)
    assert (alike.run(), mixed.run()) == (2, 1)
    assert alike.compare("seconds").notes == mixed.compare("iterations").notes == ()
    assert mixed.compare("seconds").notes == (
        "These seconds differ in how they were measured (engine: numba; numpy).",
    )


def test_strategies_are_warmed_up_once_in_a_process(store, monkeypatch):
    from refsvm.experiment import experiment as module

    @dataclass(frozen=True)
    class Warm(Echo):
        def warm_up(self):
            warmed.append(self.factor)

    warmed = []
    monkeypatch.setattr(module, "_warm", set())
    echoes(store, strategies=[Warm("a"), Warm("b", 2.0)], permutations=3).run()
    assert warmed == [1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"strategies": []}, ["strategies is empty", "at least one Strategy"]),
        ({"problems": []}, ["problems is empty"]),
        ({"strategies": [NewtonStep()]}, ["strategies holds NewtonStep()", "not a Strategy"]),
        ({"strategies": [Echo("a"), Echo("a", 2.0)]}, ["two items with the name 'a'"]),
        ({"problems": [numbered]}, ["problems holds", "not a Problem"]),
        ({"permutations": 0}, ["permutations=0", "whole number"]),
        ({"seed": -1}, ["seed=-1"]),
        ({"seed": 1.5}, ["seed=1.5"]),
    ],
)
def test_a_bad_experiment_is_refused(store, change, parts):
    refused(lambda: echoes(store, **change), *parts)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_a_bad_number_of_processes_is_refused(store, n_jobs):
    refused(lambda: echoes(store).run(n_jobs=n_jobs), f"n_jobs={n_jobs!r}", "-1")


@pytest.mark.parametrize(("after", "stored"), [(False, 2), (True, 3)])
def test_ctrl_c_ends_the_experiment_and_keeps_what_is_finished(store, monkeypatch, after, stored):
    before = signal.getsignal(signal.SIGINT)
    press_in_solve(monkeypatch, 3, after=after)
    experiment = replace(two_hundred(store), permutations=2)
    with pytest.raises(KeyboardInterrupt, match=rf"after {stored} of 8 runs") as raised:
        experiment.run()
    assert raised.value.result is experiment
    assert len(rows_of(store)) == stored
    assert signal.getsignal(signal.SIGINT) is before
    monkeypatch.undo()
    assert experiment.run() == 8 - stored


@pytest.mark.parametrize("finished", [3, 8])
def test_a_press_between_two_runs_or_after_the_last_is_not_lost(store, finished):
    def press(at):
        if at.done == finished:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        replace(two_hundred(store), permutations=2).run(callback=press)
    assert len(rows_of(store)) == finished


def test_a_run_without_a_status_counts_as_interrupted_when_ctrl_c_came(store):
    @dataclass(frozen=True)
    class Pressed(Strategy):
        def run(self, instance):
            signal.raise_signal(signal.SIGINT)
            return {"half": 0.5}

    experiment = Experiment([Pressed("pressed")], [Problem("numbered", numbered)], store)
    with pytest.raises(KeyboardInterrupt):
        experiment.run()
    assert rows_of(store) == []
