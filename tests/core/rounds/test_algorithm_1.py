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

module = import_module("refsvm.core.rounds.leave_one_out")
RNG = np.random.default_rng(2)
X = RNG.normal(size=(24, 2))
Y = np.where(X[:, 0] + RNG.normal(size=24) > 0.0, 1, -1)


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


class Asked:
    """Remembers which rounds run to which rule; of the first rounds so many are decided early."""

    def __init__(self, undecided, keeps=True, ties=(), proves=True, is_slow=False, status=Status.CONVERGED):
        facts = SimpleNamespace(is_psd=True)
        self.rounds = SimpleNamespace(
            run=lambda plan, seeder, stop, proves: (plan, seeder, stop, proves), rules=SimpleNamespace(stop=KKTGap()),
            problem=SimpleNamespace(gram=SimpleNamespace(facts=facts)),
        )  # fmt: skip
        self.full = SimpleNamespace(status=status, decision_range=0.25)
        self.status, self.proves, self.is_slow = status, proves, is_slow
        self.left, self.keep, self.open, self.ran, self.said = undecided, keeps, [*ties], [], []

    def solve_on_all(self, kkt):
        self.said.append("all")

    def check(self, checks):
        self.said.append(checks)

    def undecided(self):
        return [*range(self.left)]

    def round(self, r):
        return r

    def record_rounds(self, ran, stop):
        assert ran[2:] == (stop, self.proves)
        self.ran.append(ran[:3])

    def gap_rule_pays(self, tried):
        self.said.append(("keeps", tried))
        return self.keep

    def mark_walked(self):
        self.said.append("walk")

    def ties(self):
        return self.open

    def smallest_tolerance(self):
        return 1e-9

    def settle(self, rounds, seeder, stop, ties):
        assert rounds is self.rounds
        self.said.append((type(seeder), stop, ties))


RULE, KKT, BALL = LOODualityGap(), KKTGap(1e-8), BallRule()
CLOSER = BallRule(1e-9)
WALKS = ATO(margin=np.inf, budget=np.inf)


@pytest.mark.parametrize(
    ("undecided", "stop", "keeps", "tests", "expected"),
    [
        (25, RULE, True, True, [(10, RULE), (15, RULE)]),
        (25, RULE, False, True, [(10, RULE), (15, KKT)]),
        (11, RULE, False, True, [(10, RULE), (1, KKT)]),
        (10, RULE, False, True, [(10, RULE), (0, RULE)]),  # none is left that another rule would serve
        (25, RULE, False, False, [(25, RULE)]),
        (25, BALL, False, True, [(25, CLOSER)]),  # a ball costs next to nothing
        (25, BallRule(1e-12), False, True, [(25, BallRule(1e-12))]),
        (25, KKT, False, True, [(25, KKT)]),
    ],
)
@pytest.mark.parametrize("is_slow", [False, True])
def test_the_first_ten_rounds_say_whether_a_rule_is_kept(undecided, stop, keeps, tests, expected, is_slow):
    found = Asked(undecided, keeps, is_slow=is_slow)
    module.algorithm_1(found, (TOP(), WALKS), stop, KKT, ("checks",), tests)
    assert [(len(plan), rule) for plan, _, rule in found.ran] == expected
    assert [r for plan, *_ in found.ran for r in plan] == [*range(undecided)]
    assert {type(seeder) for _, seeder, _ in found.ran} == {ATO if is_slow else TOP}
    assert found.said[:2] == ["all", ("checks",)]
    assert (("keeps", 10) in found.said) == (len(expected) == 2 and undecided > 10)
    assert ("walk" in found.said) == is_slow


@pytest.mark.parametrize(
    ("stop", "kkt", "settled"),
    [
        (RULE, KKTGap(1e-3), BallRule(1e-9)),  # a sign is asked for
        (KKTGap(1e-3), KKTGap(1e-3), BallRule(1e-9, near=1e-3)),  # and a value, to the same tolerance
        (KKTGap(1e-3, True), KKTGap(1e-3, True), BallRule(1e-9, relative=True, near=2.5e-4)),
        (BALL, KKTGap(1e-3), None),  # has gone that far already
    ],
)
def test_where_no_sign_is_proved_a_ball_goes_on(stop, kkt, settled):
    found = Asked(25, ties=[3, 5])
    module.algorithm_1(found, (TOP(), WALKS), stop, kkt, (), True)
    said = [each for each in found.said if isinstance(each, tuple) and each[:1] == (TOP,)]
    assert said == [(TOP, settled, [3, 5])] * (settled is not None)


def test_where_nothing_can_be_proved_rounds_end_at_the_kkt_gap():
    for stop in (RULE, BALL, KKT):
        found = Asked(25, proves=False)
        module.algorithm_1(found, (TOP(), WALKS), stop, KKT, (), True)
        assert [(len(plan), rule) for plan, _, rule in found.ran] == [(25, KKT)]


def test_without_a_solution_on_all_examples_nothing_follows():
    found = Asked(25, status=Status.TIME_LIMIT)
    module.algorithm_1(found, (TOP(), WALKS), RULE, KKT, (), True)
    assert (found.said, found.ran) == (["all"], [])


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


KKT_REASON, POSITIVE, NEGATIVE = BallRule.reasons[:3]


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
