"""Rounds that take long say so after the first of them, once."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest

from refsvm import RBF, Status, cross_validate, leave_one_out
from refsvm.analysis.resampling.workers import Workers
from refsvm.core.rounds import runner
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.datasets import load, make_banana

from ...settings import FAST

HEART = load("heart")
ARGUMENTS = {"kernel": RBF(0.005), "C": 1.0}


@pytest.mark.parametrize("engine", sorted({"numpy", FAST}))
@pytest.mark.parametrize("call", [leave_one_out, cross_validate])
def test_it_is_told_once(call, engine, monkeypatch, caplog):
    monkeypatch.setattr(runner, "NOTICE_FROM", -1.0)  # compiled rounds may all be over
    # rounds that go on for their sign are told by themselves, if they are long
    monkeypatch.setattr(LeftOutTable, "ties", lambda table: [])
    with caplog.at_level(logging.INFO, "refsvm"):
        call(HEART.X, HEART.y, **ARGUMENTS, engine=engine)
    told = [record for record in caplog.records if getattr(record, "notice", False)]
    sentences = [record.getMessage() for record in told if "rounds are left" in record.getMessage()]
    assert 1 <= len(sentences) <= 2  # leave-one-out tries a seeder on a few first
    assert 0 <= int(sentences[0].split()[0]) < HEART.n


def test_short_ones_say_nothing(caplog):
    with caplog.at_level(logging.INFO, "refsvm"):
        cross_validate(HEART.X, HEART.y, **ARGUMENTS)
    assert not any("rounds are left" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    ("rounds", "seconds", "sentence"),
    [
        (9, 4.0, "9 rounds are left; they take about 36 s"),
        (300, 2.0, "300 rounds are left; they take about 10 minutes"),
        (9, 3.0, None),
        (10, 3.0, None),
        (10, 3.05, "10 rounds are left; they take about 30 s"),
        (1, 119.4, "1 round is left; it takes about 119 s"),
        (4, 30.0, "4 rounds are left; they take about 2 minutes"),
        (100, 60.0, "100 rounds are left; they take about 100 minutes"),
    ],
)
def test_the_time_is_that_of_the_rounds_before(rounds, seconds, sentence, caplog):
    with caplog.at_level(logging.INFO, "refsvm"):
        assert runner.log_remaining(rounds, seconds) == (sentence is not None)
    assert [record.getMessage() for record in caplog.records] == [sentence] * (sentence is not None)


def test_the_seconds_are_those_of_one_round_on_each_of_the_workers(monkeypatch, caplog):
    """Three rounds in 30 s: nine more take two workers 45 s. Said once, after the first that leaves something out."""
    clock, asked = [10.0, 11.0, 20.0, 50.0, 60.0, 90.0, 90.0, 120.0, 120.0, 150.0], []
    results = [[None], [4, 5, 6], [7, 8, 9], [10, 11, 12], [13, 14, 15]]
    assert chain_of(results, clock, monkeypatch, caplog, asked) == [None, *range(4, 16)]
    assert caplog.messages == ["9 rounds are left; they take about 45 s"]
    assert asked == [(10.0, True)] * 4


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_rounds_that_come_one_by_one_are_shared_if_they_are_compiled(engine, monkeypatch, caplog):
    """A long round is a chunk of its own; that of all examples says nothing of those that leave some out."""
    asked = []
    chain_of(
        [[None], [4], [5], [6]], [0.0, 1.0, 1.0, 3.0, 3.0, 6.0, 6.0, 9.0], monkeypatch, caplog, asked, engine
    )
    assert asked == [(each, engine == "numba") for each in (2.0, 3.0, 3.0)]


def test_rounds_that_come_with_that_of_all_examples_are_a_measure(monkeypatch, caplog):
    results, clock = [[None, 4, 5], [6, 7], [8]], [0.0, 90.0, 90.0, 91.0, 91.0, 92.0]
    assert chain_of(results, clock, monkeypatch, caplog, []) == [None, *range(4, 9)]
    assert caplog.messages == ["3 rounds are left; they take about 45 s"]


def chain_of(results, clock, monkeypatch, caplog, asked, engine="numba"):
    """What rounds have left out that come in these parts while the clock goes so."""
    parts, times = iter(results), iter(clock)
    backend = SimpleNamespace(
        rounds=lambda *_: [SimpleNamespace(left_out=r, status=Status.CONVERGED) for r in next(parts)],
        name=engine,
    )
    limits = SimpleNamespace(callback=None, seconds_left=lambda: float("inf"))
    family = SimpleNamespace(status=Status.CONVERGED, workers=Workers(2), backend=backend, limits=limits)
    monkeypatch.setattr(runner, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    monkeypatch.setattr(
        "refsvm.analysis.resampling.workers.sharing_pays",
        lambda _, each, is_compiled: asked.append((each, is_compiled)),
    )
    chain = object.__new__(runner.Runner)
    chain.family = family
    with caplog.at_level(logging.INFO, logger="refsvm"):
        return [each.left_out for each in chain.run(range(sum(map(len, results))))]


def test_the_times_of_rounds_add_up():
    found = cross_validate(HEART.X[:40], HEART.y[:40], **ARGUMENTS, folds=4, engine="numpy")
    assert found.seed_seconds == sum(each.seed_seconds for each in found.rounds)
    assert found.solve_seconds == sum(each.solve_seconds for each in found.rounds) > 0.0


def large(n=1200):
    """More examples than a call may take that says nothing of a late beginning."""
    data = make_banana(n, rng=0)
    return data.X, data.y


@pytest.fixture
def late(monkeypatch):
    """The first result comes later than any time that is waited for it."""
    started = []

    class Timer:
        def __init__(self, seconds, function, values, named):
            self.seconds, self.tell = seconds, lambda: function(*values, **named)

        def start(self):
            started.append(self.seconds)
            self.tell()

        def cancel(self):
            started.append("over")

    monkeypatch.setattr(runner, "threading", SimpleNamespace(Timer=Timer))
    return started


def test_leave_one_out_says_when_its_first_solution_is_late(late, caplog):
    X, y = large()
    with (
        caplog.at_level(logging.INFO, "refsvm"),
        pytest.warns(UserWarning, match="1200 examples are not decided"),
    ):
        leave_one_out(X, y, kernel=RBF(0.5), max_iter=1)
    [sentence] = [record.getMessage() for record in caplog.records if "takes longer" in record.getMessage()]
    assert "1200 examples" in sentence
    assert late == [3.0, "over"]


def test_a_search_says_when_its_first_fit_is_late_and_what_is_left_after_it(late, monkeypatch, caplog):
    refsvm = pytest.importorskip("refsvm.estimators")
    monkeypatch.setattr(runner, "NOTICE_FROM", -1.0)
    X, y = large()
    search = refsvm.SVCCV(Cs=[0.1, 1.0], gammas=[0.5], cv=2)
    with caplog.at_level(logging.INFO, "refsvm"):
        search.fit(X, y)
    told = [record.getMessage() for record in caplog.records if "fits" in record.getMessage()]
    assert (
        told[0]
        == "The first of 4 fits of 1200 examples takes longer than 3 s; all fits together may take more than 12 s"
    )
    assert told[1].startswith("3 fits are left; they take about ")
    assert len(told) == 2
    assert late == [3.0, "over"]


def test_short_calls_start_no_timer(late):
    leave_one_out(HEART.X, HEART.y, **ARGUMENTS)
    assert late == []
