"""How far rounds are: what is done and wrong of it, and the warning about rounds that are not solved."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import RBF, Status, cross_validate, leave_one_out
from refsvm.analysis.resampling.cross_validate import FoldTable
from refsvm.analysis.resampling.leave_one_out import result_of
from refsvm.analysis.resampling.task import task_given
from refsvm.analysis.resampling.task_table import TaskTable
from refsvm.core.engine.progress import Progress
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
