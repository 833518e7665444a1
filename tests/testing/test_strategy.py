"""check_strategy: what a rule has to be, and the report; each check fails on a rule that is broken on purpose."""

from __future__ import annotations

from dataclasses import dataclass, field, make_dataclass

import numpy as np
import pytest

from refsvm import DualProblem, MostViolatingPair, NewtonStep, SecondOrder
from refsvm.testing import StrategyReport, check_strategy, practice_problems
from refsvm.testing.contract import infeasibility

from ..catalogue import PROBLEMS
from ..settings import INTERPRETED, NUMBA
from .simple import Pair, fails

# -- what a rule is ----------------------------------------------------------------------------------------


def pair_with(made, frozen=True):
    """A rule with a field that is made anew for each."""
    return make_dataclass(
        "Own", [("held", object, field(default_factory=made))], bases=(Pair,), frozen=frozen
    )()


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (pair_with(int, frozen=False), "Own is not a frozen dataclass"),
        (Pair(), "Pair is not a frozen dataclass"),
        (pair_with(list), "Own cannot be hashed"),
        (pair_with(object), "Own does not equal its copy"),
    ],
)
def test_a_rule_is_a_frozen_value(rule, words):
    fails(rule, words)


@pytest.mark.parametrize("rule", [MostViolatingPair, "second order", None, 1e-3])
def test_what_is_no_rule_is_refused(rule):
    with pytest.raises(TypeError, match="pass an instance"):
        check_strategy(rule)


# -- the report --------------------------------------------------------------------------------------------


def test_the_report_says_what_was_done():
    report = check_strategy(SecondOrder(), rng=3)
    assert isinstance(report, StrategyReport)
    assert report.rule == "SecondOrder(planned_range=0.9)"
    assert report.problems == tuple(practice_problems(3))
    assert report.steps > 100
    if NUMBA:
        assert report.twin == f"Both engines agree bit for bit in {2 * 2 * 2 * len(report.problems)} solves."


def test_the_report_says_that_there_is_no_twin():
    @dataclass(frozen=True)
    class Plain(Pair):
        pass

    report = check_strategy(Plain())
    if NUMBA:
        assert report.twin == "Plain has no twin; it runs in the readable engine only."


def test_the_report_says_that_numba_is_missing(monkeypatch):
    monkeypatch.setattr("refsvm.testing.engines.can_compare", lambda: False)
    assert check_strategy(NewtonStep()).twin == "No twin was compared: Numba or refsvm.compiled is missing."


def test_practice_problems_depend_on_the_seed_only():
    one, same, other = practice_problems(1), practice_problems(1), practice_problems(2)
    for name, problem in one.items():
        assert isinstance(problem, DualProblem)
        assert np.array_equal(problem.v, same[name].v)
    assert not np.array_equal(one["any box"].v, other["any box"].v)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, np.random.default_rng(3)], ids=str)
@pytest.mark.parametrize("rule", [MostViolatingPair(), SecondOrder(), NewtonStep()], ids=repr)
@pytest.mark.skipif(INTERPRETED, reason="slow without the compiler")
def test_shipped_rules_pass_on_other_problems_too(rule, seed):
    check_strategy(rule, rng=seed)


def test_infeasibility_is_measured():
    problem = PROBLEMS["two points, free"].problem
    assert infeasibility(problem, np.array([-0.5, 0.5])) == 0.0
    assert infeasibility(problem, np.array([-0.5, 0.4])) == pytest.approx(0.05)
    assert infeasibility(problem, np.array([-1.5, 1.5])) == pytest.approx(0.5)
