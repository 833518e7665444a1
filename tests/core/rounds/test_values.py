"""What each check of leave-one-out is made of, and what the results of rounds are like."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields
from importlib import import_module
from inspect import signature

import numpy as np
import pytest

from refsvm import (
    RBF,
    DualProblem,
    KKTGap,
    LOODualityGap,
    Rounds,
    cross_validate,
    leave_one_out,
    solve,
)

from ...settings import FAST, noisy_classes
from ...values import dataclasses_of, never_change

rounds_of_folds = import_module(
    "refsvm.analysis.resampling.cross_validate"
)  # the function has the name of its module


X, Y = noisy_classes(24, 2, 0, noise=0.5)
RESULTS = {
    "leave-one-out": lambda: leave_one_out(X, Y, kernel=RBF(0.5)),
    "folds": lambda: cross_validate(X, Y, kernel=RBF(0.5), folds=3),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_printed_in_a_line_and_stays_as_it_is(name):
    result = RESULTS[name]()
    shown = repr(result)
    assert "Solution(" not in shown
    names = {*re.findall(r"(\w+)=", shown)} - {"classes"}
    assert not any(isinstance(getattr(result, name), np.ndarray) for name in names)
    assert len(shown) < 300
    for field in fields(result):
        with pytest.raises(FrozenInstanceError):
            setattr(result, field.name, None)
    # two results are compared by what is in them, and not as a whole: that would be arrays of truths
    assert result != RESULTS[name]()
    assert result == result  # noqa: PLR0124


@pytest.mark.parametrize("call", [leave_one_out, Rounds, cross_validate])
def test_options_of_rounds_that_are_those_of_solve_have_its_defaults(call):
    known, own = (signature(each).parameters for each in (solve, call))
    shared = known.keys() & own.keys() - {"problem"}
    assert {name: own[name].default for name in shared} == {name: known[name].default for name in shared}
    assert len(shared) == {leave_one_out: 10, Rounds: 12, cross_validate: 2}[call]


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.5), lambda X, Z: np.exp(-0.5 * ((X[:, None] - Z) ** 2).sum(axis=2))],
    ids=["known", "own"],
)
def test_a_few_rows_in_memory_are_enough_to_leave_one_out(kernel):
    """What is computed is counted: with memory for all, each row once."""
    six, options = 6 * 24 * 8 / 2**20, {"kernel": kernel, "engine": FAST}
    for stop in (None, KKTGap(), LOODualityGap()):
        plain, small = (leave_one_out(X, Y, cache_mb=mb, stop=stop, **options) for mb in (200.0, six))
        np.testing.assert_array_equal(small.predictions, plain.predictions)
        assert small.kernel_rows > plain.kernel_rows == 24


def test_one_worker_holds_out_all_folds_however_long_they_take(monkeypatch):
    """No other worker could take them."""
    monkeypatch.setattr("refsvm.analysis.resampling.workers.is_worth_workers", lambda *_: True)
    alone = cross_validate(X, Y, kernel=RBF(0.5), folds=5, n_jobs=1)
    assert [each.fold for each in alone.rounds] == [0, 1, 2, 3, 4]
    assert not np.isnan(alone.decision_values).any()


def test_machines_share_one_deadline(monkeypatch):
    given, of = [], Rounds.of
    monkeypatch.setattr(Rounds, "of", lambda to, how: given.append(how.time_limit) or of(to, how))
    cross_validate(X, np.arange(24) % 3, kernel=RBF(0.5), folds=4, time_limit=100.0)
    assert len(given) == 3
    assert len({each.at for each in given}) == 1
    assert given[0].left() < 100.0


def test_predictions_of_a_problem_are_its_labels_and_of_novelty_detection_a_sign():
    given = DualProblem.classification(X, Y, kernel=RBF(0.5))
    found = leave_one_out(given)
    assert found.classes.tolist() == [-1, 1]
    assert set(found.predictions.tolist()) == {-1, 1}
    assert found.labels.tolist() == Y.tolist()
    inside = leave_one_out(X, kernel=RBF(0.5), nu=0.5)
    assert set(inside.predictions.tolist()) == {-1, 1}
    np.testing.assert_array_equal(inside.predictions, np.where(inside.decision_values >= 0.0, 1, -1))


def test_nothing_that_rounds_hand_out_can_be_changed():
    """Arrays have no single truth: results are equal to themselves alone, and reports of folds by their numbers."""
    never_change("core.rounds")
    never_change("analysis.resampling")
    alone = {kind.__name__ for kind in dataclasses_of("analysis.resampling") if kind.__eq__ is object.__eq__}
    assert alone == {"CrossValidation", "HeldOutMachines", "LeaveOneOut", "Scores", "Task"}


def test_rounds_that_shrink_are_the_same_but_for_that():
    """And for one exact step at the end of each; over the same store, by as many workers."""
    rounds = Rounds(
        DualProblem.classification(X, Y, kernel=RBF(0.5)), shrinking=False, engine="numpy", n_jobs=3
    )
    other = rounds.with_shrinking()
    assert other.rows is rounds.rows
    assert other.workers is rounds.workers
    assert rounds.workers.count == 3
    for field in fields(rounds.options):
        if field.name not in ("shrinking", "polish"):
            assert getattr(other.options, field.name) == getattr(rounds.options, field.name), field.name
    assert not rounds.options.shrinking
    assert other.options.shrinking
    assert other.options.polish


@pytest.mark.parametrize(
    ("asked", "cache_mb", "used"),
    [
        ("auto", 200.0, "float64"),
        ("float32", 200.0, "float32"),
        ("float64", 200.0, "float64"),
        ("auto", 0.001, "auto"),
    ],
)
def test_rows_of_folds_that_fit_are_in_double_precision_unless_asked_for(asked, cache_mb, used, monkeypatch):
    made, of = [], Rounds.of
    monkeypatch.setattr(Rounds, "of", lambda problem, options: made.append(options) or of(problem, options))
    cross_validate(X, Y, kernel=RBF(0.5), folds=3, cache_dtype=asked, cache_mb=cache_mb, engine="numpy")
    assert {options.cache_dtype for options in made} == {used}
