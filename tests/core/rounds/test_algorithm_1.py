"""The steps of leave-one-out one by one: the first solution, the rule that goes on, the signs that are settled."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from refsvm import ATO, RBF, TOP, BallRule, KKTGap, LOODualityGap, Status, leave_one_out
from refsvm.analysis.resampling.leave_one_out import chosen_for
from refsvm.analysis.resampling.task_table import INTERVAL_SECONDS, TaskTable
from refsvm.core.rounds.left_out_table import LeftOutTable
from refsvm.core.rounds.machine import CLASSIFICATION, NOVELTY, REGRESSION
from refsvm.core.rounds.rounds import Rounds

from ...settings import noisy_classes

module = import_module("refsvm.core.rounds.leave_one_out")
X, Y = noisy_classes(24, 2, 2)


@pytest.mark.parametrize(
    ("stop", "tol"),
    [(None, 1e-6), (KKTGap(1e-3), 1e-4), (KKTGap(0.5, relative=True), 0.05), (LOODualityGap(), 1e-6)],
)
@pytest.mark.parametrize(("cache_mb", "shrinks"), [(24 * 24 * 8 / 2**20, False), (23 * 24 * 8 / 2**20, True)])
def test_the_solution_on_all_examples_is_more_exact(stop, tol, cache_mb, shrinks, monkeypatch):
    """The tolerance is relative; rows are float64, and the solve shrinks where they do not all fit."""
    asked, of = [], Rounds.of
    monkeypatch.setattr(Rounds, "of", lambda problem, options: asked.append(options) or of(problem, options))
    leave_one_out(X, Y, kernel=RBF(0.5), stop=stop, cache_mb=cache_mb, engine="numpy")
    [options] = asked
    assert (options.stop.relative, options.cache_dtype) == (True, "float64")
    assert options.stop.tol == pytest.approx(tol, rel=1e-12)
    assert (type(options.shrinking).__name__ != "NoShrinking") == shrinks


def task_of(kind):
    """A task that asks for tolerances in units of one."""
    return SimpleNamespace(kind=kind, gap=lambda tol=1e-3: KKTGap(tol, relative=True))


def test_rules_and_checks_by_default():
    """Classes ask for signs, other tasks for values; an exact seed goes on to 1e-8."""
    ball, gap, tight = BallRule(relative=True), KKTGap(relative=True), KKTGap(1e-8, relative=True)
    three, one = ["zero alpha", "training error", "xi-alpha bound"], ["zero alpha"]
    for kind, seeder, stop, names in (
        (CLASSIFICATION, TOP(), ball, three),
        (CLASSIFICATION, ATO(margin=np.inf, budget=np.inf), tight, three),
        (REGRESSION, TOP(), gap, one),
        (NOVELTY, ATO(margin=np.inf, budget=np.inf), tight, one),
    ):
        found, rule, checks = chosen_for(task_of(kind), seeder, None, three)
        assert (found, rule, [check.name for check in checks]) == (seeder, stop, names)
    classes = task_of(CLASSIFICATION)
    assert chosen_for(classes, None, KKTGap(0.5), ())[:2] == (TOP(), KKTGap(0.5))
    for kind in (REGRESSION, NOVELTY):
        with pytest.raises(ValueError, match="proves the sign of a decision value, but"):
            chosen_for(task_of(kind), None, LOODualityGap(), ())


def table(**given):
    found = object.__new__(LeftOutTable)
    found.status, found.proves = Status.CONVERGED, True
    for name, value in given.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("early", "tried", "is_kept"), [(5, 10, True), (4, 10, False), (5, 11, False), (6, 11, True)]
)
def test_a_rule_is_kept_that_decides_half_of_the_rounds_early(early, tried, is_kept):
    found = table(_early=early)
    assert found.gap_rule_pays(tried) == is_kept
    assert found.rule_kept is is_kept
    found = table(_early=early, status=Status.TIME_LIMIT)
    assert not found.gap_rule_pays(tried)
    assert found.rule_kept is None  # nothing was learnt


def test_the_callback_is_asked_from_time_to_time_and_at_the_end(monkeypatch):
    looked, answers = [], iter([0, 0, 1, 0])
    found = object.__new__(TaskTable)
    found._last_report, found.total, found._place = -np.inf, 13, (4, None)
    found.progress = SimpleNamespace(look=lambda: looked.append(1))
    found._callback = lambda progress: next(answers)
    now = [3.0]
    monkeypatch.setattr(
        "refsvm.analysis.resampling.task_table.time", SimpleNamespace(perf_counter=lambda: now[0])
    )
    assert INTERVAL_SECONDS == 0.02
    ended = []
    for seconds, count in ((0.0, 1), (0.25, 2), (0.25, 3), (0.5, 4), (0.51, 5), (0.501, 9)):
        now[0] = 3.0 + seconds
        ended.append(found._should_end(count))
    # at once, after an interval, never twice within one, and whenever all are decided
    assert ended == [False, False, False, True, False, False]
    assert len(looked) == 4
