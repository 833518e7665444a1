"""How far rounds are: what is done and wrong of it, and the warning about rounds that are not solved."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Status, cross_validate, leave_one_out
from refsvm.analysis.resampling.cross_validate import FoldTable, warn_of_rounds
from refsvm.analysis.resampling.leave_one_out import result_of, warn_of
from refsvm.analysis.resampling.results import CrossValidation, FoldReport
from refsvm.analysis.resampling.task import task_given
from refsvm.analysis.resampling.task_table import TaskTable
from refsvm.core.engine.progress import Progress
from refsvm.core.rounds.round import RoundResult
from refsvm.core.solver.options import RunOptions

RNG = np.random.default_rng(6)
X = RNG.normal(size=(24, 2))
SCORE = X[:, 0] + RNG.normal(size=24)
TWO, THREE = np.where(SCORE > 0.0, 1, -1), np.digitize(SCORE, [-0.6, 0.6])
THREE_PAIRS = task_given(X[:6], [0, 0, 1, 1, 2, 2], RBF(0.5), None)


@pytest.mark.parametrize(
    ("y", "given", "pairs"),
    [(TWO, {}, 1), (THREE, {}, 3), (SCORE, {"epsilon": 0.1}, 1), (None, {"nu": 0.5}, 1)],
    ids=["two classes", "three classes", "regression", "novelty"],
)
def test_at_the_end_all_is_done_and_what_is_wrong_is_known(y, given, pairs, monkeypatch):
    """Of classes alone: a value is not wrong, and what is outside is no error."""
    has_classes, made = y is TWO or y is THREE, []
    for call, total in ((cross_validate, 4 * pairs), (leave_one_out, 24 * (2 if y is THREE else 1))):
        module = import_module(f"refsvm.analysis.resampling.{call.__name__}")
        monkeypatch.setattr(module, "Progress", lambda *names: made.append(Progress(*names)) or made[-1])
        folds = {"folds": 4} if call is cross_validate else {}
        found = call(X, y, kernel=RBF(0.5), engine="numpy", **given, **folds)
        told = made[-1]
        assert told.done == told.total == total  # of leave-one-out each example is in two pairs of three
        assert told.wrong == ((found.predictions != y).sum() if has_classes else None)


def test_folds_that_are_done_and_wrong():
    """An example counts as soon as all pairs of its fold are there."""
    progress = Progress("call")
    table = FoldTable(THREE_PAIRS, np.arange(6) % 2, progress)
    assert (progress.total, progress.under_way) == (6, "first round")
    progress.look()
    assert (progress.done, progress.wrong) == (0, None)
    table.values[0] = 1.0, 1.0, np.nan
    table.reports += [None] * 2
    progress.look()
    assert (progress.done, progress.wrong) == (2, None)
    table.values[[0, 1, 2]] = [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]  # classes 0, 1, 0
    progress.look()
    assert (progress.done, progress.wrong) == (2, 2)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    ("status", "is_kept"),
    [(Status.CONVERGED, True), (Status.MAX_ITER, True), (Status.STALLED, True),
     (Status.TIME_LIMIT, False), (Status.CALLBACK, False), (Status.INTERRUPTED, False)],
)  # fmt: skip
def test_folds_of_all_machines_are_taken_in_as_they_come(status, is_kept, copies):
    """The origin costs steps and is no fold; what was cut short predicts nothing."""
    task = replace(THREE_PAIRS, rows_computed=100)
    table, fold = FoldTable(task, np.arange(6) % 2, Progress("call")), np.array([1, 3, 5])
    for pair, rows in (((0, 2), 7), ((0, 1), 20)):
        limits, store = SimpleNamespace(progress=None), SimpleNamespace(computed=rows)
        rounds = SimpleNamespace(status=Status.CONVERGED, rows=store, limits=limits)
        variables = np.concatenate([fold + 6 * copy for copy in range(copies)])
        ended = [
            RoundResult(None, (), 1000, "", Status.CONVERGED, 9.0, 9.0, 9),
            RoundResult(variables, np.array([1.0, 2.0, 3.0]), 10, "", status, 0.5, 0.25, 3),
            RoundResult(variables - 1, np.array([4.0, 5.0, 6.0]), 20, "", Status.CONVERGED, 0.0, 0.0, 4),
        ]
        table.take(SimpleNamespace(pair=pair, copies=copies), iter(ended), rounds)
        assert rounds.limits.progress is table.progress
        assert table.progress.under_way == ""
    found = table.result()
    known = [4.0, 1.0, 5.0, 2.0, 6.0, 3.0] if is_kept else [4.0, np.nan, 5.0, np.nan, 6.0, np.nan]
    np.testing.assert_array_equal(found.decision_values, np.array([known, known, [np.nan] * 6]).T)
    assert [(*each.pair, each.fold) for each in found.rounds] == [(0, 1, 0), (0, 1, 1), (0, 2, 0), (0, 2, 1)]
    one = found.rounds[1]
    assert (one.iterations, one.kernel_rows, one.seed_seconds, one.solve_seconds) == (10, 3, 0.5, 0.25)
    assert (found.iterations, found.kernel_rows, found.status) == (2 * 1030, 127, status)
    assert [*table.missing([fold, fold - 1])] == []


def test_examples_that_are_decided_and_wrong():
    """Signs count where values are not known; what other machines have decided counts with what this one has."""
    task, progress = task_given(X[:6], [0, 0, 0, 1, 1, 1], RBF(0.5), None), Progress("call")
    table = TaskTable(task, progress)
    assert (progress.total, progress.under_way) == (6, "solution on all examples")
    progress.look()
    assert (progress.done, progress.wrong) == (0, None)
    here = table.begin(next(task.parts())._replace(asked=[0, 1, 2, 3]), RunOptions())
    table._place, table.decided[4], table.signs[4] = (2, table._place[1]), "kkt", 1.0
    here.decided[[0, 3, 5]] = "kkt"  # the last one is not asked about
    here.values[[0, 3]] = [-1.0, -2.0]
    progress.look()
    assert (progress.done, progress.wrong) == (4, 1)
    table.signs[4] = -1.0
    progress.look()
    assert progress.wrong == 2


def report(fold, status):
    return FoldReport(fold, (0, 1), 5, 1, 0.0, 0.0, status)


RESULT = CrossValidation(
    kind="classification", classes=np.array([0, 1]), predictions=np.zeros(6, int), labels=np.zeros(6, int),
    decision_values=np.zeros((6, 1)), fold=np.array([0, 0, 1, 1, 2, 2]), status=Status.CONVERGED, iterations=1,
    kernel_rows=1, seconds=1.0, rounds=tuple(report(h, Status.CONVERGED) for h in range(3)),
)  # fmt: skip
LEFT = np.where(np.arange(6)[:, None] < 2, np.nan, 0.0)


def tells(warn, result, sentence):
    """Whether one warning begins with this sentence, or there is none without one."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warn(result)
    return [str(each.message).startswith(sentence or "") for each in said] == [True] * (sentence is not None)


TWO_FOLDS = {"rounds": RESULT.rounds[:2], "decision_values": LEFT}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, None),
        ({"rounds": [report(h, Status.MAX_ITER if h else Status.CONVERGED) for h in range(3)]},
         "2 of 3 X, and still predict their folds. "),
        (TWO_FOLDS | {"status": Status.TIME_LIMIT}, "1 of 3 X, and 2 of 6 examples are not predicted. "),
        ({"decision_values": np.column_stack([LEFT, LEFT]), "status": Status.TIME_LIMIT},
         "1 of 6 X, and 2 of 6 examples are not predicted. "),
        (TWO_FOLDS | {"status": Status.CALLBACK}, None),
    ],
    ids=["solved", "steps used up", "time used up", "two pairs", "by the callback"],
)  # fmt: skip
def test_rounds_that_are_not_solved_are_told(change, sentence):
    sentence = sentence and sentence.replace("X", "rounds of cross-validation are not solved")
    assert tells(warn_of_rounds, replace(RESULT, **change), sentence)


@pytest.mark.parametrize(
    ("known", "unsolved", "status", "sentence"),
    [
        (6, {}, Status.CONVERGED, None),
        (6, {(1, 0): Status.MAX_ITER}, Status.CONVERGED, "1 of 12 X, and they still predict their examples. "),
        (4, {}, Status.TIME_LIMIT, "1 of 12 X, and 2 of 6 examples are not decided. "),
        (4, {(1, 0): Status.TIME_LIMIT}, Status.TIME_LIMIT, "2 of 12 X, and 2 of 6 examples are not decided. "),
        (4, {}, Status.INTERRUPTED, None),
    ],
)  # fmt: skip
def test_machines_that_are_not_solved_are_told(known, unsolved, status, sentence):
    table = object.__new__(TaskTable)
    table.unsolved, table.total = unsolved, 12
    sentence = sentence and sentence.replace("X", "machines of leave-one-out are not solved")
    assert tells(
        lambda result: warn_of(table, result),
        SimpleNamespace(status=status, is_known=np.arange(6) < known, labels=np.zeros(6)),
        sentence,
    )


@pytest.mark.parametrize("kept", [[], [True, True], [True, False]])
@pytest.mark.parametrize("open_cells", [0, 1])
def test_a_result_adds_up_what_all_machines_have_taken(open_cells, kept):
    """A limit that came after the last example was decided is none; examples of unsolved rounds are not solved."""
    table = TaskTable(replace(THREE_PAIRS, rows_computed=100), Progress("call"))
    table.decided[:] = "kkt"
    table.decided[5, :open_cells] = ""
    table.signs[:], table.values[:, 1] = -1.0, 3.0
    table.iterations[:] = np.arange(18).reshape(6, 3)
    table.unsolved, table.status, table.rule_kept = {(2, 1): Status.MAX_ITER}, Status.TIME_LIMIT, kept
    table.fulls = [SimpleNamespace(iterations=steps, engine="first") for steps in (1000, 2000, 4000)]
    stores = [SimpleNamespace(computed=rows) for rows in (7, 20)]
    table.families = [
        SimpleNamespace(used=used, rows=rows) for used, rows in zip(("", "auto"), stores, strict=True)
    ]
    found = result_of(table)
    assert (found.iterations, found.kernel_rows) == (7000 + 153, 127)
    assert found.round_iterations.tolist() == [3, 12, 21, 30, 39, 48]
    assert found.status is (Status.TIME_LIMIT if open_cells else Status.CONVERGED)
    assert found.is_solved.tolist() == [True, True, False, True, True, not open_cells]
    assert found.gap_rule_kept is (all(kept) if kept else None)
    assert (found.engine, len(found.full_solutions)) == ("auto", 3)
    assert found.sides[0].tolist() == [-1.0, 3.0, -1.0]
    assert np.isnan(found.sides).sum() == open_cells
    table.families[1].used = ""
    assert result_of(table).engine == "first"


def test_the_standard_error_of_folds_that_are_not_all_there_is_not_known():
    """No fold is looked at then; of one fold alone there is no spread."""
    for result in (replace(RESULT, decision_values=LEFT), replace(RESULT, fold=np.zeros(6, int))):
        assert np.isnan(result.standard_error)  # warnings are errors
    assert RESULT.standard_error == 0.0
