"""The comparison with other libraries, from end to end: tables, faults that cost one cell, answers that fall short."""

import doctest
import math
import multiprocessing
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from refsvm import RBF, DualProblem, KKTGap, solve
from refsvm.datasets import Dataset

from .rows import library, row


@pytest.mark.parametrize(
    "name", ["agreement", "growth", "libraries", "problems", "report", "watching", "worker"]
)
def test_the_examples_hold(peers, name):
    assert doctest.testmod(peers(name)).failed == 0


@pytest.mark.slow
def test_a_table_is_measured_from_end_to_end(peers, monkeypatch, capsys, tmp_path, thyroid):
    pytest.importorskip("tabulate")
    base = peers("tables.base")
    SuiteProblem = peers("problems").SuiteProblem
    monkeypatch.setattr(base, "suite", lambda _: [SuiteProblem("thyroid", 10.0, 0.05, lambda: thyroid)])
    monkeypatch.setattr(peers("tables.fit"), "first_fits", lambda library: f"First: {library.name}.")
    monkeypatch.setattr(base, "versions", lambda libraries: "no versions")
    options = import_module("peers").arguments(["--fit", "--rounds", "1"])
    both = [library(peers, "sound"), library(peers, "hasty", "early")]
    part = peers("tables.fit").FitTable().part(options, both)
    assert part.text.startswith("| set")
    assert "| thyroid" in part.text
    assert "thyroid: hasty ends" in part.text
    assert "First: sound." in part.text
    assert "the number of turns is 1." in part.text


# -- faults of libraries ---------------------------------------------------------------------------------------------


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


# -- answers ---------------------------------------------------------------------------------------------------------


def evidence(peers, data, factor=1.0, dtype=np.float64):
    problem = DualProblem.classification(data.X, data.y, kernel=RBF(data.gamma), C=data.C)
    alpha = solve(problem, stop=KKTGap(1e-6), engine="numpy").alpha
    support = np.flatnonzero(alpha)
    coef = (factor * alpha[support]).astype(dtype).astype(np.float64)
    return peers("results").Evidence(support=support, coef=coef), problem.objective(alpha)


def test_a_library_that_stops_early_is_named_and_only_that_one(peers, thyroid):
    results, agreement = peers("results"), peers("agreement")
    outcomes = {}
    for name, factor in (
        ("a", -1.0),
        ("b", 0.9),
    ):  # α of a library that names the classes the other way round
        found, best = evidence(peers, thyroid, factor)
        objective = agreement.dual_objective(thyroid, found)
        outcomes[name] = results.Outcome(1.0, objective=objective)
        assert (objective == pytest.approx(best, rel=1e-12)) == (name == "a")
        assert (agreement.kkt_gap(thyroid, found) <= 1e-6) == (name == "a")
    rows = [results.Row("thyroid", 215, 5, outcomes)]
    (sentence,) = agreement.disagreements(rows)
    assert sentence.startswith("thyroid: b ends ")
    assert "a never does" in peers("report").objectives(rows)


def test_predictions_of_another_class_are_told(peers):
    found = row(peers, "a", ours=1.0, b=1.0, c=1.0)
    for name, wrong in (("ours", 0), ("b", 1), ("c", 5)):
        found.outcomes[name].labels = np.where(np.arange(100) < wrong, -1, 1)
    (sentence,) = peers("agreement").differing(found)
    assert sentence == "a: c predicts another class than ours for 5.0% of the examples."


# -- growth and shares -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_watched_fit_shows_every_part_and_leaves_the_package_as_it_was(peers, thyroid):
    pytest.importorskip("sklearn")
    pytest.importorskip("numba")
    from refsvm.core.kernels import Gram

    before = Gram.block
    ours = peers("libraries").LIBRARIES[0]
    parts = peers("watching").Watch(ours, thyroid, 100.0).answer().evidence.parts
    assert {"kernel rows", "loop", "rest"} <= set(parts)
    assert min(parts[part] for part in ("kernel rows", "loop", "rest")) > 0.0
    assert Gram.block is before
