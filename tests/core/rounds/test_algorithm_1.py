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
    [(None, 1e-4), (KKTGap(1e-3), 1e-4), (KKTGap(0.5, relative=True), 0.05), (LOODualityGap(), 1e-4)],
)
@pytest.mark.parametrize(("cache_mb", "shrinks"), [(24 * 24 * 8 / 2**20, False), (23 * 24 * 8 / 2**20, True)])
def test_the_solution_on_all_examples_is_ten_times_as_exact(stop, tol, cache_mb, shrinks, monkeypatch):
    """Relative to the range of its values; with rows of float64, and shrinking where they do not all fit."""
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
        with pytest.raises(ValueError, match="proves the sign of a decision value, and"):
            chosen_for(task_of(kind), None, LOODualityGap(), ())


class Asked:
    """Remembers which rounds run to which rule; of the first rounds so many are decided early."""

    def __init__(self, undecided, keeps=True, near=(), proves=True, is_slow=False, status=Status.CONVERGED):
        facts = SimpleNamespace(is_psd=True)
        self.rounds = SimpleNamespace(
            run=lambda plan, seeder, stop: (plan, seeder, stop), rules=SimpleNamespace(stop=KKT),
            problem=SimpleNamespace(gram=SimpleNamespace(facts=facts)),
        )  # fmt: skip
        self.full = SimpleNamespace(status=status, decision_range=1.0)
        self.status, self.proves, self.is_slow = status, proves, is_slow
        self.left, self.keep, self.near, self.ran, self.said = undecided, keeps, [*near], [], []
        self.unsolved = {1: Status.MAX_ITER}

    def solve_on_all(self, kkt):
        self.said.append("all")

    def check(self, checks):
        self.said.append(checks)

    def undecided(self):
        return [*range(self.left)]

    def round(self, r):
        return r

    def again(self, examples):
        return examples

    def record_rounds(self, ran, stop):
        assert ran[2] == stop
        self.ran.append(ran)
        self.unsolved[2] = Status.MAX_ITER

    def gap_rule_pays(self, tried):
        self.said.append(("keeps", tried))
        return self.keep

    def mark_walked(self):
        self.said.append("walk")

    def near_zero(self, distance, relative):
        self.said.append(("near", distance, relative))
        return self.near.pop(0) if self.near else []

    def mark_undecided(self, distance, relative):
        self.said.append(("doubt", distance, relative))


RULE, KKT = LOODualityGap(), KKTGap(1e-8)
WALKS = ATO(margin=np.inf, budget=np.inf)


@pytest.mark.parametrize(
    ("undecided", "stop", "keeps", "tests", "expected"),
    [
        (25, RULE, True, True, [(10, RULE), (15, RULE)]),
        (25, RULE, False, True, [(10, RULE), (15, KKT)]),
        (11, RULE, False, True, [(10, RULE), (1, KKT)]),
        (10, RULE, False, True, [(10, RULE), (0, RULE)]),  # none is left that another rule would serve
        (25, RULE, False, False, [(25, RULE)]),
        (25, BallRule(), False, True, [(25, BallRule())]),  # a ball costs next to nothing
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


def test_without_a_solution_on_all_examples_nothing_follows():
    found = Asked(25, status=Status.TIME_LIMIT)
    module.algorithm_1(found, (TOP(), WALKS), RULE, KKT, (), True)
    assert (found.said, found.ran) == (["all"], [])


def settled(**given):
    tol = given.pop("tol", 1e-3)
    found = Asked(0, **given)
    module.settle_signs(found, TOP(), KKTGap(tol, relative=True))
    near, doubts = ([said[1:] for said in found.said if said[0] == name] for name in ("near", "doubt"))
    return found, [rule for *_, rule in found.ran], near, doubts


def test_signs_are_settled_a_digit_at_a_time():
    """Down to 1e-8, and no further; rounding may put another round next to it."""
    found, rules, near, doubts = settled(near=[[3, 5]] * 9)
    digits = [*dict.fromkeys(f"{rule.tol:.3g}" for rule in rules)]
    assert digits == ["0.0001", "1e-05", "1e-06", "1e-07", "1e-08"]
    assert rules[-1].tol == 1e-8
    assert all(rule.relative for rule in rules)
    assert [plan for plan, *_ in found.ran] == [[3, 5]] * len(rules)
    before = [1e-3, *(rule.tol for rule in rules[:-1])]
    assert near == [(pytest.approx(5.0 * tol, rel=1e-9), True) for tol in before]
    assert doubts == []
    assert found.unsolved == {1: Status.MAX_ITER}  # these are solved to the tolerance that was asked for


def test_signs_are_settled_until_none_is_next_to_zero():
    _, rules, near, doubts = settled(near=[[3], [3]])
    assert [rule.tol for rule in rules] == pytest.approx([1e-4, 1e-5], rel=1e-9)
    assert len(near) == 3
    assert doubts == [(pytest.approx(5e-5, rel=1e-9), True)]


def test_no_sign_is_settled_beyond_a_hundred_millionth():
    assert [rule.tol for rule in settled(tol=3e-8, near=[[3]] * 9)[1]] == [1e-8]
    _, rules, near, doubts = settled(tol=1e-8, near=[[3]])
    assert (rules, near, doubts) == ([], [], [])
    assert settled(proves=False, near=[[3]])[1:] == ([], [], [(pytest.approx(5e-3, rel=1e-9), True)])


def test_rounds_that_a_limit_ends_stay_unsolved():
    found, *_ = settled(near=[[3]], status=Status.TIME_LIMIT)
    assert found.unsolved == {1: Status.MAX_ITER, 2: Status.MAX_ITER}


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


@pytest.mark.parametrize(
    ("relative", "s", "expected"),
    [(False, 0.25, [1, 4, 6]), (True, 0.25, [6]), (True, 1.0, [1, 4, 6]), (True, 7.0, [1, 4, 6])],
)
@pytest.mark.parametrize("status", [Status.CONVERGED, Status.CALLBACK])
def test_which_examples_are_next_to_zero(relative, s, expected, status):
    """Those that the KKT gap has ended with |h| ≤ 1, or the range s of the values, if that is less."""
    found = table(
        status=status, full=SimpleNamespace(decision_range=s), values=np.full(10, np.nan),
        decided=np.full(10, "kkt", dtype=object),
    )  # fmt: skip
    found.values[[1, 2, 4, 5, 6]] = [1.0, 1.0, -1.0, 1.5, -0.25]
    found.decided[2] = "ball"
    assert found.near_zero(1.0, relative) == (expected if status is Status.CONVERGED else [])
    found.mark_undecided(1.0, relative)
    undone = [] if status is Status.CONVERGED else expected
    assert np.flatnonzero(found.decided == "").tolist() == undone
    found.decided[undone] = "kkt"
    found.proves = False
    found.mark_undecided(1.0, relative)
    assert (found.decided != "").all()


def test_the_callback_is_asked_from_time_to_time_and_at_the_end(monkeypatch):
    looked, answers = [], iter([0, 0, 1, 0])
    found = object.__new__(TaskTable)
    found._told, found.total, found._place = -np.inf, 13, (4, None)
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
