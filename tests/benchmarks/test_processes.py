"""Libraries that crash, hang or eat memory cost one cell of the table."""

import math
import multiprocessing
import re
from pathlib import Path

import numpy as np
import pytest

from refsvm.datasets import Dataset

from .rows import library


def started_since(before):
    """Return the processes that are running now and were not before: other tests may keep some."""
    return set(multiprocessing.active_children()) - before


@pytest.mark.slow
def test_a_crash_costs_one_cell_and_the_library_goes_on_with_the_next_problem(peers, thyroid):
    turns, fit = peers("round_robin"), peers("tasks").Fit
    few = Dataset("few", thyroid.X[100:200], thyroid.y[100:200], C=1.0, gamma=0.05)
    both = [library(peers, "sound"), library(peers, "crashing", "crash", least=201)]
    with turns.RoundRobin(both, turns.Settings(rounds=2)) as side_by_side:
        rows = [side_by_side.measure(fit, data) for data in (thyroid, few)]
    sound, crashed = rows[0].outcomes.values()
    assert 0.0 < sound.seconds <= sound.first < math.inf
    assert crashed.stopped == "crashed: SIGSEGV"
    assert crashed.seconds == crashed.first == math.inf
    assert [outcome.stopped for outcome in rows[1].outcomes.values()] == ["", ""]
    assert peers("agreement").disagreements(rows) == []


@pytest.mark.slow
def test_early_stopping_is_found_through_the_process(peers, thyroid):
    turns, fit = peers("round_robin"), peers("tasks").Fit
    both = [library(peers, "sound"), library(peers, "hasty", "early")]
    with turns.RoundRobin(both, turns.Settings(rounds=1)) as side_by_side:
        (sentence,) = peers("agreement").disagreements([side_by_side.measure(fit, thyroid)])
    found = re.fullmatch(
        r"thyroid: hasty ends (.*) below the best objective, with a KKT gap of (.*)\.", sentence
    )
    assert found is not None
    assert float(found[1]) > 1e-5
    assert float(found[2]) > 1e-3


@pytest.mark.parametrize(
    ("fault", "limits", "reason"),
    [
        ("sleep", {"seconds": 0.6}, "over 0.01 min"),
        ("eat", {"size": 4e8}, "over 0.4 GB"),
        ("raise", {}, "failed: exit code 3"),
    ],
)
@pytest.mark.slow
def test_a_library_is_stopped_at_its_limits(peers, thyroid, tmp_path, fault, limits, reason):
    if fault == "eat" and not Path("/proc/self/status").is_file():
        pytest.skip("the resident size is read from /proc")
    worker, fit = peers("worker"), peers("tasks").Fit
    problem = peers("problems").store(thyroid, tmp_path)
    before = set(multiprocessing.active_children())
    with worker.Worker(library(peers, "bad", fault), worker.Limits(**limits)) as running:
        assert running.ask(fit, problem, 100.0) == worker.Stopped(reason)
        assert not started_since(before)


@pytest.mark.slow
def test_a_stopped_or_killed_process_is_started_anew(peers, thyroid, tmp_path):
    results, worker, store = peers("results"), peers("worker"), peers("problems").store
    fit = peers("tasks").Fit
    few = Dataset("few", thyroid.X[100:200], thyroid.y[100:200], C=1.0, gamma=0.05)
    for data in (thyroid, few):
        (tmp_path / data.name).mkdir()
    large, small = (store(data, tmp_path / data.name) for data in (thyroid, few))
    before = set(multiprocessing.active_children())
    with worker.Worker(library(peers, "bad", "crash", least=201)) as running:
        assert isinstance(running.ask(fit, large, 100.0), worker.Stopped)
        assert isinstance(running.ask(fit, small, 100.0), results.Answer)
        for child in started_since(before):
            child.kill()
            child.join()
        assert isinstance(running.ask(fit, small, 100.0), results.Answer)


@pytest.mark.slow
def test_a_process_reports_its_own_peak_and_not_that_of_the_one_that_started_it(peers, thyroid, tmp_path):
    if not Path("/proc/self/status").is_file():
        pytest.skip("the resident size is read from /proc")
    large = np.ones(2**26)  # 0.5 GB here
    problem = peers("problems").store(thyroid, tmp_path)
    with peers("worker").Worker(library(peers, "sound")) as running:
        answer = running.ask(peers("tasks").Fit, problem, 100.0)
    assert 1e7 < answer.peak < large.nbytes
